"""Answers about the true delta: bounds for each pair, the event behind the lower one, and the proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.scale import Bounded
from bisimdist.exact.simplest import simplest_between
from bisimdist.faces.shown.answer import Status, ended, ending
from bisimdist.faces.shown.bounds import bounds_table, long_hint, privacy_level
from bisimdist.faces.shown.numbers import at_least, at_most, short_rational
from bisimdist.faces.shown.plain import plain, said
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.models.interactive import Interactive
from bisimdist.models.kinds import StateModel
from bisimdist.privacy.engine.event import ACCEPT, Event

if TYPE_CHECKING:
    from bisimdist.faces.shown.proof_pictures import Picture

NO_WITNESS = "The time did not suffice for the event behind the lower bound; the bound is proved."
MAX_TRACE = 100  # how many characters of an event a person is shown
MAX_LINES = 20  # how many situations of a strategy a person is shown

ENDINGS = {
    Status.BRACKET: "The bounds are certified and as close as you asked; the interval has not closed.",
    Status.LIMIT: "A limit ended the work before the interval was as narrow as asked; it is certified.",
}


class DeltaWork(Protocol):
    """What an answer rests on."""

    @property
    def model(self) -> StateModel:
        """Return the model that was asked about."""

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        """Return the event behind a lower bound."""

    def directions(self, bound: DeltaBound) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        """Return bounds on what is gained in each direction."""

    def certificate(self, answer: DeltaAnswer) -> dict[str, object]:
        """Return the proof of all bounds."""


@dataclass(frozen=True)
class WitnessEvent(Numbers):
    """An event of traces that gains at least a lower bound: ``probability_from - alpha probability_to``."""

    source: str  # source and target: the direction: the event is more likely from `source`
    target: str
    event: Event  # the event, as an automaton that reads labels
    probability_from: Exact  # probability_from and probability_to: its probabilities from the two states
    probability_to: Exact
    member: Mapping[str, Mapping[str, str]] | None = None
    """Of a chain that nature has picked for good the rows that intervals leave open."""
    spelt: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    """Where nature picks at every step: from the name of an action to what it picks."""

    def data(self) -> dict[str, object]:
        probabilities = plain([self.probability_from, self.probability_to])
        member = {} if self.member is None else {"member": self.member}
        return {
            **said(self, "source target"),
            "probabilities": probabilities,
            **said(self, "event"),
            **member,
        }

    def _repr_svg_(self) -> str:
        from bisimdist.privacy.delta.page import event_svg  # noqa: PLC0415  (it asks for this module)

        return event_svg(self)

    def _shown_event(self) -> str:
        trace, count = ", then ".join(self.event.only_trace()), self.event.traces()
        if 0 < len(trace) <= MAX_TRACE:
            return trace
        size = f"{len(self.event.nodes)} nodes"
        if count is None:
            return size
        number = "1 sequence" if count == 1 else f"{count if count < 10**9 else 'over 10^9'} sequences"
        return f"{size}, {number} of labels"

    def remarks(self) -> list[str]:
        """Say what the event is, and what an analyst asks after which answers until it is convinced."""
        event = self.event
        lines = [
            f"No delta below the lower bound suffices: an event ({self._shown_event()}) has probability "
            f"{at_least(self.probability_from)} from {self.source} and only "
            f"{at_most(self.probability_to)} from {self.target}."
        ]
        if self.member is not None:
            lines.append("The event has these probabilities in this chain of the intervals:")
            rows = [", ".join(f"{t} {p}" for t, p in row.items()) for row in self.member.values()]
            lines += [f"  {name} to {row}" for name, row in zip(self.member, rows[:MAX_LINES], strict=False)]
            lines += ["  ... --json gives the rest"] if len(rows) > MAX_LINES else []
        whose, verb = ("The analyst", "ask") if self.spelt is None else ("Nature", "nature picks")
        if event.asks:
            asked = len(event.nodes) - 1
            lines.append(f"{whose}'s strategy ({asked} situation{'s' * (asked != 1)}):")
        for place, (action, targets) in enumerate(zip(event.asks, event.nodes, strict=False)):
            if place > MAX_LINES:
                return [*lines, "  ... --json gives the rest"]
            after = ", ".join(
                f"{label} -> {'convinced' if target == ACCEPT else f'({target})'}"
                for label, target in targets.items()
            )
            said = action if action is None or self.spelt is None else self.spelt(action)
            lines.append(f"  start: {after}" if said is None else f"  ({place}) {verb} {said}: {after}")
        return lines


@dataclass(frozen=True)
class DeltaBound(Bounded):
    """Bounds on the delta of a pair.

    Parameters
    ----------
    source, target
        The names of the states.
    lower, upper
        Proved bounds, ``0 <= lower <= upper <= 1``.
    cut
        Of a program whose runs are cut off the exact probabilities of that; the bounds allow for it.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> (pair,) = bisimdist.delta(chain, "11/10").pairs
    >>> pair.lower, pair.upper, pair.exact
    (4/25, 4/25, True)
    """

    source: str
    target: str
    lower: Exact
    upper: Exact
    cut: tuple[Exact, Exact] | None = field(default=None, kw_only=True)
    _work: DeltaWork = field(repr=False, compare=False)
    _question: Any = field(repr=False, compare=False)

    @property
    def interactive(self) -> bool:
        """Whether somebody asks."""
        return isinstance(self._work.model, Interactive)

    @property
    def directions(self) -> tuple[tuple[Exact, Exact], tuple[Exact, Exact]]:
        """Bounds (lower, upper) on what is gained from `source` against `target`, and the other way round."""
        return self._work.directions(self)

    @cached_property
    def witness(self) -> WitnessEvent:
        """The event behind the lower bound, with its two probabilities.

        Raises
        ------
        LimitError
            If the time of the question is over before the probabilities are found; the bounds hold without.
        """
        return self._work.witness(self)

    def witness_in_time(self) -> WitnessEvent | None:
        """Return `witness`; None where the time of the question did not suffice for it."""
        try:
            return self.witness
        except LimitError:
            return None

    def data(self) -> dict[str, object]:
        """Return the bounds as plain data; of what somebody asks also what is gained in each direction.

        The witness is None where `witness` raises.
        """
        witness = self.witness_in_time()
        data = {**said(self, "source target lower upper exact"), "witness": plain(witness)}
        return data | said(self, f"{'directions' * self.interactive} cut?")

    def remarks(self) -> list[str]:
        """Say what shows the lower bound, and what runs that were cut off weigh."""
        witness = self.witness_in_time() if self.lower else None
        found = witness.remarks() if witness is not None else [NO_WITNESS] if self.lower else []
        if self.cut is not None and any(self.cut):
            masses = " and ".join(at_most(mass) for mass in self.cut)
            found.append(
                f"Runs are cut off with probabilities {masses}; the bounds allow for whatever they would do."
            )
        return found


@dataclass(frozen=True, kw_only=True)
class DeltaAnswer(Shown):
    """Two-sided bounds on delta for each pair in question.

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
    reason
        Which limit ended the work, where one did and it is known.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> answer = bisimdist.delta(chain, "11/10")
    >>> answer.upper, answer.status.value
    (4/25, 'exact')
    """

    command = "delta"

    model: StateModel
    alpha_lower: Exact
    alpha_upper: Exact
    pairs: tuple[DeltaBound, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)
    reason: str = field(default="", compare=False)
    _work: DeltaWork = field(repr=False, compare=False)

    @property
    def alpha(self) -> Exact | None:
        """The alpha of both bounds; None where it was rounded for each of them."""
        return self.alpha_upper if self.alpha_lower == self.alpha_upper else None

    @property
    def worst(self) -> DeltaBound:
        """The pair with the largest upper bound: the model is (ln alpha, upper)-differentially private."""
        return max(self.pairs, key=lambda pair: (pair.upper, pair.lower))

    @property
    def lower(self) -> Exact:
        """A lower bound on the delta of the model: the largest of all pairs."""
        return max(pair.lower for pair in self.pairs)

    @property
    def upper(self) -> Exact:
        """An upper bound on the delta of the model: the largest of all pairs."""
        return self.worst.upper

    def picture(self) -> str:
        from bisimdist.privacy.delta.page import event_svg  # noqa: PLC0415  (it asks for this module)

        return event_svg(self.worst.witness)

    def graph(self) -> Picture:
        """Draw the graph of information states that the bounds rest on.

        Raises
        ------
        UsageError
            If they need none: the labels or the classes of the pairs decide.
        """
        from bisimdist.faces.shown.proof_pictures import Picture, states_svg  # noqa: PLC0415 (most answers are not drawn)

        return Picture(states_svg(self.certificate()))

    def certificate(self) -> dict[str, object]:
        """Return the proof of all bounds, as plain data that ``json.dumps`` writes."""
        return self._work.certificate(self)

    def data(self) -> dict[str, object]:
        worst = {**said(self.worst, "source target"), **said(self, "lower upper")}
        end = ended(self.status, self.reason)
        return {**said(self, "pairs"), "worst": worst, **end, "statistics": dict(self.statistics)}

    def report(self, epsilon: str | None = None) -> Report:
        """Return the answer for a person, and what it means.

        Parameters
        ----------
        epsilon
            What was asked instead of alpha, where it was.
        """
        alpha = f"epsilon = {epsilon} (alpha rounded outwards)"
        if epsilon is None:
            alpha = f"alpha = {short_rational(self.alpha_upper)}"
        columns, rows = bounds_table("delta", [(p.source, p.target, p.lower, p.upper) for p in self.pairs])
        return Report(
            heading=f"the true delta at {alpha}",
            columns=columns,
            rows=rows,
            remarks=(
                self._meaning(epsilon),
                *self.worst.remarks(),
                *ending(ENDINGS, self.status, self.reason),
                *self._irrational(),
                *long_hint(bound for pair in self.pairs for bound in (pair.lower, pair.upper)),
            ),
        )

    def _irrational(self) -> tuple[str, ...]:
        """Say why bounds at a rounded alpha do not meet, and what to ask instead."""
        cut = any(any(pair.cut or ()) for pair in self.pairs)  # then a rational alpha does not help
        if cut or self.alpha is not None or self.status is not Status.BRACKET:
            return ()
        below = simplest_between(self.alpha_upper - (self.alpha_upper - 1) / 1000, self.alpha_upper)
        return (
            "They cannot meet: e^epsilon is irrational, and alpha is rounded, up for the lower bound, down "
            f"for the upper one. Ask with a rational alpha, such as --alpha {below}, for bounds that can.",
        )

    def _meaning(self, epsilon: str | None) -> str:
        level, value = privacy_level(self.alpha_upper, epsilon)
        worst = self.worst
        where = f"for the pair ({worst.source}, {worst.target})"
        if len(self.pairs) > 1:
            where = (
                f"for all {len(self.pairs)} pairs, the worst of which is ({worst.source}, {worst.target}),"
            )
        amount = at_most(worst.upper).removeprefix("<= ")
        return f"The model is ({level}, delta)-differentially private {where} with delta <= {amount}{value}."
