"""What JANI models say of themselves: constants and properties become expressions with the same values."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import LMC, ModelError, parse_model
from bisimdist.models.io.jani import jani_constants, jani_properties
from bisimdist.models.io.predicates import Scope, parse_predicate
from tests.models.io.test_tools import JANI

COLUMNS = {"x": ["0", "1", "2", "3"], "y": ["3", "1", "-2", "0"], "b": ["true", "false", "true", "false"]}


def pair(op: str, left: Any, right: Any) -> dict[str, Any]:
    return {"op": op, "left": left, "right": right}


numbers = st.recursive(
    st.sampled_from(["x", "y", 2]),
    lambda inner: st.builds(pair, st.sampled_from(["+", "-", "*", "min", "max"]), inner, inner),
    max_leaves=5,
)
truths = st.recursive(
    st.just("b") | st.builds(pair, st.sampled_from(["=", "≠", "<", "≤", ">", "≥"]), numbers, numbers),
    lambda inner: (
        st.builds(pair, st.sampled_from(["∧", "\u2228", "⇒", "="]), inner, inner)
        | st.builds(lambda one: {"op": "¬", "exp": one}, inner)
        | st.builds(lambda i, t, e: {"op": "ite", "if": i, "then": t, "else": e}, inner, inner, inner)
    ),
    max_leaves=6,
)


def value(expression: Any, state: int) -> Any:
    """Return the value of an expression of JANI in a state, from its definition."""
    if isinstance(expression, str):
        text = COLUMNS[expression][state]
        return text == "true" if expression == "b" else int(text)
    if not isinstance(expression, dict):
        return expression
    if expression["op"] == "ite":
        return value(expression["then" if value(expression["if"], state) else "else"], state)
    if expression["op"] == "¬":
        return not value(expression["exp"], state)
    left, right = value(expression["left"], state), value(expression["right"], state)
    known: dict[str, Callable[[], Any]] = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "min": lambda: min(left, right),
        "max": lambda: max(left, right),
        "∧": lambda: left and right,
        "\u2228": lambda: left or right,
        "⇒": lambda: not left or right,
        "=": lambda: left == right,
        "≠": lambda: left != right,
        "<": lambda: left < right,
        "≤": lambda: left <= right,
        ">": lambda: left > right,
        "≥": lambda: left >= right,
    }
    return known[expression["op"]]()


@given(truths)
def test_expressions_have_the_values_of_their_definition(expression: Any) -> None:
    reach = {"op": "filter", "values": {"op": "Pmax", "exp": {"op": "F", "exp": expression}}}
    found = jani_properties({"properties": [{"name": "p", "expression": reach}]}).expressions
    if not any(word in json.dumps(expression) for word in ('"x"', '"y"', '"b"')):
        assert not found
        return
    ((text, node),) = found.items()
    expected = [value(expression, state) for state in range(4)]
    scope = Scope(COLUMNS, {})
    assert scope.column(node, 4) == scope.column(parse_predicate(text), 4) == expected


def test_what_speaks_of_one_state() -> None:
    until = pair("U", {"op": "¬", "exp": pair("=", "x", 1)}, pair("∧", "b", {"op": "F", "exp": "c"}))
    cost = {"op": "Emin", "exp": "cost", "accumulate": ["steps"], "reach": pair("≥", "t", "D")}
    model = {
        "constants": [
            {"name": "D", "value": pair("+", 2, 1)},
            {"name": "open"},
            {"name": "e", "value": {"constant": "e"}},
        ],
        "properties": [
            {"name": "p", "expression": {"op": "filter", "values": {"op": "Pmin", "exp": until}}},
            {"name": "q", "expression": pair("≤", cost, 7)},
            {"name": "odd", "expression": {"op": "sgn", "exp": "x"}},
        ],
    }
    found = jani_properties(model)
    assert list(found.expressions) == ["!x=1", "b", "c", "t>=D"]
    assert found.left_out == ("the property 'odd' was left out: the operator 'sgn' is not known",)
    assert jani_constants(model) == {"D": "2+1"}


@pytest.mark.extra("storm")
def test_properties_are_seen_where_there_is_no_label() -> None:
    model = copy.deepcopy(JANI)
    reach = {"op": "F", "exp": pair("=", "x", "N")}
    model["constants"].append({"name": "N", "type": "int", "value": 1})  # type: ignore[attr-defined]
    initial = {"op": "initial"}
    model["properties"] = [
        {
            "name": "p",
            "expression": {
                "op": "filter",
                "fun": "max",
                "values": {"op": "Pmax", "exp": reach},
                "states": initial,
            },
        }
    ]
    notes: list[str] = []
    text, p = json.dumps(model), {"p": "1/3"}
    found = parse_model(text, constants=p, note=notes.append)
    assert isinstance(found, LMC)
    assert found.labels == ("", "x=N")
    assert "the model has no labels: an observer sees the atoms of its properties: x=N" in notes
    for said in ({"labels": {"up": "x=1"}}, {"observe_variables": ["x"]}, {"observe_labels": ["init"]}):
        other = parse_model(text, constants=p, **said)
        assert isinstance(other, LMC)
        assert "x=N" not in other.labels


@pytest.mark.extra("storm")
def test_transient_reals_are_no_part_of_a_state_with_parameters() -> None:
    model: Any = copy.deepcopy(JANI)
    plain = parse_model(json.dumps(model))
    model["variables"].append({"name": "cost", "type": "real", "initial-value": 0.0, "transient": True})
    automaton = model["automata"][0]
    automaton["locations"][0]["transient-values"] = [{"ref": "cost", "value": 0.5}]
    automaton["edges"][0]["destinations"][0]["assignments"].append({"ref": "cost", "value": 0.25})
    assert parse_model(json.dumps(model)) == plain
    automaton["edges"][0]["guard"] = {"exp": pair("<", "cost", 1)}
    with pytest.raises(ModelError, match="cost"):
        parse_model(json.dumps(model))
