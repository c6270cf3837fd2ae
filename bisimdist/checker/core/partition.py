"""The transitions of an automaton by state, and classes of states by what these look like."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import LOOK, OPERATION, RuleViolation, shown, spend

Class = TypeVar("Class", bound=Hashable)
Node = TypeVar("Node", bound=Hashable)
Classes = dict[str, int]
Step = tuple[str, Mapping[str, Fraction]]  # an action, and the probabilities of the successors

Transitions = Iterable[tuple[str, str, Mapping[str, Fraction]]]


def steps_of(states: Iterable[str], transitions: Transitions) -> dict[str, list[Step]]:
    """Return the transitions of each state."""
    steps: dict[str, list[Step]] = {state: [] for state in counted(states)}
    for source, action, row in counted(transitions):
        steps[source].append((action, row))
    return steps


def only_steps(transitions: Transitions, rule: str) -> dict[str, Step]:
    """Return the one transition of each state that has one."""
    steps: dict[str, Step] = {}
    for source, action, row in counted(transitions):
        if source in steps:
            raise RuleViolation(f"{rule}: state {shown(source)} has several transitions")
        steps[source] = action, row
    return steps


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Return what is reached from some places, these first."""
    found = dict.fromkeys(starts)
    waiting = list(all_of(found))
    for node in counted(waiting):
        for target in counted(following(node)):
            if target not in found:
                found[target] = None
                waiting.append(target)
    return waiting


def lumped(row: Mapping[str, Fraction], of: Mapping[str, Class]) -> dict[Class, Fraction]:
    """Return the masses of a row on classes."""
    return summed((of[target], mass) for target, mass in counted(row.items()))


def summed(masses: Iterable[tuple[Class, Fraction]]) -> dict[Class, Fraction]:
    """Return by place the sum of the masses there."""
    result: dict[Class, Fraction] = {}
    for place, mass in counted(masses):
        result[place] = result.get(place, Fraction(0)) + mass
    return result


Masses = TypeVar("Masses")
Row = Mapping[str, Masses]


def refinements(
    states: Iterable[str],
    steps: Callable[[str], Iterable[tuple[Hashable, Row[Masses]]]],
    seen_of: Callable[[Row[Masses], Classes], Mapping[Any, Hashable]],
) -> Iterator[Classes]:
    """Yield the partition that 0, 1, 2, ... looks tell apart, which changes; the last one is stable.

    A look at a state sees its steps as a set: of each what it is called, and by class of successors what
    `seen_of` makes of them, which has to be a sum over successors. So rows that looked alike do so again if
    what leads to states that have just left their classes looks alike: no more is looked at. The largest part
    of a class is what stays, so that no state moves often.
    """
    of = dict.fromkeys(states, 0)
    rows: list[tuple[str, Row[Masses]]] = []
    views: list[Hashable] = []  # by row, as what it looked like last
    mine: dict[str, list[int]] = {state: [] for state in counted(of)}
    before: dict[str, list[int]] = {state: [] for state in counted(of)}
    for state in counted(of):
        for name, row in counted(steps(state)):
            for target in counted(row):
                before[target].append(len(rows))
            mine[state].append(len(rows))
            rows.append((state, row))
            views.append(("", name))
    parts: Mapping[int, Row[Masses]] = {number: row for number, (_, row) in counted(enumerate(rows))}
    waiting = dict.fromkeys(of)
    members = [dict.fromkeys(of)]
    known = 0
    while True:
        spend(LOOK)
        yield of
        found: dict[Hashable, int] = {}
        for number, part in counted(parts.items()):
            spend(OPERATION * (1 + len(part)))
            if view := frozenset(all_of(seen_of(part, of).items())):
                views[number] = known + found.setdefault((views[number], view), len(found))
                waiting[rows[number][0]] = None
        known += len(found)
        groups: dict[int, dict[Hashable, list[str]]] = {}
        for state in counted(waiting):
            look = frozenset(views[number] for number in counted(mine[state]))
            groups.setdefault(of[state], {}).setdefault(look, []).append(state)
        changed: dict[str, int] = {}
        for number, looks in counted(groups.items()):
            for some in counted(_leaving(members[number], sorted(all_of(looks.values()), key=len))):
                changed |= dict.fromkeys(some, len(members))
                members.append(dict.fromkeys(some))
        if not changed:
            return
        of |= changed
        touched: dict[int, dict[str, Masses]] = {}
        for target in counted(changed):
            for number in counted(before[target]):
                touched.setdefault(number, {})[target] = rows[number][1][target]
        parts, waiting = touched, {}


def _leaving(group: dict[str, None], looks: list[list[str]]) -> list[list[str]]:
    """Take all but the largest part out of a class: those that look differently now, or the others."""
    if len(group) - sum(len(some) for some in counted(looks)) < len(looks[-1]):
        changed = {state for some in counted(looks) for state in counted(some)}
        others = [state for state in counted(group) if state not in changed]
        looks = [*looks[:-1], *([others] if others else [])]
    for some in counted(looks):
        for state in counted(some):
            del group[state]
    return looks
