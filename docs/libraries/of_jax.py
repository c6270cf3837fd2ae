"""Mechanisms of jax.random."""

import secrets

import jax


def normal(x):
    key = jax.random.key(secrets.randbits(64))
    return x + jax.random.normal(key)
