"""Writes the proof of bounds by coupled runs, about states although the couplings are those of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from bisimdist.distances.bound.certificate import coupling_entry, trivial_certificate
from bisimdist.distances.bound.witnesses import Coupling
from bisimdist.distances.engine.lockstep import UNIT, Lockstep
from bisimdist.errors import LimitError
from bisimdist.faces.written.numbers import integer_text

Pair = tuple[int, int]

MOST = 200_000  # so many pairs a proof may have


def lockstep_certificate(
    found: Lockstep, distance: str, alpha: fmpq, asked: Sequence[Pair]
) -> dict[str, object]:
    """Return the certificate of the upper bounds of some pairs, for any alpha (docs/theory/upper-bounds.md).

    Raises LimitError if the proof would be too long.
    """
    ordered = distance == "lbd"
    bounds = [(pair, fmpq(found.value(*pair), UNIT), fmpq(0)) for pair in asked]
    document = trivial_certificate(found.model, distance, alpha, bounds)
    names = found.model.states
    pairs: list[dict[str, Any]] = []
    for (s, t), lifted in _needed(found, asked, ordered=ordered).items():
        entry: dict[str, object] = {"pair": [names[s], names[t]], "value": integer_text(found.value(s, t))}
        entry["forward"] = coupling_entry(names, lifted.forward)
        if not ordered:
            entry["backward"] = coupling_entry(names, lifted.backward)
        pairs.append(entry)
    document["upper"] = {"denominator": integer_text(UNIT), "pairs": pairs}
    return document


@dataclass(frozen=True, slots=True)
class Lifted:
    """A coupling of the rows of two states, and what it leaves over of either."""

    moves: Mapping[Pair, fmpq]  # by two different states how much is coupled
    left: dict[int, fmpq]
    missing: dict[int, fmpq]

    @property
    def forward(self) -> Coupling:
        """The coupling as the first state sees it."""
        return Coupling(self.moves, self.left)

    @property
    def backward(self) -> Coupling:
        """The coupling as the second state sees it."""
        return Coupling({(j, i): mass for (i, j), mass in self.moves.items()}, self.missing)


def lift(found: Lockstep, s: int, t: int) -> Lifted:
    """Return the coupling of two states that comes down to the one of their classes.

    What both rows give to a state stays where it is. All else goes from class to class as it does there.
    """
    if found.place[s] > found.place[t]:
        turned = lift(found, t, s)
        return Lifted(turned.backward.moves, turned.missing, turned.left)
    first, second = (dict(found.model.rows[state]) for state in (s, t))
    flows = {(here, there): mass for here, there, mass in found.flows(s, t)}
    for state in first.keys() & second.keys():
        both = min(first[state], second[state])
        flows[found.place[state], found.place[state]] -= both
        first[state], second[state] = first[state] - both, second[state] - both
    sources, sinks = _cells(found.place, first), _cells(found.place, second)
    moves: dict[Pair, fmpq] = {}
    for (here, there), mass in flows.items():
        left = mass
        while left:
            one, other = sources[here][-1], sinks[there][-1]
            moved = min(left, one[1], other[1])
            key = one[0], other[0]
            moves[key] = moves.get(key, fmpq(0)) + moved
            left, one[1], other[1] = left - moved, one[1] - moved, other[1] - moved
            for cell in (sources[here], sinks[there]):
                if not cell[-1][1]:
                    cell.pop()
    over = [{state: mass for cell in side.values() for state, mass in cell} for side in (sources, sinks)]
    return Lifted(moves, *over)


def _cells(place: Sequence[int], row: dict[int, fmpq]) -> dict[int, list[list[Any]]]:
    """Return the entries of a row by class."""
    cells: dict[int, list[list[Any]]] = {}
    for state in sorted(row):
        if row[state]:
            cells.setdefault(place[state], []).append([state, row[state]])
    return cells


def _needed(found: Lockstep, asked: Sequence[Pair], *, ordered: bool) -> dict[Pair, Lifted]:
    """Return couplings of pairs below 1: of those asked, and of those that these couplings lead to."""
    known: dict[Pair, Lifted] = {}

    def add(pair: Pair) -> None:
        s, t = pair if ordered else sorted(pair)
        if s != t and (s, t) not in known and found.value(s, t) < UNIT:
            known[s, t] = lift(found, s, t)
            waiting.append((s, t))

    waiting: list[Pair] = []
    for pair in asked:
        add(pair)
    while waiting:
        if len(known) > MOST:
            raise LimitError("the proof would be too long")
        for target in known[waiting.pop()].moves:
            add(target)
    return known
