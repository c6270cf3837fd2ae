"""Lower bounds of a generalised metric certificate: blocks of entries, each resting on the blocks before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.claims.generalised_upper import (
    Costs,
    GeneralisedArena,
    Masses,
    Table,
    Unordered,
    unordered,
)
from bisimdist.checker.core.arena import Paired, Place
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import Amount, RuleViolation, natural
from bisimdist.checker.core.shape import Bound, Shape, at_most, key, listed, one_of, raw

ZERO = Fraction(0)
ONE = Fraction(1)
Ways = dict[int, dict[int, tuple[Fraction, Fraction]]]
"""By state of the first side and of the second: what the price allows, and what a unit of a price does."""


class _Written(Shape):
    """What is written about an answer to a challenge."""

    answer: int = key(natural)
    direction: str = key(one_of("forward", "backward"))
    prices: Any = key(raw)
    reason: Any = key(raw, default_factory=dict)


class _Entry(Paired):
    value: Any = key(raw)
    side: int = key(natural)
    challenge: int = key(natural)
    rank: int = key(natural, default_factory=int)
    answers: list[_Written] = key(listed(_Written.read))


class _Block(Shape):
    rule: str = key(one_of("step", "fixed", "growth"))
    entries: Any = key(raw)


@dataclass(frozen=True)
class Claimed:
    """An entry of a block, and where it is."""

    place: Place
    entry: _Entry


@dataclass(frozen=True)
class Answer:
    """An answer to a challenge: the masses that are compared, and the function that compares them."""

    here: Masses
    there: Masses
    prices: Masses
    reason: Masses

    def paid(self, prices: Masses) -> Fraction:
        """Return what the prices are worth on the second side."""
        return sum((mass * prices.get(j, ZERO) for j, mass in counted(self.there.items())), ZERO)


Block = Mapping[Unordered, Claimed]


def check_blocks(arena: GeneralisedArena, blocks: object) -> Table:
    """Check all blocks and return the best lower bounds that they prove."""
    known: Table = {}
    checks = {"step": _check_step, "fixed": _check_fixed, "growth": _check_growth}
    for block in counted(listed(_Block.read, "block")(blocks, "the lower blocks")):
        name = f"the entries of {block.where}"
        entries = arena.table(_Entry.read, block.entries, name, "Q8", lambda place, _: unordered(place))
        claimed = {unordered(place): Claimed(place, entry) for place, entry in counted(entries)}
        known = _best(arena, known, checks[block.rule](arena, known, claimed))
    return known


def _best(arena: GeneralisedArena, known: Table, more: Table) -> Table:
    zero = arena.metric.zero
    return {
        **known,
        **{pair: more[pair] for pair in counted(more) if not at_most(more[pair], known.get(pair, zero))},
    }


def _values(arena: GeneralisedArena, block: Block) -> Table:
    return {
        pair: arena.metric.value(one.entry.value, f"the value of {one.place.where}", "Q8")
        for pair, one in counted(block.items())
    }


def _answers(arena: GeneralisedArena, one: Claimed, rule: str) -> Iterator[Answer]:
    """Yield what is written about every answer to the challenge of an entry."""
    place = one.place
    challenge = arena.challenge(place, one.entry.side, one.entry.challenge, rule)
    mine = arena.row(challenge)
    met = set()
    for written in counted(one.entry.answers):
        number = written.answer - 1
        if not 0 <= number < len(arena.automaton.transitions):
            raise RuleViolation(f"{rule}: {place.where}: there is no transition {number + 1}")
        theirs = arena.row(number)
        met.add(frozenset(all_of(theirs.items())))
        yield Answer(
            *arena.metric.compared(*((mine, theirs) if written.direction == "forward" else (theirs, mine))),
            arena.masses(written.prices, f"the prices of {place.where}", "Q8"),
            arena.masses(written.reason, f"the reason of {place.where}", "Q8"),
        )
    for n in counted(arena.answers(challenge, place.states[1 - one.entry.side])):
        if frozenset(all_of(arena.row(n).items())) not in met:
            raise RuleViolation(f"{rule}: {place.where}: nothing is said of the answer {n + 1}")


# --------------------------------------------------------------------------------- what a function proves


def _ways(arena: GeneralisedArena, answer: Answer, costs: Costs) -> Ways:
    result: Ways = {}
    for i in counted(answer.here):
        result[i] = {}
        for j in counted(answer.there):
            cost, price = costs(i, j), answer.prices.get(j, ZERO)
            if cost is not None:
                result[i][j] = (cost + price, ONE) if arena.metric.additive else (cost * price, cost)
    return result


def _least(ways: Mapping[int, tuple[Fraction, Fraction]]) -> Fraction:
    return min(value for value, _ in counted(ways.values()))


def _proved(arena: GeneralisedArena, answer: Answer, ways: Ways) -> Bound:
    """Return the value that the prices prove."""
    if not all(all_of(ways.values())):
        return None
    gained = sum((mass * _least(ways[i]) for i, mass in counted(answer.here.items())), ZERO)
    paid = answer.paid(answer.prices)
    if arena.metric.additive:
        return gained - paid
    return gained / paid if paid else ZERO


def _measured(
    arena: GeneralisedArena, block: Block, values: Table, costs: Costs, rule: str
) -> Iterator[tuple[Unordered, Answer, Ways]]:
    """Demand that every answer costs the value of its entry; yield those that are not shown to cost more."""
    for pair, one in counted(block.items()):
        for answer in counted(_answers(arena, one, rule)):
            ways = _ways(arena, answer, costs)
            proved, bound = arena.metric.sides(_proved(arena, answer, ways), values[pair])
            if not at_most(bound, proved):
                raise RuleViolation(f"{rule}: {one.place.where}: an answer is not shown to cost the value")
            if bound == proved:
                yield pair, answer, ways


def _check_step(arena: GeneralisedArena, known: Table, block: Block) -> Table:
    values = _values(arena, block)
    for _ in counted(_measured(arena, block, values, arena.costs(known, arena.metric.zero), "Q9")):
        pass
    return values


def _check_fixed(arena: GeneralisedArena, known: Table, block: Block) -> Table:
    values: dict[Unordered, Fraction] = {}
    for pair, value in counted(_values(arena, block).items()):
        if value is None:
            raise RuleViolation(f"Q10: {block[pair].place.where}: the value is infinite")
        values[pair] = value
    costs = arena.costs(_best(arena, known, values), arena.metric.zero)
    for pair, answer, ways in counted(_measured(arena, block, values, costs, "Q10")):
        if arena.metric.discount == 1 and not _leaves(
            arena, answer, ways, _beside(block, pair), values[pair]
        ):
            raise RuleViolation(f"Q10: {block[pair].place.where}: all may stay among equals for ever")
    return values


def _leaves(
    arena: GeneralisedArena, answer: Answer, ways: Ways, inside: set[Unordered], value: Fraction
) -> bool:
    """Tell whether it is shown that no best coupling moves everything along pairs that are inside."""
    if arena.metric.additive:
        return sum(all_of(answer.here.values())) < 1 or _parts(answer, ways, inside, ONE)
    return _parts(answer, _positive(ways), inside, value)


def _positive(ways: Ways) -> Ways:
    return {i: there for i, there in counted(ways.items()) if _least(there)}


def _beside(block: Block, pair: Unordered) -> set[Unordered]:
    """Return the pairs of a block that have no lower rank than one of them."""
    return {other for other, one in counted(block.items()) if one.entry.rank >= block[pair].entry.rank}


def _parts(answer: Answer, ways: Ways, inside: set[Unordered], factor: Fraction) -> bool:
    """Tell whether it is shown that not all can move where it is best along pairs that are inside."""
    gained = ZERO
    for i, there in counted(ways.items()):
        least = _least(there)
        cells = [
            weight * answer.reason.get(j, ZERO)
            for j, (value, weight) in counted(there.items())
            if value == least and frozenset((i, j)) in inside
        ]
        if not cells:
            return True
        gained += answer.here[i] * min(all_of(cells))
    return gained > factor * answer.paid(answer.reason)


# -------------------------------------------------------------------------------------------------- growth


def _check_growth(arena: GeneralisedArena, known: Table, block: Block) -> Table:
    if arena.metric.discount != 1:
        raise RuleViolation("Q11: nothing grows for ever with a discount")
    weights: dict[Unordered, Fraction] = {}
    for pair, one in counted(block.items()):
        weights[pair] = Amount.by("Q11")(one.entry.value, f"the value of {one.place.where}")
        if not at_most(weights[pair], arena.distance(*one.place.pair, known, ONE)):
            raise RuleViolation(f"Q11: {one.place.where}: the weight is more than what is known")
    costs = arena.costs(known, ONE)
    for pair, one in counted(block.items()):
        for answer in counted(_answers(arena, one, "Q11")):
            if not _grows(answer, costs, weights, weights[pair], _beside(block, pair)):
                raise RuleViolation(f"Q11: {one.place.where}: an answer is not shown to grow")
    return dict.fromkeys(weights)


def _grows(
    answer: Answer,
    costs: Costs,
    weights: Mapping[Unordered, Fraction],
    weight: Fraction,
    inside: set[Unordered],
) -> bool:
    """Tell whether an answer costs more than the weight; differences do not, since all may go nowhere."""
    growing: Ways = {}
    more = False
    for i in counted(answer.here):
        finite = [j for j in counted(answer.there) if costs(i, j) is not None]
        if not finite:
            return True
        if all(frozenset((i, j)) in weights for j in counted(finite)):
            each = {j: weights[frozenset((i, j))] for j in counted(finite)}
            growing[i] = {j: (each[j] * answer.prices.get(j, ZERO), each[j]) for j in counted(finite)}
        elif all(answer.prices.get(j) for j in counted(finite)):
            more = True
    scaled = sum((answer.here[i] * _least(there) for i, there in counted(growing.items())), ZERO)
    paid = weight * answer.paid(answer.prices)
    leans = more or _parts(answer, _positive(growing), inside, weight)
    return scaled > paid or (scaled == paid and leans)
