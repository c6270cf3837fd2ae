"""Batches of programs: packed into 64 bits, rounded where they do not fit, and never wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import LinearProgramError
from bisimdist.lp.batch import BatchBasis, pack
from bisimdist.lp.program import Program
from bisimdist.lp.transport import TransportBasis, solve_program
from tests.lp.test_transport import assert_optimal

CELLS = 12
ONE = 1 << 48
small = st.integers(1, 20)
large = st.one_of(
    st.integers(1, 10**30), st.sampled_from([1, 2**61, 2**63 - 1, 2**64, 10**40, 10**200, 10**700])
)


@st.composite
def batches(draw: st.DrawFn, amounts: st.SearchStrategy[int]) -> list[Program]:
    """Draw programs that share one distance vector."""
    made = []
    for _ in range(draw(st.integers(1, 5))):
        sources, sinks = draw(st.integers(1, 4)), draw(st.integers(1, 3))
        supply = draw(st.lists(amounts, min_size=sources, max_size=sources))
        capacity = draw(st.lists(amounts, min_size=sinks, max_size=sinks))
        count = sources * sinks
        cells = draw(st.lists(st.integers(0, CELLS - 1), min_size=count, max_size=count))
        made.append(
            Program(
                tuple(range(sources)),
                tuple(range(sources, sources + sinks)),
                tuple(supply),
                tuple(capacity),
                tuple(cells),
                (sum(supply) + sum(capacity)) * draw(st.sampled_from([1, 10**50, 10**400])),
            )
        )
    return made


distances = st.lists(
    st.lists(st.integers(0, ONE) | st.sampled_from([0, 1, ONE - 1, ONE]), min_size=CELLS, max_size=CELLS),
    min_size=1,
    max_size=3,
)


def check(programs: list[Program], rounds: list[list[int]]) -> None:
    """Solve round after round, each from the last bases, and compare with programs solved alone."""
    batch = pack(programs)
    basis = BatchBasis.start(batch)
    chosen = np.arange(len(programs))
    for drawn in rounds:
        distance = np.array(drawn, dtype=np.int64)
        basis.solve(batch, chosen, distance, one=ONE)
        for index, program in enumerate(programs):
            costs = [drawn[cell] for cell in program.cells]
            nodes = batch.nodes_of(index)
            found = TransportBasis(
                tuple(basis.parent[nodes].tolist()),
                tuple(basis.flows(batch, index)),
                tuple(basis.potential[nodes].tolist()),
                0,
            )
            assert_optimal(program, costs, ONE, found)
            exact = solve_program(program, costs, ONE).cost(program, costs, ONE)
            assert basis.value[index] == pytest.approx(exact / program.whole, rel=1e-9, abs=1e-200)
        assert basis.proved(batch, chosen, distance, one=ONE).tolist() == [
            index not in batch.rounded for index in range(len(programs))
        ]
        assert basis.solve(batch, chosen, distance, one=ONE) == 0 or batch.rounded


@settings(max_examples=40)
@given(batches(small), distances)
def test_small_amounts_are_exact(programs: list[Program], rounds: list[list[int]]) -> None:
    check(programs, rounds)
    assert not pack(programs).rounded


@settings(max_examples=75)
@given(batches(large), distances)
def test_amounts_beyond_64_bits_are_settled_exactly(programs: list[Program], rounds: list[list[int]]) -> None:
    check(programs, rounds)


@settings(max_examples=30)
@given(batches(small | large), distances)
def test_both_beside_each_other(programs: list[Program], rounds: list[list[int]]) -> None:
    check(programs, rounds)


def test_a_guess_has_no_flows() -> None:
    program = Program((0,), (1,), (10**30,), (10**29,), (0,), 10**30)
    batch = pack([program])
    assert batch.rounded == {0}
    basis = BatchBasis.start(batch)
    basis.solve(batch, np.array([0]), np.full(1, 5, dtype=np.int64), one=ONE, guess=True)
    with pytest.raises(LinearProgramError, match="only guessed"):
        basis.flows(batch, 0)


def test_a_copy_goes_its_own_way() -> None:
    program = Program((0, 1), (2,), (3, 4), (5,), (0, 1), 7)
    batch = pack([program])
    basis = BatchBasis.start(batch)
    basis.solve(batch, np.array([0]), np.array([0, ONE], dtype=np.int64), one=ONE)
    other = basis.copy()
    before = (basis.parent.tolist(), basis.flow.tolist(), basis.value.tolist())
    other.solve(batch, np.array([0]), np.array([ONE, 0], dtype=np.int64), one=ONE)
    assert (basis.parent.tolist(), basis.flow.tolist(), basis.value.tolist()) == before
    assert other.parent.tolist() != before[0]


@given(st.lists(batches(small), min_size=1, max_size=2), st.integers(1, 4), st.integers(1, 2))
def test_calls_of_few_programs_make_the_same(drawn: list[list[Program]], cells: int, jobs: int) -> None:
    """However many are solved in a call that nothing interrupts."""
    programs = [program for part in drawn for program in part]
    batch = pack(programs)
    distance = np.arange(CELLS, dtype=np.int64) * (ONE // CELLS)
    whole, parts = BatchBasis.start(batch), BatchBasis.start(batch, jobs=jobs)
    pivots = whole.solve(batch, np.arange(len(programs)), distance, one=ONE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bisimdist.lp.batch.CELLS", cells)
        patch.setattr("bisimdist.lp.batch.SPLIT", 1)
        assert parts.solve(batch, np.arange(len(programs)), distance, one=ONE) == pivots
    for name in ("parent", "flow", "potential", "value"):
        assert (getattr(whole, name) == getattr(parts, name)).all()
