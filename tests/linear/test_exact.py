from __future__ import annotations

import random

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import LimitError, UsageError
from bisimdist.linear import (
    ExactSolution,
    SingularSystemError,
    SparseRow,
    SparseSystem,
    component_solver,
    exact,
    floats,
    satisfies,
    solve_exact,
    solve_float,
)
from bisimdist.linear.leading import solve_nearly
from bisimdist.progress import Deadline


def reference(system: SparseSystem) -> list[fmpq]:
    """Solve densely over the rationals."""
    size = system.size
    matrix, constants = fmpq_mat(size, size), fmpq_mat(size, 1)
    for index, (scale, constant, entries) in enumerate(system.rows):
        matrix[index, index] += fmpq(scale)
        constants[index, 0] = fmpq(constant)
        for column, weight in entries:
            matrix[index, column] -= fmpq(weight)
    return list(matrix.solve(constants).entries())


def check_against_reference(system: SparseSystem) -> ExactSolution:
    solution = solve_exact(system)
    assert [solution.entry(index) for index in range(system.size)] == reference(system)
    return solution


def ring_with_chords(size: int, *, bits: int = 8, lost: int = 1, seed: int = 0) -> SparseSystem:
    """One strongly connected component: a ring whose rows have a second, random successor."""
    generator = random.Random(seed)
    rows = []
    for index in range(size):
        scale = generator.randrange(2 ** (bits - 1), 2**bits)
        first = generator.randrange(1, scale - lost)
        entries = (((index + 1) % size, first), (generator.randrange(size), scale - lost - first))
        rows.append((scale, generator.randrange(lost + 1), tuple(e for e in entries if e[1])))
    return SparseSystem(tuple(rows))


@st.composite
def lossy_systems(draw: st.DrawFn) -> SparseSystem:
    """Rows whose weights sum to less than their scale: always non-singular."""
    size = draw(st.integers(1, 9))
    rows = []
    for _ in range(size):
        entries = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(1, 60)), max_size=4))
        lost = draw(st.integers(1, 10))
        constant = draw(st.integers(-20, 20))
        rows.append((sum(weight for _, weight in entries) + lost, constant, tuple(entries)))
    return SparseSystem(tuple(rows))


@st.composite
def arbitrary_systems(draw: st.DrawFn) -> SparseSystem:
    """Rows of any sum: singular now and then, and not always M-matrices."""
    size = draw(st.integers(1, 5))
    row = st.tuples(
        st.integers(1, 4),
        st.integers(-3, 3),
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(1, 3)), max_size=3).map(tuple),
    )
    return SparseSystem(tuple(draw(row) for _ in range(size)))


@pytest.fixture
def only_lifting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no system be too small for lifting, and let the dense method fail the test."""
    monkeypatch.setattr(exact, "_DENSE_SIZE", 0)

    def refuse(system: object) -> None:
        raise RuntimeError("fell back to the dense method")

    monkeypatch.setattr(exact, "solve_dense", refuse)


@given(lossy_systems())
def test_agrees_with_the_dense_rational_solution(system: SparseSystem) -> None:
    check_against_reference(system)


@given(lossy_systems())
def test_lifting_agrees_with_the_dense_rational_solution(system: SparseSystem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "_DENSE_SIZE", 0)
        check_against_reference(system)


@pytest.mark.parametrize("dense_size", [0, 100])
@given(system=arbitrary_systems())
@settings(max_examples=100)
def test_any_system_is_solved_or_called_singular(dense_size: int, system: SparseSystem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "_DENSE_SIZE", dense_size)
        try:
            expected = reference(system)
        except ZeroDivisionError:
            with pytest.raises(SingularSystemError):
                solve_exact(system)
        else:
            solution = solve_exact(system)
            assert [solution.entry(index) for index in range(system.size)] == expected


@given(lossy_systems(), st.integers(0, 400))
def test_leading_digits_are_those_of_the_exact_solution(system: SparseSystem, places: int) -> None:
    exact = solve_exact(system)
    for index, found in enumerate(solve_nearly(system, places)):
        assert abs(exact.entry(index) * (1 << places) - found) * 2 <= 1 + fmpq(1, 1 << 20)


@given(lossy_systems())
def test_float_solution_is_close(system: SparseSystem) -> None:
    expected = [float(value.p) / float(value.q) for value in reference(system)]
    assert np.allclose(solve_float(system), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("only_lifting")
@pytest.mark.parametrize(("size", "bits"), [(61, 8), (90, 40), (90, 57), (60, 80), (200, 16)])
def test_lifting_of_one_large_component(size: int, bits: int) -> None:
    solution = check_against_reference(ring_with_chords(size, bits=bits, lost=2 ** (bits - 6)))
    assert len(solution.denominators) == 1
    assert solution.denominators[0].bit_length() > size * (bits - 2)


@pytest.mark.usefixtures("only_lifting")
def test_lifting_of_a_nearly_singular_component() -> None:
    system = ring_with_chords(80)
    barely = tuple(
        (sum(w for _, w in e) * 10**9 + 1, 1, tuple((j, w * 10**9) for j, w in e)) for _, _, e in system.rows
    )
    check_against_reference(SparseSystem(barely))


def test_a_component_beyond_double_precision_falls_back() -> None:
    system = ring_with_chords(110)
    barely = [
        (sum(w for _, w in e) * 10**20, 1, tuple((j, w * 10**20) for j, w in e)) for _, _, e in system.rows
    ]
    barely[5] = (barely[5][0] + 1, *barely[5][1:])
    check_against_reference(SparseSystem(tuple(barely)))


@pytest.mark.usefixtures("only_lifting")
def test_huge_right_hand_sides_are_streamed() -> None:
    lower = ring_with_chords(70, seed=1)
    upper = ring_with_chords(70, seed=2, lost=5)
    linked = [
        (scale, constant, (*((j + 70, w) for j, w in entries), (index, 3)))
        for index, (scale, constant, entries) in enumerate(upper.rows)
    ]
    solution = check_against_reference(SparseSystem((*lower.rows, *linked)))
    assert len(solution.denominators) == 2
    assert solution.components == (0,) * 70 + (1,) * 70


@pytest.mark.usefixtures("only_lifting")
def test_negative_constants_and_self_loops() -> None:
    rows = [
        (scale + 5, (-1) ** index * 7 * index, (*entries, (index, 4)))
        for index, (scale, _, entries) in enumerate(ring_with_chords(65).rows)
    ]
    check_against_reference(SparseSystem(tuple(rows)))


@pytest.mark.usefixtures("only_lifting")
def test_denominators_that_a_combination_misses() -> None:
    # Many small primes divide the denominator: a random combination of the unknowns loses some of them.
    primorial = 2 * 3 * 5 * 7 * 11 * 13
    rows = [
        (primorial, 1 + index % 3, (((index + 1) % 80, primorial // 2), ((index * 7) % 80, primorial // 3)))
        for index in range(80)
    ]
    check_against_reference(SparseSystem(tuple(rows)))


@pytest.mark.usefixtures("only_lifting")
def test_rows_that_gain_mass_but_are_regular() -> None:
    # Row 0 has weights beyond its scale, the others lose enough: an M-matrix without diagonal dominance.
    rows = list(ring_with_chords(64, lost=60).rows)
    scale, constant, entries = rows[0]
    rows[0] = (scale, constant, (*entries, (32, 70)))
    check_against_reference(SparseSystem(tuple(rows)))


@pytest.mark.usefixtures("only_lifting")
def test_sweeps_as_the_inner_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisimdist.linear.lifting.DIRECT", 5)
    monkeypatch.setattr("bisimdist.linear.lifting.factorised", None)
    check_against_reference(ring_with_chords(70, lost=60))


def test_acyclic_layers() -> None:
    rows: list[SparseRow] = [(7, 3, ())]
    rows += [(11 + index, 1, ((index - 1, 4), (index // 2, 5))) for index in range(1, 40)]
    solution = check_against_reference(SparseSystem(tuple(rows)))
    assert len(solution.denominators) == 40


def test_independent_components_keep_their_own_short_denominators() -> None:
    rows = tuple((5 + index // 2, 1, ((index ^ 1, 2),)) for index in range(60))
    solution = check_against_reference(SparseSystem(rows))
    assert len(solution.denominators) == 30
    assert max(solution.denominators) <= 34
    numerators, common = solution.over_common_denominator()
    assert [fmpq(value, common) for value in numerators] == [solution.entry(index) for index in range(60)]


@pytest.mark.parametrize("size", [1, 2, 40, 110])
def test_a_component_without_loss_is_singular(size: int) -> None:
    # With constants 0 the system is consistent, and has many solutions.
    rows = tuple((6, 0, (((index + 1) % size, 4), ((index * 3) % size, 2))) for index in range(size))
    with pytest.raises(SingularSystemError):
        solve_exact(SparseSystem(rows))


def test_a_hidden_singularity_is_found() -> None:
    # The rows of a ring gain and lose by factors whose product is one: singular, though no row sums to zero.
    size = 110
    rows = tuple((1 + index % 2, 0, (((index + 1) % size, 2 - index % 2),)) for index in range(size))
    with pytest.raises(SingularSystemError):
        solve_exact(SparseSystem(rows))


def test_zero_right_hand_side() -> None:
    rows = tuple((scale, 0, entries) for scale, _, entries in ring_with_chords(110).rows)
    solution = solve_exact(SparseSystem(rows))
    assert set(solution.numerators) == {fmpz(0)}
    assert solution.denominators == (fmpz(1),)


def test_one_unknown_and_none() -> None:
    assert solve_exact(SparseSystem(((3, 2, ((0, 1),)),))).entry(0) == 1
    assert solve_exact(SparseSystem(((1, 1, ((0, 3),)),))).entry(0) == fmpq(-1, 2)
    assert solve_exact(SparseSystem(())).numerators == ()
    assert solve_float(SparseSystem(())).shape == (0,)


def test_a_solution_that_is_wrong_in_the_last_place_does_not_satisfy() -> None:
    system = ring_with_chords(110)
    solution = solve_exact(system)
    assert satisfies(system, solution)
    numerators = list(solution.numerators)
    numerators[17] += 1
    wrong = ExactSolution(tuple(numerators), solution.components, solution.denominators)
    assert not satisfies(system, wrong)


def test_wrong_digits_never_reach_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    original = component_solver._lift

    def spoilt(*arguments: object) -> tuple[list[fmpz], fmpz]:
        found = original(*arguments)  # type: ignore[arg-type]
        assert found is not None
        return [found[0][0] + 1, *found[0][1:]], found[1]

    monkeypatch.setattr(component_solver, "_lift", spoilt)
    check_against_reference(ring_with_chords(110))


def test_the_same_input_gives_the_same_answer() -> None:
    system = ring_with_chords(120, bits=16)
    assert solve_exact(system) == solve_exact(system)


def test_deadline() -> None:
    with pytest.raises(LimitError):
        solve_exact(ring_with_chords(110), deadline=Deadline.after(0))


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    solve_exact(ring_with_chords(200, bits=30), progress=lambda *report: told.append(report))
    assert told[-1] == ("unknowns solved", 200, 200)
    assert any(stage == "linear system" for stage, _, _ in told)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (((0, 1, ()),), "row 0 has the scale 0"),
        (((1, 1, ((1, 1),)),), "row 0 names the unknown 1"),
        (((1, 1, ((0, -2),)),), "row 0 has the weight -2"),
    ],
)
def test_bad_rows(rows: tuple[SparseRow, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SparseSystem(rows)


def test_large_float_systems_iterate_and_small_components_do_not_matter() -> None:
    system = ring_with_chords(700, lost=10)
    solution = solve_exact(system)
    expected = [float(solution.entry(index)) for index in range(700)]
    assert np.allclose(solve_float(system), expected, rtol=1e-11, atol=1e-14)


def test_float_solution_of_a_long_walk() -> None:
    # Iteration does not converge here; the factorisation takes over.
    size = 1000
    rows = [
        (101, int(index == size - 1), tuple((j, 50) for j in (index - 1, index + 1) if 0 <= j < size))
        for index in range(size)
    ]
    system = SparseSystem(tuple(rows))
    residual = [
        101 * x - c - sum(w * y[j] for j, w in e)
        for y in [solve_float(system)]
        for x, (_, c, e) in zip(y, rows, strict=True)
    ]
    assert max(map(abs, residual)) < 1e-12


@pytest.mark.slow
def test_thousands_of_unknowns() -> None:
    system = ring_with_chords(3000, bits=10)
    assert satisfies(system, solve_exact(system))


def test_zero_right_hand_side_of_a_system_that_gains_mass() -> None:
    rows = [(scale, 0, entries) for scale, _, entries in ring_with_chords(110, lost=60).rows]
    rows[0] = (rows[0][0], 0, (*rows[0][2], (55, 70)))
    assert set(solve_exact(SparseSystem(tuple(rows))).numerators) == {fmpz(0)}


def test_a_long_deadline_changes_nothing_and_a_short_one_ends_the_lifting() -> None:
    system = ring_with_chords(900, bits=50, lost=2**40)
    with pytest.raises(LimitError):
        solve_exact(system, deadline=Deadline.after(0.02))


def test_without_convergence_the_factorisation_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisimdist.linear.lifting.DIRECT", 5)
    monkeypatch.setattr(floats, "QUICK", 2)
    check_against_reference(ring_with_chords(120, lost=20))
