"""The true delta of what a program releases, over the grids that it is rounded to: a design curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.parameter_options import FOR_ALL, OVER
from bisimdist.faces.asked.question import Content, Plain, Question, Settled
from bisimdist.faces.asked.threshold import AtMost
from bisimdist.verdicts import joint, verdict_word

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.shown.tables import Report
    from bisimdist.privacy.delta.answer import DeltaAnswer
    from bisimdist.programs.program.command import Program
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class OverGrids(Question[tuple["DeltaAnswer", ...]]):
    """What delta is if the output is rounded to one grid or another, and whether it is what is claimed.

    JSON is what it is for the first grid, with a row for each of them beside.
    """

    command = "program"
    tabled = "measured"
    options: ClassVar[tuple[Option[Any], ...]] = ()

    asked: tuple[Program, ...]  # one for each grid
    grids: tuple[fmpq, ...]
    threshold: fmpq | None  # the delta that is claimed for each of them

    @classmethod
    def read(cls, given: Given) -> OverGrids:
        from bisimdist.faces.asked.program_source import program_model
        from bisimdist.programs.chain import ProgramChain
        from bisimdist.programs.program.command import Program

        if given[OVER] or given[FOR_ALL]:
            raise UsageError("--round is for programs; --over and --for-all are for models with parameters")
        grids: tuple[fmpq, ...] = given[options.ROUND]
        if given[options.CERTIFICATE] is not None and len(grids) > 1:
            raise UsageError("--certificate proves the answer about one grid; give --round once")
        first = Program.of(given)
        if not isinstance(first.model, ProgramChain):
            raise UsageError("--round is for what a program returns; this one asks somebody")
        others: Any = (replace(first, model=program_model(given, grid=grid)) for grid in grids[1:])
        return cls(asked=(first, *others), grids=grids, threshold=first.threshold)

    def hint(self) -> str:
        return self.asked[0].hint()

    def ask(self, limits: Limits) -> tuple[DeltaAnswer, ...]:
        from bisimdist.progress import Deadline

        found = []
        for number, question in enumerate(self.asked):
            left = limits.deadline.left()
            share = None if left is None else left / (len(self.asked) - number)
            found.append(question.ask(replace(limits, deadline=Deadline.after(share))))
        return tuple(found)

    def _of_first(self) -> Question[Any]:
        first = self.asked[0]
        return first if self.threshold is None else AtMost(asked=first, threshold=self.threshold)

    def unknown(self, reason: str) -> Plain | None:
        return self._of_first().unknown(reason)

    def _verdicts(self, answers: Sequence[DeltaAnswer]) -> list[Settled]:
        """Return for each grid whether all pairs have at most the delta that is claimed."""
        asked = [
            AtMost(asked=one, threshold=self.threshold) for one in self.asked if self.threshold is not None
        ]
        return [one.settled(answer) for one, answer in zip(asked, answers, strict=False)]

    def settled(self, answer: tuple[DeltaAnswer, ...]) -> Settled:
        if self.threshold is not None:
            return joint(self._verdicts(answer))
        return joint(one.settled(found) for one, found in zip(self.asked, answer, strict=True))

    def rows(self, answers: Sequence[DeltaAnswer]) -> list[dict[str, str]]:
        """Return for each grid its worst pair, bounds on its delta, what is claimed and the verdict."""
        from bisimdist.exact.rational import format_rational

        said = [
            {"claimed": str(self.threshold), "verdict": verdict_word(verdict)}
            for verdict in self._verdicts(answers)
        ]
        return [
            {
                "grid": format_rational(grid),
                "from": answer.worst.source,
                "to": answer.worst.target,
                "lower": format_rational(answer.lower),
                "upper": format_rational(answer.upper),
                **(said[number] if said else {}),
            }
            for number, (grid, answer) in enumerate(zip(self.grids, answers, strict=True))
        ]

    def data(self, answer: tuple[DeltaAnswer, ...]) -> dict[str, object]:
        data: Any = self._of_first().data(answer[0])
        if self.threshold is not None:
            data["verdict"] = verdict_word(self.settled(answer))
        limited = [found for found in answer if found.status.value == "limit"]
        data["status"] = limited[0].status.value if limited else data["status"]
        return {**data, "rounded": self.rows(answer)}

    def report(self, answer: tuple[DeltaAnswer, ...]) -> Report:
        from bisimdist.faces.shown.bounds import bounds_table
        from bisimdist.faces.shown.numbers import short_rational

        worst = max(range(len(answer)), key=lambda k: answer[k].upper)
        report = self.asked[worst].report(answer[worst])
        heads, cells = bounds_table(
            "delta", [(a.worst.source, a.worst.target, a.lower, a.upper) for a in answer]
        )
        rows = [(short_rational(grid), *row) for grid, row in zip(self.grids, cells, strict=True)]
        heading = f"{report.heading} of what is rounded to a grid"
        if self.threshold is not None:
            heads = (*heads, "claimed", "verdict")
            said = short_rational(self.threshold)
            rows = [
                (*row, said, verdict_word(verdict))
                for row, verdict in zip(rows, self._verdicts(answer), strict=True)
            ]
            heading += f": at most {said}?"
        remarks = report.remarks
        if len(answer) > 1:
            remarks = (f"What follows is about the grid {short_rational(self.grids[worst])}.", *remarks)
        return replace(report, heading=heading, columns=("grid", *heads), rows=tuple(rows), remarks=remarks)

    def report_of(
        self, answer: tuple[DeltaAnswer, ...], places: Sequence[int], every: Sequence[Mapping[str, Any]]
    ) -> Report:
        return self.report(answer)

    def figure(self, answer: tuple[DeltaAnswer, ...]) -> Any:
        from bisimdist.programs.program.curve import curve_figure

        return curve_figure(self.grids, answer, self.threshold)

    def content(self, option: Option[Any], path: str, answer: tuple[DeltaAnswer, ...]) -> Content:
        if option.name == options.PLOT.name:
            return super(OverGrids, self).content(option, path, answer)
        if option.name == options.CSV.name:
            from bisimdist.faces.shown.pair_table import csv_of_pairs

            return csv_of_pairs(self.rows(answer))
        if option.name == options.HTML.name:
            from bisimdist.programs.program.page import program_page

            return program_page(answer[0], self.report(answer))
        return self._of_first().content(option, path, answer[0])
