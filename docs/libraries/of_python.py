"""Mechanisms as practitioners write them with Python alone."""

import math
import random
import secrets


def response(x):
    """Randomised response, truth with probability 3/4: the claim is epsilon = ln 3."""
    return x if random.random() < 0.75 else 1 - x


def response_of_tenth(x):
    """Randomised response, truth with probability 9/10: the claim is epsilon = ln 9."""
    return x if random.random() < 0.9 else 1 - x


def secret_response(x):
    """Warner's two coins, from the system's source: the claim is epsilon = ln 3."""
    return x if secrets.randbelow(2) else secrets.randbelow(2)


def chosen(x):
    """The exponential mechanism over three answers by `random.choices`."""
    weights = [math.exp(-abs(x - answer) / 2) for answer in range(3)]
    return random.choices(range(3), weights)[0]


def exponential_difference(x):
    """Laplace noise as a difference of exponential values, rounded to whole numbers."""
    u = random.random()
    sign = 1 if random.random() < 0.5 else -1
    return round(x - sign * math.log(1.0 - u))
