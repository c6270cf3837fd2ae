"""Reading PRISM's explicit files: `.tra` (transitions) with `.lab` (labels) and `.sta` (states).

A label file gives each state a set of labels; here the label of a state is that set, its members sorted and
joined by commas, without PRISM's own `init` and `deadlock` unless they are asked for. A label that PRISM
would not take as an identifier is written as `_x` and its characters, those that are no letters or digits as
`_hex_`, and read back accordingly. PRISM's states are tuples of numbers; the name of a state follows its
tuple in quotes, where PRISM does not look.

See the PRISM manual, appendix "Explicit Model Files".
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace

from bisimdist.errors import Located, ModelError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.exact.rational import format_rational, parse_rational
from bisimdist.models.io.expect import with_line
from bisimdist.models.io.explicit import OWN_LABELS, RATE, REWARD, Explicit, observed
from bisimdist.models.io.prism_rewards import read_rewards, read_transition_rewards
from bisimdist.models.io.prism_transitions import INDEX, Transitions, content, read_index
from bisimdist.models.io.reading import Reading
from bisimdist.models.kinds import LMC, PA, Interactive, IntervalChain, ParametricChain

_ESCAPED = re.compile(r"_x((?:[A-Za-z0-9]|_[0-9a-f]{1,6}_)*)")
_DECLARED = re.compile(r'([0-9]{1,18})="([^"]*)"')
_BEGINNING = re.compile(
    rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*[ \t]*[0-9]+(?:[ \t]+[0-9]+){1,3}[ \t\r]*\n[ \t]*"
    rb"(?:[0-9]+[ \t]+[0-9]+[ \t]|-[ \t]+-[ \t]+[0-9]|[0-9]+[ \t]+(?:[0-9.]+|\[[0-9., ]+\]):[0-9])"
)
_STATE_LINE = re.compile(r"([0-9]{1,18})\s*:\s*\(([^()]*)\)\s*(\".*\")?")


def looks_like_prism(content: bytes) -> bool:
    r"""Tell whether a content begins as a `.tra` file does.

    >>> looks_like_prism(b"2 2\n0 1 0.5\n"), looks_like_prism(b"kind: lmc")
    (True, False)
    """
    return _BEGINNING.match(content) is not None


def read_prism(  # noqa: PLR0913
    transitions: str,
    labels: str,
    states: str | None = None,
    rewards: str | None = None,
    transition_rewards: str | None = None,
    *,
    source: str = "",
    own_labels: bool = False,
    reading: Reading | None = None,
) -> LMC | PA | Interactive | IntervalChain | ParametricChain:
    """Read a Markov chain, or an MDP as an automaton, from the texts of PRISM's explicit files.

    A CTMC (a number is above 1, or rates are to be seen and do not add up to 1) is taken as the chain of its
    jumps. An observer of a POMDP sees the observations, unless the reading says what is seen.

    ``transitions``: the `.tra` file.
    ``states``: the `.sta` file; without it the states are called by their numbers.
    ``rewards``, ``transition_rewards``: the `.srew` and the `.trew` file. The rewards of a state are those of
        its transitions, too, which have to be the same.
    ``source``: the name of the `.tra` file, for errors; the others carry the same name with their own
        extension.
    ``own_labels``: whether PRISM's own labels `init` and `deadlock` count.
    ``reading``: how the model is to be taken in other respects.
    """
    how = Reading(prism_labels=own_labels) if reading is None else reading
    stem = os.path.splitext(source)[0]  # noqa: PTH122 - a source need not be a path
    rationaliser = Rationaliser() if how.rationalise or how.enclose else None
    with Located(source=source):
        read = Transitions(transitions, rationaliser, timed=how.observe_time)
        if read.timed and how.observe_ticks:
            read.make_uniform()
        if read.partial and how.observe_variables is None and how.observe_labels is None:
            how.note("this is a POMDP: an observer sees its observations")
            how = replace(how, observe_variables=("observation",))
        seen = {"observation": read.observations()} if "observation" in (how.observe_variables or ()) else {}
    count = read.count
    with Located(source=f"{stem}.sta"):
        numbered = tuple(str(i) for i in range(count))
        names, variables = (numbered, {}) if states is None else _read_states(states, count)
    given: dict[str, list[str]] = {RATE: read.rates()} if how.observe_time and read.timed else {}
    for suffix, text in ((".srew", rewards), (".trew", transition_rewards)):
        with Located(source=f"{stem}{suffix}"):
            if text is not None and how.observe_rewards:
                of_states = suffix == ".srew"
                name, values = read_rewards(text, count) if of_states else read_transition_rewards(text, read)
                column = f"{REWARD} {name}"
                given[column] = [
                    format_rational(parse_rational(old) + parse_rational(new))
                    for old, new in zip(given.get(column, ["0"] * count), values, strict=True)
                ]
    given = {
        c: v for c, v in given.items() if c == RATE or c.removeprefix(f"{REWARD} ") in how.observe_rewards
    }
    if read.timed:
        how.note("the numbers are rates: a CTMC is taken as the chain of its jumps")
    try:
        found = _read_labels(labels, count, own_labels=how.prism_labels)
        model = Explicit(
            names=names,
            choices=read.choices(),
            nondeterministic=read.nondeterministic,
            propositions=found.propositions,
            own=found.own,
            variables={**variables, **(seen if read.partial else {}), **given},
            valued=tuple(given),
            initial=found.initial,
            around=read.around,
        )
        return observed(model, how, rationaliser)
    except ModelError as error:
        if error.line is not None or error.message.startswith("different sets of labels"):
            raise error.with_source(f"{stem}.lab") from None
        raise with_line(error, read.places(names)).with_source(source) from None


@dataclass(frozen=True, slots=True)
class _Labels:
    """The states that carry each label; PRISM's own make room for labels that are called alike."""

    propositions: dict[str, frozenset[int]]
    own: frozenset[str]
    initial: tuple[int, ...]


def _read_labels(text: str, count: int, *, own_labels: bool) -> _Labels:
    lines = content(text)
    number, header = next(lines, (1, ""))
    declared = _declared_labels(header, number)
    carried: list[set[int]] = [set() for _ in declared]
    seen = set()
    for number, line in lines:
        head, colon, tail = line.partition(":")
        if not colon:
            raise ModelError(
                f"found {line[:60]!r}; expected a state and its labels, such as 0: 2", line=number
            )
        state = read_index(head.strip(), count, number)
        place = f"state {state}"
        if state in seen:
            raise ModelError(
                "the labels of the state are given twice; expected them once", place=place, line=number
            )
        seen.add(state)
        for field in tail.split():
            if not INDEX.fullmatch(field) or int(field) >= len(declared):
                raise ModelError(
                    f"found {field[:60]!r}; expected the number of a label in 0..{len(declared) - 1}",
                    place=place,
                    line=number,
                )
            carried[int(field)].add(state)
    own: dict[str, frozenset[int]] = {}
    others: dict[str, frozenset[int]] = {}
    for name, states in zip(declared, map(frozenset, carried), strict=True):
        into, shown = (own, name) if name in OWN_LABELS else (others, unescaped(name))
        if shown in into or (own_labels and shown in {**own, **others}):
            raise ModelError(f"the label {shown!r} is declared twice; expected it once", line=1)
        into[shown] = states
    return _Labels({**own, **others}, frozenset(own.keys() - others), tuple(sorted(own.get("init", ()))))


def _declared_labels(header: str, line: int) -> list[str]:
    """Return the labels by their numbers, as they are written."""
    declared: list[str] = []
    for token in header.split():
        match = _DECLARED.fullmatch(token)
        if match is None or int(match[1]) != len(declared):
            raise ModelError(
                f'found {token[:60]!r}; expected labels in order, such as 0="init" 1="deadlock" 2="a"',
                line=line,
            )
        declared.append(match[2])
    return declared


def _read_states(text: str, count: int) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Return the names of the states, and the values of the variables in each of them."""
    lines = content(text)
    number, header = next(lines, (1, ""))
    if not (header.startswith("(") and header.endswith(")")):
        raise ModelError(
            f"the first line is {header[:60]!r}; expected names of variables such as (s)", line=number
        )
    variables = [name.strip() for name in header[1:-1].split(",")]
    names: list[str | None] = [None] * count
    values: dict[str, list[str]] = {name: [""] * count for name in variables}
    for number, line in lines:
        match = _STATE_LINE.fullmatch(line)
        if match is None:
            raise ModelError(f"found {line[:60]!r}; expected a state such as 0:(0)", line=number)
        state = read_index(match[1], count, number)
        if names[state] is not None:
            raise ModelError(
                "the state is given twice; expected it once", place=f"state {state}", line=number
            )
        names[state] = match[2] if match[3] is None else _quoted(match[3], number)
        valuation = match[2].split(",")
        if len(valuation) != len(variables):
            raise ModelError(
                f"the state has {len(valuation)} values; expected {len(variables)}, one a variable",
                place=f"state {state}",
                line=number,
            )
        for name, value in zip(variables, valuation, strict=True):
            values[name][state] = value.strip()
    for state, given in enumerate(names):
        if given is None:
            raise ModelError(
                f"the state is missing; expected the states 0..{count - 1}", place=f"state {state}"
            )
    return tuple(name or "" for name in names), values


def _quoted(text: str, line: int) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        raise ModelError(
            f"found {text[:60]!r}; expected the name of a state in double quotes", line=line
        ) from None


def unescaped(label: str) -> str:
    """Return a label as it was before `write_prism` or `write_drn` made an identifier of it."""
    match = _ESCAPED.fullmatch(label)
    if match is None:
        return label
    try:
        return re.sub("_([0-9a-f]+)_", lambda code: chr(int(code[1], 16)), match[1])
    except ValueError:
        return label
