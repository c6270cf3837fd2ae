"""The true delta of a chain from both sides, and what follows from it: profile, losses, trade-off, runs."""
