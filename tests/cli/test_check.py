"""``bisimdist check``: 0 valid, 1 not valid, 2 no certificate."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bisimdist.checker import CheckReport, check_certificate
from bisimdist.checker.__main__ import sentence
from bisimdist.checker.claims import KINDS
from bisimdist.distances.bound.ask import bound
from bisimdist.faces.cli.check import run_check
from bisimdist.faces.shown import tables
from bisimdist.models.io import load_model, parse_model, write_model
from bisimdist.models.lmc import LMC
from tests.cli.conftest import Command
from tests.privacy.test_contested import WAITING


@pytest.fixture
def chain(figure1: Path) -> LMC:
    model = load_model(figure1)
    assert isinstance(model, LMC)
    return model


@pytest.fixture
def document(chain: LMC) -> dict[str, Any]:
    """Return a certificate that proves little, but by every rule: no table is needed for it."""
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "model": chain.canonical(),
        "digest": chain.digest(),
        "distance": "bd",
        "alpha": "3/2",
        "claims": [
            {"from": "s0", "to": "s1", "upper": "1", "lower": "0"},
            {"from": "s2", "to": "s3", "upper": "1", "lower": "1"},
        ],
        "upper": {"denominator": "1", "pairs": []},
        "lower": {"denominator": "1", "pairs": []},
    }


def stored(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_of_many_claims_the_first_are_shown(
    command: Command, document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST", 1)
    ended = command("check", stored(tmp_path / "c.json", document))
    assert (ended.code, "s2" in ended.out) == (0, False)
    assert "1 more claims are not shown: --json has all." in ended.out
    proof = tmp_path / "classes.json"
    assert command("classes", "example:figure1", "--certificate", proof).code == 0
    many = len(json.loads(proof.read_text())["claims"])
    assert f"{many - 1} more claims are not shown" in command("check", proof).out


def test_a_valid_certificate(command: Command, document: dict[str, Any], tmp_path: Path) -> None:
    path = stored(tmp_path / "c.json", document)
    ended = command("check", path, "--json")
    assert (ended.code, ended.err) == (0, "")
    answer = json.loads(ended.out)
    assert (answer["command"], answer["valid"], answer["kind"]) == ("check", True, "distance")
    assert (answer["reason"], answer["digest"]) == ("", document["digest"])
    assert answer["claim"][1] == {
        "from": "s2",
        "to": "s3",
        "distance": "bd",
        "alpha": "3/2",
        "upper": "1",
        "lower": "1",
        "exact": True,
    }
    text = command("check", path)
    assert text.code == 0
    assert "The certificate is valid" in text.out


def test_a_certificate_that_claims_too_much(
    command: Command, document: dict[str, Any], tmp_path: Path
) -> None:
    document["claims"][0]["upper"] = "999999999999/1000000000000"
    path = stored(tmp_path / "c.json", document)
    ended = command("check", path, "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["valid"] is False
    assert json.loads(ended.out)["reason"]
    text = command("check", path)
    assert text.code == 1
    assert "NOT valid" in text.out
    assert run_check(str(path)) == 1


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_with_a_model(
    command: Command, document: dict[str, Any], tmp_path: Path, chain: LMC, suffix: str
) -> None:
    path = stored(tmp_path / "c.json", document)
    model = tmp_path / f"model.{suffix}"
    model.write_text(write_model(chain, suffix))
    assert command("check", path, model).code == 0
    other = tmp_path / f"other.{suffix}"
    other.write_text(model.read_text().replace("3/5", "x").replace("2/5", "3/5").replace("x", "2/5"))
    assert command("check", path, other).code == 1
    model.write_text(model.read_text(), encoding="utf-8-sig")  # as editors of Windows do
    assert command("check", path, model).code == 0
    assert command("check", path, "example:figure1").code == 0


def assert_about(command: Command, proof: Path, model: Path, other: tuple[str, str]) -> None:
    """A proof is about the model in a file, and no longer when a text in it is another one."""
    assert command("check", proof, model).code == 0
    model.write_text(model.read_text().replace(*other))
    assert command("check", proof, model).code == 1


def test_a_model_with_tags(command: Command, tmp_path: Path) -> None:
    """What a scheduler sees is not what a certificate is about."""
    step = {"from": "s", "action": "a", "tag": "seen", "to": {"t": "1/2", "u": "1/2"}}
    model, proof = tmp_path / "tags.json", tmp_path / "proof.json"
    tagged = {"kind": "pa", "states": ["s", "t", "u"], "transitions": [step], "pairs": [["s", "t"]]}
    model.write_text(json.dumps(tagged))
    assert command("metric", model, "--kind", "additive", "--certificate", proof).code == 0
    assert_about(command, proof, model, ("1/2", "1/3"))


def test_a_model_that_options_make(command: Command, tmp_path: Path) -> None:
    """Values, steps that are left out and another model are part of what a proof is about."""
    model, proof = tmp_path / "model.json", tmp_path / "proof.json"
    chain = {
        "kind": "lmc",
        "parameters": {"p": [0, 1], "q": [0, 1]},
        "states": {"r": "a", "s": "a", "t": "a", "x": "x", "y": "y"},
        "transitions": {
            "r": {"s": 1},
            "s": {"x": "p", "y": "1-p"},
            "t": {"x": "q", "y": "1-q"},
            "x": {"x": 1},
            "y": {"y": 1},
        },
        "pairs": [["r", "t"]],
    }
    model.write_text(json.dumps(chain))
    values = ("--set", "p=1/2,q=1/3")
    for asked, options in (
        ((), values),
        (("--nature", "fixed"), ("--set", "p=1/2,q=[1/4,1/3]")),
        (("--over", "p"), ("--set", "q=1/3")),
        (("--pair", "s", "t"), (*values, "--against", model)),
    ):
        assert command("delta", model, "--alpha", "1", *asked, *options, "--certificate", proof).code == 0
        assert command("check", proof, model, *options).code == 0, options
        wrong = [str(option).replace("q=1/3", "q=1/4").replace("1/3]", "2/5]") for option in options]
        assert command("check", proof, model, *wrong).code == 1, options
    hidden = ("delta", model, "--alpha", "1", "--for-all", "p", "--threshold", "1", "--hide-silent")
    assert command(*hidden, "--certificate", proof).code == 0
    assert command("check", proof, model, "--hide-silent").code == 0
    assert command("check", proof, model).code == 1


def test_a_hidden_model_in_intervals(command: Command, tmp_path: Path) -> None:
    """A proof about it is about the chain in intervals that shows its observations."""
    model, proof = tmp_path / "hidden.json", tmp_path / "proof.json"
    hidden = {
        "kind": "hmm",
        "observations": ["x", "y"],
        "states": {"s": {"x": ["1/2", "2/3"], "y": ["1/3", "1/2"]}, "t": {"x": "1/3", "y": "2/3"}},
        "transitions": {},
        "distributions": {"pi": {"s": 1}, "tau": {"t": 1}},
        "pairs": [["pi", "tau"]],
    }
    model.write_text(json.dumps(hidden))
    assert command("delta", model, "--alpha", "1", "--certificate", proof).code == 0
    assert_about(command, proof, model, ('"x": "1/3", "y": "2/3"', '"x": "1/4", "y": "3/4"'))


def test_a_mechanism_is_a_hidden_model(command: Command, tmp_path: Path) -> None:
    model, proof = tmp_path / "table.json", tmp_path / "proof.json"
    table = {"x": {"yes": "3/4", "no": "1/4"}, "y": {"yes": "1/4", "no": "3/4"}}
    model.write_text(json.dumps({"kind": "mechanism", "inputs": table, "adjacency": "all"}))
    assert command("epsilon", model, "--length", "1", "--certificate", proof).code == 0
    assert command("check", proof, model).code == 0


def test_what_tells_hidden_models_apart(command: Command, tmp_path: Path) -> None:
    """The proof is about what is observed of both."""
    one, other, proof = "example:geometric", "example:geometric,alpha=1/3", tmp_path / "proof.json"
    assert command("same", one, other, "--certificate", proof).code == 1
    assert command("check", proof, one, "--against", other).code == 0
    assert command("check", proof, one, "--against", one).code == 1


def test_fixed_sequences_of_a_model_in_which_nature_picks(command: Command, tmp_path: Path) -> None:
    """A proof about the model with all picks written out is about others: a sequence fixes picks, too."""
    (tmp_path / "waiting.yaml").write_text(WAITING, encoding="utf-8")
    written_out, proof = tmp_path / "waiting.json", tmp_path / "proof.json"
    written_out.write_text(json.dumps(parse_model(WAITING).canonical()), encoding="utf-8")
    question = ["delta", str(written_out), "--alpha", "1", "--rounds", "3", "--fixed", "--pair", "s", "t'"]
    assert command(*question, "--certificate", proof).code == 0
    assert command("check", proof, written_out).code == 0
    command("check", proof, tmp_path / "waiting.yaml").assert_refused("would fix its picks, too")


def test_from_standard_input(
    command: Command, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps(document).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    assert command("check", "-").code == 0
    command("check", "-", "-").assert_refused("standard input")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"\xff\x00", b"null", b"[" * 100_000, b'{"format": 1}']
)
def test_what_is_no_certificate(command: Command, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    command("check", path).assert_refused("c.json")
    command("check", path, "--json").assert_refused("c.json")


def test_files_that_are_not_there(command: Command, document: dict[str, Any], tmp_path: Path) -> None:
    path = stored(tmp_path / "c.json", document)
    command("check", tmp_path / "no.json").assert_refused("no.json")
    command("check", tmp_path).assert_refused(str(tmp_path))
    command("check", "a\0b").assert_refused()
    command("check", path, tmp_path / "model.json").assert_refused("model.json")
    command("check").assert_refused("CERTIFICATE")


def test_the_asymmetric_distance(command: Command, chain: LMC, tmp_path: Path) -> None:
    answer = bound(chain, "6/5", distance="lbd", pairs=[("s0", "s1")])
    path = stored(tmp_path / "c.json", answer.certificate())
    ended = command("check", path, "example:figure1", "--json")
    assert ended.code == 0
    claims = json.loads(ended.out)["claim"]
    assert [(c["from"], c["to"], c["distance"], c["exact"]) for c in claims] == [
        ("s0", "s1", "lbd", True),
        ("s1", "s0", "lbd", True),
    ]
    assert "lbd" in command("check", path).out


LONG = "0123456789" * 30
CLAIM = {"from": "1/2", "to": "t\n", "upper": "2/6", "ratio": "9/4", "event": [LONG], "note": LONG}


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Register a kind of certificates that are valid unless they say otherwise."""
    models: list[Any] = []

    def check_document(document: dict[str, object], model: object) -> CheckReport:
        models.append(model)
        reason = str(document.get("fails", ""))
        claims = CLAIM, {"from": "s", "holds": True}
        return CheckReport(not reason, (), reason, other_claims=claims)

    monkeypatch.setitem(sys.modules, "other_module", SimpleNamespace(check_document=check_document))
    monkeypatch.setitem(KINDS, "other", "other_module")
    return models


FRAME = {"format": "bisimdist-certificate", "version": 1, "kind": "other"}


def test_a_certificate_of_another_kind(command: Command, other: list[Any], tmp_path: Path) -> None:
    path = stored(tmp_path / "c.json", FRAME)
    ended = command("check", path, "--json")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == {
        "command": "check",
        "valid": True,
        "kind": "other",
        "claim": [CLAIM, {"from": "s", "holds": True}],
        "reason": "",
        "schema": "bisimdist-answer",
        "version": 1,
    }
    out = command("check", path).out
    assert "1/3 <= 0.333334" in out
    assert "1/2 " in out
    assert "(300 characters, #" in out
    assert "t\\n" in out
    stored(path, FRAME | {"fails": "Z9: because", "digest": "sha256:1"})
    ended = command("check", path, "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["reason"] == "Z9: because"
    assert json.loads(ended.out)["digest"] == "sha256:1"
    assert "NOT valid, nothing is proved: Z9" in command("check", path).out
    stored(path, FRAME | {"kind": "no such kind"})
    command("check", path).assert_refused("this checker knows composition, ")
    assert other == [None] * 4


MODELS = {
    "hmm": """
kind: hmm
observations: [x, y]
states: {s: {x: 0.25, y: 3/4}}
transitions: {s: {s: 1}}
distributions: {pi: {s: 1}}
""",
    "pa": """
kind: pa
states: [s, t]
transitions:
  - {from: s, action: a, to: {t: 1/2, s: 0.5}}
""",
    "lmc": """
kind: lmc
states: {s: a}
transitions: {s: {s: 1}}
""",
}


@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_a_model_of_another_kind(
    command: Command, other: list[Any], tmp_path: Path, kind: str, suffix: str
) -> None:
    model = tmp_path / f"model.{suffix}"
    (tmp_path / "model.yaml").write_text(MODELS[kind])
    model.write_text(write_model(load_model(tmp_path / "model.yaml"), suffix))
    path = stored(tmp_path / "c.json", FRAME | {"model": {"kind": kind}})
    assert command("check", path, model, "--json").code == 0
    assert other[0]["kind"] == kind
    if kind == "hmm":
        assert other[0]["states"]["s"] == {"x": "1/4", "y": "3/4"}
    # an automaton or a hidden Markov model stands for its chain where a certificate is about one
    stored(path, FRAME | {"model": {"kind": "lmc"}})
    assert command("check", path, model, "--json").code == 0
    assert all(given["kind"] == "lmc" for given in other[1:])


CORPUS = Path(__file__).parents[1] / "certificates" / "correct"


@pytest.mark.parametrize(
    ("name", "quantity", "kind"),
    [
        ("metric/metric-amortised", "e^distance", "pa"),
        ("generalised-metric/generalised-additive", "distance", "pa"),
        ("trace-metric/trace-metric-infinite", "e^distance", "pa"),
        ("delta/delta-event", "delta", "lmc"),
        ("mechanism-budget/mechanism-max", None, "noisy-max"),
        ("hmm-budget/hmm-budget-epsilon", None, "hmm"),
    ],
)
def test_what_is_bounded_and_what_it_is_about(
    command: Command, name: str, quantity: str | None, kind: str
) -> None:
    path = str(CORPUS / f"{name}.json")
    said = json.loads(command("check", path, "--json").out)
    assert said["claim"][0].get("quantity") == quantity
    assert said["model"] == {"kind": kind, "digest": said["digest"]}
    text = command("check", path).out
    assert f"{kind}, digest {said['digest']}" in text
    assert quantity is None or quantity in text


def test_the_mechanism_stands_in_the_claim(command: Command, tmp_path: Path) -> None:
    document = json.loads((CORPUS / "mechanism-budget" / "mechanism-max.json").read_text())
    said = json.loads(command("check", stored(tmp_path / "c.json", document), "--json").out)
    assert said["claim"][0]["mechanism"] == {**document["mechanism"]}
    document["mechanism"]["noise"] = "2/4"
    same = json.loads(command("check", stored(tmp_path / "c.json", document), "--json").out)
    assert same["digest"] == said["digest"]
    assert "noise 1/2" in command("check", str(tmp_path / "c.json")).out


@pytest.mark.parametrize("length", [70, 90, 300])
def test_two_claims_do_not_look_alike(command: Command, tmp_path: Path, length: int) -> None:
    """Names that differ at their beginning, in their middle, at their end."""
    document = json.loads((CORPUS / "figure1-alpha-one.json").read_text())
    rows = set()
    for place in (0, length // 2, length - 1):
        for letter in "xy":
            claim = {"from": "n" * place + letter + "n" * (length - place - 1), "to": "s1", "upper": "1"}
            document["claims"] = [claim]
            path = stored(tmp_path / "c.json", document)
            rows.add(command("check", path).out.splitlines()[2])
            rows.add(checked_alone(path))
    assert len(rows) == 12


def checked_alone(path: Path) -> str:
    return sentence(check_certificate(path.read_bytes()).claims[0])
