"""Certificates of kind ``hmm-budget``: budgets of hidden Markov models at a length.

The rules are named H (the model), W (words) and L (layers) as in ``docs/certificates/hmm.md``; why they prove
the claims is in ``docs/theory/hmm.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.hidden_markov import HiddenMarkov, NumericMarkov, embedded_model, read_length
from bisimdist.checker.core.quantities import Mass
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    integer,
    item,
    items,
    rational,
    record,
    shown,
    strings,
)

__all__ = ["check_document"]

FRAME = ("format", "version", "kind", "model", "digest", "length", "up_to", "claims", "proofs")
MASSES = (("ratio", "L1"), ("start", "L2"))

Vector = Mapping[str, Fraction]


@dataclass(frozen=True)
class _Frame:
    """What all claims of a certificate share."""

    model: HiddenMarkov
    length: int
    up_to: bool


def check_document(document: dict[str, object], model: object | None = None) -> OtherReport:
    """Check a certificate of kind ``hmm-budget``.

    Parameters
    ----------
    document
        The certificate, decoded.
    model
        The model that it has to be about; None for any.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate.
    """
    data = record(document, "the certificate", FRAME, ("factors",))
    length = read_length(data["length"])
    if not isinstance(data["up_to"], bool):
        raise MalformedCertificate(f"up_to is {shown(data['up_to'])}; expected true or false")
    claims = tuple(_claim(claim) for claim in items(data["claims"], "the claims"))
    proofs = [_proof(proof) for proof in items(data["proofs"], "the proofs")]
    shown_claims = tuple({**claim, "length": str(length), "up_to": data["up_to"]} for claim in claims)
    try:
        frame = _Frame(embedded_model(data, model), length, data["up_to"])
        proved = _proved(frame, proofs)
        for number, claim in enumerate(claims, 1):
            _check_claim(frame, claim, proved, f"claim {number}")
    except RuleViolation as violation:
        return OtherReport(False, shown_claims, str(violation))
    return OtherReport(True, shown_claims)


def _claim(entry: object) -> dict[str, Any]:
    where = "a claim"
    claim = record(entry, where, ("from", "to", "ratio", "holds"), ("word", "probabilities", "parameters"))
    for key in ("from", "to"):
        item(claim[key], where)
    if claim["ratio"] != "inf":
        rational(claim["ratio"], where)
    if not isinstance(claim["holds"], bool):
        raise MalformedCertificate(f"{where} holds {shown(claim['holds'])}; expected true or false")
    given = sum(key in claim for key in ("word", "probabilities", "parameters"))
    if given not in (0, 3) or not (claim["holds"] or given):
        raise MalformedCertificate(f"{where} has no word with its probabilities and parameters")
    if given:
        for symbol in items(claim["word"], where):
            item(symbol, where)
        for text in strings(claim["probabilities"], where, 2):
            rational(text, where)
        if not isinstance(claim["parameters"], dict):
            raise MalformedCertificate(f"the parameters of {where} are not an object")
        for value in claim["parameters"].values():
            rational(value, where)
    return claim


def _proof(entry: object) -> dict[str, Any]:
    proof = record(entry, "a proof", ("from", "to", "ratio", "start", "layers", "covers"))
    for key in ("from", "to"):
        item(proof[key], "a proof")
    layers = []
    for layer in items(proof["layers"], "the layers"):
        vectors = []
        for vector in items(layer, "a layer"):
            if not isinstance(vector, dict):
                raise MalformedCertificate(f"a vector is {shown(vector)}; expected an object")
            vectors.append({state: Fraction(integer(v, "an entry")) for state, v in vector.items()})
        layers.append(vectors)
    covers: list[list[dict[str, tuple[int, Fraction]]]] = []
    for layer in items(proof["covers"], "the covers"):
        rows = []
        for row in items(layer, "the covers of a layer"):
            if not isinstance(row, dict):
                raise MalformedCertificate(f"a cover is {shown(row)}; expected an object")
            read = {}
            for symbol, cover in row.items():
                index, factor = strings(cover, "a cover", 2)
                read[symbol] = (integer(index, "a cover"), rational(factor, "a cover"))
            rows.append(read)
        covers.append(rows)
    return {
        "from": proof["from"],
        "to": proof["to"],
        "ratio": rational(proof["ratio"], "a proof"),
        "start": rational(proof["start"], "a proof"),
        "layers": layers,
        "covers": covers,
    }


def _check_claim(
    frame: _Frame, claim: Mapping[str, Any], proved: Mapping[tuple[str, str], Fraction], where: str
) -> None:
    """Check one claim against the words and what the proofs have shown."""
    first, second = claim["from"], claim["to"]
    ratio = None if claim["ratio"] == "inf" else rational(claim["ratio"], where)
    if "word" in claim:
        _check_word(frame, claim, ratio, where)
    if not claim["holds"]:
        return
    if ratio is None:
        if "word" not in claim:
            raise RuleViolation(f"{where}: L5: an infinite ratio is claimed without a word")
        return
    for pair in ((first, second), (second, first)):
        if pair not in proved or proved[pair] > ratio:
            raise RuleViolation(
                f"{where}: L5: there is no proof from {shown(pair[0])} to {shown(pair[1])} for the ratio"
            )


def _check_word(frame: _Frame, claim: Mapping[str, Any], ratio: Fraction | None, where: str) -> None:
    word = claim["word"]
    if not word or (len(word) > frame.length if frame.up_to else len(word) != frame.length):
        raise RuleViolation(f"{where}: W1: the word has {len(word)} observations")
    if set(claim["parameters"]) != set(frame.model.names):
        raise RuleViolation(f"{where}: W2: the parameters are not those of the model")
    model = frame.model.at([rational(claim["parameters"][name], where) for name in frame.model.names])
    found = [model.along(model.distribution(claim[key]), word).total() for key in ("from", "to")]
    if found != [rational(text, where) for text in claim["probabilities"]]:
        raise RuleViolation(f"{where}: W3: the word has other probabilities")
    low, high = sorted(found)
    if claim["holds"]:
        attained = high == ratio * low and high > 0 if ratio is not None else low == 0 < high
        if not attained:
            raise RuleViolation(f"{where}: W4: the word does not attain the ratio")
    elif ratio is None or not high > ratio * low:
        raise RuleViolation(f"{where}: W5: the word does not exceed the ratio")


def _proved(frame: _Frame, proofs: list[dict[str, Any]]) -> dict[tuple[str, str], Fraction]:
    """Check every proof; return the least ratio that is proved for each direction."""
    result: dict[tuple[str, str], Fraction] = {}
    if not proofs:
        return result
    model = frame.model.numeric()
    for number, proof in enumerate(proofs, 1):  # at first: nothing below is longer than the document
        layers, covers = len(proof["layers"]), len(proof["covers"])
        if layers != frame.length or covers != frame.length - 1:
            raise RuleViolation(
                f"proof {number}: L1: there are {layers} layers and {covers} layers of covers"
            )
    live = _live(model, frame)
    for number, proof in enumerate(proofs, 1):
        _check_layers(model, frame, live, proof, f"proof {number}")
        pair = (proof["from"], proof["to"])
        result[pair] = min(result.get(pair, proof["ratio"]), proof["ratio"])
    return result


def _live(model: NumericMarkov, frame: _Frame) -> list[set[str]]:
    """Return for each position the states from which the rest of a word that counts can be made."""
    everything = set(model.emissions)
    live = [everything]
    for _ in range(frame.length - 1):
        live.append(
            everything
            if frame.up_to
            else {s for s, row in model.rows.items() if not live[-1].isdisjoint(row)}
        )
    live.reverse()
    return live


def _below(vector: Vector, bound: Vector, factor: Mass, states: set[str]) -> bool:
    """Tell whether a vector is at most a multiple of another one, on some states."""
    zero = Fraction(0)
    return all(vector.get(s, zero) <= factor * bound.get(s, zero) for s in states)


def _check_layers(
    model: NumericMarkov, frame: _Frame, live: list[set[str]], proof: Mapping[str, Any], where: str
) -> None:
    layers, covers = proof["layers"], proof["covers"]
    if not layers[0]:
        raise RuleViolation(f"{where}: L1: the first layer is empty")
    ratio, factor = (Mass.of(proof[key], f"{where}: {rule}: the {key}") for key, rule in MASSES)
    first, second = (model.distribution(proof[key]) for key in ("from", "to"))
    if live[0].isdisjoint((*first, *second)):
        raise RuleViolation(f"{where}: L6: no sequence of the length is possible")
    start = {s: first.get(s, Fraction(0)) - ratio * second.get(s, Fraction(0)) for s in (*first, *second)}
    if not _below(start, layers[0][0], factor, live[0]):
        raise RuleViolation(f"{where}: L2: the start is not below the first vector")
    for position, layer in enumerate(layers):
        following = None if position == frame.length - 1 else (layers[position + 1], covers[position])
        if following is not None and len(following[1]) != len(layer):
            raise RuleViolation(f"{where}: L1: layer {position} has {len(following[1])} rows of covers")
        for number, vector in enumerate(layer):
            for symbol in model.observations:
                place = f"{where}: layer {position}, vector {number}, observation {shown(symbol)}"
                masses = {
                    s: mass * model.emissions[s][symbol]
                    for s, mass in vector.items()
                    if s in model.emissions and symbol in model.emissions[s]
                }
                if (following is None or frame.up_to) and sum(masses.values()) > 0:
                    raise RuleViolation(f"{place}: L3: the total is positive")
                if following is not None:
                    _check_cover(
                        model.moved(masses),
                        following[0],
                        following[1][number].get(symbol),
                        live[position + 1],
                        place,
                    )


def _check_cover(
    moved: Vector, layer: list[Vector], cover: tuple[int, Fraction] | None, live: set[str], place: str
) -> None:
    if cover is None:
        if any(value > 0 for state, value in moved.items() if state in live):
            raise RuleViolation(f"{place}: L4: a successor with a positive entry has no cover")
        return
    index, factor = cover[0], Mass.of(cover[1], f"{place}: L4: the factor")
    if not 0 <= index < len(layer) or not _below(moved, layer[index], factor, live):
        raise RuleViolation(f"{place}: L4: the successor is not below its cover")
