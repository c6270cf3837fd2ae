"""Writes the proof of a bisimulation metric as plain data (docs/certificates/metric.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.automata.engine.accumulative import Accumulated
from bisimdist.automata.engine.amortised import Amortised
from bisimdist.automata.engine.game import SAME, Arena, Challenge
from bisimdist.automata.engine.relation import Relation, RelationVerdict
from bisimdist.automata.engine.windows import Credits
from bisimdist.automata.engine.witness import Loss
from bisimdist.errors import UsageError
from bisimdist.faces.written.frame import Document, bounds_claim, document
from bisimdist.faces.written.numbers import rational_text, value_text
from bisimdist.models.pa import PA
from bisimdist.models.reach import all_reached


@dataclass(frozen=True, slots=True)
class ProvedPair:
    """A pair with its bounds (None is infinity) and, for the amortised metric, what proves them."""

    source: int
    target: int
    lower: fmpq | None
    upper: fmpq | None
    position: int | None = None
    # the running products of the relation behind a finite upper bound
    held: Mapping[int, Credits] | None = None
    # the challenger's strategy behind a finite lower bound
    losses: Mapping[tuple[int, fmpq], Loss] = field(default_factory=dict)


def _frame(arena: Arena, metric: str, proved: Sequence[ProvedPair]) -> Document:
    names = arena.automaton.states
    claims = [bounds_claim(names[pair.source], names[pair.target], pair.lower, pair.upper) for pair in proved]
    return document("metric", arena.automaton, metric=metric, claims=claims)


def _names(arena: Arena, position: int) -> list[str]:
    s, t = arena.states_of(position)
    return [arena.automaton.states[s], arena.automaton.states[t]]


def _challenge(challenge: Challenge) -> int:
    """Return the number of the transition, counted from one: it says which side moves, too."""
    return challenge.transition + 1


def accumulative_certificate(values: Accumulated, proved: Sequence[ProvedPair]) -> Document:
    """Return the certificate: one table of values, with ranks and challenges for the lower bounds."""
    arena = values.arena
    result = _frame(arena, "accumulative", proved)
    starts = [arena.position(pair.source, pair.target) for pair in proved]
    needed = _reachable(arena, (p for p in starts if p is not None and p != SAME))
    result["upper"] = [
        {"pair": _names(arena, position), "value": value_text(values.values[position])}
        for position in needed
        if values.values[position] is not None
    ]
    result["lower"] = [
        {
            "pair": _names(arena, position),
            "value": value_text(values.values[position]),
            "rank": values.ranks[position],
            "side": values.challenges[position].side,
            "challenge": _challenge(values.challenges[position]),
        }
        for position in needed
    ]
    return result


def _reachable(arena: Arena, starts: Iterable[int]) -> list[int]:
    def after(position: int) -> Iterable[int]:
        for challenge in arena.challenges[position]:
            for number, _ in challenge.answers:
                yield from (edge.position for edge in arena.duels[number].edges if edge.position != SAME)

    return sorted(all_reached(starts, after))


def amortised_certificate(values: Amortised, proved: Sequence[ProvedPair]) -> Document:
    """Return the certificate: infinite positions once, a relation and a losing play for each claim."""
    arena = values.arena
    result = _frame(arena, "amortised", proved)
    result["infinite"] = [
        {
            "pair": _names(arena, position),
            "rank": escape.rank,
            "direction": "up" if escape.up else "down",
            "potential": rational_text(escape.potential),
            "depth": escape.depth,
            "side": escape.challenge.side,
            "challenge": _challenge(escape.challenge),
        }
        for position, escape in sorted(values.escapes.items())
    ]
    result["relations"] = [
        [
            {
                "pair": _names(arena, position),
                "credits": [[rational_text(low), rational_text(high)] for low, high in credits],
            }
            for position, credits in sorted((pair.held or {}).items())
            if credits
        ]
        for pair in proved
    ]
    result["losses"] = [
        [
            {
                "pair": _names(arena, position),
                "credit": rational_text(credit),
                "rank": loss.rank,
                "side": loss.challenge.side,
                "challenge": _challenge(loss.challenge),
            }
            for (position, credit), loss in sorted(pair.losses.items(), key=lambda item: item[1].rank)
        ]
        for pair in proved
    ]
    return result


def relation_certificate(automaton: PA, kind: str, relation: Relation, verdict: RelationVerdict) -> Document:
    """Return the certificate of the upper bounds that a relation proves.

    Raises UsageError if the relation is no bisimulation, or bounds the distance of no pair.
    """
    arena = Arena(automaton, sorted({(s, t) for s, t, _ in relation.triples}))
    claimed = [(s, t) for s, t in verdict.proved if verdict.holds and arena.position(s, t) != SAME]
    if not claimed:
        raise UsageError("the relation bounds no distance: there is no certificate to write")
    credits: dict[int, set[fmpq]] = {}
    for s, t, credit in relation.triples:
        position = arena.position(s, t)
        if position is not None and position != SAME:
            credits.setdefault(position, set()).add(credit)
    proved = [ProvedPair(s, t, fmpq(1), verdict.ratio) for s, t in claimed]
    result = _frame(arena, kind, proved)
    if kind == "accumulative":
        result["upper"] = [
            {"pair": _names(arena, position), "value": rational_text(verdict.ratio / max(found))}
            for position, found in sorted(credits.items())
        ]
        return {**result, "lower": []}
    held = [
        {
            "pair": _names(arena, position),
            "credits": [[rational_text(credit)] * 2 for credit in sorted(found)],
        }
        for position, found in sorted(credits.items())
    ]
    return {**result, "infinite": [], "relations": [held for _ in proved], "losses": [[] for _ in proved]}
