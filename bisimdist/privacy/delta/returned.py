"""Answers about the delta of a simpler model as answers about the model: bounds, events and proofs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flint import fmpq

from bisimdist.exact.bounds import Bracket, LowerBound, UpperBound
from bisimdist.faces.shown.answer import Status, together
from bisimdist.faces.written.reduced import joined_document, returned_document
from bisimdist.privacy.delta.answer import DeltaAnswer, DeltaBound, WitnessEvent
from bisimdist.reductions.claim import Claim
from bisimdist.reductions.step import Step

if TYPE_CHECKING:
    from bisimdist.privacy.delta.ask import DeltaProblem

Document = dict[str, Any]
Sides = tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]


def returned(asked: DeltaProblem, found: DeltaAnswer, step: Step) -> DeltaAnswer:
    """Return an answer about the simpler model of a step as one about the model (`Problem.back`)."""
    work = _Returned(asked, found, step)
    pairs = []
    for number, (states, pair) in enumerate(zip(asked.pairs, found.pairs, strict=True)):
        low, high = work.back(states, (pair.lower, pair.upper))
        beside = {name: value for name, value in step.beside(states).items() if name == "cut"}
        pairs.append(
            replace(
                pair,
                source=states[0],
                target=states[1],
                lower=low,
                upper=high,
                _work=work,
                _question=number,
                **beside,
            )
        )
    answer = replace(found, model=step.before, pairs=tuple(pairs), _work=work)
    return replace(answer, status=_status(asked, found, answer, step))


def _status(asked: DeltaProblem, found: DeltaAnswer, answer: DeltaAnswer, step: Step) -> Status:
    """Return how the work ended: as before, unless bounds have become wider."""
    same = zip(found.pairs, answer.pairs, strict=True)
    if step.trivial or all((one.lower, one.upper) == (two.lower, two.upper) for one, two in same):
        return Status.LIMIT if step.unfinished else found.status
    if found.status is Status.LIMIT or step.unfinished:
        return Status.LIMIT
    wide = asked.gap is not None and any(pair.upper - pair.lower > asked.gap for pair in answer.pairs)
    return Status.LIMIT if wide and step.beside(asked.pairs[0]) else Status.BRACKET


@dataclass(frozen=True, slots=True)
class _Returned:
    """What an answer rests on: one about a simpler model."""

    asked: DeltaProblem
    found: DeltaAnswer
    step: Step

    @property
    def model(self) -> Any:
        """Return the model that was asked about."""
        return self.step.before

    def back(self, states: tuple[str, ...], sides: tuple[fmpq, fmpq]) -> tuple[fmpq, fmpq]:
        """Return bounds on delta of the model; what nothing is known of is 0 or 1."""
        alphas = self.asked.alpha_lower, self.asked.alpha_upper
        return self.step.back(Claim.between(self.asked.quantity, states, sides, alphas)).sides

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        """Return the event behind a lower bound."""
        inner = self.found.pairs[bound._question]
        witness: WitnessEvent = self.step.shown(inner.witness)
        ends = (bound.source, bound.target)
        if witness.source != inner.source:
            ends = ends[::-1]
        return replace(witness, source=ends[0], target=ends[1])

    def directions(self, bound: DeltaBound) -> Sides:
        states = (bound.source, bound.target)
        one, other = self.found.pairs[bound._question].directions
        return self.back(states, one), self.back(states[::-1], other)

    def certificate(self, answer: DeltaAnswer) -> Document:
        del answer
        return returned_document(self.found.certificate(), self.step, dict.fromkeys(self.asked.pairs))


def joined(above: DeltaAnswer, below: Sequence[tuple[DeltaAnswer, int]], *, proved: bool) -> DeltaAnswer:
    """Return the upper bounds of one answer with the lower bounds of others (`Problem.joined`)."""
    lowers = [answer.pairs[number] for answer, number in below]
    work = _Joined(above, lowers, partial(joined_document, above, below, proved=proved))
    pairs = tuple(
        replace(pair, lower=lower.lower, _work=work, _question=number)
        for number, (pair, lower) in enumerate(zip(above.pairs, lowers, strict=True))
    )
    exact = all(pair.exact for pair in pairs)
    statuses = (above.status,) if proved else (above.status, *(answer.status for answer, _ in below))
    return replace(above, pairs=pairs, status=together(statuses, exact=exact), _work=work)


@dataclass(frozen=True, slots=True)
class _Joined:
    """What an answer rests on: one for the upper bounds, others for the lower ones."""

    above: DeltaAnswer
    lowers: Sequence[DeltaBound]
    proof: Callable[[], Document]

    @property
    def model(self) -> Any:
        """Return the model that was asked about."""
        return self.above.model

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        """Return the event behind a lower bound."""
        found: WitnessEvent = self.lowers[bound._question].witness
        return found

    def directions(self, bound: DeltaBound) -> Sides:
        ways = zip(
            self.lowers[bound._question].directions, self.above.pairs[bound._question].directions, strict=True
        )
        one, other = (_between(low, high) for (low, _), (_, high) in ways)
        return one, other

    def certificate(self, answer: DeltaAnswer) -> Document:
        del answer
        return self.proof()


def _between(low: fmpq, high: fmpq) -> tuple[fmpq, fmpq]:
    found = Bracket(LowerBound(low), UpperBound(high))
    return found.lower.value, found.upper.value
