"""Upper bounds of a generalised metric certificate: a table that the functional does not exceed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.automaton import Place
from bisimdist.checker.core.quantities import Mass
from bisimdist.checker.core.reading import RuleViolation, choice, items, natural, record, strings
from bisimdist.checker.rules.generalised_arena import (
    NOWHERE,
    Costs,
    GeneralisedArena,
    Masses,
    Table,
    Unordered,
    unordered,
)
from bisimdist.checker.rules.metric_claims import Bound, at_most

__all__ = ["check_upper"]

ZERO = Fraction(0)
Move = tuple[int, int, Mass]
Coupling = tuple[str, list[Move]]


def check_upper(arena: GeneralisedArena, table: object) -> Table:
    """Check the table of upper bounds and return it."""
    values: dict[Unordered, Bound] = {}
    entries = []
    for number, value in enumerate(items(table, "the upper table"), 1):
        where = f"entry {number} of the upper table"
        data = record(value, where, ("pair", "value", "answers"))
        place = arena.place(data, where)
        if unordered(place) in values:
            raise RuleViolation(f"Q7: {place.where} is listed twice")
        values[unordered(place)] = arena.metric.value(data["value"], f"the value of {place.where}", "Q7")
        entries.append((place, data))
    costs = arena.costs(values, arena.metric.top)
    for place, data in entries:
        _check_entry(arena, place, data, values[unordered(place)], costs)
    return values


def _check_entry(
    arena: GeneralisedArena, place: Place, data: Mapping[str, Any], bound: Bound, costs: Costs
) -> None:
    answered = []
    for value in items(data["answers"], f"the answers of {place.where}"):
        answer = record(value, f"an answer of {place.where}", ("side", "challenge", "answer", "couplings"))
        side, challenge = arena.challenge(place, answer, "Q7")
        number = natural(answer["answer"], f"an answer of {place.where}") - 1
        if number not in arena.answers(challenge, place.states[1 - side]):
            raise RuleViolation(f"Q7: {place.where}: transition {number + 1} is no answer to the challenge")
        rows = arena.row(challenge), arena.row(number)
        couplings = [
            _read(arena, c, place.where)
            for c in items(answer["couplings"], f"the couplings of {place.where}")
        ]
        if rows[0] != rows[1]:
            _check_couplings(arena, place, rows, couplings, bound, costs)
        answered.append((side, arena.action(challenge), rows[0]))
    for side, state in enumerate(place.states):
        for n in arena.steps[state]:
            if (side, arena.action(n), arena.row(n)) not in answered:
                raise RuleViolation(f"Q7: {place.where}: transition {n + 1} has no answer")


def _read(arena: GeneralisedArena, value: object, where: str) -> Coupling:
    data = record(value, f"a coupling of {where}", ("direction", "moves", "given_up"))
    direction = choice(data["direction"], f"a direction of {where}", ("forward", "backward"))
    moves = [strings(move, f"a move of {where}", 3) for move in items(data["moves"], f"the moves of {where}")]
    parts = items(data["given_up"], f"what is given up of {where}")
    given_up = [strings(part, f"what is given up of {where}", 2) for part in parts]

    def mass(text: str) -> Mass:
        return Mass.by("Q7")(text, f"a mass of {where}")

    return direction, [
        *((arena.class_of(i, where), arena.class_of(j, where), mass(w)) for i, j, w in moves),
        *((arena.class_of(i, where), NOWHERE, mass(w)) for i, w in given_up),
    ]


def _check_couplings(  # noqa: PLR0913, PLR0917
    arena: GeneralisedArena,
    place: Place,
    rows: tuple[Masses, Masses],
    couplings: list[Coupling],
    bound: Bound,
    costs: Costs,
) -> None:
    additive = arena.metric.additive
    proved = set()
    for direction, moves in couplings:
        here, there = rows if direction == "forward" else rows[::-1]
        cost = _cost(arena, place, here, there, moves, costs)
        if not at_most(*arena.metric.sides(cost, bound)):
            raise RuleViolation(f"Q7: {place.where}: a coupling costs more than the value")
        if not additive or sum(here.values()) >= sum(there.values()):
            proved.add(direction)
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
