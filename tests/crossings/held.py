"""What answers about words, classes and parameters are held against."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.crossings import logics, measured, structures, truths
from tests.crossings.cases import ALPHA, LABELS, ONE, SLACK, Case

__all__ = ["cross_checked", "falsehoods"]

Pair = Mapping[str, Any]


def falsehoods(question: str, case: Case, answer: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield what is false in an answer, as far as the case knows; an empty text for what is true."""
    pair: Pair = next(iter(answer.get("pairs") or ()), {})
    if case.ratio is not None and question in RATIOS:
        low, high, of = RATIOS[question](answer, pair)
        true = case.ratio(of)
        if (low is not None and _number(low) > true) or (high is not None and _number(high) < true):
            yield f"the ratio is {low} to {high}, where {true} is true"
        elif low is not None or high is not None:
            yield ""
    if case.words is not None and question == "classes":
        yield from _classes(case.words, answer.get("classes", []))
    if case.at is not None and question in {"delta", "bound", "synthesise"}:
        yield from PARAMETERS[question](case.at, pair)
    if case.system is not None and question in LOGICS:
        yield from LOGICS[question](case.system, answer)
    if question == "logic explain" and case.system is not None and pair:
        yield from logics.false_explanation(case.system, pair)
    if question == "crosscheck" and pair:
        yield from measured.false_measures(pair["measures"], cross_checked(case, answer["length"]))
    if question == "minimise" and case.system is not None and (folder / "small.json").exists():
        yield from structures.false_merging(folder / "small.json", case.system, answer, case.pair)
    if question == "show" and case.arguments[0].endswith(".json"):
        yield from structures.false_counts(Path(case.arguments[0]), case.system, answer)
    if question == "convert" and case.delta is not None:
        ends = ("s", "t") if case.arguments[0].endswith(".json") else ("0", "1")
        yield from structures.false_conversion(folder / "other.json", ends, ALPHA, case.delta(ALPHA))
    if question == "leakage" and case.moves is not None and pair:
        true = truths.gained_by(LABELS, case.moves, {"s": ONE, "t": -ONE}, ("X", "Y", "X"))
        fits = Fraction(pair["lower"]) <= true <= Fraction(pair["upper"])
        yield "" if fits else f"{pair['lower']} to {pair['upper']} leaks, where {true} is true"


def cross_checked(case: Case, length: int) -> Mapping[str, tuple[float, float]]:
    """Return what is true of the measures of the cross-check."""
    law = None if case.words is None else (case.words(case.pair[0]), case.words(case.pair[1]))
    asked = {}
    if case.moves is not None:
        about = LABELS, case.moves, ("s", "t"), ALPHA, length
        asked = {"fixed": truths.delta_fixed(*about), "delta_rounds": truths.delta_asked(*about)}
    bounds = {"delta": case.delta, "bd": case.distance}
    return measured.true_measures(length, ALPHA, law, {k: float(v) for k, v in asked.items()}, bounds)


def _number(value: str) -> float | Fraction:
    return math.inf if value == "inf" else Fraction(value)


Said = tuple[str | None, str | None, int | None]


def _exact(answer: Mapping[str, Any], pair: Pair) -> Said:
    return pair.get("lower", pair.get("ratio")), pair.get("upper", pair.get("ratio")), None


def _of_two(answer: Mapping[str, Any], pair: Pair) -> Said:
    return pair.get("ratio"), pair.get("ratio"), 2


def _performed(answer: Mapping[str, Any], pair: Pair) -> Said:
    """Read the worst trace of as many actions as were looked at."""
    return pair.get("ratio"), pair.get("ratio"), pair.get("length")


def _worst(answer: Mapping[str, Any], pair: Pair) -> Said:
    return answer.get("lower", {}).get("ratio"), answer.get("ratio"), None


def _above(answer: Mapping[str, Any], pair: Pair) -> Said:
    """Read a bound from above; what attains it is no word."""
    return pair.get("attained"), pair.get("ratio"), None


def _alike(answer: Mapping[str, Any], pair: Pair) -> Said:
    """Read whether no ratio is more than 1."""
    same = pair.get("equivalent")
    return ("101/100" if same is False else None), ("1" if same else None), None


def _at_most_two(answer: Mapping[str, Any], pair: Pair) -> Said:
    verdict = answer.get("verdict")
    return ("2" if verdict == "violated" else None), ("2" if verdict == "holds" else None), 2


RATIOS: Mapping[str, Callable[[Mapping[str, Any], Pair], Said]] = {
    "trace": _exact,
    "secrets": _worst,
    "equivalence": _alike,
    "same": _alike,
    "metric": _above,
    "prove": _above,
    "epsilon": _of_two,
    "schedule": _performed,
    "verify": _at_most_two,
}
"""By question what it says of the largest ratio of a word: at least, at most, and of which length."""


def _classes(
    words: Callable[[str], Mapping[tuple[str, ...], Fraction]], classes: list[list[str]]
) -> Iterator[str]:
    """Hold classes of trace equivalence against the words of their states."""
    for number, members in enumerate(classes):
        for state in members[1:]:
            alike = words(state) == words(members[0])
            yield "" if alike else f"{state} and {members[0]} are in one class, and their words differ"
        for other in classes[number + 1 :]:
            alike = words(members[0]) == words(other[0])
            yield f"{members[0]} and {other[0]} are in two classes, and no word differs" if alike else ""


GRID = [Fraction(k, 24) for k in range(1, 24)]
THRESHOLD = Fraction(1, 2)


def _pieces(at: Callable[[Fraction], Case], pair: Pair) -> Iterator[str]:
    """Hold delta over p, in pieces, against delta of many p."""
    breaks, pieces = pair.get("breaks"), pair.get("pieces")
    if breaks is None or pieces is None:
        return
    for p in GRID:
        if any(Fraction(b["low"]) <= p <= Fraction(b["high"]) for b in breaks):
            continue
        piece = pieces[sum(Fraction(b["high"]) < p for b in breaks)]
        said = eval(piece.replace("^", "**"), {"__builtins__": {}}, {"p": float(p)})
        delta = at(p).delta
        assert delta is not None
        close = abs(said - delta(ALPHA)[0]) <= SLACK
        yield "" if close else f"delta at p = {p} is {said}, where {delta(ALPHA)[0]} is true"


def _for_all(at: Callable[[Fraction], Case], pair: Pair) -> Iterator[str]:
    """Hold a verdict about all p from 1/4 to 1/2 against many of them, or against the one that is named."""
    verdict, named = pair.get("verdict"), pair.get("at")
    for p in [p for p in GRID if Fraction(1, 4) <= p <= Fraction(1, 2)] if verdict == "holds" else []:
        distance = at(p).distance
        assert distance is not None
        fits = distance(ALPHA)[0] <= THRESHOLD + SLACK
        yield "" if fits else f"it holds for all p, where bd at p = {p} is {distance(ALPHA)[0]}"
    if verdict == "violated" and named:
        distance = at(Fraction(named["p"])).distance
        assert distance is not None
        fits = distance(ALPHA)[1] > THRESHOLD - SLACK
        yield "" if fits else f"it is violated at {named}, where bd is {distance(ALPHA)[1]}"


def _largest(at: Callable[[Fraction], Case], pair: Pair) -> Iterator[str]:
    """Hold the largest p such that delta is at most 1/2 against many p."""
    if pair.get("lower") is None or pair.get("upper") is None:
        return
    for p in [*GRID, *([Fraction(pair["at"])] if pair.get("at") else [])]:
        delta = at(p).delta
        assert delta is not None
        fits = delta(ALPHA)[0] <= THRESHOLD
        false = (fits and p > Fraction(pair["upper"])) or (not fits and str(p) == pair.get("at"))
        said = f"p is at most {pair['upper']}, at {pair.get('at')}; delta at {p} is {delta(ALPHA)[0]}"
        yield said if false else ""


LOGICS: Mapping[str, Callable[[logics.System, Mapping[str, Any]], Iterator[str]]] = {
    "logic satisfies": logics.false_satisfaction,
    "logic formula": logics.false_formula,
    "logic traces": logics.false_traces,
}

PARAMETERS = {"delta": _pieces, "bound": _for_all, "synthesise": _largest}
