from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bisimdist.faces.cli.main import run


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run([*arguments, "--json"])
    data = json.loads(capsys.readouterr().out)
    assert isinstance(data, dict)
    return code, data


def test_budget_says_what_it_means_by_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = _json(capsys, "budget", "example:noisy-max,n=5")
    assert (code, data["ratio"], data["adjacency"], data["exact"]) == (0, "288/73", "all", True)
    assert data["inputs"] == [[1, 1, 1, 1, 1], [0, 2, 2, 2, 2]]
    code, data = _json(capsys, "budget", "noisy-max,variant=naive,adjacency=one")
    assert (code, data["ratio"], data["neighbours"]) == (0, "2", 108)
    assert run(["budget", "geometric,alpha=1/4"]) == 0
    assert "The exact budget is 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["laplace", "noisy-max,n=0", "noisy-max,n", "noisy-max,n=2,n=3", "geometric,alpha=2"]
)
def test_budget_refuses_what_is_not_there(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert run(["budget", text]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1


def test_prove_refutes_every_budget_and_its_proof_is_accepted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    proof = tmp_path / "pump.json"
    code, data = _json(capsys, "prove", "example:above-threshold", "--certificate", str(proof))
    assert code == 1
    (pair,) = data["pairs"]
    assert (pair["verdict"], pair["ratio"], pair["growth"]) == ("violated", "inf", ["2/21", "1/21"])
    assert pair["pump"]["cycle"] == ["bottom", "12"]
    assert run(["check", str(proof)]) == 0
    capsys.readouterr()
    assert run(["prove", "example:above-threshold"]) == 1
    assert "no budget holds" in capsys.readouterr().out


def test_every_pair_and_length_gets_its_proof(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    proof = str(tmp_path / "several.json")
    for arguments in (
        ["prove", "example:geometric"],
        ["prove", "example:geometric", "--epsilon", "0.7"],
        ["verify", "example:independent-disease", "--ratio", "2", "--length", "3", "--up-to"],
    ):
        assert run([*arguments, "--certificate", proof]) == 0
        assert run(["check", proof]) == 0
    assert run(["budget", "noisy-max,n=8", "--certificate", proof]) == 3
    assert "no certificate was written" in capsys.readouterr().err


def test_prove_holds_for_all_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    code, data = _json(capsys, "prove", "example:contagious-disease,together=9/10", "--ratio", "4")
    (pair,) = data["pairs"]
    assert (code, data["length"], pair["ratio"], pair["exact"]) == (0, "all", "38/11", True)
    assert run(["prove", "example:contagious-disease,together=9/10", "--ratio", "2"]) == 1
    assert run(["prove", "example:contagious-disease,together=9/10", "--epsilon", "1.24"]) == 0
    assert run(["prove", "example:contagious-disease,together=9/10", "--epsilon", "1.239"]) == 1
    assert run(["prove", "example:contagious-disease", "--epsilon", "1", "--ratio", "2"]) == 2
    assert run(["prove", "example:contagious-disease", "--epsilon", "-1"]) == 2
    assert run(["prove", "example:geometric", "--ratio", "0.5"]) == 2
    assert run(["prove", "example:geometric", "--timeout", "0"]) in {2, 3}
    capsys.readouterr()


FOR_EVER = """kind: hmm
observations: [x, y]
parameters: {p: [0, 1]}
states: {s: {x: 2/3, y: 1/3}, t: {x: 1/3, y: 2/3}}
transitions: {s: {s: p, t: 1-p}}
distributions: {pi: {s: 1}, tau: {t: 1}}
pairs: [[pi, tau]]
"""


def test_prove_for_all_values_of_parameters(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """All lengths are those that there are; of sequences that go on for ever it says what can be asked."""
    code, data = _json(capsys, "prove", "example:independent-disease")
    assert (code, data["length"], data["pairs"][0]["ratio"]) == (0, "all", "2")
    for budget, expected in (("2", 0), ("199/100", 1)):
        code, data = _json(capsys, "prove", "example:independent-disease", "--ratio", budget)
        assert (code, data["verdict"]) == (expected, "violated" if expected else "holds")
    model = tmp_path / "model.yaml"
    twice = FOR_EVER.replace("{s: {s: p, t: 1-p}}", "{s: {t: 1}}").replace("pi: {s: 1}", "pi: {s: p, t: 1-p}")
    model.write_text(twice)
    code, data = _json(capsys, "prove", str(model), "--certificate", str(tmp_path / "proof.json"))
    assert (code, data["pairs"][0]["ratio"], len(data["pairs"][0]["witness"])) == (0, "inf", 2)
    assert run(["check", str(tmp_path / "proof.json")]) == 0
    capsys.readouterr()
    model.write_text(
        twice.replace("{t: 1}}\npairs", "{s: 1/2, t: 1/2}}\npairs").replace("[0, 1]", "[1/4, 3/4]")
    )
    code, data = _json(capsys, "prove", str(model), "--ratio", "3")
    assert (code, data["pairs"][0]["ratio"], len(data["pairs"][0]["witness"])) == (0, "2", 2)
    model.write_text(FOR_EVER)
    assert run(["prove", str(model)]) == 2
    assert "--up-to" in capsys.readouterr().err
