"""Questions about models, and the answers with their proofs.

One function for each question, to be called from Python: it takes a model and exact numbers, calls the
engines, and returns a frozen answer with bounds on both sides, how they were found, and a proof on request.
What must be at most what, as theory has it, stands here as data and is held against all engines by the
cross-check (``docs/theory/crosscheck.md``).
"""
