"""Noise of NumPy, as practitioners add it."""

import math

import numpy as np


def laplace(x):
    """A count with Laplace noise of scale 1, rounded."""
    return round(x + np.random.laplace(0, 1))


def laplace_as_it_is(x):
    """A count with Laplace noise of scale 1, released as the double that it is."""
    return x + np.random.laplace(0, 1)


def geometric(x):
    """Two-sided geometric noise as a difference of two geometric values."""
    p = 1 - math.exp(-1)
    return int(x + np.random.geometric(p) - np.random.geometric(p))


def choice(x):
    """k-ary randomised response over three answers by `choice`."""
    return int(np.random.choice(3, p=[0.5 if k == x else 0.25 for k in range(3)]))


def gumbel(x):
    """The exponential mechanism over two answers by Gumbel noise: the larger score wins."""
    return bool(x / 2 + np.random.gumbel() > np.random.gumbel())


def logistic(x):
    """Report whether a noisy count is above a threshold."""
    return bool(x + np.random.logistic(0, 1) > 0)
