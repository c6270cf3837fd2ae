"""Loading models: from a path or a text to a model, with errors that name the file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bisimdist.bounded import read_at_most
from bisimdist.errors import ModelError, UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.io.ccsp import automaton_from_ccsp, looks_like_ccsp
from bisimdist.models.io.document import MapNode, Node
from bisimdist.models.io.expect import expect_text
from bisimdist.models.io.hmm_document import hmm_from_document
from bisimdist.models.io.json_text import read_json
from bisimdist.models.io.lmc_document import lmc_from_document
from bisimdist.models.io.pa_document import pa_from_document
from bisimdist.models.io.prism import read_prism
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA

__all__ = ["MAX_BYTES", "load_model", "parse_model"]

MAX_BYTES = 256 * 1024 * 1024
"""How large a model file may be."""

_KINDS: dict[str, Callable[[MapNode], LMC | PA | HMM]] = {
    "lmc": lmc_from_document,
    "pa": pa_from_document,
    "hmm": hmm_from_document,
}
_FORMATS = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".tra": "prism", ".ccsp": "ccsp"}


def load_model(
    source: str | Path,
    *,
    format: str | None = None,
    state_limit: int | None = None,
    prism_labels: bool = False,
) -> LMC | PA | HMM:
    """Load a model from a file.

    Parameters
    ----------
    source
        The path. The ``.lab`` file of a ``.tra`` file must lie beside it, and the ``.sta`` file may.
    format
        ``"json"``, ``"yaml"``, ``"prism"`` or ``"ccsp"``; by default what the extension says (.json, .yaml,
        .yml, .tra, .ccsp); without an extension, as for ``/dev/stdin``, what the content says.
    state_limit
        How many states the automaton of a CCS_p text may have; by default what the text says.
    prism_labels
        Whether the labels ``init`` and ``deadlock``, which PRISM itself declares, count. Where they are all
        that its files tell apart, the model has one label without them.

    Returns
    -------
    LMC, PA or HMM
        The model.

    Raises
    ------
    ModelError
        If the file cannot be read, is larger than `MAX_BYTES`, or makes no model: one line with file, place
        and line, what is wrong and what was expected.
    UsageError
        If there is no such format.
    """
    name = os.fspath(source)
    path = Path(name)
    chosen = format if format is not None else _FORMATS.get(path.suffix.lower())
    if chosen is None and path.suffix:
        raise ModelError(
            f"the extension {path.suffix!r} is not that of a model file; expected {', '.join(_FORMATS)}",
            source=name,
        )
    if chosen != "prism":
        return parse_model(_read(path, name), format=chosen, source=name, state_limit=state_limit)
    transitions = _decode(_read(path, name), name)
    labels, states = path.with_suffix(".lab"), path.with_suffix(".sta")
    if not labels.exists():
        raise ModelError(
            "there is no such file; expected the labels of the .tra file beside it", source=str(labels)
        )
    return read_prism(
        transitions,
        _decode(_read(labels, str(labels)), str(labels)),
        _decode(_read(states, str(states)), str(states)) if states.exists() else None,
        source=name,
        own_labels=prism_labels,
    )


def parse_model(
    text: str | bytes, *, format: str | None = None, source: str = "", state_limit: int | None = None
) -> LMC | PA | HMM:
    """Read a model from the text of a JSON, YAML or CCS_p file.

    Parameters
    ----------
    text
        The text; bytes are taken as UTF-8.
    format
        ``"json"``, ``"yaml"`` or ``"ccsp"``; by default JSON where the text begins with ``{``, CCS_p where it
        begins with a definition such as ``X = a.0;`` or with ``main``, ``pairs`` or ``limit``, else YAML.
    source
        What errors call the text.
    state_limit
        As in `load_model`.

    Raises
    ------
    ModelError
        If the text makes no model: one line with source, place and line, what is wrong and what was expected.
    UsageError
        If there is no such format, or it takes several files.

    Examples
    --------
    >>> model = parse_model("{kind: lmc, states: {s: a}, transitions: {s: {s: 1}}}", format="yaml")
    >>> model.states
    ('s',)
    """
    if format not in {None, "json", "yaml", "ccsp"}:
        raise UsageError(
            f"a model is not read from one text in the format {format!r}; expected json, yaml or ccsp"
        )
    content = _decode(text, source) if isinstance(text, bytes) else text.removeprefix("\ufeff")
    try:
        if format == "ccsp" or (format is None and looks_like_ccsp(content)):
            return automaton_from_ccsp(content, state_limit=state_limit)
        return _model(_document(content, format))
    except ModelError as error:
        raise error.with_source(source) from None


def _document(content: str, format: str | None) -> Node:
    if not content.strip():
        raise ModelError("the file is empty; expected a mapping with the key 'kind'")
    if format is None:
        format = "json" if content.lstrip().startswith("{") else "yaml"
    if format == "json":
        return read_json(content)
    # PyYAML takes a while to import, and JSON needs none of it.
    from bisimdist.models.io.yaml_text import read_yaml  # noqa: PLC0415

    return read_yaml(content)


def _model(root: Node) -> LMC | PA | HMM:
    known = ", ".join(_KINDS)
    if not isinstance(root, MapNode):
        raise ModelError(
            f"the file holds {root.describe()}; expected a mapping with the key 'kind' ({known})",
            line=root.line,
        )
    if "kind" not in root.entries:
        raise ModelError(f"the key 'kind' is missing; expected kind: {known}", line=root.line)
    kind = expect_text(root.entries["kind"], "kind", known)
    if kind not in _KINDS:
        raise ModelError(
            f"models of kind {kind!r} are not read; expected {known}",
            place="kind",
            line=root.entries["kind"].line,
        )
    return _KINDS[kind](root)


def _read(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            content = read_at_most(file, MAX_BYTES)
    except FileNotFoundError:
        raise ModelError("there is no such file; expected a model file", source=name) from None
    except IsADirectoryError:
        raise ModelError("this is a directory; expected a model file", source=name) from None
    except OSError as error:
        raise ModelError(
            f"the file cannot be read ({error.strerror or error}); expected a model file", source=name
        ) from None
    except ValueError as error:
        raise ModelError(f"this names no file ({error}); expected a model file", source=name) from None
    if len(content) > MAX_BYTES:
        raise ModelError(f"the file is larger than the {MAX_BYTES // 2**20} MiB allowed", source=name)
    return content


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"the byte 0x{content[error.start]:02x} at position {error.start} is not UTF-8; "
            "expected a text file",
            line=content.count(b"\n", 0, error.start) + 1,
            source=name,
        ) from None
