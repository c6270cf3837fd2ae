"""Least fixed points of liftings: guessed fast, made exact, proved least.

The skewed bisimilarity distance bd and its asymmetric variant (CMP18, CMP19) are the least fixed point of one
functional. Here it is found: pairs and their transportation programs, pairs at distance 0, value iteration,
strategy iteration, detours through third states, and ranks, which show that a fixed point is the least one
(``docs/theory/leastness.md``). A second loop takes any lifting and choices on both sides: the generalised
bisimilarity metrics of CCP18 (``docs/theory/generalised.md``).
"""
