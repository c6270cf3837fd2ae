"""Bounds on deltas and distances for a person: their table, and what they are bounds at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from flint import fmpq

from bisimdist.exact.logarithm import log_enclosure
from bisimdist.faces.shown.numbers import at_least, at_most, is_long, short_rational
from bisimdist.faces.shown.tables import Report
from bisimdist.verdicts import Settled, joint, verdict_word


def bounds_table(
    name: str, bounds: Sequence[tuple[str, str, fmpq, fmpq]]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the heads and rows of two names with a lower and an upper bound each; of one column if exact.

    >>> bounds_table("delta", [("s", "t", fmpq(1, 2), fmpq(1, 2))])
    (('from', 'to', 'delta (exact)'), (('s', 't', '1/2 = 0.5'),))
    """
    if all(lower == upper for *_, lower, upper in bounds):
        return ("from", "to", f"{name} (exact)"), tuple((*who, at_most(upper)) for *who, _, upper in bounds)
    return ("from", "to", "lower bound", "upper bound", "exact"), tuple(
        (*who, at_least(lower), at_most(upper), "yes" if lower == upper else "no")
        for *who, lower, upper in bounds
    )


def decided(report: Report, threshold: fmpq, verdicts: Sequence[Settled]) -> Report:
    """Return a report of bounds, a row for each, with what they say about a threshold."""
    return replace(
        report,
        heading=f"{report.heading}: at most {short_rational(threshold)}?",
        columns=(*report.columns, "verdict"),
        rows=tuple(
            (*row, verdict_word(verdict)) for row, verdict in zip(report.rows, verdicts, strict=False)
        ),  # there may be more verdicts than rows
    )


def decided_data(data: dict[str, Any], threshold: fmpq, verdicts: Sequence[Settled]) -> dict[str, object]:
    """Return a JSON object with the verdicts, which stand before its pairs and at the end of each."""
    words = [verdict_word(verdict) for verdict in verdicts]
    pairs = [{**pair, "verdict": word} for pair, word in zip(data["pairs"], words, strict=True)]
    said = {"threshold": str(threshold), "verdict": verdict_word(joint(verdicts)), "pairs": pairs}
    before = dict(takewhile(lambda field: field[0] != "pairs", data.items()))
    return {**before, **said, **{name: value for name, value in data.items() if name != "pairs"}}


def long_hint(numbers: Iterable[fmpq]) -> tuple[str, ...]:
    """Return what has to be said where some number is too long to be shown in full."""
    if any(map(is_long, numbers)):
        return ("Long rationals are shown rounded in the safe direction; --json gives them in full.",)
    return ()


def privacy_level(alpha: fmpq, epsilon: str | None) -> tuple[str, str]:
    """Return how epsilon is called, and what is said of its size: of alpha, or as it was given."""
    if epsilon is not None:
        return epsilon, ""
    if alpha == 1:
        return "0", ""
    level = "ln(alpha)" if is_long(alpha) else f"ln({short_rational(alpha)})"
    return level, f"; epsilon = {level} <= {log_enclosure(alpha)[1]}"
