"""All neighbours among the inputs of a program: which they are, and what the worst of them gives away."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist import check_certificate, delta, explore
from bisimdist.budgets.budget.program import program_budget
from bisimdist.errors import UsageError
from bisimdist.exact.precision import working_precision
from bisimdist.exact.rational import parse_rational
from bisimdist.models.library.programs.responses import rappor, shuffled_response
from bisimdist.programs.inputs import Input, at_distance_one, inputs_of_size, neighbour_pairs
from bisimdist.programs.program.answer import ratio_remarks
from bisimdist.programs.ratios import OutputRatio
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

PROGRAM = """
def response(bits, rng):
    return [bit if rng.randrange(4) else 1 - bit for bit in bits]

def total(bits, rng):
    noise = 0
    while rng.randrange(3):
        noise += 1
    return sum(bits) + noise

def same(one, other):
    return sum(one) == sum(other)

def wrong(one, other):
    return one.missing
"""


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        (0, 1, True),
        (0, 2, False),
        (False, True, True),
        (Fraction(1, 2), Fraction(3, 2), True),
        ("ab", "ac", True),
        ("ab", "abc", True),
        ("ab", "ba", False),
        ((1, 2), (1, 3), True),
        ((1, 2), (2,), True),
        ([1, 2], (1, 3), False),
        ([1], [1], False),
        ({1}, {1, 2}, True),
        ({1}, {2}, False),
        ({"a": 1}, {"a": 2}, True),
        ({"a": 1}, {}, True),
        ({"a": 1}, {"b": 1}, False),
        (None, 1, False),
    ],
)
def test_what_is_at_distance_one(one: object, other: object, near: bool) -> None:
    assert at_distance_one(one, other) is near
    assert at_distance_one(other, one) is near


ELEMENTS = st.sampled_from([0, 1, True, Fraction(1), "a", (0,), None])
VALUES = st.one_of(
    st.integers(0, 4),
    st.booleans(),
    st.fractions(0, 3, max_denominator=2),
    st.none(),
    st.text("ab", max_size=3),
    st.lists(ELEMENTS, max_size=3),
    st.lists(ELEMENTS, max_size=3).map(tuple),
    st.lists(st.one_of(st.lists(st.integers(0, 1), max_size=2), st.just({1: [1]}), st.just({True: [1]}))),
    st.sets(ELEMENTS, max_size=3),
    st.frozensets(ELEMENTS, max_size=3),
    st.dictionaries(st.sampled_from(["a", None, 0]), st.sampled_from([0, 1, True, [1]]), max_size=2),
)


def compared_with_all_pairs(values: list[Any]) -> None:
    inputs = [Input(str(k), lambda value=value: value) for k, value in enumerate(values)]  # type: ignore[misc]
    slow = tuple(
        (str(s), str(t))
        for s, t in combinations(range(len(values)), 2)
        if at_distance_one(values[s], values[t])
    )
    if slow:
        assert neighbour_pairs(inputs, at_distance_one) == slow
    else:
        with pytest.raises(UsageError, match="no two"):
            neighbour_pairs(inputs, at_distance_one)


@settings(max_examples=100)
@given(st.lists(VALUES, min_size=2, max_size=12))
def test_neighbours_at_distance_one_are_those_of_all_pairs(values: list[Any]) -> None:
    compared_with_all_pairs(values)


def test_neighbours_without_a_hash_are_found_as_well() -> None:
    compared_with_all_pairs([[{1}], [{1}, {2}], [bytearray(b"b"), 1], [bytearray(b"a")], [[0], {}]])
    compared_with_all_pairs([{"a": {1}}, {"a": {2}}, {"a": 1, "b": 2}, {True: 1}, {True: True}])


def test_neighbours_are_pairs() -> None:
    inputs = list(product((0, 1), repeat=2))
    assert len(explore(rappor, inputs, neighbours="all", replays=10).pairs) == 6
    assert len(explore(rappor, inputs, neighbours="one", replays=10).pairs) == 4
    larger = explore(rappor, inputs, neighbours=lambda one, other: sum(one) == 2 < 2 + sum(other), replays=10)
    assert len(larger.pairs) == 2  # in either order is enough
    with pytest.raises(UsageError, match="no two"):
        explore(rappor, inputs, neighbours=lambda *_: False)
    with pytest.raises(UsageError, match="both pairs and neighbours"):
        explore(rappor, inputs, pairs=[("(0, 0)", "(0, 1)")], neighbours="all")
    with pytest.raises(UsageError, match="expected all, one"):
        explore(rappor, inputs, neighbours="two")


def test_the_budget_is_that_of_the_worst_pair() -> None:
    inputs = list(product((0, 1), repeat=3))
    for neighbours, power in (("one", 1), ("all", 3)):
        found = program_budget(explore(rappor, inputs, neighbours=neighbours))
        assert found.ratio is not None
        assert found.ratio.ratio == fmpq(21, 19) ** power
        one, other = found.probabilities()
        assert one / other == found.ratio.ratio
        assert check_certificate(json.dumps(found.certificate())).valid


def summed(bits: list[int], rng: random.Random) -> int:
    return sum(bits) + rng.randrange(2)


def test_inputs_that_look_the_same_are_one() -> None:
    chain = explore(summed, list(inputs_of_size([0, 1], 4)), neighbours="one")
    found = program_budget(chain, 2)
    assert (len(chain.pairs), found.classes, found.compared) == (32, 5, 1)
    assert found.delta is not None
    assert found.delta.upper == fmpq(1, 2)
    one, other = found.pair  # that are neighbours themselves
    assert at_distance_one(json.loads(one), json.loads(other))
    assert program_budget(chain).ratio.ratio is None  # type: ignore[union-attr]


def test_pairs_up_to_the_names_of_outputs_are_one() -> None:
    chain = explore(rappor, list(product((0, 1), repeat=4)), neighbours="one", replays=10)
    found = program_budget(chain)
    assert (len(chain.pairs), found.classes, found.compared) == (32, 16, 1)
    everyone = explore(rappor, list(product((0, 1), repeat=4)), neighbours="all", replays=10)
    assert program_budget(everyone).compared == 4  # by how many bits differ
    assert program_budget(everyone).ratio.ratio == fmpq(21, 19) ** 4  # type: ignore[union-attr]
    skewed = {"a": [3, 1, 0], "b": [0, 1, 3], "c": [1, 3, 0], "d": [0, 3, 1]}
    table = explore(
        lambda x, rng: rng.pick({k: Fraction(n, 4) for k, n in enumerate(x)}), skewed, neighbours="all"
    )
    for alpha in ("1", "3/2", "2", "4"):
        best = max(
            delta(table, alpha, pairs=[(table.states[s], table.states[t])]).upper for s, t in table.pairs
        )
        found = program_budget(table, alpha)
        assert found.delta is not None
        assert found.delta.upper == best
    assert found.compared < 6


def test_a_program_that_tells_nothing_has_a_pair_still() -> None:
    found = program_budget(explore(lambda x, rng: rng.randrange(2), [0, 1], neighbours="one"))
    assert found.ratio is not None
    assert found.ratio.ratio == 1


def test_only_outputs_have_a_ratio() -> None:
    chain = explore(shuffled_response, [0, 1], observe="draws")
    with pytest.raises(UsageError, match="give --alpha"):
        program_budget(chain)
    assert program_budget(chain, epsilon="1/2").delta is not None


def test_too_many_inputs_are_refused() -> None:
    with pytest.raises(UsageError, match="3\\^20 inputs"):
        inputs_of_size([0, 1, 2], 20)


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "mechanism.py").write_text(PROGRAM)
    return str(tmp_path / "mechanism.py")


def answer(command: Command, *words: str) -> Any:  # noqa: F811
    ended = command("budget", *words, "--json")
    assert ended.code in {0, 3}, ended
    return {**json.loads(ended.out), "code": ended.code}


def test_the_command(command: Command, file: str, tmp_path: Path) -> None:  # noqa: F811
    proof = tmp_path / "proof.json"
    asked = (f"{file}:response", "--domain", "0,1", "--size", "3")
    found = answer(command, *asked, "--neighbours", "one", "--certificate", str(proof))
    assert (found["ratio"], found["exact"], found["neighbours"], found["code"]) == ("3", True, 12, 0)
    assert command("check", proof).code == 0
    assert answer(command, *asked, "--neighbours", "all")["ratio"] == "27"
    assert answer(command, *asked, "--neighbours", f"{file}:same")["ratio"] == "9"
    assert answer(command, *asked, "--alpha", "2")["worst"]["upper"] == "1/4"
    assert "worst pair is [0, 0, 0] and [0, 0, 1]" in command("budget", *asked).out
    named = answer(command, f"{file}:response", "--input", "[0]", "--input", "[1]")
    assert named["inputs"] == ["[0]", "[1]"]


def test_a_cut_budget_is_no_more_than_a_bound(command: Command, file: str, tmp_path: Path) -> None:  # noqa: F811
    asked = (f"{file}:total", "--domain", "0,1", "--size", "2", "--cut", "1e-4")
    found = answer(command, *asked)
    assert found["code"] == 3
    assert Fraction(found["ratio_at_least"]) > 1000  # one-sided noise: 0 comes from no ones only
    found = answer(command, *asked, "--alpha", "2")
    assert Fraction(found["worst"]["lower"]) <= Fraction(1, 3) <= Fraction(found["worst"]["upper"])
    ended = command("budget", *asked, "--certificate", tmp_path / "proof.json")
    assert ended.code == 3
    assert "no exact ratio" in ended.err


def test_fractions_are_inputs(command: Command, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "coins.py"
    file.write_text(
        "def coin(p, rng):\n    return rng.flip(p)\ndef first(p, rng):\n    return rng.flip(p[0])\n"
    )
    asked = (f"{file}:coin", "--input", "1/2", "--input", "Fraction(1, 4)", "--alpha", "1")
    ended = command("delta", *asked, "--json", "--certificate", tmp_path / "proof.json")
    assert json.loads(ended.out)["pairs"][0]["upper"] == "1/4"
    assert command("check", tmp_path / "proof.json", f"{file}:coin").code == 0
    found = answer(command, f"{file}:first", "--domain", "1/2,-1/-4", "--size", "1", "--neighbours", "all")
    assert (found["ratio"], found["inputs"]) == ("2", ["[Fraction(1, 2)]", "[Fraction(1, 4)]"])


def test_that_nothing_is_returned_is_said(command: Command, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "adding.py"
    file.write_text("def noisy(x, rng):\n    return x + rng.randrange(2)\n")
    said = "Nothing is ever returned: every run raises TypeError"
    asked = ("budget", f"{file}:noisy", "--domain", "0,1")
    assert said in command(*asked, "--size", "1").out  # of lists
    inputs = ("--input", "[0]", "--input", "1", "--alpha", "1")
    both = (*inputs[:3], "[1]", *inputs[4:])
    for question in ("program", "delta", "bound", "compare"):
        assert "Nothing is ever" not in command(question, f"{file}:noisy", *inputs).err
        assert command(question, f"{file}:noisy", *both).err.count(said) == 1


def test_what_is_not_usable_is_refused(command: Command, file: str) -> None:  # noqa: F811
    named = f"{file}:response"
    command("budget", named).assert_refused("--domain")
    command("budget", named, "--domain", "0,1").assert_refused("--size")
    command("delta", named, "--input", "0", "--alpha", "1").assert_refused("one --input")
    command("budget", named, "--domain", "x", "--size", "1").assert_refused("literals")
    command("budget", named, "--domain", "0,1", "--size", "40").assert_refused("inputs")
    command("budget", named, "--domain", "0", "--size", "1").assert_refused("no two")
    command(
        "budget", named, "--domain", "0,1", "--size", "2", "--neighbours", f"{file}:wrong"
    ).assert_refused("AttributeError")
    command("budget", "noisy-max", "--size", "2").assert_refused("for programs")
    command(
        "delta", named, "--input", "[0]", "--input", "[1]", "--neighbours", "two", "--alpha", "2"
    ).assert_refused("expected all, one")


@pytest.mark.parametrize("ratio", ["3", "120", "2914/781", "9007199254740993/9007199254740992"])
def test_the_epsilon_that_is_shown_for_a_ratio_suffices(ratio: str) -> None:
    """A decimal that is rounded down would promise more privacy than there is."""
    (said,) = ratio_remarks(OutputRatio(parse_rational(ratio), "0", exact=True))
    shown = parse_rational(said.partition("(epsilon <= ")[2].partition(")")[0])
    with working_precision(200):
        assert arb(shown).exp() > parse_rational(ratio)
