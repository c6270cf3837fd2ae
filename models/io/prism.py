"""PRISM's explicit files: `.tra` (transitions) with `.lab` (labels) and `.sta` (states).

A label file gives each state a set of labels; here the label of a state is that set, its members sorted and
joined by commas, without PRISM's own `init` and `deadlock` unless they are asked for. A label that PRISM
would not take as an identifier is written as `_x` and its characters, those that are no letters or digits as
`_hex_`, and read back accordingly. PRISM's states are tuples of numbers; the name of a state follows its
tuple in quotes, where PRISM does not look.

References
----------
.. [1] PRISM manual, appendix "Explicit Model Files".
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.exact.rational import format_rational
from bisimdist.models.io.expect import ProbabilityReader, with_line
from bisimdist.models.lmc import LMC

__all__ = ["looks_like_prism", "read_prism", "write_prism"]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPED = re.compile(r"_x((?:[A-Za-z0-9]|_[0-9a-f]{1,6}_)*)")
_RESERVED = frozenset(
    """
    A bool C clock const ctmc deadlock double dtmc E endinit endinvariant endmodule endobservables
    endrewards endsystem F false filter formula func G global I init int invariant label max mdp min module
    nondeterministic observable observables of P Pmax Pmin pomdp popta prob probabilistic pta R rate rewards
    Rmax Rmin S stochastic system true U W X
    """.split()  # noqa: SIM905
)
_INDEX = re.compile(r"[0-9]{1,18}")
_DECLARED = re.compile(r'([0-9]{1,18})="([^"]*)"')
_BEGINNING = re.compile(
    rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*[ \t]*[0-9]+(?:[ \t]+[0-9]+){1,2}[ \t\r]*\n[ \t]*[0-9]+[ \t]+[0-9]+[ \t]"
)
_STATE_LINE = re.compile(r"([0-9]{1,18})\s*:\s*\(([^()]*)\)\s*(\".*\")?")


def looks_like_prism(content: bytes) -> bool:
    r"""Tell whether a content begins as a `.tra` file does.

    Examples
    --------
    >>> looks_like_prism(b"2 2\n0 1 0.5\n"), looks_like_prism(b"kind: lmc")
    (True, False)
    """
    return _BEGINNING.match(content) is not None


def read_prism(
    transitions: str, labels: str, states: str | None = None, *, source: str = "", own_labels: bool = False
) -> LMC:
    """Read a Markov chain from the texts of PRISM's explicit files.

    Parameters
    ----------
    transitions
        The `.tra` file: ``states transitions`` in the first line, then ``from to probability``.
    labels
        The `.lab` file.
    states
        The `.sta` file; without it the states are called by their numbers.
    source
        The name of the `.tra` file, for errors; the others carry the same name with their own extension.
    own_labels
        Whether PRISM's own labels `init` and `deadlock` count.

    Raises
    ------
    ModelError
        With file, place and line, where the files describe no chain.
    """
    stem = os.path.splitext(source)[0]  # noqa: PTH122 - a source need not be a path
    try:
        count, entries, first_lines = _read_transitions(transitions)
    except ModelError as error:
        raise error.with_source(source) from None
    try:
        names = tuple(str(i) for i in range(count)) if states is None else _read_states(states, count)
    except ModelError as error:
        raise error.with_source(f"{stem}.sta") from None
    try:
        of_state = _read_labels(labels, count, own_labels=own_labels)
    except ModelError as error:
        raise error.with_source(f"{stem}.lab") from None
    try:
        return LMC(names, of_state, tuple(tuple(sorted(row.items())) for row in entries))
    except ModelError as error:
        lines = ((f"state {name!r}", line) for name, line in zip(names, first_lines, strict=True))
        raise with_line(error, lines).with_source(source) from None


def write_prism(model: LMC) -> dict[str, str]:
    """Write a Markov chain as PRISM's explicit files.

    The first state of the first pair, or else the first state, is marked as PRISM's initial state. The pairs
    themselves have no place in these files.

    Returns
    -------
    dict of str to str
        The text of each file by its extension: ``tra``, ``lab`` and ``sta``.
    """
    lines = [
        f"{state} {target} {_write_probability(probability)}"
        for state, row in enumerate(model.rows)
        for target, probability in row
    ]
    known = {label: number for number, label in enumerate(sorted(set(model.labels) - {""}), start=2)}
    declared = [
        '0="init"',
        '1="deadlock"',
        *(f'{number}="{_escape(label)}"' for label, number in known.items()),
    ]
    initial = model.pairs[0][0] if model.pairs else 0
    carried = [
        f"{state}: {' '.join(([] if state != initial else ['0']) + ([str(known[label])] if label else []))}"
        for state, label in enumerate(model.labels)
        if label or state == initial
    ]
    names = [f"{state}:({state}) {json.dumps(name)}" for state, name in enumerate(model.states)]
    return {
        "tra": "\n".join([f"{len(model)} {len(lines)}", *lines]) + "\n",
        "lab": "\n".join([" ".join(declared), *carried]) + "\n",
        "sta": "\n".join(["(s)", *names]) + "\n",
    }


def _content(text: str) -> Iterator[tuple[int, str]]:
    """Iterate over the lines that say something, with their numbers."""
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def _read_transitions(text: str) -> tuple[int, list[dict[int, fmpq]], list[int]]:
    """Return the number of states, the rows and the line where each row begins."""
    content = _content(text)
    number, header = next(content, (1, ""))
    sizes = header.split()
    if len(sizes) != 2 or not all(_INDEX.fullmatch(size) for size in sizes):
        hint = "; more numbers mean a nondeterministic model, which is not read" if len(sizes) > 2 else ""
        raise ModelError(
            f"the first line is {header[:60]!r}; expected the numbers of states and of transitions{hint}",
            line=number,
        )
    count, announced = int(sizes[0]), int(sizes[1])
    lines = list(content)
    if len(lines) != announced:
        raise ModelError(
            f"{announced} transitions are announced and {len(lines)} follow; expected as many of each",
            line=number,
        )
    if count > announced:
        raise ModelError(
            f"{count} states have {announced} transitions; expected at least one for each state", line=number
        )
    rows: list[dict[int, fmpq]] = [{} for _ in range(count)]
    first_lines = [number] * count
    numbers = ProbabilityReader()
    for number, line in lines:
        fields = line.split()
        if len(fields) != 3:
            raise ModelError(
                f"found {line[:60]!r}; expected a transition such as 0 1 0.5 (an action cannot be read)",
                line=number,
            )
        state, target = (_read_index(field, count, number) for field in fields[:2])
        place = f"transition {state} -> {target}"
        if not rows[state]:
            first_lines[state] = number
        if target in rows[state]:
            raise ModelError("the transition is given twice; expected it once", place=place, line=number)
        written = fields[2]
        # PRISM writes .5 for 0.5.
        value = numbers.from_text(f"0{written}" if written.startswith(".") else written, place, number)
        if value == 0:
            raise ModelError("the probability is 0; expected a positive number", place=place, line=number)
        rows[state][target] = value
    return count, rows, first_lines


def _read_index(text: str, count: int, line: int) -> int:
    if not _INDEX.fullmatch(text) or int(text) >= count:
        raise ModelError(f"found {text[:60]!r}; expected the number of a state in 0..{count - 1}", line=line)
    return int(text)


def _read_labels(text: str, count: int, *, own_labels: bool) -> tuple[str, ...]:
    content = _content(text)
    number, header = next(content, (1, ""))
    declared = _declared_labels(header, number, own_labels=own_labels)
    carried: list[str | None] = [None] * count
    meaning: dict[str, frozenset[int]] = {}
    for number, line in content:
        head, colon, tail = line.partition(":")
        if not colon:
            raise ModelError(
                f"found {line[:60]!r}; expected a state and its labels, such as 0: 2", line=number
            )
        state = _read_index(head.strip(), count, number)
        place = f"state {state}"
        if carried[state] is not None:
            raise ModelError(
                "the labels of the state are given twice; expected them once", place=place, line=number
            )
        chosen = set()
        for field in tail.split():
            if not _INDEX.fullmatch(field) or int(field) >= len(declared):
                raise ModelError(
                    f"found {field[:60]!r}; expected the number of a label in 0..{len(declared) - 1}",
                    place=place,
                    line=number,
                )
            chosen.add(int(field))
        names = {index: declared[index] for index in chosen}
        label = ",".join(sorted(name for name in names.values() if name is not None))
        members = frozenset(index for index, name in names.items() if name is not None)
        if meaning.setdefault(label, members) != members:
            raise ModelError(
                f"different sets of labels are both written {label!r}; expected labels without commas",
                place=place,
                line=number,
            )
        carried[state] = label
    return tuple(label or "" for label in carried)


def _declared_labels(header: str, line: int, *, own_labels: bool) -> list[str | None]:
    """Return the labels by their numbers, with None for what is left out: what PRISM itself declares."""
    declared: list[str | None] = []
    seen = set()
    for token in header.split():
        match = _DECLARED.fullmatch(token)
        if match is None or int(match[1]) != len(declared):
            raise ModelError(
                f'found {token[:60]!r}; expected labels in order, such as 0="init" 1="deadlock" 2="a"',
                line=line,
            )
        if match[2] in {"init", "deadlock"} and not own_labels:
            declared.append(None)
            continue
        name = _unescape(match[2])
        if name in seen:
            raise ModelError(f"the label {name!r} is declared twice; expected it once", line=line)
        seen.add(name)
        declared.append(name)
    return declared


def _read_states(text: str, count: int) -> tuple[str, ...]:
    content = _content(text)
    number, header = next(content, (1, ""))
    if not (header.startswith("(") and header.endswith(")")):
        raise ModelError(
            f"the first line is {header[:60]!r}; expected names of variables such as (s)", line=number
        )
    names: list[str | None] = [None] * count
    for number, line in content:
        match = _STATE_LINE.fullmatch(line)
        if match is None:
            raise ModelError(f"found {line[:60]!r}; expected a state such as 0:(0)", line=number)
        state = _read_index(match[1], count, number)
        if names[state] is not None:
            raise ModelError(
                "the state is given twice; expected it once", place=f"state {state}", line=number
            )
        names[state] = match[2] if match[3] is None else _quoted(match[3], number)
    for state, name in enumerate(names):
        if name is None:
            raise ModelError(
                f"the state is missing; expected the states 0..{count - 1}", place=f"state {state}"
            )
    return tuple(name or "" for name in names)


def _quoted(text: str, line: int) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        raise ModelError(
            f"found {text[:60]!r}; expected the name of a state in double quotes", line=line
        ) from None


def _write_probability(value: fmpq) -> str:
    """Write a decimal where a short one is exact, else a fraction."""
    denominator = int(value.q)
    for digits in range(16 if denominator <= 10**15 else 0):
        if 10**digits % denominator == 0:
            text = str(value.p * (10**digits // denominator)).rjust(digits + 1, "0")
            return f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return format_rational(value)


def _escape(label: str) -> str:
    if _IDENTIFIER.fullmatch(label) and label not in _RESERVED and not label.startswith("_x"):
        return label
    return "_x" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in label)


def _unescape(label: str) -> str:
    match = _ESCAPED.fullmatch(label)
    if match is None:
        return label
    try:
        return re.sub("_([0-9a-f]+)_", lambda code: chr(int(code[1], 16)), match[1])
    except ValueError:
        return label
