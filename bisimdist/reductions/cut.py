"""Runs of a program that are cut off end in a state of their own, and bounds allow for what they would show.

See docs/theory/programs.md for delta, and docs/theory/leakage.md for leakages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from flint import fmpq

from bisimdist.exact.rational import format_rational
from bisimdist.models.lmc import LMC
from bisimdist.programs.chain import ProgramChain
from bisimdist.reductions.claim import Above, Below, Claim
from bisimdist.reductions.step import Kind, Problem, Step, Ways

SAID = "Runs are cut off; the upper bounds allow for whatever they would do. delta has bounds on both sides."
_ZERO, _ONE = fmpq(0), fmpq(1)


@dataclass(frozen=True, slots=True)
class Cut(Step):
    """The chain of a program, in which runs that are cut off end in a state of their own."""

    name: ClassVar[str] = "cut"
    quantities: ClassVar[frozenset[str]] = frozenset({"delta", "bd"})
    before: ProgramChain  # the program as a chain
    model: LMC  # the chain as such

    @property
    def trivial(self) -> bool:
        return not self.before.cut

    @property
    def unfinished(self) -> bool:
        return bool(self.before.cut) and self.before.origin.ended

    def masses(self, states: tuple[str, ...]) -> tuple[fmpq, ...]:
        """Return how likely runs from states are cut off."""
        return tuple(self.before.cut.get(self.before.index(name), _ZERO) for name in states)

    def asked(self, asked: Problem[Any]) -> Problem[Any]:
        return asked if self.trivial else asked.tighter([self.masses(states) for states in asked.pairs])

    def back(self, claim: Claim) -> Claim:
        masses = self.masses(claim.states)
        if not any(masses):
            return claim
        if claim.quantity in {"bd", "lbd", "delta"}:
            p, q = masses
            alpha = claim.alphas[0]
            lost = max(p + alpha * q, q + alpha * p), max(p, q)
            if claim.quantity != "delta":  # it bounds delta, and nothing is known of the distance itself
                claim = replace(claim, below=None, quantity="delta" if claim.quantity == "bd" else "lbd")
            return _wider(claim, lost, _ZERO, _ONE)
        measure = claim.about.measure
        return _wider(claim, _leaked(claim.about, masses), measure.least, measure.most)

    def data(self) -> dict[str, object]:
        named = self.before.states
        return {"cut": {named[state]: format_rational(p) for state, p in sorted(self.before.cut.items())}}

    def beside(self, states: tuple[str, ...]) -> Mapping[str, Any]:
        return {"cut": self.masses(states)}

    def said(self, quantity: str) -> tuple[str, ...]:
        if self.trivial or quantity not in {"bd", "lbd"}:
            return ()
        return (SAID,)

    def refusal(self, quantity: str) -> str:
        if quantity == "lbd":
            return "runs of this program are cut off; the proofs that allow for it are of bd and delta"
        return "runs of this program are cut off; no certificate proves what its traces leak"


def _wider(claim: Claim, lost: tuple[fmpq, fmpq], least: fmpq | None, most: fmpq | None) -> Claim:
    """Return a claim whose bounds are wider, as far as there is anything beyond."""
    below, above = claim.below, claim.above
    if below is not None and below.value is not None:
        value = below.value - lost[0]
        below = Below(value if least is None else max(least, value))
    if above is not None and above.value is not None:
        value = above.value + lost[1]
        above = Above(value if most is None else min(most, value))
    return replace(claim, below=below, above=above)


def _leaked(bound: Any, masses: tuple[fmpq, ...]) -> tuple[fmpq, fmpq]:
    """Return how much less, and how much more, traces of the program may leak than those of the chain."""
    from bisimdist.privacy.engine.divergence import root  # noqa: PLC0415  (few questions need it)

    measure = bound.measure
    if measure.name == "tv":
        return sum(masses, _ZERO), masses[0]
    if measure.name == "hellinger":
        both = root(masses[0] * masses[1], up=True)
        return 2 * (both + root(masses[0], up=True) + root(masses[1], up=True)), 2 * both
    weighted = [p * mass for p, mass in zip(bound.prior or (), masses, strict=True)]
    if measure.gains is None:
        lost = sum(weighted, _ZERO)
    else:  # gains may be negative: the part that is cut off counts on either side
        rows = measure.gains.values()
        largest = [max(abs(row.get(name, _ZERO)) for row in rows) for name in bound.states]
        lost = 2 * sum((x * mass for x, mass in zip(largest, weighted, strict=True)), _ZERO)
    if measure.name == "min-entropy" and bound.before is not None:
        lost /= bound.before
    return lost, lost


class _Whole(ProgramChain):
    """A program no run of which is cut off: nothing has to be allowed for."""

    __slots__ = ()


class _CutReduction:
    """Takes programs for the chains that they are."""

    name, option, unfit = "cut", "", ""
    makes: ClassVar[Mapping[Kind, Kind]] = {Kind.PROGRAM: Kind.CHAIN}

    def accepts(self, model: Any, asked: Problem[Any] | None) -> bool:
        return isinstance(model, ProgramChain) and not isinstance(model, _Whole)

    def apply(self, model: ProgramChain, asked: Problem[Any] | None) -> Ways:
        chain = model.states, model.labels, model.rows, model.pairs
        steps = (Cut(model, LMC(*chain) if model.cut else _Whole(*chain, model.origin)),)
        return Ways(steps, steps)


CUT = _CutReduction()
