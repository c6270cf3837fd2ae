"""The exact distance: strategies guessed in fixed point, made optimal in exact arithmetic, proved least."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np
from flint import fmpz

from bisimdist.distances.engine.improvement import (
    ExactFixedPoint,
    improve_exactly,
    improve_nearly,
    improve_roughly,
    tied_sides,
)
from bisimdist.distances.engine.iteration import ONE, Approximation
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.proposed import ProposedBasis
from bisimdist.distances.engine.question import Question
from bisimdist.distances.engine.ranking import rank_pairs
from bisimdist.distances.engine.strategy import Strategy, Values
from bisimdist.distances.engine.zeros import positivity
from bisimdist.errors import LimitError
from bisimdist.linear import SingularSystemError
from bisimdist.linear.components import strongly_connected_components
from bisimdist.lp.backends.base import Backend
from bisimdist.lp.compiled import Int64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

LARGE = 2000
"""Of so many pairs exact values take longer than leading digits, which are therefore looked at first:"""

PLACES = 192  # so many of them, which tell apart what doubles cannot;

FEW = 10
"""unless runs go round in no more states than so many: then exact values have short denominators each."""


def approximate(  # noqa: PLR0913
    question: Question,
    *,
    known: Int64Array | None = None,
    backend: Backend | None = None,
    jobs: int = 1,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Approximation:
    """Find the pairs at distance 0 exactly, and iterate the others from below in fixed point.

    With a back-end it is that which proposes couplings on the way. Of many pairs the distances may be `known`
    in about, in units of 1 / `ONE`; at alpha = 1 they are 0 exactly where the distance is.
    """
    functional = question.functional
    if known is not None and functional.alpha == 1:
        guess = Approximation.start(functional, jobs=jobs)
        guess.take(known)
        return guess
    signs = positivity(functional, deadline=deadline)
    guess = Approximation.start(functional, jobs=jobs)
    if backend is not None:
        guess.basis = ProposedBasis.asking(backend, functional.batch, deadline)
    guess.zero[:] = ~signs.positive
    guess.direction[:] = signs.direction
    if known is not None:
        guess.take(np.where(signs.positive, known, 0))
    for stage in question.stages if known is None else ():
        guess.run(stage, deadline=deadline, progress=progress)
    inexact = np.array(sorted(functional.batch.rounded), dtype=np.int64)
    guess.basis.solve(functional.batch, inexact, guess.distance, one=ONE)
    return guess


def prove_above(
    question: Question, guess: Approximation, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> Proof:
    """Return the least upper bounds that direct couplings prove, and 0 from below."""
    strategy, fixed = _fixed_point(question, guess, deadline, progress)
    nothing = Values([fmpz(0)] * question.functional.size, fmpz(1))
    return Proof(question, fixed.values, strategy, nothing, strategy, ranked=None)


def prove_exactly(
    question: Question, guess: Approximation, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> Proof:
    """Turn a guess into the exact distances and their proof."""
    strategy, fixed = _fixed_point(question, guess, deadline, progress)
    tied = partial(tied_sides, strategy, fixed)
    ranked = rank_pairs(strategy, fixed.values, question.stages, tied, deadline=deadline)
    strategy.direction[:] = ranked.direction
    unproved = int((~strategy.zero).sum()) - len(ranked)
    if unproved:
        raise LimitError(f"{unproved} pairs of the fixed point could not be proved least")
    return Proof(question, fixed.values, strategy, fixed.values, strategy, ranked)


def _fixed_point(
    question: Question, guess: Approximation, deadline: Deadline, progress: Progress
) -> tuple[Strategy, ExactFixedPoint]:
    """Improve the guess first in doubles; where these lead astray, from the guess itself in exact numbers."""
    try:
        strategy = _strategy(question, guess)
        large = question.functional.size > LARGE
        if not large or guess.rounds:  # a guess from tables has none, and doubles add nothing to it
            with suppress(SingularSystemError):
                improve_roughly(strategy, deadline=deadline, progress=progress)
        if large and _goes_round(question):
            try:
                improve_nearly(strategy, PLACES, deadline=deadline, progress=progress)
            except LimitError:
                deadline.check()
        return strategy, improve_exactly(strategy, deadline=deadline, progress=progress)
    except (LimitError, SingularSystemError):
        deadline.check()
    strategy = _strategy(question, guess)
    return strategy, improve_exactly(strategy, deadline=deadline, progress=progress)


def _goes_round(question: Question) -> bool:
    """Tell whether many distances depend on each other: on few exact values are as quick as digits."""
    graph = [[target for row in rows for target, _ in row] for rows in zip(*question.model.arms, strict=True)]
    return max(map(len, strongly_connected_components(graph))) > FEW


def _strategy(question: Question, guess: Approximation) -> Strategy:
    return Strategy(question.functional, guess.basis.copy(), guess.direction.copy(), guess.zero)
