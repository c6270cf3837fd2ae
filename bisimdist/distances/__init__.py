"""Bisimilarity distances of chains: bounds on delta, and smaller chains that are nearly the same.

The skewed bisimilarity distance bd_alpha (CMP18, Definition 12) and its asymmetric version are least fixed
points; the engine proves them from above and from below. Why it is right: ``docs/theory/upper-bounds.md``.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
