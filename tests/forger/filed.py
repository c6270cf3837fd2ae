"""The certificates of the corpus as templates: what they prove is what is known of the truth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from bisimdist.distances.bound.ask import bound
from bisimdist.exact.rational import to_fmpq
from bisimdist.models.io import parse_model
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import Deadline
from tests.forger.templates import Bound, Document, Template, fraction, plain, read_bound

__all__ = ["filed", "tightened"]

CORRECT = Path(__file__).parents[1] / "certificates" / "correct"
SECONDS = 0.5
SEPARATE = {"distance", "delta"}
"""Kinds in which a claim stands for itself: the others have lists of proofs beside that of claims."""
BOUNDED = {*SEPARATE, "metric", "generalised-metric", "trace-metric"}


@cache
def filed() -> tuple[Template, ...]:
    """Return a template for each claim of the corpus that says enough of its truth."""
    found = []
    for path in sorted(CORRECT.rglob("*.json")):
        document = json.loads(path.read_bytes())
        kind = document.get("kind", "distance")
        for claim in document.get("claims", ()):
            single = {**document, "claims": [claim]}
            if len(document["claims"]) > 1 and kind not in SEPARATE:
                continue
            found += [
                Template(f"{kind}, files", path.stem, plain(single), low, high)
                for low, high in _truth(kind, claim)
            ]
    return tuple(found)


def tightened(template: Template) -> Template:
    """Return the template with what the engine knows of the truth, where the certificate says less."""
    document, (claim,) = template.document, template.document["claims"]
    if document.get("kind", "delta") != "delta" or "reduced" in document:
        return template
    model = parse_model(json.dumps(document["model"]), format="json")
    if not isinstance(model, LMC):
        return template  # what is known of models in intervals or with choices is what the certificate says
    pairs, deadline = [(claim["from"], claim["to"])], Deadline.after(SECONDS)
    if "kind" in document:
        alphas = document["alpha"]
        if alphas["lower"] != alphas["upper"]:
            return template
        found = delta(model, alphas["upper"], pairs=pairs, deadline=deadline).pairs[0]
        low, high = found.lower, found.upper
    else:
        certificate = bound(
            model, document["alpha"], distance=document["distance"], pairs=pairs, deadline=deadline
        ).certificate()
        proved = plain(certificate)["claims"][0]
        low, high = to_fmpq(proved["lower"]), to_fmpq(proved["upper"])
    return replace(template, low=fraction(low), high=fraction(high))


def _truth(kind: str, claim: Document) -> Iterator[tuple[Bound, Bound]]:
    if kind == "distance" and "lower" not in claim:
        yield Fraction(0), Fraction(1)
    elif kind in BOUNDED and "upper" in claim and "lower" in claim:
        yield read_bound(claim["lower"]), read_bound(claim["upper"])
    elif (kind == "hmm-budget" and claim["holds"] and "word" in claim) or kind == "mechanism-budget":
        yield read_bound(claim["ratio"]), read_bound(claim["ratio"])
