"""Fully probabilistic automata made ready for following traces: bisimilar states merged, rows in integers.

A trace w turns a distribution on states into the vector of the probabilities to have performed w and to be in
each state. Vectors are kept as integers without common divisor, up to a positive factor that is kept apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import TypeAlias

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.models.ends import Ends, completed
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA
from bisimdist.models.partition import Masses, canonical_numbering, refined_blocks
from bisimdist.models.transform import reached_states

ActionStep = tuple[str, Row] | None
"""What a state performs and where that leads; None where it performs nothing."""

Vector: TypeAlias = tuple[tuple[int, int], ...]
"""The entries that are not zero, by state in ascending order, without a common divisor."""

Step: TypeAlias = tuple[Vector, fmpq]  # a vector as a direction and the positive factor that it stands with


def direction_of(entries: Mapping[int, int]) -> tuple[Vector, int]:
    """Return a vector without zeros and common divisor, and that divisor (0 where there is no entry)."""
    divisor = gcd(*entries.values()) if entries else 0
    if divisor == 0:
        return (), 0
    return tuple((s, entries[s] // divisor) for s in sorted(entries) if entries[s]), divisor


def mass_of(vector: Vector) -> int:
    """Return the sum of the entries.

    >>> mass_of(((0, 2), (3, 5)))
    7
    """
    return sum(value for _, value in vector)


def point(state: int) -> Vector:
    """Return the vector with all of its mass in one state."""
    return ((state, 1),)


@dataclass(frozen=True, slots=True)
class Combination:
    """Futures as combinations of independent ones."""

    basis: tuple[int, ...]  # the states whose futures are independent
    # for each state its combination of states of the basis, in integers over `factor`
    rows: Mapping[int, tuple[tuple[int, int], ...]]
    factor: int  # what the integers are to be divided by


@dataclass(frozen=True, slots=True)
class WordSystem:
    """An automaton without choices, completed, bisimilar states merged: these have the same futures."""

    automaton: PA  # the automaton, completed: missing mass ends in a state of its own
    members: tuple[tuple[int, ...], ...]  # for each class its states, by index in the automaton
    # for each state of the automaton its class; -1 where the state cannot be reached
    class_of: tuple[int, ...]
    # for each class its action and its row over classes; None where it performs nothing
    steps: tuple[ActionStep, ...]
    actions: tuple[str | None, ...]  # for each class its action; None where nothing is ever performed
    # for each class the classes that follow, with integers over `denominators`
    rows: tuple[tuple[tuple[int, int], ...], ...]
    denominators: tuple[int, ...]  # for each class what its row is to be divided by
    # for each class its future as a linear combination of those of some classes, with integers; the same
    # factor in all of them. None where the futures are independent, or nobody asked.
    combination: Combination | None = None
    depth: int = 0  # how many rounds of partition refinement tell the classes apart

    @classmethod
    def of(cls, automaton: PA, starts: Iterable[int] | None = None) -> WordSystem:
        """Merge the bisimilar states among those that can be reached from some states, by default all.

        Ends are not seen, unless the automaton is one that shows them.
        """
        automaton = completed(automaton, Ends.HIDDEN)
        steps = _action_steps(automaton)
        every = range(len(automaton)) if starts is None else starts
        reached = reached_states(automaton, every)
        place = {state: n for n, state in enumerate(reached)}
        local = [_renamed(steps[state], place) for state in reached]
        first = canonical_numbering(None if step is None else step[0] for step in local)
        successors = [[] if step is None else [t for t, _ in step[1]] for step in local]
        masses = Masses([() if step is None else step[1] for step in local])
        rounds: list[int] = []
        blocks = refined_blocks(
            first, successors, masses.of, after_round=lambda moved, _: rounds.append(len(moved))
        )
        classes = canonical_numbering(blocks)
        members: list[list[int]] = [[] for _ in range(max(classes, default=-1) + 1)]
        class_of = [-1] * len(automaton)
        merged: list[ActionStep] = []
        for n, block in enumerate(classes):
            if block == len(merged):
                step = local[n]
                merged.append(None if step is None else (step[0], tuple(sorted(_masses(step, classes)))))
            members[block].append(reached[n])
            class_of[reached[n]] = block
        whole = [() if step is None else step[1] for step in merged]
        common = [lcm(*(int(p.q) for _, p in row)) for row in whole]
        return cls(
            automaton,
            tuple(map(tuple, members)),
            tuple(class_of),
            tuple(merged),
            tuple(None if step is None else step[0] for step in merged),
            tuple(
                tuple((t, int(p.p) * (unit // int(p.q))) for t, p in row)
                for row, unit in zip(whole, common, strict=True)
            ),
            tuple(common),
            depth=len(rounds),
        )

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The actions that are performed, in ascending order."""
        return tuple(sorted({action for action in self.actions if action is not None}))

    def groups(self) -> list[list[int]]:
        """Return for each symbol the classes that perform it."""
        groups: dict[str, list[int]] = {symbol: [] for symbol in self.symbols}
        for state, action in enumerate(self.actions):
            if action is not None:
                groups[action].append(state)
        return list(groups.values())

    def name(self, state: int) -> str:
        """Return the name of the first state of a class."""
        return self.automaton.states[self.members[state][0]]

    def after(self, vector: Vector) -> dict[str, Step]:
        """Return what each action makes of a vector; actions that are impossible are left out.

        Entries may be negative; an action after which all of them cancel has the empty vector.
        """
        by_action: dict[str, list[tuple[int, int]]] = {}
        for state, value in vector:
            action = self.actions[state]
            if action is not None:
                by_action.setdefault(action, []).append((state, value))
        result: dict[str, Step] = {}
        for action, entries in by_action.items():
            common = lcm(*(self.denominators[state] for state, _ in entries))
            after: dict[int, int] = {}
            for state, value in entries:
                factor = value * (common // self.denominators[state])
                for target, weight in self.rows[state]:
                    after[target] = after.get(target, 0) + factor * weight
            direction, divisor = direction_of(after)
            result[action] = direction, fmpq(divisor, common)
        return result

    def key(self, vector: Vector) -> Vector:
        """Return what a vector is up to a positive factor and up to states with equal futures."""
        if self.combination is None:
            return vector
        result: dict[int, int] = {}
        for state, value in vector:
            for other, weight in self.combination.rows[state]:
                result[other] = result.get(other, 0) + value * weight
        return direction_of(result)[0]

    def scaled_key(self, vector: Vector) -> Step:
        """Return the key and its factor; entries may have any sign, and the key may be empty."""
        if self.combination is None:
            return vector, fmpq(1)
        result: dict[int, int] = {}
        for state, value in vector:
            for other, weight in self.combination.rows[state]:
                result[other] = result.get(other, 0) + value * weight
        direction, divisor = direction_of(result)
        return direction, fmpq(divisor, self.combination.factor)

    def probability(self, start: int, word: Sequence[str]) -> fmpq:
        """Return the probability of a trace from a class."""
        vector, factor = point(start), fmpq(1)
        for action in word:
            vector, scale = self.after(vector).get(action, ((), fmpq(0)))
            factor *= scale
        return factor * mass_of(vector)

    def cleared(self, wanted: dict[int, set[int]]) -> dict[tuple[int, int], int]:
        """Return numbers that clear the denominators of the probabilities of all traces up to a length."""
        result: dict[tuple[int, int], int] = {}
        current = [1] * len(self)
        for length in range(max(wanted, default=-1) + 1):
            if length:
                # Several successors may share a class of denominators: each row is one least common multiple.
                current = [
                    1 if step is None else lcm(*(int(p.q) * current[t] for t, p in step[1]))
                    for step in self.steps
                ]
            for block in wanted.get(length, ()):
                result[block, length] = current[block]
        return result


def _action_steps(automaton: PA) -> list[ActionStep]:
    """Return the one transition of each state."""
    result: list[ActionStep] = [None] * len(automaton)
    for step in automaton.transitions:
        if result[step.source] is not None:
            raise ModelError(
                "the state has several transitions; the trace logic speaks of fully probabilistic automata, "
                "with at most one",
                place=f"state {automaton.states[step.source]!r}",
            )
        result[step.source] = (step.action, step.row)
    return result


def _renamed(step: ActionStep, place: dict[int, int]) -> ActionStep:
    return None if step is None else (step[0], tuple((place[t], p) for t, p in step[1]))


def _masses(step: ActionStep, block_of: Sequence[int]) -> frozenset[tuple[int, fmpq]]:
    masses: dict[int, fmpq] = {}
    for target, p in () if step is None else step[1]:
        block = block_of[target]
        masses[block] = masses[block] + p if block in masses else p
    return frozenset(masses.items())
