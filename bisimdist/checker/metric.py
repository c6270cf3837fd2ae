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

from bisimdist.checker.chain import read_chain
from bisimdist.checker.metric_arena import Automaton, Board, Match, Pairing, perfect, read_automaton
from bisimdist.checker.other import OtherReport
from bisimdist.checker.quantities import Amount, Skew
from bisimdist.checker.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    item,
    items,
    natural,
    rational,
    record,
    shown,
    strings,
    text_of,
)

__all__ = ["check_document", "given_automaton"]

Pair = tuple[int, int]
Bound = Fraction | None
"""None is infinity."""

COMMON = ("format", "version", "kind", "model", "digest", "metric", "claims")
TABLES = {"accumulative": ("upper", "lower"), "amortised": ("infinite", "relations", "losses")}


@dataclass(frozen=True)
class Claim:
    """A claim: two states and bounds on e to their distance."""

    source: str
    target: str
    upper: Bound
    lower: Bound


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``metric`` and, where it is given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    metric = choice(document.get("metric"), "the metric", TABLES)
    record(document, "the certificate", COMMON + TABLES[metric])
    claims = [_claim(value, n) for n, value in enumerate(items(document["claims"], "the claims"), 1)]
    if not claims:
        raise MalformedCertificate("the certificate claims nothing")
    data = tuple(
        {
            "metric": metric,
            "quantity": "e^distance",
            "from": claim.source,
            "to": claim.target,
            "upper": _text(claim.upper),
            "lower": _text(claim.lower),
        }
        for claim in claims
    )
    given = None if model is None else given_automaton(model)
    try:
        automaton = read_automaton(document["model"])
        if document["digest"] != automaton.digest():
            raise RuleViolation("M2: the digest is not that of the embedded model")
        if given is not None and given.digest() != automaton.digest():
            raise RuleViolation("M3: the certificate is about another model than the one that is given")
        board = Board(automaton)
        for number, claim in enumerate(claims, 1):
            for name in (claim.source, claim.target):
                if name not in board.steps:
                    raise RuleViolation(f"M4: claim {number} names {shown(name)}, which is no state")
            for side, bound in (("lower", claim.lower), ("upper", claim.upper)):
                if bound is not None:
                    Skew.of(bound, f"M4: the {side} bound of claim {number}")
        if metric == "accumulative":
            _check_accumulative(board, document, claims)
        else:
            _check_amortised(board, document, claims)
    except RuleViolation as violation:
        return OtherReport(False, data, str(violation))
    return OtherReport(True, data)


def _text(bound: Bound) -> str:
    return "inf" if bound is None else text_of(bound)


def given_automaton(model: object) -> Automaton:
    """Return the automaton of a model file; of a chain the one whose actions are its labels.

    Raises
    ------
    MalformedCertificate
        If the data make no automaton.
    """
    try:
        if isinstance(model, dict) and model.get("kind") == "lmc":
            chain = read_chain(model)
            rows = [(state, label, dict(chain.rows[state])) for state, label in chain.labels.items()]
            return Automaton(list(chain.labels), rows)
        return read_automaton(model)
    except RuleViolation as violation:
        raise MalformedCertificate(f"the model that is given: {violation}") from violation


def _bound(value: object, where: str) -> Bound:
    return None if value == "inf" else rational(value, where)


def _claim(value: object, number: int) -> Claim:
    where = f"claim {number}"
    entry = record(value, where, ("from", "to", "upper", "lower"))
    return Claim(
        item(entry["from"], where),
        item(entry["to"], where),
        _bound(entry["upper"], where),
        _bound(entry["lower"], where),
    )


@dataclass(frozen=True)
class Place:
    """An entry of a table: where it stands, its states and its classes."""

    where: str
    states: tuple[str, str]
    pair: Pair


def _place(board: Board, entry: Mapping[str, Any], where: str) -> Place:
    first, second = strings(entry["pair"], f"the pair of {where}", 2)
    for name in (first, second):
        if name not in board.steps:
            raise RuleViolation(f"M4: {where} names {shown(name)}, which is no state")
    where = f"{where}, [{shown(first)}, {shown(second)}]"
    return Place(where, (first, second), (board.classes[first], board.classes[second]))


def _all_answered(board: Board, place: Place, answered: Callable[[Pairing], bool], rule: str) -> None:
    for side in (0, 1):
        mine, other = place.states[side], place.states[1 - side]
        for n in board.steps[mine]:
            pairings = (
                board.pairing(n, m) if side == 0 else board.pairing(m, n) for m in board.answers(n, other)
            )
            if not any(answered(pairing) for pairing in pairings):
                raise RuleViolation(
                    f"{rule}: {place.where}: transition {n + 1}, of {shown(mine)}, has no answer"
                )


def _never_answered(
    board: Board, place: Place, entry: Mapping[str, Any], answered: Callable[[Pairing], bool], rule: str
) -> None:
    side = natural(entry["side"], f"the side of {place.where}")
    n = natural(entry["challenge"], f"the challenge of {place.where}") - 1
    if side > 1 or not 0 <= n < len(board.automaton.transitions):
        raise RuleViolation(f"{rule}: {place.where}: there is no such challenge")
    if board.automaton.transitions[n][0] != place.states[side]:
        raise RuleViolation(f"{rule}: {place.where}: the challenge is no transition of that side")
    for m in board.answers(n, place.states[1 - side]):
        if answered(board.pairing(n, m) if side == 0 else board.pairing(m, n)):
            raise RuleViolation(f"{rule}: {place.where}: transition {m + 1} is an answer to the challenge")


# ------------------------------------------------------------------------------------------ accumulative


def _check_accumulative(board: Board, document: Mapping[str, Any], claims: list[Claim]) -> None:
    upper = _upper_values(board, document["upper"])
    lower = _lower_values(board, document["lower"])
    for number, claim in enumerate(claims, 1):
        pair = board.classes[claim.source], board.classes[claim.target]
        same = pair[0] == pair[1]
        proved = Fraction(1) if same else upper.get(pair)
        if claim.upper is not None and (proved is None or claim.upper < proved):
            raise RuleViolation(f"M5: claim {number}: the upper bound is less than the table's")
        if claim.lower == 1:
            continue
        if board.shape_of[pair[0]] != board.shape_of[pair[1]]:
            continue  # infinitely far
        found = lower.get(pair)
        if found is None or not _at_least(found[0], claim.lower):
            raise RuleViolation(f"M6: claim {number}: the lower bound is more than the table's")


def _at_least(value: Bound, other: Bound) -> bool:
    return value is None or (other is not None and value >= other)


def _upper_values(board: Board, table: object) -> dict[Pair, Skew]:
    values: dict[Pair, Skew] = {}
    places = []
    for number, value in enumerate(items(table, "the upper table"), 1):
        entry = record(value, f"entry {number} of the upper table", ("pair", "value"))
        place = _place(board, entry, f"entry {number} of the upper table")
        if place.pair in values:
            raise RuleViolation(f"M7: {place.where} is listed twice")
        values[place.pair] = Skew.read(entry["value"], f"the value of {place.where}", "M7")
        places.append(place)

    def reached(match: Match, most: Fraction) -> bool:
        first, second = match.classes
        after = Fraction(1) if first == second else values.get(match.classes)
        return after is not None and after <= most

    for place in places:
        value = values[place.pair]

        def answered(pairing: Pairing, value: Fraction = value) -> bool:
            sizes = {match.size for match in pairing.matches} | {Fraction(1)}
            return any(
                perfect(pairing, [m for m in pairing.matches if m.size <= size and reached(m, value / size)])
                for size in sorted(sizes)
            )

        _all_answered(board, place, answered, "M7")
    return values


def _lower_values(board: Board, table: object) -> dict[Pair, tuple[Skew | None, int]]:
    values: dict[Pair, tuple[Skew | None, int]] = {}
    entries = []
    for number, value in enumerate(items(table, "the lower table"), 1):
        where = f"entry {number} of the lower table"
        entry = record(value, where, ("pair", "value", "rank", "side", "challenge"))
        place = _place(board, entry, where)
        if place.pair in values:
            raise RuleViolation(f"M8: {place.where} is listed twice")
        if place.pair[0] == place.pair[1]:
            raise RuleViolation(f"M8: {place.where}: the states are at distance 0")
        bound = None if entry["value"] == "inf" else Skew.read(entry["value"], where, "M8")
        values[place.pair] = bound, natural(entry["rank"], where)
        entries.append((place, entry))

    def hit(match: Match, size: Fraction, value: Bound, rank: int) -> bool:
        """Tell whether a match of a bijection of that size leaves the challenger enough."""
        after, after_rank = values.get(match.classes, (Fraction(1), 0))
        if after is None:
            return value is not None or size > 1 or after_rank < rank
        if value is None or size * after < value:
            return False
        return size > 1 or after > value or after_rank < rank

    for place, entry in entries:
        value, rank = values[place.pair]

        def answered(pairing: Pairing, value: Bound = value, rank: int = rank) -> bool:
            sizes = sorted({match.size for match in pairing.matches}) or [Fraction(1)]
            return any(
                perfect(
                    pairing, [m for m in pairing.matches if m.size <= size and not hit(m, size, value, rank)]
                )
                for size in sizes
            )

        _never_answered(board, place, entry, answered, "M8")
    return values


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
    for number, claim in enumerate(claims, 1):
        pair = board.classes[claim.source], board.classes[claim.target]
        same = pair[0] == pair[1]
        if claim.upper is not None and not same:
            _check_relation(board, relations[number - 1], Skew(claim.upper), pair, f"relation {number}")
        if claim.lower == 1 or _infinitely_far(board, infinite, pair):
            continue
        if claim.lower is None:
            raise RuleViolation(f"M11: claim {number}: nothing proves the lower bound")
        _check_losses(board, infinite, losses[number - 1], Skew(claim.lower), pair, f"losses {number}")


def _infinitely_far(board: Board, infinite: Mapping[Pair, Escape], pair: Pair) -> bool:
    return board.shape_of[pair[0]] != board.shape_of[pair[1]] or pair in infinite


def _infinite(board: Board, table: object) -> dict[Pair, Escape]:
    keys = ("pair", "rank", "direction", "potential", "depth", "side", "challenge")
    result: dict[Pair, Escape] = {}
    entries = []
    for number, value in enumerate(items(table, "the infinite positions"), 1):
        where = f"infinite position {number}"
        entry = record(value, where, keys)
        place = _place(board, entry, where)
        escape = Escape(
            natural(entry["rank"], where),
            choice(entry["direction"], f"the direction of {where}", ("up", "down")) == "up",
            Amount.read(entry["potential"], f"the potential of {place.where}", "M12"),
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
        place = _place(board, entry, where)
        credit = Amount.read(entry["credit"], f"the credit of {place.where}", "M11")
        if (place.pair, credit) in ranks:
            raise RuleViolation(f"M11: {place.where}: the credit is listed twice")
        ranks[place.pair, credit] = natural(entry["rank"], where)
        entries.append((place, credit, entry))
    if (pair, Fraction(1)) not in ranks:
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
        place = _place(board, entry, where)
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
