"""The built-in case studies, as model files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked.conversion import Writing, WritingModel, Written, chosen_format
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import BY_PAPER, JSON, OUTPUT, OUTPUT_FORMAT
from bisimdist.faces.asked.question import Group, Question

if TYPE_CHECKING:
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.library.registry import ExampleInfo
    from bisimdist.progress import Limits

CALCULUS = "ccsp"  # the format of examples that are written in the process calculus


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Question["Sequence[ExampleInfo]"]):
    """Write the built-in case study NAME[,key=value...] as a model file, or list all of them."""

    command = "example"
    group = Group.TOOLS
    argument = "[NAME]"
    options = (
        OUTPUT_FORMAT.but(help="The format to write: json (default), yaml, dot, prism or ccsp."),
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
        from bisimdist.faces.shown.tables import Report

        if self.by_paper:
            return Report(
                columns=("paper", "number", "model", "what it is"),
                rows=tuple(_by_paper(answer)),
                remarks=("bisimdist paper KEY NUMBER runs what is said of it.",),
            )
        return Report(
            columns=("name", "parameters and their defaults", "what it is"),
            rows=tuple(
                (info.name, ", ".join(f"{p.name}={p.default}" for p in info.parameters), info.description)
                for info in answer
            ),
            remarks=("Use one as example:NAME[,key=value...] in place of a file.",),
        )


def _by_paper(examples: Sequence[ExampleInfo]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the case studies by the statements of papers, with the parameters that these give them."""
    from bisimdist.modelling.paper.rows import papers

    described = {info.name: info.description for info in examples}
    for row in (row for paper in papers() for row in paper.rows):
        models = dict.fromkeys(run.model for run in row.runs if run.model)
        named = {_name(model) for model in models}
        cited = [info.name for info in examples if f"{row.key} {row.number}" in info.papers]
        for model in (*models, *(f"example:{name}" for name in cited if name not in named)):
            yield row.key, row.number, model, described[_name(model)]


def _name(model: str) -> str:
    return model.removeprefix("example:").split(",")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text(Writing):
    """Write an example as it stands in the process calculus."""

    name: str

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        return Example.read(given)

    def ask(self, limits: Limits) -> Written:
        from bisimdist.models.library.registry import example_as_text

        return Written({"": example_as_text(self.name)})
