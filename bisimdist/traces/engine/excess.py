"""What a budget leaves over at a length: two quantities that are easily confused, under two names.

A pair may exceed a budget by a little. "By a little" has two meanings, and neither bounds the other one from
above without a factor that is the number of sequences:

- `pointwise_delta`: by how much a *single* sequence exceeds it, at most;
- `set_wise_delta`: by how much a *set* of sequences does, which is what (epsilon, delta)-privacy speaks of.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.models.hmm import HMM
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.forward import is_possible

MAX_PREFIXES = 500_000

_Masses = tuple[tuple[int, fmpq], ...]


def pointwise_delta(
    model: HMM, pair: tuple[str, str], ratio: ExactNumber, length: int, *, deadline: Deadline = NEVER
) -> fmpq:
    """Return the least d with Pr(w | pi) <= C Pr(w | tau) + d, and the converse, for every sequence w.

    >>> from bisimdist.models.library.hidden_markov import contagious_disease
    >>> model = contagious_disease("9/10")
    >>> pointwise_delta(model, model.pairs[0], "3/2", 1), set_wise_delta(model, model.pairs[0], "3/2", 1)
    (43/120, 43/120)
    """
    return max(max(*gaps, fmpq(0)) for gaps, _ in _excesses(model, pair, ratio, length, deadline))


def set_wise_delta(
    model: HMM, pair: tuple[str, str], ratio: ExactNumber, length: int, *, deadline: Deadline = NEVER
) -> fmpq:
    """Return the least d with Pr(E | pi) <= C Pr(E | tau) + d, and the converse, for every set E.

    ``model``, ``pair``, ``ratio``, ``length``, ``deadline``: as in `pointwise_delta`, which is never more
        than this.
    """
    totals = [fmpq(0), fmpq(0)]
    for gaps, count in _excesses(model, pair, ratio, length, deadline):
        for side in (0, 1):
            totals[side] += count * max(gaps[side], fmpq(0))
    return max(totals)


def _excesses(
    model: HMM, pair: tuple[str, str], ratio: ExactNumber, length: int, deadline: Deadline
) -> Iterator[tuple[tuple[fmpq, fmpq], int]]:
    """Yield both excesses over the budget of all sequences, those with the same two vectors as one."""
    budget = to_fmpq(ratio)
    if budget < 1:
        raise UsageError(f"the ratio is {format_rational(budget)}; expected at least 1")
    if model.parametric:
        raise UsageError("the model has parameters; expected one with numbers only (see HMM.at)")
    starts = [model.distribution(name) for name in pair]
    if length < 1 or not is_possible(model, starts, length):
        raise UsageError(f"no sequence of {length} observations is possible from either distribution")
    layer: dict[tuple[_Masses, ...], int] = {tuple(_plain(dict(start)) for start in starts): 1}
    for position in range(length):
        following: dict[tuple[_Masses, ...], int] = {}
        for sides, count in layer.items():
            deadline.check()
            masses = [_moved(model, side) if position else dict(side) for side in sides]
            for symbol in range(len(model.observations)):
                seen = tuple(_observed(model, side, symbol) for side in masses)
                if any(seen):
                    following[seen] = following.get(seen, 0) + count
            if len(following) > MAX_PREFIXES:
                raise LimitError(f"there are more than {MAX_PREFIXES} different prefixes")
        layer = following
    for (first, second), count in layer.items():
        one, two = (sum((mass for _, mass in side), fmpq(0)) for side in (first, second))
        yield (one - budget * two, two - budget * one), count


def _plain(masses: dict[int, fmpq]) -> _Masses:
    return tuple(sorted((state, mass) for state, mass in masses.items() if mass))


def _moved(model: HMM, side: _Masses) -> dict[int, fmpq]:
    moved: dict[int, fmpq] = {}
    for state, mass in side:
        for target, weight in model.rows[state]:
            moved[target] = moved.get(target, fmpq(0)) + mass * weight
    return moved


def _observed(model: HMM, masses: dict[int, fmpq], symbol: int) -> _Masses:
    return _plain(
        {
            state: mass * weight
            for state, mass in masses.items()
            for made, weight in model.emissions[state]
            if made == symbol
        }
    )
