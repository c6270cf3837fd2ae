"""Chains of intervals on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command


def test_a_proof_is_held_against_the_file_of_intervals(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    text = "kind: lmc\nstates: {s: a, t: a}\ntransitions:\n  s: {s: [LOW, 0.6], t: [0.4, 0.7]}\n  t: {t: 1}\n"
    for name, low in (("model.yaml", "0.3"), ("other.yaml", "0.35")):
        (tmp_path / name).write_text(text.replace("LOW", low), encoding="utf-8")
    model = tmp_path / "model.yaml"
    assert command("show", model, "--format", "json", "-o", tmp_path / "model.json").code == 0
    asked = ("--alpha", "2", "--pair", "s", "t", "--certificate", proof)
    for question in (("bound", model), ("delta", model), ("delta", model, "--nature", "fixed")):
        assert command(*question, *asked).code == 0
        for file in (model, tmp_path / "model.json"):
            assert command("check", proof, file).code == 0
        other = command("check", proof, tmp_path / "other.yaml")
        assert (other.code, "G2" in other.out + other.err) == (1, True)
