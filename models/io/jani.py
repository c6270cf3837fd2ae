"""What a JANI model says of itself beside its behaviour: its constants, and the atoms of its properties.

See Budde et al., "JANI: Quantitative Model and Tool Interaction", TACAS 2017; jani-spec, "Expressions".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.models.io.predicates import LEVELS, Node
from bisimdist.models.io.properties import Properties

_OPERATORS = {"\u2228": "|", "∧": "&", "⇒": "=>", "≠": "!=", "≤": "<=", "≥": ">="}
_INFIX = {op: level for level, ops in enumerate(LEVELS) for op in ops if op != "!"}
_FUNCTIONS = {"%": "mod", "pow": "pow", "min": "min", "max": "max", "floor": "floor", "ceil": "ceil"}
_PARTS = ("exp", "left", "right")
_OVER_TIME = {
    "filter": ("values",),
    **dict.fromkeys(("Emin", "Emax"), ("reach",)),
    **dict.fromkeys(("Pmin", "Pmax", "Smin", "Smax", "∀", "∃", "F", "G", "U", "W", "R"), _PARTS),
}
_DEPTH = 40  # how deeply expressions may be nested
_OWN_LEVEL = len(LEVELS)  # what binds more strongly than every operator


def jani_constants(model: Any) -> dict[str, str]:
    """Return the constants of a JANI model that have a value, as expressions of PRISM.

    >>> jani_constants({"constants": [{"name": "N", "value": {"op": "+", "left": 1, "right": "M"}}]})
    {'N': '1+M'}
    """
    found: dict[str, str] = {}
    for one in model.get("constants", ()):
        try:
            if "value" in one:
                found[one["name"]] = _node(one["value"], 0)[0].text
        except ModelError:
            continue
    return found


def jani_properties(model: Any) -> Properties:
    """Return what the properties of a JANI model speak of.

    >>> reach = {"op": "F", "exp": {"op": "∧", "left": "done", "right": {"op": "≤", "left": "x", "right": 3}}}
    >>> list(jani_properties({"properties": [{"name": "p", "expression": reach}]}).expressions)
    ['done & x<=3']
    """
    expressions: dict[str, Node] = {}
    left_out = []
    for one in model.get("properties", ()):
        try:
            for atom in _node(one["expression"], 0)[0].atoms():
                expressions.setdefault(atom.text, atom)
        except ModelError as error:
            left_out.append(f"the property {one['name']!r} was left out: {error.message}")
    return Properties(expressions, {}, tuple(left_out))


def _node(given: Any, depth: int) -> tuple[Node, int]:
    """Return an expression, and how strongly its operator binds."""
    if depth > _DEPTH:
        raise ModelError("the expression is nested too deeply")
    op = given.get("op") if isinstance(given, Mapping) else None
    if op is None:
        return _leaf(given), _OWN_LEVEL
    if op in _OVER_TIME:
        parts = tuple(_node(given[key], depth + 1)[0] for key in _OVER_TIME[op] if key in given)
        return Node("over time", parts, op), _OWN_LEVEL
    if op == "ite":
        made = [_node(given[key], depth + 1)[0] for key in ("if", "then", "else")]
        return Node("?", tuple(made), "({}?{}:{})".format(*(one.text for one in made))), _OWN_LEVEL
    operands = [_node(given[key], depth + 1) for key in _PARTS if key in given]
    parts = tuple(one for one, _ in operands)
    if op in _FUNCTIONS:
        name = _FUNCTIONS[op]
        return Node(name, parts, f"{name}({', '.join(one.text for one in parts)})"), _OWN_LEVEL
    if op == "¬":
        level = LEVELS.index(("!",))
        return Node("!", parts, f"!{_within(*operands[0], level)}"), level
    sign = _OPERATORS.get(str(op), str(op))
    if sign not in _INFIX or len(parts) != 2:
        raise ModelError(f"the operator {op!r} is not known")
    level = _INFIX[sign]
    left, right = _within(*operands[0], level), _within(*operands[1], level + 1)
    space = " " if level < LEVELS.index(("!",)) else ""
    return Node(sign, parts, f"{left}{space}{sign}{space}{right}"), level


def _leaf(given: Any) -> Node:
    """Return a number, a truth value or a variable."""
    if isinstance(given, bool):
        return Node("truth", (), str(given).lower())
    if isinstance(given, int | float):
        return Node("number", (), str(given))
    if isinstance(given, str):
        return Node("word", (), given)
    raise ModelError("an expression is not known")


def _within(node: Node, level: int, least: int) -> str:
    """Return the text of a part, in brackets if it binds less strongly than the operator around it."""
    return node.text if level >= least else f"({node.text})"
