"""Bounds on compositions are never on the wrong side of brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimdist
from bisimdist.models.lmc import LMC
from tests.reference.composition import Masses, delta

DOUBT = Fraction(1, 10**180)


def chain(masses: Masses) -> LMC:
    """Return a chain whose pair (s, t) shows outcomes with these masses."""
    ends = [f"o{k}" for k in range(len(masses))]
    rows: dict[str, dict[str, Any]] = {end: {end: 1} for end in ends}
    for state, side in (("s", 0), ("t", 1)):
        rows[state] = {end: str(both[side]) for end, both in zip(ends, masses, strict=True) if both[side]}
    labels = {"s": "start", "t": "start", **{end: end for end in ends}}
    return LMC.from_mappings(labels, rows, pairs=[("s", "t")])


def held_against(mechanisms: list[tuple[Masses, int]], epsilon: Fraction) -> None:
    entries = [{"model": chain(masses), "pair": ["s", "t"], "times": runs} for masses, runs in mechanisms]
    found = bisimdist.compose(entries, width="1/100").delta(epsilon)
    truth = delta(mechanisms, epsilon)
    assert found.lower <= truth + DOUBT
    assert truth - DOUBT <= found.upper
    assert found.upper - found.lower <= found.upper / 50 + DOUBT


def drawn(generator: random.Random, most: int) -> tuple[Masses, int]:
    """Return a random mechanism, and how often it runs; some outcomes come from one side only."""
    size = generator.randint(2, 4)
    sides = []
    for _ in range(2):
        weights = [generator.choice([0, 1, 1, 2, 5, 9, 50]) for _ in range(size)]
        weights[generator.randrange(size)] += 1
        sides.append([Fraction(weight, sum(weights)) for weight in weights])
    return list(zip(*sides, strict=True)), generator.randint(1, {2: most, 3: most, 4: most // 2}[size])


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**9))
def test_random_mechanisms(seed: int) -> None:
    generator = random.Random(seed)
    held_against([drawn(generator, 16)], Fraction(generator.randint(0, 60), 10))


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**9))
def test_random_lists(seed: int) -> None:
    generator = random.Random(seed)
    held_against([drawn(generator, 3), drawn(generator, 4)], Fraction(generator.randint(0, 40), 10))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_thousand_mechanisms() -> None:
    for seed in range(1000):
        generator = random.Random(seed)
        held_against([drawn(generator, 50)], Fraction(generator.randint(0, 100), 10))
