"""Chains that mix slowly, tie everywhere or are long: exact, certified, and in bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from flint import fmpq

from bisimdist.distances.bound.ask import bound
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline
from tests.fixpoint.chains import (
    HALF,
    ONE,
    birth_death,
    copies,
    grid,
    hypercube,
    lazy,
    leaking_cycle,
    make_chain,
    swap,
    uniform,
)
from tests.integration.certified import all_pairs, certified, check_answer, exact_distance
from tests.reference.bd_oracle import is_fixed_point
from tests.speed import leeway

PATIENCE = 60.0
"""Seconds a question may take here; each takes a small fraction of it on an idle machine."""

FAMILIES: dict[str, Callable[[], LMC]] = {
    "cycle of 20": lambda: leaking_cycle(20),
    "birth-death, 12 states": lambda: birth_death(12, fmpq(1, 3)),
    "fair birth-death, 12 states": lambda: birth_death(12, HALF),
    "grid of 3 by 3": lambda: grid(3),
    "hypercube of 8": lambda: hypercube(3),
    "hypercube of 16": lambda: hypercube(4),
    "uniform, 24 states": lambda: uniform(24, 2),
    "many bisimilar copies": lambda: copies(random_lmc(5, 3, 2, seed=3), 5),
    "swaps": lambda: swap(5),
    "one label": lambda: random_lmc(15, 3, 1, seed=1),
    "halves": lambda: random_lmc(15, 2, 2, seed=2, denominator=2),
    "equal probabilities": lambda: random_lmc(15, 4, 2, seed=4, uniform=True),
    "lazy": lambda: lazy(swap(2), 1 - fmpq(1, 10**6)),
    "lazier": lambda: lazy(swap(2), 1 - fmpq(1, 10**9)),
    "hardly moving": lambda: lazy(swap(2), 1 - fmpq(1, 10**18)),
    "moving once in an age": lambda: lazy(swap(2), 1 - fmpq(1, 10**60)),
    "lazy walk": lambda: lazy(birth_death(6, fmpq(1, 3)), 1 - fmpq(1, 10**20)),
}


@pytest.mark.parametrize("alpha", ["1", "5001/5000", "3/2", "7"])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
def test_exact_and_certified(family: Callable[[], LMC], alpha: str) -> None:
    chain = family()
    answer = bound(chain, alpha, pairs=all_pairs(chain), deadline=Deadline.after(PATIENCE))
    assert answer.status is Status.EXACT, answer.method
    check_answer(answer)


@pytest.mark.parametrize("alpha", ["1", "3/2"])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())
def test_certified_brackets(family: Callable[[], LMC], alpha: str) -> None:
    chain = family()
    answer = bound(chain, alpha, pairs=all_pairs(chain), precision="1e-6", deadline=Deadline.after(PATIENCE))
    assert answer.status in {Status.EXACT, Status.BRACKET}, answer.method
    assert all(pair.upper - pair.lower <= fmpq(1, 10**6) for pair in answer.pairs)
    check_answer(answer)


@pytest.mark.parametrize("stay", [fmpq(1, 2), 1 - fmpq(1, 10**6), 1 - fmpq(1, 10**9), 1 - fmpq(1, 10**30)])
def test_laziness_changes_nothing_where_both_wait_alike(stay: fmpq) -> None:
    """alpha = 1: waiting in step costs nothing, so that only the steps count."""
    steps = make_chain(
        "aabc", [[(2, fmpq(2, 3)), (3, fmpq(1, 3))], [(2, HALF), (3, HALF)], [(2, ONE)], [(3, ONE)]]
    )
    assert exact_distance(steps, 1)[0][1] == fmpq(1, 6)
    waiting = lazy(steps, stay)
    d = exact_distance(waiting, 1)
    assert d[0][1] == fmpq(1, 6)
    assert is_fixed_point(waiting, ONE, d)


def test_a_cycle_of_500_states() -> None:
    chain = leaking_cycle(500)
    started = time.process_time()
    for precision in (None, "1e-6"):
        answer = bound(chain, 1, pairs=[("s0", "s1")], precision=precision, deadline=Deadline.after(PATIENCE))
        assert answer.status is not Status.LIMIT, answer.method
        check_answer(answer)
    assert time.process_time() - started < PATIENCE * leeway()


# ----- the smallest models and the oddest questions -----


@pytest.mark.parametrize("alpha", ["1", "3/2"])
@pytest.mark.parametrize("precision", [None, "1/10"])
def test_one_state(alpha: str, precision: str | None) -> None:
    (pair,) = certified(make_chain("a", [[(0, ONE)]]), alpha, [("s0", "s0")], precision=precision).pairs
    assert (pair.upper, pair.lower, pair.exact) == (0, 0, True)


@pytest.mark.parametrize("alpha", ["1", "3/2"])
@pytest.mark.parametrize(("labels", "expected"), [("aa", 0), ("ab", 1)])
def test_two_states(labels: str, expected: int, alpha: str) -> None:
    chain = make_chain(labels, [[(0, HALF), (1, HALF)], [(0, fmpq(1, 3)), (1, fmpq(2, 3))]])
    assert exact_distance(chain, alpha)[0][1] == expected


@pytest.mark.parametrize("precision", [None, "1/10"])
@pytest.mark.parametrize("alpha", ["1", "3/2"])
def test_the_same_pair_twice_and_the_other_way_round(alpha: str, precision: str | None) -> None:
    pairs = [("s0", "s1"), ("s1", "s0"), ("s0", "s1"), ("s2", "s2"), ("s0", "s4")]
    answer = certified(swap(2), alpha, pairs, precision=precision)
    assert [(pair.source, pair.target) for pair in answer.pairs] == pairs
    first, back, again, same, apart = answer.pairs
    assert (first.upper, first.lower) == (back.upper, back.lower) == (again.upper, again.lower)
    assert (same.upper, apart.lower) == (0, 1)


@pytest.mark.parametrize("alpha", ["1", "3/2"])
@pytest.mark.parametrize("precision", [None, "1/10"])
def test_pairs_of_different_classes_only(alpha: str, precision: str | None) -> None:
    """Different labels, or labels that are sure to differ later."""
    chain = make_chain("aaaabc", [[(2, ONE)], [(3, ONE)], [(4, ONE)], [(5, ONE)], [(4, ONE)], [(5, ONE)]])
    answer = certified(chain, alpha, [("s0", "s4"), ("s0", "s1"), ("s2", "s3")], precision=precision)
    assert answer.status is Status.EXACT
    assert [(pair.lower, pair.upper) for pair in answer.pairs] == [(1, 1)] * 3
