"""PRISM's language, JANI and DRN, through Storm (the extra ``storm``), with exact rationals.

Storm builds the state space in a process of its own, under limits of time, memory and states, and this half
takes it from there.

References
----------
.. [1] PRISM manual, "The PRISM Language".
.. [2] Budde et al., "JANI: Quantitative Model and Tool Interaction", TACAS 2017.
.. [3] Hensel, Junges, Katoen, Quatmann, Volk, "The probabilistic model checker Storm", STTT 2022.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.exact.rational import ExactNumber, format_rational, parse_rational, to_fmpq
from bisimdist.extras import needed
from bisimdist.models.interactive import Interactive
from bisimdist.models.io.explicit import Choice, Explicit, observed
from bisimdist.models.io.reading import Reading
from bisimdist.models.labelled import Row
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA

__all__ = ["looks_like_drn", "looks_like_jani", "looks_like_prism_language", "read_by_storm"]

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


def read_by_storm(content: bytes, language: str, reading: Reading) -> LMC | PA | Interactive:
    """Return the model that a text stands for.

    Parameters
    ----------
    content
        The text.
    language
        ``"prism"``, ``"jani"`` or ``"drn"``.
    reading
        How it is to be taken. A CTMC is taken as the chain of its jumps.

    Raises
    ------
    UsageError
        If Storm is not installed.
    ModelError
        If the text makes no model, or not within the limits.
    """
    if find_spec("stormpy") is None:
        needed("stormpy", "storm")
    request = {
        "language": language,
        "constants": {name: _constant(value) for name, value in reading.constants.items()},
        "shared": reading.shared,
        "state_limit": reading.state_limit or STATES,
        "memory": MEMORY,
    }
    data = _answer(content, request, SECONDS if reading.seconds is None else reading.seconds)
    if "error" in data:
        raise ModelError(data["error"])
    if data["kind"] == "ctmc":
        reading.note(
            "a CTMC is taken as the chain of its jumps: an observer does not see how long a state lasts"
        )
    if language == "prism":
        data["variables"] = _as_declared(data["variables"], content.decode("utf-8", "replace"))
    return observed(_explicit(data, reading), reading)


def _as_declared(variables: Mapping[str, list[str]], text: str) -> dict[str, list[str]]:
    """Return variables in the order in which they are declared, or made by renaming a module."""
    place: dict[str, int] = {}
    for pattern in (_DECLARATION, _RENAMED):
        for match in pattern.finditer(text):
            place.setdefault(match[1], match.start())
    return dict(sorted(variables.items(), key=lambda entry: place.get(entry[0], len(text))))


def _constant(value: ExactNumber | bool) -> str | int | bool:
    """Return a constant as the worker takes it: a text is a rational."""
    if isinstance(value, bool):
        return value
    number = to_fmpq(value)
    return int(number.p) if number.q == 1 else format_rational(number)


def _answer(content: bytes, request: Mapping[str, Any], seconds: float) -> Any:
    """Run the worker, and return what it wrote."""
    with TemporaryDirectory(prefix="bisimdist-") as name:
        folder = Path(name)
        source = folder / f"model.{request['language']}"
        source.write_bytes(content)
        (folder / "request.json").write_text(json.dumps({**request, "path": str(source)}), encoding="utf-8")
        worker = Path(__file__).with_name("storm_worker.py")
        command = [sys.executable, "-P", str(worker), name]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                code = process.wait(max(seconds, 0))
            except subprocess.TimeoutExpired:
                raise ModelError(
                    f"Storm did not build the model within {seconds:g} s; expected a smaller one, or more "
                    "time (--timeout)"
                ) from None
            finally:
                process.kill()
        answer = folder / "answer.json"
        if code != 0 or not answer.exists():
            raise ModelError(
                f"Storm ended without a model ({_ending(code)}); expected a smaller one, or one that is "
                "nested less deeply"
            )
        return json.loads(answer.read_bytes())


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}; the memory it may take is {MEMORY >> 30} GiB"
    return f"signal {signal.Signals(-code).name}"


def _explicit(data: Any, reading: Reading) -> Explicit:
    values = [parse_rational(text) for text in data["values"]]
    if reading.rationalise:
        rationaliser = Rationaliser()
        values = [rationaliser.of_decimal(value) for value in values]
        if rationaliser.changed:
            reading.note(rationaliser.remark())
    rows: list[Row] = [tuple((target, values[k]) for target, k in row if values[k]) for row in data["rows"]]
    if data["kind"] == "ctmc":
        rows = [_jumps(row) for row in rows]
    actions = data["actions"]
    variables = data["variables"]
    return Explicit(
        names=_names(variables, data["states"]),
        choices=tuple(
            tuple(Choice(actions[k], rows[k]) for k in range(first, last)) for first, last in data["groups"]
        ),
        nondeterministic=data["kind"] == "mdp",
        propositions={name: frozenset(states) for name, states in data["labels"].items()},
        variables=variables,
        initial=tuple(data["initial"]),
    )


def _jumps(row: Row) -> Row:
    total = sum((rate for _, rate in row), fmpq(0))
    return tuple((target, rate / total) for target, rate in row)


def _names(variables: Mapping[str, list[str]], count: int) -> tuple[str, ...]:
    """Return the names of the states: their valuations, as PRISM lists them, or else their numbers."""
    names = tuple(map(",".join, zip(*variables.values(), strict=True)))
    if len(set(names)) == count:
        return names
    return tuple(str(state) for state in range(count))
