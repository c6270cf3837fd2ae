"""``bisimdist bound``: what is asked of the engine, what is printed, and how it ends."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx, fmpq

import bisimdist
from bisimdist.distances.bound.command import Bound
from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.rational import parse_rational
from bisimdist.faces.cli.run import run_question
from bisimdist.faces.shown.answer import Status
from bisimdist.models.io import load_model
from bisimdist.models.library.figure1 import figure1 as built_figure1
from bisimdist.models.lmc import LMC
from tests.cli.conftest import Command
from tests.cli.fake_engine import FakeEngine


def digest(path: Path) -> str:
    model = load_model(path)
    assert isinstance(model, LMC)
    return model.digest()


def test_the_json_answer_is_exactly_this(command: Command, engine: FakeEngine, figure1: Path) -> None:
    ended = command("bound", figure1, "--alpha", "1.0002", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == {
        "command": "bound",
        "model": {"digest": digest(figure1), "states": 4},
        "alpha": "5001/5000",
        "distance": "bd",
        "pairs": [
            {
                "from": "s0",
                "to": "s1",
                "upper": "1/2500",
                "exact": True,
                "distance": "bd",
                "lower": "1/2500",
            }
        ],
        "status": "exact",
        "schema": "bisimdist-answer",
        "version": 1,
    }
    assert ended.out.endswith("}\n")
    assert ended.out.count("\n") == 1
    assert command("bound", figure1, "--alpha", "5001/5000", "--json").out == ended.out


def test_a_question_is_callable_without_a_command_line(
    engine: FakeEngine, figure1: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_question(Bound, {"argument": str(figure1), "alpha": "2", "as_json": True}) == 0
    assert json.loads(capsys.readouterr().out)["alpha"] == "2"
    with pytest.raises(UsageError, match="neither"):
        run_question(Bound, {"argument": str(figure1)})


def test_pairs_keep_the_order_in_which_they_are_asked(
    command: Command, engine: FakeEngine, figure1: Path
) -> None:
    ended = command(
        "bound",
        figure1,
        "--alpha",
        "2",
        "--pair",
        "s3",
        "s0",
        "--pair",
        "s1",
        "s0",
        "--pair",
        "s3",
        "s0",
        "--json",
    )
    pairs = [(pair["from"], pair["to"]) for pair in json.loads(ended.out)["pairs"]]
    assert pairs == [("s3", "s0"), ("s1", "s0"), ("s3", "s0")]


def test_what_is_asked_reaches_the_engine(command: Command, engine: FakeEngine, figure1: Path) -> None:
    command("bound", figure1, "--alpha", "3/2", "--precision", "1e-9", "--jobs", "3")
    (call,) = engine.calls
    assert call["alpha"] == fmpq(3, 2)
    assert call["precision"] == fmpq(1, 10**9)
    assert call["jobs"] == 3
    assert call["pairs"] == (("s0", "s1"),)


def test_epsilon_is_rounded_down_and_said_to_be(command: Command, engine: FakeEngine, figure1: Path) -> None:
    answer = json.loads(command("bound", figure1, "--epsilon", "0.5", "--json").out)
    assert answer["epsilon"] == "1/2"
    assert answer["alpha_rounded"] == "down"
    alpha = fmpq(*(int(part) for part in answer["alpha"].split("/")))
    with ctx.workprec(200):
        assert arb(alpha) < arb(fmpq(1, 2)).exp()
        assert arb(alpha) > arb(fmpq(1, 2)).exp() * (1 - arb(10) ** -11)
    assert engine.calls[0]["alpha"] == alpha
    zero = json.loads(command("bound", figure1, "--epsilon", "0", "--json").out)
    assert (zero["epsilon"], zero["alpha"]) == ("0", "1")


def test_a_bracket_is_answered(command: Command, engine: FakeEngine, figure1: Path) -> None:
    engine.known["s0", "s1"] = ("1/3", "1/2")
    ended = command("bound", figure1, "--alpha", "1", "--precision", "1/4", "--json")
    (pair,) = json.loads(ended.out)["pairs"]
    assert ended.code == 0
    assert (pair["lower"], pair["upper"], pair["exact"]) == ("1/3", "1/2", False)
    assert json.loads(ended.out)["status"] == "bracket"
    text = command("bound", figure1, "--alpha", "1", "--precision", "1/4").out
    assert "1/3 >= 0.333333" in text
    assert "1/2 = 0.5" in text


def test_the_text_says_what_the_answer_means(command: Command, engine: FakeEngine, figure1: Path) -> None:
    ended = command("bound", figure1, "--alpha", "1.0002")
    assert (ended.code, ended.err) == (0, "")
    assert "1/2500 = 0.0004" in ended.out
    assert "The model is (ln(5001/5000), delta)-differentially private for the pair (s0, s1)" in ended.out
    assert "delta <= 1/2500" in ended.out
    assert "ln(5001/5000) <= 0.00019999" in ended.out
    assert "(1/10, delta)" in command("bound", figure1, "--epsilon", "0.1").out
    assert "(0, delta)" in command("bound", figure1, "--alpha", "1").out


def test_long_numbers_are_rounded_in_the_safe_direction_and_said_to_be(
    command: Command, engine: FakeEngine, figure1: Path
) -> None:
    value = f"{10**60 // 3}/{10**60}"  # 0.333...33 with sixty digits
    engine.known["s0", "s1"] = (value, value)
    text = command("bound", figure1, "--alpha", "2").out
    assert "<= 0.333333333334 (rounded up)" in text
    assert "--json" in text
    assert value not in text
    engine.known["s0", "s1"] = (value, "1/1")
    assert ">= 0.333333333333 (rounded down)" in command("bound", figure1, "--alpha", "2").out
    assert value in command("bound", figure1, "--alpha", "2", "--json").out


def test_a_limit_still_prints_what_is_known(command: Command, engine: FakeEngine, figure1: Path) -> None:
    engine.known["s0", "s1"] = ("0/1", "2/3")
    ended = command("bound", figure1, "--alpha", "2", "--timeout", "0", "--json")
    assert ended.code == 3
    assert json.loads(ended.out)["status"] == "limit"
    assert json.loads(ended.out)["pairs"][0]["upper"] == "2/3"
    engine.status = Status.LIMIT
    text = command("bound", figure1, "--alpha", "2")
    assert text.code == 3
    assert "limit" in text.out


@pytest.mark.parametrize("error", [KeyboardInterrupt(), LimitError("the time limit was reached")])
def test_an_engine_that_gives_up_leaves_the_trivial_bounds(
    command: Command, engine: FakeEngine, figure1: Path, tmp_path: Path, error: BaseException
) -> None:
    engine.raises = error
    proof = tmp_path / "proof.json"
    ended = command("bound", figure1, "--alpha", "2", "--json", "--certificate", proof)
    assert ended.code == 3
    assert json.loads(ended.out)["pairs"][0]["upper"] == "1"
    assert json.loads(ended.out)["status"] == "limit"
    assert "bisimdist: stopped: " in ended.err
    assert "no certificate was written" in ended.err
    assert sorted(tmp_path.iterdir()) == [figure1]


def test_an_interrupt_anywhere_else_is_one_line(
    command: Command, figure1: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(model: str, **_: object) -> LMC:
        raise KeyboardInterrupt

    monkeypatch.setattr("bisimdist.faces.asked.source.read_any_model", interrupted)
    ended = command("bound", figure1, "--alpha", "2")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.count("\n") == 1
    assert "interrupted" in ended.err


@pytest.mark.parametrize(
    ("error", "code"), [(MemoryError(), 3), (RuntimeError("a fault\nof ours"), 3), (LimitError("late"), 3)]
)
def test_no_failure_looks_like_a_violated_property(
    command: Command, figure1: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    def fails(model: str, **_: object) -> LMC:
        raise error

    monkeypatch.setattr("bisimdist.faces.asked.source.read_any_model", fails)
    ended = command("bound", figure1, "--alpha", "2")
    assert (ended.code, ended.out, ended.err.count("\n")) == (code, "", 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["neither", "--alpha", "--epsilon"]),
        (["--alpha", "2", "--epsilon", "1"], ["both"]),
        (["--alpha", "1/2"], ["at least 1", "e^epsilon"]),
        (["--alpha", "-3"], ["at least 1"]),
        (["--alpha", "0.99999999999999999999999"], ["at least 1"]),
        (["--alpha", "two"], ["--alpha", "'two'"]),
        (["--alpha", "nan"], ["--alpha"]),
        (["--alpha", "inf"], ["--alpha"]),
        (["--alpha", "1e999999999"], ["--alpha", "exponent"]),
        (["--alpha", ""], ["--alpha"]),
        (["--epsilon", "-1/10"], ["at least 0"]),
        (["--epsilon", "1e6"], ["at most"]),
        (["--alpha", "2", "--pair", "s0", "nobody"], ["nobody"]),
        (["--alpha", "2", "--pair", "s0"], ["--pair"]),
        (["--alpha", "2", "--distance", "tv"], ["tv", "bd"]),
        (["--alpha", "2", "--precision", "0"], ["--precision"]),
        (["--alpha", "2", "--precision", "-1"], ["--precision"]),
        (["--alpha", "2", "--threshold", "2"], ["--threshold"]),
        (["--alpha", "2", "--threshold", "x"], ["--threshold"]),
        (["--alpha", "2", "--threshold", "1/2", "--precision", "1/2"], ["--precision"]),
        (["--alpha", "2", "--jobs", "0"], ["--jobs"]),
        (["--alpha", "2", "--jobs", "x"], ["--jobs"]),
        (["--alpha", "2", "--timeout", "-1"], ["--timeout"]),
        (["--alpha", "2", "--timeout", "soon"], ["--timeout"]),
        (["--alpha", "2", "--nonsense"], ["--nonsense"]),
        (["--alpha", "2", "one-too-many"], ["one-too-many"]),
        (["--alpha"], ["--alpha"]),
    ],
)
def test_bad_use_is_one_line(
    command: Command, engine: FakeEngine, figure1: Path, arguments: list[str], words: list[str]
) -> None:
    command("bound", figure1, *arguments).assert_refused(*words)
    command("bound", figure1, "--json", *arguments).assert_refused(*words)
    assert not engine.calls


def test_a_model_without_pairs_needs_some(command: Command, engine: FakeEngine, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text('{"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": 1}}}')
    command("bound", path, "--alpha", "2").assert_refused("--pair")
    assert command("bound", path, "--alpha", "2", "--pair", "s", "s").code == 0


def test_an_infinite_timeout_is_no_number(command: Command, engine: FakeEngine, figure1: Path) -> None:
    command("bound", figure1, "--alpha", "2", "--timeout", "inf").assert_refused("--timeout")
    assert command("bound", figure1, "--alpha", "2", "--timeout", "1e300").code == 0


class TestThreshold:
    """The property bd <= theta: 0 holds, 1 violated, 3 not decided."""

    @pytest.mark.parametrize(
        ("bounds", "theta", "verdict"),
        [
            (("1/50", "1/50"), "1/50", "holds"),
            (("1/50", "1/50"), "0.0199999999999999999999999999", "violated"),
            (("1/3", "1/2"), "0.4", "unknown"),
            (("1/3", "1/2"), "1/2", "holds"),
            (("1/3", "1/2"), "1/3", "unknown"),
            (("1/3", "1/2"), "0", "violated"),
        ],
    )
    def test_verdicts(
        self,
        command: Command,
        engine: FakeEngine,
        figure1: Path,
        *,
        bounds: tuple[str, str],
        theta: str,
        verdict: str,
    ) -> None:
        code = {"holds": 0, "violated": 1, "unknown": 3}[verdict]
        engine.known["s0", "s1"] = bounds
        ended = command("bound", figure1, "--alpha", "2", "--threshold", theta, "--json")
        answer = json.loads(ended.out)
        assert (ended.code, answer["verdict"], answer["pairs"][0]["verdict"]) == (code, verdict, verdict)
        text = command("bound", figure1, "--alpha", "2", "--threshold", theta)
        assert text.code == code
        assert verdict in text.out

    def test_the_threshold_is_part_of_the_answer(
        self, command: Command, engine: FakeEngine, figure1: Path
    ) -> None:
        ended = command("bound", figure1, "--alpha", "2", "--threshold", "0.02", "--json")
        assert json.loads(ended.out)["threshold"] == "1/50"
        assert engine.calls[0]["threshold"] == fmpq(1, 50)

    def test_one_violated_pair_decides(self, command: Command, engine: FakeEngine, figure1: Path) -> None:
        engine.known = {("s0", "s1"): ("0/1", "1/1"), ("s1", "s0"): ("1/2", "1/2")}
        both = ("--pair", "s0", "s1", "--pair", "s1", "s0")
        ended = command("bound", figure1, "--alpha", "2", "--threshold", "1/3", *both, "--json")
        assert ended.code == 1
        assert [pair["verdict"] for pair in json.loads(ended.out)["pairs"]] == ["unknown", "violated"]
        assert json.loads(ended.out)["verdict"] == "violated"
        text = command("bound", figure1, "--alpha", "2", "--threshold", "1/3", *both)
        assert (text.code, text.out.count("violated")) == (1, 1)

    def test_with_epsilon_the_verdict_is_about_alpha_rounded_down(
        self, command: Command, engine: FakeEngine, figure1: Path
    ) -> None:
        # bd is not monotone in alpha: only the alpha that the answer names is decided
        ask = ("bound", figure1, "--epsilon", "1", "--threshold", "1/3", "--json")
        engine.at_alpha = lambda alpha: ("1/2", "1/2")
        ended = command(*ask)
        assert (ended.code, json.loads(ended.out)["alpha_rounded"]) == (1, "down")
        assert len(engine.calls) == 1
        with ctx.workprec(200):
            assert arb(parse_rational(json.loads(ended.out)["alpha"])) < arb(1).exp()

    def test_an_interrupt_is_undecided(self, command: Command, engine: FakeEngine, figure1: Path) -> None:
        engine.raises = KeyboardInterrupt()
        ended = command("bound", figure1, "--alpha", "2", "--threshold", "1/3", "--json")
        assert (ended.code, json.loads(ended.out)["verdict"]) == (3, "unknown")

    def test_a_certificate_is_about_one_pair(
        self, command: Command, engine: FakeEngine, figure1: Path, tmp_path: Path
    ) -> None:
        ask = ("bound", figure1, "--alpha", "2", "--threshold", "1", "--certificate", tmp_path / "c.json")
        command(*ask, "--pair", "s0", "s1", "--pair", "s1", "s0").assert_refused("one pair")
        assert command(*ask).code == 0
        assert (tmp_path / "c.json").exists()


class TestCertificateFile:
    """The proof appears whole or not at all, and its place is tried before anything is computed."""

    def test_it_is_written(self, command: Command, engine: FakeEngine, figure1: Path, tmp_path: Path) -> None:
        proof = tmp_path / "proof.json"
        assert command("bound", figure1, "--alpha", "2", "--certificate", proof).code == 0
        assert json.loads(proof.read_text()) == {"format": "bisimdist-certificate", "version": 1}
        assert sorted(tmp_path.iterdir()) == [figure1, proof]
        assert stat.S_IMODE(proof.stat().st_mode) == stat.S_IMODE(figure1.stat().st_mode)

    @pytest.mark.parametrize("place", ["missing/proof.json", "", ".", "a\0b", "x" * 5000])
    def test_an_unwritable_place_is_refused_before_computing(
        self, command: Command, engine: FakeEngine, figure1: Path, place: str
    ) -> None:
        path = f"{figure1.parent}/{place}" if place else ""
        command("bound", figure1, "--alpha", "2", "--certificate", path).assert_refused("--certificate")
        assert not engine.calls

    def test_the_old_file_survives_a_failure(
        self, command: Command, engine: FakeEngine, figure1: Path, tmp_path: Path
    ) -> None:
        proof = tmp_path / "proof.json"
        proof.write_text("old")
        engine.proof_raises = KeyboardInterrupt()
        ended = command("bound", figure1, "--alpha", "2", "--json", "--certificate", proof)
        assert ended.code == 3
        assert json.loads(ended.out)["pairs"]
        assert proof.read_text() == "old"
        engine.proof_raises = None
        engine.raises = UsageError("no")
        command("bound", figure1, "--alpha", "2", "--certificate", proof).assert_refused()
        assert proof.read_text() == "old"
        assert sorted(tmp_path.iterdir()) == [figure1, proof]

    def test_links_and_devices_stay_what_they_are(
        self, command: Command, engine: FakeEngine, figure1: Path, tmp_path: Path
    ) -> None:
        proof, link = tmp_path / "proof.json", tmp_path / "link.json"
        link.symlink_to(proof)
        assert command("bound", figure1, "--alpha", "2", "--certificate", link).code == 0
        assert link.is_symlink()
        assert proof.is_file()
        assert command("bound", figure1, "--alpha", "2", "--certificate", "/dev/null").code == 0
        assert Path("/dev/null").is_char_device()


class TestKindsOfModels:
    """Automata are translated where they can be; bisimilar states are merged only where that was asked."""

    AUTOMATON = """\
kind: pa
states: [s, t, u]
transitions:
  - {from: s, action: a, to: {t: 1/2, u: 1/2}}
  - {from: t, action: b, to: {u: 1}}
pairs: [[s, t]]
"""

    def test_a_fully_probabilistic_automaton(
        self, command: Command, engine: FakeEngine, tmp_path: Path
    ) -> None:
        path = tmp_path / "automaton.yaml"
        path.write_text(self.AUTOMATON)
        ended = command("bound", path, "--alpha", "2", "--json")
        assert ended.code == 0
        assert "fully probabilistic" in ended.err
        model = engine.calls[0]["model"]
        assert isinstance(model, LMC)
        assert model.labels[:2] == ("a", "b")

    def test_a_nondeterministic_automaton_is_refused(
        self, command: Command, engine: FakeEngine, tmp_path: Path
    ) -> None:
        path = tmp_path / "automaton.yaml"
        path.write_text(self.AUTOMATON.replace("from: t", "from: s"))
        command("bound", path, "--alpha", "2").assert_refused("automaton.yaml", "'s'")

    def test_the_quotient_is_asked_for_and_said(
        self, command: Command, engine: FakeEngine, tmp_path: Path
    ) -> None:
        path = tmp_path / "model.yaml"
        path.write_text(
            "{kind: lmc, states: {s: a, t: a, u: b}, pairs: [[t, u]],"
            " transitions: {s: {u: 1}, t: {u: 1}, u: {u: 1}}}"
        )
        ended = command("bound", path, "--alpha", "2", "--quotient", "--json")
        answer = json.loads(ended.out)
        assert answer["model"]["states"] == 2
        assert answer["quotient_of"] == {"digest": digest(path), "states": 3}
        assert (answer["pairs"][0]["from"], answer["pairs"][0]["to"]) == ("t", "u")
        assert engine.calls[0]["pairs"] == (("s", "u"),)
        assert "3 states, 2 classes" in ended.err
        assert "quotient_of" not in command("bound", path, "--alpha", "2", "--json").out


def test_names_cannot_act_on_the_terminal(command: Command, engine: FakeEngine, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    name = "s\\u001b[31m"
    path.write_text(
        f'{{"kind": "lmc", "states": {{"{name}": "a"}}, "transitions": {{"{name}": {{"{name}": 1}}}}}}'
    )
    shown = command("bound", path, "--alpha", "2", "--pair", "s\x1b[31m", "s\x1b[31m")
    assert "\x1b" not in shown.out + shown.err
    refused = command("bound", path, "--alpha", "2", "--pair", "no\nbody\x1b", "s")
    refused.assert_refused()
    assert "\x1b" not in refused.err


@pytest.mark.parametrize("option", ["--alpha", "--pair"])
def test_an_option_without_its_value(command: Command, figure1: Path, option: str) -> None:
    command("bound", figure1, option).assert_refused(option, "see 'bisimdist bound --help'")


def test_a_model_without_pairs_is_asked_with_an_option_to_copy(command: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.yaml"
    model.write_text("kind: lmc\nstates: {a b: x, c: x}\ntransitions: {a b: {c: 1}, c: {c: 1}}\n")
    words = ("bound", model, "--alpha", "1")
    refused = command(*words)
    refused.assert_refused(f"{model}: ", "no pairs of its own", "--pair 'a b' c", "--all-pairs")
    assert command(*words, *shlex.split(refused.err.partition("such as ")[2].partition(",")[0])).code == 0
    assert "--all-pairs" not in command("logic", "explain", model).err


@pytest.mark.parametrize("pairs", ["all", ("s0", "s1"), [("s0", "s1", "s2")], []])
def test_what_is_no_list_of_pairs_is_refused_in_python(pairs: Any) -> None:
    with pytest.raises(UsageError, match="pairs") as caught:
        bisimdist.bound(built_figure1(), 2, pairs=pairs)
    assert "combinations" in str(caught.value) or "('s0', 's1')" in str(caught.value)
