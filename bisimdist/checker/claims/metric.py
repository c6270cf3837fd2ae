"""Checks certificates of kind ``metric``: bounds on the accumulative and the amortised metric.

The rules, with names M1 and so on, are those of ``docs/certificates/metric.md``; why they prove what is
claimed is in ``docs/theory/metric.md``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from bisimdist.checker.claims.bijections import Board, Match, Pairing, perfect
from bisimdist.checker.core.arena import Pair, Paired, Place
from bisimdist.checker.core.automaton import About, Automaton, about_automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    Amount,
    RuleViolation,
    Skew,
    choice,
    items,
    natural,
    rational,
    shown,
    text_of,
)
from bisimdist.checker.core.shape import (
    BetweenBounds,
    Bound,
    CheckReport,
    at_most,
    key,
    listed,
    one_of,
    raw,
    row,
)

ONE = Fraction(1)


class _Document(About):
    """A certificate of kind ``metric``; which tables it has, the metric says."""

    metric: str = key(one_of("accumulative", "amortised"))
    claims: list[BetweenBounds] = key(listed(BetweenBounds.read, "claim"))


class _Accumulative(_Document):
    upper: Any = key(raw)
    lower: Any = key(raw)


class _Amortised(_Document):
    infinite: Any = key(raw)
    relations: Any = key(raw)
    losses: Any = key(raw)


class _Upper(Paired):
    value: Skew = key(Skew.by("M7"))


class _Move(Paired):
    side: int = key(natural)
    challenge: int = key(natural)
    rank: int = key(natural)


class _Lower(_Move):
    value: Skew | None = key(lambda value, where: None if value == "inf" else Skew.by("M8")(value, where))


class _Escape(_Move):
    """An infinite position."""

    direction: str = key(one_of("up", "down"))
    potential: Amount = key(Amount.by("M12"))
    depth: int = key(natural)


class _Losing(_Move):
    credit: Amount = key(Amount.by("M11"))


class _Held(Paired):
    credits: list[tuple[Fraction, Fraction]] = key(listed(row(rational, rational)))


def check_document(document: dict[str, object], model: object | None) -> CheckReport:
    """Check a certificate of kind ``metric``."""
    tables: dict[str, type[_Document]] = {"accumulative": _Accumulative, "amortised": _Amortised}
    whole = tables[choice(document.get("metric"), "the metric", tables)].whole(document)

    def check(automaton: Automaton) -> None:
        board = Board(automaton)
        for claim in counted(whole.claims):
            for side, bound in (("lower", claim.lower), ("upper", claim.upper)):
                if bound is not None:
                    Skew.of(bound, f"M4: the {side} bound of {claim.where}")
        if isinstance(whole, _Accumulative):
            _check_accumulative(board, whole)
        elif isinstance(whole, _Amortised):
            _check_amortised(board, whole)

    said = {"metric": whole.metric, "quantity": "e^distance"}
    return about_automaton(
        whole, model, ("M2", "M3"), (said | claim.data() for claim in counted(whole.claims)), check
    )


def _pair(board: Board, claim: BetweenBounds) -> Pair:
    return board.class_of(claim.source, claim.where), board.class_of(claim.target, claim.where)


def _all_answered(board: Board, place: Place, answered: Callable[[Pairing], bool], rule: str) -> None:
    for side, mine in counted(enumerate(place.states)):
        for n in counted(board.steps[mine]):
            if not any(answered(pairing) for _, pairing in counted(board.answered(place, side, n))):
                raise RuleViolation(
                    f"{rule}: {place.where}: transition {n + 1}, of {shown(mine)}, has no answer"
                )


def _never_answered(
    board: Board, place: Place, entry: _Move, answered: Callable[[Pairing], bool], rule: str
) -> None:
    n = board.challenge(place, entry.side, entry.challenge, rule)
    for m, pairing in counted(board.answered(place, entry.side, n)):
        if answered(pairing):
            raise RuleViolation(f"{rule}: {place.where}: transition {m + 1} is an answer to the challenge")


# ------------------------------------------------------------------------------------------ accumulative


def _check_accumulative(board: Board, whole: _Accumulative) -> None:
    upper = _upper_values(board, whole.upper)
    lower = _lower_values(board, whole.lower)
    for claim in counted(whole.claims):
        pair = _pair(board, claim)
        known: Bound = ONE if pair[0] == pair[1] else upper.get(pair)
        if not at_most(known, claim.upper):
            raise RuleViolation(f"M5: {claim.where}: the upper bound is less than the table's")
        apart = board.shape_of[pair[0]] != board.shape_of[pair[1]]
        if not at_most(claim.lower, None if apart else lower.get(pair, ONE)):
            raise RuleViolation(f"M6: {claim.where}: the lower bound is more than the table's")


def _upper_values(board: Board, table: object) -> dict[Pair, Skew]:
    entries = board.table(_Upper.read, table, "the upper table", "M7")
    values = {place.pair: entry.value for place, entry in counted(entries)}

    def reached(match: Match, most: Fraction) -> bool:
        first, second = match.classes
        after = ONE if first == second else values.get(match.classes)
        return after is not None and after <= most

    for place, entry in counted(entries):

        def answered(pairing: Pairing, value: Fraction = entry.value) -> bool:
            sizes = {match.size for match in counted(pairing.matches)} | {ONE}
            return any(
                perfect(
                    pairing,
                    [m for m in counted(pairing.matches) if m.size <= size and reached(m, value / size)],
                )
                for size in counted(sorted(all_of(sizes)))
            )

        _all_answered(board, place, answered, "M7")
    return values


def _lower_values(board: Board, table: object) -> dict[Pair, Bound]:
    entries = board.table(_Lower.read, table, "the lower table", "M8")
    values: dict[Pair, tuple[Bound, int]] = {
        place.pair: (entry.value, entry.rank) for place, entry in counted(entries)
    }

    def hit(match: Match, size: Fraction, value: Bound, rank: int) -> bool:
        """Tell whether a match of a bijection of that size leaves the challenger enough."""
        after, after_rank = values.get(match.classes, (ONE, 0))
        if after is None:
            return value is not None or size > 1 or after_rank < rank
        if value is None or size * after < value:
            return False
        return size > 1 or after > value or after_rank < rank

    for place, entry in counted(entries):

        def answered(pairing: Pairing, value: Bound = entry.value, rank: int = entry.rank) -> bool:
            sizes = sorted({match.size for match in counted(pairing.matches)}) or [ONE]
            return any(
                perfect(
                    pairing,
                    [m for m in counted(pairing.matches) if m.size <= size and not hit(m, size, value, rank)],
                )
                for size in counted(sizes)
            )

        _never_answered(board, place, entry, answered, "M8")
    return {pair: value for pair, (value, _) in counted(values.items())}


# --------------------------------------------------------------------------------------------- amortised


def _check_amortised(board: Board, whole: _Amortised) -> None:
    infinite, claims = _infinite(board, whole.infinite), whole.claims
    relations = items(whole.relations, "the relations")
    losses = items(whole.losses, "the losses")
    if not len(relations) == len(losses) == len(claims):
        raise RuleViolation("M9: there is not one relation and one list of losses for each claim")
    for claim, relation, losing in counted(zip(claims, relations, losses, strict=True)):
        pair = _pair(board, claim)
        if claim.upper is not None and pair[0] != pair[1]:
            _check_relation(board, relation, Skew(claim.upper), pair, f"the relation of {claim.where}")
        if claim.lower == 1 or _infinitely_far(board, infinite, pair):
            continue
        if claim.lower is None:
            raise RuleViolation(f"M11: {claim.where}: nothing proves the lower bound")
        _check_losses(board, infinite, losing, Skew(claim.lower), pair, f"the losses of {claim.where}")


def _infinitely_far(board: Board, infinite: Mapping[Pair, _Escape], pair: Pair) -> bool:
    return board.shape_of[pair[0]] != board.shape_of[pair[1]] or pair in infinite


def _infinite(board: Board, table: object) -> dict[Pair, _Escape]:
    entries = board.table(_Escape.read, table, "the infinite positions", "M12")
    result = {place.pair: entry for place, entry in counted(entries)}

    def driven(match: Match, escape: _Escape) -> bool:
        after = result.get(match.classes)
        if after is None or after.rank > escape.rank:
            return False
        if after.rank < escape.rank:
            return True
        moved = (match.ratio if escape.direction == "up" else 1 / match.ratio) * after.potential
        return after.direction == escape.direction and (
            moved > escape.potential or (moved == escape.potential and after.depth < escape.depth)
        )

    for place, entry in counted(entries):

        def answered(pairing: Pairing, escape: _Escape = entry) -> bool:
            return perfect(pairing, [m for m in counted(pairing.matches) if not driven(m, escape)])

        _never_answered(board, place, entry, answered, "M12")
    return result


def _check_losses(  # noqa: PLR0913, PLR0917
    board: Board,
    infinite: Mapping[Pair, _Escape],
    table: object,
    window: Skew,
    pair: Pair,
    name: str,
) -> None:
    entries = board.table(_Losing.read, table, name, "M11", lambda place, entry: (place.pair, entry.credit))
    ranks = {(place.pair, Fraction(entry.credit)): entry.rank for place, entry in counted(entries)}
    if (pair, ONE) not in ranks:
        raise RuleViolation(f"M11: {name} does not begin with the pair of its claim")
    for place, entry in counted(entries):

        def answered(pairing: Pairing, credit: Fraction = entry.credit, rank: int = entry.rank) -> bool:
            safe = []
            for match in counted(pairing.matches):
                after = credit * match.ratio
                if after >= window or after * window <= 1:
                    continue
                if match.classes in infinite:
                    continue
                if ranks.get((match.classes, after), rank) < rank:
                    continue
                safe.append(match)
            return perfect(pairing, safe)

        _never_answered(board, place, entry, answered, "M11")


Intervals = list[tuple[Fraction, Fraction]]


def _check_relation(board: Board, table: object, window: Skew, pair: Pair, name: str) -> None:
    entries = board.table(_Held.read, table, name, "M10")
    for place, entry in counted(entries):
        if not all(low <= high <= window and low * window >= 1 for low, high in counted(entry.credits)):
            raise RuleViolation(f"M10: {place.where}: an interval of credits is not inside the window")
    relation: dict[Pair, Intervals] = {place.pair: entry.credits for place, entry in counted(entries)}
    if not any(low <= 1 <= high for low, high in counted(relation.get(pair, []))):
        raise RuleViolation(f"M10: {name} does not hold its claim's pair with the credit 1")

    def held(match: Match) -> Sequence[tuple[Fraction, Fraction]]:
        same = match.classes[0] == match.classes[1]
        return [(1 / window, Fraction(window))] if same else relation.get(match.classes, ())

    for place, _ in counted(entries):
        samples = sorted(all_of(_samples(board, place, relation, held)))
        for side, mine in counted(enumerate(place.states)):
            for n in counted(board.steps[mine]):
                rest: set[int] = set(all_of(range(len(samples))))
                for _, pairing in counted(board.answered(place, side, n)):
                    for k, end in counted(_answered(pairing, samples, held)):
                        rest.difference_update(all_of(range(k, end)))
                if rest:
                    where = f"M10: {place.where} at {shown(text_of(samples[min(all_of(rest))]))}"
                    raise RuleViolation(f"{where}: transition {n + 1}, of {shown(mine)}, has no answer")


Held = Callable[[Match], Sequence[tuple[Fraction, Fraction]]]  # by match where the credit may be after it


def _answered(pairing: Pairing, samples: Sequence[Fraction], held: Held) -> Iterator[tuple[int, int]]:
    """Yield where some sampled credits, in order, leave enough matches that are usable: first and end."""
    changes: dict[int, list[tuple[int, int]]] = {0: []}
    for number, match in counted(enumerate(pairing.matches)):
        for low, high in counted(held(match)):
            first = bisect_left(samples, low / match.ratio)
            end = bisect_right(samples, high / match.ratio)
            if first < end:
                changes.setdefault(first, []).append((number, 1))
                changes.setdefault(end, []).append((number, -1))
    usable = [0] * len(pairing.matches)
    for first, end in counted(pairwise([*sorted(all_of(changes)), len(samples)])):
        for number, change in counted(changes[first]):
            usable[number] += change
        if first < end and perfect(
            pairing, [m for m, count in counted(zip(pairing.matches, usable, strict=True)) if count]
        ):
            yield first, end


def _samples(board: Board, place: Place, relation: Mapping[Pair, Intervals], held: Held) -> set[Fraction]:
    """Return one credit of each region of the entry's intervals in which the same matches are usable."""
    ends: set[Fraction] = set()
    wide = [(low, high) for low, high in counted(relation[place.pair]) if low < high]
    if wide:
        for n in counted(board.steps[place.states[0]]):
            for m in counted(board.answers(n, place.states[1])):
                for match in counted(board.pairing(n, m).matches):
                    for low, high in counted(held(match)):
                        ends.update((low / match.ratio, high / match.ratio))
    result: set[Fraction] = set()
    for low, high in counted(relation[place.pair]):
        cuts = sorted(all_of({low, high} | {end for end in counted(ends) if low < end < high}))
        result.update(cuts)
        result.update((a + b) / 2 for a, b in counted(pairwise(cuts)))
    return result
