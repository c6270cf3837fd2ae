"""Programs to start from: known mechanisms in a few lines each, private or not as their docstrings say.

Noise, randomised responses, report noisy max, the sparse vector technique and small protocols, each
with the paper that it is from; the tests hold every one of them against what is published. They run
in plain Python with ``bisimdist.programs.ExactRandom()`` as `rng`, and as ``FILE.py:FUNCTION`` on the
command line.
"""
