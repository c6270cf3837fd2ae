"""What users meet: the command line, its options, and how answers are shown and written.

The runner reads, asks, prints and writes (``cli``); options and the base of all questions stand in
``asked``; reports, tables, pictures and what every answer says of itself in ``shown``; what every
certificate begins with in ``written``.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
