"""Rényi divergences of a model at several orders, and the bound on delta that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nextafter

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.doubles import from_double
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.faces.shown.answer import Status, common_status
from bisimdist.faces.shown.numbers import exact_value
from bisimdist.models.kinds import AnyModel
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.privacy.leakage.bounds import LeakageBound
from bisimdist.progress import NEVER, Deadline, Progress, silent


@dataclass(frozen=True, slots=True)
class RenyiPoint(Numbers):
    """Bounds on the sum of ``p^b q^(1-b)``, the largest of all pairs and directions; None is infinity."""

    order: int
    lower: Exact | None
    upper: Exact | None
    bound: LeakageBound

    def delta_upper(self, alpha: ExactNumber) -> fmpq | None:
        """Return the bound on delta that follows.

        For all p, q: ``max(0, p - alpha q) <= c p^b q^(1-b)`` with c such that the two touch, which is
        where p/q is alpha b / (b - 1). None where the divergence may be infinite.

        Source: Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
            Proposition 12.
        """
        if self.upper is None:
            return None
        b, value = self.order, to_fmpq(alpha)
        return self.upper / value ** (b - 1) * fmpq(b - 1) ** (b - 1) / fmpq(b) ** b

    @property
    def divergence(self) -> tuple[str, str]:
        """Two decimals around the largest divergence."""
        found = self.bound.enclosure
        return found if found is not None else ("0", "inf")

    def data(self) -> dict[str, object]:
        return {
            "order": self.order,
            "lower": exact_value(self.lower),
            "upper": exact_value(self.upper),
            "divergence": list(self.divergence),
        }


@dataclass(frozen=True, slots=True)
class RenyiCurve:
    """Rényi differential privacy of a model at some orders."""

    points: tuple[RenyiPoint, ...]  # by ascending order
    status: Status  # how the work ended

    def delta_upper(self, alpha: ExactNumber) -> fmpq | None:
        """Return the best bound on delta that follows; None where all orders may be infinite."""
        found = [bound for point in self.points if (bound := point.delta_upper(alpha)) is not None]
        return min((*found, fmpq(1))) if found else None

    def doubles(self) -> tuple[list[float], list[float]]:
        """Return orders and divergences in doubles, rounded up: what dp_accounting calls orders and rdp."""
        orders = [float(point.order) for point in self.points]
        return orders, [_double_above(point.divergence[1]) for point in self.points]


def _double_above(text: str) -> float:
    value = float(text)
    return value if value == inf or to_fmpq(text) <= from_double(value) else nextafter(value, inf)


def renyi_curve(  # noqa: PLR0913
    model: AnyModel,
    orders: Sequence[int],
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    runs: int = 1,
    gap: ExactNumber | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
) -> RenyiCurve:
    """Bound Rényi's divergence of all pairs, in both directions, at several orders.

    orders: integers of at least 2.
    pairs: pairs of names; by default those of the model.
    runs: of so many independent runs: divergences add up.
    gap, deadline, memory, progress: as for `leakage`, of every order.

    >>> from bisimdist.models.library.figure1 import figure1
    >>> curve = renyi_curve(figure1(), [2, 3])
    >>> str(curve.points[0].upper), str(curve.delta_upper("5/4"))
    ('7/6', '176/1215')
    """
    if not orders:
        raise UsageError("there are no orders; expected integers of at least 2")
    points, statuses = [], set()
    for order in sorted(set(orders)):
        answer = leakage(
            model,
            f"renyi:{order}",
            pairs=pairs,
            both=True,
            gap=gap,
            deadline=deadline,
            memory=memory,
            progress=progress,
        )
        statuses.add(answer.status)
        lowers = [bound.lower for bound in answer.pairs]
        largest = None if None in lowers else max(x for x in lowers if x is not None)
        worst = answer.worst
        powers = [None if x is None else x**runs for x in (largest, worst.upper)]
        bound = LeakageBound(
            measure=worst.measure,
            states=worst.states,
            prior=None,
            before=None,
            lower=powers[0],
            upper=powers[1],
        )
        points.append(RenyiPoint(order, powers[0], powers[1], bound))
    return RenyiCurve(tuple(points), common_status(statuses))
