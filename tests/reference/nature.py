"""Chains that are only known roughly by brute force: every choice of nature in both worlds, in fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product

from flint import fmpq

from bisimdist.models.intervals import IntervalChain

__all__ = ["corners", "most_gained", "most_seen"]

Masses = Mapping[int, Fraction]
Row = tuple[tuple[int, Fraction], ...]
Phi = Callable[[Fraction, Fraction], Fraction]


def _plain(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def corners(chain: IntervalChain, state: int) -> set[Row]:
    """Return the distributions of a row at which all successors but one are at an end of their interval."""
    row = [(t, _plain(low), _plain(high)) for t, low, high in chain.rows[state]]
    found = set()
    for free, (target, low, high) in enumerate(row):
        others = row[:free] + row[free + 1 :]
        for ends in product(*((below, above) for _, below, above in others)):
            rest = 1 - sum(ends, Fraction(0))
            if low <= rest <= high:
                chosen = [*((t, p) for (t, _, _), p in zip(others, ends, strict=True)), (target, rest)]
                found.add(tuple(sorted((t, p) for t, p in chosen if p)))
    return found


def most_gained(chain: IntervalChain, alpha: Fraction, s: int, t: int) -> Fraction:
    """Return what is gained from one state against another of its label, where runs come to rest."""
    if chain.labels[s] != chain.labels[t]:
        return Fraction(1)
    return most_seen(chain, lambda x, y: max(Fraction(0), x - alpha * y), (s, Fraction(1)), (t, Fraction(1)))


def most_seen(
    chain: IntervalChain, phi: Phi, here: tuple[int, Fraction], there: tuple[int, Fraction]
) -> Fraction:
    """Return the largest sum of a function of two masses over traces, where runs come to rest."""
    rows = [sorted(corners(chain, state)) for state in range(len(chain))]
    return _seen(chain, rows, phi, dict([here]), dict([there]))


def _steps(rows: list[list[Row]], masses: Masses) -> Iterator[dict[int, Fraction]]:
    for chosen in product(*(rows[state] for state in masses)):
        after: dict[int, Fraction] = {}
        for (_, mass), row in zip(masses.items(), chosen, strict=True):
            for target, p in row:
                after[target] = after.get(target, Fraction(0)) + mass * p
        yield after


def _seen(chain: IntervalChain, rows: list[list[Row]], phi: Phi, here: Masses, there: Masses) -> Fraction:
    """Let nature choose as well as it can for a convex function, trace by trace."""
    own = phi(sum(here.values(), Fraction(0)), sum(there.values(), Fraction(0)))
    if not here or not there or all(rows[k] == [((k, Fraction(1)),)] for k in (*here, *there)):
        return own
    best = None
    for first, second in product(_steps(rows, here), _steps(rows, there)):
        total = Fraction(0)
        for label in {chain.labels[k] for k in (*first, *second)}:
            seen, other = (
                {k: p for k, p in after.items() if chain.labels[k] == label} for after in (first, second)
            )
            total += _seen(chain, rows, phi, seen, other)
        best = total if best is None else max(best, total)
    return own if best is None else max(own, best)
