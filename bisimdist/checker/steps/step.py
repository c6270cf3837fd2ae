"""What all steps share: claims that know their sides, and the way that a step goes and comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from typing import ClassVar

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import RuleViolation, choice, item, mapping, rational, shown
from bisimdist.checker.core.shape import Bound, Shape, key
from bisimdist.checker.steps import STEPS

States = tuple[str, ...]
SHARES = ("bd", "lbd", "delta", "delta of fixed sequences", "tv", "chi2", "kl", "hellinger", "bayes")
"""What is at least 0, whatever the model."""


@dataclass(frozen=True)
class Proved:
    """What is proved of states: a side that nothing is known of is missing."""

    terms: Mapping[str, object]  # what it is about: the quantity, and all that defines it
    states: States
    sides: Mapping[str, Bound]  # ``"lower"`` and ``"upper"``, as far as they are known; None is infinity

    @property
    def quantity(self) -> str:
        """The name of what is bounded."""
        return str(self.terms.get("quantity", self.terms.get("distance")))

    def of(self, *quantities: str, step: str) -> Proved:
        """Demand one of some quantities, about which nothing more is said than alpha.

        With none, demand any quantity that no other step has changed.
        """
        told = self.terms.keys() - {"quantity", "distance", "alpha", "prior", "gains"}
        if told or (quantities and self.quantity not in quantities):
            said = ", ".join(sorted(all_of(told))) or self.quantity  # at most a few words
            raise RuleViolation(f"S2: the step {shown(step)} has no way back for a claim of {shown(said)}")
        return self

    def said(self, **terms: object) -> Proved:
        """Return the claim with more of what it is about."""
        return replace(self, terms={**self.terms, **terms})

    def alphas(self) -> tuple[Fraction, Fraction]:
        """Return the alpha of the lower and of the upper bound."""
        alpha = self.terms["alpha"]
        upper, lower = alpha if isinstance(alpha, list) else (alpha, alpha)
        return rational(lower, "alpha"), rational(upper, "alpha")


def from_above(found: Proved) -> Proved:
    """Return what is left of a claim that comes back from above only."""
    sides = {side: found.sides[side] for side in ("upper",) if side in found.sides}
    if found.quantity in SHARES:
        sides["lower"] = Fraction(0)
    elif found.quantity == "min-entropy" or found.quantity.startswith("renyi"):
        sides["lower"] = Fraction(1)
    return replace(found, sides=sides)


def from_below(found: Proved) -> Proved:
    """Return what is left of a claim that comes back from below only."""
    return replace(found, sides={side: found.sides[side] for side in ("lower",) if side in found.sides})


def _same(states: States) -> States:
    return states


@dataclass(frozen=True)
class Way:
    """What a step makes of a model, and how one comes back."""

    chain: Chain  # the model after the step
    # what a claim about that says of the model before; the states are put back already
    back: Callable[[Proved], Proved]
    place: Callable[[States], States] = _same  # where states of the model before are
    same: bool = False  # whether every claim that comes back does so as it is


class StepShape(Shape):
    """A step of a certificate."""

    name: str = key(item)
    before: str = key(item)
    after: str = key(item)

    rough: ClassVar[bool] = False  # whether it is about a chain whose probabilities are intervals
    first: ClassVar[bool] = False  # whether no other step may come before it

    def way(self, chain: Chain) -> Way:
        """Take the step. Raises RuleViolation if it cannot be taken from this model."""
        raise NotImplementedError


def step_of(value: object, where: str) -> StepShape:
    """Read a step."""
    data = mapping(value, where)
    name = choice(data.get("name"), f"the name of {where}", STEPS)
    shape: type[StepShape] = import_module(STEPS[name]).Step
    return shape.read(value, where)


def walked(steps: Iterable[StepShape], chain: Chain, where: str) -> Iterator[Way]:
    """Take steps, one after the other (rule S1)."""
    for number, step in counted(enumerate(steps)):
        if step.first and number:
            raise RuleViolation(f"S2: {step.where} of {where} comes after others; expected it first")
        if step.before != chain.digest():
            raise RuleViolation(f"S1: {step.where} of {where} is about another model before it")
        way = step.way(chain)
        chain = way.chain
        if step.after != chain.digest():
            raise RuleViolation(f"S1: {step.where} of {where} leads to another model")
        yield way


def refused(step: StepShape, wanted: str) -> RuleViolation:
    """Return what is said of a step that a model does not allow."""
    return RuleViolation(f"S2: the step {shown(step.name)} begins at {wanted}")
