"""The answer of a cross-check: all measures of all pairs, and how they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bisimdist.exact.decimals import decimal_below
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.standing import Measure, Relation, Scale, Standing
from bisimdist.faces.shown.tables import Report
from bisimdist.models.kinds import KnownModel
from bisimdist.privacy.crosscheck.names import MEASURES
from bisimdist.privacy.crosscheck.orders import order_list, standings_of

FAILED = "internal error"
SHORT, DIGITS = 12, 4  # how long the number of a gap may be, and what is left of it otherwise
EXPECTED = ("d_half", "d_plus")  # a gap that is there on every model, and says nothing
SIGNS = {Relation.EQUAL: "=", Relation.LESS: "<", Relation.AT_MOST: "<=", Relation.VIOLATED: "NOT <="}


def gap_text(smaller: Measure, larger: Measure) -> str:
    """Return how far two measures are apart at least: a factor for ratios, a difference otherwise.

    A long number is rounded down.

    >>> half, fifth = Exact(1, 2), Exact(1, 5)
    >>> gap_text(Measure("delta", fifth, fifth), Measure("bd", half, half))
    '+ 3/10'
    """
    low, high = smaller.upper, larger.lower
    if low is None or high is None:
        return "up to infinity"
    gap, sign = (high / low, "x") if smaller.scale is Scale.RATIO else (high - low, "+")
    text = format_rational(gap)
    return f"{sign} {text if len(text) <= SHORT else decimal_below(gap, DIGITS)[0]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPair(Numbers):
    """All measures of a pair, and their order.

    Parameters
    ----------
    source, target
        The names that were asked for.
    facts
        What holds of the pair; see `bisimdist.privacy.crosscheck.subject.Fact`.
    aliases
        Names of measures that are another measure of this pair under a second name.
    measures
        The measures, smaller ones first.
    left_out
        Measures that were not computed, and why.
    alpha
        The skew.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> (pair,) = bisimdist.crosscheck(chain).pairs
    >>> pair.violated, len(pair.measures) > 5
    (False, True)
    """

    source: str
    target: str
    facts: frozenset[str]
    aliases: Mapping[str, str]
    measures: tuple[Measure, ...]
    left_out: tuple[tuple[str, str], ...]
    alpha: Exact

    def standings(self) -> tuple[Standing, ...]:
        """Return how the measures stand, wherever theory says how they have to."""
        known = {measure.name: measure for measure in self.measures}
        return standings_of(known, order_list(self.facts, self.aliases), self.alpha)

    def upward(self, name: str) -> tuple[Standing, ...]:
        """Return how a measure stands to the next larger ones of its scale, every equality told once."""
        direct = [standing for standing in self.standings() if standing.direct]
        both = {(standing.smaller, standing.larger) for standing in direct}
        place = {measure.name: number for number, measure in enumerate(self.measures)}
        return tuple(
            standing
            for standing in direct
            if standing.smaller == name
            and not (
                (standing.larger, name) in both
                and place[standing.larger] < place[name]
                and standing.relation is not Relation.VIOLATED
            )
        )

    @property
    def errors(self) -> tuple[str, ...]:
        """What is violated, in words: every one is an error of this program."""
        found = [
            f"{' is above '.join(standing.compared)}, and must not be: {standing.reason}"
            for standing in self.standings()
            if standing.relation is Relation.VIOLATED
        ]
        found += [
            f"the bounds of {measure.name} contradict each other or its scale"
            for measure in self.measures
            if not measure.possible
        ]
        return tuple(found)

    @property
    def failed(self) -> bool:
        """Whether an engine failed by an error of this program."""
        return any(reason.startswith(FAILED) for _, reason in self.left_out)

    @property
    def violated(self) -> bool:
        """Whether some order is violated, which no model can bring about."""
        return bool(self.errors)

    def data(self) -> dict[str, object]:
        """Return the pair as plain data."""
        return {
            "from": self.source,
            "to": self.target,
            "facts": sorted(self.facts),
            "measures": [measure.data() for measure in self.measures],
            "order": [standing.data() for standing in self.standings()],
            "left_out": dict(self.left_out),
            "errors": list(self.errors),
            "violated": self.violated,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CrosscheckAnswer(Shown):
    """All measures of all pairs.

    Parameters
    ----------
    model
        The model.
    alpha, length
        The skew, and up to which length sequences are enumerated (how many rounds an analyst has).
    pairs
        The answers, in the order in which the pairs were asked.
    interrupted
        Whether somebody stopped the work.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.crosscheck(chain).violated
    False
    """

    command = "crosscheck"

    model: KnownModel
    alpha: Exact
    length: int
    pairs: tuple[CheckedPair, ...]
    interrupted: bool = field(default=False, compare=False)

    @property
    def violated(self) -> bool:
        """Whether some order is violated."""
        return any(pair.violated for pair in self.pairs)

    def symbol(self, name: str) -> str:
        """Return the short name of a measure, with the length and the skew in it."""
        info = MEASURES.get(name)
        return name if info is None else info.symbol.format(K=self.length, alpha=short_rational(self.alpha))

    def left_out(self, pair: CheckedPair) -> tuple[str, ...]:
        """Return what was left out of a pair, one line for each reason."""
        by_reason: dict[str, list[str]] = {}
        for name, reason in pair.left_out:
            by_reason.setdefault(reason, []).append(self.symbol(name))
        return tuple(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())

    def data(self) -> dict[str, object]:
        return {
            "alpha": format_rational(self.alpha),
            "length": self.length,
            "pairs": [pair.data() for pair in self.pairs],
            "violated": self.violated,
            "interrupted": self.interrupted,
        }

    def report(self) -> Report:
        """Return the answer for a person: one table, what must be smaller first."""
        rows: list[tuple[str, ...]] = []
        remarks: list[str] = []
        alone = len(self.pairs) == 1
        for pair in self.pairs:
            where = f"({pair.source}, {pair.target})"
            rows += [((() if alone else (where,)) + self._row(measure, pair)) for measure in pair.measures]
            remarks += [("" if alone else f"{where} ") + text for text in self.remarks(pair)]
        if self.interrupted:
            remarks.append("The work was interrupted: the table shows what was known by then.")
        remarks.append("The page that --html FILE writes explains each measure.")
        of = f" for ({self.pairs[0].source}, {self.pairs[0].target})" if alone else ""
        setting = f"alpha = {short_rational(self.alpha)}, K = {self.length}"
        return Report(
            heading=f"everything against everything{of}, {setting}",
            columns=(*(() if alone else ("pair",)), "measure", "value", "ln", "compared"),
            rows=tuple(rows),
            remarks=tuple(remarks),
        )

    def remarks(self, pair: CheckedPair) -> list[str]:
        """Return what is said of a pair."""
        known = {measure.name: measure for measure in pair.measures}
        standings = pair.standings()
        strict = [
            standing
            for standing in standings
            if standing.direct
            and standing.relation is Relation.LESS
            and (standing.smaller, standing.larger) != EXPECTED
        ]
        found = []
        for standing in strict:
            low, high = known[standing.smaller], known[standing.larger]
            gap = gap_text(low, high)
            found.append(f"gap: {self.symbol(low.name)} < {self.symbol(high.name)} ({gap})")
        found += [f"ERROR of this program: {text}." for text in pair.errors]
        found += [f"left out: {text}" for text in self.left_out(pair)]
        kept = sum(standing.relation is not Relation.VIOLATED for standing in standings)
        links = sum(not standing.direct for standing in standings)
        gaps = f"{len(strict)} strict gap{'' if len(strict) == 1 else 's'}"
        between = f", {links} of them between scales" if links else ""
        found.append(f"{kept} of {len(standings)} orders hold{between}; {gaps}.")
        return found

    def _row(self, measure: Measure, pair: CheckedPair) -> tuple[str, ...]:
        upward = pair.upward(measure.name)
        stands = "; ".join(f"{SIGNS[s.relation]} {self.symbol(s.larger)}" for s in upward)
        return self.symbol(measure.name), str(measure), measure.logarithm, stands
