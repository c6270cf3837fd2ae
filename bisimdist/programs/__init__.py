"""Programs as models: a Python function with a random source becomes an exact Markov chain.

What a program imports from here runs in plain Python as well: `flip`, `pick`, `observe`, `ExactRandom`.
"""

from bisimdist.programs.source import ExactRandom, flip, observe, pick, uniform

__all__ = ["ExactRandom", "flip", "observe", "pick", "uniform"]
