"""Plans as a matrix: the same costs as plan by plan, and comparisons that are exact."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

from bisimdist.distances.engine.exact_engine import approximate
from bisimdist.distances.engine.plan_matrix import PlanMatrix, plan_cost
from bisimdist.distances.engine.question import prepare
from bisimdist.distances.engine.strategy import Strategy
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC

Rows = dict[str, dict[str, ExactNumber]]

TINY = fmpq(1, 10**400)
LONG = fmpq(1, 3**50)


def chains() -> list[LMC]:
    wide: Rows = {"s": {"x": 1 - TINY, "y": TINY}, "t": {"x": 1 - 2 * TINY, "y": 2 * TINY}}
    long: Rows = {"s": {"x": 1 - LONG, "y": LONG}, "t": {"x": 1 - 2 * LONG, "y": 2 * LONG}}
    ends: Rows = {"x": {"x": "1/3", "y": "2/3"}, "y": {"x": "1/2", "z": "1/2"}, "z": {"z": 1}}
    labels = {"s": "a", "t": "a", "x": "b", "y": "b", "z": "c"}
    random = [random_lmc(12, 4, 2, seed=seed) for seed in range(4)]
    return [LMC.from_mappings(labels, rows | ends) for rows in (wide, long)] + random


def strategy_of(chain: LMC, alpha: fmpq) -> Strategy:
    pairs = tuple((s, t) for s in range(len(chain)) for t in range(s))
    question = prepare(chain, alpha, pairs)
    guess = approximate(question)
    strategy = Strategy(question.functional, guess.basis.copy(), guess.direction.copy(), guess.zero)
    everything = np.arange(len(question.functional.batch))
    strategy.basis.solve(question.functional.batch, everything, guess.distance, one=1 << 40)
    return strategy


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(3, 2)])
def test_the_matrix_says_what_the_plans_say(number: int, alpha: fmpq) -> None:
    strategy = strategy_of(chains()[number], alpha)
    size = strategy.functional.size
    step = 1 if strategy.functional.both_sides else 2
    sides = list(range(0, 2 * size, step))[::-1]
    table = PlanMatrix.of(strategy, sides)
    dense = table.matrix.toarray()
    for row, side in enumerate(sides):
        plan = strategy.plan(side)
        assert table.constant[row] == pytest.approx(plan.constant / plan.scale, rel=1e-12)
        for pair in range(size):
            weight = dict(plan.entries).get(pair, 0)
            assert dense[row, pair] == pytest.approx(weight / plan.scale, rel=1e-12)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("grid", [1 << 20, 1 << 53])
def test_comparisons_are_exact_where_doubles_cannot_tell(number: int, grid: int) -> None:
    strategy = strategy_of(chains()[number], fmpq(1))
    size = strategy.functional.size
    sides = [2 * pair for pair in range(size)]
    table = PlanMatrix.of(strategy, sides)
    rng = np.random.default_rng(number)
    start = rng.integers(0, grid, size, endpoint=True)
    # values at, just below and just above what each coupling costs at random values
    costs = [plan_cost(strategy.plan(side), start.tolist(), grid) for side in sides]
    for offset in (-1, 0, 1):
        values = start.copy()
        chosen = int(rng.integers(size))
        values[chosen] = min(max(int(costs[chosen].floor()) + offset, 0), grid)
        expected = [
            plan_cost(strategy.plan(side), values.tolist(), grid) > int(values[side // 2]) for side in sides
        ]
        assert table.exceeding(values, grid).tolist() == expected
