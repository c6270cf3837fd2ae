"""All questions: what the command line offers, in the order of its help."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bisimdist.questions.question import Question

__all__ = ["HOMES", "question_of"]

HOMES: dict[str, str] = {
    "bound": "bound.Bound",
    "export": "export.Export",
    "leakage": "leakage.Leakage",
    "compare": "compare.Compare",
    "delta": "delta.Delta",
    "program": "program.Program",
    "audit": "audit.AuditQuestion",
    "profile": "profile.Profile",
    "synthesise": "synthesise.Synthesise",
    "report": "report.PageReport",
    "metric": "metric.Metric",
    "schedule": "schedule.Schedule",
    "trace": "trace.Trace",
    "secrets": "secrets.SecretPrivacy",
    "equivalence": "equivalence.Equivalence",
    "classes": "classes.Classes",
    "traces": "traces.Traces",
    "explain": "explain.Explain",
    "formula": "formula.MimickingFormula",
    "satisfies": "satisfies.Satisfies",
    "distance": "distance.Distance",
    "verify": "verify.Verify",
    "epsilon": "epsilon.Epsilon",
    "prove": "prove.Prove",
    "budget": "budget.Budget",
    "crosscheck": "crosscheck.Crosscheck",
    "learn": "learn.Learn",
    "minimise": "minimise.Minimise",
    "convert": "convert.Convert",
    "show": "show.Show",
    "example": "example.Example",
}
"""By command the module of this package and the class in it; a question is loaded when it is asked."""


def question_of(command: str) -> type[Question[Any]]:
    """Return the question that a command asks."""
    module, name = HOMES[command].split(".")
    found: type[Question[Any]] = getattr(import_module(f"bisimdist.questions.{module}"), name)
    return found
