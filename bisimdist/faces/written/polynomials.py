"""Polynomials, and proofs of their signs, as plain data (docs/certificates/hmm-proofs.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from flint import fmpq_mpoly

from bisimdist.exact.bernstein import Leaf, Monomials, SignProof, Square
from bisimdist.faces.written.numbers import rational_text
from bisimdist.models.polynomial import Entry, RationalFunction, monomials_of


def polynomial_data(monomials: Monomials) -> dict[str, object]:
    """Return a polynomial: coefficients by exponents."""
    return {",".join(map(str, key)): rational_text(c) for key, c in sorted(monomials.items())}


def tree_data(proof: SignProof, names: Sequence[str]) -> object:
    """Return a proof of a sign over parameters of these names."""
    if isinstance(proof, Leaf):
        return "leaf"
    if isinstance(proof, Square):
        return {
            "square": polynomial_data(proof.root),
            "rest": polynomial_data(proof.rest),
            "proof": tree_data(proof.proof, names),
        }
    return {
        "split": names[proof.axis],
        "at": rational_text(proof.at),
        "below": tree_data(proof.below, names),
        "above": tree_data(proof.above, names),
    }


def parts_of(entries: Iterable[Entry]) -> Iterator[fmpq_mpoly]:
    """Yield numerators and denominators of entries that depend on parameters."""
    for entry in entries:
        if isinstance(entry, RationalFunction):
            yield entry.numerator
            yield entry.denominator


def factors_data(polynomials: Iterable[fmpq_mpoly]) -> list[dict[str, object]]:
    """Return the factors of polynomials that have several: what shows their signs."""
    found: dict[str, dict[str, object]] = {}
    for polynomial in polynomials:
        if len(polynomial) == 1 or polynomial.is_constant():
            continue
        factors = polynomial.factor()[1]
        if len(factors) > 1 or any(power > 1 for _, power in factors):
            found |= {str(factor): polynomial_data(monomials_of(factor)) for factor, _ in factors}
    return list(found.values())
