"""The greatest solution of the asymmetric equations: above every other one, and the distance itself."""

from __future__ import annotations

from itertools import permutations

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.distances.engine.exact_engine import approximate, prove_exactly
from bisimdist.distances.engine.question import prepare
from bisimdist.errors import LimitError
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.engine.greatest import Greatest, greatest_solution
from bisimdist.progress import Deadline
from tests.reference.bd_oracle import make_distance, one_direction
from tests.strategies import alphas, lmcs

Pair = tuple[int, int]


def alike(chain: LMC) -> list[Pair]:
    """Return the ordered pairs of different states of one label."""
    states = range(len(chain))
    return [(i, j) for i, j in permutations(states, 2) if chain.labels[i] == chain.labels[j]]


def lbd(chain: LMC, alpha: fmpq, pairs: list[Pair]) -> dict[Pair, fmpq]:
    question = prepare(chain, alpha, tuple(pairs), ordered=True)
    proof = prove_exactly(question, approximate(question))
    return {pair: proof.upper(pair) for pair in pairs}


def lifted(chain: LMC, alpha: fmpq, found: Greatest, pair: Pair) -> fmpq:
    return one_direction(chain, alpha, make_distance(chain, found.value), *pair)


@settings(max_examples=20)
@given(chain=lmcs(6, max_labels=2), alpha=alphas())
def test_it_is_a_fixed_point_and_equals_the_least_one(chain: LMC, alpha: fmpq) -> None:
    pairs = alike(chain)
    found = greatest_solution(chain, alpha, pairs)
    assert found.closed
    assert {pair: found.value(*pair) for pair in pairs} == lbd(chain, alpha, pairs)
    for pair in pairs:
        assert lifted(chain, alpha, found, pair) == found.value(*pair)


def test_nothing_at_0_is_too_much() -> None:
    # two loops that look alike: without a pair at 0, mass that goes round for ever may cost anything
    chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"t": 1}, "t": {"s": 1}})
    assert greatest_solution(chain, fmpq(2), [(0, 1)]).value(0, 1) == 0
    one = make_distance(chain, lambda i, j: fmpq(1))
    assert one_direction(chain, fmpq(2), one, 0, 1) == 1  # so 1 is a fixed point, and the greatest of all


@settings(max_examples=20)
@given(chain=lmcs(5, max_labels=2), alpha=alphas())
def test_it_bounds_delta(chain: LMC, alpha: fmpq) -> None:
    found = greatest_solution(chain, alpha, [(0, 1), (1, 0)])
    name = (chain.states[0], chain.states[1])
    answer = delta(chain, alpha, pairs=[name], gap="1/100", deadline=Deadline.after(1))
    assert answer.pairs[0].lower <= max(found.value(0, 1), found.value(1, 0))


def test_every_round_is_a_bound() -> None:
    chain, alpha = random_lmc(20, 2, 4, 0), fmpq(11, 10)
    pairs = alike(chain)
    exact = lbd(chain, alpha, pairs)

    class Stopping(Deadline):
        def check(self) -> None:
            if rounds[0] >= 2:
                raise LimitError("enough")

    rounds = [0]

    def count(stage: str, done: int, total: int | None) -> None:
        rounds[0] = done

    found = greatest_solution(chain, alpha, pairs, deadline=Stopping(None), progress=count)
    assert not found.closed
    values = {pair: found.value(*pair) for pair in pairs}
    assert all(values[pair] >= exact[pair] for pair in pairs)
    assert any(exact[pair] < values[pair] < 1 for pair in pairs)
    assert all(lifted(chain, alpha, found, pair) <= values[pair] for pair in pairs[:20])


def test_refused() -> None:
    chain = dining_cryptographers(3)
    with pytest.raises(LimitError, match="ordered pairs"):
        greatest_solution(chain, fmpq(2), [(0, 1)], max_pairs=1)
    with pytest.raises(LimitError):
        greatest_solution(chain, fmpq(2), [(0, 1)], deadline=Deadline.after(0))
