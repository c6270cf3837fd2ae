"""Writes the proof of bounds as plain data: the certificate format, version 1 (docs/certificate-spec.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from flint import fmpq

from bisimdist.distances.bound.witnesses import Coupling, Witness, coupling, witness
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.ranking import Progress
from bisimdist.distances.engine.strategy import Values
from bisimdist.errors import UsageError
from bisimdist.exact.number import Unreduced
from bisimdist.faces.written.frame import frame
from bisimdist.faces.written.numbers import integer_text, rational_text
from bisimdist.models.interactive import Interactive, System

CLAIM_DIGITS = 4000  # integers of claims up to this length are decimal, as a person expects them

Entry = dict[str, object]
Found = TypeVar("Found")
Bounds = tuple[tuple[int, int], fmpq | Unreduced, fmpq | Unreduced]


def certificate_of(proof: Proof, pairs: Sequence[tuple[int, int]] | None = None) -> dict[str, object]:
    """Return the certificate of the bounds on some pairs, or on those that were asked.

    Only what these bounds rest on is written: the pairs that the couplings reach, and the pairs that the
    constraints on the potentials name.
    """
    proof = proof.whole()
    if pairs is not None:
        proof = replace(proof, question=replace(proof.question, asked=tuple(pairs)))
    question = proof.question
    claims = [(pair, *reversed(proof.claims(pair))) for pair in question.asked]
    return {**_frame(question.model, question.distance, question.alpha, claims), **_tables(proof)}


def trivial_certificate(
    model: System, distance: str, alpha: fmpq, bounds: Sequence[Bounds]
) -> dict[str, object]:
    """Return the certificate of bounds that need no proof: 0 and 1, and what the classes alone say."""
    result = _frame(model, distance, alpha, bounds)
    result["upper"] = {"pairs": []}
    result["lower"] = {"pairs": []}
    return result


def _check_lengths(model: System) -> None:
    """Refuse models whose numbers no reader of certificates takes."""
    longest = max(
        (max(p.p.bit_length(), p.q.bit_length()) for rows in model.arms for row in rows for _, p in row),
        default=0,
    )
    if longest * 30103 // 100000 >= CLAIM_DIGITS:
        raise UsageError(
            f"a probability of the model has more than {CLAIM_DIGITS} digits: no certificate can hold it"
        )


def frame_of(model: System, distance: str, alpha: fmpq) -> dict[str, object]:
    """Return what the certificate of a distance says of what it is about."""
    _check_lengths(model)
    return {**frame(model), "distance": distance, "alpha": rational_text(alpha)}


def _frame(model: System, distance: str, alpha: fmpq, claims: Iterable[Bounds]) -> dict[str, object]:
    said = [
        {
            "from": model.states[s],
            "to": model.states[t],
            "upper": rational_text(upper, digits=CLAIM_DIGITS),
            "lower": rational_text(lower, digits=CLAIM_DIGITS),
        }
        for (s, t), upper, lower in claims
    ]
    return {**frame_of(model, distance, alpha), "claims": said}


def _tables(proof: Proof) -> dict[str, object]:
    upper = _closure(proof, partial(_couplings, proof))
    above = {pair: _upper_entry(proof, pair, couplings) for pair, couplings in upper.items()}
    lower = _closure(proof, partial(_witness, proof, set()))
    below = {pair: _lower_entry(proof, pair, found) for pair, found in lower.items() if found}
    return {"upper": _table(proof.upper_values, above), "lower": _table(proof.lower_values, below)}


def _table(values: Values, entries: Mapping[int, Entry]) -> dict[str, object]:
    """Write the entries with their values, over the least denominator that serves them all."""
    chosen = sorted(entries)
    numerators = [values.numerators[pair] for pair in chosen]
    shared = values.denominator
    for numerator in numerators:
        shared = shared.gcd(numerator)
    made = []
    for pair, numerator in zip(chosen, numerators, strict=True):
        entry = entries[pair]
        made.append({"pair": entry.pop("pair"), "value": integer_text(numerator // shared), **entry})
    return {"denominator": integer_text(values.denominator // shared), "pairs": made}


def _closure(proof: Proof, look: Callable[[int], tuple[Found, Iterable[int]]]) -> dict[int, Found]:
    """Look at the pairs that were asked, and at all that these name in turn."""
    asked = (proof.question.number(pair) for pair in proof.question.asked)
    stack = sorted({number for number in asked if number is not None})
    result: dict[int, Found] = {}
    waiting = set(stack)
    while stack:
        pair = stack.pop()
        result[pair], others = look(pair)
        for other in others:
            if other not in waiting:
                waiting.add(other)
                stack.append(other)
    return result


def _couplings(proof: Proof, pair: int) -> tuple[tuple[Coupling, ...], set[int]]:
    """Return the couplings of all sides, and the numbers of the pairs to which they move mass."""
    functional = proof.question.functional
    start = functional.width * pair
    sides = range(start, start + functional.width, 2 if functional.space.ordered else 1)
    found = tuple(coupling(proof.upper_strategy, side) for side in sides)
    return found, {functional.space.number(i, j) for side in found for i, j in side.moves}


def _witness(proof: Proof, named: set[int], pair: int) -> tuple[tuple[int, Witness] | None, Iterable[int]]:
    """Return the side and potential behind a lower bound, and the numbers of the pairs that limit it.

    The classes in `named` have been named as a whole before, and are not named again.
    """
    functional = proof.question.functional
    if proof.lower_values.numerators[pair] == 0:
        return None, set()
    side = proof.lower_strategy.side(pair)
    found = witness(proof.lower_strategy, side)
    space = functional.space
    if functional.detours:
        # potentials have to extend to whole classes, so all pairs of the classes limit them
        fresh = {space.classes[state] for state in found} - named
        named |= fresh
        return (side, found), [number for kind in sorted(fresh) for number in space.of_class(kind)]
    limits = {
        number for index in functional.programs_of(side) for number in functional.batch.programs[index].cells
    }
    return (side, found), limits


def _upper_entry(proof: Proof, pair: int, couplings: tuple[Coupling, ...]) -> Entry:
    model = proof.question.model
    s, t = proof.question.functional.space.pairs[pair]
    head: Entry = {"pair": [model.states[s], model.states[t]]}
    sides = iter(couplings)
    directions = ("forward",) if proof.question.functional.space.ordered else ("forward", "backward")
    facing = model.facing(s, t)
    arms = [
        {direction: coupling_entry(model.states, next(sides)) for direction in directions} for _ in facing
    ]
    if not isinstance(model, Interactive):
        return {**head, **arms[0]}
    offered = {
        model.facing_name(s, t, number): arm
        for number, ((here, _), arm) in enumerate(zip(facing, arms, strict=True))
        if model.arms[here][s]
    }
    return {**head, "actions": offered}


def coupling_entry(names: Sequence[str], found: Coupling) -> Entry:
    """Write a coupling."""
    return {
        "moves": [[names[i], names[j], rational_text(w)] for (i, j), w in sorted(found.moves.items())],
        "given_up": [[names[i], rational_text(w)] for i, w in sorted(found.given_up.items())],
    }


def _lower_entry(proof: Proof, pair: int, found: tuple[int, Witness]) -> Entry:
    model, functional = proof.question.model, proof.question.functional
    names = model.states
    side, potential = found
    s, t = functional.ordered(side)
    entry: Entry = {
        "pair": [names[s], names[t]],
        "witness": witness_entry(names, potential),
    }
    if isinstance(model, Interactive):
        entry["action"] = model.facing_name(*functional.space.pairs[pair], functional.arm(side))
    ranked = None if proof.ranked is None else proof.ranked.get(pair)
    if ranked is not None:
        entry.update(rank=ranked.rank, progress=progress_entry(names, ranked.progress))
    return entry


def witness_entry(names: Sequence[str], potential: Witness) -> Entry:
    """Write a potential."""
    return {
        names[i]: [spec[0], names[spec[1]]] if isinstance(spec, tuple) else rational_text(spec)
        for i, spec in sorted(potential.items())
    }


def progress_entry(names: Sequence[str], progress: Progress) -> Entry:
    """Write why no mass stays."""
    if progress.stuck is not None:
        return {"stuck": names[progress.stuck]}
    states = {names[i]: rational_text(y) for i, y in sorted(progress.potential.items())}
    return {"classes": [], "states": states}
