"""Where answers are held against proofs and against each other, and everything is counted."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from flint import fmpq

from bisimdist.checker import CheckReport, check_certificate
from bisimdist.errors import LimitError, UsageError
from bisimdist.models.kinds import AnyModel
from bisimdist.progress import Deadline
from tests.campaign.draw import Case

__all__ = ["Desk", "Disagreement", "Question", "Value"]

Value: TypeAlias = fmpq | None
"""A number, or None for infinity."""

SECONDS = 0.1
"""How long a question may take: what refines for ever is cut short early, for most models."""

PATIENT_SECONDS = 4.0
PATIENT = 300
"""One model in so many has the patient limit."""


class Disagreement(AssertionError):  # noqa: N818
    """Two answers that cannot both be right, or a proof that is refused."""


class Proving(Protocol):
    def certificate(self) -> dict[str, object]: ...


@dataclass(slots=True)
class Desk:
    """One model, and what is known of it."""

    case: Case
    model: AnyModel
    counts: Counter[str]
    source: random.Random
    alpha: fmpq
    known: dict[str, tuple[Value, Value]] = field(default_factory=dict)

    @property
    def deadline(self) -> Deadline:
        """When to give up a question about this model."""
        patient = self.case.number % PATIENT == 0
        return Deadline.after(PATIENT_SECONDS if patient else SECONDS)

    def require(self, condition: bool, what: str) -> None:
        """Raise `Disagreement` unless something holds."""
        self.counts["comparisons"] += 1
        if not condition:
            raise Disagreement(what)

    def at_most(self, small: Value, large: Value, what: str) -> None:
        """Demand an order of two numbers."""
        self.require(large is None or (small is not None and small <= large), f"{what}: {small} > {large}")

    def between(self, lower: Value, value: Value, upper: Value, what: str) -> None:
        """Demand that a value lies between bounds."""
        self.at_most(lower, value, f"{what}, lower bound")
        self.at_most(value, upper, f"{what}, upper bound")

    def note(self, name: str, lower: Value, upper: Value) -> None:
        """Remember bounds, which must not contradict those that are known under the same name."""
        self.at_most(lower, upper, name)
        if name in self.known:
            before = self.known[name]
            self.at_most(lower, before[1], f"{name} asked twice")
            self.at_most(before[0], upper, f"{name} asked twice")
        self.known[name] = (lower, upper)

    def ordered(self, small: str, large: str) -> None:
        """Demand that one noted quantity can be at most another."""
        if small in self.known and large in self.known:
            self.at_most(self.known[small][0], self.known[large][1], f"{small} <= {large}")

    def proved(self, answer: Proving, model: AnyModel | None = None) -> CheckReport | None:
        """Demand that the proof of an answer is accepted; None where there is none."""
        try:
            document = answer.certificate()
        except (LimitError, UsageError):
            self.counts["answers without a proof"] += 1
            return None
        own = model or self.model
        report = check_certificate(json.dumps(document), json.dumps(own.canonical()))
        self.counts["certificates"] += 1
        self.counts[f"certificates: {report.kind}"] += 1
        self.require(report.valid, f"the checker refuses a {report.kind} proof: {report.reason}")
        return report


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask.

    Parameters
    ----------
    name
        What counts it.
    kinds
        Of which kinds of models it is asked.
    every
        It is asked of one in so many models.
    ask
        Asks it.
    command
        The command that asks about the same, with MODEL and ALPHA in it.
    """

    name: str
    kinds: tuple[str, ...]
    every: int
    ask: Callable[[Desk], None]
    command: str
