"""From a model as it is given to what an engine understands, and back with the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from bisimdist.reductions.claim import Claim
from bisimdist.reductions.cut import CUT
from bisimdist.reductions.nature import NATURE
from bisimdist.reductions.outputs import OUTPUTS
from bisimdist.reductions.quotient import QUOTIENT
from bisimdist.reductions.rounds import ROUNDS
from bisimdist.reductions.step import Problem, Reduction, Step

A = TypeVar("A")

REDUCTIONS: tuple[Reduction, ...] = (OUTPUTS, CUT, NATURE, ROUNDS, QUOTIENT)
"""All of them, in the order in which they are tried."""


def solved(asked: Problem[A], model: Any) -> A:
    """Answer a question about a model that may have to become simpler first.

    The first reduction that accepts the model makes it simpler, until none does; then the engine is asked.
    Each reduction brings the answer back.
    """
    for reduction in REDUCTIONS:
        if not reduction.accepts(model, asked):
            continue
        ways = reduction.apply(model, asked)
        above = through(asked, ways.above)
        whole = ways.below is ways.above
        below = above if whole else through(asked, ways.below)
        if ways.members is not None:
            return asked.joined(above, ways.members.best(asked, above, below), proved=True)
        if whole:
            return above
        return asked.joined(above, [(below, k) for k in range(len(asked.pairs))], proved=False)
    return asked.engine(model)


def straight(model: Any) -> tuple[Any, Sequence[Step]]:
    """Return what a model is without what only its runs know, and the steps to it.

    These are the steps that are the same for every question.
    """
    if not CUT.accepts(model, None):
        return model, ()
    steps = CUT.apply(model, None).above
    return steps[-1].model, steps


def returned(steps: Sequence[Step], claim: Claim) -> Claim:
    """Bring a claim back through steps."""
    for step in reversed(steps):
        claim = step.back(claim)
    return claim


def beside(model: Any, states: tuple[str, ...]) -> dict[str, Any]:
    """Return what answers about a model show beside the bounds on states."""
    found: dict[str, Any] = {}
    for step in straight(model)[1]:
        found |= {} if step.trivial else step.beside(states)
    return found


def through(asked: Problem[A], steps: Sequence[Step]) -> A:
    """Take steps, ask there, and bring the answer back."""
    first, *rest = steps
    inner = first.asked(asked)
    found = through(inner, rest) if rest else solved(inner, first.model)
    return asked.back(found, first)
