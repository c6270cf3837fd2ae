from __future__ import annotations

from fractions import Fraction

import pytest
import z3
from flint import fmpq
from hypothesis import assume, given, settings

from bisimdist.lp.simplex import solve_simplex
from bisimdist.models.lmc import LMC
from tests.backends.problems import make_problem
from tests.reference.bd_oracle import gamma, is_fixed_point
from tests.reference.fig5_formula import add_coupling, bd_at_most, real
from tests.reference.kleene import iterate_below
from tests.strategies import alphas, lmcs

TINY = fmpq(1, 10**12)


def figure_1() -> LMC:
    return LMC.from_mappings(
        {"s0": "a", "s1": "a", "s2": "b", "s3": "c"},
        {
            "s0": {"s2": "0.6", "s3": "0.4"},
            "s1": {"s2": "0.4", "s3": "0.6"},
            "s2": {"s2": 1},
            "s3": {"s3": 1},
        },
    )


def test_example_1_of_the_paper() -> None:
    """Example 1: 0 for alpha = 1.5; 0.6 - 0.4 alpha below."""
    assert bd_at_most(figure_1(), fmpq(3, 2), 0, 1, fmpq(0)) is True
    assert bd_at_most(figure_1(), fmpq(1), 0, 1, fmpq(1, 5)) is True
    assert bd_at_most(figure_1(), fmpq(1), 0, 1, fmpq(1, 5) - TINY) is False


def ring(p: fmpq, q: fmpq) -> LMC:
    """Two states of one label that lead to each other, with different chances to end elsewhere."""
    return LMC(
        ("s", "t", "u"),
        ("a", "a", "b"),
        (((1, 1 - p), (2, p)), ((0, 1 - q), (2, q)), ((2, fmpq(1)),)),
    )


@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(5001, 5000), fmpq(3, 2)])
def test_the_threshold_lies_at_the_limit_of_the_iteration(alpha: fmpq) -> None:
    lmc = ring(fmpq(1, 2), fmpq(1, 4))
    below = iterate_below(lmc, alpha, 300)[0][1]
    assert bd_at_most(lmc, alpha, 0, 1, below + TINY) is True
    if below > TINY:
        assert bd_at_most(lmc, alpha, 0, 1, below - TINY) is False


@settings(max_examples=15, deadline=None)
@given(lmcs(4, False, min_states=3), alphas())
def test_exact_at_the_tie_on_chains_without_cycles(lmc: LMC, alpha: fmpq) -> None:
    """Without cycles the iteration from below ends, in the least fixed point."""
    d = iterate_below(lmc, alpha, 10, bits=None)
    assert is_fixed_point(lmc, alpha, d, "z3")
    pairs = [(i, j) for i in range(len(lmc)) for j in range(i) if lmc.labels[i] == lmc.labels[j]]
    assume(pairs)
    i, j = max(pairs, key=lambda pair: d[pair[0]][pair[1]])
    assert bd_at_most(lmc, alpha, i, j, d[i][j], seconds=2) is not False
    if d[i][j] > 0:
        assert bd_at_most(lmc, alpha, i, j, d[i][j] - TINY, seconds=2) is not True


@settings(max_examples=8, deadline=None)
@given(lmcs(4, True, min_states=3), alphas())
def test_never_below_the_iteration_on_cyclic_chains(lmc: LMC, alpha: fmpq) -> None:
    below = iterate_below(lmc, alpha, 60)
    pairs = [
        (i, j)
        for i in range(len(lmc))
        for j in range(i)
        if below[i][j] > 0 and lmc.labels[i] == lmc.labels[j]
    ]
    assume(pairs)
    i, j = pairs[0]
    assert bd_at_most(lmc, alpha, i, j, below[i][j] - TINY, seconds=2) is not True


def test_without_giving_up_the_dual_is_that_of_unbounded_potentials() -> None:
    """One block: a -> b -> c costs 1/10 + 1/10, a -> c costs 1, all mass goes from a to c, alpha = 2."""
    distance = {(0, 2): "1", (0, 1): "1/10", (1, 2): "1/10"}
    problem = make_problem(2, [1, 0, 0], [0, 0, 1], distance)
    assert solve_simplex(problem).value == fmpq(13, 20)
    one = fmpq(1)
    lmc = LMC(("a", "b", "c", "s", "t"), ("x",) * 3 + ("y",) * 2, tuple(((k, one),) for k in (0, 1, 2, 0, 2)))
    costs = {(i, j): real(problem.distance[i][j]) for i in range(3) for j in range(3) if i != j}
    costs |= {(3, 4): z3.RealVal(1), (4, 3): z3.RealVal(1)}
    values = {}
    for give_up in (True, False):
        optimiser = z3.Optimize()
        objective = optimiser.minimize(add_coupling(optimiser, lmc, fmpq(2), 3, 4, costs, "k", give_up))
        assert optimiser.check() == z3.sat
        values[give_up] = Fraction(str(optimiser.lower(objective)))
    assert values == {True: Fraction(13, 20), False: Fraction(1)}


def test_gamma_is_symmetric_and_one_between_labels() -> None:
    d = gamma(ring(fmpq(1, 2), fmpq(1, 4)), fmpq(1), iterate_below(ring(fmpq(1, 2), fmpq(1, 4)), fmpq(1), 3))
    assert d[0][1] == d[1][0]
    assert d[0][2] == d[2][1] == 1
    assert d[2][2] == 0
