"""The answer about a set of secrets: what each pair needs, and the least epsilon of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.ends import ends_data, ends_remarks
from bisimdist.faces.shown.numbers import between, short_rational
from bisimdist.faces.shown.proved import AboutTraces
from bisimdist.faces.shown.tables import Report
from bisimdist.models.pa import PA
from bisimdist.traces.secrets.budgets import AdditiveBudget, Budget
from bisimdist.traces.secrets.distances import Distances, Secret
from bisimdist.traces.trace.answer import TraceBound, TraceKind
from bisimdist.traces.trace.events import SAID, SETS, SINGLE, Of, TwoVerdicts
from bisimdist.verdicts import joint, verdict_word

ROWS_SHOWN = 60
WORST_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPair(Numbers):
    """Two secrets, their distance, and how far apart the system behaves for them.

    Parameters
    ----------
    first, second
        The secrets.
    distance
        Their distance.
    bound
        Bounds on the trace metric of their states.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> answer = bisimdist.traces.secret_privacy(survey, {"yes": "s_y", "no": "s_n"}, "discrete")
    >>> answer.pairs[0].first, answer.pairs[0].second, answer.pairs[0].distance
    ('yes', 'no', 1)
    """

    first: Secret
    second: Secret
    distance: Exact
    bound: TraceBound

    @property
    def lower(self) -> Budget | AdditiveBudget:
        """What epsilon has to be at least, for this pair."""
        return self._budget(self.bound.lower)

    @property
    def upper(self) -> Budget | AdditiveBudget:
        """An epsilon that is enough for this pair."""
        return self._budget(self.bound.upper)

    def _budget(self, bound: fmpq | None) -> Budget | AdditiveBudget:
        if self.bound.kind is TraceKind.MULTIPLICATIVE:
            return Budget(bound, self.distance)
        return AdditiveBudget(fmpq(1) if bound is None else bound, self.distance)

    def at_most(self, epsilon: ExactNumber) -> bool | None:
        """Tell whether epsilon is enough for this pair; None where the bounds do not decide that."""
        return self.bound.at_most(to_fmpq(epsilon) * self.distance)

    def data(self, threshold: fmpq | None) -> dict[str, object]:
        """Return the pair as plain data, with the verdict on a threshold where there is one."""
        bound = self.bound.data()
        return {
            "from": str(self.first),
            "to": str(self.second),
            "states": [self.bound.source, self.bound.target],
            "distance": format_rational(self.distance),
            ("ratio" if self.bound.kind is TraceKind.MULTIPLICATIVE else "upper"): bound["upper"],
            "lower": bound["lower"],
            "epsilon": [self.lower.epsilon()[0], self.upper.epsilon()[1]],
            "exact": self.bound.exact,
            "witness": bound["witness"],
            "probabilities": bound["probabilities"],
            **({} if threshold is None else {"verdict": verdict_word(self.at_most(threshold))}),
        }

    def row(self, threshold: fmpq | None) -> tuple[str, ...]:
        """Return the pair for a person."""
        return (
            str(self.first),
            str(self.second),
            short_rational(self.distance),
            str(self.upper) if self.bound.exact else f"{self.lower} .. {self.upper}",
            between(self.lower.epsilon()[0], self.upper.epsilon()[1]),
            *(() if threshold is None else (verdict_word(self.at_most(threshold)),)),
        )

    @property
    def evidence(self) -> str:
        """What shows the lower bound."""
        return f"({self.first}, {self.second}): {self.bound.evidence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPrivacyAnswer(TwoVerdicts, AboutTraces):
    """The least epsilon such that the trace metric is at most epsilon times the distance of the secrets.

    Source: CABP13 (d_X-privacy), CCP18.

    Parameters
    ----------
    model
        The automaton.
    states
        For each secret its state.
    distances
        The distances of the secrets.
    lower, upper
        The least epsilon is between these; equal where it is known.
    worst
        The pairs that need `lower`.
    pairs
        All pairs that were examined.
    saved
        How many pairs follow from the others by the triangle inequality and were not examined.
    unexamined
        How many more pairs were not examined: the time was over, or a pair was enough to know the verdict.
    kind
        ``MULTIPLICATIVE``, or ``ADDITIVE``: the metric is then divided by the distance as it is.
    of
        Whether the additive metric compares single traces, or sets of traces: with the discrete distance that
        is weak anonymity.
    other
        The answer of the other of these two, where a threshold is given for the additive metric and this
        answer does not decide it.
    threshold
        The epsilon that was asked about; None where the least one was.
    status
        ``EXACT``, or ``LIMIT`` where the least epsilon is not known exactly.
    completed
        The automaton as the observer sees it; `ends` says whether that includes the end of a run.
    make_certificate
        Writes the proof of the trace metrics when it is asked for.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> bisimdist.traces.secret_privacy(survey, {"yes": "s_y", "no": "s_n"}, "discrete").exact
    True
    """

    command = "secrets"

    model: PA
    states: Mapping[Secret, str]
    distances: Distances
    lower: Budget | AdditiveBudget
    upper: Budget | AdditiveBudget
    worst: tuple[SecretPair, ...]
    pairs: tuple[SecretPair, ...]
    saved: int
    status: Status
    unexamined: int = 0
    kind: TraceKind = TraceKind.MULTIPLICATIVE
    threshold: Exact | None = None
    of: Of = SINGLE
    other: SecretPrivacyAnswer | None = field(default=None, repr=False)

    @property
    def exact(self) -> bool:
        """Whether the least epsilon is known."""
        return not self.lower < self.upper and not self.upper < self.lower

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the least epsilon."""
        return self.lower.epsilon(digits)[0], self.upper.epsilon(digits)[1]

    def at_most(self, epsilon: ExactNumber) -> bool | None:
        """Tell whether epsilon is enough for all secrets; None where the bounds do not decide that.

        Exactly: a rational is never equal to a power of e but for 1.
        """
        value = to_fmpq(epsilon)
        unexamined = [None] if self.unexamined else []
        return joint([*(pair.at_most(value) for pair in self.pairs), *unexamined])

    @property
    def holds(self) -> bool | None:
        """Whether `threshold` is enough; None where that is not decided, or none was asked about."""
        return None if self.threshold is None else self.at_most(self.threshold)

    @property
    def verdict(self) -> str:
        """The decision about `threshold` as a word: ``holds``, ``violated`` or ``unknown``."""
        return verdict_word(self.holds)

    @property
    def title(self) -> str:
        """What the answer is about."""
        if self.kind is TraceKind.MULTIPLICATIVE:
            return f"d_X-privacy with the {self.distances.name} distance of secrets"
        if not self.anonymity:
            return f"additive d_X-privacy with the {self.distances.name} distance of secrets, {SAID[self.of]}"
        if self.of == SETS:
            return "weak anonymity of all secrets"
        return f"additive trace metric {SAID[self.of]}, over all secrets"

    def data(self) -> dict[str, object]:
        data: dict[str, object] = {
            "kind": self.kind.value,
            **({"of": self.of} if self.kind is TraceKind.ADDITIVE else {}),
            **({"verdicts": self.verdicts} if self.verdicts else {}),
            "metric": self.distances.name,
            **ends_data(self.completed),
            **self.upper.data(),
            "lower": self.lower.data(),
            "epsilon": list(self.epsilon()),
            "exact": self.exact,
        }
        if self.threshold is not None:
            data |= {"threshold": format_rational(self.threshold), "verdict": self.verdict}
        return {
            **data,
            "worst": [[str(pair.first), str(pair.second)] for pair in self.worst],
            "saved": self.saved,
            "unexamined": self.unexamined,
            "pairs": [pair.data(self.threshold) for pair in self.pairs],
            "status": self.status.value,
        }

    def report(self) -> Report:
        remarks = []
        if len(self.pairs) > ROWS_SHOWN:
            remarks.append(f"and {len(self.pairs) - ROWS_SHOWN} more pairs")
        if self.saved:
            remarks.append(
                f"{self.saved} more pairs follow by the triangle inequality and were not looked at."
            )
        if self.unexamined:
            why = "one is enough" if self.holds is False else "the work was stopped"
            remarks.append(f"{self.unexamined} more pairs were not looked at: {why}.")
        asked = () if self.threshold is None else ("verdict",)
        return Report(
            heading=self.title,
            columns=("secret", "secret", "distance", "epsilon", "decimal", *asked),
            rows=tuple(pair.row(self.threshold) for pair in self.pairs[:ROWS_SHOWN]),
            remarks=(*remarks, *self._conclusion(), *self.both_remarks(), *ends_remarks(self.completed)),
        )

    @property
    def anonymity(self) -> bool:
        return self.distances.name == "discrete"

    def against(self) -> list[str]:
        """Say which pairs `threshold` is not enough for, and what shows it."""
        theta = self.threshold or 0
        return [pair.evidence for pair in self.pairs if pair.at_most(theta) is False]

    def _conclusion(self) -> list[str]:
        if self.threshold is not None:
            theta = self.threshold
            said = f"With epsilon = {short_rational(theta)}: {self.verdict}."
            return [said, *(f"It is violated for {evidence}." for evidence in self.against()[:WORST_SHOWN])]
        low, high = self.epsilon()
        said = f"The least epsilon is between {low} and {high}."
        if self.exact:
            tail = "" if low == high else f", in [{low}, {high}]"
            said = f"The least epsilon is {self.upper}{tail}."
        return [said, *(f"It is needed for {pair.evidence}." for pair in self.worst[:WORST_SHOWN])]
