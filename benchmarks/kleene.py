"""The baseline of whole problems: Kleene iteration in floating point, programs kept and solved by HiGHS.

Nobody would wait for it on large chains: the rounds are counted with the fast kernel, one program is timed
on a sample, and the product is an extrapolation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from flint import fmpq

from benchmarks.cases import Case
from benchmarks.foreign import Data, HighsRounds
from benchmarks.timing import Spent, median_of, spent_by
from bisimdist.distances.engine.exact_engine import approximate
from bisimdist.distances.engine.iteration import ONE, Approximation
from bisimdist.distances.engine.question import Question, prepare
from bisimdist.exact.rational import parse_rational
from bisimdist.lp.problem import SkewedProblem

__all__ = ["Kleene", "kleene_baseline"]

STANDSTILL = 1e-9
MOST_ROUNDS = 20_000
NEARBY = 1e-3
"""How far the distances of the round before are away."""


@dataclass(frozen=True, slots=True)
class Kleene:
    """What the baseline would take."""

    programs: int
    """Of one round."""
    rounds: int
    """Until no distance moves by more than 1e-9: which proves nothing."""
    program: Spent
    """Of one program, the median of the sample."""

    @property
    def total(self) -> Spent:
        return self.program.scaled(self.programs * self.rounds)


def kleene_baseline(case: Case, sample: int = 40) -> Iterator[Kleene]:
    """Count rounds and time programs; both favour the baseline. A generator of one, for `run_apart`.

    The pairs of equal label are counted once in each direction (once in all at alpha = 1); each program is
    on the states of both supports only, and is timed at the distances of the end, without being built from
    the chain. A round here uses what the same round found for other pairs.
    """
    lmc, named = case.built()
    alpha = parse_rational(case.alpha)
    asked = tuple((lmc.index(s), lmc.index(t)) for s, t in named)
    question = prepare(lmc, alpha, asked)
    rounds = _rounds(question)
    generator = random.Random(1)
    guess = approximate(question)
    space = question.functional.space
    times = []
    for number in generator.sample(range(len(space)), min(sample, len(space))):
        s, t = space.pairs[number]
        times.append(_solved_again(_on_supports(question, guess, s, t)))
    yield Kleene(len(space) * (1 if alpha == 1 else 2), rounds, median_of(times))


def _solved_again(problem: SkewedProblem) -> Spent:
    """Return what a program takes whose model is there, and was solved for distances nearby.

    That is HiGHS by its own interface.
    """
    data = Data.of_problem(problem)
    costs = [float(cost) for row in data.costs for cost in row]
    if not costs:
        return Spent(0.0, 0.0)
    model = HighsRounds(data)
    model.run([cost * (1 - NEARBY) for cost in costs])
    return spent_by(partial(model.run, costs))


def _rounds(question: Question) -> int:
    guess = Approximation.start(question.functional)
    for round_ in range(1, MOST_ROUNDS + 1):
        before = guess.distance.copy()
        for stage in question.stages:
            guess.run(stage, limit=1)
        if int(np.abs(guess.distance - before).max(initial=0)) <= STANDSTILL * ONE:
            return round_
    return MOST_ROUNDS


def _on_supports(question: Question, guess: Approximation, s: int, t: int) -> SkewedProblem:
    lmc, space = question.model, question.functional.space
    (rows,) = lmc.arms
    left, right = dict(rows[s]), dict(rows[t])
    states = sorted(left.keys() | right.keys())

    def distance(i: int, j: int) -> fmpq:
        if i == j:
            return fmpq(0)
        if space.classes[i] != space.classes[j]:
            return fmpq(1)
        return fmpq(int(guess.distance[space.number(i, j)]), ONE)

    none = fmpq(0)
    return SkewedProblem(
        question.alpha,
        tuple(left.get(i, none) for i in states),
        tuple(right.get(i, none) for i in states),
        tuple(tuple(distance(i, j) for j in states) for i in states),
    )
