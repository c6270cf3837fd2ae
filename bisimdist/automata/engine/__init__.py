"""Bisimulations of probabilistic automata: strong, accumulative and amortised, with exact distances.

The accumulative and the amortised metric of XCL14 are values of a game: one side challenges with a
transition, the other answers with a bijection of supports. Here are positions and answers, the values level
by level or as staircases of credits, where they are infinite, plays and relations as witnesses of both sides,
strong bisimilarity, and the worst admissible scheduler. Why it is right: ``docs/theory/metric.md``.
"""
