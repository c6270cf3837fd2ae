"""The supremum is over functions on ALL states: third states, even unreachable ones, can lower it."""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.models.bisimilarity import quotient
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from tests.integration.certified import certified, exact_distance
from tests.reference.acyclic_bd import acyclic_bd
from tests.reference.bd_oracle import is_fixed_point


def value(chain: LMC, alpha: str, source: str, target: str) -> fmpq:
    (pair,) = certified(chain, alpha, [(source, target)]).pairs
    assert pair.exact
    return pair.upper


def test_a_state_outside_both_supports() -> None:
    """On the supports alone the value would be an upper bound only."""
    chain = random_lmc(7, 3, 2, seed=158, denominator=6, acyclic=True)
    assert value(chain, "4/3", "s2", "s3") == fmpq(71, 243)
    assert acyclic_bd(chain, fmpq(4, 3))[2, 3] == fmpq(71, 243)


def without(chain: LMC, name: str) -> LMC:
    """Return the chain without a state that no other state enters."""
    kept = [state for state in chain.states if state != name]
    rows = {state: {chain.states[t]: p for t, p in chain.rows[chain.index(state)]} for state in kept}
    return LMC.from_mappings({state: chain.labels[chain.index(state)] for state in kept}, rows)


def test_an_unreachable_state_lowers_the_distance() -> None:
    """Neither s0 nor s1 nor anything after them ever enters s2, which carries their successors' label."""
    chain = random_lmc(6, 3, 2, seed=182, denominator=6, acyclic=True)
    smaller = without(chain, "s2")
    assert value(chain, "3/2", "s0", "s1") == acyclic_bd(chain, fmpq(3, 2))[0, 1] == fmpq(37, 72)
    assert value(smaller, "3/2", "s0", "s1") == acyclic_bd(smaller, fmpq(3, 2))[0, 1] == fmpq(223, 432)


def test_at_alpha_1_an_unreachable_state_changes_nothing() -> None:
    chain = random_lmc(6, 3, 2, seed=182, denominator=6, acyclic=True)
    assert value(chain, "1", "s0", "s1") == value(without(chain, "s2"), "1", "s0", "s1")


@pytest.mark.parametrize("precision", ["1/100", "1e-9"])
def test_a_bracket_holds_the_distance_with_its_detours(precision: str) -> None:
    chain = random_lmc(7, 3, 2, seed=158, denominator=6, acyclic=True)
    (pair,) = certified(chain, "4/3", [("s2", "s3")], precision=precision).pairs
    assert pair.lower <= fmpq(71, 243) <= pair.upper


def test_the_distance_may_grow_with_alpha() -> None:
    """Only delta falls: a detour multiplies what it carries by alpha at every state that it passes."""
    chain = LMC.from_mappings(
        {"s": "b", "t": "b", "x": "a", "y": "a", "z": "a", "o": "b"},
        {
            "s": {"x": "1/5", "y": "4/15", "z": "4/15", "o": "4/15"},
            "t": {"y": 1},
            "x": {"o": "1/2", "z": "1/2"},
            "y": {"o": "2/3", "z": "1/3"},
            "z": {"z": 1},
            "o": {"o": 1},
        },
    )
    assert value(chain, "2", "s", "t") == fmpq(2, 5)
    assert value(chain, "3", "s", "t") == fmpq(11, 27)


def test_the_quotient_has_another_distance() -> None:
    chain = random_lmc(5, 2, 2, seed=136, denominator=6, acyclic=True)
    merged, classes = quotient(chain)
    alpha = fmpq(3, 2)
    d, smaller = exact_distance(chain, alpha), exact_distance(merged, alpha)
    assert is_fixed_point(chain, alpha, d)
    assert is_fixed_point(merged, alpha, smaller)
    found = {
        (d[i][j], smaller[classes[i]][classes[j]]) for i in range(len(chain)) for j in range(i) if d[i][j]
    }
    assert (fmpq(1, 6), fmpq(1, 12)) in found


def test_at_alpha_1_the_quotient_has_the_same_distance() -> None:
    for seed in range(12):
        chain = random_lmc(6, 2, 2, seed=seed, denominator=2)
        merged, classes = quotient(chain)
        d, smaller = exact_distance(chain, 1), exact_distance(merged, 1)
        states = range(len(chain))
        assert all(d[i][j] == smaller[classes[i]][classes[j]] for i in states for j in states)


def test_many_detours() -> None:
    """Random chains on which dozens of programs need states outside their supports."""
    for seed in (3, 158, 402):
        for alpha in (fmpq(4, 3), fmpq(3, 2), fmpq(7)):
            chain = random_lmc(9, 3, 2, seed=seed, denominator=6)
            assert is_fixed_point(chain, alpha, exact_distance(chain, alpha))
