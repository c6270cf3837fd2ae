"""Upper bounds of a generalised metric certificate: a table that the functional does not exceed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bisimdist.checker.core.arena import Paired, Place
from bisimdist.checker.core.claims import at_most
from bisimdist.checker.core.quantities import Mass
from bisimdist.checker.core.reading import RuleViolation, item, natural
from bisimdist.checker.core.shape import Bound, Shape, key, listed, one_of, raw, row
from bisimdist.checker.rules.generalised_arena import (
    NOWHERE,
    Costs,
    GeneralisedArena,
    Masses,
    Table,
    unordered,
)

__all__ = ["check_upper"]

ZERO = Fraction(0)
Move = tuple[int, int, Mass]


class _Coupling(Shape):
    direction: str = key(one_of("forward", "backward"))
    moves: list[tuple[str, str, Mass]] = key(listed(row(item, item, Mass.by("Q7"))))
    given_up: list[tuple[str, Mass]] = key(listed(row(item, Mass.by("Q7"))))


class _Answer(Shape):
    """An answer to a challenge."""

    side: int = key(natural)
    challenge: int = key(natural)
    answer: int = key(natural)
    couplings: list[_Coupling] = key(listed(_Coupling.read))


class _Entry(Paired):
    value: Any = key(raw)
    answers: list[_Answer] = key(listed(_Answer.read))


def check_upper(arena: GeneralisedArena, table: object) -> Table:
    """Check the table of upper bounds and return it."""
    entries = arena.table(_Entry.read, table, "the upper table", "Q7", lambda place, _: unordered(place))
    values = {
        unordered(place): arena.metric.value(entry.value, f"the value of {place.where}", "Q7")
        for place, entry in entries
    }
    costs = arena.costs(values, arena.metric.top)
    for place, entry in entries:
        _check_entry(arena, place, entry.answers, values[unordered(place)], costs)
    return values


def _check_entry(
    arena: GeneralisedArena, place: Place, answers: list[_Answer], bound: Bound, costs: Costs
) -> None:
    answered = []
    for answer in answers:
        side, number = answer.side, answer.answer - 1
        challenge = arena.challenge(place, side, answer.challenge, "Q7")
        if number not in arena.answers(challenge, place.states[1 - side]):
            raise RuleViolation(f"Q7: {place.where}: transition {number + 1} is no answer to the challenge")
        rows = arena.row(challenge), arena.row(number)
        if rows[0] != rows[1]:
            _check_couplings(arena, place, rows, answer.couplings, bound, costs)
        answered.append((side, arena.action(challenge), rows[0]))
    for side, state in enumerate(place.states):
        for n in arena.steps[state]:
            if (side, arena.action(n), arena.row(n)) not in answered:
                raise RuleViolation(f"Q7: {place.where}: transition {n + 1} has no answer")


def _moves(arena: GeneralisedArena, coupling: _Coupling) -> list[Move]:
    name, where = arena.class_of, coupling.where
    return [
        *((name(i, where), name(j, where), mass) for i, j, mass in coupling.moves),
        *((name(i, where), NOWHERE, mass) for i, mass in coupling.given_up),
    ]


def _check_couplings(  # noqa: PLR0913, PLR0917
    arena: GeneralisedArena,
    place: Place,
    rows: tuple[Masses, Masses],
    couplings: list[_Coupling],
    bound: Bound,
    costs: Costs,
) -> None:
    additive = arena.metric.additive
    proved = set()
    for coupling in couplings:
        here, there = rows if coupling.direction == "forward" else rows[::-1]
        cost = _cost(arena, place, here, there, _moves(arena, coupling), costs)
        if not at_most(*arena.metric.sides(cost, bound)):
            raise RuleViolation(f"Q7: {place.where}: a coupling costs more than the value")
        if not additive or sum(here.values()) >= sum(there.values()):
            proved.add(coupling.direction)
    if len(proved) < (1 if additive else 2):
        raise RuleViolation(f"Q7: {place.where}: a direction has no coupling")


def _cost(  # noqa: PLR0913, PLR0917
    arena: GeneralisedArena, place: Place, here: Masses, there: Masses, moves: list[Move], costs: Costs
) -> Fraction:
    sources, room = arena.metric.compared(here, there)
    left = dict(sources)
    taken, paid = dict.fromkeys(room, ZERO), dict.fromkeys(room, ZERO)
    for i, j, mass in moves:
        each = costs(i, j)
        if j not in room or each is None:
            raise RuleViolation(f"Q7: {place.where}: a move ends where it may not")
        left[i] = left.get(i, ZERO) - mass
        taken[j] += mass
        paid[j] += mass * each
    if any(rest > 0 for rest in left.values()):
        raise RuleViolation(f"Q7: {place.where}: a coupling leaves mass where it is")
    if not arena.metric.additive:
        return max((full / room[j] for j, full in paid.items()), default=ZERO)
    if any(full > room[j] for j, full in taken.items()):
        raise RuleViolation(f"Q7: {place.where}: a coupling moves more to a state than it takes")
    return sum(paid.values(), ZERO)
