"""The built-in case studies, as model files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.questions.conversion import Writing, WritingModel, Written, chosen_format
from bisimdist.questions.given import Given
from bisimdist.questions.options import BY_PAPER, JSON, OUTPUT, OUTPUT_FORMAT
from bisimdist.questions.question import Group, Question

if TYPE_CHECKING:
    from bisimdist.models.library.registry import ExampleInfo
    from bisimdist.progress import Limits
    from bisimdist.report.tables import Report

__all__ = ["Example"]

CALCULUS = "ccsp"
"""The format of examples that are written in the process calculus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Question["Sequence[ExampleInfo]"]):
    """Write the built-in case study NAME[,key=value...] as a model file; without NAME list them all."""

    command = "example"
    group = Group.TOOLS
    argument = "[NAME]"
    options = (
        OUTPUT_FORMAT.but(help="json (default), yaml, dot, prism or ccsp."),
        OUTPUT,
        BY_PAPER,
        JSON,
    )

    by_paper: bool = False

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        from bisimdist.models.library.registry import build_any_example

        if given.values.get("argument") is None:
            if given[OUTPUT_FORMAT] is not None or given[OUTPUT] is not None:
                raise UsageError(
                    "--format and -o write an example; say which one (without NAME they are listed)"
                )
            return cls(by_paper=given[BY_PAPER])
        if given[BY_PAPER]:
            raise UsageError("--papers lists the case studies; expected no NAME with it")
        name = given.argument.removeprefix("example:")
        chosen, output = chosen_format(given, more=CALCULUS), given[OUTPUT]
        if chosen == CALCULUS:
            return _Text(name=name, format=chosen, output=output)
        return WritingModel(model=build_any_example(name), format=chosen, output=output)

    def ask(self, limits: Limits) -> Sequence[ExampleInfo]:
        del limits
        from bisimdist.models.library.registry import list_examples

        return list_examples()

    def data(self, answer: Sequence[ExampleInfo]) -> dict[str, object]:
        return {
            "command": self.command,
            "examples": [
                {
                    "name": info.name,
                    "description": info.description,
                    "parameters": [
                        {"name": p.name, "default": p.default, "expected": p.expected}
                        for p in info.parameters
                    ],
                    "papers": list(info.papers),
                }
                for info in answer
            ],
        }

    def report(self, answer: Sequence[ExampleInfo]) -> Report:
        from bisimdist.report.tables import Report

        if self.by_paper:
            cited = sorted(
                ((paper.split(" ", 1), info) for info in answer for paper in info.papers),
                key=lambda entry: entry[0],
            )
            return Report(
                columns=("paper", "number", "name", "what it is"),
                rows=tuple((paper, number, info.name, info.description) for (paper, number), info in cited),
                remarks=("Where all other numbers of the papers live is said in docs/papers.md.",),
            )
        return Report(
            columns=("name", "parameters and their defaults", "what it is"),
            rows=tuple(
                (info.name, ", ".join(f"{p.name}={p.default}" for p in info.parameters), info.description)
                for info in answer
            ),
            remarks=("Use one as example:NAME[,key=value...] in place of a file.",),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text(Writing):
    """Write an example as it stands in the process calculus."""

    name: str

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        return Example.read(given)

    def ask(self, limits: Limits) -> Written:
        del limits
        from bisimdist.models.library.registry import example_as_text

        return Written({"": example_as_text(self.name)})
