"""Distributions on traces and the true delta, by brute force."""

from __future__ import annotations

from flint import fmpq

from bisimdist.models.lmc import LMC

__all__ = ["trace_distribution", "true_delta"]

Trace = tuple[str, ...]


def trace_distribution(lmc: LMC, start: int, length: int) -> dict[Trace, fmpq]:
    """Return the probability of every trace of so many labels from a state, its own label included."""
    runs: dict[tuple[Trace, int], fmpq] = {((lmc.labels[start],), start): fmpq(1)}
    for _ in range(length - 1):
        longer: dict[tuple[Trace, int], fmpq] = {}
        for (trace, state), mass in runs.items():
            for target, probability in lmc.rows[state]:
                key = ((*trace, lmc.labels[target]), target)
                longer[key] = longer.get(key, fmpq(0)) + mass * probability
        runs = longer
    traces: dict[Trace, fmpq] = {}
    for (trace, _), mass in runs.items():
        traces[trace] = traces.get(trace, fmpq(0)) + mass
    return traces


def true_delta(lmc: LMC, s: int, t: int, alpha: fmpq, length: int) -> fmpq:
    """Return the true delta on traces of a length: all there is to see where all runs have ended by then."""
    p, q = trace_distribution(lmc, s, length), trace_distribution(lmc, t, length)
    zero = fmpq(0)

    def one_way(p: dict[Trace, fmpq], q: dict[Trace, fmpq]) -> fmpq:
        return sum((max(mass - alpha * q.get(trace, zero), zero) for trace, mass in p.items()), zero)

    return max(one_way(p, q), one_way(q, p))
