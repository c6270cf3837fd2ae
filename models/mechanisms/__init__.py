"""Privacy mechanisms with exact probabilities: what they answer, and as hidden Markov models.

Truncated geometric noise, Noisy Max, Above Threshold and randomised response, as published (LWZ22;
Warner65), without a float: a mechanism is a table of exact distributions, one for each input, or a hidden
Markov model that asks again and again.
"""

from bisimdist.models.mechanisms.above_threshold import above_threshold
from bisimdist.models.mechanisms.geometric import geometric_mechanism, truncated_geometric
from bisimdist.models.mechanisms.mechanism import Mechanism
from bisimdist.models.mechanisms.noisy_max import noisy_max, winner_distribution
from bisimdist.models.mechanisms.randomised_response import randomised_response_mechanism

__all__ = [
    "Mechanism",
    "above_threshold",
    "geometric_mechanism",
    "noisy_max",
    "randomised_response_mechanism",
    "truncated_geometric",
    "winner_distribution",
]
