"""Bounds on the distances of a simpler model as bounds about the model, with their proofs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flint import fmpq

from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.distances.bound.compact import Asked
from bisimdist.faces.shown.answer import Status, together
from bisimdist.faces.shown.asked_pairs import indexed
from bisimdist.faces.shown.pair_bounds import PairBound, PairBounds
from bisimdist.faces.shown.proved import no_parts
from bisimdist.faces.written.reduced import joined_document, returned_document
from bisimdist.reductions.claim import Claim
from bisimdist.reductions.step import Step

if TYPE_CHECKING:
    from bisimdist.distances.bound.ask import BoundProblem

Document = dict[str, Any]
Sides = tuple[fmpq, fmpq]


def claim_of(asked: BoundProblem, states: tuple[str, ...], sides: Sides) -> Claim:
    """Return bounds on a distance as a claim."""
    return Claim.between(asked.distance, states, sides, (asked.alpha, asked.alpha))


def returned(asked: BoundProblem, found: DistanceAnswer, step: Step) -> DistanceAnswer:
    """Return an answer about the simpler model of a step as one about the model (`Problem.back`)."""
    proof = partial(_certificate, asked, found, step)
    if step.trivial:
        return replace(found, model=step.before, make_certificate=proof)
    if step.moves is not None and isinstance(found.pairs, PairBounds):
        known = replace(found.pairs.known, model=step.before, place=step.moves)  # type: ignore[type-var]
        pairs = PairBounds(indexed(step.before, asked.pairs), step.before.called, known)
        parts = partial(_parts, asked, found, step)
        return replace(found, model=step.before, pairs=pairs, make_certificate=proof, make_parts=parts)
    bounds = tuple(
        _returned(asked, states, pair, step) for states, pair in zip(asked.pairs, found.pairs, strict=True)
    )
    same = all((a.lower, a.upper) == (b.lower, b.upper) for a, b in zip(bounds, found.pairs, strict=True))
    ended = Status.LIMIT if step.unfinished or found.status is Status.LIMIT else Status.UPPER
    if not step.said(asked.distance):
        ended = found.status.of_bounds(exact=same)
    return replace(
        found,
        model=step.before,
        pairs=bounds,
        status=found.status if same else ended,
        make_certificate=proof,
        make_parts=no_parts,
    )


def _returned(asked: BoundProblem, states: tuple[str, ...], pair: PairBound, step: Step) -> PairBound:
    low, high = step.back(claim_of(asked, states, (pair.lower, pair.upper))).sides
    ways = None
    if pair.directions is not None:
        one, other = pair.directions
        ways = (
            step.back(claim_of(asked, states, one)).sides,
            step.back(claim_of(asked, states[::-1], other)).sides,
        )
    return PairBound(states[0], states[1], high, low, low == high, ways)


def _certificate(asked: BoundProblem, found: DistanceAnswer, step: Step) -> Document:
    states = asked.pairs
    if asked.distance == "lbd":
        states = tuple(way for pair in asked.pairs for way in (pair, pair[::-1]))
    if step.moves is None:
        document = found.certificate()
    else:
        document = found.make_certificate(tuple(dict.fromkeys(map(step.place, states))))
    return returned_document(document, step, dict.fromkeys(states))


def _parts(asked: BoundProblem, found: DistanceAnswer, step: Step) -> Iterator[bytes]:
    pairs = indexed(step.before, asked.pairs)
    if asked.distance == "lbd":
        pairs = tuple(dict.fromkeys(way for pair in pairs for way in (pair, pair[::-1])))
    return found.make_parts(Asked(step.before, pairs, (step.written(),)))


def joined(
    above: DistanceAnswer, below: Sequence[tuple[DistanceAnswer, int]], *, proved: bool
) -> DistanceAnswer:
    """Return the upper bounds of one answer with the lower bounds of others (`Problem.joined`)."""
    lowers = [answer.pairs[number] for answer, number in below]
    pairs = tuple(map(_within, above.pairs, lowers))
    exact = all(pair.exact for pair in pairs)
    statuses = (above.status, *(answer.status for answer, _ in below))
    status = together(statuses, exact=exact)
    if proved and not exact:
        status = Status.LIMIT if above.status is Status.LIMIT else Status.UPPER
    proof = partial(joined_document, above, below, proved=proved)
    return replace(above, pairs=pairs, status=status, make_certificate=proof, make_parts=no_parts)


def _within(above: PairBound, below: PairBound) -> PairBound:
    """Return the upper bounds of one answer with the lower bounds of another."""
    ways = None
    if above.directions is not None and below.directions is not None:
        one, other = (
            (low, high) for (low, _), (_, high) in zip(below.directions, above.directions, strict=True)
        )
        ways = one, other
    return replace(above, lower=below.lower, exact=below.lower == above.upper, directions=ways)


def lower_entries(document: Document) -> list[Document]:
    """Return what the lower bounds of a certificate rest on, of all its parts."""
    proofs = [part["proof"] for part in document.get("reduced", [{"proof": document}])]
    return [entry for proof in proofs for entry in proof["lower"]["pairs"]]
