"""Clients of multi-freq-ldpy: the Python functions that its compiler takes."""

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client


def randomised_response(x):
    return int(GRR_Client.py_func(x, 3, 1.0))


def unary_encoding(x):
    return tuple(map(int, UE_Client.py_func(x, 2, 1.0, False)))
