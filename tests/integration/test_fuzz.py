"""Thousands of small random chains: every exact proof and every bracket is accepted by the checker."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from flint import fmpq

from bisimdist.distances.bound.ask import bound
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from tests.integration.certified import all_pairs, check_answer

ALPHAS = [fmpq(*parts) for parts in ((1, 1), (5001, 5000), (4, 3), (3, 2), (2, 1), (3, 1), (7, 1))]
HUGE = [fmpq(10**200 + 1, 10**200 - 1), 1 + fmpq(1, 10**30), fmpq(2**64 + 1, 2**63), fmpq(10**12)]


def small_chain(source: random.Random) -> LMC:
    states = source.randint(3, 9)
    successors = source.randint(1, min(4, states))
    return random_lmc(
        states,
        successors,
        min(source.choice([1, 2, 2, 2, 3]), states - 1),
        source.randrange(10**9),
        denominator=max(source.choice([2, 3, 4, 6, 100]), successors),
        acyclic=source.random() < 0.3,
    )


def with_big_numbers(chain: LMC, source: random.Random) -> LMC:
    """Return the chain with probabilities of hundreds of digits, or of very different sizes."""
    kinds: list[Callable[[], int]] = [
        lambda: source.randint(1, 10**200),
        lambda: 10 ** source.choice([0, 0, 20, 25, 60]) * source.randint(1, 3),
        lambda: 2**64 * source.randint(1, 3) + source.choice([-1, 0, 1]),
        lambda: source.randint(1, 4),
    ]
    rows = []
    for row in chain.rows:
        draw = source.choice(kinds)
        weights = [draw() for _ in row]
        rows.append(
            tuple((target, fmpq(w, sum(weights))) for (target, _), w in zip(row, weights, strict=True))
        )
    return LMC(chain.states, chain.labels, tuple(rows))


def check(chain: LMC, alpha: fmpq, precision: fmpq | None = None) -> None:
    answer = bound(chain, alpha, pairs=all_pairs(chain), precision=precision)
    check_answer(answer)
    assert answer.status in {Status.EXACT, Status.BRACKET}, answer.method
    assert all(pair.upper - pair.lower <= (precision or 0) for pair in answer.pairs)


def run(seed: int, rounds: int) -> None:
    source = random.Random(seed)
    for _ in range(rounds):
        chain = small_chain(source)
        check(chain, source.choice(ALPHAS))
        check(chain, source.choice(ALPHAS), fmpq(1, 10 ** source.choice([1, 3, 9, 15])))
        if source.random() < 0.2:
            check(with_big_numbers(chain, source), source.choice(ALPHAS + HUGE))
            check(with_big_numbers(chain, source), source.choice(ALPHAS + HUGE), fmpq(1, 1000))


def test_a_sample() -> None:
    run(1, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_thousands(seed: int) -> None:
    run(seed, 500)
