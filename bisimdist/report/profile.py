"""A privacy profile as data, as CSV and as a table for a person."""

from __future__ import annotations

import csv
import io

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.profile import ProfileAnswer, ProfilePoint
from bisimdist.analysis.threshold_search import LeastAlpha
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.report.numbers import at_least, at_most, short_rational
from bisimdist.report.tables import Report

__all__ = ["least_data", "profile_csv", "profile_data", "profile_report"]

DIGITS = 10


def _point(point: ProfilePoint) -> dict[str, object]:
    return {
        "alpha": format_rational(point.alpha),
        "epsilon": list(log_enclosure(point.alpha, DIGITS)),
        "lower": format_rational(point.lower),
        "upper": format_rational(point.upper),
        "exact": point.exact,
    }


def profile_data(answer: ProfileAnswer) -> dict[str, object]:
    """Return a profile as plain data: points, and exact losses and trade-off curves where there are any."""
    data: dict[str, object] = {
        "pairs": [{"from": source, "to": target} for source, target in answer.pairs],
        "runs": answer.runs,
        "points": [{**_point(point), **_from_renyi(answer, point)} for point in answer.points],
        "status": answer.status.value,
    }
    if answer.losses is not None:
        for entry, losses in zip(data["pairs"], answer.losses, strict=True):  # type: ignore[call-overload]
            entry["losses"] = [[format_rational(p), format_rational(q)] for p, q in losses.points]
            entry["trade_off"] = [[format_rational(a), format_rational(b)] for a, b in losses.trade_off()]
    if answer.renyi is not None:
        data["renyi"] = [
            {
                "order": point.order,
                "lower": "inf" if point.lower is None else format_rational(point.lower),
                "upper": "inf" if point.upper is None else format_rational(point.upper),
                "divergence": list(point.divergence),
            }
            for point in answer.renyi.points
        ]
    return data


def _from_renyi(answer: ProfileAnswer, point: ProfilePoint) -> dict[str, str]:
    """Return the bound on delta that follows from Rényi divergences, where they were asked for."""
    if answer.renyi is None:
        return {}
    bound = answer.renyi.delta_upper(point.alpha)
    return {"renyi": "1" if bound is None else format_rational(bound)}


def least_data(least: LeastAlpha) -> dict[str, object]:
    """Return where delta falls to a threshold, as plain data."""

    def shown(alpha: fmpq | None) -> dict[str, object] | None:
        if alpha is None:
            return None
        return {"ratio": format_rational(alpha), "epsilon": list(log_enclosure(alpha, DIGITS))}

    return {
        "threshold": format_rational(least.threshold),
        "not_enough": shown(least.above),
        "enough": shown(least.enough),
        "exact": least.exact,
    }


def profile_csv(answer: ProfileAnswer) -> str:
    """Return a profile as CSV: decimals rounded in the safe direction, and the exact rationals."""
    drawn = io.StringIO()
    writer = csv.writer(drawn, lineterminator="\n")
    more = () if answer.renyi is None else ("renyi",)
    writer.writerow(
        ("epsilon_below", "epsilon_above", "delta_lower", "delta_upper", "alpha", "lower", "upper", *more)
    )
    for point in answer.points:
        writer.writerow(
            (
                *log_enclosure(point.alpha, DIGITS),
                decimal_below(point.lower, DIGITS)[0],
                decimal_above(point.upper, DIGITS)[0],
                format_rational(point.alpha),
                format_rational(point.lower),
                format_rational(point.upper),
                *_from_renyi(answer, point).values(),
            )
        )
    return drawn.getvalue()


def profile_report(answer: ProfileAnswer, least: LeastAlpha | None = None) -> Report:
    """Return a profile as a table."""
    exact = all(point.exact for point in answer.points)
    rows = []
    for point in answer.points:
        epsilon = log_enclosure(point.alpha)[0]
        shown = "0" if point.alpha == 1 else f">= {epsilon}"
        bounds = (at_most(point.upper),) if exact else (at_least(point.lower), at_most(point.upper))
        follows = () if answer.renyi is None else (at_most(answer.renyi.delta_upper(point.alpha) or fmpq(1)),)
        rows.append((shown, short_rational(point.alpha), *bounds, *follows))
    remarks = _orders(answer)
    if answer.losses is not None:
        count = sum(len(losses.points) for losses in answer.losses)
        remarks.append(
            f"The losses are finitely many ({count} likelihood ratios): "
            "delta is known exactly for every epsilon."
        )
    if answer.status is Status.LIMIT:
        remarks.append(
            "A limit ended the work before all points were as exact as asked; all bounds are certified."
        )
    if least is not None:
        remarks.append(_least_sentence(least))
    what = "the largest delta of the pairs" if len(answer.pairs) > 1 else "delta"
    runs = f" of {answer.runs} runs" if answer.runs > 1 else ""
    return Report(
        heading=f"privacy profile{runs}: {what} as a function of epsilon = ln(alpha)",
        columns=(
            "epsilon",
            "alpha",
            *(("delta (exact)",) if exact else ("lower bound", "upper bound")),
            *(() if answer.renyi is None else ("from Rényi",)),
        ),
        rows=tuple(rows),
        remarks=tuple(remarks),
    )


def _orders(answer: ProfileAnswer) -> list[str]:
    """Say what Rényi's divergences are."""
    if answer.renyi is None:
        return []
    orders = ", ".join(f"{point.order}: {' to '.join(point.divergence)}" for point in answer.renyi.points)
    return [f"Rényi's divergence by order is {orders}; delta is at most what follows from the best of them."]


def _least_sentence(least: LeastAlpha) -> str:
    theta = format_rational(least.threshold)
    if least.enough is None:
        if least.exact:
            return f"No epsilon brings delta down to {theta}."
        return f"Which epsilon brings delta down to {theta} was not decided within the limits."
    alpha, upper = short_rational(least.enough), log_enclosure(least.enough)[1]
    if least.exact:
        return f"The least epsilon with delta <= {theta} is ln({alpha}) <= {upper}."
    if least.above is None:
        return f"delta <= {theta} holds for epsilon = ln({alpha}) <= {upper}."
    lower = log_enclosure(least.above)[0]
    return (
        f"The least epsilon with delta <= {theta} lies above {lower} and is at most ln({alpha}) <= {upper}."
    )
