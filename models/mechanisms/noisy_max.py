"""Discrete Noisy Max: which of n query results is the largest once noise has been added.

Source: LWZ22-conference Algorithm 2, LWZ22-long Algorithm 2, LWZ22-long Algorithm 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.mechanisms.geometric import truncated_geometric
from bisimdist.models.mechanisms.mechanism import Mechanism, Result

TIES = ("first", "uniform")
"""How a tie is broken: ``first`` (the naive mechanism) or ``uniform`` (the improved one)."""


def winner_distribution(
    results: Sequence[int], noise: Sequence[Sequence[fmpq]], ties: str
) -> tuple[fmpq, ...]:
    """Return for each query the probability that its noisy result is declared the largest.

    ``results``: the true results, each an index of `noise`.
    ``noise``: for each true value the distribution of the noisy one.
    ``ties``: ``"first"``: among the largest noisy results the first index wins; ``"uniform"``: each wins with
        the same probability.
    returns: one probability for each query; they sum to one.
    Raises UsageError if there is no result, or `ties` is another word.
    Sources: Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", 2014, Section 3.3; LWZ22.

    >>> winner_distribution([0, 0], truncated_geometric("1/2", 3), "uniform")
    (1/2, 1/2)
    >>> winner_distribution([0, 0], truncated_geometric("1/2", 3), "first")
    (3/4, 1/4)
    """
    if not results:
        raise UsageError("there is no query result; expected at least one")
    if ties not in TIES:
        raise UsageError(f"ties={ties!r} is not usable; expected {' or '.join(TIES)}")
    wins = [fmpq(0)] * len(results)
    for top in range(len(noise[0])):
        below = [sum(noise[result][:top], fmpq(0)) for result in results]
        equal = [noise[result][top] for result in results]
        for winner in range(len(results)):
            wins[winner] += _wins_at(winner, below, equal, ties)
    return tuple(wins)


def _wins_at(winner: int, below: Sequence[fmpq], equal: Sequence[fmpq], ties: str) -> fmpq:
    """Return the probability that the winner has the largest noisy result and that it is this one."""
    if ties == "first":
        chance = equal[winner]
        for index, (less, same) in enumerate(zip(below, equal, strict=True)):
            if index != winner:
                chance *= less if index < winner else less + same
        return chance
    tied = [equal[winner]]  # by the number of others that are as large
    for index, (less, same) in enumerate(zip(below, equal, strict=True)):
        if index != winner:
            longer = [chance * less for chance in tied] + [fmpq(0)]
            for count, chance in enumerate(tied):
                longer[count + 1] += chance * same
            tied = longer
    return sum((chance / (count + 1) for count, chance in enumerate(tied)), fmpq(0))


def noisy_max(n: int, *, alpha: ExactNumber = "1/2", levels: int = 3, ties: str = "uniform") -> Mechanism:
    """Return Noisy Max for n queries with truncated geometric noise.

    ``n``: how many queries; a result is a tuple of n integers from 0 to levels - 1.
    ``alpha``, ``levels``: the noise on each result (see `truncated_geometric`).
    ``ties``: ``"first"`` is the naive mechanism, ``"uniform"`` the improved one.
    Raises UsageError if there is no query, or an argument is out of range.

    >>> noisy_max(2, ties="first").answer((0, 2))
    {'1': 1/3, '2': 2/3}
    """
    if n < 1:
        raise UsageError(f"there are {n} queries; expected at least 1")
    if ties not in TIES:
        raise UsageError(f"ties={ties!r} is not usable; expected {' or '.join(TIES)}")
    noise = truncated_geometric(alpha, levels)

    def answer(result: Result) -> Mapping[str, fmpq]:
        if (
            not isinstance(result, tuple)
            or len(result) != n
            or not all(isinstance(value, int) and 0 <= value < levels for value in result)
        ):
            raise UsageError(f"the query result is {result!r}; expected {n} integers from 0 to {levels - 1}")
        chances = winner_distribution(result, noise, ties)
        return {str(i): p for i, p in enumerate(chances, start=1) if p}

    name = "naive Noisy Max" if ties == "first" else "improved Noisy Max"
    return Mechanism(name, tuple(str(i) for i in range(1, n + 1)), answer)
