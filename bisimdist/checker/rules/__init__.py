"""Which rules a certificate of which kind must obey: a file a kind, made of what is in ``core``.

A file reads what its kind claims and how it proves it, and refuses with the name of a rule of the
specification (``docs/certificate-spec.md`` and the pages in ``docs/certificates``), which names the proof
that needs the rule.
"""

from __future__ import annotations

__all__ = ["KINDS"]

KINDS: dict[str, str] = {
    "hmm-budget": "bisimdist.checker.rules.hmm_budget",
    "hmm-all-lengths": "bisimdist.checker.rules.hmm_all_lengths",
    "hmm-no-budget": "bisimdist.checker.rules.hmm_no_budget",
    "hmm-parametric": "bisimdist.checker.rules.hmm_parametric",
    "hmm-several": "bisimdist.checker.rules.hmm_several",
    "mechanism-budget": "bisimdist.checker.rules.mechanism_budget",
    "delta": "bisimdist.checker.rules.delta",
    "leakage": "bisimdist.checker.rules.leakage",
    "metric": "bisimdist.checker.rules.metric",
    "trace-equivalence": "bisimdist.checker.rules.trace_equivalence",
    "distinguishing-formula": "bisimdist.checker.rules.formulae",
    "generalised-metric": "bisimdist.checker.rules.generalised",
    "trace-metric": "bisimdist.checker.rules.trace_metric",
    "satisfaction": "bisimdist.checker.rules.satisfaction",
    "mimicking-formula": "bisimdist.checker.rules.mimicking",
    "trace-formulae": "bisimdist.checker.rules.trace_formulae",
    "parametric": "bisimdist.checker.rules.parametric",
    "program": "bisimdist.checker.rules.program",
    "robust-bisimilarity": "bisimdist.checker.rules.robust",
}
"""By kind the module of this package whose ``check_document(document, model)`` judges it."""
