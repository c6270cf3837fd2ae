"""The transportation kernel against general solvers, and its bases against what they say of themselves."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.lp.backends.base import get_backend
from bisimdist.lp.direct import program_of, solve_direct
from bisimdist.lp.optimum import find_violation
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.program import Program
from bisimdist.lp.simplex import solve_simplex
from bisimdist.lp.solve import solve
from bisimdist.lp.transport import TransportBasis, improve, solve_program
from tests.backends.problems import INSTANCES, Instance, metric_problems, problems

BACKENDS = ("networkx", "pulp", "pulp:HiGHS", "scipy", "simplex", "z3")
sizes = st.one_of(st.integers(1, 9), st.integers(1, 10**40), st.sampled_from([2**63 - 1, 2**64, 10**200]))


@st.composite
def programs(draw: st.DrawFn) -> tuple[Program, list[int], int]:
    """Draw a transportation program with its costs, of any size of numbers, ties included."""
    sources, sinks = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    one = draw(sizes)
    costs = draw(st.lists(st.integers(0, one), min_size=sources * sinks, max_size=sources * sinks))
    program = Program(
        tuple(range(sources)),
        tuple(range(sources, sources + sinks)),
        tuple(draw(st.lists(sizes, min_size=sources, max_size=sources))),
        tuple(draw(st.lists(sizes, min_size=sinks, max_size=sinks))),
        tuple(range(sources * sinks)),
        1,
    )
    return program, costs, one


def assert_optimal(program: Program, costs: list[int], one: int, basis: TransportBasis) -> None:
    """Demand feasible flows, feasible potentials, and equal values: then both are optimal."""
    sources, sinks = len(program.sources), len(program.sinks)
    assert basis.feasible
    shipped = [[0] * sinks for _ in range(sources)]
    given_up, spare = [0] * sources, [0] * sinks
    for v, (above, flow) in enumerate(zip(basis.parent, basis.flow, strict=True)):
        if v < sources and above < 0:
            given_up[v] = flow
        elif v < sources:
            shipped[v][above - sources] += flow
        elif above < 0:
            spare[v - sources] = flow
        else:
            shipped[above][v - sources] += flow
    assert [sum(shipped[i]) + given_up[i] for i in range(sources)] == list(program.supply)
    assert [sum(row[j] for row in shipped) + spare[j] for j in range(sinks)] == list(program.capacity)
    f, g = basis.potential[:sources], basis.potential[sources:]
    assert all(x <= one for x in f)
    assert all(y >= 0 for y in g)
    assert all(f[i] - g[j] <= costs[i * sinks + j] for i in range(sources) for j in range(sinks))
    gained = sum(x * s for x, s in zip(f, program.supply, strict=True))
    gained -= sum(y * c for y, c in zip(g, program.capacity, strict=True))
    assert basis.cost(program, costs, one) == gained


@settings(max_examples=100)
@given(programs())
def test_flows_and_potentials_prove_each_other(drawn: tuple[Program, list[int], int]) -> None:
    program, costs, one = drawn
    assert_optimal(program, costs, one, solve_program(program, costs, one))


@settings(max_examples=50)
@given(programs(), st.data())
def test_a_warm_start_leads_to_the_same_value(
    drawn: tuple[Program, list[int], int], data: st.DataObject
) -> None:
    program, costs, one = drawn
    count = len(costs)
    others = data.draw(st.lists(st.integers(0, one), min_size=count, max_size=count))
    start = solve_program(program, others, one)
    warm = improve(program, costs, one, start.parent)
    assert_optimal(program, costs, one, warm)
    assert warm.cost(program, costs, one) == solve_program(program, costs, one).cost(program, costs, one)
    assert improve(program, costs, one, warm.parent).pivots == 0


@settings(max_examples=50)
@given(programs(), programs())
def test_a_basis_of_other_amounts_is_no_harm(
    drawn: tuple[Program, list[int], int], other: tuple[Program, list[int], int]
) -> None:
    """Where it ships negative amounts the work starts afresh."""
    program, costs, one = drawn
    shape = (len(program.sources), len(program.sinks))
    if (len(other[0].sources), len(other[0].sinks)) == shape:
        start = solve_program(*other)
        assert_optimal(program, costs, one, improve(program, costs, one, start.parent))


@settings(max_examples=75)
@given(problems(6))
def test_it_solves_every_skewed_problem(problem: SkewedProblem) -> None:
    """Detours and all: the kernel's direct couplings where they are optimal, the simplex elsewhere."""
    optimum = solve_direct(problem)
    assert find_violation(problem, optimum) is None
    assert optimum.value == solve_simplex(problem).value


@settings(max_examples=30)
@given(metric_problems(5))
def test_all_backends_agree_with_the_kernel(problem: SkewedProblem) -> None:
    """Without a shortcut the optimum of direct couplings is that of the whole problem, for every solver."""
    program, one = program_of(problem)
    n = len(problem)
    costs = [int((problem.distance[cell // n][cell % n] * one).p) for cell in program.cells]
    value = fmpq(solve_program(program, costs, one).cost(program, costs, one), program.whole * one)
    for name in BACKENDS:
        if get_backend(name).available() and (name != "networkx" or problem.alpha == 1):
            assert solve(problem, name).value == value


@pytest.mark.parametrize("example", INSTANCES, ids=lambda example: example.name)
def test_the_instances_of_the_conformance_suite(example: Instance) -> None:
    assert solve_direct(example.problem).value == example.optimum.value


def test_nothing_to_ship() -> None:
    empty = Program((), (0,), (), (3,), (), 1)
    assert solve_program(empty, [], 7).cost(empty, [], 7) == 0
    alone = Program((0,), (), (3,), (), (), 1)
    assert solve_program(alone, [], 7).cost(alone, [], 7) == 21
