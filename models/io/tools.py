"""PRISM's language, JANI and DRN through Storm (the extra ``storm``), UMB through umbi (the extra ``umb``).

They work in a process of its own, under limits of time, memory and states, with exact rationals, and this
half takes it from there.

References
----------
.. [1] PRISM manual, "The PRISM Language".
.. [2] Budde et al., "JANI: Quantitative Model and Tool Interaction", TACAS 2017.
.. [3] Hensel, Junges, Katoen, Quatmann, Volk, "The probabilistic model checker Storm", STTT 2022.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flint import fmpq

from bisimdist.bounded import MAX_BYTES, read_at_most
from bisimdist.errors import LimitError, ModelError, UsageError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.exact.rational import ExactNumber, format_rational, parse_rational, to_fmpq
from bisimdist.extras import needed
from bisimdist.models.entries import read_entry
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.io.explicit import Choice, Explicit, observed
from bisimdist.models.io.reading import Reading
from bisimdist.models.labelled import Row
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.models.parametric import ParametricChain

__all__ = ["looks_like_drn", "looks_like_jani", "looks_like_prism_language", "looks_like_umb", "read_by_tool"]

STATES = 2_000_000
"""How many states a model may have, unless somebody says otherwise."""

SECONDS = 600.0
"""How long Storm may take, unless somebody says otherwise."""

MEMORY = 8 << 30
"""How much address space Storm may take."""

_PRISM = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|//[^\n]*(?:\n|$))*+"
    rb"(?:dtmc|mdp|ctmc|pomdp|pta|probabilistic|nondeterministic|stochastic)\s*+"
    rb"(?:\s|//[^\n]*(?:\n|$))*+(?:$|[a-z])"
)
_DECLARATION = re.compile(r"\b([A-Za-z_]\w*+)\s*+:\s*+(?:\[|bool\b|int\b)")
_RENAMED = re.compile(r"=\s*+([A-Za-z_]\w*+)\s*+[,\]]")
_DRN = re.compile(rb"(?:\s|//[^\n]*(?:\n|$))*+@(?:type|value_type)\s*:")
_JANI = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{[^{}]{0,2000}"jani-version"')


def looks_like_prism_language(content: bytes) -> bool:
    r"""Tell whether a content begins as a model in PRISM's language does.

    Examples
    --------
    >>> looks_like_prism_language(b"// a coin\ndtmc\nmodule m"), looks_like_prism_language(b"dtmc: a")
    (True, False)
    """
    return _PRISM.match(content) is not None


def looks_like_jani(content: bytes) -> bool:
    """Tell whether a content begins as a JANI model does."""
    return _JANI.match(content) is not None


def looks_like_drn(content: bytes) -> bool:
    """Tell whether a content begins as a DRN file does."""
    return _DRN.match(content) is not None


def looks_like_umb(content: bytes) -> bool:
    """Tell whether a content is an archive, compressed or not: what no other format is."""
    return content.startswith((b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh")) or content[257:262] == b"ustar"


def read_by_tool(
    content: bytes, language: str, reading: Reading
) -> LMC | PA | Interactive | IntervalChain | ParametricChain:
    """Return the model that the content of a file stands for.

    Parameters
    ----------
    content
        The content.
    language
        ``"prism"``, ``"jani"``, ``"drn"`` or ``"umb"``.
    reading
        How it is to be taken. A CTMC is taken as the chain of its jumps; real constants of a chain that are
        left open become parameters between 0 and 1.

    Raises
    ------
    UsageError
        If the tool is not installed.
    ModelError
        If the content makes no model, or it is too large.
    LimitError
        If the tool takes too long.
    """
    package, extra = ("umbi", "umb") if language == "umb" else ("stormpy", "storm")
    if find_spec(package) is None:
        needed(package, extra)
    if language == "umb":
        content = _unpacked(content)
    request = {
        "language": language,
        "constants": {
            name: _constant(value)
            for name, value in reading.constants.items()
            if not isinstance(value, tuple)
        },
        "shared": reading.shared,
        "state_limit": reading.state_limit or STATES,
        "memory": MEMORY,
        "seconds": SECONDS if reading.seconds is None else max(reading.seconds, 0),
    }
    data: Any = _answer(content, request)
    if "error" in data:
        raise ModelError(data["error"])
    if data["kind"] in {"ctmc", "jumps"}:
        reading.note(
            "a CTMC is taken as the chain of its jumps: an observer does not see how long a state lasts"
        )
    if language == "prism":
        data["variables"] = _as_declared(data["variables"], content.decode("utf-8", "replace"))
    rationaliser = Rationaliser() if reading.rationalise or reading.enclose else None
    return observed(_explicit(data, rationaliser, enclose=reading.enclose), reading, rationaliser)


def _as_declared(variables: Mapping[str, list[str]], text: str) -> dict[str, list[str]]:
    """Return variables in the order in which they are declared, or made by renaming a module."""
    place: dict[str, int] = {}
    for pattern in (_DECLARATION, _RENAMED):
        for match in pattern.finditer(text):
            place.setdefault(match[1], match.start())
    return dict(sorted(variables.items(), key=lambda entry: place.get(entry[0], len(text))))


def _unpacked(content: bytes) -> bytes:
    """Return an archive without its compression, which may hide how large it is."""
    file: Any = io.BytesIO(content)
    openers: dict[bytes, Callable[[Any], Any]] = {
        b"\x1f\x8b": gzip.open,
        b"\xfd7": lzma.open,
        b"BZ": bz2.open,
    }
    opener = openers.get(content[:2])
    try:
        plain = read_at_most(opener(file) if opener else file, MAX_BYTES)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise ModelError(f"the archive cannot be read ({error}); expected a UMB file") from None
    if plain is None:
        raise ModelError(f"the archive unpacks to more than the {MAX_BYTES >> 20} MiB allowed")
    return plain


def _constant(value: ExactNumber | bool) -> str | int | bool:
    """Return a constant as the worker takes it: a text is a rational."""
    if isinstance(value, bool):
        return value
    number = to_fmpq(value)
    return int(number.p) if number.q == 1 else format_rational(number)


def _answer(content: bytes, request: Mapping[str, Any]) -> Any:
    """Run the worker, and return what it wrote."""
    seconds = request["seconds"]
    with TemporaryDirectory(prefix="bisimdist-") as name:
        folder = Path(name)
        source = folder / f"model.{request['language']}"
        source.write_bytes(content)
        (folder / "request.json").write_text(json.dumps({**request, "path": str(source)}), encoding="utf-8")
        worker = Path(__file__).with_name("tool_worker.py")
        command = [sys.executable, "-P", str(worker), name]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                raise LimitError(
                    f"the model was not built within {seconds:g} s; a smaller one, or more time (--timeout), "
                    "would do"
                ) from None
            finally:
                process.kill()
        answer = folder / "answer.json"
        if code != 0 or not answer.exists():
            raise ModelError(
                f"the tool ended without a model ({_ending(code)}); expected a smaller one, or one that is "
                "nested less deeply"
            )
        return json.loads(answer.read_bytes())


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}; the memory it may take is {MEMORY >> 30} GiB"
    return f"signal {signal.Signals(-code).name}"


def _explicit(data: Any, rationaliser: Rationaliser | None, *, enclose: bool) -> Explicit:
    parameters = tuple(data.get("parameters", ()))
    around: dict[fmpq, tuple[fmpq, fmpq]] = {}
    values: list[Any] = []
    for number, text in enumerate(data["values"]):
        if text.startswith("["):
            low, high = (parse_rational(end.strip()) for end in text[1:-1].split(","))
            around[fmpq(number + 1)] = low, high
            values.append(fmpq(number + 1))  # stands for the interval
        else:
            values.append(read_entry(text, parameters))
    if data.get("doubles") and rationaliser is None:
        raise ModelError(
            "the probabilities are doubles; expected rationals, or --rationalise for the simplest ones "
            "within one unit in the last place"
        )
    if rationaliser is not None:
        values = [rationaliser.of_decimal(value) for value in values]
    if enclose and (
        data["kind"] == "ctmc" or any(len({t for t, _ in row}) < len(row) for row in data["rows"])
    ):
        raise UsageError(
            "doubles are enclosed where each is the probability of one successor, and of no rate"
        )
    rows = [_row(row, values) for row in data["rows"]]
    if data["kind"] == "ctmc":
        rows = [_jumps(row) for row in rows]
    actions = data["actions"]
    variables = data["variables"]
    own = data.get("own") or {}
    return Explicit(
        names=tuple(own["states"]) if "states" in own else _names(variables, data["states"]),
        neighbours=tuple((s, t) for s, t in own.get("pairs", ())),
        choices=tuple(
            tuple(Choice(actions[k], rows[k]) for k in range(first, last)) for first, last in data["groups"]
        ),
        nondeterministic=data["kind"] == "mdp",
        propositions={name: frozenset(states) for name, states in data["labels"].items()},
        variables=variables,
        initial=tuple(data["initial"]),
        parameters=parameters,
        around=around,
    )


def _row(row: list[tuple[int, int]], values: list[Any]) -> Row:
    """Return a row with one entry for each state, where a file may list several."""
    made: dict[int, fmpq] = {}
    for target, number in row:
        made[target] = made.get(target, fmpq(0)) + values[number]
    return tuple((target, p) for target, p in sorted(made.items()) if p)


def _jumps(row: Row) -> Row:
    total = sum((rate for _, rate in row), fmpq(0))
    return tuple((target, rate / total) for target, rate in row)


def _names(variables: Mapping[str, list[str]], count: int) -> tuple[str, ...]:
    """Return the names of the states: their valuations, as PRISM lists them, or else their numbers."""
    names = tuple(map(",".join, zip(*variables.values(), strict=True)))
    if len(set(names)) == count:
        return names
    return tuple(str(state) for state in range(count))
