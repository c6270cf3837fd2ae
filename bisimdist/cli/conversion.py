"""Writing a model in one of the formats, to standard output or to files."""

from __future__ import annotations

from pathlib import PurePath

from bisimdist.cli.output import OutputFile, emit_text
from bisimdist.errors import UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.io import write_dot, write_model, write_prism
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA

__all__ = ["convert_model", "format_for"]

FORMATS = ("json", "yaml", "dot", "prism")
EXTENSIONS = {
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".dot": "dot",
    ".gv": "dot",
    ".tra": "prism",
}


def format_for(format_name: str | None, output: str | None, default: str) -> str:
    """Return the format to write: what was asked, else what the extension of the file says, else the default.

    Raises
    ------
    UsageError
        If there is no such format, or the extension says none.
    """
    expected = f"expected {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
    if format_name is not None:
        if format_name not in FORMATS:
            raise UsageError(f"--format {format_name}: no such format; {expected}")
        return format_name
    if output is None:
        return default
    suffix = PurePath(output).suffix.lower()
    if suffix not in EXTENSIONS:
        raise UsageError(f"-o {output}: the extension says no format; name it with --format, {expected}")
    return EXTENSIONS[suffix]


def convert_model(model: LMC | PA | HMM, chosen: str, output: str | None) -> None:
    """Write a model to a file, or to standard output where that is None.

    PRISM's format is several files beside each other: the name of `output` with an extension for each.

    Raises
    ------
    UsageError
        If a file cannot be written, or the model has no place in that format.
    """
    if isinstance(model, HMM) and chosen in {"prism", "dot"}:
        raise UsageError(f"--format {chosen}: hidden Markov models are written as json or yaml only")
    if isinstance(model, HMM):
        text = write_model(model, chosen)
    elif chosen == "prism":
        _write_prism_files(model, output)
        return
    else:
        text = write_dot(model) if chosen == "dot" else write_model(model, chosen)
    if output is None:
        emit_text(text)
        return
    with OutputFile(output, option="-o") as file:
        file.write(text)


def _write_prism_files(model: LMC | PA, output: str | None) -> None:
    if not isinstance(model, LMC):
        raise UsageError("--format prism: automata are not written in this format; expected a Markov chain")
    if output is None:
        raise UsageError("--format prism: makes several files; say where with -o, such as -o model.tra")
    stem = output.removesuffix(".tra")
    for extension, text in write_prism(model).items():
        with OutputFile(f"{stem}.{extension}", option="-o") as file:
            file.write(text)
