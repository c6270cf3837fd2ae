"""Answers about the true delta, as data for a JSON answer and as a report for a person."""

from __future__ import annotations

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.delta import DeltaAnswer, DeltaBound
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.privacy.event import ACCEPT, Event
from bisimdist.report.numbers import at_least, at_most, is_long, short_rational
from bisimdist.report.tables import Report

__all__ = ["delta_data", "delta_report", "level_of"]

MAX_LINES = 20
"""How many situations of a strategy a person is shown."""

ENDINGS = {
    Status.BRACKET: "The bounds are certified and as close as was asked; the interval has not closed.",
    Status.LIMIT: "A limit ended the work before the interval was as narrow as asked; it is certified.",
}


def delta_data(answer: DeltaAnswer) -> dict[str, object]:
    """Return the bounds of all pairs as plain data."""
    return {
        "pairs": [
            {
                "from": pair.source,
                "to": pair.target,
                "lower": format_rational(pair.lower),
                "upper": format_rational(pair.upper),
                "exact": pair.exact,
                "witness": pair.witness.data(),
                **_directions(pair),
                **({} if pair.cut is None else {"cut": [format_rational(mass) for mass in pair.cut]}),
            }
            for pair in answer.pairs
        ],
        "worst": {
            "from": answer.worst.source,
            "to": answer.worst.target,
            "lower": format_rational(answer.lower),
            "upper": format_rational(answer.upper),
        },
        "status": answer.status.value,
        "statistics": dict(answer.statistics),
    }


def _directions(pair: DeltaBound) -> dict[str, object]:
    """Return what is gained in each direction, where somebody asks."""
    if not pair.interactive:
        return {}
    return {"directions": [list(map(format_rational, way)) for way in pair.directions]}


def delta_report(answer: DeltaAnswer, *, epsilon: str | None = None) -> Report:
    """Return an answer as a report that says what it means.

    Parameters
    ----------
    answer
        The answer.
    epsilon
        What was asked instead of alpha, where it was.
    """
    exact = all(pair.exact for pair in answer.pairs)
    if exact:
        columns: tuple[str, ...] = ("from", "to", "delta (exact)")
        rows: tuple[tuple[str, ...], ...] = tuple(
            (pair.source, pair.target, at_most(pair.upper)) for pair in answer.pairs
        )
    else:
        columns = ("from", "to", "lower bound", "upper bound", "exact")
        rows = tuple(
            (
                pair.source,
                pair.target,
                at_least(pair.lower),
                at_most(pair.upper),
                "yes" if pair.exact else "no",
            )
            for pair in answer.pairs
        )
    remarks = [_meaning(answer, epsilon), *_witness(answer.worst), *_cut(answer.worst)]
    if answer.status in ENDINGS:
        remarks.append(ENDINGS[answer.status])
    if any(is_long(pair.upper) or is_long(pair.lower) for pair in answer.pairs):
        remarks.append("Long rationals are shown rounded in the safe direction; --json gives them in full.")
    return Report(heading=_heading(answer, epsilon), columns=columns, rows=rows, remarks=tuple(remarks))


def _heading(answer: DeltaAnswer, epsilon: str | None) -> str:
    if epsilon is None:
        return f"the true delta at alpha = {short_rational(answer.alpha_upper)}"
    return f"the true delta at epsilon = {epsilon} (alpha rounded outwards)"


def level_of(alpha: fmpq, epsilon: str | None) -> tuple[str, str]:
    """Return how epsilon is called, and what is said of its size: of alpha, or as it was given."""
    if epsilon is not None:
        return epsilon, ""
    if alpha == 1:
        return "0", ""
    level = "ln(alpha)" if is_long(alpha) else f"ln({short_rational(alpha)})"
    return level, f", where {level} <= {log_enclosure(alpha)[1]}"


def _meaning(answer: DeltaAnswer, epsilon: str | None) -> str:
    level, value = level_of(answer.alpha_upper, epsilon)
    worst = answer.worst
    where = f"for the pair ({worst.source}, {worst.target})"
    if len(answer.pairs) > 1:
        where = f"for all {len(answer.pairs)} pairs, the worst of which is ({worst.source}, {worst.target}),"
    amount = at_most(worst.upper).removeprefix("<= ")
    return f"The model is ({level}, delta)-differentially private {where} with delta <= {amount}{value}."


def _witness(worst: DeltaBound) -> list[str]:
    """Say what the event behind a lower bound is."""
    if worst.lower == 0:
        return []
    found = worst.witness
    count = found.event.traces()
    size = f"{len(found.event.nodes)} nodes"
    if count is not None:
        size += f", {_sequences(count)}"
    return [
        f"No smaller delta than the lower bound would do: an event ({size}) has probability "
        f"{at_least(found.probability_from)} from {found.source} and only {at_most(found.probability_to)} "
        f"from {found.target}.",
        *strategy_lines(found.event),
    ]


def strategy_lines(event: Event) -> list[str]:
    """Say what an analyst asks after which answers, and where it is convinced."""
    if not event.asks:
        return []
    lines = [f"What is asked ({len(event.nodes) - 1} situations):"]
    for number, (action, targets) in enumerate(zip(event.asks, event.nodes, strict=True)):
        if number > MAX_LINES:
            return [*lines, "  ... --json gives the rest"]
        after = ", ".join(
            f"{label} -> {'convinced' if target == ACCEPT else f'({target})'}"
            for label, target in targets.items()
        )
        lines.append(f"  start: {after}" if action is None else f"  ({number}) ask {action}: {after}")
    return lines


def _cut(worst: DeltaBound) -> list[str]:
    """Say what runs that were cut off weigh."""
    if worst.cut is None or not any(worst.cut):
        return []
    masses = " and ".join(at_most(mass) for mass in worst.cut)
    return [f"Runs are cut off with probabilities {masses}; the bounds allow for whatever they would do."]


def _sequences(count: int) -> str:
    if count == 1:
        return "1 sequence of labels"
    return f"{count if count < 10**9 else 'over 10^9'} sequences of labels"
