"""The command line with the real engine and the real checker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bisimdist.progress import Progress
from tests.cli.conftest import Command

CRYPTOGRAPHERS = "example:dining-cryptographers,n=2,bias=49/100"


def test_the_published_distance_certified(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command("bound", CRYPTOGRAPHERS, "--alpha", "1.0002", "--json", "--certificate", proof)
    assert ended.code == 0
    (pair,) = json.loads(ended.out)["pairs"]
    assert (pair["upper"], pair["lower"], pair["exact"]) == ("1/2500", "1/2500", True)
    checked = command("check", proof, CRYPTOGRAPHERS, "--json")
    assert checked.code == 0
    assert json.loads(checked.out)["claim"][0]["upper"] == "1/2500"
    altered = proof.read_text().replace('"upper":"1/2500"', '"upper":"1/2501"')
    assert altered != proof.read_text()
    proof.write_text(altered)
    assert command("check", proof).code == 1


def test_figure_1_of_the_paper(command: Command) -> None:
    ended = command("bound", "example:figure1", "--alpha", "3/2", "--json")
    assert json.loads(ended.out)["pairs"][0]["upper"] == "0"


@pytest.mark.parametrize(
    ("theta", "code"), [("1/2500", 0), ("0.00039999999999999999999999", 1), ("1", 0), ("0", 1)]
)
def test_thresholds_are_decided_at_a_tie(command: Command, theta: str, code: int) -> None:
    assert command("bound", CRYPTOGRAPHERS, "--alpha", "1.0002", "--threshold", theta).code == code


def test_a_time_limit_prints_sound_bounds(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ask = ("bound", "example:random,states=60", "--alpha", "1.1", "--pair", "s0", "s3")
    ended = command(*ask, "--timeout", "0", "--json", "--certificate", proof)
    answer = json.loads(ended.out)
    assert answer["status"] in {"limit", "exact"}
    assert ended.code == (3 if answer["status"] == "limit" else 0)
    if proof.exists():
        assert command("check", proof).code == 0


def test_an_interrupt_prints_what_is_known(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def interrupting() -> Iterator[Progress]:
        def report(stage: str, done: int, total: int | None) -> None:
            os.kill(os.getpid(), signal.SIGINT)

        yield report

    monkeypatch.setattr("bisimdist.faces.cli.run.shown_progress", interrupting)
    ended = command("bound", CRYPTOGRAPHERS, "--alpha", "1.0002", "--json")
    answer = json.loads(ended.out)
    assert answer["status"] in {"limit", "exact"}
    assert ended.code == (3 if answer["status"] == "limit" else 0)
    assert "Traceback" not in ended.err


def test_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    outputs = set()
    for seed in ("1", "2"):
        proof = tmp_path / f"proof{seed}.json"
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "bisimdist", "bound", CRYPTOGRAPHERS, "--epsilon", "0.0002"),
                *("--json", "--certificate", str(proof)),
            ],
            capture_output=True,
            timeout=300,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert ended.returncode == 0, ended.stderr
        outputs.add((ended.stdout, proof.read_bytes()))
    assert len(outputs) == 1
