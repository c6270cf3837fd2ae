"""Certificates of other kinds than distances: which module checks which kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["KINDS", "OtherReport"]


@dataclass(frozen=True)
class OtherReport:
    """The verdict on a certificate of another kind.

    Parameters
    ----------
    valid
        Whether the certificate proves all of its claims.
    claims
        The claims as plain data (texts, numbers as exact texts).
    reason
        Which rule fails, in words; empty if the certificate is valid.
    about
        What the claims are about where that is not the model of the document: its kind and its digest.
    """

    valid: bool
    claims: tuple[Mapping[str, object], ...]
    reason: str = ""
    about: tuple[str, str] | None = None


KINDS: dict[str, str] = {
    "hmm-budget": "bisimdist.checker.hmm_budget",
    "hmm-all-lengths": "bisimdist.checker.hmm_all_lengths",
    "hmm-no-budget": "bisimdist.checker.hmm_no_budget",
    "hmm-parametric": "bisimdist.checker.hmm_parametric",
    "hmm-several": "bisimdist.checker.hmm_several",
    "mechanism-budget": "bisimdist.checker.mechanism_budget",
    "delta": "bisimdist.checker.delta",
    "leakage": "bisimdist.checker.leakage",
    "metric": "bisimdist.checker.metric",
    "trace-equivalence": "bisimdist.checker.trace_equivalence",
    "distinguishing-formula": "bisimdist.checker.formulae",
    "generalised-metric": "bisimdist.checker.generalised",
    "trace-metric": "bisimdist.checker.trace_metric",
    "satisfaction": "bisimdist.checker.satisfaction",
    "mimicking-formula": "bisimdist.checker.mimicking",
    "trace-formulae": "bisimdist.checker.trace_formulae",
    "program": "bisimdist.checker.program",
}
"""By kind the module of this package whose ``check_document(document, model)`` judges it."""
