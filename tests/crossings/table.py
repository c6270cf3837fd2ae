"""The table: what becomes of every question with every feature."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.faces.asked.registry import HOMES, question_of
from tests.crossings import held
from tests.crossings.cases import ALPHA, SLACK, Case
from tests.crossings.features import FEATURES

__all__ = ["ANSWERED", "COLUMNS", "QUESTIONS", "Cell", "cell", "words_of"]

ANSWERED = "answered"

QUESTIONS: dict[str, str] = {
    "bound": f"--alpha {ALPHA}",
    "delta": f"--alpha {ALPHA}",
    "compare": f"--alpha {ALPHA}",
    "profile": f"--alpha 1 --alpha {ALPHA}",
    "leakage": "--measure tv",
    "program": f"--alpha {ALPHA}",
    "report": f"--alpha {ALPHA} -o FOLDER/report.html",
    "crosscheck": f"--alpha {ALPHA}",
    "synthesise": f"--alpha {ALPHA} --parameter p --maximise p --subject-to 'delta <= 1/2'",
    "metric": "--kind accumulative",
    "schedule": "--length 2",
    "trace": "",
    "secrets": "",
    "equivalence": "",
    "same": f"MODEL --pair FIRST SECOND --alpha {ALPHA}",
    "classes": "",
    "logic traces": "--state FIRST",
    "logic explain": "",
    "logic formula": "--state FIRST",
    "logic satisfies": "--formula '<q>T'",
    "verify": "--ratio 2 --length 2",
    "epsilon": "--length 2",
    "prove": "",
    "minimise": "--loss 1/20 -o FOLDER/small.json",
    "convert": "--to interactive -o FOLDER/other.json",
    "show": "",
}
"""What is asked; questions that take no model of their own are crossed with nothing."""

COLUMNS = tuple(FEATURES)

WITHOUT = {"audit", "budget", "compose", "learn", "example", "paper", "logic distance"}
assert set(QUESTIONS) == set(HOMES) - WITHOUT


@dataclass(frozen=True)
class Cell:
    """What became of a question with a feature: the exit code, what was said, and what is wrong with it."""

    code: int
    said: str
    wrong: tuple[str, ...] = ()
    held: bool = False
    """Whether anything that was said was compared with what is true."""

    @property
    def shown(self) -> str:
        """``answered``, or why it was refused."""
        return self.said if self.code == 2 else ANSWERED


def cell(question: str, feature: str, folder: Path, seed: int, run: Any) -> Cell:
    """Ask a question of a small random system with a feature.

    ``run`` takes words and returns an exit code, standard output and standard error.
    """
    case = FEATURES[feature].make(folder, random.Random(f"{feature} {seed}"), question)
    words = words_of(question, feature, case, folder)
    options = {option.flag for option in question_of(question).options}
    proof = folder / "proof.json"
    proof.unlink(missing_ok=True)
    proves = "--certificate" in options
    code, out, err = run([*words, "--json", *(["--certificate", str(proof)] if proves else [])])
    if code == 2:
        return Cell(code, _reason(err, folder), tuple(_refused(out, err)))
    wrong = [] if code in {0, 1, 3} else [f"it ended with {code}: {err}"]
    if code == 3 and not out and len(err.splitlines()) <= 2:
        return Cell(code, "nothing is known so early", tuple(wrong))
    try:
        answer = json.loads(out) if out or question != "convert" else {}  # its answer is the file
    except ValueError:
        return Cell(code, ANSWERED, (*wrong, f"no JSON: {out[:200]!r} {err[:300]!r}"))
    compared = [
        *_falsehoods(question, feature, case, answer),
        *held.falsehoods(question, case, answer, folder),
    ]
    wrong += filter(None, compared)
    if proof.exists():
        try:
            report = check_certificate(proof.read_bytes())
        except MalformedCertificate as error:
            return Cell(code, ANSWERED, (*wrong, f"its certificate is malformed: {error}"))
        if not report.valid:
            wrong.append(f"its certificate is not valid: {report.reason}")
        wrong += [
            f"its certificate claims {claim}"
            for claim in report.plain_claims()
            if case.delta is not None and feature != "fixed rounds" and _too_much(case, claim)
        ]
    return Cell(code, ANSWERED, tuple(wrong), bool(compared))


def words_of(question: str, feature: str, case: Case, folder: Path) -> list[str]:
    """Return the words of the command that asks a question of a system."""
    base = shlex.split(QUESTIONS[question].replace("FOLDER", str(folder)))
    named = {"MODEL": case.arguments[0], "FIRST": case.pair[0], "SECOND": case.pair[1]}
    base = [named.get(word, word) for word in base]
    words = [*question.split(), *case.arguments, *base, *FEATURES[feature].asks.get(question, case.options)]
    if "--threshold" in words and question not in ("delta", "bound"):
        words[words.index("--threshold") + 1] = "1/3"
    return words


def _reason(err: str, folder: Path) -> str:
    line = err.strip().splitlines()[-1] if err.strip() else ""
    return line.removeprefix("bisimdist: error: ").replace(f"{folder}/", "")


def _refused(out: str, err: str) -> Iterator[str]:
    lines = [line for line in err.splitlines() if "error: " in line]
    if len(lines) != 1 or len(lines[0]) < 30 or "Traceback" in err:
        yield f"no line that says why: {err!r}"
    if out:
        yield f"something was printed: {out[:200]!r}"


def _falsehoods(question: str, feature: str, case: Case, answer: Mapping[str, Any]) -> Iterator[str]:
    for quantity, alpha, lower, upper, exact in _bounds(question, answer):
        true = (case.delta if quantity == "delta" else case.distance) if quantity else None
        if true is None or (question == "leakage" and case.moves is not None):  # one sequence is asked there
            continue
        yield ""
        low, high = true(alpha)
        if not lower - SLACK <= (low if feature == "intervals, fixed" else high):  # some member attains it
            yield f"{quantity} at {alpha} is at least {float(lower)}, where {low} to {high} is true"
        if not upper + SLACK >= low:
            yield f"{quantity} at {alpha} is at most {float(upper)}, where {low} is true"
        if exact != (lower == upper):
            yield f"{quantity} at {alpha} is exact: {exact}, between {lower} and {upper}"
    verdict, theta = answer.get("verdict"), answer.get("threshold")
    true = case.distance if question == "bound" else case.delta
    if (
        verdict in {"holds", "violated"}
        and theta is not None
        and true is not None
        and question in {"bound", "delta"}
    ):
        low, high = true(ALPHA)
        if verdict == "holds" and low > float(Fraction(theta)) + SLACK:
            yield f"{question} at most {theta} holds, where it is {low}"
        if verdict == "violated" and high < float(Fraction(theta)) - SLACK:
            yield f"{question} at most {theta} is violated, where it is {high}"


def _bounds(
    question: str, answer: Mapping[str, Any]
) -> Iterator[tuple[str, Fraction, Fraction, Fraction, bool]]:
    """Yield what an answer says of delta and of the distance."""
    pairs = answer.get("pairs", [])
    if question in {"delta", "bound", "program", "leakage", "report"}:
        quantity = {"bound": "distance"}.get(question, "delta")
        alpha = Fraction(1) if question == "leakage" else ALPHA
        for pair in pairs[:1]:
            if (
                pair.get("lower") is not None
                and pair.get("upper") is not None
                and pair.get("from") in {"s", "t", "0", "1"}
            ):
                yield quantity, alpha, Fraction(pair["lower"]), Fraction(pair["upper"]), pair["exact"]
    for pair in pairs[:1] if question == "same" else []:
        found, most = pair["delta"], Fraction(pair["bound"]["upper"])
        yield "delta", ALPHA, Fraction(found["lower"]), Fraction(found["upper"]), found["exact"]
        yield "delta", ALPHA, Fraction(0), most, most == 0  # the distance of the quotient bounds delta
    if question == "profile":
        for point in answer.get("points", []):
            alpha, lower, upper = (Fraction(point[key]) for key in ("alpha", "lower", "upper"))
            yield "delta", alpha, lower, upper, point["exact"]
    if question == "compare":
        for measure in pairs[0]["measures"] if pairs else []:
            quantity = {"delta": "delta", "bd": "distance"}.get(measure["name"], "")
            if quantity:
                yield (
                    quantity,
                    ALPHA,
                    Fraction(measure["lower"]),
                    Fraction(measure["upper"]),
                    measure["exact"],
                )


def _too_much(case: Case, claim: Mapping[str, Any]) -> bool:
    """Tell whether a claim of a certificate is false."""
    if claim.get("quantity") not in {None, "delta"} or claim.get("measure") or claim.get("from") != "s":
        return False
    true = case.distance if claim.get("distance") == "bd" else case.delta
    if true is None or claim.get("distance") == "lbd" or "alpha" not in claim:
        return False
    alphas = claim["alpha"] if isinstance(claim["alpha"], list) else [claim["alpha"]]
    if isinstance(claim["alpha"], dict) or any(not isinstance(a, str) for a in alphas):
        return False
    return float(Fraction(claim["upper"])) + SLACK < true(Fraction(alphas[0]))[0]
