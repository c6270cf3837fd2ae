"""Skewed problems through the transportation kernel: direct couplings first, detours only where they pay."""

from __future__ import annotations

from math import lcm

import numpy as np
from flint import fmpq

from bisimdist.lp.network import given_up_column, move_column, slack_column
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.program import Program
from bisimdist.lp.simplex import solve_simplex
from bisimdist.lp.transport import TransportBasis, solve_program
from bisimdist.progress import NEVER, Deadline

NEAR = 1e-9
"""What doubles say of numbers up to 1 counts where it is clearer than this; exact numbers decide the rest."""

MUCH = fmpq(2)  # more than any difference of a potential and a distance


def program_of(problem: SkewedProblem) -> tuple[Program, int]:
    """Return the transportation program of direct couplings, and what stands for cost 1 in `costs_of`.

    The cells of the program number the entries of the distance matrix, row by row.
    """
    excess = problem.excess()
    alpha, n = problem.alpha, len(problem)
    sources = tuple(i for i, c in enumerate(excess) if c > 0)
    sinks = tuple(j for j, c in enumerate(excess) if c < 0)
    room = {j: -excess[j] / alpha for j in sinks}
    whole = lcm(1, *(int(excess[i].q) for i in sources), *(int(room[j].q) for j in sinks))
    one = lcm(1, *{int(problem.distance[i][j].q) for i in sources for j in sinks})
    program = Program(
        sources,
        sinks,
        tuple(int((excess[i] * whole).p) for i in sources),
        tuple(int((room[j] * whole).p) for j in sinks),
        tuple(i * n + j for i in sources for j in sinks),
        whole,
    )
    return program, one


def solve_direct(problem: SkewedProblem, *, deadline: Deadline = NEVER) -> SkewedOptimum:
    """Solve a skewed problem exactly, by direct couplings where these are optimal.

    The potentials of the transportation program are extended to all nodes by the least function that the
    constraints allow. If that raises the potential of no sink, the direct coupling is optimal; otherwise the
    general simplex goes on from its basis.

    >>> half = fmpq(1, 2)
    >>> distance = ((fmpq(0), half), (half, fmpq(0)))
    >>> solve_direct(SkewedProblem(fmpq(2), (fmpq(1), fmpq(0)), (fmpq(0), fmpq(1)), distance)).value
    1/2
    """
    deadline.check()
    program, one = program_of(problem)
    n = len(problem)
    distances = (problem.distance[cell // n][cell % n] for cell in program.cells)
    costs = [int(distance.p) * (one // int(distance.q)) for distance in distances]
    basis = solve_program(program, costs, one)
    potential = _extended(problem, program, basis, one)
    if potential is None:
        return solve_simplex(problem, _columns(problem, program, basis), deadline=deadline)
    moves: dict[tuple[int, int], fmpq] = {}
    given_up: dict[int, fmpq] = {}
    sources = len(program.sources)
    for v, (above, flow) in enumerate(zip(basis.parent, basis.flow, strict=True)):
        if flow == 0:
            continue
        mass = fmpq(flow, program.whole)
        if v < sources and above < 0:
            given_up[program.sources[v]] = mass
        elif v < sources:
            moves[program.sources[v], program.sinks[above - sources]] = mass
        elif above >= 0:
            moves[program.sources[above], program.sinks[v - sources]] = mass
    value = fmpq(basis.cost(program, costs, one), program.whole * one)
    columns = _columns(problem, program, basis)
    return SkewedOptimum(value, potential, moves, given_up, columns, basis.pivots)


def _extended(
    problem: SkewedProblem, program: Program, basis: TransportBasis, one: int
) -> tuple[fmpq, ...] | None:
    """Extend the potentials to all nodes; None if that contradicts them."""
    alpha, n = problem.alpha, len(problem)
    sources = len(program.sources)
    potential = [fmpq(0)] * n
    for v, value in enumerate(basis.potential):
        if v < sources:
            potential[program.sources[v]] = fmpq(value, one)
        else:
            potential[program.sinks[v - sources]] = fmpq(value, one) / alpha
    fixed = set(program.sources) | set(program.sinks)
    paid = [alpha * f for f in potential]  # what a node can bear without its potential being raised
    rough = np.array([[float(distance) for distance in row] for row in problem.distance])
    roughly_paid = np.array([float(min(enough, MUCH)) for enough in paid])
    waiting = [i for i in sorted(fixed) if potential[i] > 0]
    while waiting:
        i = waiting.pop()
        here = potential[i]
        for k in np.flatnonzero(float(here) - rough[i] - roughly_paid > -NEAR).tolist():
            raised = here - problem.distance[i][k]
            if k != i and raised > paid[k]:
                if k in fixed:
                    return None
                paid[k] = raised
                roughly_paid[k] = float(raised)
                potential[k] = raised / alpha
                waiting.append(k)
    return tuple(potential)


def _columns(problem: SkewedProblem, program: Program, basis: TransportBasis) -> tuple[int, ...]:
    """Return the basis as columns of the general simplex."""
    n, sources = len(problem), len(program.sources)
    columns = []
    for v, above in enumerate(basis.parent):
        if v < sources:
            i = program.sources[v]
            columns.append(
                given_up_column(n, i) if above < 0 else move_column(n, i, program.sinks[above - sources])
            )
        else:
            j = program.sinks[v - sources]
            columns.append(slack_column(n, j) if above < 0 else move_column(n, program.sources[above], j))
    rest = set(range(n)) - set(program.sources) - set(program.sinks)
    return (*columns, *(slack_column(n, k) for k in sorted(rest)))
