"""The answers about the metrics of automata: bounds, plays, relations, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from flint import fmpq

from bisimdist.automata.engine.all_schedulers import Widest
from bisimdist.automata.engine.play import Play
from bisimdist.exact.rational import format_rational
from bisimdist.exact.scale import Bounds
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import between, exact_value, short_rational, short_value
from bisimdist.faces.shown.proved import Proved, Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.shown.witness_pictures import play_svg
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.pa import PA

STEPS_SHOWN = 12

Names = Sequence[tuple[str, str]]

Triple = tuple[str, str, fmpq, fmpq]
"""Two states and the ends of an interval of ratios, a single ratio where they agree."""


class Kind(Enum):
    """Which of the two metrics."""

    ACCUMULATIVE = "accumulative"
    AMORTISED = "amortised"


KINDS = tuple(kind.value for kind in Kind)


def play_text(model: PA, play: Play) -> str:
    """Return a play in words: the steps, and where it comes back to or why it ends.

    >>> from bisimdist import metric
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> answer = metric(pin_checking(), "amortised")
    >>> play_text(answer.model, answer.pairs[0].play)
    '(s1, t1) --a1 [2/3]--> (s2, t2) --no--> (s3, t3) --a2 [2/3]--> (s5, t5)'
    """
    names = model.states
    parts = []
    for step in play.steps[:STEPS_SHOWN]:
        s, t = step.before
        factor = "" if step.factor == 1 else f" [{short_rational(step.factor)}]"
        parts.append(f"({names[s]}, {names[t]}) --{step.action}{factor}-->")
    text = " ".join(parts)
    if len(play.steps) > STEPS_SHOWN:
        text += f" ... ({len(play.steps) - STEPS_SHOWN} more steps)"
    elif play.steps:
        s, t = play.steps[-1].after
        text += f" ({names[s]}, {names[t]})"
    if play.cycle is not None:
        factor = fmpq(1)
        for step in play.steps[play.cycle :]:
            factor *= step.factor
        s, t = play.steps[play.cycle].before
        text += f", and again from ({names[s]}, {names[t]}) for ever: each turn multiplies by {factor}"
    if play.obstacle:
        text += f"{': ' if play.steps else ''}{play.obstacle}"
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricBound(Bounds):
    """Bounds on the distance of a pair; both are ratios, the distance is the logarithm.

    Parameters
    ----------
    source, target
        The names of the two states.
    lower, upper
        Proved bounds, at least 1; None stands for infinity.
    play
        A play of the challenger that shows the lower bound; None where it is 1.
    widest
        What schedulers that see the secret may do; None where there is no choice, or time ran out.
    relation
        Triples that are a bisimulation for the upper bound; empty where that is infinite or they are many.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> (pair,) = bisimdist.metric(pin, "amortised").pairs
    >>> pair.ratio, pair.exact
    (9/4, True)
    """

    source: str
    target: str
    play: Play | None = field(default=None, compare=False)
    widest: Widest | None = field(default=None, compare=False, repr=False)
    relation: tuple[Triple, ...] = field(default=(), compare=False, repr=False)

    def data(self, model: PA, names: tuple[str, str]) -> dict[str, object]:
        """Return the bounds as plain data, under the names that were asked for."""
        data: dict[str, object] = {
            "from": names[0],
            "to": names[1],
            "ratio": exact_value(self.ratio),
            "epsilon": list(self.epsilon()),
            "exact": self.exact,
            "lower": exact_value(self.lower),
        }
        if self.play is not None:
            data["reason"] = play_text(model, self.play)
        if self.widest is not None:
            data["all_schedulers"] = _all_schedulers(model, self.widest)
        if self.relation:
            data["relation"] = [
                [s, t, *([low] if low == high else [[low, high]])]
                for s, t, low, high in (
                    (s, t, format_rational(low), format_rational(high)) for s, t, low, high in self.relation
                )
            ]
        return data

    def row(self, names: tuple[str, str]) -> tuple[str, ...]:
        """Return the bounds for a person."""
        shown = short_value(self.upper)
        if not self.exact:
            shown = f"from {short_value(self.lower)} to {shown}"
        return *names, shown, between(*self.epsilon()), "yes" if self.exact else "no"

    def remarks(self, model: PA, names: tuple[str, str], unseen: str) -> list[str]:
        """Return what is said about the pair."""
        pair = f"({', '.join(names)})"
        found = []
        if self.play is not None:
            what = "infinite" if self.lower is None else f"at least ln {short_value(self.lower)}"
            found.append(f"{pair} is {what}: {play_text(model, self.play)}")
        if self.upper is not None:
            found.append(
                f"The model is ln({short_value(self.upper)})-differentially private for the pair "
                f"{pair} under admissible schedulers{unseen}."
            )
        if self.widest is not None:
            found.append(self._of_all_schedulers(self.widest, pair))
        return found

    def _of_all_schedulers(self, widest: Widest, pair: str) -> str:
        ratio = short_value(widest.ratio)
        if self.upper is not None and (widest.ratio is None or widest.ratio > self.upper):
            return (
                "It is private only if the scheduler does not see the secret: other schedulers reach "
                f"{'an infinite ratio' if widest.ratio is None else f'a ratio of at least {ratio}'} "
                f"(whether {widest.action!r} is ever seen)."
            )
        if widest.ratio is None:
            return (
                f"A scheduler that sees the secret may make {widest.action!r} impossible from one of {pair}."
            )
        return (
            f"A scheduler that sees the secret may make {widest.action!r} likelier from one of {pair} by the "
            f"factor {ratio}, and no action by more."
        )


def _all_schedulers(model: PA, widest: Widest) -> dict[str, object]:
    """Return what all schedulers reach, as plain data."""

    def moves(chosen: Sequence[tuple[int, int]]) -> list[object]:
        found: list[object] = []
        for state, number in chosen:
            step = model.transitions[number]
            row = [[model.states[t], format_rational(p)] for t, p in step.row]
            found.append([model.states[state], step.action, row])
        return found

    first, second = ([format_rational(end) for end in ends] for ends in widest.ends)
    return {
        "action": widest.action,
        "from": first,
        "to": second,
        "ratio": exact_value(widest.ratio),
        "schedulers": [moves(widest.most), moves(widest.least)],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAnswer(Shown, Proved):
    """Bounds on one of the metrics for each pair in question, with their proof.

    Source: XCL14.

    Parameters
    ----------
    model
        The automaton.
    kind
        Which metric.
    pairs
        The bounds, in the order in which the pairs were asked.
    status
        ``EXACT`` or ``LIMIT``.
    statistics
        Counts of what was done, without any timing.
    make_certificate
        Writes the proof when it is asked for.

    Examples
    --------
    >>> import bisimdist
    >>> pin = bisimdist.build_any_example("pin-checking")
    >>> bisimdist.metric(pin, "amortised").pairs[0].ratio
    9/4
    """

    command = "metric"

    model: PA
    kind: Kind
    pairs: tuple[MetricBound, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def mass_is_missing(self) -> bool:
        """Whether runs of the pairs may end for lack of mass, which these metrics do not look at."""
        starts = {self.model.index(name) for bound in self.pairs for name in (bound.source, bound.target)}
        return Completed.of(self.model, Ends.HIDDEN, starts).missing

    def picture(self) -> str:
        play = next((pair.play for pair in self.pairs if pair.play is not None), None)
        return "" if play is None else play_svg(self.model, play)

    def _named(self, asked: Names | None) -> list[tuple[MetricBound, tuple[str, str]]]:
        names = [(bound.source, bound.target) for bound in self.pairs] if asked is None else asked
        return list(zip(self.pairs, names, strict=True))

    def data(self, asked: Names | None = None) -> dict[str, object]:
        """Return the answer as plain data, under the names by which the pairs were asked."""
        return {
            "pairs": [bound.data(self.model, names) for bound, names in self._named(asked)],
            "status": self.status.value,
            **({"missing_mass": True} if self.mass_is_missing else {}),
        }

    def report(self, asked: Names | None = None) -> Report:
        """Return the answer for a person, under the names by which the pairs were asked."""
        unseen = ", where nobody sees that a run has ended for lack of mass" if self.mass_is_missing else ""
        moves = {(step.source, step.action) for step in self.model.transitions}
        if len(moves) < len(self.model.transitions):
            unseen = f" that see matched transitions as one{unseen}"
        named = self._named(asked)
        return Report(
            heading=f"{self.kind.value} bisimulation metric (the distance is the logarithm of the ratio)",
            columns=("from", "to", "ratio", "distance", "exact"),
            rows=tuple(bound.row(names) for bound, names in named),
            remarks=tuple(r for bound, names in named for r in bound.remarks(self.model, names, unseen)),
        )
