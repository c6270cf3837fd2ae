"""``bisimdist delta`` with the real engine."""

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

from bisimdist.checker import check_certificate
from bisimdist.progress import Progress
from tests.cli.conftest import Command

RING = "example:dining-cryptographers,n=2,bias=49/100"


def test_json(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command("delta", RING, "--alpha", "1.0002", "--json", "--certificate", proof)
    assert ended.code == 0
    answer = json.loads(ended.out)
    assert (answer["command"], answer["alpha"], answer["status"]) == ("delta", "5001/5000", "exact")
    (pair,) = answer["pairs"]
    assert (pair["from"], pair["to"], pair["exact"]) == ("payer0", "payer1", True)
    assert pair["lower"] == pair["upper"] == "7501/25000000"
    assert pair["witness"]["event"]["root"] == 0
    assert len(pair["witness"]["probabilities"]) == 2
    assert answer["worst"] == {key: pair[key] for key in ("from", "to", "lower", "upper")}
    assert check_certificate(proof.read_text()).valid


def test_text(command: Command) -> None:
    ended = command("delta", "example:dining-cryptographers,n=4,pairs=all", "--alpha", "1.0002")
    assert ended.code == 0
    assert "delta (exact)" in ended.out
    assert "for all 6 pairs" in ended.out
    assert "an event (" in ended.out


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((RING, "--alpha", "1"), "start, then flipped, then disagree"),
        (("example:leaky-retry", "--alpha", "3/2"), "23 nodes, 1 sequence of labels"),
        (
            ("example:random,states=5,seed=3", "--pair", "s0", "s1", "--alpha", "1"),
            "213 nodes, 137 sequences of labels",
        ),
    ],
    ids=("one short trace", "one long trace", "many traces"),
)
def test_a_short_event_is_shown_and_a_large_one_counted(
    command: Command, words: tuple[str, ...], shown: str
) -> None:
    assert f"an event ({shown}) has probability" in command("delta", *words).out


def test_epsilon(command: Command) -> None:
    answer = json.loads(command("delta", "example:figure1", "--epsilon", "0.1", "--json").out)
    assert answer["epsilon"] == "1/10"
    assert answer["alpha_rounded"] == {"lower": "up", "upper": "down"}
    assert answer["pairs"][0]["exact"] is False


def test_a_gap_and_a_limit(command: Command) -> None:
    ask = ("delta", "example:random,states=30,seed=1", "--alpha", "1.1", "--pair", "s0", "s3", "--json")
    wide = command(*ask, "--gap", "1/2")
    assert wide.code == 0
    assert json.loads(wide.out)["status"] in {"bracket", "exact"}
    narrow = command(*ask, "--gap", "0", "--timeout", "0.2")
    answer = json.loads(narrow.out)
    assert narrow.code == (3 if answer["status"] == "limit" else 0)
    text = command(*ask[:-1], "--gap", "0", "--timeout", "0.2")
    assert ("ended the work" in text.out) == (text.code == 3)


def test_figure_1_of_the_paper(command: Command) -> None:
    answer = json.loads(command("delta", "example:figure1", "--alpha", "3/2", "--json").out)
    assert (answer["pairs"][0]["lower"], answer["pairs"][0]["upper"]) == ("0", "0")


def test_pairs_are_asked_by_name(command: Command) -> None:
    ended = command("delta", "example:figure1", "--alpha", "1", "--pair", "s2", "s3", "--json", "--worst")
    assert json.loads(ended.out)["pairs"][0]["upper"] == "1"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "neither"),
        (("--alpha", "2", "--epsilon", "1"), "both"),
        (("--alpha", "0.5"), "at least 1"),
        (("--alpha", "2", "--gap", "2"), "--gap"),
        (("--alpha", "2", "--memory", "0"), "--memory"),
        (("--alpha", "2", "--timeout", "-1"), "--timeout"),
        (("--alpha", "2", "--pair", "s0", "nobody"), "nobody"),
        (("--epsilon", "-1"), "epsilon"),
    ],
)
def test_refused(command: Command, arguments: tuple[str, ...], word: str) -> None:
    command("delta", "example:figure1", *arguments).assert_refused(word)


def test_a_model_without_pairs(command: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.yaml"
    model.write_text("kind: lmc\nstates: {s: a}\ntransitions: {s: {s: 1}}\n")
    command("delta", model, "--alpha", "2").assert_refused("no pairs")


def test_an_interrupt_prints_what_is_known(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def interrupting() -> Iterator[Progress]:
        def report(stage: str, done: int, total: int | None) -> None:
            if stage.startswith("delta"):
                os.kill(os.getpid(), signal.SIGINT)

        yield report

    monkeypatch.setattr("bisimdist.faces.cli.run.shown_progress", interrupting)
    ended = command("delta", "example:dining-cryptographers,n=30", "--alpha", "1.0002", "--json")
    answer = json.loads(ended.out)
    assert (ended.code, answer["status"]) == (3, "limit")
    assert answer["pairs"][0]["lower"] != answer["pairs"][0]["upper"]
    assert "Traceback" not in ended.err


@pytest.mark.slow
def test_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    outputs = set()
    for seed in ("1", "2"):
        proof = tmp_path / f"proof{seed}.json"
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "bisimdist", "delta", "example:random,states=6,labels=2,seed=1"),
                *("--alpha", "1.1", "--pair", "s0", "s1", "--json", "--certificate", str(proof)),
            ],
            capture_output=True,
            timeout=300,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert (ended.returncode, ended.stderr) == (0, b"")
        outputs.add((ended.stdout, proof.read_bytes()))
    assert len(outputs) == 1
