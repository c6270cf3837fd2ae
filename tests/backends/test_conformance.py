"""Every back-end on the same instances: the value, and both witnesses checked exactly."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import LimitError, LinearProgramError
from bisimdist.lp.backends.base import get_backend
from bisimdist.lp.optimum import find_violation, verify
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.solve import solve
from bisimdist.progress import Deadline
from tests.backends.problems import EACH, EVERY, INSTANCES, Instance, make_problem, problems


def usable(name: str, problem: SkewedProblem) -> bool:
    return get_backend(name).available() and (name != "networkx" or problem.alpha == 1)


@pytest.mark.parametrize("example", INSTANCES, ids=lambda example: example.name)
def test_the_instances_are_right_themselves(example: Instance) -> None:
    assert find_violation(example.problem, example.optimum) is None


@pytest.mark.parametrize("backend", EACH)
@pytest.mark.parametrize("example", INSTANCES, ids=lambda example: example.name)
def test_every_backend_solves_every_instance(example: Instance, backend: str) -> None:
    if not usable(backend, example.problem):
        pytest.skip("the solver is not there, or is not for this alpha")
    optimum = solve(example.problem, backend)
    verify(example.problem, optimum)
    assert optimum.value == example.optimum.value


@settings(max_examples=30, deadline=None)
@given(problems(4))
def test_all_backends_agree_exactly(problem: SkewedProblem) -> None:
    value = solve(problem).value
    for backend in EVERY:
        if usable(backend, problem):
            optimum = solve(problem, backend)
            assert find_violation(problem, optimum) is None
            assert optimum.value == value


@settings(max_examples=30, deadline=None)
@given(problems(6, alpha=st.just(fmpq(1))))
def test_minimum_cost_flow_agrees_for_alpha_one(problem: SkewedProblem) -> None:
    optimum = solve(problem, "networkx")
    assert find_violation(problem, optimum) is None
    assert optimum.value == solve(problem).value


@pytest.mark.parametrize("backend", EACH)
def test_no_node_at_all(backend: str) -> None:
    if not get_backend(backend).available():
        pytest.skip("the solver is not there")
    assert solve(make_problem(1, [], [], 0), backend).value == 0


def test_minimum_cost_flow_refuses_other_alpha() -> None:
    with pytest.raises(LinearProgramError, match="alpha is 3/2"):
        solve(make_problem("3/2", [1], [1], 0), "networkx")


@pytest.mark.parametrize("backend", EACH)
def test_a_passed_deadline_is_a_limit(backend: str) -> None:
    if not get_backend(backend).available():
        pytest.skip("the solver is not there")
    problem = make_problem(1, [1, 0], [0, 1], "1/2")
    with pytest.raises(LimitError):
        solve(problem, backend, deadline=Deadline.after(-1.0))
