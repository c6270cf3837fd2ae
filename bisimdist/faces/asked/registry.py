"""All questions: what the command line offers, in the order of its help."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bisimdist.faces.asked.question import Question

HOMES: dict[str, str] = {
    "bound": "distances.bound.command.Bound",
    "leakage": "privacy.leakage.command.Leakage",
    "compare": "privacy.compare.command.Compare",
    "delta": "privacy.delta.command.Delta",
    "program": "programs.program.command.Program",
    "audit": "privacy.audit.command.AuditQuestion",
    "profile": "privacy.profile.command.Profile",
    "compose": "privacy.compose.command.Compose",
    "synthesise": "privacy.synthesise.command.Synthesise",
    "report": "privacy.report.command.PageReport",
    "metric": "automata.metric.command.Metric",
    "schedule": "automata.schedule.command.Schedule",
    "trace": "traces.trace.command.Trace",
    "secrets": "traces.secrets.command.SecretPrivacy",
    "equivalence": "traces.equivalence.command.Equivalence",
    "same": "traces.same.command.Same",
    "classes": "traces.classes.command.Classes",
    "logic traces": "logic.traces.command.Traces",
    "logic explain": "logic.explanation.command.Explain",
    "logic formula": "logic.formula.command.MimickingFormula",
    "logic satisfies": "logic.satisfaction.command.Satisfies",
    "logic distance": "logic.distance.command.Distance",
    "verify": "budgets.verify.command.Verify",
    "epsilon": "budgets.epsilon.command.Epsilon",
    "prove": "budgets.prove.command.Prove",
    "budget": "budgets.budget.command.Budget",
    "crosscheck": "privacy.crosscheck.command.Crosscheck",
    "learn": "modelling.learn.command.Learn",
    "minimise": "distances.minimise.command.Minimise",
    "convert": "modelling.convert.command.Convert",
    "show": "modelling.show.command.Show",
    "example": "modelling.example.command.Example",
    "paper": "modelling.paper.command.PaperRows",
}  # by command the module and the class in it; a question is loaded when it is asked


def question_of(command: str) -> type[Question[Any]]:
    """Return the question that a command asks."""
    module, name = HOMES[command].rsplit(".", 1)
    found: type[Question[Any]] = getattr(import_module(f"bisimdist.{module}"), name)
    return found
