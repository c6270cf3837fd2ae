"""Writing models as JSON or YAML, one state or transition a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.models.kinds import HMM, LMC, PA, AnyModel, Interactive, IntervalChain, ParametricChain
from bisimdist.models.polynomial import Entry, format_entry

# What is a text to every reader of YAML without quotes; this project's reader takes any scalar as text.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_LONGEST_KEY = 1000  # YAML wants a key of more than 1024 characters to be announced by "?"

_BREAK = "\n  "


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
    if format not in {"json", "yaml"}:
        raise UsageError(f"models are not written in the format {format!r}; expected json or yaml")
    said, inline = _document(model)
    as_yaml = format == "yaml"
    parts = [_part(key, value, key in inline or not value, as_yaml) for key, value in said.items()]
    return "\n".join(parts) + "\n" if as_yaml else "{\n" + ",\n".join(f"  {part}" for part in parts) + "\n}\n"


def _document(model: AnyModel) -> tuple[dict[str, Any], frozenset[str]]:
    """Return what a file says of a model, numbers as they are, and which keys have one line."""
    if not isinstance(model, HMM | PA):
        model = model.whole()
    names = model.states

    def row(found: Iterable[tuple[int, Entry]], of: Sequence[str] = names) -> dict[str, Entry]:
        return {of[place]: value for place, value in found}

    said: dict[str, Any]
    if isinstance(model, HMM):
        makes, leads = (zip(names, rows, strict=True) for rows in (model.emissions, model.rows))
        said = {
            "kind": "hmm",
            "observations": model.observations,
            "parameters": {p.name: (p.low, p.high) for p in model.parameters},
            "states": {name: row(made, model.observations) for name, made in makes},
            "transitions": {name: row(to) for name, to in leads if to},
            "distributions": {name: row(found) for name, found in model.distributions},
            "pairs": model.pairs,
        }
        needed, inline = {"states", "transitions", "distributions"}, {"observations", "pairs"}
    else:
        said = {"kind": "pa", "states": names, "transitions": [], "pairs": []}
        if isinstance(model, PA):
            said["transitions"] = [
                {
                    "from": names[step.source],
                    "action": step.action,
                    **({} if step.tag is None else {"tag": step.tag}),
                    "to": row(step.row),
                }
                for step in model.transitions
            ]
        else:
            said["kind"] = "interactive" if isinstance(model, Interactive) else "lmc"
            said["states"] = dict(zip(names, model.labels, strict=True))
            said["transitions"] = dict(zip(names, _rows(model, row), strict=True))
        said["pairs"] = [(names[i], names[j]) for i, j in model.pairs]
        if isinstance(model, IntervalChain):
            said["confidence"] = model.confidence
        if isinstance(model, ParametricChain):
            said["parameters"] = {p.name: (p.low, p.high) for p in model.parameters}
        if isinstance(model, LMC | Interactive | IntervalChain):  # checkers refuse the key in an automaton
            said["program"] = model.provenance()
        needed, inline = {"states", "transitions"}, {"confidence", "parameters", "program"}
    there = {key: value for key, value in said.items() if key in needed or value}
    return there, frozenset({"kind", *inline})


def _rows(model: LMC | Interactive | IntervalChain | ParametricChain, row: Any) -> Iterable[dict[str, Any]]:
    if isinstance(model, Interactive):
        return ({action: row(to) for action, to in moves} for moves in model.moves)
    if isinstance(model, IntervalChain):
        ends = ([(t, low if low == high else (low, high)) for t, low, high in to] for to in model.rows)
        return map(row, ends)
    return map(row, model.rows)


def _part(key: str, value: Any, on_one_line: bool, as_yaml: bool) -> str:
    head = key if as_yaml else f'"{key}"'
    if on_one_line:
        return f"{head}: {json.dumps(value) if key == 'program' else _flow(value, as_yaml)}"
    if isinstance(value, dict):
        entries = [(_key(name, as_yaml), _flow(item, as_yaml)) for name, item in value.items()]
        lines = [f"{name}{_BREAK * name.startswith('? ')}: {item}" for name, item in entries]
    else:
        lines = [f"{'- ' * as_yaml}{_flow(item, as_yaml)}" for item in value]
    if as_yaml:
        return "\n  ".join([f"{head}:", *lines])
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{head}: {opening}\n    " + ",\n    ".join(lines) + f"\n  {closing}"


def _flow(value: Any, as_yaml: bool) -> str:
    """Return names, numbers, and lists and mappings of them, on one line."""
    if isinstance(value, fmpq):
        return format_rational(value) if as_yaml else f'"{format_rational(value)}"'
    if isinstance(value, dict):
        entries = [f"{_key(name, as_yaml)}: {_flow(item, as_yaml)}" for name, item in value.items()]
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join([_flow(item, as_yaml) for item in value]) + "]"
    if isinstance(value, str):
        return _yaml_text(value) if as_yaml else encode_basestring_ascii(value)
    return json.dumps(format_entry(value))


def _key(name: str, as_yaml: bool) -> str:
    if not as_yaml:
        return encode_basestring_ascii(name)
    written = _yaml_text(name)
    return f"? {written}" if len(written) > _LONGEST_KEY else written


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
