"""What the couplings of many sides move, read from the flat arrays of a batch at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bisimdist.lp.compiled import Int64Array

if TYPE_CHECKING:
    from bisimdist.distances.engine.strategy import Strategy


class Moves(NamedTuple):
    """Masses that move to pairs, and masses that are given up, in the units of the scales of their sides."""

    row: Int64Array
    number: Int64Array  # the pair, which a row may name several times
    mass: Int64Array
    lost_row: Int64Array
    lost: Int64Array


def unusual_sides(strategy: Strategy, bits: int) -> Int64Array:
    """Return the sides whose couplings are not exactly in the flat arrays, or whose scale has more bits."""
    functional = strategy.functional
    programs = sorted(functional.batch.rounded.union(strategy.general))
    wide = [side for side, scale in enumerate(functional.scale) if scale.bit_length() > bits]
    of_programs = functional.side_of[np.array(programs, dtype=np.int64)]
    return np.unique(np.concatenate((of_programs, np.array(wide, dtype=np.int64))))


def moves_of(strategy: Strategy, row_of: Int64Array) -> Moves:
    """Return the moves of sides that are in the flat arrays.

    ``row_of``: by side the row that it gets; -1 where it is not wanted.
    """
    functional, batch = strategy.functional, strategy.functional.batch
    sources, sinks = np.diff(batch.source_start), np.diff(batch.sink_start)
    node_start = np.asarray(batch.node_start, dtype=np.int64)
    owner = np.repeat(np.arange(len(batch)), sources + sinks)
    row = row_of[functional.side_of[owner]]
    kept = np.flatnonzero((row >= 0) & (strategy.basis.flow != 0))
    owner, row = owner[kept], row[kept]
    flow, above = strategy.basis.flow[kept], strategy.basis.parent[kept]
    node, first = kept - node_start[owner], sources[owner]
    is_source = node < first
    lost = is_source & (above < 0)
    moved = above >= 0
    width = sinks[owner]
    cell = np.where(is_source, node * width + above - first, above * width + node - first)
    number = batch.cells[(batch.cell_start[owner] + cell)[moved]]
    return Moves(row[moved], number, flow[moved], row[lost], flow[lost])
