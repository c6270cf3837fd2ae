"""Writing proofs as certificates."""
