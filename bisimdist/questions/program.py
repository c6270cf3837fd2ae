"""The true delta of a program, and where in its source the runs part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.questions.delta import Delta
from bisimdist.questions.given import Given
from bisimdist.questions.option import Option
from bisimdist.questions.options import HTML
from bisimdist.questions.program_source import is_program
from bisimdist.questions.question import Content, Group, Question

if TYPE_CHECKING:
    from bisimdist.analysis.delta import DeltaAnswer
    from bisimdist.report.tables import Report

__all__ = ["Program"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Delta):
    """Bound what a Python function leaks: the true delta of two inputs, from both sides.

    The function's first parameter is the input, one named rng the random source, one named analyst
    somebody who asks; all others have defaults. What is seen is what it returns and, with --observe, how it
    got there. The answer names the lines of the source where the runs part. MODEL is
    FILE.py:FUNCTION.
    """

    command = "program"
    tabled = "measured"
    group = Group.DELTA
    example = "survey.py:response --alpha 2 --input True --input False"
    options = (
        *(option for option in Delta.options if option.name != HTML.name),
        HTML.but(help="Write the source with what leaks, line by line, as a page."),
    )

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        if not is_program(given.argument):
            raise UsageError(f"{given.argument[:60]}: expected FILE.py:FUNCTION{_such_as(given.argument)}")
        return super(Program, cls).read(given)

    def data(self, answer: DeltaAnswer) -> dict[str, object]:
        from bisimdist.analysis.program_answer import program_data

        return program_data(answer, Delta.data(self, answer))

    def content(self, option: Option[Any], path: str, answer: DeltaAnswer) -> Content:
        if option.name != HTML.name:
            return super(Program, self).content(option, path, answer)
        from bisimdist.analysis.program_page import program_page

        return program_page(answer, self.report(answer))

    def report(self, answer: DeltaAnswer) -> Report:
        from bisimdist.analysis.program_answer import program_report

        return program_report(answer, Delta.report(self, answer))


def _such_as(argument: str) -> str:
    """Return the first functions that a file of Python has, to copy."""
    import re
    from pathlib import Path

    try:
        text = Path(argument).read_text(encoding="utf-8") if argument.endswith(".py") else ""
    except (OSError, ValueError):
        text = ""
    found = [f"{argument}:{name}" for name in re.findall(r"^def ([a-zA-Z]\w*)", text, re.MULTILINE)]
    return ", such as " + ", ".join(found[:3]) if found else ""
