from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import LinearProgramError
from bisimdist.lp.optimum import SkewedOptimum, find_violation, verify
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.simplex import solve_simplex
from tests.backends.problems import INSTANCES, Instance, make_problem, problems

PROBLEM = make_problem(2, ["3/4", 0, 0], [0, 0, 1], {(0, 2): "9/10", (0, 1): "1/10", (1, 2): "1/10"})
OPTIMUM = solve_simplex(PROBLEM)
TINY = fmpq(1, 10**40)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"potential": (fmpq(1), fmpq(9, 20))}, "2 entries for 3 nodes"),
        ({"potential": (1 + TINY, fmpq(9, 20), fmpq(7, 40))}, r"node 0 is .*outside \[0, 1\]"),
        ({"potential": (fmpq(1), fmpq(9, 20), -TINY)}, r"node 2 is .*outside \[0, 1\]"),
        ({"potential": (fmpq(1), fmpq(9, 20), fmpq(7, 40) - TINY)}, "f_1 - alpha f_2 <= 1/10"),
        ({"potential": (fmpq(1) - TINY, fmpq(9, 20), fmpq(7, 40))}, "the potential has the value"),
        ({"moves": {(0, 1): fmpq(1, 2), (1, 2): 1 - TINY}}, "away from node 1"),
        ({"moves": {(0, 1): fmpq(1, 2), (1, 2): 1 + TINY}}, "away from node 2"),
        ({"moves": {(0, 1): fmpq(1, 2), (1, 2): fmpq(1), (2, 2): TINY}}, "the move 2 -> 2 is none"),
        ({"moves": {(0, 3): fmpq(1, 2)}}, "the move 0 -> 3 is none"),
        ({"moves": {(0, 1): fmpq(0)}}, "carries 0; expected a positive"),
        ({"given_up": {}}, "away from node 0"),
        ({"given_up": {0: fmpq(1, 4), 3: TINY}}, "given up at 3"),
        ({"given_up": {0: fmpq(-1, 4)}}, "expected a positive"),
        ({"given_up": {0: fmpq(1, 4) + TINY}}, "the coupling has the cost"),
        ({"value": OPTIMUM.value + TINY}, "the potential has the value"),
    ],
)
def test_every_single_fault_is_found(changed: dict[str, Any], message: str) -> None:
    verify(PROBLEM, OPTIMUM)
    with pytest.raises(LinearProgramError, match=message):
        verify(PROBLEM, replace(OPTIMUM, **changed))


@settings(deadline=None)
@given(problems(), st.data())
def test_no_other_value_is_accepted(problem: SkewedProblem, data: st.DataObject) -> None:
    optimum = solve_simplex(problem)
    shift = data.draw(st.sampled_from([TINY, -TINY, fmpq(1, 7)]))
    assert find_violation(problem, replace(optimum, value=optimum.value + shift)) is not None


def assert_paper_constraints(problem: SkewedProblem, optimum: SkewedOptimum) -> None:
    """Hold the constraints of the paper (CMP18, Section 5), with what is left at a node as tau or gamma."""
    for i in range(len(problem)):
        out = sum((w for (tail, _), w in optimum.moves.items() if tail == i), fmpq(0))
        into = sum((w for (_, head), w in optimum.moves.items() if head == i), fmpq(0))
        out += optimum.given_up.get(i, fmpq(0))
        rest = problem.left[i] - out
        tau, gamma = max(rest, fmpq(0)), max(-rest, fmpq(0))
        assert into + (tau - gamma) / problem.alpha <= problem.right[i]


@pytest.mark.parametrize("example", INSTANCES, ids=lambda example: example.name)
def test_the_coupling_in_the_form_of_the_paper(example: Instance) -> None:
    assert_paper_constraints(example.problem, example.optimum)


@settings(deadline=None)
@given(problems())
def test_every_coupling_in_the_form_of_the_paper(problem: SkewedProblem) -> None:
    assert_paper_constraints(problem, solve_simplex(problem))
