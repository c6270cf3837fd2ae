"""``bisimdist compose``: lists in files and on the command line, what is printed, and how it ends."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from bisimdist.progress import Progress, silent
from tests.cli.conftest import Command

LIST = """\
relation: add-remove
mechanisms:
  - gaussian: {sigma: 10, sensitivity: 1}
    times: 100
  - subsampled: {q: 1/100, of: {gaussian: {sigma: 4, sensitivity: 1}}}
    times: 100
  - randomised-response: {truth: 3/4}
  - program: sampler.py:noise
    inputs: [0, 1]
  - model: chain.yaml
    pair: [s, t]
"""
PROGRAM = """\
def noise(value, rng):
    return value + rng.randrange(8)
"""
CHAIN = """\
kind: lmc
states: {s: a, t: a, x: b, y: c}
transitions: {s: {x: 1/2, y: 1/2}, t: {x: 1/3, y: 2/3}, x: {x: 1}, y: {y: 1}}
"""


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    (tmp_path / "sampler.py").write_text(PROGRAM)
    (tmp_path / "chain.yaml").write_text(CHAIN)
    path = tmp_path / "list.yaml"
    path.write_text(LIST)
    return path


def test_a_list_with_its_proof(command: Command, listed: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    words = ("--epsilon", "2", "--epsilon", "3.5", "--delta", "1/5", "--width", "1/100", "--json")
    ended = command("compose", listed, *words, "--certificate", proof)
    assert (ended.code, ended.err) == (0, "")
    points = json.loads(ended.out)["points"]
    assert [list(point) for point in points] == [
        ["epsilon", "lower", "upper"],
        ["epsilon", "lower", "upper"],
        ["delta", "lower", "upper"],
    ]
    assert [point.get("epsilon", point.get("delta")) for point in points] == ["2", "7/2", "1/5"]
    for point in points:
        low, high = Fraction(point["lower"]), Fraction(point["upper"])
        assert 0 < low <= high <= low * Fraction(102, 100)
    assert command("check", proof).code == 0


def test_a_list_on_the_command_line(command: Command) -> None:
    ended = command("compose", "[{gaussian: {sigma: 10}, times: 100}]", "--epsilon", "1")
    assert ended.code == 0
    assert "0.1269367375  0.1269367376" in ended.out


def test_a_curve(command: Command, tmp_path: Path) -> None:
    table = tmp_path / "curve.csv"
    ended = command(
        "compose", "[{laplace: {scale: 2}}]", "--points", "5", "--to", "1/2", "--csv", table, "--json"
    )
    points = json.loads(ended.out)["points"]
    assert [point["epsilon"] for point in points] == ["0", "1/8", "1/4", "3/8", "1/2"]
    assert points[-1]["upper"] == "0"
    assert len(table.read_text().splitlines()) == 6


@pytest.mark.extra("plot")
def test_a_picture(command: Command, tmp_path: Path) -> None:
    picture = tmp_path / "curve.svg"
    assert (
        command("compose", "[{pure: {epsilon: 1/2}, times: 4}]", "--points", "9", "--plot", picture).code == 0
    )
    assert "<svg" in picture.read_text()


@pytest.mark.parametrize(
    ("mechanisms", "words", "said"),
    [
        ("[{gaussian: {sigma: 0}}]", ("--epsilon", "1"), "mechanism 1: gaussian: sigma is 0"),
        (
            "[{gaussian: {sigma: 1}}, {gaussian: {sigma: -2}}]",
            ("--epsilon", "1"),
            "mechanism 2: gaussian: sigma is -2",
        ),
        ("[{subsampled: {q: 2, of: {gaussian: {sigma: 1}}}}]", ("--epsilon", "1"), "q is 2"),
        ("[{gauss: {sigma: 1}}]", ("--epsilon", "1"), "there is no mechanism 'gauss'"),
        ("[{gaussian: {sigma: 1}}]", ("--delta", "0"), "no epsilon exists"),
        ("[{approximate: {epsilon: 1, delta: 1/10}}]", ("--delta", "1/20"), "no epsilon exists"),
        ("[{gaussian: {sigma: 1}}]", ("--delta", "2"), "expected 0, or a number from 10^-700 to 1"),
        ("[{gaussian: {sigma: 1}}]", ("--epsilon", "-1"), "expected at least 0"),
        ("[{gaussian: {sigma: 1}}]", ("--epsilon", "1e100"), "expected a number from 0 to 1000000"),
        ("[{gaussian: {sigma: 1}}]", ("--delta", "1e-4000"), "expected 0, or a number from 10^-700 to 1"),
        ("[{gaussian: {sigma: 1}}]", ("--width", "0"), "expected a number above 0"),
        ("[{gaussian: {sigma: 1}}]", ("--relation", "other"), "the relation is 'other'"),
        ("[{model: nowhere.yaml}]", ("--epsilon", "1"), "there is no such file"),
        ("[]", ("--epsilon", "1"), "the list has no mechanisms"),
        ("nowhere.yaml", ("--epsilon", "1"), "there is no such file"),
        ("{mechanisms: 3}", ("--epsilon", "1"), "expected a list"),
        ("{other: 3}", ("--epsilon", "1"), "unknown"),
    ],
)
def test_what_is_not_usable(
    command: Command, tmp_path: Path, mechanisms: str, words: tuple[str, ...], said: str
) -> None:
    proof = tmp_path / "proof.json"
    ended = command("compose", mechanisms, *words, "--certificate", proof)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert said in ended.err
    assert not proof.exists()


def test_nothing_is_written_over_what_is_read(command: Command, listed: Path) -> None:
    for name in ("list.yaml", "chain.yaml", "sampler.py"):
        before = (listed.parent / name).read_text()
        ended = command("compose", listed, "--epsilon", "1", "--certificate", listed.parent / name)
        assert ended.code == 2
        assert "this file is read by the same command" in ended.err
        assert (listed.parent / name).read_text() == before


def test_a_time_limit(command: Command) -> None:
    heavy = "[{subsampled: {q: 1/100, of: {gaussian: {sigma: 1}}}, times: 100000}]"
    ended = command("compose", heavy, "--epsilon", "8", "--width", "1e-6", "--timeout", "1", "--json")
    assert ended.code == 3
    point = json.loads(ended.out)["points"][0]
    assert Fraction(point["lower"]) <= Fraction(point["upper"])


def test_one_sided_bounds_say_so(command: Command) -> None:
    ended = command(
        "compose", "[{shuffled: {n: 50, of: {randomised-response: {truth: 3/4}}}}]", "--epsilon", "1/4"
    )
    assert ended.code == 0
    assert "different laws" in ended.out


def test_what_is_known_from_the_start(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def interrupted() -> Iterator[Progress]:
        signal.raise_signal(signal.SIGTERM)
        yield silent

    monkeypatch.setattr("bisimdist.faces.cli.run.shown_progress", interrupted)
    ended = command("compose", "[{gaussian: {sigma: 1}}]", "--epsilon", "1", "--delta", "1/10", "--json")
    assert ended.code == 3
    assert json.loads(ended.out)["points"] == [
        {"epsilon": "1", "lower": "0", "upper": "1"},
        {"delta": "1/10", "lower": "0", "upper": "inf"},
    ]


def test_a_delta_that_is_hardly_there_is_at_most_a_small_number(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command(
        "compose", "[{gaussian: {sigma: 100}}]", "--epsilon", "10", "--json", "--certificate", proof
    )
    point = json.loads(ended.out)["points"][0]
    assert (ended.code, point["lower"]) == (0, "0")
    assert 0 < Fraction(point["upper"]) < Fraction(1, 10**600)
    assert command("check", proof).code == 0


def test_a_delta_that_no_epsilon_has_leaves_the_other_points(command: Command, tmp_path: Path) -> None:
    listed, proof = "[{pure: {epsilon: 2e6}}, {approximate: {epsilon: 1, delta: 1/1000}}]", tmp_path / "proof"
    words = ("--epsilon", "3e5", "--delta", "1e-5", "--delta", "1/100", "--delta", "999/1000")
    ended = command("compose", listed, *words, "--width", "1", "--json", "--certificate", proof)
    assert ended.code == 3
    answer = json.loads(ended.out)
    found = [list(point.values()) for point in answer["points"]]
    assert found[0][0] == "300000"
    assert Fraction(found[0][1]) <= Fraction(found[0][2])
    assert found[1:3] == [["1/100000", "0", "inf"], ["1/100", "0", "inf"]]
    assert any("delta 1/100000: no epsilon exists" in note for note in answer["notes"])
    assert any("delta 1/100: epsilon is not known to be at most" in note for note in answer["notes"])


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        ("[{gaussian: {sigma: 1/100}}]", ("--epsilon", "5000", "--epsilon", "1")),
        ("[{approximate: {epsilon: 2000, delta: 1/2}, times: 2}]", ("--epsilon", "1500")),
    ],
)
def test_no_proof_is_written_that_its_check_refuses(
    command: Command, tmp_path: Path, mechanism: str, words: tuple[str, ...]
) -> None:
    proof = tmp_path / "proof.json"
    ended = command("compose", mechanism, *words, "--width", "1/10", "--certificate", proof)
    assert ended.code == 3
    assert "delta at epsilon" in ended.out
    assert f"no certificate was written to {proof}: its check refuses it: the masses need" in ended.err
    assert not proof.exists()


@pytest.mark.parametrize("form", ["[[0, 1], [1, 1]]", "[{0: 0, 1: 1}, {0: 1, 1: 1}]"])
def test_inputs_with_parts_hold_what_is_written(command: Command, tmp_path: Path, form: str) -> None:
    """Numbers inside of an input are no texts: the function would fail on both, and delta would be 0."""
    (tmp_path / "survey.py").write_text(
        "def survey(answers, rng):\n"
        "    return sum(answers[k] if rng.randrange(4) else 1 - answers[k] for k in (0, 1))\n"
    )
    listed = tmp_path / "list.yaml"
    listed.write_text(f"- program: survey.py:survey\n  inputs: {form}\n")
    ended = command("compose", listed, "--epsilon", "0", "--json")
    point = json.loads(ended.out)["points"][0]
    assert (ended.code, point["lower"], point["upper"]) == (0, "3/8", "3/8")


@pytest.mark.parametrize("sigma", ["1e10", "1e400"])
def test_noise_beyond_all_measure(command: Command, sigma: str) -> None:
    """No rational holds e to minus its square: the process ended there."""
    ended = command("compose", f"[{{gaussian: {{sigma: {sigma}}}}}]", "--epsilon", "1", "--json")
    point = json.loads(ended.out)["points"][0]
    assert (ended.code, point["lower"]) == (0, "0")
    assert 0 < Fraction(point["upper"]) <= Fraction(1, 10**700)


def test_discrete_noise_on_too_many_integers(command: Command) -> None:
    """Nothing ended the work before its memory did."""
    ended = command("compose", "[{discrete-gaussian: {sigma: 1e20}, times: 3}]", "--epsilon", "1", "--json")
    assert ended.code == 3
    assert "discrete noise on more than 4000000 integers" in ended.err
    assert json.loads(ended.out)["points"] == [{"epsilon": "1", "lower": "0", "upper": "1"}]


def test_hardly_any_noise(command: Command) -> None:
    """No double holds the losses of what a grid would be for."""
    pair = "[{laplace: {scale: 1e-10}}, {gaussian: {sigma: 1e-10}}]"
    ended = command("compose", pair, "--epsilon", "1", "--json")
    assert (ended.code, ended.err) == (3, "")
    assert json.loads(ended.out)["points"][0]["upper"] == "1"
