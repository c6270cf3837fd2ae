"""Certificates about merged states, parameters, couplings that meet, and compact tables changed by chance."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from flint import fmpq

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.errors import LimitError, UsageError
from bisimdist.models.io import parse_model
from bisimdist.models.lmc import LMC
from bisimdist.models.parametric import ParametricChain
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.synthesise.ask import delta_for_all, delta_over, synthesise
from bisimdist.progress import Deadline
from tests.campaign.draw import Case, draw
from tests.checker.redigest import redigested
from tests.forger.plain import Bound, Document, fraction, plain, read_bound

__all__ = ["best", "byte_lies", "for_all", "merged", "piece_lies", "robust"]

SECONDS = 1.0
Made = Iterator[tuple[str, Document, Bound, Bound]]


def _model(document: Document) -> Any:
    return parse_model(json.dumps(document), format="json")


def _with_twins(case: Case) -> LMC:
    """Return the chain with twins of some states, which are entered instead of them half of the time."""
    document, source = json.loads(case.text), case.source
    names = [name for name in document["states"] if source.random() < 0.7] or list(document["states"])[:1]
    for name in names:
        document["states"][f"{name}2"] = document["states"][name]
        document["transitions"][f"{name}2"] = dict(document["transitions"][name])
    for row in document["transitions"].values():
        for name in names:
            if name in row and source.random() < 0.6:
                half = str(Fraction(row[name]) / 2)
                row |= {name: half, f"{name}2": half}
    model = _model(document)
    assert isinstance(model, LMC)
    return model


def merged(case: Case, _: Any) -> Made:
    """Yield proofs in which states stand for each other, and the same with a pair that may not."""
    model = _with_twins(case)
    for kind in ("bd", "lbd"):
        answer = bound(
            model,
            1,
            distance=kind,
            pairs=list(combinations(model.states, 2)),
            deadline=Deadline.after(SECONDS),
        )
        document = plain(answer.certificate())
        claims = [c for c in document["claims"] if c["upper"] != "0"]
        if not claims or "reduced" not in document:
            continue
        claim = case.source.choice([c for c in claims if c["upper"] != "1"] or claims)
        document["claims"] = [claim]
        truth = read_bound(claim["lower"]), read_bound(claim["upper"])
        yield f"{kind}, merged", document, *truth
        alike = [(s, t) for s in model.states for t in model.states if s != t]
        one, other = case.source.choice(alike)
        document["reduced"][0]["steps"][0]["classes"][one] = other
        redigested(document)
        yield f"{kind}, merged otherwise", document, *truth


SHARES = (("p", "1-p"), ("p^2", "1-p^2"), ("1/3", "2/3"), ("p/(1+p)", "1/(1+p)"), ("1/2*p", "1-1/2*p"))


def _with_parameter(source: random.Random, *, ends: bool = True) -> ParametricChain:
    """Draw a chain with the parameter p; two states lead to three that may be confused, and these to two."""
    states = {"s": "a", "t": "a" if source.random() < 0.7 else "b"}
    states |= {f"m{k}": source.choice("mn") for k in range(3)} | {"y": "y", "z": "z"}

    def row(targets: list[str]) -> Document:
        return dict(zip(source.sample(targets, 2), source.choice(SHARES), strict=True))

    middle = ["m0", "m1", "m2"]
    rows = {name: row(middle) for name in "st"} | {name: row(["y", "z"]) for name in middle}
    if not ends:
        rows["m0"] = row(["m1", "s"])
    document = {
        "kind": "lmc",
        "states": states,
        "transitions": rows | {"y": {"y": "1"}, "z": {"z": "1"}},
        "parameters": {"p": source.choice((["0", "1"], ["1/4", "1/2"], ["0", "1/100"]))},
        "pairs": [["s", "t"]],
    }
    model = _model(document)
    assert isinstance(model, ParametricChain)
    return model


def _inside(model: ParametricChain, share: fmpq) -> fmpq:
    (parameter,) = model.parameters
    return parameter.low + (parameter.high - parameter.low) * share


def _at(model: ParametricChain, alpha: fmpq, point: fmpq, distance: str = "delta") -> fmpq:
    """Return what is asked about at a value of the parameter."""
    chain = model.at({"p": point})
    assert isinstance(chain, LMC)
    deadline = Deadline.after(SECONDS)
    if distance == "bd":
        return bound(chain, alpha, pairs=[("s", "t")], deadline=deadline).pairs[0].lower
    return delta(chain, alpha, pairs=[("s", "t")], deadline=deadline).pairs[0].lower


POINTS = [fmpq(k, 20) for k in (1, 5, 10, 15, 19)]


def for_all(case: Case, _: Any) -> Made:
    """Yield proofs that delta, or bd, is at most a number for all values, by gains or by boxes."""
    source = case.source
    distance = source.choice(("delta", "delta", "bd"))
    model = _with_parameter(source, ends=source.random() < 0.6)
    alpha = fmpq(source.choice((1, 1, 2))) + fmpq(source.choice((0, 1)), 2)
    low = max(_at(model, alpha, _inside(model, share), distance) for share in POINTS)
    for more in (fmpq(1, 50), fmpq(1, 5)):
        answer = delta_for_all(
            model, alpha, min(low + more, fmpq(1)), distance=distance, deadline=Deadline.after(SECONDS)
        )
        document = plain(answer.certificate())
        if document["claims"] and document["claims"][0]["verdict"] == "holds":
            yield f"for all values, {distance}", document, fraction(low), None
            return


def best(case: Case, _: Any) -> Made:
    """Yield proofs of the best value of an expression."""
    model = _with_parameter(case.source)
    alpha, level = fmpq(case.source.choice((1, 2))), fmpq(1, case.source.choice((3, 10)))
    expression = case.source.choice(("p", "1-p", "p*(1-p)", "1/(1+p)"))
    document = plain(
        synthesise(model, alpha, expression, level, deadline=Deadline.after(SECONDS)).certificate()
    )
    (claim,) = document["claims"]
    if claim["lower"] is not None and claim["upper"] is not None:
        yield "best value", document, read_bound(claim["lower"]), read_bound(claim["upper"])


def robust(case: Case, model: Any) -> Made:
    """Invent couplings of states that are not bisimilar: every one of them is a lie."""
    assert isinstance(model, LMC)
    pairs = list(combinations(model.states, 2))
    found = bound(model, 1, pairs=pairs, deadline=Deadline.after(SECONDS))
    apart = [(pair.source, pair.target) for pair in found.pairs if pair.lower]
    if not apart:
        return
    data = model.canonical()
    rows, labels = data["transitions"], data["states"]
    assert isinstance(rows, dict)
    assert isinstance(labels, dict)
    listed = [
        {
            "pair": [s, t],
            "steps": "3",
            "coupling": [[u, v, "1/4"] for u in rows[s] for v in rows[t] if labels[u] == labels[v]],
        }
        for s in labels
        for t in labels
        if s != t and labels[s] == labels[t]
    ]
    one, other = case.source.choice(apart)
    document = {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "robust-bisimilarity",
        "model": data,
        "digest": model.digest(),
        "claims": [{"from": one, "to": other, "steps": "9"}],
        "pairs": listed,
    }
    yield "robust", plain(document), Fraction(0), Fraction(0)


def byte_lies(seed: int, number: int, count: int) -> Iterator[tuple[bytes, str]]:
    """Yield certificates with compact tables with bytes changed by chance, and what the checker says of each.

    That is ``refused``, ``malformed``, ``true`` where what it claims then is so, or ``accepted`` where not.
    """
    case = draw(seed, number, ("lmc",))
    source = random.Random(f"{seed}:{number}:bytes")
    model = _with_twins(case)
    alpha = fmpq(source.choice((1, 1, 2))) + fmpq(source.choice((0, 1)), 2)
    kind = source.choice(("bd", "lbd"))
    pairs = list(combinations(model.states, 2))
    try:
        answer = bound(model, alpha, distance=kind, pairs=pairs, deadline=Deadline.after(SECONDS))
        honest = b"".join(answer.compact_certificate())
    except (LimitError, UsageError):
        return
    known = {(claim.source, claim.target): claim for claim in check_certificate(honest).claims}
    begin = honest.index(b"\n", honest.index(b"\n") + 1) + 1
    for _ in range(count if begin < len(honest) else 0):
        changed = bytearray(honest)
        for _ in range(source.randint(1, 3)):
            place = source.randrange(begin, len(honest))
            changed[place] = source.choice(
                (changed[place] ^ (1 << source.randrange(8)), source.randrange(256))
            )
        if source.random() < 0.2:
            place = source.randrange(begin, len(honest))
            changed[place:place] = bytes([source.randrange(4)])
        try:
            report = check_certificate(bytes(changed))
        except MalformedCertificate:
            yield bytes(changed), "malformed"
            continue
        true = all(
            claim.upper >= (known[claim.source, claim.target].lower or 0)
            and (claim.lower or 0) <= known[claim.source, claim.target].upper
            for claim in report.claims
        )
        yield bytes(changed), "refused" if not report.valid else "true" if true else "accepted"


def piece_lies(seed: int, number: int) -> Iterator[tuple[str, Document]]:
    """Yield certificates with a piece that delta is not, or breaks elsewhere."""
    source = random.Random(f"{seed}:{number}:pieces")
    model = _with_parameter(source)
    alpha = fmpq(source.choice((1, 1, 2))) + fmpq(source.choice((0, 1)), 2)
    try:
        honest = plain(delta_over(model, alpha, deadline=Deadline.after(SECONDS)).certificate())
    except (LimitError, UsageError):
        return
    (claim,) = honest["claims"]
    for place, piece in enumerate(claim["pieces"]):
        others = {*claim["pieces"], "0", "1", "p", f"({piece})+1/1000"} - {piece}
        for other in sorted(others):
            pieces = [*claim["pieces"][:place], other, *claim["pieces"][place + 1 :]]
            yield "pieces", {**honest, "claims": [{**claim, "pieces": pieces}]}
        if place < len(claim["breaks"]):
            breaks = [*claim["breaks"][:place], *claim["breaks"][place + 1 :]]
            for pieces in (
                [*claim["pieces"][:place], *claim["pieces"][place + 1 :]],
                [*claim["pieces"][: place + 1], *claim["pieces"][place + 2 :]],
            ):
                yield "pieces", {**honest, "claims": [{**claim, "breaks": breaks, "pieces": pieces}]}
