"""What a model looks like, or the same model in another format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked.conversion import WritingModel
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import JSON, OUTPUT, OUTPUT_FORMAT, SVG, TIMEOUT
from bisimdist.faces.asked.question import Content, Group, Question

if TYPE_CHECKING:
    from bisimdist.faces.asked.option import Option
    from bisimdist.faces.shown.summary import Summary
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.kinds import AnyModel
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Show(Question["Summary"]):
    """Summarise a model, or convert it."""

    command = "show"
    group = Group.TOOLS
    options = (
        OUTPUT_FORMAT.but(
            help="Convert or draw the model instead: json, yaml, dot, svg, prism, umb, drn, lean or rocq."
        ),
        OUTPUT.but(help="The file to write (prism: a file stem)."),
        SVG.but(help="Draw the model, beside its summary."),
        TIMEOUT,
        JSON,
    )

    model: AnyModel
    source: str

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        if given[OUTPUT_FORMAT] is not None or given[OUTPUT] is not None:
            if given[JSON]:
                raise UsageError("--json prints a summary, --format and -o convert; expected one of them")
            if given[SVG] is not None:
                raise UsageError(
                    "--svg draws beside a summary, -o and --format convert; expected one of them"
                )
            return WritingModel.read(given)
        return cls(model=given.any_model(), source=given.source)

    def ask(self, limits: Limits) -> Summary:
        from bisimdist.faces.shown.summary import summarise

        return summarise(self.model)

    def data(self, answer: Summary) -> dict[str, object]:
        data = answer.data()
        identity = {key: data[key] for key in ("digest", "states") if key in data}
        return {"command": self.command, "model": identity, **data}

    def report(self, answer: Summary) -> Report:
        return answer.report(self.source)

    def content(self, option: Option[Any], path: str, answer: Summary) -> Content:
        from bisimdist.models.io.svg import write_svg

        return write_svg(self.model)
