"""The formats of model files: how each is called, which extensions it has, how it begins, and who reads it.

A new format is a line in `FORMATS`. The extension of a file decides, where it is one of these; else the
content does: the first format that recognises it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bisimdist.bounded import decoded, read_file
from bisimdist.errors import Located, ModelError, UsageError
from bisimdist.models.io.ccsp import automaton_from_ccsp, looks_like_ccsp
from bisimdist.models.io.compressed import packed_names, plain_name, unpacked
from bisimdist.models.io.explicit import taken
from bisimdist.models.io.json_or_yaml import begins_json, model_of, read_document
from bisimdist.models.io.prism import looks_like_prism, read_prism
from bisimdist.models.io.reading import Reading
from bisimdist.models.io.tools import DRN, JANI, looks_like_prism_language, looks_like_umb, read_by_tool
from bisimdist.models.kinds import AnyModel

UNLABELLED = '0="init"\n0: 0\n'  # what stands in place of a ``.lab`` file that is not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What a reader is given."""

    content: bytes
    path: str | None = None  # what the file is called, for files beside it; None for a text that is no file
    reading: Reading = field(default_factory=Reading)  # how the model is to be taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format."""

    name: str
    extensions: tuple[str, ...]  # those of its files, in lower case
    # what is true of a content that seems to be of this format; asked in the order of `FORMATS`
    begins: Callable[[bytes], object]
    # makes the model. Errors name place and line; the file is added by the caller.
    read: Callable[[Input], AnyModel]
    beside: tuple[str, ...] = ()  # the extensions of the files that are read with it
    # whether it is another tool's: it has labels and variables to observe, and names states in its way
    foreign: bool = False
    symbolic: bool = False  # whether constants may be left open


def _read_ccsp(given: Input) -> AnyModel:
    return automaton_from_ccsp(decoded(given.content), state_limit=given.reading.state_limit)


def _read_prism(given: Input) -> AnyModel:
    if given.path is None:
        raise ModelError("this is a .tra file, which is read with the .lab file beside it; expected its path")
    path = plain_name(Path(given.path))
    labels = _beside(path, ".lab", "the labels of the .tra file beside it")
    if labels is None:
        missing = path.with_suffix(".lab")
        given.reading.note(f"there is no {missing}: state 0 is the initial one, and no state has a label")
    return read_prism(
        decoded(given.content),
        UNLABELLED if labels is None else labels,
        _beside(path, ".sta", "the states of the .tra file"),
        *(
            _beside(path, suffix, "rewards") if given.reading.observe_rewards else None
            for suffix in (".srew", ".trew")
        ),
        source=given.path,
        reading=given.reading,
    )


def _beside(path: Path, suffix: str, expected: str) -> str | None:
    """Return the text of a file beside another, compressed or not; None where there is none."""
    for name in packed_names(path.with_suffix(suffix)):
        if name.exists():
            with Located(source=str(name)):
                return decoded(unpacked(read_file(name, expected=expected)))
    return None


def _by_tool(language: str) -> Callable[[Input], AnyModel]:
    return lambda given: read_by_tool(given.content, language, given.reading)


FORMATS = (
    Format(
        name="jani",
        extensions=(".jani",),
        begins=JANI.match,
        read=_by_tool("jani"),
        foreign=True,
        symbolic=True,
    ),
    Format(
        name="prism-language",
        extensions=(".prism", ".pm", ".nm", ".sm"),
        begins=looks_like_prism_language,
        read=_by_tool("prism"),
        foreign=True,
        symbolic=True,
    ),
    Format(name="drn", extensions=(".drn",), begins=DRN.match, read=_by_tool("drn"), foreign=True),
    Format(name="umb", extensions=(".umb",), begins=looks_like_umb, read=_by_tool("umb"), foreign=True),
    Format(
        name="json",
        extensions=(".json",),
        begins=begins_json,
        read=lambda given: model_of(read_document(given.content, "json")),
    ),
    Format(
        name="ccsp",
        extensions=(".ccsp",),
        begins=lambda content: looks_like_ccsp(content.decode("utf-8-sig", "replace")),
        read=_read_ccsp,
    ),
    Format(
        name="prism",
        extensions=(".tra",),
        begins=looks_like_prism,
        read=_read_prism,
        beside=(".lab", ".sta", ".srew", ".trew"),
        foreign=True,
    ),
    Format(
        name="yaml",
        extensions=(".yaml", ".yml"),
        begins=lambda _: True,
        read=lambda given: model_of(read_document(given.content, "yaml")),
    ),
)  # all of them; the last one takes what no other recognises


def read_as(known: Format, given: Input) -> AnyModel:
    """Return the model that is read in a format.

    Raises UsageError if it is to be taken in a way that the format does not know.
    """
    reading = given.reading
    unused = None if known.foreign or reading.shared else reading.unused()
    if known.foreign and not known.symbolic and reading.constants and not reading.shared:
        unused = "constants"
    if unused is not None:
        formats = [one.name for one in FORMATS if (one.symbolic if unused == "constants" else one.foreign)]
        raise UsageError(
            f"{unused}: this is for models in the formats {', '.join(formats)}, not {known.name}"
        )
    model = known.read(given)
    return model if known.foreign else taken(model, reading)


def format_called(name: str) -> Format:
    """Return the format of a name."""
    for found in FORMATS:
        if found.name == name:
            return found
    known = [found.name for found in FORMATS]
    raise UsageError(f"there is no format {name!r}; expected {', '.join(known[:-1])} or {known[-1]}")


def format_of(path: Path) -> Format | None:
    """Return the format that the extension of a path says, or None."""
    suffix = plain_name(path).suffix.lower()
    return next((found for found in FORMATS if suffix in found.extensions), None)


def format_of_content(content: bytes) -> Format:
    """Return the format that a content seems to be of."""
    return next(found for found in FORMATS if found.begins(content))


def files_beside(path: Path, name: str | None) -> list[Path]:
    """Return the files that may be read with a file in the format that is called `name`, or in any."""
    chosen = format_of(path) if name is None else format_called(name)
    of = FORMATS if chosen is None else (chosen,)
    return [
        name
        for found in of
        for suffix in found.beside
        for name in packed_names(plain_name(path).with_suffix(suffix))
    ]
