"""Trace equivalence, or a shortest trace that tells states apart."""
