"""Traces and how probable they are: trace metric, secrets, equivalence.

The trace metric compares the probabilities of single traces, by ratio or by difference; d_X-privacy asks
the same of a whole set of secrets, and trace equivalence whether nothing differs. Why it is right:
``docs/theory/trace-metric.md``.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
