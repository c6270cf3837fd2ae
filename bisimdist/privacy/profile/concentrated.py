"""Zero-concentrated differential privacy: the least rho with D_b <= rho b, certified from both sides.

Rényi's divergences are known at some orders. Between these ln of the sum of ``p^b q^(1-b)`` is convex in b,
so that chords bound it; beyond the last order nothing but the largest likelihood ratio does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p

from flint import arb, fmpq

from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.doubles import from_double
from bisimdist.exact.precision import working_precision
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.privacy.engine.divergence import BITS, logarithm
from bisimdist.privacy.engine.losses import LossDistribution
from bisimdist.privacy.engine.measure import double, dyadic
from bisimdist.privacy.profile.renyi_curve import RenyiCurve

DIGITS = 12
FIRST = fmpq(1, 4096)
STEP = fmpq(17, 16)
"""The orders 1 + u at which finitely many losses are looked at: the first u, and how it grows."""

MOST_LOSSES = 500

_ZERO = fmpq(0)
Point = tuple[fmpq, fmpq, fmpq]  # an order b minus 1, and bounds on ln of the sum of ``p^b q^(1-b)``


@dataclass(frozen=True, slots=True)
class Concentrated:
    """Bounds on rho.

    .. [1] Bun, Steinke, "Concentrated Differential Privacy", TCC 2016, Definition 1.1.
    .. [2] Bun, Dwork, Rothblum, Steinke, "Composable and Versatile Privacy via Truncated CDP", STOC 2018,
       Definition 1.
    """

    lower: fmpq | None  # no smaller rho will do; None where none will, as a divergence is infinite
    # with this rho ``D_b <= rho b`` for all real orders b above 1 up to `order`; None for none
    upper: fmpq | None
    order: fmpq | None  # None for all orders, which is rho-zCDP; otherwise it is truncated

    def delta_upper(self, alpha: ExactNumber) -> fmpq:
        """Return the bound on delta that follows from rho alone, by the best order that it holds for."""
        value, rho = to_fmpq(alpha), self.upper
        if rho is None:
            return fmpq(1)
        if not rho:
            return _ZERO
        u = from_double(self._best(double(rho), log(double(value))))
        with working_precision(BITS):
            exponent = arb(rho * u * (u + 1)) - u * arb(value).log() + u * arb(u).log()
            found = (exponent - (u + 1) * arb(u + 1).log()).exp().upper().fmpq()
        return min(fmpq(1), dyadic(found, up=True))

    def _best(self, rho: float, epsilon: float) -> float:
        """Return about where rho u (u + 1) - epsilon u + u ln u - (u + 1) ln (u + 1) is least."""
        low, high = 1e-9, 1e9 if self.order is None else double(self.order) - 1
        for _ in range(200):
            middle = (low + high) / 2
            if rho * (2 * middle + 1) - epsilon - log1p(1 / middle) < 0:
                low = middle
            else:
                high = middle
        return high

    def data(self) -> dict[str, object]:
        low, high = self.decimals()
        return {"lower": low, "upper": high, "orders": "all" if self.order is None else str(self.order)}

    def decimals(self) -> tuple[str, str]:
        """Return decimals below and above."""
        return (
            "inf" if self.lower is None else decimal_below(self.lower, DIGITS)[0],
            "inf" if self.upper is None else decimal_above(self.upper, DIGITS)[0],
        )

    def __str__(self) -> str:
        low, high = self.decimals()
        if self.upper is None:
            return "The loss is not concentrated as far as is known: no divergence has a bound."
        if self.order is None:
            return f"rho-zCDP holds with rho = {high}, and with none below {low}."
        return (
            f"For orders up to {self.order} Rényi's divergence is at most rho times the order with "
            f"rho = {high} (truncated zCDP; what lies beyond is not bounded), and with no rho below {low}."
        )


def concentrated(curve: RenyiCurve, losses: Sequence[LossDistribution] | None = None) -> Concentrated:
    """Return bounds on rho from Rényi's divergences, and from all losses where these are finitely many.

    >>> from bisimdist.privacy.profile.renyi_curve import renyi_curve
    >>> from bisimdist.models.library.figure1 import figure1
    >>> concentrated(renyi_curve(figure1(), [2, 4])).decimals()
    ('0.0770753399136', '0.154150679828')
    """
    points, largest = [], None
    for point in curve.points:
        if point.upper is not None and point.lower is not None:
            u = fmpq(point.order - 1)
            points.append((u, max(_ZERO, logarithm(point.lower)[0]), logarithm(point.upper)[1]))
    ways = [way.points for pair in losses or () for way in (pair, pair.swapped())]
    infinite = any(point.lower is None for point in curve.points) or any(
        not q for way in ways for _, q in way
    )
    if ways and not infinite and sum(map(len, ways)) <= MOST_LOSSES:
        largest = max(p / q for way in ways for p, q in way)
        points = sorted([*points, *_fine(ways, largest)])
    lower = max((low / (u * (u + 1)) for u, low, _ in points), default=_ZERO)
    if not points:
        return Concentrated(None if infinite else lower, None, None)
    upper = max(
        points[0][2] / points[0][0], *(_steepest(one, other) for one, other in pairwise(points)), _ZERO
    )
    if largest is None:
        return Concentrated(None if infinite else lower, upper, points[-1][0] + 1)
    return Concentrated(lower, max(upper, logarithm(largest)[1] / (points[-1][0] + 1)), None)


def _fine(ways: Sequence[Sequence[tuple[fmpq, fmpq]]], largest: fmpq) -> Iterable[Point]:
    """Yield the sums at many orders, until the largest loss bounds what lies beyond."""
    u, best = FIRST, _ZERO
    while largest > 1:
        with working_precision(BITS):
            sums = [
                sum((p * (u * arb(p / q).log()).exp() for p, q in way if p), arb(0)).log() for way in ways
            ]
            low, high = (max(end(x).fmpq() for x in sums) for end in (arb.lower, arb.upper))
        yield u, max(low, _ZERO), high
        best = max(best, low / (u * (u + 1)))
        if logarithm(largest)[1] <= best * (u + 1):
            return
        u *= STEP


def _steepest(one: Point, other: Point) -> fmpq:
    """Return a bound on (m u + k) / (u (u + 1)) between two points of a chord m u + k."""
    (left, _, low), (right, _, high) = one, other
    m = (high - low) / (right - left)
    k = low - m * left
    ends = max(low / (left * (left + 1)), high / (right * (right + 1)))
    inside = [-m * u * u - 2 * k * u - k for u in (left, right)]  # the sign of the derivative
    if not inside[0] > 0 > inside[1]:
        return ends
    with working_precision(BITS):
        return max(ends, (arb(m - 2 * k) - 2 * arb(k * k - m * k).sqrt()).upper().fmpq())
