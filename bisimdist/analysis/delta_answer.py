"""Answers about the true delta: bounds for each pair, the event behind the lower one, and the proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, Protocol

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.rational import format_rational
from bisimdist.models.interactive import Interactive, System
from bisimdist.privacy.event import Event

__all__ = ["DeltaAnswer", "DeltaBound", "WitnessEvent"]

DIGITS = 10
MAX_ROWS = 200
"""How many pairs a page shows; it says how many it leaves out."""


class DeltaWork(Protocol):
    """What an answer rests on."""

    @property
    def model(self) -> System:
        """Return the model that was asked about."""

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        """Return the event behind a lower bound."""

    def directions(self, bound: DeltaBound) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        """Return bounds on what is gained in each direction."""

    def certificate(self, answer: DeltaAnswer) -> dict[str, object]:
        """Return the proof of all bounds."""


@dataclass(frozen=True)
class WitnessEvent:
    """An event of traces that gains at least a lower bound: ``probability_from - alpha probability_to``.

    Parameters
    ----------
    source, target
        The direction: the event is more likely from `source`.
    event
        The event, as an automaton that reads labels.
    probability_from, probability_to
        Its probabilities from the two states.
    """

    source: str
    target: str
    event: Event
    probability_from: fmpq
    probability_to: fmpq

    def data(self) -> dict[str, object]:
        """Return the witness as plain data."""
        return {
            "from": self.source,
            "to": self.target,
            "probabilities": [format_rational(self.probability_from), format_rational(self.probability_to)],
            "event": self.event.data(),
        }


@dataclass(frozen=True)
class DeltaBound:
    """Bounds on the delta of a pair.

    Parameters
    ----------
    source, target
        The names of the states.
    lower, upper
        Proved bounds, ``0 <= lower <= upper <= 1``.
    cut
        Of a program whose runs are cut off the exact probabilities of that; the bounds allow for it.
    """

    source: str
    target: str
    lower: fmpq
    upper: fmpq
    cut: tuple[fmpq, fmpq] | None = field(default=None, kw_only=True)
    _work: DeltaWork = field(repr=False, compare=False)
    _question: Any = field(repr=False, compare=False)

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return bool(self.lower == self.upper)

    @property
    def interactive(self) -> bool:
        """Whether somebody asks."""
        return isinstance(self._work.model, Interactive)

    @property
    def directions(self) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        """Bounds (lower, upper) on what is gained from `source` against `target`, and the other way round."""
        return self._work.directions(self)

    @cached_property
    def witness(self) -> WitnessEvent:
        """The event behind the lower bound, with its two probabilities."""
        return self._work.witness(self)


@dataclass(frozen=True, kw_only=True)
class DeltaAnswer:
    """Two-sided bounds on delta for each pair that was asked.

    Parameters
    ----------
    model
        The chain, or the interactive model.
    alpha_lower, alpha_upper
        The alpha of the lower and of the upper bounds: the same, unless epsilon was asked. The bounds hold
        for every alpha between the two.
    pairs
        The bounds, in the order in which the pairs were asked.
    status
        How the work ended.
    statistics
        Counts of what was done.
    """

    model: System
    alpha_lower: fmpq
    alpha_upper: fmpq
    pairs: tuple[DeltaBound, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)
    _work: DeltaWork = field(repr=False, compare=False)

    @property
    def worst(self) -> DeltaBound:
        """The pair with the largest upper bound: the model is (ln alpha, upper)-differentially private."""
        return max(self.pairs, key=lambda pair: (pair.upper, pair.lower))

    @property
    def lower(self) -> fmpq:
        """A lower bound on the delta of the model: the largest of all pairs."""
        return max(pair.lower for pair in self.pairs)

    @property
    def upper(self) -> fmpq:
        """An upper bound on the delta of the model: the largest of all pairs."""
        return self.worst.upper

    def certificate(self) -> dict[str, object]:
        """Return the proof of all bounds, as plain data that ``json.dumps`` writes."""
        return self._work.certificate(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(p.source)}</td><td>{escape(p.target)}</td>"
            f"<td>{decimal_below(p.lower, DIGITS)[0]}</td><td>{decimal_above(p.upper, DIGITS)[0]}</td>"
            f"<td>{'yes' if p.exact else 'no'}</td></tr>"
            for p in self.pairs[:MAX_ROWS]
        )
        if len(self.pairs) > MAX_ROWS:
            rows += f"<tr><td colspan=5>and {len(self.pairs) - MAX_ROWS} more pairs</td></tr>"
        head = "".join(f"<th>{name}</th>" for name in ("from", "to", "lower", "upper", "exact"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
