"""Programs whose bits somebody bends, against every way to bend them."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.models.io import write_model
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.programs.chain import Origin, ProgramChain
from bisimdist.programs.coins import bent
from tests.cli.conftest import Command

SEEN = ("--observe", "draws", "--gap", "1/10")
PROGRAMS = """
def answer(truth, rng):
    if rng.getrandbits(1) == 1:
        return truth
    if rng.choice([True, False]):
        return truth
    return not truth

def four(value, rng):
    high, low = rng.randrange(2), rng.getrandbits(1)
    return (value + 2 * high + low) % 4 if high or low else value

def die(value, rng):
    return (value + rng.randrange(3)) % 3

def byte(value, rng):
    return (value + rng.getrandbits(2)) % 4

def wait(value, rng):
    while rng.getrandbits(1):
        pass
    return (value + rng.getrandbits(1)) % 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "coins.py"
    path.write_text(PROGRAMS)
    return path


def asked(command: Command, file: Path, name: str, *words: str) -> dict[str, str]:
    inputs = ("True", "False") if name == "answer" else ("0", "1")
    program = ("delta", f"{file}:{name}", "--input", inputs[0], "--input", inputs[1])
    ended = command(*program, *words, "--json")
    assert ended.code == 0, ended.err
    pair: dict[str, str] = json.loads(ended.out)["pairs"][0]
    return pair


def test_randomised_response_with_bent_coins(command: Command, file: Path) -> None:
    """The truth is told if one of two coins shows heads: ratio 3, and 8 with coins of 1/3 to 2/3."""
    assert asked(command, file, "answer", "--alpha", "3")["upper"] == "0"
    bent_at_three = asked(command, file, "answer", "--alpha", "3", "--coins", "1/3")
    assert bent_at_three["lower"] == bent_at_three["upper"] == "5/9"
    assert asked(command, file, "answer", "--alpha", "8", "--coins", "1/3")["upper"] == "0"
    assert Fraction(asked(command, file, "answer", "--alpha", "7.99", "--coins", "1/3")["lower"]) > 0


@pytest.mark.parametrize("suffix", ["json", "yaml"])
@pytest.mark.parametrize("seen", [(), SEEN[:2]])
def test_a_file_says_which_program_it_is_made_of(
    command: Command, file: Path, tmp_path: Path, suffix: str, seen: tuple[str, ...]
) -> None:
    about = (f"{file}:answer", "--input", "0", "--input", "1", "--coins", "1/3", *seen)
    proof, model = tmp_path / "proof.json", tmp_path / f"model.{suffix}"
    assert command("bound", *about, "--alpha", "2", "--certificate", proof).code == 0
    assert command("show", *about, "-o", model).code == 0
    program = json.dumps(json.loads(proof.read_text())["program"])
    assert f": {program}" in model.read_text()
    assert command("check", proof, model).code == 0


@pytest.mark.parametrize("name", ["answer", "four"])
def test_coins_that_nobody_bends_are_fair(command: Command, file: Path, name: str) -> None:
    for alpha in ("1", "2"):
        fair = asked(command, file, name, "--alpha", alpha)
        same = asked(command, file, name, "--alpha", alpha, "--coins", "0")
        assert (fair["lower"], fair["upper"]) == (same["lower"], same["upper"])


@pytest.mark.parametrize(
    ("name", "words", "line"),
    [
        ("die", (), "draws below(3), and only single bits can be biased"),
        ("byte", (), "draws bits(2), and only single bits can be biased"),
        ("wait", (), "it may draw for ever, and an observer does not see how long"),
        ("four", ("--observe", "bits"), "an observer can see the output"),
        ("four", ("--cut", "1/10"), "--coins takes whole programs"),
        ("four", ("--coins", "2"), "--coins"),
    ],
)
def test_what_coins_are_not_for(
    command: Command, file: Path, name: str, words: tuple[str, ...], line: str
) -> None:
    program = ("delta", f"{file}:{name}", "--input", "0", "--input", "1", "--alpha", "1", "--coins", "1/3")
    command(*program, *words).assert_refused(line)


def test_coins_are_for_programs(command: Command, file: Path) -> None:
    command("delta", "example:figure1", "--alpha", "1", "--coins", "1/3").assert_refused("is for programs")
    two = ("--against", f"{file}:four", "--input", "0")
    command("delta", f"{file}:four", *two, "--alpha", "1", "--coins", "1/3").assert_refused("one program")


def test_waiting_may_be_seen(command: Command, file: Path) -> None:
    seen = asked(command, file, "wait", "--alpha", "2", "--coins", "1/3", *SEEN)
    assert Fraction(2, 3) <= Fraction(seen["upper"])  # 0 is twice as likely as it should be, and never from 1


@st.composite
def trees(draw: st.DrawFn) -> ProgramChain:
    """Draw what a program does that draws at most three bits, from two inputs."""
    names, labels, rows = ["s", "t"], ["start", "start"], [[], []]  # type: ignore[var-annotated]
    ends: dict[str, int] = {}

    def end(text: str) -> int:
        if text not in ends:
            ends[text] = len(names)
            names.append(f"return {text}")
            labels.append(text)
            rows.append([(ends[text], fmpq(1))])
        return ends[text]

    def node(depth: int) -> int:
        if depth == 0 or draw(st.integers(0, 3)) == 0:
            return end(draw(st.sampled_from("xyz")))
        number = len(names)
        names.append(f"#{number}")
        labels.append("draw")
        rows.append([])
        one, other = node(depth - 1), node(depth - 1)
        half = fmpq(1, 2)
        rows[number] = sorted([(one, half), (other, half)]) if one != other else [(one, fmpq(1))]
        return number

    for start in (0, 1):
        rows[start] = [(node(3), fmpq(1))]
    origin = Origin("f", "draws", {})
    return ProgramChain(tuple(names), tuple(labels), tuple(map(tuple, rows)), ((0, 1),), origin=origin)


def extreme(model: LMC, state: int, event: set[str], gain: fmpq, sign: int) -> fmpq:
    """Return the largest (or, with -1, the least) probability of an event of outputs."""
    row = model.rows[state]
    if row == ((state, fmpq(1)),):
        return fmpq(model.labels[state] in event)
    values = sorted((extreme(model, target, event, gain, sign) for target, _ in row), reverse=sign > 0)
    if len(values) == 1:
        return values[0]
    return (1 + gain) / 2 * values[0] + (1 - gain) / 2 * values[1]


@settings(deadline=None, max_examples=25)
@given(
    trees(), st.sampled_from([fmpq(0), fmpq(1, 3), fmpq(1)]), st.sampled_from([fmpq(1), fmpq(3, 2), fmpq(3)])
)
def test_delta_is_that_of_the_worst_ways_to_bend(model: ProgramChain, by: fmpq, skew: fmpq) -> None:
    events = [set(event) for event in chain.from_iterable(combinations("xyz", k) for k in range(4))]
    worst = max(
        extreme(model, s, event, by, 1) - skew * extreme(model, t, event, by, -1)
        for event in events
        for s, t in ((0, 1), (1, 0))
    )
    rough = bent(model, by, seen=False)
    answer = delta(rough, skew)
    assert answer.pairs[0].lower == answer.pairs[0].upper == max(fmpq(0), worst)
    assert check_certificate(json.dumps(answer.certificate()), write_model(answer.model, "json")).valid
    assert delta(bent(model, by, seen=True), skew, gap="1/2").upper >= max(fmpq(0), worst)
