"""Loading models: from a path or a text to a model, with errors that name the file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, overload

from bisimdist.bounded import read_file
from bisimdist.errors import Located, ModelError, UsageError
from bisimdist.models.io.compressed import unpacked
from bisimdist.models.io.formats import FORMATS, Input, format_called, format_of, format_of_content, read_as
from bisimdist.models.io.reading import Reading
from bisimdist.models.kinds import HMM, LMC, PA, AnyModel
from bisimdist.models.model import WrongKindError, called

M = TypeVar("M", bound=AnyModel)


@overload
def load_model(
    source: str | Path,
    *,
    kind: None = None,
    format: str | None = None,
    reading: Reading | None = None,
    **options: Any,
) -> AnyModel: ...


@overload
def load_model(
    source: str | Path,
    *,
    kind: type[M],
    format: str | None = None,
    reading: Reading | None = None,
    **options: Any,
) -> M: ...


def load_model(
    source: str | Path,
    *,
    kind: type[Any] | None = None,
    format: str | None = None,
    reading: Reading | None = None,
    **options: Any,
) -> Any:
    """Load a model from a file.

    Parameters
    ----------
    source
        The path, also of a pipe or a device. The ``.lab`` and ``.sta`` files of a ``.tra`` file lie beside
        it; without them state 0 is the initial one, and states are called by their numbers.
    kind
        The class that the model has to be of, such as `LMC`; any by default.
    format
        The name of one of `bisimdist.models.io.formats.FORMATS`: ``"json"``, ``"yaml"``, ``"ccsp"``, PRISM's
        explicit files (``"prism"``) or its language (``"prism-language"``), ``"jani"``, ``"drn"``, ``"umb"``.
        By default what the extension says (.json, .yaml, .yml, .ccsp, .tra, .prism, .pm, .nm, .sm, .jani,
        .drn, .umb), behind which .gz, .xz or .bz2 may stand; with any other, or none, as for ``/dev/stdin``,
        what the content says. What is compressed is unpacked, whatever it is called.
    reading, options
        How the model is to be taken: the fields of `bisimdist.models.io.Reading`, such as ``pairs``,
        ``constants`` or ``observe_variables``, one by one or all at once.

    Returns
    -------
    LMC, PA, HMM or Interactive
        The model.

    Raises
    ------
    ModelError
        If the file cannot be read, is larger than 256 MiB (unpacked), or makes no model: one line with file,
        place and line, what is wrong and what was expected.
    UsageError
        If there is no such format, the tool that reads it is not installed, or the model is to be taken in a
        way that does not fit it.
    WrongKindError
        A UsageError that says how to convert, if the model is of another kind.
    LimitError
        If another tool takes too long to read it.

    Examples
    --------
    >>> import bisimdist
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "model.yaml"
    ...     _ = file.write_text("{kind: lmc, states: {s: a}, transitions: {s: {s: 1}}}")
    ...     print(bisimdist.load_model(file, kind=bisimdist.LMC).states)
    ('s',)
    """
    name = os.fspath(source)
    chosen = format_of(Path(name)) if format is None else format_called(format)
    if chosen is None and name.lower().endswith(".py"):
        raise ModelError("this is a program; expected FILE.py:FUNCTION", source=name)
    content = _unpacked(read_file(name, expected="a model file"), name)
    known = chosen or format_of_content(content)
    given = Input(content=content, path=name, reading=_reading(reading, options))
    try:
        model = read_as(known, given)
    except ModelError as error:
        if chosen is None and not error.source:
            message = f"{error.message} (taken for {known.name} by its content; --format says otherwise)"
            error = ModelError(message, place=error.place, line=error.line)
        raise error.with_source(name) from None
    if kind is not None and not isinstance(model, kind):
        raise WrongKindError(
            f"{name} holds {called(type(model))}; expected {called(kind)} (convert makes one)"
        )
    return model


def load_chain(source: str | Path, **options: Any) -> LMC:
    """Load a labelled Markov chain: `load_model` with its kind.

    Parameters
    ----------
    source, options
        As in `load_model`.

    Returns
    -------
    LMC
        The model.

    Examples
    --------
    >>> import bisimdist, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "chain.yaml")
    ...     _ = file.write_text("{kind: lmc, states: {s: a}, transitions: {s: {s: 1}}}")
    ...     bisimdist.models.load_chain(file).states
    ('s',)
    """
    return load_model(source, kind=LMC, **options)


def load_automaton(source: str | Path, **options: Any) -> PA:
    """Load a probabilistic automaton: `load_model` with its kind.

    Parameters
    ----------
    source, options
        As in `load_model`.

    Returns
    -------
    PA
        The model.

    Examples
    --------
    >>> import bisimdist, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "automaton.yaml")
    ...     _ = file.write_text("{kind: pa, states: [s], transitions: [{from: s, action: a, to: {s: 1}}]}")
    ...     bisimdist.models.load_automaton(file).states
    ('s',)
    """
    return load_model(source, kind=PA, **options)


def load_hmm(source: str | Path, **options: Any) -> HMM:
    """Load a hidden Markov model: `load_model` with its kind.

    Parameters
    ----------
    source, options
        As in `load_model`.

    Returns
    -------
    HMM
        The model.

    Examples
    --------
    >>> import bisimdist, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "hmm.yaml")
    ...     model = bisimdist.build_any_example("contagious-disease")
    ...     _ = file.write_text(bisimdist.write_model(model, "yaml"))
    ...     bisimdist.models.load_hmm(file).observations
    ('0', '1', '2')
    """
    return load_model(source, kind=HMM, **options)


def parse_model(
    text: str | bytes,
    *,
    format: str | None = None,
    source: str = "",
    reading: Reading | None = None,
    **options: Any,
) -> AnyModel:
    """Read a model from the content of a file that stands alone.

    Parameters
    ----------
    text
        The text, or bytes: of text UTF-8.
    format
        As in `load_model`, but for PRISM's explicit files. By default JSON where the text begins with an
        opening bracket and a quote, CCS_p where it begins with a definition such as ``X = a.0;`` or with
        ``main``, ``pairs`` or ``limit``, and so on; YAML where nothing else fits.
    source
        What errors call the text.
    reading, options
        As in `load_model`.

    Returns
    -------
    LMC, PA, HMM, Interactive or IntervalChain
        The model.

    Raises
    ------
    ModelError
        If the text makes no model: one line with source, place and line, what is wrong and what was expected.
    UsageError
        As in `load_model`, or if the format takes several files.
    LimitError
        If another tool takes too long to read it.

    Examples
    --------
    >>> model = parse_model("{kind: lmc, states: {s: a}, transitions: {s: {s: 1}}}")
    >>> model.states
    ('s',)
    """
    alone = [known.name for known in FORMATS if not known.beside]
    if format not in {None, *alone}:
        expected = f"{', '.join(alone[:-1])} or {alone[-1]}"
        raise UsageError(f"a model is not read from one text in the format {format!r}; expected {expected}")
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else _unpacked(text, source)
    chosen = format_of_content(content) if format is None else format_called(format)
    with Located(source=source):
        return read_as(chosen, Input(content=content, reading=_reading(reading, options)))


def _unpacked(content: bytes, source: str) -> bytes:
    with Located(source=source):
        return unpacked(content)


def _reading(reading: Reading | None, options: dict[str, Any]) -> Reading:
    return Reading(**options) if reading is None else replace(reading, **options)
