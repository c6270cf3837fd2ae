"""What a question can do with a kind of model: which reductions lead to what its engine accepts.

Options that only a reduction reads are on offer where a route takes that reduction, and are refused by name
elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.models.kinds import HMM, LMC, PA, Interactive, IntervalChain, ParametricChain
from bisimdist.models.worlds import Worlds
from bisimdist.programs.chain import ProgramChain
from bisimdist.reductions.chain import REDUCTIONS
from bisimdist.reductions.step import Kind, Problem, Reduction

KINDS: tuple[tuple[Any, Kind], ...] = (
    (ProgramChain, Kind.PROGRAM),
    (Worlds, Kind.WORLDS),
    (Interactive, Kind.INTERACTIVE),
    (IntervalChain, Kind.INTERVALS),
    (ParametricChain, Kind.PARAMETRIC),
    (LMC | PA | HMM, Kind.CHAIN),  # of automata and hidden Markov models the chain of what is observed
)
"""The first class that a model is one of says its kind."""


def kind_of(model: Any) -> Kind:
    """Return the kind of a model."""
    return next(kind for types, kind in KINDS if isinstance(model, types))


def routes(problem: type[Problem[Any]], kind: Kind) -> Iterator[tuple[Reduction, ...]]:
    """Yield the chains of reductions from a kind of model to what the engine of a question accepts.

    Each takes a reduction at most once, in the order in which they are tried.

    Examples
    --------
    >>> from bisimdist.distances.bound.ask import BoundProblem
    >>> [[r.name for r in route] for route in routes(BoundProblem, Kind.INTERVALS)]
    [['nature']]
    >>> list(routes(BoundProblem, Kind.PARAMETRIC))
    []
    """
    yield from _from(problem, kind, REDUCTIONS)


def _from(
    problem: type[Problem[Any]], kind: Kind, left: tuple[Reduction, ...]
) -> Iterator[tuple[Reduction, ...]]:
    if kind in problem.kinds:
        yield ()
    for number, reduction in enumerate(left):
        if kind in reduction.makes:
            for rest in _from(problem, reduction.makes[kind], left[number + 1 :]):
                yield reduction, *rest


def offered(problem: type[Problem[Any]], kind: Kind) -> frozenset[str]:
    """Return the options that reductions read on some route.

    Examples
    --------
    >>> from bisimdist.privacy.delta.ask import DeltaProblem
    >>> sorted(offered(DeltaProblem, Kind.INTERACTIVE)), sorted(offered(DeltaProblem, Kind.CHAIN))
    (['rounds'], [])
    """
    return frozenset(r.option for route in routes(problem, kind) for r in route if r.option)


def refuse_unanswered(problem: type[Problem[Any]], model: Any) -> None:
    """Refuse a model that no reductions lead from to what the engine of a question accepts.

    Raises UsageError if it is one.
    """
    kind = kind_of(model)
    if next(routes(problem, kind), None) is None:
        instead = problem.instead.get(kind, "this question takes no such model")
        raise UsageError(f"the model is {kind.value}: {instead}")


def refuse_unfit(model: Any, given: Collection[str]) -> None:
    """Refuse options that only reductions of other kinds of models read.

    given: the names of the options that were given.
    Raises UsageError if there is one.
    """
    kind = kind_of(model)
    for reduction in REDUCTIONS:
        if reduction.option in given and kind not in reduction.makes:
            raise UsageError(f"--{reduction.option}: {reduction.unfit}")
