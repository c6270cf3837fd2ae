"""Couplings and potentials of a strategy, in the form in which a certificate states them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from flint import fmpq

from bisimdist.distances.engine.strategy import Strategy

Witness = dict[int, fmpq | tuple[str, int]]
"""By state: its potential, or how it follows from that of another: ("above", y) or ("below", y)."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """Masses that move, and masses that are given up, all positive."""

    moves: Mapping[tuple[int, int], fmpq]
    given_up: Mapping[int, fmpq]


def _flows(strategy: Strategy, side: int) -> Iterator[tuple[int, int | None, fmpq]]:
    """Yield (from, to, mass) for every flow of a side; to is None where the mass is given up."""
    batch = strategy.functional.batch
    for index in strategy.functional.programs_of(side):
        if index in strategy.general:
            general = strategy.general[index]
            for (a, b), mass in general.optimum.moves.items():
                yield general.nodes[a], general.nodes[b], mass
            for a, mass in general.optimum.given_up.items():
                yield general.nodes[a], None, mass
            continue
        program = batch.programs[index]
        sources = len(program.sources)
        for v, (above, flow) in enumerate(zip(strategy.parents(index), strategy.flows(index), strict=True)):
            if flow == 0:
                continue
            mass = fmpq(flow, program.whole)
            if v < sources:
                yield program.sources[v], None if above < 0 else program.sinks[above - sources], mass
            elif above >= 0:
                yield program.sources[above], program.sinks[v - sources], mass


def coupling(strategy: Strategy, side: int) -> Coupling:
    """Return the coupling of a side; at alpha = 1 the second direction mirrors the first."""
    functional = strategy.functional
    if side % 2 and not functional.both_sides:
        return _mirrored(strategy, side)
    moves: dict[tuple[int, int], fmpq] = {}
    given_up: dict[int, fmpq] = {}
    for i, j, mass in _flows(strategy, side):
        if j is None:
            given_up[i] = given_up.get(i, fmpq(0)) + mass
        else:
            moves[i, j] = moves.get((i, j), fmpq(0)) + mass
    return Coupling(moves, given_up)


def _mirrored(strategy: Strategy, side: int) -> Coupling:
    forward = coupling(strategy, side - 1)
    left, right = strategy.functional.rows_of(side - 1)
    needs = dict(right)
    for i, probability in left:
        needs[i] = needs.get(i, fmpq(0)) - probability
    for (_, j), mass in forward.moves.items():
        needs[j] -= mass
    return Coupling(
        {(j, i): mass for (i, j), mass in forward.moves.items()},
        {j: need for j, need in needs.items() if need > 0},
    )


def witness(strategy: Strategy, side: int) -> Witness:
    """Return the potential of a side, as a walk over its bases: whoever checks it does the sums."""
    batch = strategy.functional.batch
    result: Witness = {}
    for index in strategy.functional.programs_of(side):
        if index in strategy.general:
            general = strategy.general[index]
            result.update(zip(general.nodes, general.optimum.potential, strict=True))
            continue
        program = batch.programs[index]
        sources = len(program.sources)
        for v, above in enumerate(strategy.parents(index)):
            if v < sources:
                state = program.sources[v]
                result[state] = fmpq(1) if above < 0 else ("above", program.sinks[above - sources])
            else:
                state = program.sinks[v - sources]
                result[state] = fmpq(0) if above < 0 else ("below", program.sources[above])
    return result
