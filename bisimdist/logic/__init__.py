"""Logics of probabilistic automata: formulae, satisfaction, distances, explanations.

The trace logic and the full logic characterise trace equivalence, bisimilarity and the metrics (CCP18); a
formula says why two states differ. Why it is right: ``docs/theory/logic.md`` and
``docs/theory/trace-logic.md``.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
