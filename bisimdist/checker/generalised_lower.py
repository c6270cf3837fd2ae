"""Lower bounds of a generalised metric certificate: blocks of entries, each resting on the blocks before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.generalised_arena import Arena, Bound, Entry, Masses, Pair, at_most
from bisimdist.checker.quantities import Amount, Mass
from bisimdist.checker.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    item,
    items,
    natural,
    record,
)

__all__ = ["check_blocks"]

ZERO = Fraction(0)
ONE = Fraction(1)
Costs = Callable[[int, int], Bound]


@dataclass(frozen=True)
class Claimed:
    """An entry of a block with what is written beside it."""

    entry: Entry
    value: Bound
    rank: int
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """An answer to a challenge: the rows that are compared, and the function that compares them."""

    here: Masses
    there: Masses
    prices: Masses
    reason: Masses | None


def check_blocks(arena: Arena, blocks: object) -> dict[Pair, Bound]:
    """Check all blocks and return the best lower bounds that they prove."""
    known: dict[Pair, Bound] = {}
    for number, value in enumerate(items(blocks, "the lower blocks"), 1):
        where = f"block {number}"
        block = record(value, where, ("rule", "entries"))
        checks = {"step": _check_step, "fixed": _check_fixed, "growth": _check_growth}
        rule = choice(block["rule"], f"the rule of {where}", checks)
        claimed = _entries(arena, block, where)
        checks[rule](arena, known, claimed)
        for pair, entry in claimed.items():
            bound = None if rule == "growth" else entry.value
            if not at_most(bound, known.get(pair, arena.metric.zero)):
                known[pair] = bound
    return known


def _entries(arena: Arena, block: Mapping[str, Any], where: str) -> dict[Pair, Claimed]:
    result: dict[Pair, Claimed] = {}
    for number, value in enumerate(items(block["entries"], f"the entries of {where}"), 1):
        name = f"{where}, entry {number}"
        data = record(value, name, ("pair", "value", "side", "challenge", "answers"), ("rank",))
        entry = arena.entry(data, name)
        if entry.pair in result:
            raise RuleViolation(f"Q8: {entry.where} is listed twice in a block")
        place = f"the value of {entry.where}"
        bound: Bound
        if block["rule"] == "growth":
            bound = None if data["value"] == "inf" else Amount.read(data["value"], place, "Q11")
        else:
            bound = arena.metric.value(data["value"], place, "Q8")
        rank = natural(data.get("rank", 0), f"the rank of {entry.where}")
        result[entry.pair] = Claimed(entry, bound, rank, data)
    return result


def _answers(arena: Arena, claimed: Claimed, rule: str) -> list[Answer]:
    """Return what is written about every answer to the challenge of an entry."""
    entry = claimed.entry
    challenge, possible = arena.challenge(entry, claimed.data, rule)
    mine = arena.row(challenge)
    rows = {n: arena.row(n) for n in possible}
    result, shown = [], []
    for value in items(claimed.data["answers"], f"the answers of {entry.where}"):
        where = f"an answer of {entry.where}"
        data = record(value, where, ("answer", "direction", "prices"), ("reason",))
        number = natural(data["answer"], where) - 1
        if not 0 <= number < len(arena.automaton.transitions):
            raise RuleViolation(f"{rule}: {entry.where}: there is no transition {number + 1}")
        theirs = arena.row(number)
        direction = choice(data["direction"], f"a direction of {entry.where}", ("forward", "backward"))
        here, there = (mine, theirs) if direction == "forward" else (theirs, mine)
        prices = _masses(arena, data["prices"], entry.where)
        reason = _masses(arena, data["reason"], entry.where) if "reason" in data else None
        result.append(Answer(here, there, prices, reason))
        shown.append(theirs)
    for n, row in rows.items():
        if row not in shown:
            raise RuleViolation(f"{rule}: {entry.where}: nothing is said of the answer {n + 1}")
    return result


def _masses(arena: Arena, value: object, where: str) -> Masses:
    if not isinstance(value, dict):
        raise MalformedCertificate(f"prices of {where} are no object")
    result: Masses = {}
    for name, number in value.items():
        state = arena.state(item(name, where), where)
        result[state] = Mass.read(number, f"a price of {where}", "Q8")
    return result


# --------------------------------------------------------------------------------- what a function proves


def _excess(answer: Answer) -> tuple[Masses, Masses]:
    here, there = answer.here, answer.there
    more = {i: p - there.get(i, ZERO) for i, p in here.items() if p > there.get(i, ZERO)}
    less = {j: p - here.get(j, ZERO) for j, p in there.items() if p > here.get(j, ZERO)}
    return more, less


def _reach(
    arena: Arena, answer: Answer, costs: Costs
) -> tuple[dict[int, dict[int, Fraction]], Masses, Masses]:
    """Return by state of the first side what each state of the second allows, and the masses compared."""
    additive = arena.metric.additive
    here, there = _excess(answer) if additive else (answer.here, answer.there)
    reach: dict[int, dict[int, Fraction]] = {}
    for i in here:
        reach[i] = {}
        for j in there:
            cost, price = costs(i, j), answer.prices.get(j, ZERO)
            if cost is not None:
                reach[i][j] = cost + price if additive else cost * price
    return reach, here, there


def _value(arena: Arena, answer: Answer, costs: Costs) -> Bound:
    """Return the value that the prices prove."""
    reach, here, there = _reach(arena, answer, costs)
    paid = sum((p * answer.prices.get(j, ZERO) for j, p in there.items()), ZERO)
    if arena.metric.additive:
        return sum((p * min([ONE, *reach[i].values()]) for i, p in here.items()), ZERO) - paid
    if any(not allowed for allowed in reach.values()):
        return None
    gained = sum((p * min(reach[i].values()) for i, p in here.items()), ZERO)
    return gained / paid if paid > 0 else ZERO


def _check_step(arena: Arena, known: Mapping[Pair, Bound], claimed: Mapping[Pair, Claimed]) -> None:
    costs = arena.costs(known, arena.metric.zero)
    for one in claimed.values():
        for answer in _answers(arena, one, "Q9"):
            if arena.metric.compare(_value(arena, answer, costs), one.value) < 0:
                raise RuleViolation(f"Q9: {one.entry.where}: an answer is not shown to cost the value")


def _check_fixed(arena: Arena, known: Mapping[Pair, Bound], claimed: Mapping[Pair, Claimed]) -> None:
    table = dict(known)
    for pair, one in claimed.items():
        if one.value is None:
            raise RuleViolation(f"Q10: {one.entry.where}: the value is infinite")
        if not at_most(one.value, table.get(pair, arena.metric.zero)):
            table[pair] = one.value
    costs = arena.costs(table, arena.metric.zero)
    ranks = {pair: one.rank for pair, one in claimed.items()}
    for one in claimed.values():
        for answer in _answers(arena, one, "Q10"):
            sign = arena.metric.compare(_value(arena, answer, costs), one.value)
            if sign < 0:
                raise RuleViolation(f"Q10: {one.entry.where}: an answer is not shown to cost the value")
            if sign == 0 and arena.metric.discount == 1:
                inside = {pair for pair, rank in ranks.items() if rank >= one.rank}
                if not _leaves(arena, answer, costs, inside):
                    raise RuleViolation(f"Q10: {one.entry.where}: all may stay among equals for ever")


def _leaves(arena: Arena, answer: Answer, costs: Costs, inside: set[Pair]) -> bool:
    """Tell whether it is shown that no best coupling moves everything along pairs that are inside."""
    reach, here, there = _reach(arena, answer, costs)
    additive = arena.metric.additive
    if additive and sum(here.values()) < 1:
        return True
    cells: dict[int, list[int]] = {}
    for i, allowed in reach.items():
        least = min([ONE, *allowed.values()]) if additive else min(allowed.values(), default=ZERO)
        if not additive and least == 0:
            continue
        cells[i] = [j for j, v in allowed.items() if v == least and (min(i, j), max(i, j)) in inside]
    if any(not moves for moves in cells.values()):
        return True
    if answer.reason is None:
        return False
    prices = answer.reason
    paid = sum((p * prices.get(j, ZERO) for j, p in there.items()), ZERO)
    gained = ZERO
    for i, moves in cells.items():
        if additive:
            gained += here[i] * min(prices.get(j, ZERO) for j in moves)
        else:
            ratios = [costs(i, j) for j in moves]
            gained += here[i] * min(
                r * prices.get(j, ZERO) for j, r in zip(moves, ratios, strict=True) if r is not None
            )
    if additive:
        return gained > paid
    value = _value(arena, answer, costs)
    return value is not None and gained > value * paid


# -------------------------------------------------------------------------------------------------- growth


def _check_growth(arena: Arena, known: Mapping[Pair, Bound], claimed: Mapping[Pair, Claimed]) -> None:
    if arena.metric.additive or arena.metric.discount != 1:
        raise RuleViolation("Q11: only ratios without discount grow for ever")
    weights: dict[Pair, Fraction] = {}
    for pair, one in claimed.items():
        if one.value is None or not at_most(one.value, arena.distance(pair, known, ONE)):
            raise RuleViolation(f"Q11: {one.entry.where}: the weight is infinite, or more than what is known")
        weights[pair] = one.value
    costs = arena.costs(known, ONE)
    ranks = {pair: one.rank for pair, one in claimed.items()}
    for one in claimed.values():
        for answer in _answers(arena, one, "Q11"):
            if not _grows(answer, costs, weights, ranks, one):
                raise RuleViolation(f"Q11: {one.entry.where}: an answer is not shown to grow")


def _grows(
    answer: Answer,
    costs: Costs,
    weights: Mapping[Pair, Fraction],
    ranks: Mapping[Pair, int],
    one: Claimed,
) -> bool:
    if one.value is None:
        return False
    paid = sum((p * answer.prices.get(j, ZERO) for j, p in answer.there.items()), ZERO)
    scaled, fixed = ZERO, ZERO
    cells: dict[int, list[tuple[int, Fraction]]] = {}  # tight moves to ranks that are not lower
    for i, p in answer.here.items():
        grows: dict[int, Fraction] = {}
        stays = []
        for j in answer.there:
            pair, price = (min(i, j), max(i, j)), answer.prices.get(j, ZERO)
            if pair in weights:
                grows[j] = weights[pair] * price
            elif (cost := costs(i, j)) is not None:
                stays.append(cost * price)
        if stays:
            fixed += p * min([*stays, *grows.values()])
        elif grows:
            least = min(grows.values())
            scaled += p * least
            if least > 0:
                tight = [j for j, value in grows.items() if value == least]
                pairs = {j: (min(i, j), max(i, j)) for j in tight}
                cells[i] = [(j, weights[pairs[j]]) for j in tight if ranks[pairs[j]] >= one.rank]
        else:
            return True  # infinite already
    if paid <= 0 or scaled < one.value * paid:
        return False
    return scaled + fixed > one.value * paid or _leans(answer, cells, one.value)


def _leans(answer: Answer, cells: Mapping[int, list[tuple[int, Fraction]]], weight: Fraction) -> bool:
    """Tell whether it is shown that the growth of lower ranks is passed on."""
    if any(not moves for moves in cells.values()):
        return True
    if answer.reason is None:
        return False
    prices = answer.reason
    gained = sum(
        (answer.here[i] * min(w * prices.get(j, ZERO) for j, w in moves) for i, moves in cells.items()), ZERO
    )
    return gained > weight * sum((p * prices.get(j, ZERO) for j, p in answer.there.items()), ZERO)
