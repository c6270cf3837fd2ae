"""What samples say of an event, and of the model that it is from."""

from __future__ import annotations

from dataclasses import dataclass

from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.bounds import privacy_level
from bisimdist.faces.shown.numbers import at_most
from bisimdist.faces.shown.plain import plain, said
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.models.conversions import observed_chain
from bisimdist.privacy.delta.answer import DeltaAnswer, DeltaBound
from bisimdist.privacy.engine.event import Event

DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class Distinguisher:
    """The event that tells two states of a model apart best, and the claim that samples may contradict.

    Parameters
    ----------
    answer
        The bounds on delta of the pair.
    event
        A set of traces, or None where no trace tells the two states apart.
    swapped
        Whether the event is the more likely from the second state.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.privacy.distinguisher(chain, "11/10").swapped
    False
    """

    answer: DeltaAnswer
    event: Event | None
    swapped: bool

    @property
    def pair(self) -> DeltaBound:
        """The bounds."""
        return self.answer.pairs[0]

    def probability(self, name: str) -> Exact:
        """Return how likely the event is in the model."""
        chain = observed_chain(self.answer.model)
        return Exact(0 if self.event is None else self.event.probability(chain, chain.index(name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side(Numbers):
    """What was counted of the outputs for one state."""

    name: str  # the state
    outputs: int  # outputs and inside: how many outputs there were, and how many of them are in the event
    inside: int
    interval: tuple[Exact, Exact]  # where the probability of the event lies, with the confidence
    contradiction: str  # why the model does not make such outputs, where that is certain enough; else empty

    def data(self) -> dict[str, object]:
        return {**said(self, "outputs inside interval"), "contradiction": self.contradiction or None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Shown):
    """The result of an audit by samples, which is never a proof.

    Parameters
    ----------
    distinguisher
        The event.
    claim
        The delta that was claimed.
    confidence
        With what probability, at least, the lower bound holds.
    lower
        A lower bound on the delta of what was sampled.
    sides
        The counts from the first and from the second state.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> event = bisimdist.privacy.distinguisher(chain, "11/10")
    >>> seen = bisimdist.audit(event, ["b"] * 900 + ["c"] * 100, ["b"] * 400 + ["c"] * 600)
    >>> seen.violated
    True
    """

    command = "audit"

    distinguisher: Distinguisher
    claim: Exact
    confidence: Exact
    lower: Exact
    sides: tuple[Side, Side]

    @property
    def violated(self) -> bool:
        """Whether the claim is violated, with the confidence."""
        return bool(self.lower > self.claim)

    @property
    def model_contradicted(self) -> bool:
        """Whether the samples are not those of the model, with the confidence."""
        return any(side.contradiction for side in self.sides)

    def certificate(self) -> dict[str, object]:
        """Return the proof of the bounds on the model, which names the event."""
        return self.distinguisher.answer.certificate()

    def data(self) -> dict[str, object]:
        found = self.distinguisher
        pair = found.pair
        verdict = "violated" if self.violated else "not contradicted"
        known = {"verdict": verdict, "lower": format_rational(self.lower)}
        source, target = (pair.target, pair.source) if found.swapped else (pair.source, pair.target)
        return {
            **known,
            "alpha": format_rational(found.answer.alpha_lower),
            "delta": format_rational(self.claim),
            "event": None
            if found.event is None
            else {
                "from": source,
                "to": target,
                "probabilities": plain([found.probability(name) for name in (source, target)]),
                "event": found.event.data(),
            },
            "samples": {side.name: side.data() for side in self.sides},
            "model_verdict": "contradicted" if self.model_contradicted else "not contradicted",
            "pairs": [{"from": pair.source, "to": pair.target, **known}],
        }

    def report(self, epsilon: str | None = None) -> Report:
        """Return the answer for a person, and what it means.

        Parameters
        ----------
        epsilon
            What was asked instead of alpha, where it was.
        """
        found = self.distinguisher
        rows = [
            (
                side.name,
                str(side.outputs),
                str(side.inside),
                decimal_below(side.interval[0], DIGITS)[0],
                decimal_above(side.interval[1], DIGITS)[0],
                at_most(found.probability(side.name)).removeprefix("<= "),
            )
            for side in self.sides
        ]
        sure = f"with confidence {format_rational(self.confidence)}"
        remarks = [self._verdict(sure, epsilon)]
        if found.event is None:
            remarks.append(
                "Nothing tells the two states of the model apart, so there is no event to look for."
            )
        for side in self.sides:
            if side.contradiction:
                remarks.append(
                    f"They are not those of the model, {sure}: from {side.name} {side.contradiction}."
                )
        if not self.model_contradicted:
            remarks.append(f"They do not contradict the model ({sure[5:]}).")
        return Report(
            heading="samples compared with the event that tells the states apart best",
            columns=("from", "outputs", "in the event", "at least", "at most", "in the model"),
            rows=tuple(rows),
            remarks=tuple(remarks),
        )

    def _verdict(self, sure: str, epsilon: str | None) -> str:
        level, value = privacy_level(self.distinguisher.answer.alpha_lower, epsilon)
        claim = f"({level}, {at_most(self.claim).removeprefix('<= ')})-differential privacy"
        lower = decimal_below(self.lower, DIGITS)[0]
        if self.violated:
            return f"The samples violate {claim} {sure}{value}: delta is at least {lower}."
        return (
            f"The samples do not contradict {claim}{value}; that is no proof. "
            f"They show that delta is at least {lower}, {sure}."
        )
