"""Cross-checks as a person reads them, and as JSON."""

from __future__ import annotations

from bisimdist.analysis.crosscheck import CheckedPair, CrosscheckAnswer
from bisimdist.analysis.crosscheck_measures import MEASURES
from bisimdist.analysis.standing import Measure, Relation, Scale, Standing
from bisimdist.exact.decimals import decimal_below
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.fixpoint.liftings import Value
from bisimdist.report.numbers import at_most, interval, short_rational
from bisimdist.report.tables import Report

__all__ = [
    "crosscheck_data",
    "crosscheck_report",
    "decimals",
    "gap_text",
    "left_out_text",
    "symbol",
    "value_text",
]

SHORT, DIGITS = 12, 4
"""How long the number of a gap may be, and what is left of it otherwise."""
EXPECTED = ("d_half", "d_plus")
"""A gap that is there on every model, and says nothing."""
SIGNS = {Relation.EQUAL: "=", Relation.LESS: "<", Relation.AT_MOST: "<=", Relation.VIOLATED: "NOT <="}


def crosscheck_data(answer: CrosscheckAnswer) -> dict[str, object]:
    """Return an answer as plain data."""
    return {
        "alpha": format_rational(answer.alpha),
        "length": answer.length,
        "pairs": [_pair_data(pair) for pair in answer.pairs],
        "violated": answer.violated,
        "interrupted": answer.interrupted,
    }


def _pair_data(pair: CheckedPair) -> dict[str, object]:
    return {
        "from": pair.source,
        "to": pair.target,
        "facts": sorted(pair.facts),
        "measures": [_measure_data(measure) for measure in pair.measures],
        "order": [_standing_data(standing) for standing in pair.standings()],
        "left_out": dict(pair.left_out),
        "errors": list(pair.errors),
        "violated": pair.violated,
    }


def _exact_text(value: Value) -> str:
    return "inf" if value is None else format_rational(value)


def _measure_data(measure: Measure) -> dict[str, object]:
    data: dict[str, object] = {
        "name": measure.name,
        "scale": measure.scale.value,
        "lower": _exact_text(measure.lower),
        "upper": _exact_text(measure.upper),
        "exact": measure.exact,
    }
    if measure.scale is Scale.RATIO:
        data["epsilon"] = list(decimals(measure))
    if measure.directions is not None:
        data["directions"] = [
            {"lower": _exact_text(low), "upper": _exact_text(high)} for low, high in measure.directions
        ]
    if measure.note:
        data["note"] = measure.note
    return data


def _standing_data(standing: Standing) -> dict[str, object]:
    data: dict[str, object] = {
        "smaller": standing.smaller,
        "larger": standing.larger,
        "relation": standing.relation.value,
        "reason": standing.reason,
    }
    if not standing.direct:
        data["compared"] = [standing.below or standing.smaller, standing.above or standing.larger]
    return data


def decimals(measure: Measure) -> tuple[str, str]:
    """Return decimals below and above the logarithm of a ratio.

    Examples
    --------
    >>> from flint import fmpq
    >>> decimals(Measure("m_D", fmpq(2), None, scale=Scale.RATIO))
    ('0.69314', 'inf')
    """
    below = "inf" if measure.lower is None else log_enclosure(measure.lower)[0]
    above = "inf" if measure.upper is None else log_enclosure(measure.upper)[1]
    return below, above


def symbol(name: str, answer: CrosscheckAnswer) -> str:
    """Return the short name of a measure."""
    info = MEASURES.get(name)
    return name if info is None else info.symbol.format(K=answer.length, alpha=short_rational(answer.alpha))


def value_text(measure: Measure) -> str:
    """Return the bounds of a measure for a person, every rounding in the safe direction.

    Examples
    --------
    >>> from flint import fmpq
    >>> value_text(Measure("m_D", fmpq(2), None, scale=Scale.RATIO))
    '2 to inf'
    >>> value_text(Measure("bd", fmpq(1, 5), fmpq(1, 5)))
    '1/5 = 0.2'
    """
    if measure.scale is Scale.KERNEL and measure.exact:
        return "yes" if measure.upper == 1 else "no"
    if measure.exact:
        return "inf" if measure.upper is None else at_most(measure.upper)
    return interval(measure.lower, measure.upper)


def gap_text(smaller: Measure, larger: Measure) -> str:
    """Return how far two measures are apart at least: a factor for ratios, a difference otherwise.

    A long number is rounded down.

    Examples
    --------
    >>> from flint import fmpq
    >>> half, fifth = fmpq(1, 2), fmpq(1, 5)
    >>> gap_text(Measure("delta", fifth, fifth), Measure("bd", half, half))
    '+ 3/10'
    """
    low, high = smaller.upper, larger.lower
    if low is None or high is None:
        return "up to infinity"
    gap, sign = (high / low, "x") if smaller.scale is Scale.RATIO else (high - low, "+")
    text = format_rational(gap)
    return f"{sign} {text if len(text) <= SHORT else decimal_below(gap, DIGITS)[0]}"


def left_out_text(pair: CheckedPair, answer: CrosscheckAnswer) -> tuple[str, ...]:
    """Return what was left out, one line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in pair.left_out:
        by_reason.setdefault(reason, []).append(symbol(name, answer))
    return tuple(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())


def crosscheck_report(answer: CrosscheckAnswer) -> Report:
    """Return the report on an answer: one table, what must be smaller first."""
    rows: list[tuple[str, ...]] = []
    remarks: list[str] = []
    alone = len(answer.pairs) == 1
    for pair in answer.pairs:
        where = f"({pair.source}, {pair.target})"
        rows += [((() if alone else (where,)) + _row(measure, pair, answer)) for measure in pair.measures]
        remarks += [("" if alone else f"{where} ") + text for text in _remarks(pair, answer)]
    if answer.interrupted:
        remarks.append("The work was interrupted: the table shows what was known by then.")
    remarks.append("What each measure is: the page that --html FILE writes says it beside its value.")
    of = f" for ({answer.pairs[0].source}, {answer.pairs[0].target})" if alone else ""
    setting = f"alpha = {short_rational(answer.alpha)}, K = {answer.length}"
    return Report(
        heading=f"everything against everything{of}, {setting}",
        columns=(*(() if alone else ("pair",)), "measure", "value", "ln", "stands"),
        rows=tuple(rows),
        remarks=tuple(remarks),
    )


def _remarks(pair: CheckedPair, answer: CrosscheckAnswer) -> list[str]:
    known = {measure.name: measure for measure in pair.measures}
    standings = pair.standings()
    strict = [
        s for s in standings if s.direct and s.relation is Relation.LESS and (s.smaller, s.larger) != EXPECTED
    ]
    found = []
    for standing in strict:
        low, high = known[standing.smaller], known[standing.larger]
        gap = gap_text(low, high)
        found.append(f"gap: {symbol(low.name, answer)} < {symbol(high.name, answer)} ({gap})")
    found += [f"ERROR of this program: {text}." for text in pair.errors]
    found += [f"left out: {text}" for text in left_out_text(pair, answer)]
    kept = sum(standing.relation is not Relation.VIOLATED for standing in standings)
    links = sum(not standing.direct for standing in standings)
    gaps = f"{len(strict)} strict gap{'' if len(strict) == 1 else 's'}"
    found.append(f"{kept} of {len(standings)} orders hold, {links} of them between scales; {gaps}.")
    return found


def _row(measure: Measure, pair: CheckedPair, answer: CrosscheckAnswer) -> tuple[str, ...]:
    stands = "; ".join(f"{SIGNS[s.relation]} {symbol(s.larger, answer)}" for s in pair.upward(measure.name))
    logarithm = ""
    if measure.scale is Scale.RATIO:
        low, high = decimals(measure)
        logarithm = low if low == high else f"[{low}, {high}]"
    return symbol(measure.name, answer), value_text(measure), logarithm, stands
