"""A privacy profile: its points, what lies between them, and how they are shown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.number import Exact
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.exact.scale import Bounded
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import at_least, at_most, short_rational
from bisimdist.faces.shown.plain import plain, said
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.models.kinds import StateModel
from bisimdist.privacy.engine.losses import LossDistribution

if TYPE_CHECKING:
    from bisimdist.privacy.profile.concentrated import Concentrated
    from bisimdist.privacy.profile.renyi_curve import RenyiCurve
    from bisimdist.privacy.profile.threshold_search import LeastAlpha

DIGITS = 10
FOLLOWS = {"renyi": "from Rényi", "zcdp": "from rho"}


@dataclass(frozen=True, slots=True)
class ProfilePoint(Bounded):
    """Bounds on the delta of the model at one alpha; epsilon is its logarithm.

    Parameters
    ----------
    alpha
        Where.
    lower, upper
        Proved bounds on delta there.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.profile(chain, alphas=["5/4"]).points[0].upper
    1/10
    """

    alpha: Exact
    lower: Exact
    upper: Exact

    def data(self) -> dict[str, object]:
        """Return the point as plain data."""
        return {
            **said(self, "alpha"),
            "epsilon": list(log_enclosure(self.alpha, DIGITS)),
            **said(self, "lower upper exact"),
        }


@dataclass(frozen=True, kw_only=True)
class ProfileAnswer(Shown):
    """The privacy profile of a chain over all pairs in question.

    Parameters
    ----------
    model
        The chain.
    pairs
        The pairs of names.
    points
        Bounds, by ascending alpha.
    status
        How the work ended: exact where all points are.
    losses
        By pair the exact losses, where they are finitely many: then delta is known for every alpha.
    runs
        How many independent runs the answer is about.
    renyi
        Rényi divergences, where they were asked for.
    concentrated
        What zero-concentrated privacy follows from them.
    least
        Where delta falls to a threshold, if that was asked.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> answer = bisimdist.profile(chain, points=3)
    >>> answer.upper_at("5/4")
    11690203/116279980
    """

    command = "profile"

    model: StateModel
    pairs: tuple[tuple[str, str], ...]
    points: tuple[ProfilePoint, ...]
    status: Status
    losses: tuple[LossDistribution, ...] | None = field(default=None, compare=False)
    runs: int = 1
    renyi: RenyiCurve | None = None
    concentrated: Concentrated | None = None
    least: LeastAlpha | None = None

    def upper_at(self, alpha: ExactNumber) -> Exact:
        """Return an upper bound on delta at any alpha: delta is convex and does not increase.

        Raises
        ------
        UsageError
            If alpha is below the first point.
        """
        value = to_fmpq(alpha)
        before = [point for point in self.points if point.alpha <= value]
        after = [point for point in self.points if point.alpha > value]
        if not before:
            raise UsageError(f"the profile begins at alpha = {format_rational(self.points[0].alpha)}")
        if not after:
            return before[-1].upper
        left, right = before[-1], after[0]
        part = (value - left.alpha) / (right.alpha - left.alpha)
        return Exact(left.upper + part * (right.upper - left.upper))

    def lower_at(self, alpha: ExactNumber) -> Exact:
        """Return a lower bound on delta at any alpha of at least 1.

        Beyond its two points a chord of a convex function lies below it; and delta does not increase.
        """
        value = to_fmpq(alpha)
        best = Exact(0)
        for point in self.points:
            if point.alpha >= value:
                best = max(best, point.lower)
        for left, right in pairwise(self.points):
            for near, far, beyond in (
                (right, left, value >= right.alpha),
                (left, right, value <= left.alpha),
            ):
                if beyond:
                    # the steepest chord that the bounds allow: low where we are near, high where we are far
                    slope = (near.lower - far.upper) / (near.alpha - far.alpha)
                    best = max(best, near.lower + slope * (value - near.alpha))
        return best

    def data(self) -> dict[str, object]:
        """Return the profile as plain data, with exact losses and trade-off curves where there are any."""
        pairs: list[dict[str, object]] = [{"from": source, "to": target} for source, target in self.pairs]
        for entry, losses in zip(pairs, self.losses or (), strict=False):
            entry["losses"] = plain(losses.points)
            entry["trade_off"] = plain(losses.trade_off())
        return {
            "pairs": pairs,
            "runs": self.runs,
            "points": [{**point.data(), **plain(self._from_renyi(point))} for point in self.points],
            "status": self.status.value,
            **({} if self.renyi is None else {"renyi": [point.data() for point in self.renyi.points]}),
            **({} if self.concentrated is None else {"zcdp": self.concentrated.data()}),
            **said(self, "least?"),
        }

    def _from_renyi(self, point: ProfilePoint) -> dict[str, fmpq]:
        """Return by name the bounds on delta that follow from what else was asked for."""
        found = {}
        if self.renyi is not None:
            bound = self.renyi.delta_upper(point.alpha)
            found["renyi"] = fmpq(1) if bound is None else bound
        if self.concentrated is not None:
            found["zcdp"] = self.concentrated.delta_upper(point.alpha)
        return found

    def plot(
        self, *, logarithmic: bool = False, trade_off: bool = False, kinks: bool = False, named: str = ""
    ) -> Any:
        """Draw the profile, and beside it, where asked for, the trade-off curve.

        Parameters
        ----------
        logarithmic
            Whether both axes are logarithmic.
        trade_off
            Whether the trade-off (f-DP) curve is drawn too.
        kinks
            Whether the kinks of an exact curve are marked.
        named
            What to call the model; by default the pair stands for it.

        Returns
        -------
        matplotlib.figure.Figure
            The picture.

        Raises
        ------
        UsageError
            If matplotlib is not installed.
        """
        from bisimdist.privacy.profile.page import profile_figure  # noqa: PLC0415  (it knows profiles)

        return profile_figure(self, logarithmic=logarithmic, trade_off=trade_off, kinks=kinks, named=named)

    def to_dp_accounting(
        self, pair: int = 0, *, pessimistic: bool = True, discretisation: float = 1e-4
    ) -> Any:
        """Return the losses of a pair as a privacy loss distribution of dp_accounting, both directions.

        Parameters
        ----------
        pair
            Which pair, by its place.
        pessimistic
            Whether losses are rounded up to the grid, for upper bounds on delta; else down.
        discretisation
            The width of the grid.

        Returns
        -------
        dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
            In doubles.

        Raises
        ------
        UsageError
            If the losses are not finitely many, or dp_accounting is not installed.
        """
        from bisimdist.privacy.engine.accounting import to_dp_accounting  # noqa: PLC0415

        if self.losses is None:
            raise UsageError("the losses are not finitely many; there is nothing to hand over")
        return to_dp_accounting(self.losses[pair], pessimistic=pessimistic, discretisation=discretisation)

    def csv(self) -> str:
        """Return the points as CSV: decimals rounded in the safe direction, and the exact rationals."""
        drawn = io.StringIO()
        writer = csv.writer(drawn, lineterminator="\n")
        more = self._from_renyi(self.points[0])
        writer.writerow(
            ("epsilon_below", "epsilon_above", "delta_lower", "delta_upper", "alpha", "lower", "upper", *more)
        )
        for point in self.points:
            writer.writerow(
                (
                    *log_enclosure(point.alpha, DIGITS),
                    decimal_below(point.lower, DIGITS)[0],
                    decimal_above(point.upper, DIGITS)[0],
                    format_rational(point.alpha),
                    format_rational(point.lower),
                    format_rational(point.upper),
                    *map(format_rational, self._from_renyi(point).values()),
                )
            )
        return drawn.getvalue()

    def report(self) -> Report:
        exact = all(point.exact for point in self.points)
        rows = []
        for point in self.points:
            shown = "0" if point.alpha == 1 else f">= {log_enclosure(point.alpha)[0]}"
            bounds = (at_most(point.upper),) if exact else (at_least(point.lower), at_most(point.upper))
            follows = map(at_most, self._from_renyi(point).values())
            rows.append((shown, short_rational(point.alpha), *bounds, *follows))
        what = "the largest delta of the pairs" if len(self.pairs) > 1 else "delta"
        runs = f" of {self.runs} runs" if self.runs > 1 else ""
        return Report(
            heading=f"privacy profile{runs}: {what} as a function of epsilon = ln(alpha)",
            columns=(
                "epsilon",
                "alpha",
                *(("delta (exact)",) if exact else ("lower bound", "upper bound")),
                *(FOLLOWS[name] for name in self._from_renyi(self.points[0])),
            ),
            rows=tuple(rows),
            remarks=tuple(self._remarks()),
        )

    def _remarks(self) -> Iterator[str]:
        if self.renyi is not None:
            orders = ", ".join(
                f"{point.order}: {' to '.join(point.divergence)}" for point in self.renyi.points
            )
            yield (
                f"Rényi's divergence by order is {orders}; delta is at most what follows from the best of "
                "them."
            )
        if self.concentrated is not None:
            yield str(self.concentrated)
        if self.losses is not None:
            count = sum(len(losses.points) for losses in self.losses)
            yield (
                f"The losses are finitely many ({count} likelihood ratios): "
                "delta is known exactly for every epsilon."
            )
        if self.status is Status.LIMIT:
            yield "A limit ended the work before all points were as exact as asked; all bounds are certified."
        if self.least is not None:
            yield str(self.least)
