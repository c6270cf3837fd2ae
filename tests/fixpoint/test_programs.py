"""The programs of all pairs, made at once, against each made by itself; ranks against what they promise."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, permutations
from math import lcm

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.distances.engine import excess
from bisimdist.distances.engine.exact_engine import approximate, prove_exactly
from bisimdist.distances.engine.pairs import PairSpace, reached_by_pairs
from bisimdist.distances.engine.programs import build_functional
from bisimdist.distances.engine.question import prepare
from bisimdist.lp.program import Program
from bisimdist.lp.programs import Programs
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.models.lmc import LMC, Row
from tests.fixpoint.chains import copies, swap
from tests.strategies import alphas, interactives, lmcs

MANY = 1000
"""More than there are states."""

LONG = fmpq(10**40 + 1, 10**40)


def program_by_class(row: Row, other: Row, classes: tuple[int, ...], alpha: fmpq) -> dict[int, Program]:
    """Return the programs of one direction by class, whose cells name their states."""
    m, there = dict(row), dict(other)
    whole = int(alpha.p) * int(alpha.q) * lcm(*(int(p.q) for _, p in (*row, *other)))
    c = {i: m.get(i, fmpq(0)) - alpha * there.get(i, fmpq(0)) for i in sorted(m.keys() | there.keys())}
    found = {}
    for kind in sorted({classes[i] for i in c if c[i] > 0}):
        sources = [i for i in c if c[i] > 0 and classes[i] == kind]
        sinks = [j for j in c if c[j] < 0 and classes[j] == kind]
        found[kind] = Program(
            tuple(sources),
            tuple(sinks),
            tuple(int(c[i] * whole) for i in sources),
            tuple(int(-c[j] / alpha * whole) for j in sinks),
            tuple(i * MANY + j for i in sources for j in sinks),
            whole,
        )
    return found


def check_programs(model: System, alpha: fmpq, *, ordered: bool) -> None:
    classes = distinguishable_classes(model)
    space = PairSpace.of_classes(classes, ordered=ordered)
    functional = build_functional(model, space, alpha)
    sides = 0
    for number, (s, t) in enumerate(space.pairs):
        for arm, (here, there) in enumerate(model.facing(s, t)):
            rows = model.arms[here][s], model.arms[there][t]
            for direction in (0,) if ordered or alpha == 1 else (0, 1):
                wanted = program_by_class(*(rows[::-1] if direction else rows), space.classes, alpha)
                side = functional.width * number + 2 * arm + direction
                sides += len(functional.programs_of(side))
                for index, program in zip(functional.programs_of(side), wanted.values(), strict=True):
                    made = functional.batch.programs[index]
                    assert functional.side_of[index] == side
                    assert functional.scale[side] == made.whole == program.whole
                    assert made.cells == tuple(space.number(*divmod(cell, MANY)) for cell in program.cells)
                    assert (made.sources, made.sinks) == (program.sources, program.sinks)
                    assert (made.supply, made.capacity) == (program.supply, program.capacity)
    assert sides == len(functional.batch)


@settings(max_examples=30)
@given(lmcs(6, max_labels=2, max_successors=4), alphas() | st.just(LONG), st.booleans())
def test_the_programs_of_a_chain(model: LMC, alpha: fmpq, ordered: bool) -> None:
    check_programs(model, alpha, ordered=ordered)


@settings(max_examples=30)
@given(interactives(), alphas(), st.booleans())
def test_the_programs_of_an_interactive_model(model: System, alpha: fmpq, ordered: bool) -> None:
    check_programs(model, alpha, ordered=ordered)


@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(6, 5)])
def test_the_programs_of_some_pairs_at_a_time(alpha: fmpq, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excess, "CELLS", 40)
    check_programs(copies(swap(2), 2), alpha, ordered=False)


@settings(max_examples=20)
@given(lmcs(6, max_labels=2, max_successors=4), alphas(), st.booleans(), st.data())
def test_what_direct_couplings_reach(model: LMC, alpha: fmpq, ordered: bool, data: st.DataObject) -> None:
    classes = distinguishable_classes(model)
    every = [(s, t) for s, t in permutations(range(len(model)), 2) if classes[s] == classes[t]]
    assume(every)
    todo = [data.draw(st.sampled_from(every))]
    asked, found = tuple(todo), set()
    while todo:
        s, t = pair = todo.pop()
        if not ordered:
            s, t = pair = min(s, t), max(s, t)
        if pair not in found:
            found.add(pair)
            for i, j in ((s, t),) if ordered else ((s, t), (t, s)):
                programs = program_by_class(model.rows[i], model.rows[j], classes, alpha).values()
                todo += [divmod(cell, MANY) for program in programs for cell in program.cells]
    assert reached_by_pairs(model, classes, asked, alpha, limit=100, ordered=ordered) == found


def test_a_pair_that_has_no_number() -> None:
    number = PairSpace.of_pairs((0, 0, 0), [(0, 1), (0, 2)]).numbering()
    assert number(np.array([2, 1]), np.array([0, 0])).tolist() == [1, 0]
    for second in (1, 2):
        with pytest.raises(KeyError):
            number(np.array([0, second]), np.array([1, second]))


def test_programs_in_arrays_are_the_programs() -> None:
    plain = [Program((0, 1), (2,), (3, 4), (5,), (0, 1), 7), Program((3,), (), (10**30,), (), (), 10**30)]
    packed = Programs.of(plain)
    assert list(packed) == plain
    assert packed[-1] == plain[1]
    assert packed[::-1] == plain[::-1]
    assert list(Programs.joined([packed, Programs.of(plain[:1]), Programs.of([])])) == [*plain, plain[0]]
    assert list(Programs.joined([])) == []
    with pytest.raises(IndexError, match="2 programs"):
        packed[2]


@settings(max_examples=20)
@given(lmcs(6, max_labels=2, max_successors=3), st.sampled_from([fmpq(1), fmpq(6, 5), fmpq(3)]))
def test_what_a_rank_promises(model: LMC, alpha: fmpq) -> None:
    """A state that is stuck has other mass in both rows, and is in no pair as far away of as high a rank."""
    twins = copies(model, 2)
    question = prepare(twins, alpha, tuple(combinations(range(len(twins)), 2)))
    proof = prove_exactly(question, approximate(question))
    assert proof.ranked is not None
    space, functional = question.functional.space, question.functional
    alike: dict[object, list[int]] = defaultdict(list)
    for pair in proof.ranked:
        alike[proof.lower_values.numerators[pair]].append(pair)
    assert len(proof.ranked) == sum(x > 0 for x in proof.lower_values.numerators)
    for pair, found in proof.ranked.items():
        stuck = found.progress.stuck
        if stuck is None:
            assert found.progress.potential
            continue
        left, right = map(dict, functional.rows_of(functional.width * pair + found.direction))
        assert left.get(stuck, 0) != alpha * right.get(stuck, fmpq(0))
        beside = [p for p in alike[proof.lower_values.numerators[pair]] if proof.ranked[p].rank >= found.rank]
        assert all(stuck not in space.pairs[p] for p in beside)
