"""What composing answers: bounds on delta and on epsilon, the curve, and the proof."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.doubles import as_double
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.privacy.compose.engine.accountant import LEAST, Accountant, Bracket
from bisimdist.privacy.compose.mechanisms import Mechanism

SHOWN_DIGITS = 10
FINE_DIGITS = 24  # how many digits bounds have that rest on no grid


class _Point(Numbers):
    """Bounds somewhere."""

    __slots__ = ()

    def data(self) -> dict[str, object]:
        """Return the point as plain data."""
        return {part.name: format_rational(getattr(self, part.name)) for part in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class DeltaPoint(_Point):
    """Bounds on the delta of a composition at an epsilon.

    Parameters
    ----------
    epsilon
        Where.
    lower, upper
        Proved bounds on delta.

    Examples
    --------
    >>> import bisimdist
    >>> point = bisimdist.compose([{"randomised-response": {"truth": "3/4"}}]).delta(0)
    >>> point.lower, point.upper
    (1/2, 1/2)
    """

    epsilon: Exact
    lower: Exact
    upper: Exact


@dataclass(frozen=True, slots=True)
class EpsilonPoint(_Point):
    """Bounds on the least epsilon at which a composition has a delta.

    Parameters
    ----------
    delta
        The delta.
    lower, upper
        Proved bounds on epsilon.

    Examples
    --------
    >>> import bisimdist
    >>> point = bisimdist.compose([{"pure": {"epsilon": "1/10"}, "times": 3}]).epsilon(0)
    >>> point.lower, point.upper
    (3/10, 3/10)
    """

    delta: Exact
    lower: Exact
    upper: Exact


Point = DeltaPoint | EpsilonPoint


@dataclass(kw_only=True)
class Composition(Shown):
    """A list of independent mechanisms, of which delta and epsilon are bounded on both sides.

    Parameters
    ----------
    entries
        The list.
    mechanisms
        The same in a fixed order: equal mechanisms as one, Gaussians as one.
    relation
        The neighbouring relation.
    width
        How far apart the bounds may be, relative to them.
    points
        What was asked so far.

    Examples
    --------
    >>> import bisimdist
    >>> both = bisimdist.compose([{"gaussian": {"sigma": 10}, "times": 100}])
    >>> f"{both.delta(1).upper:.12f}"
    '0.126936737507'
    >>> f"{both.epsilon('1e-5').lower:.4f}"
    '4.3772'
    """

    command = "compose"

    entries: Sequence[Mechanism]
    mechanisms: Sequence[Mechanism]
    relation: str
    width: Exact
    points: tuple[Point, ...] = ()
    accountant: Accountant = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()

    def delta(self, epsilon: ExactNumber) -> DeltaPoint:
        """Return bounds on delta at an epsilon of at least 0.

        Raises
        ------
        UsageError
            If epsilon is negative.
        """
        return self.deltas([epsilon])[0]

    def deltas(self, epsilons: Sequence[ExactNumber]) -> list[DeltaPoint]:
        """Return bounds on delta at each of some epsilons: one computation for all of them.

        Raises
        ------
        UsageError
            If one is negative.
        """
        values = [to_fmpq(epsilon) for epsilon in epsilons]
        for value in values:
            if value < 0:
                raise UsageError(f"epsilon is {format_rational(value)}; expected at least 0")
        brackets = self.accountant.deltas(values)
        found = [
            DeltaPoint(Exact(value), *self._rounded(bracket))
            for value, bracket in zip(values, brackets, strict=True)
        ]
        self.points += tuple(found)
        return found

    def _rounded(self, bracket: Bracket) -> tuple[Exact, Exact]:
        """Return bounds on delta in few digits, rounded outwards: another's rounding may differ."""
        assert bracket.lower is not None and bracket.upper is not None
        digits = (
            self.accountant.digits
            if any(one.tapes for one in self.accountant.directions.values())
            else FINE_DIGITS
        )
        part = fmpq(1, 10**digits)
        low, high = bracket.lower * (1 - part), bracket.upper * (1 + part)
        if 0 < high < LEAST:
            return Exact(fmpq(0)), Exact(LEAST)
        if bracket.lower == bracket.upper and len(str(bracket.upper)) < 60:
            return Exact(bracket.lower), Exact(bracket.upper)
        low, high = to_fmpq(decimal_below(low, digits + 2)[0]), to_fmpq(decimal_above(high, digits + 2)[0])
        return Exact(low), Exact(min(fmpq(1), high))

    def epsilon(self, delta: ExactNumber) -> EpsilonPoint:
        """Return bounds on the least epsilon at which delta is at most this.

        Raises
        ------
        UsageError
            If delta is not from 0 to 1, or no epsilon is enough.
        """
        value = to_fmpq(delta)
        if not 0 <= value <= 1:
            raise UsageError(f"delta is {format_rational(value)}; expected a number from 0 to 1")
        bracket = self.accountant.epsilon(value)
        if bracket.lower is None or bracket.upper is None:
            why = "is infinite with a larger probability" if value else "may be larger than any number"
            raise UsageError(f"delta {format_rational(value)}: no epsilon exists, since the loss {why}")
        ends = bracket.lower, bracket.upper
        if not value:  # the sum of the largest losses, which may be irrational
            ends = (
                to_fmpq(decimal_below(ends[0], FINE_DIGITS)[0]),
                to_fmpq(decimal_above(ends[1], FINE_DIGITS)[0]),
            )
        found = EpsilonPoint(Exact(value), Exact(ends[0]), Exact(ends[1]))
        self.points += (found,)
        return found

    def curve(self, largest: ExactNumber | None = None, *, points: int = 33) -> list[DeltaPoint]:
        """Return bounds on delta at epsilons from 0 on, evenly spread.

        Parameters
        ----------
        largest
            The last epsilon; by default where delta falls to 1e-10, or to where losses end.
        points
            How many.
        """
        if points < 2:
            raise UsageError(f"{points} points were asked for; expected at least 2")
        last = to_fmpq(self._reach() if largest is None else largest)
        return self.deltas([last * k / (points - 1) for k in range(points)])

    def repeated(self, times: int, *, width: ExactNumber = "1/1000") -> Composition:
        """Return the composition of so many runs of the whole list, of which nothing was asked.

        Examples
        --------
        >>> import bisimdist
        >>> bisimdist.compose([{"pure": {"epsilon": "1/10"}}]).repeated(3).epsilon(0).upper
        3/10
        """
        wide = to_fmpq(width)
        directions = {
            name: replace(
                one,
                losses=[(law, below, times * runs) for law, below, runs in one.losses],
                tapes=[],
                width=as_double(wide),
            )
            for name, one in self.accountant.directions.items()
        }
        more = [replace(one, runs=times * one.runs) for one in self.entries]
        mechanisms = [replace(one, runs=times * one.runs) for one in self.mechanisms]
        return replace(
            self,
            entries=more,
            mechanisms=mechanisms,
            width=Exact(wide),
            points=(),
            accountant=Accountant(directions, wide),
        )

    def _reach(self) -> fmpq:
        bracket = self.accountant.guess(fmpq(1, 10**10))
        return to_fmpq(decimal_above(bracket, 2)[0])

    @property
    def status(self) -> Status:
        """Whether the bounds are as close as asked."""
        if self.accountant.stopped:
            return Status.LIMIT
        return Status.EXACT if all(point.lower == point.upper for point in self.points) else Status.BRACKET

    def data(self) -> dict[str, object]:
        """Return all points as plain data."""
        return {
            "relation": self.relation,
            "points": [point.data() for point in self.points],
            "status": self.status.value,
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    def csv(self) -> str:
        """Return the points as CSV: decimals rounded outwards, and the exact numbers."""
        drawn = io.StringIO()
        writer = csv.writer(drawn, lineterminator="\n")
        writer.writerow(("given", "at", "at_least", "at_most", "lower", "upper"))
        for point in self.points:
            name, at = next(iter(point.data().items()))
            ends = decimal_below(point.lower, SHOWN_DIGITS)[0], decimal_above(point.upper, SHOWN_DIGITS)[0]
            writer.writerow((name, at, *ends, format_rational(point.lower), format_rational(point.upper)))
        return drawn.getvalue()

    def certificate(self) -> dict[str, object]:
        """Return the proof of all that was asked so far, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If nothing was asked, or a mechanism is known by bounds only.
        """
        from bisimdist.privacy.compose.certificate import composition_certificate  # noqa: PLC0415  (it knows answers)

        return composition_certificate(self)

    def plot(self, *, points: int = 33, largest: ExactNumber | None = None) -> Any:
        """Draw delta with both sides, the trade-off function, and delta by runs of the list.

        Where dp_accounting is installed and knows the list, its estimate is drawn too.

        Returns
        -------
        matplotlib.figure.Figure
            The picture.

        Raises
        ------
        UsageError
            If matplotlib is not installed.
        """
        from bisimdist.privacy.compose.page import composition_figure  # noqa: PLC0415  (it knows answers)

        return composition_figure(self, points=points, largest=largest)

    def report(self) -> Report:
        rows = []
        for point in self.points:
            sides = decimal_below(point.lower, SHOWN_DIGITS)[0], decimal_above(point.upper, SHOWN_DIGITS)[0]
            where = (
                f"delta at epsilon = {format_rational(point.epsilon)}"
                if isinstance(point, DeltaPoint)
                else f"epsilon at delta = {decimal_above(point.delta, SHOWN_DIGITS)[0]}"
            )
            rows.append((where, *sides))
        runs = sum(mechanism.runs for mechanism in self.entries)
        remarks = list(self.notes)
        if self.accountant.stopped:
            remarks.append(
                "A limit ended the work before the bounds were as close as asked; they are proved."
            )
        return Report(
            heading=f"composition of {runs} mechanism{'s' * (runs > 1)}, neighbours: {self.relation}",
            columns=("", "at least", "at most"),
            rows=tuple(rows),
            remarks=tuple(remarks),
        )
