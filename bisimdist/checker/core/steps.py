"""The transitions of an automaton by state, and classes of states by what these look like."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from bisimdist.checker.core.reading import OPERATION, RuleViolation, shown, spend

Class = TypeVar("Class", bound=Hashable)
Node = TypeVar("Node", bound=Hashable)
Classes = dict[str, int]
Step = tuple[str, Mapping[str, Fraction]]
"""An action, and the probabilities of the successors."""

Transitions = Iterable[tuple[str, str, Mapping[str, Fraction]]]


def steps_of(states: Iterable[str], transitions: Transitions) -> dict[str, list[Step]]:
    """Return the transitions of each state."""
    steps: dict[str, list[Step]] = {state: [] for state in states}
    for source, action, row in transitions:
        steps[source].append((action, row))
    return steps


def only_steps(transitions: Transitions, rule: str) -> dict[str, Step]:
    """Return the one transition of each state that has one."""
    steps: dict[str, Step] = {}
    for source, action, row in transitions:
        if source in steps:
            raise RuleViolation(f"{rule}: state {shown(source)} has several transitions")
        steps[source] = action, row
    return steps


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Return what is reached from some places, these first."""
    found = dict.fromkeys(starts)
    waiting = list(found)
    for node in waiting:
        for target in following(node):
            if target not in found:
                found[target] = None
                waiting.append(target)
    return waiting


def lumped(row: Mapping[str, Fraction], of: Mapping[str, Class]) -> dict[Class, Fraction]:
    """Return the masses of a row on classes."""
    result: dict[Class, Fraction] = {}
    for target, mass in row.items():
        result[of[target]] = result.get(of[target], Fraction(0)) + mass
    return result


def seen(steps: Sequence[Step], of: Mapping[str, int]) -> frozenset[Hashable]:
    """Return transitions as they look when only actions and masses on classes are seen."""
    return frozenset((action, frozenset(lumped(row, of).items())) for action, row in steps)


def refinements(
    states: Iterable[str],
    look: Callable[[str, Classes], Hashable],
    following: Callable[[str], Iterable[str]],
) -> Iterator[Classes]:
    """Yield the partition that 0, 1, 2, ... looks tell apart, which changes; the last one is stable.

    `look` says what is seen of a state when the classes of its successors are known, and `following` names
    these. Who has no successor in another class than before looks like those of its class of whom that is so
    too: only others are looked at.
    """
    of = dict.fromkeys(states, 0)
    before: dict[str, list[str]] = {state: [] for state in of}
    for state in of:
        for target in following(state):
            before[target].append(state)
    members = [set(of)]
    waiting = dict.fromkeys(of)
    while True:
        yield of
        seen_in: dict[int, dict[Hashable, list[str]]] = {}
        spend(OPERATION * len(waiting))
        for state in waiting:
            seen_in.setdefault(of[state], {}).setdefault(look(state, of), []).append(state)
        changed: dict[str, int] = {}
        for number, groups in seen_in.items():
            other = next((state for state in members[number] if state not in waiting), None)
            if other is not None:
                groups.pop(look(other, of), None)
            else:
                groups.pop(max(groups, key=lambda view: len(groups[view])))
            for group in groups.values():
                changed |= dict.fromkeys(group, len(members))
                members[number].difference_update(group)
                members.append(set(group))
        if not changed:
            return
        of |= changed
        waiting = {source: None for state in changed for source in before[state]}
