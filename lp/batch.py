"""Many transportation programs side by side in flat arrays, the form that the compiled kernel takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from bisimdist.errors import LimitError, LinearProgramError
from bisimdist.interruption import under_deadline
from bisimdist.lp.compiled import (
    BoolArray,
    Float64Array,
    Int64Array,
    compiled,
    interpreted_batch,
    interpreted_undecided,
)
from bisimdist.lp.program import Program
from bisimdist.lp.programs import Programs
from bisimdist.lp.transport import TransportBasis, improve
from bisimdist.progress import NEVER, Deadline

INTERPRETED = 600
"""So many programs run interpreted before the machine code is loaded, which takes half a second or more."""

MAX_EXPONENT = 900  # doubles are used up to 2 to this power
SPLIT = 4096  # fewer programs than this are not worth a second thread
CELLS = 1 << 16  # programs of so many cells are solved in one call, which nothing can interrupt: about 0.1 s
MAX_NODES = 1 << 14  # a program of more nodes would leave its potentials less than 48 bits a distance
ROOM = 1 << 61  # amounts of one program, perturbed, add up to less than this: so no sum of flows overflows


@dataclass(frozen=True, slots=True)
class TransportBatch:
    """Programs packed for the kernel; never changed once made."""

    programs: Programs
    source_start: Int64Array
    sink_start: Int64Array
    cell_start: Int64Array
    supply: Int64Array
    capacity: Int64Array
    cells: Int64Array
    unit: Float64Array  # by program: what stands for mass 1 among its packed amounts
    rounded: frozenset[int]
    """The programs whose amounts did not fit and were rounded: the kernel only guesses their bases."""
    room: int  # the largest number of nodes of a program
    widest: int  # the largest number of cells of a program
    node_start: Sequence[int]
    """The nodes of program b stand at node_start[b] … node_start[b + 1] - 1 in the arrays of a basis."""

    @property
    def finest(self) -> int:
        """The largest power of two that may stand for distance 1, such that no potential overflows."""
        return 1 << min(53, 62 - self.room.bit_length())

    def __len__(self) -> int:
        return len(self.programs)

    def nodes_of(self, program: int) -> slice:
        """Return where the nodes of a program stand in the arrays of a basis."""
        return slice(self.node_start[program], self.node_start[program + 1])


@dataclass(slots=True)
class BatchBasis:
    """The bases of a batch and what the kernel last made of them: the state between two calls."""

    parent: Int64Array
    flow: Int64Array
    potential: Int64Array
    value: Float64Array  # optimal costs, in the units of the distances
    jobs: int = 1  # how many threads share the programs of a call
    solved: int = 0  # how many programs were solved: the first few are not worth loading machine code for
    long_flow: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By program whose amounts were rounded: the exact flows, which do not fit the array."""

    @classmethod
    def start(cls, batch: TransportBatch, *, jobs: int = 1) -> BatchBasis:
        """Return the bases in which every source gives up all that it has."""
        nodes = int(batch.source_start[-1] + batch.sink_start[-1])
        return cls(
            np.full(nodes, -1, dtype=np.int64),
            np.zeros(nodes, dtype=np.int64),
            np.zeros(nodes, dtype=np.int64),
            np.zeros(len(batch), dtype=np.float64),
            jobs,
        )

    def copy(self) -> BatchBasis:
        """Return a copy that can go its own way."""
        return BatchBasis(
            self.parent.copy(),
            self.flow.copy(),
            self.potential.copy(),
            self.value.copy(),
            self.jobs,
            self.solved,
            dict(self.long_flow),
        )

    def solve(  # noqa: PLR0913
        self,
        batch: TransportBatch,
        chosen: Int64Array,
        distance: Int64Array,
        *,
        one: int,
        tolerance: int = 0,
        guess: bool = False,
    ) -> int:
        """Solve the chosen programs for the given distances, each from its last basis; return the pivots.

        ``chosen``: indices of those to solve.
        ``distance``: the distance vector that the cells of the programs refer to.
        ``one``: what stands for distance 1; at most `TransportBatch.finest`.
        ``tolerance``: reduced costs that are negative by no more than this are left.
        ``guess``: leave the bases of programs whose amounts were rounded as the kernel guesses them; they are
            then good for values only. By default they are made feasible and optimal in exact arithmetic.
        """
        self.solved += len(chosen)
        exactly = [] if guess else sorted(batch.rounded.intersection(chosen.tolist()))
        # what was made exact before starts from there, not from another guess
        ready = [index for index in exactly if index in self.long_flow]
        rest = chosen[~np.isin(chosen, ready)] if ready else chosen
        pivots = self._run(batch, rest, distance, one, tolerance)
        for index in exactly:
            costs = [int(distance[cell]) for cell in batch.programs[index].cells]
            basis = self.settle(batch, index, costs, one, tolerance=tolerance)
            self.potential[batch.nodes_of(index)] = basis.potential
            self.value[index] = basis.cost(batch.programs[index], costs, one) / batch.programs[index].whole
            pivots += basis.pivots
        return pivots

    def _run(
        self, batch: TransportBatch, chosen: Int64Array, distance: Int64Array, one: int, tolerance: int
    ) -> int:
        """Run the kernel on the chosen programs, in as many threads as there are jobs."""
        kernel = interpreted_batch if self.solved <= INTERPRETED else compiled("interpreted_batch")
        value = np.empty(len(chosen), dtype=np.float64)

        def run(part: slice) -> int:
            return kernel(
                chosen[part],
                batch.source_start,
                batch.sink_start,
                batch.cell_start,
                batch.supply,
                batch.capacity,
                batch.cells,
                distance,
                one,
                self.parent,
                self.flow,
                self.potential,
                value[part],
                np.empty((6, batch.room), dtype=np.int64),
                np.empty(batch.widest, dtype=np.int64),
                tolerance,
            )

        # programs are independent and each writes to its own places: any split gives the same bytes
        weight = np.cumsum(np.diff(batch.cell_start)[chosen])
        cuts = np.searchsorted(weight, np.arange(CELLS, weight[-1] if len(weight) else 0, CELLS)).tolist()
        parts = self.jobs if len(chosen) >= SPLIT else 1
        cuts += [len(chosen) * k // parts for k in range(parts + 1)]
        slices = [slice(low, high) for low, high in pairwise(sorted(set(cuts)))]
        if parts == 1:
            pivots = sum(map(run, slices))
        else:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (slow to load)

            with ThreadPoolExecutor(parts) as pool:
                pivots = sum(pool.map(under_deadline(run), slices))
        self.value[chosen] = value / batch.unit[chosen]
        return int(pivots)

    def settle(
        self, batch: TransportBatch, program: int, costs: Sequence[int], one: int, *, tolerance: int = 0
    ) -> TransportBasis:
        """Make the basis of one program optimal for exact costs of any size, and return it."""
        nodes = batch.nodes_of(program)
        before = self.parent[nodes].tolist()
        better = improve(batch.programs[program], costs, one, before, tolerance=tolerance)
        self.parent[nodes] = better.parent
        if program in batch.rounded:
            self.long_flow[program] = better.flow
        else:
            self.flow[nodes] = better.flow
        return better

    def flows(self, batch: TransportBatch, program: int) -> Sequence[int]:
        """Return the exact flows of the basis of a program, in the unit of its amounts.

        Raises LinearProgramError if its amounts were rounded and it was never solved exactly.
        """
        if program not in batch.rounded:
            return self.flow[batch.nodes_of(program)].tolist()  # type: ignore[no-any-return]
        if program not in self.long_flow:
            raise LinearProgramError(f"the program {program} was only guessed")
        return self.long_flow[program]

    def proved(
        self, batch: TransportBatch, chosen: Int64Array, distance: Int64Array, *, one: int
    ) -> BoolArray:
        """Tell which of the chosen programs are proved optimal for these very distances.

        In integers: the flows of the basis are not negative and no cell outside it would lower the cost. A
        program whose amounts were rounded is never proved.
        """
        wrong = self.undecided(batch, chosen, distance, one=one, band=-1)
        owner = np.repeat(np.arange(len(batch)), np.diff(batch.node_start))
        wrong |= np.bincount(owner, self.flow < 0, minlength=len(batch))[chosen] > 0
        if batch.rounded:
            wrong |= np.isin(chosen, np.array(sorted(batch.rounded), dtype=np.int64))
        return ~wrong

    def undecided(
        self, batch: TransportBatch, chosen: Int64Array, distance: Int64Array, *, one: int, band: int
    ) -> BoolArray:
        """Tell which of the chosen programs have a cell outside the basis that is within `band` of entering.

        With distances rounded by less than one unit each, the potentials are off by less than the number of
        nodes; so for ``band`` twice that, every other program's basis is optimal for the exact distances.
        """
        flag = np.zeros(len(chosen), dtype=np.bool_)
        kernel = interpreted_undecided if self.solved <= INTERPRETED else compiled("interpreted_undecided")
        kernel(
            chosen,
            batch.source_start,
            batch.sink_start,
            batch.cell_start,
            batch.cells,
            distance,
            one,
            self.parent,
            self.potential,
            band,
            flag,
        )
        return flag


def _float(amount: int) -> float:
    """Return an amount as a double; beyond their range the largest power of two in use is as good a guess."""
    return float(amount) if amount.bit_length() < MAX_EXPONENT else 2.0**MAX_EXPONENT


def pack(programs: Sequence[Program], *, deadline: Deadline = NEVER) -> TransportBatch:
    """Pack programs into arrays; amounts that do not fit 64 bits are rounded, and said to be."""
    deadline.check()
    flat = Programs.of(programs)
    sources, sinks = np.diff(flat.source_start), np.diff(flat.sink_start)
    room = max(1, int((sources + sinks).max(initial=0)))
    if room > MAX_NODES:
        raise LimitError(f"a linear program has {room} nodes; at most {MAX_NODES} are taken on")
    shift = _shifts(flat, sources)
    unit = np.array([_float(whole >> k) for whole, k in zip(flat.whole.tolist(), shift, strict=True)])
    rounded = frozenset(index for index, bits in enumerate(shift) if bits)
    supply, capacity = flat.supply, flat.capacity
    if rounded:
        bits = np.array(shift, dtype=object)
        supply, capacity = (
            np.maximum(amount >> np.repeat(bits, count), 1)
            for amount, count in ((supply, sources), (capacity, sinks))
        )
    return TransportBatch(
        flat,
        flat.source_start,
        flat.sink_start,
        flat.cell_start,
        supply.astype(np.int64, copy=False),
        capacity.astype(np.int64, copy=False),
        flat.cells,
        unit,
        rounded,
        room,
        int(np.diff(flat.cell_start).max(initial=0)),
        (flat.source_start + flat.sink_start).tolist(),
    )


def _shifts(programs: Programs, sources: Int64Array) -> list[int]:
    """Return by program how many bits its amounts have to lose."""
    total: list[int] = [0] * len(programs)
    for amount, start in ((programs.supply, programs.source_start), (programs.capacity, programs.sink_start)):
        # differences of sums are right even where the sums overflow, as long as no program's own does
        below = np.zeros(len(amount) + 1, dtype=amount.dtype)
        np.cumsum(amount, out=below[1:])
        total = [known + more for known, more in zip(total, np.diff(below[start]).tolist(), strict=True)]
    return [
        (amount * (count + 2) // ROOM).bit_length()
        for amount, count in zip(total, sources.tolist(), strict=True)
    ]
