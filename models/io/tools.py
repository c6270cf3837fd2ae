"""PRISM's language, JANI and DRN through Storm (the extra ``storm``), UMB through umbi (the extra ``umb``).

They work in a process of its own, under limits of time, memory and states, with exact rationals, and this
half takes it from there.

See the PRISM manual, "The PRISM Language"; Budde et al., "JANI: Quantitative Model and Tool Interaction",
TACAS 2017; Hensel, Junges, Katoen, Quatmann, Volk, "The probabilistic model checker Storm", STTT 2022.
"""

from __future__ import annotations

import codecs
import json
import re
import signal
import subprocess
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from flint import fmpq

from bisimdist.errors import LimitError, ModelError, UsageError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.exact.rational import ExactNumber, format_rational, parse_rational, to_fmpq
from bisimdist.extras import needed
from bisimdist.lifetime import ending_with_us
from bisimdist.models.entries import read_entry
from bisimdist.models.io.explicit import (
    OWN_LABELS,
    RATE,
    REWARD,
    Choice,
    Explicit,
    exit_rate,
    jumps,
    observed,
    uniform,
)
from bisimdist.models.io.jani import jani_constants, jani_properties
from bisimdist.models.io.prism import unescaped
from bisimdist.models.io.properties import declared, observables
from bisimdist.models.io.reading import Reading
from bisimdist.models.kinds import LMC, PA, Interactive, IntervalChain, ParametricChain
from bisimdist.models.labelled import Row

STATES = 2_000_000  # how many states a model may have, unless somebody says otherwise
SECONDS = 600.0  # how long Storm may take, unless somebody says otherwise
MEMORY = 8 << 30  # how much address space Storm may take

_PRISM = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|//[^\n]*(?:\n|$))*+"
    rb"(?:dtmc|mdp|ctmc|pomdp|pta|probabilistic|nondeterministic|stochastic)\s*+"
    rb"(?:\s|//[^\n]*(?:\n|$))*+(?:$|[a-z])"
)
_DECLARATION = re.compile(r"\b([A-Za-z_]\w*+)\s*+:\s*+(?:\[|bool\b|int\b)")
_RENAMED = re.compile(r"=\s*+([A-Za-z_]\w*+)\s*+[,\]]")
_TYPE = re.compile(
    rb"(?m)^[ \t]*ma[ \t\r]*$|\b(?:dtmc|mdp|ctmc|pomdp|pta|popta|smg|csg|tsg|idtmc|imdp"
    rb"|probabilistic|nondeterministic|stochastic)\b"
)
_COMMENT = re.compile(rb"//[^\n]*")
DRN = re.compile(rb"(?:\s|//[^\n]*(?:\n|$))*+@(?:type|value_type)\s*:")
JANI = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{[^{}]{0,2000}"jani-version"')


def looks_like_prism_language(content: bytes) -> bool:
    r"""Tell whether a content begins as a model in PRISM's language does.

    >>> looks_like_prism_language(b"// a coin\ndtmc\nmodule m"), looks_like_prism_language(b"dtmc: a")
    (True, False)
    """
    return _PRISM.match(content) is not None


def looks_like_umb(content: bytes) -> bool:
    """Tell whether a content is an archive: what no other format is."""
    return content[257:262] == b"ustar"


def read_by_tool(
    content: bytes, language: str, reading: Reading
) -> LMC | PA | Interactive | IntervalChain | ParametricChain:
    """Return the model that the content of a file stands for.

    ``language``: ``"prism"``, ``"jani"``, ``"drn"`` or ``"umb"``.
    ``reading``: how it is to be taken. A CTMC is taken as the chain of its jumps; real constants of a chain
        that are left open become parameters between 0 and 1.
    Raises UsageError if the tool is not installed.
    Raises ModelError if the content makes no model, or it is too large.
    """
    package, extra = ("umbi", "umb") if language == "umb" else ("stormpy", "storm")
    if find_spec(package) is None:
        needed(package, extra)
    if language == "prism" and not _TYPE.search(_COMMENT.sub(b"", content)):
        reading.note("the model names no type: it is an mdp, as PRISM takes it")
        content = b"mdp " + content.removeprefix(codecs.BOM_UTF8)  # lines keep their numbers
    request = {
        "language": language,
        "constants": {
            name: _constant(value)
            for name, value in reading.constants.items()
            if not isinstance(value, tuple)
        },
        "shared": reading.shared,
        "rewards": list(reading.observe_rewards),
        "actions": reading.observe_actions,
        "state_limit": reading.state_limit or STATES,
        "memory": MEMORY,
        "seconds": SECONDS if reading.seconds is None else max(reading.seconds, 0),
    }
    return taken_data(_answer(content, request), reading, content, language)


def taken_data(
    data: Any, reading: Reading, content: bytes = b"", language: str = ""
) -> LMC | PA | Interactive | IntervalChain | ParametricChain:
    """Return the model that plain data stands for.

    ``content``, ``language``: of the file that the data was made of, if it was made of one.
    """
    if "error" in data:
        raise ModelError(data["error"])
    if data["kind"] == "ctmc" and reading.observe_ticks:
        reading.note("all states of the CTMC move at the largest rate: an observer sees each move")
    elif data["kind"] == "ctmc" and reading.observe_time:
        reading.note("a CTMC is taken as the chain of its jumps: an observer sees the exit rates of states")
    elif data["kind"] in {"ctmc", "jumps"}:
        reading.note(
            "a CTMC is taken as the chain of its jumps: an observer does not see how long a state lasts"
        )
    mended = data["labels"].get("deadlock", ()) if language in {"prism", "jani"} else ()
    if mended:
        reading.note(f"{len(mended)} states have no transition: each stays where it is, as in PRISM")
    if language == "prism":
        data["variables"] = _as_declared(data["variables"], content.decode("utf-8", "replace"))
        data["observations"] = ()  # a number of Storm's; its observables are variables and expressions
    if language == "drn":
        data["labels"] = {unescaped(name): states for name, states in data["labels"].items()}
    if data["kind"] == "pomdp" or data.get("observed"):
        if data.get("observed") == "branches" and reading.observes_all():
            raise ModelError(
                "its observations belong to branches; expected some of states, or --observe-variables"
            )
        reading = _as_observed(content, language, reading)
    rationaliser = Rationaliser() if reading.rationalise or reading.enclose else None
    model = _explicit(data, rationaliser, reading)
    if reading.labels or reading.properties:
        model = replace(model, meanings=_meanings(content, language, reading))
    elif language == "jani" and reading.observes_all() and not model.propositions.keys() - OWN_LABELS:
        own = jani_properties(json.loads(content.decode("utf-8-sig")))
        model = replace(model, meanings=_meanings(content, language, reading), properties=own)
    return observed(model, reading, rationaliser)


def _as_observed(content: bytes, language: str, reading: Reading) -> Reading:
    """Return how a POMDP is taken: an observer sees its observables, unless the reading says what is seen."""
    if not reading.observes_all():
        return reading
    variables: tuple[str, ...] = ("observation",)
    expressions: dict[str, str] = {}
    if language == "prism":
        variables, expressions = observables(content.decode("utf-8-sig", "replace"))
    if not variables and not expressions:
        raise ModelError("the POMDP declares no observables; expected some, or --observe-variables")
    reading.note("this is a POMDP: an observer sees its observables")
    return replace(reading, observe_variables=variables, labels={**expressions, **reading.labels})


def _meanings(content: bytes, language: str, reading: Reading) -> dict[str, str]:
    """Return the formulas and constants of a model, as texts."""
    found: dict[str, str] = {}
    text = content.decode("utf-8-sig", "replace")
    if language == "prism":
        found = declared(text)
    elif language == "jani":
        found = jani_constants(json.loads(text))
    given = {name: value for name, value in reading.constants.items() if not isinstance(value, tuple)}
    return found | {name: str(_constant(value)).lower() for name, value in given.items()}


def _as_declared(variables: Mapping[str, Sequence[str]], text: str) -> dict[str, Sequence[str]]:
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


def _answer(content: bytes, request: Mapping[str, Any]) -> Any:
    """Run the worker, and return what it wrote."""
    seconds = request["seconds"]
    worker = Path(__file__).with_name("tool_worker.py")
    with subprocess.Popen(
        ending_with_us([str(worker)]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            answer, _ = process.communicate(json.dumps(request).encode() + b"\n" + content, seconds)
        except subprocess.TimeoutExpired:
            raise LimitError(
                f"the model was not built within {seconds:g} s; a smaller one, or more time (--timeout), "
                "would do"
            ) from None
        finally:
            process.kill()
    if process.returncode != 0 or not answer:
        raise ModelError(
            f"the tool ended without a model ({_ending(process.returncode)}); expected a smaller one, or one "
            "that is nested less deeply"
        )
    return read_written(answer)


@dataclass(frozen=True, slots=True)
class Column(Sequence[str]):
    """The values of a variable in all states, as texts; equal values share one text.

    >>> list(Column(array("q", [3, 5, 3]), {3: "3", 5: "5"}))
    ['3', '5', '3']
    """

    values: array[int]
    texts: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.texts[self.values[place]]

    def __iter__(self) -> Iterator[str]:
        return map(self.texts.__getitem__, self.values)


def read_written(answer: bytes) -> Any:
    """Return what the worker wrote: a line of JSON, and long lists as arrays after it."""
    head, _, rest = answer.partition(b"\n")
    data = json.loads(head)
    if "error" in data:
        return data
    lists: list[array[int]] = []
    part, at = memoryview(rest), 0
    for length in data["lists"]:
        values = array("q")
        values.frombytes(part[at : at + values.itemsize * length])
        lists.append(values)
        at += values.itemsize * length

    def column(found: Mapping[str, Any]) -> Column:
        values = lists[found["place"]]
        texts = found.get("texts")
        return Column(
            values, {value: str(value) for value in set(values)} if texts is None else dict(enumerate(texts))
        )

    for key in ("lengths", "targets", "numbers", "choices"):
        data[key] = lists[data[key]]
    data["actions"] = None if data["actions"] is None else column(data["actions"])
    data["observations"] = column(data["observations"])
    data["rewards"] = {name: column(found) for name, found in data["rewards"].items()}
    data["labels"] = {name: lists[place] for name, place in data["labels"].items()}
    data["variables"] = {name: column(found) for name, found in data["variables"].items()}
    return data


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}; the memory it may take is {MEMORY >> 30} GiB"
    return f"signal {signal.Signals(-code).name}"


def _explicit(data: Any, rationaliser: Rationaliser | None, reading: Reading) -> Explicit:
    parameters = tuple(data.get("parameters", ()))
    around: dict[fmpq, tuple[fmpq, fmpq]] = {}
    values: list[Any] = []
    for number, text in enumerate(data["values"]):
        if text.startswith("["):
            low, high = (parse_rational(end.strip()) for end in text[1:-1].split(","))
            around[fmpq(number + 2)] = low, high
            values.append(fmpq(number + 2))  # stands for the interval, and is no probability
        else:
            values.append(read_entry(text, parameters))
    if data.get("doubles") and rationaliser is None:
        raise ModelError(
            "the probabilities are doubles; expected rationals, or --rationalise for the simplest ones "
            "within one unit in the last place"
        )
    if rationaliser is not None and parameters:
        raise UsageError(
            f"{'enclose' if reading.enclose else 'rationalise'}: expressions over the parameters "
            f"{', '.join(parameters)} are no doubles; expected values for them, such as --set "
            f"{parameters[0]}=1/3"
        )
    if rationaliser is not None:
        values = [rationaliser.of_decimal(value) for value in values]
    rows = list(_rows(data, values))
    if reading.enclose and (data["kind"] == "ctmc" or sum(map(len, rows)) < len(data["targets"])):
        raise UsageError(
            "doubles are enclosed where each is the probability of one successor, and of no rate"
        )
    seen = {f"{REWARD} {name}": found for name, found in data["rewards"].items()}
    if data["kind"] == "ctmc":
        rows = uniform(rows) if reading.observe_ticks else rows
        seen |= {RATE: [format_rational(exit_rate(row)) for row in rows]} if reading.observe_time else {}
        rows = jumps(rows)
    actions = [""] * len(rows) if data["actions"] is None else data["actions"]
    made = list(map(Choice, actions, rows))
    starts = data["choices"]
    groups = [tuple(made[first:last]) for first, last in pairwise(starts)]
    variables = data["variables"]
    own = data.get("own") or {}
    beside = {"observation": data["observations"]} if len(data["observations"]) else {}
    return Explicit(
        names=tuple(own["states"]) if "states" in own else _names(variables, data["states"]),
        neighbours=tuple((s, t) for s, t in own.get("pairs", ())),
        numbered="pairs" not in own,  # what this package has written comes back as it was
        choices=tuple(groups),
        nondeterministic=data["kind"] == "mdp" or any(len(choices) > 1 for choices in groups),
        propositions={name: frozenset(states) for name, states in data["labels"].items()},
        variables={**variables, **beside, **seen},
        valued=tuple(seen),
        initial=tuple(data["initial"]),
        parameters=parameters,
        around=around,
    )


def _rows(data: Any, values: Sequence[Any]) -> Iterator[Row]:
    """Yield rows with one entry for each state, where a file may list several, or zeros."""
    entries = list(zip(data["targets"], map(values.__getitem__, data["numbers"]), strict=True))
    zeros = any(not value for value in values)
    at = 0
    for length in data["lengths"]:
        row = entries[at : at + length]
        at += length
        if zeros or (length > 1 and any(one[0] >= other[0] for one, other in pairwise(row))):
            made: dict[int, fmpq] = {}
            for target, p in row:
                made[target] = made.get(target, fmpq(0)) + p
            yield tuple((target, p) for target, p in sorted(made.items()) if p)
        else:
            yield tuple(row)


def _names(variables: Mapping[str, Sequence[str]], count: int) -> tuple[str, ...]:
    """Return the names of the states: their valuations, as PRISM lists them, or else their numbers."""
    names = tuple(map(",".join, zip(*variables.values(), strict=True)))
    if len(set(names)) == count:
        return names
    return tuple(str(state) for state in range(count))
