"""Writing models as JSON or YAML, one state or transition a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.io.hmm_document import hmm_text
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC, Row
from bisimdist.models.pa import PA
from bisimdist.models.parametric import ParametricChain
from bisimdist.models.polynomial import Entry, format_entry

__all__ = ["write_model"]

# What is a text to every reader of YAML without quotes; this project's reader takes any scalar as text.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_LONGEST_KEY = 1000  # YAML wants a key of more than 1024 characters to be announced by "?"

_Text = Callable[[str], str]


def write_model(model: AnyModel, format: str) -> str:
    """Write a model so that it reads back as the same model.

    Parameters
    ----------
    model
        The model.
    format
        ``"json"`` or ``"yaml"``.

    Returns
    -------
    str
        The text.

    Raises
    ------
    UsageError
        If there is no such format.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"s": "1/2", "t": "0.5"}, "t": {"t": 1}})
    >>> print(write_model(chain, "yaml"), end="")
    kind: lmc
    states:
      s: a
      t: b
    transitions:
      s: {s: 1/2, t: 1/2}
      t: {t: 1}
    """
    if isinstance(model, HMM) and format in {"json", "yaml"}:
        return hmm_text(model, format, _yaml_text)
    if format == "json" and not isinstance(model, HMM):
        return _write_json(model)
    if format == "yaml" and not isinstance(model, HMM):
        return _write_yaml(model)
    raise UsageError(f"models are not written in the format {format!r}; expected json or yaml")


def _write_json(model: LMC | PA | Interactive | IntervalChain | ParametricChain) -> str:
    text = json.dumps
    if not isinstance(model, PA):
        model = model.whole()
        kind, values = _labelled(model, lambda key, value: f"{text(key)}: {value}", text)
        states = [
            f"{text(name)}: {text(label)}" for name, label in zip(model.states, model.labels, strict=True)
        ]
        rows = [f"{text(name)}: {value}" for name, value in zip(model.states, values, strict=True)]
        parts = [
            f'"kind": "{kind}"',
            f'"states": {_block("{", states)}',
            f'"transitions": {_block("{", rows)}',
        ]
    else:
        states = [text(name) for name in model.states]
        rows = [
            f'{{"from": {text(model.states[step.source])}, "action": {text(step.action)}, '
            + ("" if step.tag is None else f'"tag": {text(step.tag)}, ')
            + f'"to": {_json_row(step.row, model.states)}}}'
            for step in model.transitions
        ]
        parts = ['"kind": "pa"', f'"states": {_block("[", states)}', f'"transitions": {_block("[", rows)}']
    if model.pairs:
        pairs = [f"[{text(model.states[i])}, {text(model.states[j])}]" for i, j in model.pairs]
        parts.append(f'"pairs": {_block("[", pairs)}')
    if isinstance(model, IntervalChain) and model.confidence is not None:
        parts.append(f'"confidence": {text(format_rational(model.confidence))}')
    if isinstance(model, ParametricChain):
        parts.append(f'"parameters": {text(model.canonical()["parameters"])}')
    program = _program(model)
    if program:
        parts.append(f'"program": {text(program)}')
    return "{\n" + ",\n".join(f"  {part}" for part in parts) + "\n}\n"


def _program(model: LMC | PA | Interactive | IntervalChain | ParametricChain) -> dict[str, object]:
    """Return what a file says of the program behind a model; checkers refuse the key in an automaton."""
    return model.provenance() if isinstance(model, LMC | Interactive | IntervalChain) else {}


def _labelled(
    model: LMC | Interactive | IntervalChain | ParametricChain,
    entry: Callable[[str, str], str],
    number: Callable[[str], str],
) -> tuple[str, list[str]]:
    """Return the kind of a model with labelled states, and for each state its transitions in a format."""

    def written(row: Row) -> str:
        return _flow("{", (entry(model.states[t], number(format_rational(p))) for t, p in row))

    def ends(low: fmpq, high: fmpq) -> str:
        both = [number(format_rational(end)) for end in dict.fromkeys((low, high))]
        return both[0] if len(both) == 1 else _flow("[", both)

    def formula(value: Entry) -> str:
        return number(format_rational(value)) if isinstance(value, fmpq) else json.dumps(format_entry(value))

    if isinstance(model, LMC):
        return "lmc", [written(row) for row in model.rows]
    if isinstance(model, IntervalChain):
        rows = [[entry(model.states[t], ends(low, high)) for t, low, high in row] for row in model.rows]
        return "lmc", [_flow("{", row) for row in rows]
    if isinstance(model, ParametricChain):
        rows = [[entry(model.states[t], formula(value)) for t, value in row] for row in model.rows]
        return "lmc", [_flow("{", row) for row in rows]
    return "interactive", [
        _flow("{", (entry(action, written(row)) for action, row in moves)) for moves in model.moves
    ]


def _json_row(row: Row, states: tuple[str, ...]) -> str:
    entries = (f"{json.dumps(states[target])}: {json.dumps(format_rational(value))}" for target, value in row)
    return _flow("{", entries)


def _block(opening: str, items: list[str]) -> str:
    closing = "}" if opening == "{" else "]"
    if not items:
        return opening + closing
    return f"{opening}\n" + ",\n".join(f"    {item}" for item in items) + f"\n  {closing}"


def _write_yaml(model: LMC | PA | Interactive | IntervalChain | ParametricChain) -> str:
    if not isinstance(model, PA):
        model = model.whole()
        kind, values = _labelled(model, _keyed, str)
        lines = [f"kind: {kind}", "states:"]
        for name, label in zip(model.states, model.labels, strict=True):
            lines += _yaml_entry(name, _yaml_text(label))
        lines.append("transitions:")
        for name, value in zip(model.states, values, strict=True):
            lines += _yaml_entry(name, value)
    else:
        lines = ["kind: pa", "states:", *(f"  - {_yaml_text(name)}" for name in model.states)]
        lines.append("transitions:" if model.transitions else "transitions: []")
        lines += [
            f"  - {{from: {_yaml_text(model.states[step.source])}, action: {_yaml_text(step.action)}, "
            + ("" if step.tag is None else f"tag: {_yaml_text(step.tag)}, ")
            + f"to: {_yaml_row(step.row, model.states)}}}"
            for step in model.transitions
        ]
    if model.pairs:
        lines.append("pairs:")
        lines += [f"  - {_flow('[', (_yaml_text(model.states[i]) for i in pair))}" for pair in model.pairs]
    if isinstance(model, IntervalChain) and model.confidence is not None:
        lines.append(f"confidence: {format_rational(model.confidence)}")
    if isinstance(model, ParametricChain):
        box = (
            f"{_yaml_text(p.name)}: [{format_rational(p.low)}, {format_rational(p.high)}]"
            for p in model.parameters
        )
        lines.append(f"parameters: {_flow('{', box)}")
    program = _program(model)
    if program:
        lines.append(f"program: {json.dumps(program)}")
    return "\n".join(lines) + "\n"


def _yaml_entry(key: str, value: str) -> list[str]:
    written = _yaml_text(key)
    return [f"  {written}: {value}"] if len(written) <= _LONGEST_KEY else [f"  ? {written}", f"  : {value}"]


def _yaml_row(row: Row, states: tuple[str, ...]) -> str:
    entries = []
    for target, value in row:
        entries.append(_keyed(states[target], format_rational(value)))
    return _flow("{", entries)


def _keyed(key: str, value: str) -> str:
    written = _yaml_text(key)
    return f"{'? ' if len(written) > _LONGEST_KEY else ''}{written}: {value}"


def _flow(opening: str, items: Iterable[str]) -> str:
    return opening + ", ".join(items) + ("}" if opening == "{" else "]")


def _yaml_text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(_yaml_character(character) for character in text) + '"'


def _yaml_character(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return "\\" + character
    if 0x20 <= code < 0x7F:
        return character
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
