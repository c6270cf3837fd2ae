"""Bisimulation metrics of probabilistic automata.

The accumulative and the amortised metric (XCL14), generalised metrics (CCP18), robust bisimilarity, and the
worst admissible schedulers. Games decide them, relations and plays prove them. Why it is right:
``docs/theory/metric.md``.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
