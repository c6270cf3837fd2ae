"""Comparisons of all distances, as data for a JSON answer and as a report for a person."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from bisimdist.analysis.compare import Comparison, Measure, Relation
from bisimdist.exact.rational import format_rational
from bisimdist.report.numbers import at_least, at_most, is_long, short_rational
from bisimdist.report.tables import Report

__all__ = ["compare_data", "compare_report"]

TITLES = {
    "delta": "delta, the truth",
    "lbd_quotient": "lbd of the quotient",
    "lbd": "lbd",
    "greatest": "greatest solution",
    "bd_quotient": "bd of the quotient",
    "bd": "bd",
}


def compare_data(found: Comparison) -> dict[str, object]:
    """Return a comparison as plain data."""
    return {
        "from": found.source,
        "to": found.target,
        "measures": [_measure(measure) for measure in found.measures],
        "order": [
            {"smaller": s.smaller, "larger": s.larger, "relation": s.relation.value}
            for s in found.standings()
        ],
        "left_out": dict(found.left_out),
        "violated": found.violated,
    }


def _measure(measure: Measure) -> dict[str, object]:
    data: dict[str, object] = {
        "name": measure.name,
        "lower": format_rational(measure.lower),
        "upper": format_rational(measure.upper),
        "exact": measure.exact,
    }
    if measure.directions is not None:
        data["directions"] = [
            {"lower": format_rational(low), "upper": format_rational(high)}
            for low, high in measure.directions
        ]
    return data


def compare_report(comparisons: Sequence[Comparison], alpha: fmpq) -> Report:
    """Return comparisons as one table, smaller measures first."""
    rows: list[tuple[str, ...]] = []
    remarks: list[str] = []
    for found in comparisons:
        where = f"{found.source}, {found.target}"
        rows.extend((where, *_row(measure)) for measure in found.measures)
        by_relation = {
            relation: [s for s in found.standings() if s.relation is relation] for relation in Relation
        }
        strict = [f"{TITLES[s.smaller]} < {TITLES[s.larger]}" for s in by_relation[Relation.LESS]]
        remarks.append(
            f"({where}) {'strictly: ' + '; '.join(strict) if strict else 'no strict gap is proved'}."
        )
        remarks.extend(
            f"({where}) ERROR of this program: {TITLES[s.smaller]} is above {TITLES[s.larger]}."
            for s in by_relation[Relation.VIOLATED]
        )
        remarks.extend(f"({where}) {TITLES[name]} was left out: {why}." for name, why in found.left_out)
    if any(is_long(value) for c in comparisons for m in c.measures for value in (m.lower, m.upper)):
        remarks.append("Long rationals are shown rounded in the safe direction; --json gives them in full.")
    return Report(
        heading=f"delta and what bounds it, at alpha = {short_rational(alpha)}",
        columns=("pair", "measure", "value", "this direction", "other direction"),
        rows=tuple(rows),
        remarks=tuple(remarks),
    )


def _row(measure: Measure) -> tuple[str, ...]:
    ways = ("", "") if measure.directions is None else tuple(_shown(*way) for way in measure.directions)
    return (TITLES[measure.name], _shown(measure.lower, measure.upper), *ways)


def _shown(lower: fmpq, upper: fmpq) -> str:
    if lower == upper:
        return at_most(upper)
    return f"{at_least(lower)}; {at_most(upper)}"
