"""The true delta of a program, and where in its source two runs differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import HTML, ROUND
from bisimdist.faces.asked.program_source import is_program
from bisimdist.faces.asked.question import Content, Group, Question
from bisimdist.privacy.delta.command import Delta

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.shown.tables import Report
    from bisimdist.privacy.delta.ask import DeltaAnswer
    from bisimdist.programs.chain import ProgramChain


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Delta):
    """Bound what a Python function leaks: the true delta of two inputs, from both sides.

    MODEL is FILE.py:FUNCTION, or FILE.wasm:FUNCTION of compiled code. The first parameter of the function is
    the input. In Python, a parameter named rng is the random source, and one named analyst is somebody who
    asks; all others need defaults. An observer sees what the function returns and, with --observe, how it got
    there. The answer names the lines of the source where the two runs differ.
    """

    command = "program"
    tabled = "measured"
    group = Group.DELTA
    example = "survey.py:response --alpha 2 --input True --input False"
    options = (
        *(option for option in Delta.options if option.name != HTML.name),
        ROUND,
        HTML.but(help="Write the source as a page, and mark the lines that leak."),
    )

    grids: tuple[tuple[fmpq, ProgramChain], ...] = ()

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        if not is_program(given.argument):
            kind = "wasm" if given.argument.endswith(".wasm") else "py"
            such_as = _such_as(given.argument)
            raise UsageError(f"{given.argument[:60]}: expected FILE.{kind}:FUNCTION{such_as}")
        return super(Program, cls).read(given)

    @classmethod
    def of(cls, given: Given, alpha: str | None = None) -> Program:
        from bisimdist.faces.asked.program_source import program_model
        from bisimdist.programs.chain import ProgramChain

        asked: Any = super(Program, cls).of(given, alpha)
        grids: tuple[fmpq, ...] = given[ROUND]
        if grids and not isinstance(asked.model, ProgramChain):
            raise UsageError("--round is for what a program returns; this one asks somebody")
        models = [asked.model, *(program_model(given, grid=grid) for grid in grids[1:])]
        found: Program = replace(asked, grids=tuple(zip(grids, models, strict=False)))
        return found

    def rounded(self) -> list[tuple[fmpq, fmpq, fmpq]]:
        """Return for each grid bounds on the delta of what is rounded to it, of the worst pair."""
        from bisimdist.privacy.delta.ask import delta

        found = []
        for grid, chain in self.grids:
            said: dict[str, Any] = self.skew.said
            answer = delta(chain, pairs=self.pairs, gap=self.gap, **said)
            found.append((grid, answer.lower, answer.upper))
        return found

    def data(self, answer: DeltaAnswer) -> dict[str, object]:
        from bisimdist.exact.rational import format_rational
        from bisimdist.programs.program.answer import program_data

        data = program_data(answer, Delta.data(self, answer))
        if self.grids:
            said = map(format_rational, (part for row in self.rounded() for part in row))
            data["rounded"] = [
                dict(zip(("grid", "lower", "upper"), row, strict=True))
                for row in zip(said, said, said, strict=True)
            ]
        return data

    def content(self, option: Option[Any], path: str, answer: DeltaAnswer) -> Content:
        if option.name != HTML.name:
            return super(Program, self).content(option, path, answer)
        from bisimdist.programs.program.page import program_page

        return program_page(answer, self.report(answer))

    def report(self, answer: DeltaAnswer) -> Report:
        from bisimdist.faces.shown.numbers import at_least, at_most, short_rational
        from bisimdist.programs.program.answer import program_report

        report = program_report(answer, Delta.report(self, answer))
        if not self.grids:
            return report
        lines = [
            f"Rounded to multiples of {short_rational(grid)}: delta is "
            + (short_rational(upper) if lower == upper else f"from {at_least(lower)} to {at_most(upper)}")
            + "."
            for grid, lower, upper in self.rounded()
        ]
        return replace(report, remarks=(*report.remarks, *lines))


def _such_as(argument: str) -> str:
    """Return the first functions that a file of Python, or a module, has, to copy."""
    import re
    from pathlib import Path

    from bisimdist.errors import ModelError

    if argument.endswith(".wasm"):
        from bisimdist.programs.wasm.module import Module

        try:
            exports = Module.read(argument).exports
        except ModelError as error:
            return f" ({error.message})"
        there = [f"{argument}:{name}" for name, export in exports.items() if export.kind == "function"]
        return ", such as " + ", ".join(there[:3]) if there else ""
    try:
        text = Path(argument).read_text(encoding="utf-8") if argument.endswith(".py") else ""
    except (OSError, ValueError):
        text = ""
    found = [f"{argument}:{name}" for name in re.findall(r"^def ([a-zA-Z]\w*)", text, re.MULTILINE)]
    return ", such as " + ", ".join(found[:3]) if found else ""
