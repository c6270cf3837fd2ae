"""``bisimdist secrets`` with a threshold and of the additive kind, and how it ends when it is interrupted."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bisimdist.progress import Progress
from tests.cli.conftest import Command

MODEL = "example:randomised-response"
PROMPT = 15
"""Seconds that a command may take to end, on a busy machine; each of its pairs takes much longer together."""

WATCHED = """
import sys
from contextlib import contextmanager
import bisimdist.faces.cli.run as runner
from bisimdist.faces.cli.main import run

@contextmanager
def shown():
    def report(stage, done, total):
        print("at work", file=sys.stderr, flush=True)
    yield report

runner.shown_progress = shown
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def dense(tmp_path: Path) -> Path:
    """Return a chain whose pairs take seconds each: long numbers, and beliefs that never come back."""
    rng = random.Random(1)
    names = [f"s{n}" for n in range(60)]
    steps = []
    for source in names:
        weights = {target: rng.randint(1, 997) for target in rng.sample(names, 40)}
        whole = sum(weights.values())
        row = {target: f"{weight}/{whole}" for target, weight in weights.items()}
        steps.append({"from": source, "action": "a" if source in names[:8] else rng.choice("ab"), "to": row})
    pairs = [names[:2], names[2:4], names[4:6]]
    path = tmp_path / "dense.json"
    path.write_text(json.dumps({"kind": "pa", "states": names, "transitions": steps, "pairs": pairs}))
    return path


@contextmanager
def started(command: str, *arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run a command, and hand it over when it is at work on its first pair."""
    words = [sys.executable, "-c", WATCHED, command, *(str(argument) for argument in arguments)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "at work\n"
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(os.name != "posix", reason="another process cannot be interrupted here")
@pytest.mark.parametrize("command", ["secrets", "trace"])
def test_an_interrupt_ends_the_whole_command(dense: Path, command: str) -> None:
    """The pair that is at work takes the interrupt; none of the others is begun."""
    with started(command, dense, "--json") as process:
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = process.communicate(timeout=4 * PROMPT)
        assert time.monotonic() - begun < PROMPT
    assert process.returncode == 3
    assert "Traceback" not in err
    data = json.loads(out)
    assert data["status"] == "limit"
    if command == "secrets":
        assert (len(data["pairs"]), data["unexamined"]) == (1, 14)
        assert data["lower"]["ratio"] != "inf"
    else:
        assert [pair["upper"] for pair in data["pairs"]] == ["inf"] * 3


def test_a_time_limit_ends_the_whole_command(command: Command, dense: Path) -> None:
    begun = time.monotonic()
    ended = command("secrets", dense, "--timeout", "1", "--json", "--threshold", "1")
    assert time.monotonic() - begun < PROMPT
    data = json.loads(ended.out)
    assert (ended.code, data["verdict"], data["status"]) == (3, "unknown", "limit")
    assert data["unexamined"] >= 14


def test_interrupted_text_says_what_was_not_looked_at(
    command: Command, dense: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def interrupting() -> Iterator[Progress]:
        def report(stage: str, done: int, total: int | None) -> None:
            signal.raise_signal(signal.SIGINT)

        yield report

    monkeypatch.setattr("bisimdist.faces.cli.run.shown_progress", interrupting)
    ended = command("secrets", dense)
    assert ended.code == 3
    assert "14 more pairs were not looked at: the work was stopped." in ended.out
    ended = command("trace", dense, "--kind", "additive")
    assert ended.code in (0, 3)  # its search may be done before it reports anything
    ended = command("trace", dense)
    assert ended.code == 3
    assert "(s4, s5) was not looked at: the work was stopped" in ended.out


@pytest.mark.parametrize(("threshold", "code"), [("1.0986", 1), ("1.0987", 0), ("0", 1), ("1000", 0)])
def test_thresholds_are_decided_exactly(command: Command, threshold: str, code: int) -> None:
    ended = command("secrets", MODEL, "--threshold", threshold, "--json")
    data = json.loads(ended.out)
    verdict = "violated" if code else "holds"
    assert (ended.code, data["verdict"], data["pairs"][0]["verdict"]) == (code, verdict, verdict)
    ended = command("secrets", MODEL, "--threshold", threshold)
    assert ended.code == code
    assert f": {verdict}." in ended.out
    assert ("is violated for (true0, true1): start answer0" in ended.out) == bool(code)


def test_the_distance_multiplies_the_threshold(command: Command) -> None:
    ask = ("secrets", MODEL, "--distance", "absolute", "--secret", "10", "true0", "--secret", "12", "true1")
    assert command(*ask, "--threshold", "0.5494").code == 0  # ln 3 / 2 = 0.54930...
    assert command(*ask, "--threshold", "0.5493").code == 1
    assert command(*ask, "--kind", "additive", "--threshold", "1/4").code == 0
    assert command(*ask, "--kind", "additive", "--threshold", "0.2499999999").code == 1


def test_weak_anonymity_of_all_secrets(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command("secrets", MODEL, "--kind", "additive", "--json", "--certificate", proof)
    data = json.loads(ended.out)
    assert (ended.code, data["kind"], data["epsilon"]) == (0, "additive", ["0.5", "0.5"])
    assert (data["difference"], data["distance"], data["lower"]) == (
        "1/2", "1", {"difference": "1/2", "distance": "1"},
    )  # fmt: skip
    assert (data["pairs"][0]["lower"], data["pairs"][0]["upper"]) == ("1/2", "1/2")
    assert "ratio" not in data["pairs"][0]
    assert command("check", proof, MODEL).code == 0
    ended = command("secrets", MODEL, "--kind", "additive")
    assert ended.out.startswith("additive trace metric of single traces, over all secrets\n")
    ended = command("secrets", MODEL, "--kind", "additive", "--of", "sets")
    assert ended.out.startswith("weak anonymity of all secrets\n")
    assert "The least epsilon is 1/2." in ended.out
    ended = command("secrets", MODEL, "--kind", "additive", "--distance", "hamming")
    assert ended.out.startswith("additive d_X-privacy with the hamming distance")


def test_an_infinite_loss_names_its_loop(command: Command) -> None:
    ended = command("secrets", "example:leaky-retry", "--threshold", "5")
    assert ended.code == 1
    assert "each round multiplies by 50/49 at least" in ended.out


def test_secrets_refuses_thresholds_and_kinds(command: Command) -> None:
    command("secrets", MODEL, "--threshold", "-1").assert_refused("--threshold")
    command("secrets", MODEL, "--threshold", "x").assert_refused("--threshold")
    command("secrets", MODEL, "--of", "sets").assert_refused("additive metric")
    command("secrets", MODEL, "--of", "words").assert_refused("--of", "traces or sets")
    command("secrets", MODEL, "--kind", "amortised").assert_refused("amortised", "multiplicative or additive")
