"""Questions about models, and the answers with their proofs."""
