"""Fully probabilistic automata made ready for following traces: integers, equal futures merged.

A trace w turns a distribution on states into the vector of the probabilities to have performed w and to be in
each state. Vectors are kept as integers without common divisor, up to a positive factor that is kept apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import gcd, lcm
from typing import TypeAlias

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.models.pa import PA
from bisimdist.progress import NEVER, Deadline
from bisimdist.words.combination import Combination, dependent_states
from bisimdist.words.lumped_chain import LumpedChain

__all__ = ["Vector", "WordSystem", "direction_of", "mass_of", "point"]

Vector: TypeAlias = tuple[tuple[int, int], ...]
"""The entries that are not zero, by state in ascending order, without a common divisor."""

Step: TypeAlias = tuple[Vector, fmpq]
"""A vector as a direction and the positive factor that it stands with."""


def direction_of(entries: Mapping[int, int]) -> tuple[Vector, int]:
    """Return a vector without zeros and common divisor, and that divisor (0 where there is no entry)."""
    divisor = gcd(*entries.values()) if entries else 0
    if divisor == 0:
        return (), 0
    return tuple((s, entries[s] // divisor) for s in sorted(entries) if entries[s]), divisor


def mass_of(vector: Vector) -> int:
    """Return the sum of the entries.

    Examples
    --------
    >>> mass_of(((0, 2), (3, 5)))
    7
    """
    return sum(value for _, value in vector)


def point(state: int) -> Vector:
    """Return the vector with all of its mass in one state."""
    return ((state, 1),)


@dataclass(frozen=True, slots=True)
class WordSystem:
    """A fully probabilistic automaton with its bisimilar states merged, in integers.

    Parameters
    ----------
    automaton
        The automaton, completed.
    classes
        For each state its class; -1 where it is not reached.
    representatives
        For each class its first state.
    actions
        For each class its action; None where nothing is ever performed.
    rows
        For each class the classes that follow, with integers over `denominators`.
    denominators
        For each class what its row is to be divided by.
    combination
        For each class its future as a linear combination of those of some classes, with integers; the same
        factor in all of them. None where the futures are independent.
    """

    automaton: PA
    classes: tuple[int, ...]
    representatives: tuple[int, ...]
    actions: tuple[str | None, ...]
    rows: tuple[tuple[tuple[int, int], ...], ...]
    denominators: tuple[int, ...]
    combination: Combination | None

    @classmethod
    def of(
        cls, automaton: PA, starts: Iterable[int] | None = None, *, deadline: Deadline = NEVER
    ) -> WordSystem:
        """Merge bisimilar states, and find states whose futures depend on others' linearly.

        Parameters
        ----------
        automaton
            A fully probabilistic automaton.
        starts
            The states that are asked about; what they do not reach is left out. All by default.
        deadline
            When to give up looking for dependencies.

        Raises
        ------
        ModelError
            If a state has several transitions.
        """
        chain = LumpedChain.of(automaton, range(len(automaton)) if starts is None else starts)
        actions, rows, denominators = [], [], []
        for step in chain.steps:
            masses = () if step is None else step[1]
            common = lcm(*(int(p.q) for _, p in masses))
            actions.append(None if step is None else step[0])
            rows.append(tuple((t, int(p.p) * (common // int(p.q))) for t, p in sorted(masses)))
            denominators.append(common)
        combination = None
        with suppress(LimitError):  # a help, not a need
            combination = dependent_states(chain, deadline=deadline)
        return cls(
            chain.automaton,
            chain.class_of,
            tuple(members[0] for members in chain.members),
            tuple(actions),
            tuple(rows),
            tuple(denominators),
            combination,
        )

    def name(self, state: int) -> str:
        """Return the name of the first state of a class."""
        return self.automaton.states[self.representatives[state]]

    def steps(self, vector: Vector) -> dict[str, Step]:
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
            vector, scale = self.steps(vector).get(action, ((), fmpq(0)))
            factor *= scale
        return factor * mass_of(vector)
