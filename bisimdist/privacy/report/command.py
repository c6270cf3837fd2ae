"""One page for whoever decides: the model, the pair, how private it is, and the proof."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.extras import needed
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option, choice, option, switch
from bisimdist.faces.asked.options import OUTPUT
from bisimdist.faces.asked.question import Group, Plain, Question, Settled
from bisimdist.privacy.delta.command import Delta

if TYPE_CHECKING:
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.interactive import System
    from bisimdist.models.intervals import IntervalChain
    from bisimdist.privacy.report.page import Decision
    from bisimdist.progress import Limits

WITH_PROOF = switch(
    "--with-proof", "Put a checker into the page. It checks the proof in the reader's browser."
)
PYODIDE = option(
    "--pyodide",
    "DIR",
    "Put Python (Pyodide, in this npm directory) and the whole checker into the page: 8.5 MB.",
)
WHOM = choice(
    "--for",
    "WHOM",
    "decision; or evaluation, which adds a table of hazards and what the page shows about each.",
    "decision",
    "evaluation",
    what="the page is for nobody else",
    default="decision",
    name="whom",
)
LEFT_OUT = {"fixed", "certificate", "threshold"}
"""Options of delta: the page carries its proof, and is about bounds."""

DRAWING = 0.8  # after this part of the time the page is drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReport(Question["Decision"]):
    """Write one page about a model: a picture, a verdict, bounds on both sides, the profile, and the proof.

    The page is self-contained. It is about the true delta at --alpha or --epsilon. The default is alpha = 1,
    where delta says how well anybody can tell the two states apart.
    """

    command = "report"
    group = Group.DELTA
    example = "example:figure1 --alpha 11/10"
    drawn = True
    options = (
        OUTPUT.but(help="The file of the page, such as report.html (standard output)."),
        WITH_PROOF,
        PYODIDE,
        WHOM,
        *(option for option in Delta.options if option.name not in LEFT_OUT),
    )

    asked: Delta
    model: System | IntervalChain
    named: str
    typed: list[str]
    output: str | None
    with_proof: bool
    pyodide: str | None
    whom: str

    @classmethod
    def read(cls, given: Given) -> PageReport:
        asked = Delta.of(given, alpha="1")
        pyodide = given[PYODIDE]
        if pyodide is not None:
            from bisimdist.privacy.report.carried import readable

            readable(pyodide)
        carry = {
            "with_proof": given[WITH_PROOF] or pyodide is not None,
            "pyodide": pyodide,
            "whom": given[WHOM],
        }
        about = {"named": given.argument, "typed": given.typed(), "output": given[OUTPUT]}
        return cls(asked=asked, model=asked.model, **about, **carry)  # type: ignore[arg-type]

    def ask(self, limits: Limits) -> Decision:
        from bisimdist.privacy.report.page import SHARE, decision

        limits = replace(limits, deadline=limits.deadline.part(DRAWING))
        delta = self.asked.ask(replace(limits, deadline=limits.deadline.part(SHARE)))
        asked = self.asked
        about = {"pairs": asked.pairs, "rounds": asked.rounds, "nature": asked.nature}
        found = decision(self.model, delta, limits=limits, **about)  # type: ignore[arg-type]
        return replace(found, carry=self.with_proof, pyodide=self.pyodide, whom=self.whom)

    def frame(self) -> dict[str, object]:
        return {**self.asked.frame(), "command": self.command}

    def unknown(self, reason: str) -> Plain | None:
        return self.asked.unknown(reason)

    def notes(self, answer: Decision) -> list[str]:
        try:
            needed("matplotlib", "plot")
        except UsageError as error:
            return [] if answer.profile is None else [f"the page has no picture of the profile: {error}"]
        return []

    def data(self, answer: Decision) -> dict[str, object]:
        return {**self.asked.data(answer.delta), **self.frame()}

    def report(self, answer: Decision) -> Report | str:
        return self._page(answer) if self.output is None else self.asked.report(answer.delta)

    def settled(self, answer: Decision) -> Settled:
        return self.asked.settled(answer.delta)

    def content(self, option: Option[Any], path: str, answer: Decision) -> str:
        return self._page(answer)

    def _page(self, answer: Decision) -> str:
        from bisimdist.privacy.report.page import decision_page

        report = self.asked.report(answer.delta)
        return decision_page(answer, report, named=self.named, reproduce=self._again())

    def bare(self, known: Plain) -> str:
        from bisimdist.privacy.report.page import bare_page

        return bare_page(known.report, named=self.named, reproduce=self._again())

    def _again(self) -> str:
        return shlex.join(("bisimdist", self.command, *self.typed, "-o", self.output or "report.html"))
