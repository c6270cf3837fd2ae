"""The true delta of chains and what follows from it: profile, leakage, parameters, audit.

Delta (CMP18, Definition 5) is bounded from both sides, with the event that attains the lower bound. Every
subject is a folder with the same furniture, on one engine. Why it is right: ``docs/theory/delta.md``.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
