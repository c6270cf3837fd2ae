"""Answers about distances, as data for a JSON answer and as a report for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from bisimdist.analysis.answer import DistanceAnswer, PairBound, Status, ThresholdAnswer
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.models.interactive import System
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.cutting import masses_of
from bisimdist.report.numbers import at_least, at_most, interval, is_long, short_rational
from bisimdist.report.tables import Report

__all__ = ["answer_report", "common_status", "cut_data", "pair_data", "threshold_report"]

MAX_DIRECTIONS = 10
"""For so many pairs a person is told both directions of an asymmetric distance; JSON has all."""

ENDINGS = {
    Status.EXACT: "",
    Status.BRACKET: "The bounds are certified and as close to the distances as was asked.",
    Status.UPPER: "The upper bounds are certified; the distances themselves depend on too much.",
    Status.LIMIT: "A limit ended the work before the distances were known; what is shown is certified.",
}

CUT = "Runs are cut off; the upper bounds allow for whatever they would do. delta has bounds on both sides."


def pair_data(pair: PairBound, distance: str, names: tuple[str, str]) -> dict[str, object]:
    """Return the bounds of a pair as plain data, under the names by which it was asked."""
    data: dict[str, object] = {
        "from": names[0],
        "to": names[1],
        "upper": format_rational(pair.upper),
        "exact": pair.exact,
        "distance": distance,
        "lower": format_rational(pair.lower),
    }
    if pair.directions is not None:
        data["directions"] = [
            {"lower": format_rational(low), "upper": format_rational(high)} for low, high in pair.directions
        ]
    return data


def cut_data(model: System, names: tuple[str, str]) -> dict[str, object]:
    """Return how likely runs of a program are cut off; nothing of what is no such program."""
    masses = masses_of(model, (model.index(names[0]), model.index(names[1])))
    return {} if masses is None else {"cut": [format_rational(mass) for mass in masses]}


def common_status(statuses: Sequence[Status]) -> Status:
    """Return the weakest of the statuses, which is that of all of them together."""
    for status in (Status.LIMIT, Status.UPPER, Status.BRACKET):
        if status in statuses:
            return status
    return Status.EXACT


def _meaning(alpha: fmpq, epsilon: str | None, pair: tuple[PairBound, tuple[str, str]] | None) -> str:
    """Say in words what the upper bounds mean."""
    if epsilon is None:
        level = "0" if alpha == 1 else "ln(alpha)" if is_long(alpha) else f"ln({short_rational(alpha)})"
    else:
        level = epsilon
    if pair is None:
        where, delta = "for each pair", "its upper bound"
    else:
        where, delta = f"for the pair ({', '.join(pair[1])})", at_most(pair[0].upper)
        delta = delta.removeprefix("<= ")
    value = ""
    if epsilon is None and alpha != 1:
        value = f", where {level} <= {log_enclosure(alpha)[1]}"
    return f"The model is ({level}, delta)-differentially private {where} with delta <= {delta}{value}."


def _heading(distance: str, alpha: fmpq, epsilon: str | None) -> str:
    rounded = "" if epsilon is None else f", which is e^({epsilon}) rounded down"
    return f"{distance} at alpha = {short_rational(alpha)}{rounded}"


def _cut(model: System) -> list[str]:
    return [CUT] if isinstance(model, ProgramChain) and model.cut else []


def _long_hint(alpha: fmpq, pairs: Sequence[PairBound]) -> tuple[str, ...]:
    if is_long(alpha) or any(is_long(pair.upper) or is_long(pair.lower) for pair in pairs):
        return ("Long rationals are shown rounded in the safe direction; --json gives them in full.",)
    return ()


def _directions(pairs: Sequence[PairBound], names: Sequence[tuple[str, str]], distance: str) -> list[str]:
    """Say how an asymmetric distance differs by direction; of many pairs, of none."""
    if len(pairs) > MAX_DIRECTIONS:
        return []
    lines = []
    for pair, (source, target) in zip(pairs, names, strict=True):
        if pair.directions is not None:
            there, back = (
                at_most(high) if low == high else interval(low, high) for low, high in pair.directions
            )
            ways = f"from {source} to {target} it is {there}, from {target} to {source} {back}"
            lines.append(f"{distance} is asymmetric: {ways}; the larger counts.")
    return lines


def _rows(
    pairs: Sequence[PairBound], names: Sequence[tuple[str, str]], distance: str
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    if all(pair.exact for pair in pairs):
        return (
            ("from", "to", f"{distance} (exact)"),
            tuple((*name, at_most(pair.upper)) for pair, name in zip(pairs, names, strict=True)),
        )
    rows = tuple(
        (*name, at_least(pair.lower), at_most(pair.upper), "yes" if pair.exact else "no")
        for pair, name in zip(pairs, names, strict=True)
    )
    return ("from", "to", "lower bound", "upper bound", "exact"), rows


def answer_report(
    answer: DistanceAnswer, names: Sequence[tuple[str, str]], *, epsilon: str | None = None
) -> Report:
    """Return an answer as a report that says what it means.

    Parameters
    ----------
    answer
        The answer.
    names
        The pairs by the names by which they were asked.
    epsilon
        What was asked instead of alpha, where it was.
    """
    columns, rows = _rows(answer.pairs, names, answer.distance)
    only = (answer.pairs[0], names[0]) if len(answer.pairs) == 1 else None
    ending = ENDINGS[answer.status]
    return Report(
        heading=_heading(answer.distance, answer.alpha, epsilon),
        columns=columns,
        rows=rows,
        remarks=(
            _meaning(answer.alpha, epsilon, only),
            *_directions(answer.pairs, names, answer.distance),
            *([ending] if ending else []),
            *_cut(answer.model),
            *_long_hint(answer.alpha, answer.pairs),
        ),
    )


def threshold_report(
    answers: Sequence[ThresholdAnswer],
    names: Sequence[tuple[str, str]],
    verdicts: Sequence[str],
    *,
    epsilon: str | None = None,
) -> Report:
    """Return what is known about a threshold as a report; the parameters are those of `answer_report`."""
    first = answers[0]
    pairs = [answer.bound for answer in answers]
    columns, rows = _rows(pairs, names, first.distance)
    words: Mapping[str, str] = {
        "holds": "The distance is at most the threshold.",
        "violated": "The distance is above the threshold.",
        "unknown": "Whether the distance is at most the threshold was not decided within the limits.",
    }
    remarks = [words[verdicts[0]]] if len(answers) == 1 else []
    if all(verdict == "holds" for verdict in verdicts):
        only = (pairs[0], names[0]) if len(pairs) == 1 else None
        remarks.append(_meaning(first.alpha, epsilon, only))
    heading = _heading(first.distance, first.alpha, epsilon)
    return Report(
        heading=f"{heading}: at most {short_rational(first.threshold)}?",
        columns=(*columns, "verdict"),
        rows=tuple((*row, verdict) for row, verdict in zip(rows, verdicts, strict=True)),
        remarks=(
            *remarks,
            *_directions(pairs, names, first.distance),
            *_long_hint(first.alpha, pairs),
        ),
    )
