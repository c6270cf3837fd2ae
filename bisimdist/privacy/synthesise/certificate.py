"""Writes proofs about chains with parameters as plain data (docs/certificates/parametric.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flint import fmpq, fmpq_mpoly

from bisimdist.exact.bernstein import Box, Leaf, Sign, SignProof, prove_sign
from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import rational_text
from bisimdist.faces.written.polynomials import factors_data, parts_of, polynomial_data, tree_data
from bisimdist.models.parametric import ParametricChain
from bisimdist.models.polynomial import common_denominator, monomials_of, parameter_ring
from bisimdist.privacy.engine.best import Best
from bisimdist.privacy.engine.pieces import Pieces

Claim = tuple[Document, object, Sequence[fmpq_mpoly]]
"""A claim, its proof, and polynomials whose factors show their signs."""


def parametric_certificate(
    model: ParametricChain, distance: str, alpha: fmpq, claims: Iterable[Claim]
) -> Document:
    """Return a certificate of some claims."""
    found = list(claims)
    entries = [entry for row in model.rows for _, entry in row]
    denominator = common_denominator(
        parameter_ring(model.parameter_names), entries, [(low + high) / 2 for low, high in model.box]
    )
    factors = factors_data((*parts_of(entries), *(polynomial for *_, used in found for polynomial in used)))
    rest: Document = {"factors": factors} if factors else {}
    if not denominator.is_constant():
        monomials = monomials_of(denominator)
        proof = prove_sign(monomials, model.box, sign=Sign.POSITIVE).proof or Leaf()
        rest["denominator"] = {
            "polynomial": polynomial_data(monomials),
            "proof": tree_data(proof, model.parameter_names),
        }
    return document(
        "parametric",
        model,
        distance=distance,
        alpha=rational_text(alpha),
        claims=[claim for claim, _, _ in found],
        proofs=[proof for _, proof, _ in found],
        **rest,
    )


def sign_trees(proofs: Iterable[SignProof], names: Sequence[str]) -> list[object]:
    """Return proofs of signs, one for each direction of a pair."""
    return [tree_data(proof, names) for proof in proofs]


def pieces_claim(pair: tuple[str, str], pieces: Pieces, used: Sequence[fmpq_mpoly]) -> Claim:
    """Return the claim of what delta is as a function of a parameter."""
    claim: Document = {
        "from": pair[0],
        "to": pair[1],
        "parameter": pieces.values[0].names[0],
        "range": _texts(pieces.low, pieces.high),
        "breaks": [
            {
                "polynomial": str(root.polynomial),
                "low": rational_text(root.low),
                "high": rational_text(root.high),
            }
            for root in pieces.breaks
        ],
        "pieces": [str(value) for value in pieces.values],
    }
    return claim, None, used


def box_claim(  # noqa: PLR0913, PLR0917
    pair: tuple[str, str],
    names: Sequence[str],
    box: Box,
    level: fmpq,
    at: Mapping[str, fmpq] | None,
    proof: object,
) -> Claim:
    """Return the claim of a bound in a box, or of a point where it is exceeded."""
    claim: Document = {
        "from": pair[0],
        "to": pair[1],
        "for_all": {name: _texts(*ends) for name, ends in zip(names, box, strict=True)},
        "upper": rational_text(level),
        "verdict": "holds" if at is None else "violated",
    }
    if at is not None:
        claim["at"] = {name: rational_text(x) for name, x in at.items()}
    return claim, proof, ()


def best_claim(
    pair: tuple[str, str], pieces: Pieces, expression: str, level: fmpq, best: Best
) -> tuple[Document, object]:
    """Return the claim of the best value of an expression, and its proof."""
    claim: Document = {
        "from": pair[0],
        "to": pair[1],
        "parameter": pieces.values[0].names[0],
        "range": _texts(pieces.low, pieces.high),
        "maximise": expression,
        "at_most": rational_text(level),
        **{
            name: None if value is None else rational_text(value)
            for name, value in (("lower", best.lower), ("upper", best.upper), ("at", best.at))
        },
    }
    return claim, {"cuts": [rational_text(cut) for cut in best.cuts], "cells": list(best.cells)}


def _texts(low: fmpq, high: fmpq) -> list[str]:
    return [rational_text(low), rational_text(high)]
