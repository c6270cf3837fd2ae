"""The leakages of the cross-check: divergences of the traces of a pair, and what a guess gains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from flint import fmpq

from bisimdist.analysis.divergence_by_profile import by_profile
from bisimdist.analysis.leakage import leakage
from bisimdist.analysis.standing import Bounds, Measure, Scale
from bisimdist.errors import LimitError
from bisimdist.exact.scale import larger

if TYPE_CHECKING:
    from bisimdist.analysis.crosscheck_measures import Task

__all__ = ["LEAKAGES", "by_guesses", "by_profiles", "divergence"]

GAP = fmpq(1, 10**6)

LEAKAGES: dict[Scale, dict[str, tuple[str, str]]] = {
    Scale.RATIO: {
        "min_entropy": ("e^L_inf", "min-entropy leakage: how much likelier a guess is right after the trace"),
        "renyi_2": ("e^D_2", "Rényi's divergence of order 2, the larger direction"),
    },
    Scale.ADDITIVE: {"hellinger": ("H^2/2", "squared Hellinger distance, halved")},
    Scale.DIVERGENCE: {
        "kl": ("KL", "divergence of Kullback and Leibler, the larger direction"),
        "kl_profile": ("KL by profile", "the same as an integral over delta in both directions"),
        "chi2": ("chi^2", "chi-squared divergence, the larger direction"),
        "chi2_profile": ("chi^2 by profile", "the same as an integral over delta in both directions"),
    },
}
"""By scale: name, symbol and title."""


def _both_ways(name: str, scale: Scale, ways: tuple[Bounds, Bounds]) -> Measure:
    lower, upper = (larger(*ends) for ends in zip(*ways, strict=True))
    return Measure(name, lower, upper, directions=ways, scale=scale)


def _ways(task: Task, measure: str) -> tuple[Bounds, Bounds]:
    if task.subject.chain is None:
        raise LimitError("the automaton is nondeterministic")
    answer = leakage(
        task.subject.chain,
        measure,
        pairs=[task.subject.pair],
        both=True,
        gap=GAP,
        deadline=task.deadline,
        progress=task.progress,
    )
    there, back = ((bound.lower, bound.upper) for bound in answer.pairs)
    return there, back


def _mapped(ways: tuple[Bounds, Bounds], function: Callable[[fmpq], fmpq]) -> tuple[Bounds, Bounds]:
    """Return the bounds of both directions after a map."""

    def one(bounds: Bounds) -> Bounds:
        low, high = bounds
        return None if low is None else function(low), None if high is None else function(high)

    return one(ways[0]), one(ways[1])


def divergence(measure: str) -> Callable[[Task], Iterator[Measure]]:
    """Return what computes a divergence."""

    def run(task: Task) -> Iterator[Measure]:
        ways = _ways(task, measure)
        if measure == "hellinger":
            (low, high), _ = _mapped(ways, lambda value: value / 2)
            yield Measure("hellinger", low, high)
        elif measure == "kl":
            yield _both_ways("kl", Scale.DIVERGENCE, ways)
        else:
            yield _both_ways("renyi_2", Scale.RATIO, ways)
            yield _both_ways("chi2", Scale.DIVERGENCE, _mapped(ways, lambda value: value - 1))

    return run


def by_guesses(task: Task) -> Iterator[Measure]:
    """Compute how much likelier a guess is right."""
    if task.subject.chain is None:
        raise LimitError("the automaton is nondeterministic")
    answer = leakage(
        task.subject.chain,
        "min-entropy",
        pairs=[task.subject.pair],
        gap=GAP,
        deadline=task.deadline,
        progress=task.progress,
    )
    yield Measure("min_entropy", answer.pairs[0].lower, answer.pairs[0].upper, scale=Scale.RATIO)


def by_profiles(task: Task) -> Iterator[Measure]:
    """Compute divergences as integrals."""
    if task.subject.chain is None:
        raise LimitError("the automaton is nondeterministic")
    s, t = task.subject.chain.pairs[0]
    chi2, kl = by_profile(task.subject.chain, s, t, deadline=task.deadline)
    yield _both_ways("chi2_profile", Scale.DIVERGENCE, chi2)
    yield _both_ways("kl_profile", Scale.DIVERGENCE, kl)
