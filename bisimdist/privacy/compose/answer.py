"""What composing answers: bounds on delta and on epsilon, the curve, and the proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import at_most, exact_value, short_rational
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.privacy.compose.engine.accountant import (
    FINE_DIGITS,
    LARGEST,
    LEAST,
    Accountant,
    Direction,
    Terms,
)
from bisimdist.privacy.compose.engine.laws import UNKNOWN
from bisimdist.privacy.compose.mechanisms import BOTH, Mechanism, merged
from bisimdist.progress import Limits

SHOWN_DIGITS = 10


def _outwards(low: fmpq, high: fmpq | None, digits: int = SHOWN_DIGITS) -> tuple[str, str]:
    return decimal_below(low, digits)[0], "inf" if high is None else decimal_above(high, digits)[0]


class _Point(Numbers):
    """Bounds somewhere."""

    __slots__ = ()

    def data(self) -> dict[str, str]:
        """Return the point as plain data."""
        return {part.name: exact_value(getattr(self, part.name)) for part in fields(self)}  # type: ignore[arg-type]


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

    def about(self) -> str:
        """Return what the bounds are on."""
        return f"delta at epsilon = {format_rational(self.epsilon)}"


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

    def about(self) -> str:
        """Return what the bounds are on."""
        return f"epsilon at delta = {decimal_above(self.delta, SHOWN_DIGITS)[0]}"


@dataclass(frozen=True, slots=True)
class NoEpsilon(EpsilonPoint):
    """A delta of which no epsilon is known: it may be infinite."""

    lower: Exact = field(default=Exact(0))
    upper: Exact = None  # type: ignore[assignment]


Point = DeltaPoint | EpsilonPoint


@dataclass(kw_only=True)
class Composition(Shown):
    """A list of independent mechanisms, of which delta and epsilon are bounded on both sides.

    Parameters
    ----------
    entries
        The list.
    relation
        The neighbouring relation.
    width
        How far apart the bounds may be, relative to them.
    limits
        When to stop with the bounds that are proved, and whom to tell.
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
    relation: str
    width: Exact
    limits: Limits = field(repr=False, compare=False)
    points: tuple[Point, ...] = ()
    missing: tuple[str, ...] = ()
    accountant: Accountant = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found, names = merged(self.entries), BOTH.get(self.relation, (self.relation,))
        if all(mechanism.back is None for mechanism in found):
            names = names[:1]
        terms = Terms(fmpq(self.width), self.limits)
        sides = [Direction(name, [one.losses(name) for one in found], terms) for name in names]
        self.accountant = Accountant(sides, terms)

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be known of the bounds."""
        found: list[str] = []
        for one in self.entries:
            ((kind, about),) = one.spec.items()
            if one.laws[1] is UNKNOWN:
                found.append(f"Of one {kind} an upper bound alone is known: from below it counts as none.")
            elif one.laws[1] is not one.laws[0]:
                found.append(f"Of {kind} both sides are about different laws: they need not come together.")
            while "of" in about:
                about = next(iter(about["of"].values()))
            if "cut" in about:
                masses = " and ".join(at_most(to_fmpq(mass)) for mass in about["cut"])
                found.append(f"Runs are cut off with probabilities {masses}, which keep the bounds apart.")
        return tuple(dict.fromkeys([*found, *self.missing]))

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
            if not 0 <= value <= LARGEST:
                raise UsageError(f"epsilon is {short_rational(value)}; expected a number from 0 to {LARGEST}")
        pairs = zip(values, self.accountant.deltas(values), strict=True)
        found = [DeltaPoint(Exact(at), *self._rounded(*both)) for at, both in pairs]
        self.points += tuple(found)
        return found

    def _rounded(self, low: fmpq, high: fmpq) -> tuple[Exact, Exact]:
        """Return bounds on delta in few digits, rounded outwards: another's rounding may differ."""
        on_grids = any(side.tapes for side in self.accountant.sides)
        digits = self.accountant.terms.relative if on_grids else FINE_DIGITS
        part = fmpq(1, 10**digits)
        if 0 < high * (1 + part) < LEAST:
            low, high = fmpq(0), LEAST
        elif low != high or len(str(high)) >= 60:
            low, high = map(to_fmpq, _outwards(low * (1 - part), high * (1 + part), digits + 2))
        return Exact(low), Exact(min(fmpq(1), high))

    def epsilon(self, delta: ExactNumber) -> EpsilonPoint:
        """Return bounds on the least epsilon at which delta is at most this.

        Raises
        ------
        UsageError
            If delta is not from 0 to 1, or no epsilon is enough.
        """
        value = to_fmpq(delta)
        if value and not LEAST <= value <= 1:
            raise UsageError(f"delta is {short_rational(value)}; expected 0, or a number from 10^-700 to 1")
        ends = self.accountant.epsilon(value)
        if ends is None:
            why = "is infinite with a larger probability" if value else "may be larger than any number"
            raise UsageError(f"delta {format_rational(value)}: no epsilon exists, since the loss {why}")
        if not value:  # the sum of the largest losses, which may be irrational
            ends = tuple(map(to_fmpq, _outwards(*ends, FINE_DIGITS)))
        found = EpsilonPoint(Exact(value), *map(Exact, ends))
        self.points += (found,)
        return found

    def without(self, delta: fmpq, why: str) -> None:
        """Take down that no epsilon is known for a delta, which was asked beside others."""
        self.points += (NoEpsilon(Exact(delta)),)
        self.missing += (why,)

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
        last = decimal_above(self.accountant.guess(fmpq(1, 10**10)), 2)[0] if largest is None else largest
        return self.deltas([to_fmpq(last) * k / (points - 1) for k in range(points)])

    def repeated(self, times: int, *, width: ExactNumber = "1/1000") -> Composition:
        """Return the composition of so many runs of the whole list, of which nothing was asked.

        Examples
        --------
        >>> import bisimdist
        >>> bisimdist.compose([{"pure": {"epsilon": "1/10"}}]).repeated(3).epsilon(0).upper
        3/10
        """
        entries = [replace(one, runs=times * one.runs) for one in self.entries]
        return replace(self, entries=entries, width=Exact(to_fmpq(width)), points=())

    @property
    def status(self) -> Status:
        """Whether the bounds are as close as asked."""
        stopped = self.accountant.stopped or self.missing
        exact = all(point.lower == point.upper for point in self.points)
        return Status.LIMIT if stopped else Status.EXACT if exact else Status.BRACKET

    def data(self) -> dict[str, object]:
        """Return all points as plain data."""
        return said(self, "relation points status notes?")

    def csv(self) -> str:
        """Return the points as CSV: decimals rounded outwards, and the exact numbers."""
        rows = ["given,at,at_least,at_most,lower,upper\n"]
        for point in self.points:
            name, at, *exact = (next(iter(point.data())), *point.data().values())
            rows.append(",".join((name, at, *_outwards(point.lower, point.upper), *exact)) + "\n")
        return "".join(rows)

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
        rows = tuple((point.about(), *_outwards(point.lower, point.upper)) for point in self.points)
        runs = sum(mechanism.runs for mechanism in self.entries)
        stopped = "A limit ended the work before the bounds were as close as asked; they are proved."
        return Report(
            heading=f"composition of {runs} mechanism{'s' * (runs > 1)}, neighbours: {self.relation}",
            columns=("", "at least", "at most"),
            rows=rows,
            remarks=(*self.notes, *([stopped] if self.accountant.stopped else [])),
        )
