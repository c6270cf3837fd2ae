"""Writes proofs about simpler models as proofs about the model (docs/certificates/reduced.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flint import fmpq

from bisimdist.exact.scale import Value
from bisimdist.faces.written.frame import frame
from bisimdist.faces.written.numbers import rational_of, rational_text
from bisimdist.reductions.claim import Above, Below, Claim
from bisimdist.reductions.step import Step

Document = dict[str, Any]
States = tuple[str, ...]
CLAIM_DIGITS = 4000


FRAME = ("format", "version", "kind", "program", "model", "digest")
BESIDE = {"from", "to", "states", "lower", "upper", "direction", "event", "probabilities", "sequence"}
"""What a claim says beside its terms: the states, the bounds, and what proves them."""
SHARES = {"bd", "lbd", "delta", "delta of fixed sequences", "tv", "chi2", "kl", "hellinger", "bayes"}


def returned_document(document: Document, step: Step, asked: Iterable[States], about: Any = None) -> Document:
    """Return a proof about the simpler model of a step as one about the model before it.

    asked: the states that are claimed something of, by their names before the step.
    about: what else defines the quantity.
    Raises UsageError if the checker knows no way back for what is claimed.
    """
    framed = {key: document[key] for key in FRAME if key in document}
    framed |= frame(step.before, document.get("kind"))
    if step.trivial:
        return framed | {key: part for key, part in document.items() if key not in FRAME}
    inside: dict[States, Document] = {}
    for claim in _claims(document):
        inside.setdefault(_states(claim), claim)
    claims = []
    for states in asked:
        place = step.place(states)
        if place in inside:
            claims.append(_returned(inside[place], step, states, place, about))
    parts = document.get("reduced")
    if parts is None:
        parts = [{"steps": [], "proof": {k: part for k, part in document.items() if k not in FRAME}}]
    return {
        **framed,
        "claims": claims,
        "reduced": [{"steps": step.leading(part["steps"]), "proof": part["proof"]} for part in parts],
    }


def joined_document(above: Any, below: Sequence[tuple[Any, int]], *, proved: bool) -> Document:
    """Return the proof of upper bounds of one answer and, where these are `proved`, lower ones of others."""
    document: Document = above.certificate()
    if not proved:
        return document
    members = [answer.certificate() for answer, _ in below]
    lowers = {
        _states(claim): claim["lower"] for found in members for claim in found["claims"] if "lower" in claim
    }
    claims = [
        {**claim, "lower": lowers.get(_states(claim), claim.get("lower", "0"))}
        for claim in document["claims"]
    ]
    parts = [part for found in (document, *members) for part in found["reduced"]]
    return {**document, "claims": claims, "reduced": parts}


def _claims(document: Document) -> list[Document]:
    """Return the claims of a certificate with all that defines what is claimed."""
    if "reduced" in document:
        return list(document["claims"])
    kind = document.get("kind")
    if kind is None:
        terms = {"distance": document["distance"], "alpha": document["alpha"]}
    elif kind == "delta":
        alphas = document["alpha"]
        low, high = alphas["upper"], alphas["lower"]
        quantity = "delta of fixed sequences" if "fixed" in document else "delta"
        terms = {"quantity": quantity, "alpha": high if low == high else [low, high]}
    else:
        terms = {
            "quantity": document["measure"],
            **({"gains": document["gains"]} if "gains" in document else {}),
        }
    return [{**claim, **terms} for claim in document["claims"]]


def _states(claim: Document) -> States:
    return tuple(claim["states"]) if "states" in claim else (claim["from"], claim["to"])


def _returned(claim: Document, step: Step, states: States, places: States, about: Any) -> Document:
    terms = {name: value for name, value in claim.items() if name not in BESIDE}
    quantity = str(terms.get("quantity", terms.get("distance")))
    step.check_provable(quantity)
    if "gains" in terms:
        terms["gains"] = {guess: _renamed(row, places, states) for guess, row in terms["gains"].items()}
    alpha = terms.get("alpha", "1")
    upper, lower = map(rational_of, alpha if isinstance(alpha, list) else (alpha, alpha))
    found = step.back(
        Claim(
            quantity=quantity,
            states=states,
            below=Below(_value(claim["lower"])) if "lower" in claim else None,
            above=Above(_value(claim["upper"])) if "upper" in claim else None,
            alphas=(lower, upper),
            about=about,
        )
    )
    if found.quantity != quantity:
        terms = {"quantity": found.quantity, **{name: terms[name] for name in terms if name != "distance"}}
    below = found.below
    if below is None and found.above is not None:
        least = _least(found.quantity)
        below = None if least is None else Below(least)
    pair = (
        {"from": states[0], "to": states[1]}
        if len(states) == 2 and "prior" not in terms
        else {"states": list(states)}
    )
    sides = {side: at.value for side, at in (("lower", below), ("upper", found.above)) if at is not None}
    return {
        **pair,
        **terms,
        **step.terms(),
        **{
            side: "inf" if at is None else rational_text(at, digits=CLAIM_DIGITS)
            for side, at in sides.items()
        },
    }


def _renamed(row: Mapping[str, str], places: States, states: States) -> dict[str, str]:
    return {
        state: row[place] for place, state in zip(places, states, strict=True) if row.get(place, "0") != "0"
    }


def _least(quantity: str) -> fmpq | None:
    """Return what a quantity is at least, whatever the model."""
    if quantity == "min-entropy" or quantity.startswith("renyi"):
        return fmpq(1)
    return fmpq(0) if quantity in SHARES else None


def _value(text: str) -> Value:
    return None if text == "inf" else rational_of(text)
