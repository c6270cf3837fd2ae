"""Chains in intervals with very many vertices: from above by wider intervals, from below by less choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flint import fmpq

from bisimdist.analysis.answer import together
from bisimdist.analysis.delta_answer import DeltaAnswer, DeltaBound, WitnessEvent
from bisimdist.analysis.members import both_directions
from bisimdist.exact.rational import format_rational
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.worlds import EACH_STEP, Worlds, picking

__all__ = ["Relaxed", "between", "relaxed"]


@dataclass(frozen=True, slots=True)
class Relaxed:
    """Two models, one of which allows nature more than the intervals, and one less.

    Parameters
    ----------
    model
        The chains.
    wide
        Chains in wider intervals.
    less
        What nature may do at least.
    """

    model: IntervalChain
    wide: IntervalChain
    less: Worlds


def relaxed(model: object, nature: str) -> Relaxed | None:
    """Return what bounds a chain in intervals from both sides; None where it has few vertices, or none."""
    if not isinstance(model, IntervalChain):
        return None
    wide = model.relaxed()
    if wide is model:
        return None
    return Relaxed(model, wide, picking(model, apart=nature == EACH_STEP))


def between(model: IntervalChain, above: DeltaAnswer, below: DeltaAnswer) -> DeltaAnswer:
    """Return the upper bounds of one answer with the lower ones of another."""
    work = _Between(model, above, below.pairs)
    pairs = tuple(
        replace(upper, lower=lower.lower, _work=work, _question=number)
        for number, (upper, lower) in enumerate(zip(above.pairs, below.pairs, strict=True))
    )
    status = together((above.status, below.status), exact=all(pair.exact for pair in pairs))
    return replace(above, model=model, pairs=pairs, status=status, _work=work)


@dataclass(frozen=True, slots=True)
class _Between:
    """What the answer rests on; its proof is that of the upper bounds, in the wider intervals."""

    model: IntervalChain
    above: DeltaAnswer
    below: Sequence[DeltaBound]

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        """Return the event behind a lower bound."""
        found: WitnessEvent = self.below[bound._question].witness
        return found

    def directions(self, bound: DeltaBound) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        """Return bounds on what is gained in each direction."""
        return both_directions(self.below[bound._question], self.above.pairs[bound._question])

    def certificate(self, answer: DeltaAnswer) -> dict[str, object]:
        """Return the proof of the upper bounds."""
        claims = [
            {"from": pair.source, "to": pair.target, "lower": "0", "upper": format_rational(pair.upper)}
            for pair in answer.pairs
        ]
        return {**self.above.certificate(), "claims": claims}
