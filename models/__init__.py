"""Models: labelled Markov chains, probabilistic automata, hidden Markov models, and what is done to them.

Frozen values, validated when they are made, with exact probabilities: chains as in CMP18, automata as in
XCL14 and CCP18, hidden Markov models as in LWZ22, also with parameters. Beside them are bisimilarity and
quotients, classes that can be told apart, conversions, processes, scenarios, mechanisms, files and case
studies. Of use on their own.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
