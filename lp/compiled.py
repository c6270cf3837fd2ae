"""The transportation kernel compiled by numba, over whole batches of programs at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimdist.interruption import due
from bisimdist.lp import kernel
from bisimdist.lp.kernel import basis_flows, simplex

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]
UInt8Array = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

_HELPERS = ("basis_flows", "basis_potentials", "sort_tree", "_enter", "_pivot", "simplex")


def interpreted_batch(
    chosen: Int64Array,
    source_start: Int64Array,
    sink_start: Int64Array,
    cell_start: Int64Array,
    supply: Int64Array,
    capacity: Int64Array,
    cells: Int64Array,
    distance: Int64Array,
    one: int,
    parent: Int64Array,
    flow: Int64Array,
    potential: Int64Array,
    value: Float64Array,
    work: Int64Array,
    cost: Int64Array,
    tolerance: int,
) -> int:
    """Solve the `chosen` programs; `value[k]` is the optimum of the k-th in units of one / supply."""
    order = work[0]
    depth = work[1]
    raised_supply = work[2]
    raised_capacity = work[3]
    give = work[4]
    spare = work[5]
    pivots = 0
    for k in range(chosen.shape[0]):
        b = chosen[k]
        i0 = source_start[b]
        j0 = sink_start[b]
        sources = source_start[b + 1] - i0
        sinks = sink_start[b + 1] - j0
        scale_up = sources + 2
        for i in range(sources):
            raised_supply[i] = supply[i0 + i] * scale_up + 1
            give[i] = one
        for j in range(sinks):
            raised_capacity[j] = capacity[j0 + j] * scale_up
            spare[j] = 0
        c0 = cell_start[b]
        for c in range(sources * sinks):
            cost[c] = distance[cells[c0 + c]]
        v0 = i0 + j0
        up = parent[v0 : v0 + sources + sinks]
        x = flow[v0 : v0 + sources + sinks]
        y = potential[v0 : v0 + sources + sinks]
        pivots += simplex(
            sources,
            sinks,
            raised_supply,
            raised_capacity,
            cost,
            give,
            spare,
            up,
            order,
            depth,
            x,
            y,
            tolerance,
        )
        basis_flows(sources, sinks, supply[i0:], capacity[j0:], up, order, x)
        total = 0.0
        for i in range(sources):
            unit = one if up[i] < 0 else cost[i * sinks + up[i] - sources]
            total += float(x[i]) * float(unit)
        for j in range(sinks):
            if up[sources + j] >= 0:
                total += float(x[sources + j]) * float(cost[up[sources + j] * sinks + j])
        value[k] = total
    return pivots


def interpreted_undecided(
    chosen: Int64Array,
    source_start: Int64Array,
    sink_start: Int64Array,
    cell_start: Int64Array,
    cells: Int64Array,
    distance: Int64Array,
    one: int,
    parent: Int64Array,
    potential: Int64Array,
    band: int,
    flag: BoolArray,
) -> None:
    """Flag the programs that have a cell outside the basis whose reduced cost is within `band` of zero."""
    for k in range(chosen.shape[0]):
        b = chosen[k]
        sources = source_start[b + 1] - source_start[b]
        sinks = sink_start[b + 1] - sink_start[b]
        c0 = cell_start[b]
        v0 = source_start[b] + sink_start[b]
        near = False
        for i in range(sources):
            u = potential[v0 + i]
            if parent[v0 + i] >= 0 and one - u <= band:
                near = True
            for j in range(sinks):
                w = sources + j
                if parent[v0 + i] == w or parent[v0 + w] == i:
                    continue
                if distance[cells[c0 + i * sinks + j]] - u + potential[v0 + w] <= band:
                    near = True
        for j in range(sinks):
            if parent[v0 + sources + j] >= 0 and potential[v0 + sources + j] <= band:
                near = True
        flag[k] = near


@cache
def _watch() -> None:
    """Look at the clock between steps of the compiler: after an installation it takes ten seconds."""
    from numba.core.event import Event, Listener, register  # noqa: PLC0415

    class Watch(Listener):  # type: ignore[misc]
        def on_start(self, event: Event) -> None:  # noqa: ARG002
            deadline = due()
            if deadline is not None:
                deadline.check()

        def on_end(self, event: Event) -> None:
            """Do nothing."""

    register("numba:run_pass", Watch())


def machine_code(
    names: Sequence[str], plain: Mapping[str, Any], suffix: str = "", **options: Any
) -> dict[str, Any]:
    """Compile the named functions of a namespace; return it with machine code under their names.

    What is compiled for other constants than those of its module takes a `suffix`: it is kept by name.

    They are compiled when they are called first, or loaded. That ends with `LimitError` where the
    deadline of the public function that is at work passes; what is compiled by then is kept.

    They may not make arrays: these come from the caller, who holds them, and nobody counts who else looks at
    them. To count took longer than the work on a small program, all the more in several threads.
    """
    from numba import njit  # noqa: PLC0415 - half a second to import, and small models never need it

    _watch()
    # numba compiles a function together with the compiled functions that it finds under the names that
    # it calls: so the copies live in a namespace of their own, and the plain ones stay plain
    namespace = dict(plain)
    for name in names:
        copy = FunctionType(plain[name].__code__, namespace, name + suffix)
        copy.__module__, copy.__qualname__ = __name__, name + suffix  # what machine code is kept under
        namespace[name] = njit(cache=True, nogil=True, _nrt=False, **options)(copy)
    return namespace


@cache
def compiled_kernel() -> Mapping[str, Any]:
    """Compile the kernel; under every name its machine code."""
    names = (*_HELPERS, "interpreted_batch", "interpreted_undecided")
    return machine_code(names, {**vars(kernel), **globals()})


def compiled(name: str) -> Callable[..., Any]:
    """Return a compiled function of the kernel; the first call of a process loads or makes machine code."""
    return compiled_kernel()[name]  # type: ignore[no-any-return]
