"""Budgets of hidden Markov models, mechanisms and programs.

Does a budget hold for all observation sequences of a length, for all parameters, for all lengths, for all
neighbouring inputs (LWZ22); and what is the least one. Why it is right: ``docs/theory/hmm.md`` and
``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
