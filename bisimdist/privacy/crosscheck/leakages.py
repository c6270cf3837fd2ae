"""The leakages of the cross-check: divergences of the traces of a pair, and what a guess gains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.exact.scale import larger
from bisimdist.faces.shown.standing import Bounds, Measure, Scale
from bisimdist.models.lmc import LMC
from bisimdist.privacy.crosscheck.divergence_by_profile import by_profile
from bisimdist.privacy.engine.divergence import logarithm
from bisimdist.privacy.leakage.ask import leakage
from bisimdist.progress import Deadline

if TYPE_CHECKING:
    from bisimdist.privacy.crosscheck.measures import Task

GAP = fmpq(1, 10**6)
MOST_TRACES = 20_000

LEAKAGES: dict[Scale, dict[str, tuple[str, str]]] = {
    Scale.RATIO: {
        "min_entropy": ("e^L_inf", "min-entropy leakage: how much likelier a guess is right after the trace"),
        "renyi_2": ("e^D_2", "Rényi's divergence of order 2, the larger direction"),
    },
    Scale.ADDITIVE: {"hellinger": ("H^2/2", "squared Hellinger distance, halved")},
    Scale.DIVERGENCE: {
        "kl_length": ("KL to {K}", "the same of the first {K} labels, trace by trace; the larger direction"),
        "kl": ("KL", "divergence of Kullback and Leibler, the larger direction"),
        "kl_profile": ("KL by profile", "the same as an integral over delta in both directions"),
        "chi2": ("chi^2", "chi-squared divergence, the larger direction"),
        "chi2_profile": ("chi^2 by profile", "the same as an integral over delta in both directions"),
    },
}  # by scale: name, symbol and title


def _both_ways(name: str, scale: Scale, ways: tuple[Bounds, Bounds]) -> Measure:
    lower, upper = (larger(*ends) for ends in zip(*ways, strict=True))
    return Measure(name, lower, upper, directions=ways, scale=scale)


def _leaked(task: Task, measure: str, *, both: bool) -> list[Bounds]:
    answer = leakage(
        task.subject.known_chain,
        measure,
        pairs=[task.subject.pair],
        both=both,
        gap=GAP,
        deadline=task.deadline,
        progress=task.progress,
    )
    return [(bound.lower, bound.upper) for bound in answer.pairs]


def _ways(task: Task, measure: str) -> tuple[Bounds, Bounds]:
    there, back = _leaked(task, measure, both=True)
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
    ((lower, upper),) = _leaked(task, "min-entropy", both=False)
    yield Measure("min_entropy", lower, upper, scale=Scale.RATIO)


def by_profiles(task: Task) -> Iterator[Measure]:
    """Compute divergences as integrals."""
    chain = task.subject.known_chain
    chi2, kl = by_profile(chain, *chain.pairs[0], deadline=task.deadline)
    yield _both_ways("chi2_profile", Scale.DIVERGENCE, chi2)
    yield _both_ways("kl_profile", Scale.DIVERGENCE, kl)


def by_length(task: Task) -> Iterator[Measure]:
    """Compute the divergence of the traces of a length by listing them."""
    masses = list(_traces(task.subject.known_chain, task.length, task.deadline))
    there, back = (_relative(way) for way in (masses, [(y, x) for x, y in masses]))
    yield _both_ways("kl_length", Scale.DIVERGENCE, (there, back))


Row = dict[int, fmpq]


def _traces(chain: LMC, length: int, deadline: Deadline) -> Iterator[tuple[fmpq, fmpq]]:
    """Yield how probable each trace of so many labels after the first is from both states of the pair."""
    s, t = chain.pairs[0]
    start: dict[str, tuple[Row, Row]] = {}
    for way, state in enumerate((s, t)):
        start.setdefault(chain.labels[state], ({}, {}))[way][state] = fmpq(1)
    layer = list(start.values())
    for _ in range(length):
        deadline.check()
        following: list[tuple[Row, Row]] = []
        for rows in layer:
            seen: dict[str, tuple[Row, Row]] = {}
            for way, row in enumerate(rows):
                for state, p in row.items():
                    for target, q in chain.rows[state]:
                        into = seen.setdefault(chain.labels[target], ({}, {}))[way]
                        into[target] = into.get(target, fmpq(0)) + p * q
            following += seen.values()
        if len(following) > MOST_TRACES:
            raise LimitError("there are too many traces")
        layer = following
    for x, y in layer:
        yield sum(x.values(), fmpq(0)), sum(y.values(), fmpq(0))


def _relative(masses: Sequence[tuple[fmpq, fmpq]]) -> Bounds:
    if any(x and not y for x, y in masses):
        return None, None
    ends = [(x, logarithm(x / y)) for x, y in masses if x]
    low, high = (sum((x * log[end] for x, log in ends), fmpq(0)) for end in (0, 1))
    return max(low, fmpq(0)), high
