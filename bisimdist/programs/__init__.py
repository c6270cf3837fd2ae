"""Programs as models: a Python function with a random source becomes an exact Markov chain.

The functions that may draw are compiled to segments of Python between draws (`compiler`, `flatten`,
`emit`), a machine runs them over immutable states (`machine`, `freezing`), the most probable paths
first (`exploration`), silent draws are eliminated (`elimination`), and a guard replays plain Python
(`guard`). Why that is right, and what may be said when runs are cut off, is in
``docs/theory/programs.md``.

What a program imports from here runs in plain Python as well: `flip`, `pick`, `uniform`,
`geometric`, `two_sided_geometric`, `observe`, `ExactRandom`.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
