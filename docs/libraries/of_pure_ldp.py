"""Clients of pure-ldp, unmodified: what a user sends."""

from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient


def direct_encoding(x):
    return DEClient(epsilon=1.0, d=4, index_mapper=lambda value: value).privatise(x)


def optimised_unary_encoding(x):
    client = UEClient(epsilon=1.0, d=3, use_oue=True, index_mapper=lambda value: value)
    return tuple(map(int, client.privatise(x)))
