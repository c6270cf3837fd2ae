"""What an answer about a leakage says of one pair, or of the secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import arb, fmpq

from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.number import Exact
from bisimdist.exact.precision import working_precision
from bisimdist.exact.scale import Bounded
from bisimdist.faces.shown.numbers import exact_value
from bisimdist.faces.shown.plain import said
from bisimdist.privacy.leakage.measures import LeakageMeasure

DIGITS = 12
BITS = 200


@dataclass(frozen=True, slots=True)
class Unending:
    """Why a measure is infinite."""

    trace: tuple[str, ...]  # labels that lead to where it shows, the first label included
    # labels that lead back there, every time round adding to the measure; empty where only the first state
    # may show the trace
    cycle: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageBound(Bounded):
    """Bounds on a measure.

    Parameters
    ----------
    measure
        The measure.
    states
        The names of the ordered pair, or of the secrets.
    prior
        The probabilities of the secrets; None for a pair.
    before
        For secrets what the best guess gains that is made without seeing a trace.
    lower, upper
        Proved bounds; None is infinity. For Rényi those of the sum of ``p^b q^(1-b)``, for min-entropy those
        of the ratio of vulnerabilities after and before.
    unending
        Why it is infinite, where it is.
    cut
        Of a program whose runs are cut off how likely that is, by world; the bounds allow for it.
    outputs
        What is told apart, all else being alike; None for everything.
    coarser
        Where nothing bounds the measure from above: what is learnt by who tells finitely many outputs apart.
    member
        Where nature has picked one chain for good: the rows that intervals leave open, in the chain behind
        the lower bound.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> (pair,) = bisimdist.leakage(chain, "tv").pairs
    >>> pair.lower, pair.upper
    (1/5, 1/5)
    """

    measure: LeakageMeasure
    states: tuple[str, ...]
    prior: tuple[Exact, ...] | None
    before: Exact | None
    lower: Exact | None
    upper: Exact | None
    unending: Unending | None = None
    cut: tuple[Exact, ...] | None = None
    outputs: tuple[str, ...] | None = None
    coarser: LeakageBound | None = None
    member: Mapping[str, Mapping[str, str]] | None = None

    def data(self) -> dict[str, object]:
        """Return the bounds as plain data."""
        data: dict[str, object] = {}
        if len(self.states) == 2:
            data |= {"from": self.source, "to": self.target}
        if self.prior is not None and self.before is not None:
            data |= {"secrets": list(self.states), **said(self, "prior before")}
        data |= {"measure": self.measure.shown, "exact": self.exact, **self._ends()}
        data |= said(self, "cut?")
        if self.coarser is not None:
            data["coarser"] = {"outputs": list(self.coarser.outputs or ()), **self.coarser._ends()}
        if self.member is not None:
            data["member"] = self.member
        if self.unending is not None:
            data["infinite"] = said(self.unending, "trace cycle")
        return data

    def _ends(self) -> dict[str, object]:
        ends: dict[str, object] = {"lower": exact_value(self.lower), "upper": exact_value(self.upper)}
        return ends if self.enclosure is None else {**ends, "enclosure": list(self.enclosure)}

    @property
    def source(self) -> str:
        """The first state."""
        return self.states[0]

    @property
    def target(self) -> str:
        """The last state."""
        return self.states[-1]

    @property
    def ends(self) -> tuple[str, str]:
        """The ordered pair."""
        return self.source, self.target

    def logarithms(self) -> tuple[fmpq | None, fmpq | None]:
        """Return bounds on the measure where it is a logarithm; it is natural."""
        if self.measure.name == "kl":
            return self.lower, self.upper
        orders = (self.measure.order or 2) - 1
        return (
            None if self.lower is None else max(fmpq(0), _logarithm(self.lower, up=False) / orders),
            None if self.upper is None else _logarithm(self.upper, up=True) / orders,
        )

    @property
    def enclosure(self) -> tuple[str, str] | None:
        """Two decimals around the measure, where it is a logarithm; None where it is none."""
        if not self.measure.logarithmic:
            return None
        low, high = self.logarithms()
        return (
            "inf" if low is None else decimal_below(low, DIGITS)[0],
            "inf" if high is None else decimal_above(high, DIGITS)[0],
        )


def _logarithm(value: fmpq, *, up: bool) -> fmpq:
    if value == 1:
        return fmpq(0)
    with working_precision(BITS):
        ball = arb(value).log()
        return ball.upper().fmpq() if up else ball.lower().fmpq()
