"""Upper bounds of a generalised metric certificate: a table that the functional does not exceed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from bisimdist.checker.generalised_arena import Arena, Bound, Entry, Masses, Pair
from bisimdist.checker.quantities import Mass
from bisimdist.checker.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    item,
    items,
    natural,
    record,
)

__all__ = ["check_upper"]

ZERO = Fraction(0)
Costs = Callable[[int, int], Bound]
Moves = list[tuple[int, int, Mass]]
GivenUp = list[tuple[int, Mass]]
Coupling = tuple[str, Moves, GivenUp]


def check_upper(arena: Arena, table: object) -> dict[Pair, Bound]:
    """Check the table of upper bounds and return it."""
    values: dict[Pair, Bound] = {}
    entries = []
    for number, value in enumerate(items(table, "the upper table"), 1):
        where = f"entry {number} of the upper table"
        data = record(value, where, ("pair", "value", "answers"))
        entry = arena.entry(data, where)
        if entry.pair in values:
            raise RuleViolation(f"Q7: {entry.where} is listed twice")
        values[entry.pair] = arena.metric.value(data["value"], f"the value of {entry.where}", "Q7")
        entries.append((entry, data))
    costs = arena.costs(values, arena.metric.top)
    for entry, data in entries:
        if arena.distance(entry.pair, {}, ZERO) == arena.metric.top:
            raise RuleViolation(f"Q7: {entry.where}: the states do not have the same actions")
        _check_entry(arena, entry, data, values[entry.pair], costs)
    return values


def _check_entry(arena: Arena, entry: Entry, data: Mapping[str, Any], bound: Bound, costs: Costs) -> None:
    answered = set()
    for value in items(data["answers"], f"the answers of {entry.where}"):
        answer = record(value, f"an answer of {entry.where}", ("side", "challenge", "answer", "couplings"))
        challenge, possible = arena.challenge(entry, answer, "Q7")
        number = natural(answer["answer"], f"an answer of {entry.where}") - 1
        if number not in possible:
            raise RuleViolation(f"Q7: {entry.where}: transition {number + 1} is no answer to the challenge")
        mine, theirs = arena.row(challenge), arena.row(number)
        couplings = [
            _read(arena, c, entry.where)
            for c in items(answer["couplings"], f"the couplings of {entry.where}")
        ]
        if mine != theirs:
            _check_couplings(arena, entry, (mine, theirs), couplings, bound, costs)
        answered.add((answer["side"], challenge))
    for side in (0, 1):
        for n in arena.steps[entry.states[side]]:
            row, action = arena.row(n), arena.automaton.transitions[n][1]
            if not any(
                s == side and arena.automaton.transitions[m][1] == action and arena.row(m) == row
                for s, m in answered
            ):
                raise RuleViolation(f"Q7: {entry.where}: transition {n + 1} has no answer")


def _read(arena: Arena, value: object, where: str) -> Coupling:
    data = record(value, f"a coupling of {where}", ("direction", "moves", "given_up"))
    direction = choice(data["direction"], f"a direction of {where}", ("forward", "backward"))
    moves: Moves = []
    for move in items(data["moves"], f"the moves of {where}"):
        if len(items(move, f"a move of {where}")) != 3:
            raise MalformedCertificate(f"a move of {where} is not made of two states and a mass")
        i, j = (arena.state(item(name, where), where) for name in move[:2])
        moves.append((i, j, Mass.read(move[2], f"a mass of {where}", "Q7")))
    given_up: GivenUp = []
    for part in items(data["given_up"], f"what is given up of {where}"):
        if len(items(part, f"what is given up of {where}")) != 2:
            raise MalformedCertificate(f"what is given up of {where} is not made of a state and a mass")
        given_up.append(
            (arena.state(item(part[0], where), where), Mass.read(part[1], f"a mass of {where}", "Q7"))
        )
    return direction, moves, given_up


def _check_couplings(  # noqa: PLR0913, PLR0917
    arena: Arena,
    entry: Entry,
    rows: tuple[Masses, Masses],
    couplings: list[Coupling],
    bound: Bound,
    costs: Costs,
) -> None:
    heavier = {
        "forward": sum(rows[0].values()) >= sum(rows[1].values()),
        "backward": sum(rows[1].values()) >= sum(rows[0].values()),
    }
    proved = set()
    for direction, moves, given_up in couplings:
        here, there = rows if direction == "forward" else rows[::-1]
        if arena.metric.additive:
            cost: Bound = _transported(entry, here, there, moves, given_up, costs)
        elif given_up:
            raise RuleViolation(f"Q7: {entry.where}: a ratio gives nothing up")
        else:
            cost = _loaded(entry, here, there, moves, costs)
        if arena.metric.compare(cost, bound) > 0:
            raise RuleViolation(f"Q7: {entry.where}: a coupling costs more than the value")
        proved.add(direction)
    enough = any(heavier[d] for d in proved) if arena.metric.additive else len(proved) == 2
    if not enough:
        raise RuleViolation(f"Q7: {entry.where}: a direction has no coupling")


def _transported(  # noqa: PLR0913, PLR0917
    entry: Entry,
    here: Masses,
    there: Masses,
    moves: Moves,
    given_up: GivenUp,
    costs: Costs,
) -> Fraction:
    left = {i: mass - there.get(i, ZERO) for i, mass in here.items()}
    room = {j: mass - here.get(j, ZERO) for j, mass in there.items()}
    cost = ZERO
    for i, j, mass in moves:
        each = costs(i, j)
        if i not in left or j not in room or each is None:
            raise RuleViolation(f"Q7: {entry.where}: a move starts or ends where there is no mass")
        left[i] -= mass
        room[j] -= mass
        cost += mass * each
    for i, mass in given_up:
        if i not in left:
            raise RuleViolation(f"Q7: {entry.where}: mass is given up where there is none")
        left[i] -= mass
        cost += mass
    if any(rest > 0 for rest in left.values()):
        raise RuleViolation(f"Q7: {entry.where}: a coupling leaves mass where it is")
    for j, rest in room.items():
        if rest < 0 and rest != there[j] - here.get(j, ZERO):
            raise RuleViolation(f"Q7: {entry.where}: a coupling moves more to a state than it takes")
    return cost


def _loaded(entry: Entry, here: Masses, there: Masses, moves: Moves, costs: Costs) -> Fraction:
    left = dict(here)
    load = dict.fromkeys(there, ZERO)
    for i, j, mass in moves:
        each = costs(i, j)
        if i not in left or j not in load or each is None:
            raise RuleViolation(f"Q7: {entry.where}: a move starts or ends where it may not")
        left[i] -= mass
        load[j] += each * mass
    if any(rest > 0 for rest in left.values()):
        raise RuleViolation(f"Q7: {entry.where}: a coupling leaves mass where it is")
    return max((full / there[j] for j, full in load.items()), default=ZERO)
