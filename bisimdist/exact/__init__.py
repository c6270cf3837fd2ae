"""Exact numbers: reading and writing rationals, logarithms, certified decimals, directed bounds.

The one place that chooses number types. A number is read as it is written and never through a float; a
logarithm or an exponential is enclosed by ball arithmetic until what is wanted follows; a decimal is rounded
in a known direction, and a bound carries its direction in its type (``docs/theory/rounding.md``).
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
