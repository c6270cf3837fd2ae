"""``bisimdist verify``: the published verdicts, what is printed, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bisimdist.budgets.verify.command import Verify
from bisimdist.checker.claims.hmm_budget import check_document
from bisimdist.errors import LimitError, UsageError
from bisimdist.faces.cli.run import run_question
from bisimdist.faces.shown.answer import FORMAT
from tests.cli.conftest import Command
from tests.models.test_hmm import TEXT as MODEL


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.yaml"
    path.write_text(MODEL)
    return path


def test_the_json_answer_is_exactly_this(command: Command) -> None:
    ended = command(
        *("verify", "example:contagious-disease,together=9/10", "--ratio", "2"), *("--length", "1", "--json")
    )
    assert (ended.code, ended.err) == (1, "")
    data = json.loads(ended.out)
    assert data.pop("model")["states"] == 3
    assert data == {
        **FORMAT,
        "command": "verify",
        "length": 1,
        "up_to": False,
        "ratio": "2",
        "verdict": "violated",
        "pairs": [
            {
                "from": "couple|sick",
                "to": "couple|healthy",
                "verdict": "violated",
                "counterexample": ["2"],
                "probabilities": ["19/30", "11/60"],
                "parameters": {},
                "ways": ["information states"],
            }
        ],
    }


@pytest.mark.parametrize("engine", ["auto", "exact", "smt", "both"])
@pytest.mark.parametrize(
    "case",
    [
        ("geometric", "2", "1", "holds"),
        ("geometric", "19/10", "1", "violated"),
        ("contagious-disease", "2", "1", "violated"),
        ("contagious-disease", "4", "1", "holds"),
        ("independent-disease", "2", "1", "holds"),
        ("independent-disease", "3/2", "1", "violated"),
        ("noisy-max-diseases,secret=member", "2", "1", "holds"),
        ("noisy-max-diseases,prior=contagious", "2", "1", "violated"),
        ("above-threshold", "4", "5", "holds"),
        ("above-threshold", "3", "5", "violated"),
    ],
)
def test_the_verdicts_of_the_case_studies(
    command: Command, engine: str, case: tuple[str, str, str, str]
) -> None:
    example, ratio, length, verdict = case
    ended = command(
        *("verify", f"example:{example}", "--ratio", ratio, "--length", length, "--engine", engine, "--json")
    )
    assert ended.code == (0 if verdict == "holds" else 1), ended
    assert json.loads(ended.out)["verdict"] == verdict


def test_above_threshold_is_violated_at_sixteen(command: Command) -> None:
    ended = command("verify", "example:above-threshold", "--ratio", "16", "--length", "12", "--up-to")
    assert ended.code == 1
    assert "The budget 16 is violated." in ended.out
    assert command("verify", "example:above-threshold", "--ratio", "16", "--length", "10").code == 0


def test_a_model_with_parameters_is_about_all_their_values(command: Command, model: Path) -> None:
    ended = command("verify", model, "--ratio", "2", "--length", "1")
    assert ended.code == 0
    assert "for all values of the parameters" in ended.out
    ended = command("verify", model, "--ratio", "2", "--length", "2", "--json")
    assert ended.code == 1
    (pair,) = json.loads(ended.out)["pairs"]
    assert set(pair["parameters"]) == {"p"}
    assert len(pair["counterexample"]) == 2


def test_epsilon_is_decided_by_numbers_below_and_above(command: Command) -> None:
    for text, code in (("0.6931471805599453", 1), ("0.6931471805599454", 0), ("0.693", 1), ("0.7", 0)):
        ended = command("verify", "example:geometric", "--epsilon", text, "--length", "1", "--json")
        assert ended.code == code, text
        assert "ratio" not in json.loads(ended.out)


def test_a_number_too_close_to_the_logarithm_is_unknown(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bisimdist.budgets.verify.verification.ROUNDINGS", (None,))
    ended = command("verify", "example:geometric", "--epsilon", "0.6931471805599453", "--length", "1")
    assert ended.code == 3
    assert "Not everything is decided." in ended.out


@pytest.mark.parametrize(
    ("name", "ratio", "code"), [("contagious-disease", "2", 1), ("contagious-disease", "4", 0)]
)
def test_the_certificate_is_accepted(
    command: Command, tmp_path: Path, name: str, ratio: str, code: int
) -> None:
    path = tmp_path / "proof.json"
    arguments = ("verify", f"example:{name}", "--ratio", ratio, "--length", "1", "--certificate", path)
    assert command(*arguments).code == code
    assert check_document(json.loads(path.read_text()), None).valid


def test_a_proof_for_all_parameters_is_written(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    ended = command(
        *("verify", "example:independent-disease", "--ratio", "2", "--length", "1", "--certificate", path)
    )
    assert ended.code == 0
    assert json.loads(path.read_text())["kind"] == "hmm-parametric"


def test_without_a_proof_no_certificate_is_written(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    arguments = ("verify", "example:geometric", "--ratio", "2", "--length", "1", "--engine", "smt")
    ended = command(*arguments, "--certificate", path)
    assert ended.code == 3
    assert "no certificate was written" in ended.err
    assert not path.exists()


def test_the_time_limit_leaves_an_unknown(command: Command) -> None:
    ended = command(
        "verify", "example:above-threshold", "--ratio", "2e9", "--length", "60", "--timeout", "0", "--json"
    )
    assert ended.code == 3
    assert json.loads(ended.out)["verdict"] == "unknown"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("example:geometric", "--length", "1"), ("neither of --ratio and --epsilon",)),
        (("example:geometric", "--ratio", "2", "--epsilon", "1", "--length", "1"), ("both of",)),
        (("example:geometric", "--ratio", "2"), ("--length",)),
        (("example:geometric", "--ratio", "1/2", "--length", "1"), ("ratio is 1/2",)),
        (("example:geometric", "--ratio", "two", "--length", "1"), ("--ratio", "'two'")),
        (("example:geometric", "--epsilon", "-1", "--length", "1"), ("epsilon is -1",)),
        (("example:geometric", "--ratio", "2", "--length", "0"), ("length is 0",)),
        (("example:geometric", "--ratio", "2", "--length", "x"), ("--length",)),
        (("example:geometric", "--ratio", "2", "--length", "2"), ("mean nothing",)),
        (("example:geometric", "--ratio", "2", "--length", "1", "--engine", "guess"), ("--engine guess",)),
        (("example:geometric", "--ratio", "2", "--length", "1", "--pair", "0", "9"), ("distribution '9'",)),
        (("example:figure1", "--ratio", "2", "--length", "1"), ("labelled Markov chain; expected a hidden",)),
        (("missing.yaml", "--ratio", "2", "--length", "1"), ("missing.yaml",)),
        (("example:geometric", "--ratio", "2", "--length", "1", "--timeout", "-1"), ("--timeout",)),
        (("example:geometric", "--ratio", "2", "--length", "1", "--certificate", "/"), ("--certificate",)),
    ],
)
def test_what_is_not_usable_is_refused(
    command: Command, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    command("verify", *arguments).assert_refused(*words)


def test_a_model_without_pairs_needs_one(command: Command, model: Path) -> None:
    model.write_text(MODEL.replace("pairs: [[pi, tau]]\n", ""))
    command("verify", model, "--ratio", "2", "--length", "1").assert_refused("no pairs of its own")
    assert command("verify", model, "--ratio", "2", "--length", "1", "--pair", "pi", "tau").code == 0


def test_other_commands_take_the_model_or_refuse_it_in_one_line(command: Command, model: Path) -> None:
    command("bound", model, "--alpha", "2").assert_refused("entries that depend on parameters", "values to p")
    ended = command("bound", "example:geometric", "--alpha", "2")
    assert ended.code == 0
    assert "the hidden Markov model is taken as a Markov chain that shows its observations" in ended.err
    command("trace", model).assert_refused("hidden Markov model", "convert MODEL --to pa")
    assert command("show", model).code == 0
    assert command("show", model, "--format", "json").code == 0
    command("show", model, "--format", "dot").assert_refused("json, yaml or svg only")


def test_the_question_is_callable_without_a_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    given = {"argument": "example:geometric", "length": 1}
    assert run_question(Verify, {**given, "ratio": "2", "as_json": True}) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "holds"
    with pytest.raises(UsageError, match="neither"):
        run_question(Verify, given)


def test_engines_that_disagree_are_not_an_answer(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: object, **options: object) -> None:
        raise LimitError("the engines disagree")

    monkeypatch.setattr("bisimdist.budgets.verify.ask.verify", wrong)
    ended = command("verify", "example:geometric", "--ratio", "2", "--length", "1")
    assert ended.code == 3
    assert "the engines disagree" in ended.err
