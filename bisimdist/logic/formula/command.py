"""What a state can do, as a formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import DEPTH, STATE, UNICODE
from bisimdist.faces.asked.question import Group, Question

if TYPE_CHECKING:
    from bisimdist.logic.formula.ask import MimickingAnswer
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class MimickingFormula(Question["MimickingAnswer"]):
    """Print the mimicking formula of a state: all that it can do, in some steps or for ever.

    Without --depth the answer is a system of recursive equations, or a plain formula if no run from the state
    goes on for ever.
    """

    command = "logic formula"
    group = Group.LOGICS
    example = "example:pin-checking --state s1"
    options = (
        STATE,
        DEPTH.but(help="Describe K steps; by default all steps."),
        UNICODE,
        options.TIMEOUT.but(help="Give up after so many seconds."),
        options.CERTIFICATE,
        options.JSON,
    )
    sources = ("CCP18 Definition 21",)

    model: PA
    state: str
    depth: int | None
    unicode: bool

    @classmethod
    def read(cls, given: Given) -> MimickingFormula:
        said = given.fields(cls)
        if said["state"] is None:
            raise UsageError("--state was not given; expected the name of a state")
        return cls(model=given.automaton(), **said)

    def ask(self, limits: Limits) -> MimickingAnswer:
        from bisimdist.logic.formula.ask import mimicking_formula

        return self.put(mimicking_formula, limits)

    def report(self, answer: MimickingAnswer) -> str:
        return answer.text(unicode=self.unicode) + "\n"
