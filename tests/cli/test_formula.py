"""``bisimdist logic formula``, ``satisfies`` and ``explain``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bisimdist.logic.engine.formula_parser import parse_formula, parse_system
from bisimdist.logic.engine.mimicking import mimicking_formula
from bisimdist.models.library.pin_checking import pin_checking
from tests.cli.conftest import Command

PIN = "example:pin-checking"
ACYCLIC = """\
kind: pa
states: [s, t, s1, s2, t1, end]
transitions:
  - {from: s, action: a, to: {s1: 1/2, s2: 1/2}}
  - {from: t, action: a, to: {t1: 1}}
  - {from: s1, action: b, to: {end: 1}}
  - {from: t1, action: b, to: {end: 1}}
pairs: [[s, t], [s1, t1]]
"""


@pytest.fixture
def acyclic(tmp_path: Path) -> Path:
    path = tmp_path / "acyclic.yaml"
    path.write_text(ACYCLIC)
    return path


def test_formulae_to_a_depth(command: Command, acyclic: Path) -> None:
    ended = command("logic", "formula", acyclic, "--state", "s", "--depth", "2")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "<a>(1/2 (<b>(1 T) & !<a>T) + 1/2 (!<a>T & !<b>T)) & !<b>T\n"
    ended = command("logic", "formula", acyclic, "--state", "s", "--depth", "1", "--unicode")
    assert ended.out == "⟨a⟩(1 \u22a4) ∧ ¬⟨b⟩\u22a4\n"
    data = json.loads(command("logic", "formula", PIN, "--state", "s1", "--depth", "7", "--json").out)
    assert data["model"] == {"digest": pin_checking().digest(), "states": 17}
    assert (data["command"], data["state"], data["depth"], data["recursive"]) == (
        "logic formula",
        "s1",
        7,
        False,
    )
    assert parse_formula(data["formula"]) is mimicking_formula(pin_checking(), pin_checking().index("s1"), 7)


def test_formulae_for_ever(command: Command, acyclic: Path) -> None:
    data = json.loads(command("logic", "formula", acyclic, "--state", "t", "--json").out)
    assert (data["depth"], data["recursive"]) == (None, False)
    assert data["formula"] == "<a>(<b>(!<a>T & !<b>T) & !<a>T) & !<b>T"
    ended = command("logic", "formula", PIN, "--state", "s1")
    assert ended.code == 0
    assert ended.out.startswith("rec\n  X_s1 = <a1>(")
    assert len(parse_system(ended.out).equations) == 8


def test_who_satisfies(command: Command, acyclic: Path, tmp_path: Path) -> None:
    ended = command("logic", "satisfies", acyclic, "--formula", "<b>T")
    assert (ended.code, ended.out) == (0, "2 of 6 states satisfy the formula: s1, t1\n")
    ended = command("logic", "satisfies", acyclic, "--formula", "<b>T", "--state", "s1", "--state", "s")
    assert ended.code == 1
    assert "s1     yes" in ended.out
    assert "s      no" in ended.out
    given = (
        "logic",
        "satisfies",
        acyclic,
        "--formula",
        "⟨a⟩(1/2 ⟨b⟩\u22a4 ⊕ 1/2 ¬⟨b⟩\u22a4)",
        "--state",
        "s",
        "--json",
    )
    ended = command(*given)
    assert ended.code == 0
    data = json.loads(ended.out)
    assert data["formula"] == "<a>(1/2 <b>T + 1/2 !<b>T)"
    assert data["satisfying"] == ["s"]
    assert data["states"] == [{"state": "s", "holds": True}]
    assert data["verdict"] == "holds"
    file = tmp_path / "formula.txt"
    file.write_text(command("logic", "formula", PIN, "--state", "s7").out)
    ended = command("logic", "satisfies", PIN, "--formula", f"@{file}", "--state", "s7")
    assert ended.code == 0


def test_why_states_differ(command: Command, acyclic: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command("logic", "explain", acyclic, "--certificate", proof)
    assert ended.code == 0
    assert "s can do a and then, with probability at least 1/2, cannot do b; t cannot." in ended.out
    assert "They give different probabilities to the trace a b." in ended.out
    assert "s1    t1  yes" in ended.out
    data = json.loads(command("logic", "explain", acyclic, "--json").out)
    assert data["pairs"] == [
        {
            "from": "s",
            "to": "t",
            "bisimilar": False,
            "formula": "<a>(1/2 !<b>T + 1/2 T)",
            "depth": 2,
            "irreducible": True,
            "explanation": "s can do a and then, with probability at least 1/2, cannot do b; t cannot.",
            "trace": ["a", "b"],
            "trace_decided": True,
        },
        {
            "from": "s1",
            "to": "t1",
            "bisimilar": True,
            "formula": None,
            "depth": None,
            "irreducible": None,
            "explanation": "s1 and t1 are bisimilar.",
            "trace": None,
            "trace_decided": True,
        },
    ]
    ended = command("check", proof, acyclic, "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["claim"][1] == {"from": "s1", "to": "t1", "bisimilar": True}
    document = json.loads(proof.read_text())
    document["claims"][0]["formula"] = "<a>(1/4 !<b>T + 1/4 <b>T + 1/2 T)"
    proof.write_text(json.dumps(document))
    assert command("check", proof).code == 0  # another formula, and true
    document["claims"][0]["formula"] = "<a>(1/2 <b>T + 1/2 T)"
    proof.write_text(json.dumps(document))
    assert command("check", proof).code == 1


def test_time_limits(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command("logic", "explain", PIN, "--timeout", "0", "--json", "--certificate", proof)
    assert ended.code == 3
    assert json.loads(ended.out)["pairs"][0]["bisimilar"] is None
    assert "no certificate was written" in ended.err
    assert not proof.exists()
    ended = command("logic", "formula", PIN, "--state", "s1", "--depth", "5", "--timeout", "0")
    assert (ended.code, ended.out) == (3, "")
    assert command("logic", "satisfies", PIN, "--formula", "rec X = <ok>X in X", "--timeout", "0").code == 3


def test_bad_input_is_refused(command: Command, acyclic: Path, tmp_path: Path) -> None:
    command("logic", "formula", acyclic).assert_refused("--state was not given")
    command("logic", "formula", acyclic, "--state", "x").assert_refused("state 'x'")
    command("logic", "formula", acyclic, "--state", "s", "--depth", "-1").assert_refused("--depth -1")
    command("logic", "satisfies", acyclic).assert_refused("--formula was not given")
    command("logic", "satisfies", acyclic, "--formula", "<a>(1/2 T").assert_refused(
        "--formula:1: column 10", "expected '+'"
    )
    command("logic", "satisfies", acyclic, "--formula", "T", "--state", "x").assert_refused("state 'x'")
    command("logic", "satisfies", acyclic, "--formula", "@nowhere").assert_refused(
        "nowhere: there is no such file"
    )
    file = tmp_path / "formula.txt"
    file.write_bytes(b"T &\n\n&")
    command("logic", "satisfies", acyclic, "--formula", f"@{file}").assert_refused(
        f"{file}:3: column 1: found '&'"
    )
    file.write_bytes(b"\xff")
    command("logic", "satisfies", acyclic, "--formula", f"@{file}").assert_refused("not UTF-8")
    command("logic", "explain", acyclic, "--pair", "s", "x").assert_refused("state 'x'")
    command("logic", "explain", "example:geometric").assert_refused("hidden Markov model")
    file.with_suffix(".yaml").write_text("kind: pa\nstates: [s]\ntransitions: []\n")
    command("logic", "explain", file.with_suffix(".yaml")).assert_refused("no pairs of its own")


def test_which_transitions_satisfy(command: Command, acyclic: Path) -> None:
    ended = command("logic", "satisfies", acyclic, "--formula", "(1/2 <b>T + 1/2 T)")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "from  action  to\n"
        "s     a       s1 1/2, s2 1/2\n"
        "t     a       t1 1\n"
        "2 of 4 transitions satisfy the formula.\n"
    )
    asked = ("logic", "satisfies", acyclic, "--formula", "(1/2 <b>T + 1/2 !<b>T)", "--state", "s")
    assert command(*asked).out == "from  action  to\ns     a       s1 1/2, s2 1/2\n"
    data = json.loads(command(*asked, "--state", "t", "--json").out)
    assert data["formula"] == "(1/2 <b>T + 1/2 !<b>T)"
    assert data["transitions"] == [
        {
            "from": "s",
            "action": "a",
            "to": {"s1": "1/2", "s2": "1/2"},
            "splitting": [{"s1": "1/2"}, {"s2": "1/2"}],
        }
    ]
    assert data["states"] == [{"state": "s", "holds": True}, {"state": "t", "holds": False}]
    assert data["verdict"] == "violated"
    ended = command(*asked, "--state", "t")
    assert ended.code == 1
    assert "No transition of t satisfies the formula.\n" in ended.out
    # What is about states stays so.
    assert "6 of 6 states" in command("logic", "satisfies", acyclic, "--formula", "T").out
    assert (
        command("logic", "satisfies", acyclic, "--formula", "()").out
        == "0 of 4 transitions satisfy the formula.\n"
    )


def test_bad_formulae_about_distributions(command: Command, acyclic: Path) -> None:
    for text, words in (
        ("(2/3 T + 2/3 T)", "--formula:1: column 1: the weights sum to 4/3"),
        ("(1/2 T) & T", "column 9: found '&'; expected the end of the text"),
        ("(1/2 T + 1/2 x)", "column 14: the name x has no definition"),
        ("rec X = <a>X in (1 X)", "column 17: a formula about distributions stands here"),
    ):
        command("logic", "satisfies", acyclic, "--formula", text).assert_refused(words)
    command("logic", "satisfies", acyclic, "--formula", "(1 T)", "--state", "x").assert_refused("state 'x'")


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("logic", "satisfies", "--formula", "<b>T"), 0, "satisfaction"),
        (("logic", "satisfies", "--formula", "<b>T", "--state", "s"), 1, "satisfaction"),
        (("logic", "satisfies", "--formula", "rec X = <a>X in !X"), 0, "satisfaction"),
        (("logic", "satisfies", "--formula", "(1/2 <b>T + 1/2 T)"), 0, "satisfaction"),
        (("logic", "formula", "--state", "s"), 0, "mimicking-formula"),
        (("logic", "formula", "--state", "s", "--depth", "1"), 0, "mimicking-formula"),
        (("logic", "traces", "--state", "s"), 0, "trace-formulae"),
        (("logic", "traces", "--state", "s", "--limit", "1"), 0, "trace-formulae"),
        (
            ("logic", "traces", "--state", "s", "--formula", "1 <a>T", "--formula", "1 <a><b>T"),
            1,
            "trace-formulae",
        ),
    ],
)
def test_answers_are_proved(  # noqa: PLR0917
    command: Command, acyclic: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, kind: str
) -> None:
    proof = tmp_path / "proof.json"
    ended = command(*arguments[:2], acyclic, *arguments[2:], "--certificate", proof)
    assert (ended.code, ended.err) == (code, "")
    assert ended.out == command(*arguments[:2], acyclic, *arguments[2:]).out
    data = json.loads(command("check", proof, acyclic, "--json").out)
    assert (data["valid"], data["kind"]) == (True, kind)
    assert command("check", proof, PIN).code == 1


def test_recursive_formulae_are_proved(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command("logic", "formula", PIN, "--state", "s1", "--certificate", proof)
    assert ended.code == 0
    assert command("check", proof, PIN).code == 0
    command("logic", "satisfies", PIN, "--formula", "T", "--certificate", tmp_path).assert_refused(
        "--certificate"
    )
