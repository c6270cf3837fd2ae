"""Mechanisms as tables: read, asked for their budget, delta and profile, and refused where they are none."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import HMM, ModelError, delta, parse_model, profile
from bisimdist.budgets.verify.ask import epsilon
from bisimdist.models import mechanism_model
from tests.cli.conftest import Command
from tests.strategies import weights

TABLE = """kind: mechanism
outputs: [yes, no]
inputs:
  x: [3/4, 1/4]
  y: {no: 3/4, yes: 1/4}
  z: [1/2, 1/2]
adjacency: [[x, y], [y, z]]
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.yaml"
    path.write_text(TABLE)
    return path


def test_a_table_is_read() -> None:
    model = parse_model(TABLE)
    assert isinstance(model, HMM)
    assert model.pairs == (("x", "y"), ("y", "z"))
    assert dict(model.distribution("y")) == {0: fmpq(1, 4), 1: fmpq(3, 4)}
    every = parse_model(TABLE.replace("[[x, y], [y, z]]", "all"))
    assert isinstance(every, HMM)
    assert every.pairs == (("x", "y"), ("x", "z"), ("y", "z"))


@given(st.lists(weights(3), min_size=2, max_size=3), st.sampled_from([1, 2, fmpq(3, 2)]))
def test_against_the_definitions(rows: list[list[fmpq]], alpha: fmpq) -> None:
    table = {f"x{i}": dict(zip("abc", row, strict=True)) for i, row in enumerate(rows)}
    model = mechanism_model(table)
    found = delta(model, alpha).pairs
    budgets = epsilon(model, length=1).pairs
    for pair, budget in zip(found, budgets, strict=True):
        p, q = table[pair.source], table[pair.target]
        both = ((p, q), (q, p))
        expected = max(sum(max(one[y] - alpha * two[y], fmpq(0)) for y in "abc") for one, two in both)
        assert pair.lower == pair.upper == expected
        cells = [(one[y], two[y]) for y, (one, two) in product("abc", both) if one[y]]
        infinite = any(two == 0 for _, two in cells)
        assert budget.ratio == (None if infinite else max(one / two for one, two in cells))


def test_the_budget_of_a_table(command: Command, table: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    answer = json.loads(command("budget", str(table), "--json", "--certificate", str(proof)).out)
    assert (answer["ratio"], answer["inputs"], answer["answer"]) == ("3", ["x", "y"], "yes")
    assert (answer["probabilities"], answer["neighbours"]) == (["3/4", "1/4"], 2)
    assert command("check", str(proof)).code == 0
    assert "3." in command("budget", str(table)).out


def test_delta_and_profile_of_a_table(command: Command, table: Path) -> None:
    answer = json.loads(command("delta", str(table), "--alpha", "2", "--json").out)
    assert [pair["upper"] for pair in answer["pairs"]] == ["1/4", "0"]
    model = parse_model(TABLE)
    assert [point.upper for point in profile(model, alphas=[1, 3]).points] == [fmpq(1, 2), 0]


def test_a_table_is_not_overwritten(command: Command, table: Path) -> None:
    assert command("budget", str(table), "--certificate", str(table)).code == 2
    assert table.read_text() == TABLE


def test_an_infinite_budget(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    rows = {"x": {"a": 1}, "y": {"b": 1}}
    path.write_text(json.dumps({"kind": "mechanism", "inputs": rows, "adjacency": "all"}))
    answer = json.loads(command("budget", str(path), "--json").out)
    assert (answer["ratio"], answer["epsilon"], answer["exact"]) == ("inf", "inf", True)
    assert "infinite" in command("budget", str(path)).out


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[3/4, 1/4]", "[3/4, 1/5]", r"line 4: input 'x': the probabilities sum to 19/20"),
        ("[3/4, 1/4]", "[1]", "line 4: input 'x': the row has 1 entries; expected one for each of the 2"),
        ("no: 3/4", "never: 3/4", "line 5: input 'y': 'never' is not among the outputs"),
        ("[yes, no]", "[yes, yes]", "line 2: outputs: an output is listed twice"),
        ("[x, y]", "[x, w]", "line 7: pair number 1: 'w' is not a declared input"),
        ("[x, y]", "[x]", "line 7: pair number 1: the pair has 1 entries"),
        ("[[x, y], [y, z]]", "every", "line 7: pairs: found the text 'every'; expected a list"),
        ("adjacency:", "pairs:", "the key 'pairs' is unknown"),
        ("outputs: [yes, no]\n", "", "input 'x': found a list of 2; expected a mapping"),
        ("1/2, 1/2", "3/2, -1/2", "expected a number in"),
    ],
)
def test_what_is_refused(old: str, new: str, expected: str) -> None:
    assert old in TABLE
    with pytest.raises(ModelError, match=expected):
        parse_model(TABLE.replace(old, new, 1))


def test_neighbours_have_to_be_there(command: Command, table: Path) -> None:
    table.write_text(TABLE.replace("[[x, y], [y, z]]", "[]"))
    command("budget", str(table)).assert_refused("no inputs are neighbours")
    command("budget", str(table.with_name("gone.yaml"))).assert_refused("there is no such file")
    command("budget", "gone").assert_refused("there is no mechanism 'gone'")
