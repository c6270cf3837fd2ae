from __future__ import annotations

import random
from dataclasses import replace

import pytest
from flint import fmpq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bisimdist.errors import LimitError, LinearProgramError
from bisimdist.lp import simplex
from bisimdist.lp.network import feasible_basis
from bisimdist.lp.optimum import find_violation, verify
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.refinement import Proposal, exact_from_proposal
from bisimdist.lp.simplex import solve_simplex
from bisimdist.progress import Deadline
from tests.backends.problems import INSTANCES, Instance, make_problem, metric_problems, problems


@settings(deadline=None, max_examples=150)
@given(problems(7))
def test_primal_and_dual_meet(problem: SkewedProblem) -> None:
    assert find_violation(problem, solve_simplex(problem)) is None


@settings(deadline=None, max_examples=100)
@given(problems(6), st.data())
def test_any_columns_are_a_start(problem: SkewedProblem, data: st.DataObject) -> None:
    n = len(problem)
    start = data.draw(st.lists(st.integers(0, n * n + n - 1), max_size=3 * n))
    optimum = solve_simplex(problem, start)
    assert find_violation(problem, optimum) is None
    assert optimum.value == solve_simplex(problem).value


@settings(deadline=None, max_examples=100)
@given(problems(6), st.data())
def test_any_columns_lead_to_a_feasible_basis(problem: SkewedProblem, data: st.DataObject) -> None:
    n = len(problem)
    start = data.draw(st.lists(st.integers(0, n * n + n - 1), max_size=3 * n))
    columns, values = feasible_basis(problem.alpha, problem.excess(), start)
    assert len(columns) == len(set(columns)) == n
    rows = [fmpq(0)] * n
    for column in columns:
        assert values[column] >= 0
        i, j = divmod(column, n)
        if i == n:
            rows[j] -= values[column]
        else:
            rows[i] += values[column]
            if i != j:
                rows[j] -= problem.alpha * values[column]
    assert tuple(rows) == problem.excess()


@settings(deadline=None)
@given(problems(6))
def test_its_own_basis_needs_no_pivot(problem: SkewedProblem) -> None:
    optimum = solve_simplex(problem)
    again = solve_simplex(problem, optimum.basis)
    assert again.pivots == 0
    assert (again.value, again.potential, again.moves, again.given_up, again.basis) == (
        optimum.value,
        optimum.potential,
        optimum.moves,
        optimum.given_up,
        optimum.basis,
    )


@settings(deadline=None)
@given(problems(5), problems(5))
def test_the_basis_of_another_problem_is_a_start(problem: SkewedProblem, other: SkewedProblem) -> None:
    basis = [column for column in solve_simplex(other).basis if column < len(problem) * (len(problem) + 1)]
    optimum = solve_simplex(problem, basis)
    assert find_violation(problem, optimum) is None
    assert optimum.value == solve_simplex(problem).value


@settings(deadline=None)
@given(metric_problems(5), st.sampled_from([fmpq(1), fmpq(11, 10), fmpq(3)]))
def test_antitone_in_alpha_where_the_distance_is_a_metric(problem: SkewedProblem, factor: fmpq) -> None:
    larger = SkewedProblem(problem.alpha * factor, problem.left, problem.right, problem.distance)
    assert solve_simplex(larger).value <= solve_simplex(problem).value


def test_not_antitone_in_alpha_where_a_detour_wins() -> None:
    """What passes through a node is multiplied there by alpha."""
    distance = {(0, 2): "9/10", (0, 1): "1/10", (1, 2): "1/10"}
    plain = make_problem(1, ["1/2", 0, 0], [0, 0, 1], distance)
    skewed = make_problem(2, ["1/2", 0, 0], [0, 0, 1], distance)
    assert solve_simplex(plain).value == fmpq(1, 10)
    assert solve_simplex(skewed).value == fmpq(3, 20)


@settings(deadline=None)
@given(problems(5), st.data())
def test_monotone_in_the_distance(problem: SkewedProblem, data: st.DataObject) -> None:
    part = st.sampled_from([fmpq(0), fmpq(1, 3), fmpq(1)])
    smaller = tuple(tuple(d * data.draw(part) for d in row) for row in problem.distance)
    assert solve_simplex(replace(problem, distance=smaller)).value <= solve_simplex(problem).value


@settings(deadline=None)
@given(problems(5))
def test_never_below_the_difference_of_the_masses(problem: SkewedProblem) -> None:
    """The constant potential one is feasible."""
    difference = sum(problem.excess(), fmpq(0))
    assert max(difference, fmpq(0)) <= solve_simplex(problem).value <= sum(problem.left, fmpq(0))


@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(5001, 5000), fmpq(3, 2), fmpq(10) ** 400])
@pytest.mark.parametrize("n", [12, 25])
def test_larger_problems_in_all_regimes(n: int, alpha: fmpq) -> None:
    """Beyond a dozen nodes doubles choose the columns; ties and blur mislead them."""
    generator = random.Random(f"{n} {alpha}")
    for grain, blur in ((1000, 0), (2, 0), (2, 1)):
        weights = [[generator.choice([0, 0, 1, 2, 50]) for _ in range(n)] for _ in range(2)]
        left, right = (tuple(fmpq(x, sum(side)) for x in side) for side in weights)
        rows = tuple(
            tuple(
                fmpq(0)
                if i == j
                else fmpq(generator.randrange(grain), grain) + fmpq(blur * generator.randrange(5), 2**60)
                for j in range(n)
            )
            for i in range(n)
        )
        problem = SkewedProblem(alpha, left, right, rows)
        optimum = solve_simplex(problem)
        verify(problem, optimum)
        warm = solve_simplex(problem.swapped(), optimum.basis)
        verify(problem.swapped(), warm)


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problems(6))
def test_the_rule_that_cannot_cycle(monkeypatch: pytest.MonkeyPatch, problem: SkewedProblem) -> None:
    """Usually it speaks only after a stall; here from the first pivot on."""
    value = solve_simplex(problem).value
    with monkeypatch.context() as patch:
        patch.setattr(simplex, "_PATIENCE", -1)
        optimum = solve_simplex(problem)
    assert find_violation(problem, optimum) is None
    assert optimum.value == value


def test_the_same_bytes_every_time() -> None:
    generator = random.Random(5)
    n = 14
    rows = tuple(tuple(fmpq(generator.randrange(3) * (i != j), 3) for j in range(n)) for i in range(n))
    problem = SkewedProblem(fmpq(1), (fmpq(1, n),) * n, (fmpq(1, 7),) * 7 + (fmpq(0),) * 7, rows)
    assert len({repr(solve_simplex(problem)) for _ in range(3)}) == 1


def test_the_deadline_ends_it() -> None:
    with pytest.raises(LimitError):
        solve_simplex(make_problem(1, [1, 0], [0, 1], "1/2"), deadline=Deadline.after(-1.0))


class TestRefinement:
    @settings(deadline=None, max_examples=100)
    @given(problems(5), st.data())
    def test_any_guess_ends_in_the_optimum(self, problem: SkewedProblem, data: st.DataObject) -> None:
        n = len(problem)
        number = st.floats(allow_nan=True, allow_infinity=True)
        node = st.integers(0, n - 1)
        proposal = Proposal(
            data.draw(st.dictionaries(st.tuples(node, node), number, max_size=8)),
            data.draw(st.dictionaries(node, number, max_size=n)),
            data.draw(st.none() | st.lists(number, min_size=n, max_size=n)),
        )
        optimum = exact_from_proposal(problem, proposal)
        assert find_violation(problem, optimum) is None
        assert optimum.value == solve_simplex(problem).value

    @pytest.mark.parametrize("example", INSTANCES, ids=lambda example: example.name)
    def test_a_right_guess_needs_no_pivot(self, example: Instance) -> None:
        known = example.optimum
        proposal = Proposal(
            {arc: float(w) for arc, w in known.moves.items()},
            {i: float(w) for i, w in known.given_up.items()},
            [float(f) for f in known.potential],
        )
        assert exact_from_proposal(example.problem, proposal).pivots <= (
            1 if "double" in example.name else 0  # there a double cannot hold the right guess
        )

    def test_a_wrong_basis_is_repaired(self) -> None:
        """In doubles both assignments cost the same; the guess takes the one that is not optimal."""
        example = next(e for e in INSTANCES if e.name.startswith("one unit below"))
        optimum = exact_from_proposal(
            example.problem, Proposal({(0, 2): 0.5, (1, 3): 0.5}, {}, [0.5, 0.5, 0.0, 0.0])
        )
        verify(example.problem, optimum)
        assert optimum.value == fmpq(1, 2)
        assert optimum.pivots >= 1

    @pytest.mark.parametrize(
        ("proposal", "message"),
        [
            (Proposal({(0, 2): 1.0}, {}), "the proposed move 0 -> 2"),
            (Proposal({}, {2: 1.0}), "given up at 2"),
            (Proposal({}, {}, [0.5]), "1 entries for 2 nodes"),
        ],
    )
    def test_a_guess_about_other_nodes_is_refused(self, proposal: Proposal, message: str) -> None:
        with pytest.raises(LinearProgramError, match=message):
            exact_from_proposal(make_problem(1, [1, 0], [0, 1], "1/2"), proposal)
