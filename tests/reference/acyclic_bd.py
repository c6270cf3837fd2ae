"""A slow and obvious bd_alpha for small chains without cycles, to compare the engine with.

It iterates Gamma from 0 over all pairs until nothing changes any more, every linear program over all states
that carry the label in question, solved by a textbook simplex in exact arithmetic. A fixed point that is
reached from below is the least one. Nothing here is shared with the package but the class of chains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import fmpq

from bisimdist.models.lmc import LMC, Row

__all__ = ["acyclic_bd", "maximise", "skewed_kantorovich"]

ZERO, ONE = fmpq(0), fmpq(1)
Costs = Callable[[int, int], fmpq]


def maximise(
    objective: Sequence[fmpq], rows: Sequence[Sequence[fmpq]], limits: Sequence[fmpq]
) -> tuple[fmpq, list[fmpq]]:
    """Return the maximum of objective·x and an x, subject to rows·x <= limits and x >= 0.

    The limits are at least 0, so x = 0 is a start; Bland's rule, so it ends. The maximum must be finite.
    """
    variables, constraints = len(objective), len(rows)
    table = [
        [*row, *(ONE if k == at else ZERO for k in range(constraints)), limit]
        for at, (row, limit) in enumerate(zip(rows, limits, strict=True))
    ]
    reduced = [-value for value in objective] + [ZERO] * (constraints + 1)
    basis = [variables + at for at in range(constraints)]
    while any(value < 0 for value in reduced[:-1]):
        enter = next(k for k, value in enumerate(reduced) if value < 0)
        leave = min((row[-1] / row[enter], basis[at], at) for at, row in enumerate(table) if row[enter] > 0)[
            2
        ]
        pivot = table[leave][enter]
        table[leave] = [value / pivot for value in table[leave]]
        for row in (*table[:leave], *table[leave + 1 :], reduced):
            factor = row[enter]
            if factor != 0:
                row[:] = [value - factor * other for value, other in zip(row, table[leave], strict=True)]
        basis[leave] = enter
    solution = [ZERO] * (variables + constraints)
    for at, variable in enumerate(basis):
        solution[variable] = table[at][-1]
    return reduced[-1], solution[:variables]


def skewed_kantorovich(alpha: fmpq, m: Row, m_prime: Row, states: Sequence[int], d: Costs) -> fmpq:
    """Return sup over f of the integral of f under m minus alpha times that under m', on `states`.

    Constraints f_i - alpha f_j <= d(i, j) are added only when they are broken, which changes no optimum.
    """
    one, two = dict(m), dict(m_prime)
    gain = [one.get(i, ZERO) - alpha * two.get(i, ZERO) for i in states]
    size = range(len(states))
    rows = [[ONE if k == i else ZERO for k in size] for i in size]
    limits = [ONE for _ in size]
    while True:
        value, f = maximise(gain, rows, limits)
        broken = [
            (i, j) for i in size for j in size if i != j and f[i] - alpha * f[j] > d(states[i], states[j])
        ]
        if not broken:
            return value
        for i, j in broken:
            rows.append([ONE if k == i else -alpha if k == j else ZERO for k in size])
            limits.append(d(states[i], states[j]))


def acyclic_bd(lmc: LMC, alpha: fmpq, *, rounds: int = 60) -> dict[tuple[int, int], fmpq]:
    """Return bd_alpha of all pairs (i, j) with i < j, exactly.

    Raises
    ------
    RuntimeError
        If the iteration still moves after so many rounds, as it may where there are cycles.
    """
    alike: dict[str, list[int]] = {}
    for state, label in enumerate(lmc.labels):
        alike.setdefault(label, []).append(state)
    pairs = [(i, j) for j in range(len(lmc)) for i in range(j)]
    value = {(i, j): ZERO if lmc.labels[i] == lmc.labels[j] else ONE for i, j in pairs}

    def d(i: int, j: int) -> fmpq:
        return ZERO if i == j else value[min(i, j), max(i, j)]

    solved: dict[tuple[int, int, str], tuple[list[fmpq], fmpq, fmpq]] = {}

    def both_ways(i: int, j: int, label: str) -> tuple[fmpq, fmpq]:
        states = alike[label]
        costs = [d(a, b) for a in states for b in states]
        known = solved.get((i, j, label))
        if known is None or known[0] != costs:
            m, m_prime = lmc.rows[i], lmc.rows[j]
            forward = skewed_kantorovich(alpha, m, m_prime, states, d)
            known = (costs, forward, skewed_kantorovich(alpha, m_prime, m, states, d))
            solved[i, j, label] = known
        return known[1:]

    def gamma(i: int, j: int) -> fmpq:
        if lmc.labels[i] != lmc.labels[j]:
            return ONE
        labels = {lmc.labels[k] for k, _ in (*lmc.rows[i], *lmc.rows[j])}
        parts = [both_ways(i, j, label) for label in sorted(labels)]
        return max(sum((part[0] for part in parts), ZERO), sum((part[1] for part in parts), ZERO))

    for _ in range(rounds):
        following = {(i, j): gamma(i, j) for i, j in pairs}
        if following == value:
            return value
        value = following
    raise RuntimeError(f"the iteration still moves after {rounds} rounds")
