"""Which rules a certificate of which kind must obey: a file a kind, made of what is in ``core``.

A file reads what its kind claims and how it proves it, and refuses with the name of a rule of the
specification (``docs/certificate-spec.md`` and the pages in ``docs/certificates``), which names the proof
that needs the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["KINDS", "rules_of"]

KINDS: dict[str, str] = {
    "hmm-budget": "bisimdist.checker.claims.hmm_budget",
    "hmm-all-lengths": "bisimdist.checker.claims.hmm_all_lengths",
    "hmm-no-budget": "bisimdist.checker.claims.hmm_no_budget",
    "hmm-parametric": "bisimdist.checker.claims.hmm_parametric",
    "hmm-several": "bisimdist.checker.claims.hmm_several",
    "mechanism-budget": "bisimdist.checker.claims.mechanism_budget",
    "delta": "bisimdist.checker.claims.delta",
    "leakage": "bisimdist.checker.claims.leakage",
    "metric": "bisimdist.checker.claims.metric",
    "trace-equivalence": "bisimdist.checker.claims.trace_equivalence",
    "distinguishing-formula": "bisimdist.checker.claims.formulae",
    "generalised-metric": "bisimdist.checker.claims.generalised",
    "trace-metric": "bisimdist.checker.claims.trace_metric",
    "satisfaction": "bisimdist.checker.claims.satisfaction",
    "mimicking-formula": "bisimdist.checker.claims.mimicking",
    "trace-formulae": "bisimdist.checker.claims.trace_formulae",
    "parametric": "bisimdist.checker.claims.parametric",
    "composition": "bisimdist.checker.claims.composition",
    "robust-bisimilarity": "bisimdist.checker.claims.robust",
    "coupling": "bisimdist.checker.claims.coupling",
}  # by kind the module of this package whose ``check_document(document, model)`` judges it

DISTANCE = "distance"  # what certificates without a kind are about


def rules_of(document: Mapping[str, object]) -> Any:
    """Return the module whose ``check_document`` judges a certificate: of its parts, if it has some."""
    if "reduced" in document:
        return import_module("bisimdist.checker.steps.reduced")
    kind = document.get("kind")
    return import_module(f"{__name__}.{DISTANCE}" if kind is None else KINDS[str(kind)])
