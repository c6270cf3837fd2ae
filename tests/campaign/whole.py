"""What is asked of models of every kind: cross-checks, conversions, files, and the command line."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from flint import fmpq

from bisimdist.checker import check_certificate
from bisimdist.errors import LimitError, ModelError
from bisimdist.faces.cli.main import run
from bisimdist.models.conversions import convert
from bisimdist.models.io import parse_model, write_model
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.privacy.crosscheck.ask import crosscheck
from bisimdist.traces.trace.ask import trace_metric
from tests.campaign.desk import Desk, Question

__all__ = ["QUESTIONS"]

SECONDS = 5.0
ANSWERED = (0, 1, 3)
INAPPLICABLE = ("nondeterministic", "transitions", "no sequence of")


def _everything(desk: Desk) -> None:
    answer = crosscheck(desk.model, alpha=desk.alpha, length=3, seconds=SECONDS)
    for pair in answer.pairs:
        desk.counts["orders"] += len(pair.standings())
        desk.require(not pair.violated, f"crosscheck: {'; '.join(pair.errors)}")
        failed = [text for text in pair.left_out if text[1].startswith("internal error")]
        desk.require(not failed, f"crosscheck: {failed}")


def _files(desk: Desk) -> None:
    """What is written reads back as the same model."""
    for name in ("json", "yaml") if desk.source.random() < 0.2 else ("json",):
        again = parse_model(write_model(desk.model, name), format=name)
        desk.require(again == desk.model, f"{name} reads back as another model")
        desk.require(again.digest() == desk.model.digest(), f"{name} reads back with another digest")


def _conversions(desk: Desk) -> None:
    """A conversion keeps the trace metric that it says it keeps, there and back."""
    kinds = {"lmc": ("pa", "hmm"), "pa": ("lmc",), "ccs": ("lmc",), "hmm": ("lmc",), "interactive": ()}[
        desk.case.kind
    ]
    for kind in kinds:
        try:
            found = convert(desk.model, kind).model
        except ModelError:
            desk.counts["conversions refused"] += 1
            continue
        if desk.case.kind != "lmc" or kind != "pa":
            continue
        assert isinstance(found, PA)
        (one,) = trace_metric(found, "additive", deadline=desk.deadline).pairs
        assert isinstance(desk.model, LMC)
        (other,) = trace_metric(desk.model, "additive", deadline=desk.deadline).pairs
        desk.at_most(one.lower, other.upper, "trace metric of a conversion")
        desk.at_most(other.lower, one.upper, "trace metric of what was converted")


COMMANDS = {
    "lmc": (
        "bound --alpha ALPHA",
        "delta --alpha ALPHA",
        "metric --kind accumulative",
        "trace",
        "logic explain",
    ),
    "pa": (
        "metric --kind amortised",
        "metric --kind additive",
        "logic explain",
        "logic formula --state S",
        "trace",
    ),
    "ccs": (
        "metric --kind accumulative",
        "metric --kind multiplicative",
        "logic explain",
        "logic traces --state S",
    ),
    "interactive": ("bound --alpha ALPHA", "delta --alpha ALPHA", "delta --alpha ALPHA --rounds 2"),
    "hmm": ("epsilon --length 2", "verify --length 2 --ratio 2", "prove", "prove --ratio 3"),
    "parametric": ("verify --length 1 --ratio 2", "verify --length 2 --ratio 3 --up-to"),
}


def _command_line(desk: Desk) -> None:
    """Ask a command with --json and --certificate; `check` accepts the proof."""
    command = desk.source.choice(COMMANDS[desk.case.kind])
    assert isinstance(desk.alpha, fmpq)
    state = desk.model.states[0]
    words = [{"ALPHA": str(desk.alpha), "S": state}.get(word, word) for word in command.split()]
    with tempfile.TemporaryDirectory() as folder:
        model, proof = Path(folder, "model" + desk.case.suffix), Path(folder, "proof.json")
        model.write_text(desk.case.text, encoding="utf-8")
        at = 1 + (words[0] == "logic")
        limit = [] if words[at - 1] in {"formula", "traces"} else ["--timeout", "0.3"]
        proved = ["--json", "--certificate", str(proof), *limit]
        code, out, err = _run([*words[:at], str(model), *words[at:], *proved])
        if code == 2 and any(words in err for words in INAPPLICABLE):
            desk.counts["commands that do not apply"] += 1
            return
        desk.require(code in ANSWERED, f"{command} ended with {code}: {err.strip()}")
        answer = json.loads(out)
        desk.require(answer["command"] == " ".join(words[:at]), f"{command}: {out}")
        desk.require("Traceback" not in err, err)
        if not proof.exists():
            desk.counts["commands without a proof"] += 1
            return
        report = check_certificate(proof.read_bytes())
        desk.counts["certificates"] += 1
        desk.counts[f"certificates: {report.kind}"] += 1
        desk.require(report.valid, f"{command}: {report.reason}")
        checked, out, _ = _run(["check", str(proof), "--json"])
        desk.require(checked == 0 and json.loads(out)["valid"], f"{command}: check ends with {checked}")


def _run(arguments: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


def _interrupted(desk: Desk) -> None:
    """Whatever a deadline that has passed leaves of a cross-check stands in its order too."""
    try:
        answer = crosscheck(desk.model, alpha=desk.alpha, length=2, seconds=desk.source.choice((0.0, 0.02)))
    except LimitError:
        return
    for pair in answer.pairs:
        desk.require(not pair.violated, f"interrupted crosscheck: {'; '.join(pair.errors)}")


PLAIN = ("lmc", "pa", "hmm", "ccs", "interactive")
ALL = (*PLAIN, "parametric")
QUESTIONS = (
    Question("files", ALL, 8, _files, "show MODEL --format yaml"),
    Question("convert", PLAIN, 20, _conversions, "convert MODEL"),
    Question("command line", ALL, 60, _command_line, "check"),
    Question("crosscheck", PLAIN, 100, _everything, "crosscheck MODEL --alpha ALPHA"),
    Question("crosscheck, cut short", PLAIN, 80, _interrupted, "crosscheck MODEL --alpha ALPHA --timeout 1"),
)
