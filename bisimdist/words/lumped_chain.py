"""The part of a fully probabilistic automaton that matters for some states, its bisimilar states merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import lcm

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.models.ends import Ends, completed
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA
from bisimdist.models.partition import canonical_numbering, refined_blocks

__all__ = ["ActionStep", "LumpedChain", "action_steps"]

ActionStep = tuple[str, Row] | None
"""What a state performs and where that leads; None where it performs nothing."""


def action_steps(automaton: PA) -> tuple[ActionStep, ...]:
    """Return the one transition of each state of a completed automaton (`bisimdist.models.ends`).

    Raises
    ------
    ModelError
        Naming a state with several transitions.

    Examples
    --------
    >>> from bisimdist.models.pa import Transition
    >>> action_steps(PA(("s", "t"), (Transition(0, "a", ((1, fmpq(1)),)),)))
    (('a', ((1, 1),)), None)
    """
    result: list[ActionStep] = [None] * len(automaton)
    seen: set[int] = set()
    for step in automaton.transitions:
        if step.source in seen:
            raise ModelError(
                "the state has several transitions; the trace logic speaks of fully probabilistic automata, "
                "with at most one",
                place=f"state {automaton.states[step.source]!r}",
            )
        seen.add(step.source)
        result[step.source] = (step.action, step.row)
    return tuple(result)


@dataclass(frozen=True, slots=True)
class LumpedChain:
    """Classes of bisimilar states, with one action and one row each.

    Bisimilar states give every trace the same probability.

    Parameters
    ----------
    automaton
        The automaton, completed: missing mass ends in a state of its own.
    members
        For each class its states, by index in the automaton.
    class_of
        For each state of the automaton its class; -1 where the state cannot be reached.
    steps
        For each class its action and its row over classes; None where it performs nothing.
    """

    automaton: PA
    members: tuple[tuple[int, ...], ...]
    class_of: tuple[int, ...]
    steps: tuple[ActionStep, ...]

    @classmethod
    def of(cls, automaton: PA, starts: Iterable[int]) -> LumpedChain:
        """Merge the bisimilar states among those that can be reached from some states.

        Ends are not seen, unless the automaton is one that shows them.

        Raises
        ------
        ModelError
            If a state of the automaton has several transitions.
        """
        automaton = completed(automaton, Ends.HIDDEN)
        steps = action_steps(automaton)
        reached = _reached(steps, starts)
        place = {state: n for n, state in enumerate(reached)}
        local = [_renamed(steps[state], place) for state in reached]
        first = canonical_numbering(None if step is None else step[0] for step in local)
        successors = [[] if step is None else [t for t, _ in step[1]] for step in local]
        blocks = refined_blocks(first, successors, lambda s, block_of: _masses(local[s], block_of))
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
        return cls(automaton, tuple(map(tuple, members)), tuple(class_of), tuple(merged))

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that are performed, in ascending order."""
        return tuple(sorted({step[0] for step in self.steps if step is not None}))

    def denominators(self, wanted: dict[int, set[int]]) -> dict[tuple[int, int], int]:
        """Return numbers that clear the denominators of the probabilities of all traces up to a length.

        Parameters
        ----------
        wanted
            By length the classes for which the number is wanted.

        Returns
        -------
        dict
            By class and length.
        """
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


def _renamed(step: ActionStep, place: dict[int, int]) -> ActionStep:
    return None if step is None else (step[0], tuple((place[t], p) for t, p in step[1]))


def _masses(step: ActionStep, block_of: Sequence[int]) -> frozenset[tuple[int, fmpq]]:
    masses: dict[int, fmpq] = {}
    for target, p in () if step is None else step[1]:
        block = block_of[target]
        masses[block] = masses[block] + p if block in masses else p
    return frozenset(masses.items())


def _reached(steps: Sequence[ActionStep], starts: Iterable[int]) -> list[int]:
    found = set(starts)
    waiting = list(found)
    while waiting:
        step = steps[waiting.pop()]
        for target, _ in () if step is None else step[1]:
            if target not in found:
                found.add(target)
                waiting.append(target)
    return sorted(found)
