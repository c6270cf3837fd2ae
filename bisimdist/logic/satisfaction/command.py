"""Which states, or which transitions, satisfy a formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bisimdist.bounded import decoded, read_file
from bisimdist.errors import Located, UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import FORMULA, STATES
from bisimdist.faces.asked.question import Group, Question, Settled, identity

if TYPE_CHECKING:
    from bisimdist.faces.shown.tables import Report
    from bisimdist.logic.engine.equations import EquationSystem
    from bisimdist.logic.engine.formula import DistributionFormula
    from bisimdist.logic.satisfaction.ask import SatisfactionAnswer
    from bisimdist.logic.satisfaction.distributions import TransitionsAnswer
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits

A = TypeVar("A", "SatisfactionAnswer", "TransitionsAnswer")


@dataclass(frozen=True, slots=True, kw_only=True)
class _About(Question[A]):
    """What both questions are about."""

    model: PA
    states: tuple[str, ...]

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        return {"command": "logic satisfies", "model": identity(self.model)}

    def data(self, answer: A) -> dict[str, object]:
        return {**self.frame(), **answer.data(self.states)}

    def report(self, answer: A) -> Report:
        return answer.report(self.states)

    def settled(self, answer: A) -> Settled:
        return all(map(answer.holds, self.states))


@dataclass(frozen=True, slots=True, kw_only=True)
class Satisfies(_About["SatisfactionAnswer"]):
    """Compute which states of a probabilistic automaton satisfy a formula.

    For a formula about distributions, such as '(1/2 <b>T + 1/2 T)', compute which transitions satisfy it.
    With --state the exit code is 0 if all of these states satisfy it, or have such a transition, else 1.
    """

    command = "logic satisfies"
    group = Group.LOGICS
    example = "example:pin-checking --formula '<a1>T'"
    options = (
        FORMULA,
        STATES,
        options.TIMEOUT.but(help="Give up after so many seconds."),
        options.CERTIFICATE,
        options.JSON,
    )
    sources = ("CCP18 Definition 18",)

    formula: EquationSystem

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        from bisimdist.logic.engine.formula import DistributionFormula

        text = given[FORMULA]
        if text is None:
            raise UsageError("--formula was not given; expected a formula such as '<a>T', or @FILE")
        meant = _read(text)
        model = given.automaton()
        states = given[STATES]
        for name in states:
            model.index(name)
        if isinstance(meant, DistributionFormula):
            return SatisfyingTransitions(model=model, states=states, formula=meant)
        return cls(model=model, states=states, formula=meant)

    def ask(self, limits: Limits) -> SatisfactionAnswer:
        from bisimdist.logic.satisfaction.ask import satisfying

        meant = self.formula if self.formula.equations else self.formula.root
        return satisfying(self.model, meant, deadline=limits.deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class SatisfyingTransitions(_About["TransitionsAnswer"]):
    """Which transitions satisfy a formula about distributions."""

    formula: DistributionFormula

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        return Satisfies.read(given)

    def ask(self, limits: Limits) -> TransitionsAnswer:
        from bisimdist.logic.satisfaction.distributions import satisfying_transitions

        return self.put(satisfying_transitions, limits)


def _read(formula: str) -> EquationSystem | DistributionFormula:
    from bisimdist.logic.engine.formula_parser import parse_any_formula

    if not formula.startswith("@"):
        with Located(source="--formula"):
            return parse_any_formula(formula)
    path = formula[1:]
    with Located(source=path):
        return parse_any_formula(decoded(read_file(path, expected="a formula")))
