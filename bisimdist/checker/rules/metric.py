"""Checks certificates of kind ``metric``: bounds on the accumulative and the amortised metric.

The rules, with names M1 and so on, are those of ``docs/certificates/metric.md``; why they prove what is
claimed is in ``docs/theory/metric.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from bisimdist.checker.core.automaton import Automaton, Board, Match, Pair, Pairing, Place, perfect
from bisimdist.checker.core.automaton_document import judged, numbered_claims
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.quantities import Amount, Skew
from bisimdist.checker.core.reading import (
    RuleViolation,
    choice,
    items,
    natural,
    rational,
    record,
    shown,
    strings,
    text_of,
)
from bisimdist.checker.rules.metric_claims import Bound, Claim, at_most, read_claim

__all__ = ["check_document"]

ONE = Fraction(1)
TABLES = {"accumulative": ("upper", "lower"), "amortised": ("infinite", "relations", "losses")}


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``metric`` and, where it is given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    metric = choice(document.get("metric"), "the metric", TABLES)
    values = numbered_claims(document, required=("metric", *TABLES[metric]))
    claims = [read_claim(value, where) for where, value in values]

    def check(automaton: Automaton) -> None:
        board = Board(automaton)
        for claim in claims:
            for side, bound in (("lower", claim.lower), ("upper", claim.upper)):
                if bound is not None:
                    Skew.of(bound, f"M4: the {side} bound of {claim.where}")
        (_check_accumulative if metric == "accumulative" else _check_amortised)(board, document, claims)

    said = {"metric": metric, "quantity": "e^distance"}
    return judged(document, model, "M", (said | claim.data() for claim in claims), check)


def _pair(board: Board, claim: Claim) -> Pair:
    return board.class_of(claim.source, claim.where), board.class_of(claim.target, claim.where)


def _all_answered(board: Board, place: Place, answered: Callable[[Pairing], bool], rule: str) -> None:
    for side, mine in enumerate(place.states):
        for n in board.steps[mine]:
            if not any(answered(pairing) for _, pairing in board.answered(place, side, n)):
                raise RuleViolation(
                    f"{rule}: {place.where}: transition {n + 1}, of {shown(mine)}, has no answer"
                )


def _never_answered(
    board: Board, place: Place, entry: Mapping[str, Any], answered: Callable[[Pairing], bool], rule: str
) -> None:
    side, n = board.challenge(place, entry, rule)
    for m, pairing in board.answered(place, side, n):
        if answered(pairing):
            raise RuleViolation(f"{rule}: {place.where}: transition {m + 1} is an answer to the challenge")


# ------------------------------------------------------------------------------------------ accumulative


def _check_accumulative(board: Board, document: Mapping[str, Any], claims: list[Claim]) -> None:
    upper = _upper_values(board, document["upper"])
    lower = _lower_values(board, document["lower"])
    for claim in claims:
        pair = _pair(board, claim)
        known: Bound = ONE if pair[0] == pair[1] else upper.get(pair)
        if not at_most(known, claim.upper):
            raise RuleViolation(f"M5: {claim.where}: the upper bound is less than the table's")
        apart = board.shape_of[pair[0]] != board.shape_of[pair[1]]
        if not at_most(claim.lower, None if apart else lower.get(pair, ONE)):
            raise RuleViolation(f"M6: {claim.where}: the lower bound is more than the table's")


def _upper_values(board: Board, table: object) -> dict[Pair, Skew]:
    values: dict[Pair, Skew] = {}
    places = []
    for number, value in enumerate(items(table, "the upper table"), 1):
        entry = record(value, f"entry {number} of the upper table", ("pair", "value"))
        place = board.place(entry, f"entry {number} of the upper table")
        if place.pair in values:
            raise RuleViolation(f"M7: {place.where} is listed twice")
        values[place.pair] = Skew.by("M7")(entry["value"], f"the value of {place.where}")
        places.append(place)

    def reached(match: Match, most: Fraction) -> bool:
        first, second = match.classes
        after = ONE if first == second else values.get(match.classes)
        return after is not None and after <= most

    for place in places:
        value = values[place.pair]

        def answered(pairing: Pairing, value: Fraction = value) -> bool:
            sizes = {match.size for match in pairing.matches} | {ONE}
            return any(
                perfect(pairing, [m for m in pairing.matches if m.size <= size and reached(m, value / size)])
                for size in sorted(sizes)
            )

        _all_answered(board, place, answered, "M7")
    return values


def _lower_values(board: Board, table: object) -> dict[Pair, Bound]:
    values: dict[Pair, tuple[Skew | None, int]] = {}
    entries = []
    for number, value in enumerate(items(table, "the lower table"), 1):
        where = f"entry {number} of the lower table"
        entry = record(value, where, ("pair", "value", "rank", "side", "challenge"))
        place = board.place(entry, where)
        if place.pair in values:
            raise RuleViolation(f"M8: {place.where} is listed twice")
        bound = None if entry["value"] == "inf" else Skew.by("M8")(entry["value"], where)
        values[place.pair] = bound, natural(entry["rank"], where)
        entries.append((place, entry))

    def hit(match: Match, size: Fraction, value: Bound, rank: int) -> bool:
        """Tell whether a match of a bijection of that size leaves the challenger enough."""
        after, after_rank = values.get(match.classes, (ONE, 0))
        if after is None:
            return value is not None or size > 1 or after_rank < rank
        if value is None or size * after < value:
            return False
        return size > 1 or after > value or after_rank < rank

    for place, entry in entries:
        value, rank = values[place.pair]

        def answered(pairing: Pairing, value: Bound = value, rank: int = rank) -> bool:
            sizes = sorted({match.size for match in pairing.matches}) or [ONE]
            return any(
                perfect(
                    pairing, [m for m in pairing.matches if m.size <= size and not hit(m, size, value, rank)]
                )
                for size in sizes
            )

        _never_answered(board, place, entry, answered, "M8")
    return {pair: value for pair, (value, _) in values.items()}


# --------------------------------------------------------------------------------------------- amortised


@dataclass(frozen=True)
class Escape:
    """An entry of the table of infinite positions."""

    rank: int
    up: bool
    potential: Amount
    depth: int


def _check_amortised(board: Board, document: Mapping[str, Any], claims: list[Claim]) -> None:
    infinite = _infinite(board, document["infinite"])
    relations = items(document["relations"], "the relations")
    losses = items(document["losses"], "the losses")
    if not len(relations) == len(losses) == len(claims):
        raise RuleViolation("M9: there is not one relation and one list of losses for each claim")
    for claim, relation, losing in zip(claims, relations, losses, strict=True):
        pair = _pair(board, claim)
        if claim.upper is not None and pair[0] != pair[1]:
            _check_relation(board, relation, Skew(claim.upper), pair, f"the relation of {claim.where}")
        if claim.lower == 1 or _infinitely_far(board, infinite, pair):
            continue
        if claim.lower is None:
            raise RuleViolation(f"M11: {claim.where}: nothing proves the lower bound")
        _check_losses(board, infinite, losing, Skew(claim.lower), pair, f"the losses of {claim.where}")


def _infinitely_far(board: Board, infinite: Mapping[Pair, Escape], pair: Pair) -> bool:
    return board.shape_of[pair[0]] != board.shape_of[pair[1]] or pair in infinite


def _infinite(board: Board, table: object) -> dict[Pair, Escape]:
    keys = ("pair", "rank", "direction", "potential", "depth", "side", "challenge")
    result: dict[Pair, Escape] = {}
    entries = []
    for number, value in enumerate(items(table, "the infinite positions"), 1):
        where = f"infinite position {number}"
        entry = record(value, where, keys)
        place = board.place(entry, where)
        escape = Escape(
            natural(entry["rank"], where),
            choice(entry["direction"], f"the direction of {where}", ("up", "down")) == "up",
            Amount.by("M12")(entry["potential"], f"the potential of {place.where}"),
            natural(entry["depth"], where),
        )
        if place.pair in result:
            raise RuleViolation(f"M12: {place.where} is listed twice")
        result[place.pair] = escape
        entries.append((place, entry))

    def driven(match: Match, escape: Escape) -> bool:
        after = result.get(match.classes)
        if after is None or after.rank > escape.rank:
            return False
        if after.rank < escape.rank:
            return True
        moved = (match.ratio if escape.up else 1 / match.ratio) * after.potential
        return after.up == escape.up and (
            moved > escape.potential or (moved == escape.potential and after.depth < escape.depth)
        )

    for place, entry in entries:
        escape = result[place.pair]

        def answered(pairing: Pairing, escape: Escape = escape) -> bool:
            return perfect(pairing, [m for m in pairing.matches if not driven(m, escape)])

        _never_answered(board, place, entry, answered, "M12")
    return result


def _check_losses(  # noqa: PLR0913, PLR0917
    board: Board,
    infinite: Mapping[Pair, Escape],
    table: object,
    window: Skew,
    pair: Pair,
    name: str,
) -> None:
    ranks: dict[tuple[Pair, Fraction], int] = {}
    entries = []
    for number, value in enumerate(items(table, name), 1):
        where = f"entry {number} of {name}"
        entry = record(value, where, ("pair", "credit", "rank", "side", "challenge"))
        place = board.place(entry, where)
        credit = Amount.by("M11")(entry["credit"], f"the credit of {place.where}")
        if (place.pair, credit) in ranks:
            raise RuleViolation(f"M11: {place.where}: the credit is listed twice")
        ranks[place.pair, credit] = natural(entry["rank"], where)
        entries.append((place, credit, entry))
    if (pair, ONE) not in ranks:
        raise RuleViolation(f"M11: {name} does not begin with the pair of its claim")
    for place, credit, entry in entries:
        rank = ranks[place.pair, credit]

        def answered(pairing: Pairing, credit: Fraction = credit, rank: int = rank) -> bool:
            safe = []
            for match in pairing.matches:
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
    relation: dict[Pair, Intervals] = {}
    places = []
    for number, value in enumerate(items(table, name), 1):
        where = f"entry {number} of {name}"
        entry = record(value, where, ("pair", "credits"))
        place = board.place(entry, where)
        if place.pair in relation:
            raise RuleViolation(f"M10: {place.where} is listed twice")
        intervals = []
        for interval in items(entry["credits"], where):
            low, high = (rational(end, where) for end in strings(interval, where, 2))
            if not (low <= high <= window and low * window >= 1):
                raise RuleViolation(f"M10: {place.where}: an interval of credits is not inside the window")
            intervals.append((low, high))
        relation[place.pair] = intervals
        places.append(place)
    if not any(low <= 1 <= high for low, high in relation.get(pair, [])):
        raise RuleViolation(f"M10: {name} does not hold its claim's pair with the credit 1")

    def inside(match: Match, credit: Fraction) -> bool:
        after = credit * match.ratio
        if match.classes[0] == match.classes[1]:
            return after <= window and after * window >= 1
        return any(low <= after <= high for low, high in relation.get(match.classes, ()))

    for place in places:
        for credit in _samples(board, place, relation, window):

            def answered(pairing: Pairing, credit: Fraction = credit) -> bool:
                return perfect(pairing, [m for m in pairing.matches if inside(m, credit)])

            located = Place(f"{place.where} at {shown(text_of(credit))}", place.states, place.pair)
            _all_answered(board, located, answered, "M10")


def _samples(board: Board, place: Place, relation: Mapping[Pair, Intervals], window: Skew) -> set[Fraction]:
    """Return one credit of each region of the entry's intervals in which the same matches are usable."""
    ends: set[Fraction] = set()
    wide = [(low, high) for low, high in relation[place.pair] if low < high]
    if wide:
        for n in board.steps[place.states[0]]:
            for m in board.answers(n, place.states[1]):
                for match in board.pairing(n, m).matches:
                    same = match.classes[0] == match.classes[1]
                    held = [(1 / window, window)] if same else relation.get(match.classes, [])
                    ends.update(end / match.ratio for interval in held for end in interval)
    result: set[Fraction] = set()
    for low, high in relation[place.pair]:
        cuts = sorted({low, high} | {end for end in ends if low < end < high})
        result.update(cuts)
        result.update((a + b) / 2 for a, b in pairwise(cuts))
    return result
