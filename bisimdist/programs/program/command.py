"""The true delta of a program, and where in its source two runs differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import HTML, PLOT, ROUND
from bisimdist.faces.asked.program_source import is_program
from bisimdist.faces.asked.question import Content, Group, Question
from bisimdist.privacy.delta.command import Delta

if TYPE_CHECKING:
    from bisimdist.faces.shown.tables import Report
    from bisimdist.privacy.delta.answer import DeltaAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Delta):
    """Bound what a Python function leaks: the true delta of two inputs, from both sides.

    MODEL is FILE.py:FUNCTION, or FILE.wasm:FUNCTION of compiled code. The first parameter of the function is
    the input. In Python, a parameter named rng is the random source, and one named analyst is an adversary
    who asks; all others need defaults. An observer sees what the function returns and, with --observe, how it
    got there. The answer names the lines of the source where the two runs differ.
    """

    command = "program"
    tabled = "measured"
    group = Group.DELTA
    example = "survey.py:response --alpha 2 --input True --input False"
    options = (
        *(option for option in Delta.options if option.name not in {HTML.name, PLOT.name}),
        ROUND,
        PLOT.but(help="With --round: draw delta by grid (.svg, .png, .pdf)."),
        HTML.but(help="Write the source as a page, and mark the lines that leak."),
    )

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        if not is_program(given.argument):
            kind = "wasm" if given.argument.endswith(".wasm") else "py"
            such_as = _such_as(given.argument)
            raise UsageError(f"{given.argument[:60]}: expected FILE.{kind}:FUNCTION{such_as}")
        if not given[ROUND]:
            if given[PLOT] is not None:
                raise UsageError(
                    "--plot: draws delta by the grid of the output; expected --round G, repeated"
                )
            return super(Program, cls).read(given)
        from bisimdist.programs.program.over import OverGrids

        return OverGrids.read(given)

    def data(self, answer: DeltaAnswer) -> dict[str, object]:
        from bisimdist.programs.program.answer import program_data

        return program_data(answer, Delta.data(self, answer))

    def content(self, option: Option[Any], path: str, answer: DeltaAnswer) -> Content:
        if option.name != HTML.name:
            return super(Program, self).content(option, path, answer)
        from bisimdist.programs.program.page import program_page

        return program_page(answer, self.report(answer))

    def report(self, answer: DeltaAnswer) -> Report:
        from bisimdist.programs.program.answer import program_report

        return program_report(answer, Delta.report(self, answer))


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
