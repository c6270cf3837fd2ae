"""Exact distances for alpha > 1 of what direct couplings reach, on top of brackets of all pairs.

The upper bounds need nothing but couplings. The lower ones are the exact values where these are known and the
lower ends of the brackets elsewhere: where no third state offers a shortcut in this table, what direct
couplings cannot improve nothing improves. See the note on detours in docs/theory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from flint import fmpq, fmpz

from bisimdist.distances.engine.digit_brackets import prove_values
from bisimdist.distances.engine.exact_engine import approximate, prove_exactly
from bisimdist.distances.engine.flat_engine import FlatTables
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.distances.engine.pairs import PairSpace
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.question import Question, prepare
from bisimdist.distances.engine.strategy import Values
from bisimdist.errors import LimitError
from bisimdist.lp.compiled import Float64Array, Int64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

Pair = tuple[int, int]

NEAR = 4.0  # sums of doubles that differ by more units differ for certain
CLOSE = 20_000  # more sums that nearly tie are not looked at one by one
SHARE = 2  # where more than one in so many pairs is reached, all of them are looked at instead
ROUNDS = 6  # how often pairs are let in that tie


def prove_reached(
    tables: FlatTables, *, jobs: int = 1, deadline: Deadline = NEVER, progress: Progress = silent
) -> Proof:
    """Prove the distances that were asked, where these are what direct couplings make of them."""
    seeds = tables.asked
    for _ in range(ROUNDS):
        question = prepare(
            tables.model,
            tables.alpha,
            seeds,
            ordered=tables.layout.ordered,
            direct=True,
            max_pairs=tables.layout.pairs // SHARE,
            deadline=deadline,
            progress=progress,
        )
        beside = _beside_twins(tables, question)
        if beside:
            seeds = [*seeds, *beside]
            continue
        known = tables.middle(question.functional.space.pairs)
        guess = approximate(question, known=known, jobs=jobs, deadline=deadline, progress=progress)
        proof = prove_exactly(question, guess, deadline=deadline, progress=progress)
        tied = _Shortcuts.of(tables, proof).tied(deadline)
        if not tied:
            question = replace(question, asked=tables.asked)
            return replace(proof, question=question, complete=partial(_completed, tables, proof))
        seeds = [*seeds, *tied]
    raise LimitError("too many ways through third states tie with the direct ones")


def _beside_twins(tables: FlatTables, question: Question) -> list[Pair]:
    """Return pairs that are not numbered and differ from a numbered one by states at distance 0.

    Through these third states the way is as long as the direct one.
    """
    layout, space = tables.layout, question.functional.space
    found: list[Pair] = []
    for members, place, i, j in _by_class(layout, space, *space.states()):
        twins = (place < 0) | (tables.upper[place] == 0.0)
        if not (twins & (place >= 0)).any():
            continue
        listed = np.zeros(place.shape, dtype=np.float32)
        listed[i, j] = 1.0
        if not space.ordered:
            listed[j, i] = 1.0
        steps = twins.astype(np.float32)
        fresh = (steps @ listed @ steps > 0.0) & (listed == 0.0) & ~twins
        a, b = (members[states].tolist() for states in np.nonzero(fresh))
        found += zip(a, b, strict=True)
    return found


def _by_class(
    layout: Layout, space: PairSpace, first: Int64Array, second: Int64Array
) -> Iterator[tuple[Int64Array, Int64Array, Int64Array, Int64Array]]:
    """Yield by class the members, the numbers of all their pairs in the tables, and where given pairs stand.

    The numbers are a square array; the places, of first and of second states, are among the members.
    """
    kind = np.array(space.classes)[first]
    for number in np.unique(kind).tolist():
        members = np.array(space.members[number], dtype=np.int64)
        size = len(members)
        place = layout.pairs_of(np.repeat(members, size), np.tile(members, size)).reshape(size, size)
        i, j = (np.searchsorted(members, states[kind == number]) for states in (first, second))
        yield members, place, i, j


@dataclass(frozen=True, slots=True)
class _Shortcuts:
    """Where third states may lead nearer, if pairs are as far away as is proved from below."""

    tables: FlatTables  # tables and proof: the brackets, and the exact values of some pairs
    proof: Proof
    # first and second: the states of those of these pairs that are not at distance 0, in every order that
    # counts
    first: Int64Array
    second: Int64Array
    below: Float64Array  # by number in the tables the lower bounds, in units, rounded down
    # by number in the tables numbers that agree where exact values do; -1 where these are not known
    equal: Int64Array

    @classmethod
    def of(cls, tables: FlatTables, proof: Proof) -> _Shortcuts:
        """Put the exact values into the table of lower bounds."""
        space, values = proof.question.functional.space, proof.lower_values
        first, second = space.states()
        place = tables.layout.pairs_of(first, second)
        below, equal = tables.lower.copy(), np.full(len(tables.lower), -1, dtype=np.int64)
        below[place] = values.fixed_point(tables.layout.one)
        known: dict[fmpz, int] = {}
        equal[place] = [known.setdefault(x, len(known)) for x in values.numerators]
        positive = np.array([x != 0 for x in values.numerators], dtype=np.bool_)  # nothing is nearer than 0
        first, second = first[positive], second[positive]
        if not space.ordered:
            first, second = np.concatenate((first, second)), np.concatenate((second, first))
        return cls(tables, proof, first, second, below, equal)

    def tied(self, deadline: Deadline) -> list[Pair]:
        """Return the pairs of ways that are no shortcuts only if their exact values are known."""
        found: dict[Pair, None] = {}
        for close, (i, k, j) in enumerate(self._near(deadline)):
            if close >= CLOSE:
                raise LimitError("too many ways through third states are nearly as short as the direct ones")
            if self._shorter(i, k, j):
                open_ = [way for way in ((i, k), (k, j)) if not self._exact(*way)]
                if not open_:
                    raise LimitError("detours through third states pay")
                found |= dict.fromkeys(open_)
        return list(found)

    def _near(self, deadline: Deadline) -> Iterator[tuple[int, int, int]]:
        """Yield ways (i, k, j) that may be shorter than the direct one, as far as doubles tell."""
        layout, space = self.tables.layout, self.proof.question.functional.space
        skew = float(self.tables.alpha)
        for members, place, i, j in _by_class(layout, space, self.first, self.second):
            length, equal = (
                np.where(place < 0, least, table[place])
                for least, table in ((0.0, self.below), (-1, self.equal))
            )
            most = length[i, j] + 1.0 + NEAR
            for k in range(len(members)):
                deadline.check()
                near = length[i, k] + skew * length[k, j] < most
                near &= (i != k) & (j != k)
                # a part that is as long as the direct way makes no shortcut, however long the numbers
                near &= (equal[i, k] != equal[i, j]) & (equal[k, j] != equal[i, j])
                for a in np.flatnonzero(near).tolist():
                    yield int(members[i[a]]), int(members[k]), int(members[j[a]])

    def _exact(self, i: int, j: int) -> bool:
        """Tell whether the distance of a pair is known."""
        lower, upper = self.tables.bounds((i, j))
        return (i, j) in self.proof.question.functional.space.numbers or lower == upper

    def _below(self, i: int, j: int) -> fmpq:
        number = self.proof.question.functional.space.numbers.get((i, j))
        return self.tables.bounds((i, j))[0] if number is None else self.proof.lower_values.value(number)

    def _shorter(self, i: int, k: int, j: int) -> bool:
        way = self._below(i, k) + self.tables.alpha * self._below(k, j)
        return bool(way < self._below(i, j))


def _completed(tables: FlatTables, proof: Proof, deadline: Deadline, progress: Progress) -> Proof:
    """Return the proof with all that its lower bounds rest on: those of the other pairs."""
    layout, part = tables.layout, proof.question.functional.space
    question = prepare(
        tables.model, tables.alpha, tables.asked, ordered=layout.ordered, deadline=deadline, progress=progress
    )
    space = question.functional.space
    exact = {space.number(*pair): number for number, pair in enumerate(part.pairs)}
    denominator, one = proof.lower_values.denominator, layout.one
    place = layout.pairs_of(*space.states())

    def over_all(table: Float64Array) -> Values:
        numerators = [fmpz(int(x)) * denominator for x in table[place].tolist()]
        for number, known in exact.items():
            numerators[number] = proof.lower_values.numerators[known] * one
        return Values(numerators, denominator * one)

    reasons = proof.ranked or {}
    ranked = {number: reasons[known] for number, known in exact.items() if known in reasons}
    return prove_values(question, over_all(tables.lower), over_all(tables.upper), ranked, deadline=deadline)
