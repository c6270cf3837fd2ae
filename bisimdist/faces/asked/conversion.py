"""A model as a text in one of the formats: what ``convert``, ``show`` and ``example`` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import JSON, OUTPUT, OUTPUT_FORMAT
from bisimdist.faces.asked.question import Question

if TYPE_CHECKING:
    from bisimdist.models.kinds import AnyModel
    from bisimdist.models.lmc import LMC
    from bisimdist.progress import Limits

FORMATS = ("json", "yaml", "dot", "svg", "prism", "umb", "drn", "lean", "rocq")
EXTENSIONS = {
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".dot": "dot",
    ".gv": "dot",
    ".svg": "svg",
    ".tra": "prism",
    ".umb": "umb",
    ".drn": "drn",
    ".lean": "lean",
    ".v": "rocq",
}
THEOREMS = ("lean", "rocq")
PRISM_FILES = ("tra", "lab", "sta")


def chosen_format(given: Given, *, more: str | None = None) -> str:
    """Return the format to write: what was asked, else what the extension of the file says, else JSON."""
    name, output = given[OUTPUT_FORMAT], given[OUTPUT]
    if given[JSON]:
        if name not in {None, "json"}:
            raise UsageError(f"--json and --format {name} were both given; expected one of them")
        return "json"
    expected = f"expected {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    if name is not None:
        if name not in (*FORMATS, more):
            raise UsageError(f"--format {name}: no such format; {expected}")
        return name
    if output is None:
        return "json"
    suffix = PurePath(output).suffix.lower()
    if more is not None and suffix == f".{more}":
        return more
    if suffix not in EXTENSIONS:
        raise UsageError(f"-o {output}: the extension says no format; name it with --format, {expected}")
    return EXTENSIONS[suffix]


def paths_of(output: str, format: str) -> list[str]:
    """Return the files that a model in a format becomes."""
    if format != "prism":
        return [output]
    stem = output.removesuffix(".tra")
    return [f"{stem}.{extension}" for extension in PRISM_FILES]


def texts_of(model: AnyModel, format: str, output: str | None) -> Mapping[str, str | bytes]:
    """Return a model in a format: the text, or the texts of its files by their extensions."""
    from bisimdist.models.hmm import HMM
    from bisimdist.models.io import write_dot, write_drn, write_model, write_prism, write_svg, write_umb
    from bisimdist.models.lmc import LMC

    if isinstance(model, HMM) and format in {"prism", "dot"}:
        raise UsageError(f"--format {format}: hidden Markov models are written as json, yaml or svg only")
    if format in {"prism", "drn", *THEOREMS} and not isinstance(model, LMC):
        raise UsageError(f"--format {format}: only Markov chains are written in this format")
    if format == "prism" and isinstance(model, LMC):
        if output is None:
            raise UsageError("--format prism: makes several files; say where with -o, such as -o model.tra")
        return write_prism(model)
    if format == "umb":
        if output is None:
            raise UsageError("--format umb: makes no text; say where with -o, such as -o model.umb")
        return {"": write_umb(model)}
    if isinstance(model, LMC) and format in {"drn", *THEOREMS}:
        return {"": write_drn(model) if format == "drn" else _theorem(model, format)}
    if format == "svg":
        return {"": write_svg(model)}
    if format == "dot" and not isinstance(model, HMM):
        return {"": write_dot(model)}
    return {"": write_model(model, format)}


def _theorem(model: LMC, assistant: str) -> str:
    from bisimdist.models.io.theorem import laws_of_chain
    from bisimdist.models.io.theorem_writers import WRITERS

    return WRITERS[assistant](laws_of_chain(model))


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a model, or the texts of its files by their extensions, and what is said of it."""

    texts: Mapping[str, str | bytes]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing(Question[Written]):
    """Write something to a file, or to standard output where `output` is None.

    PRISM's format is several files beside each other: the name of `output` with an extension for each.
    """

    format: str
    output: str | None

    def places(self, given: Given) -> list[tuple[Option[Any], str]]:
        if self.output is None:
            return []
        return [(OUTPUT, path) for path in paths_of(self.output, self.format)]

    def notes(self, answer: Written) -> list[str]:
        return list(answer.notes)

    def data(self, answer: Written) -> str:
        return self.report(answer)

    def report(self, answer: Written) -> str:
        return str(answer.texts[""]) if self.output is None else ""

    def content(self, option: Option[Any], path: str, answer: Written) -> str | bytes:
        return answer.texts[PurePath(path).suffix[1:] if self.format == "prism" else ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingModel(Writing):
    """Write a model as it is; subclasses write another one."""

    model: AnyModel

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        chosen = chosen_format(given)
        return cls(model=given.any_model(), format=chosen, output=given[OUTPUT])

    def made(self) -> tuple[AnyModel, tuple[str, ...]]:
        return self.model, ()

    def ask(self, limits: Limits) -> Written:
        model, notes = self.made()
        return Written(texts_of(model, self.format, self.output), notes)
