"""The sweeps over flat tables as machine code, or as they stand."""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from types import SimpleNamespace

import numpy as np

from bisimdist.distances.engine import flat_bases, flat_plan, flat_sweeps
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.lp.compiled import compiled_kernel, machine_code
from bisimdist.progress import NEVER, Deadline

INTERPRETED = 2_500
"""So many sides, times squares of widths, are worked on interpreted: to load takes half a second."""

MAKING = 15.0  # seconds that it may take to make machine code, after an installation

_seen: Counter[bool] = Counter()
"""How much this process has done so far, of simple chains and of others: that decides about loading code."""

_PLAN = ("number", "_share", "_divide", "forest", "_transport", "_ship", "make_plan")
_SWEEPS = (
    "_keep",
    "_followed",
    "_places",
    "_sides",
    "_side",
    "_pair",
    "_found",
    "improve",
    "follow",
    "pay",
    "reach",
    "violations",
    "close",
)

_BASES = ("_program", "_pack", "write_bases")


def _index(place: int) -> np.uint64:
    """Return a place as a number that cannot be negative."""
    return np.uint64(place)


@cache
def flat_code(simple: bool = True) -> SimpleNamespace:
    """Return the compiled sweeps, of `simple` chains or any; a process loads or makes them once."""
    kernel = {name: compiled_kernel()[name] for name in ("simplex", "basis_flows")}
    suffix = "" if simple else "_any"
    options = {"error_model": "numpy"}  # no sweep divides by 0
    plan = machine_code(_PLAN, {**vars(flat_plan), **kernel, "SIMPLE": simple}, suffix, **options)
    made = {"SIMPLE": simple, **{name: plan[name] for name in ("number", "forest", "make_plan")}}
    made["index"] = machine_code(("_index",), globals())["_index"]
    sweeps = machine_code(_SWEEPS, {**vars(flat_sweeps), **made}, suffix, **options)
    written = machine_code(_BASES, {**vars(flat_bases), **made}, suffix, **options)
    return SimpleNamespace(**{**sweeps, "write_bases": written["write_bases"]})


def code_for(layout: Layout, deadline: Deadline = NEVER) -> SimpleNamespace:
    """Return the sweeps, interpreted if that takes less time than to load (in haste: make) machine code."""
    size = layout.pairs * layout.sides * layout.width**2
    _seen[layout.simple] += size
    left = deadline.left()
    hurried = size <= INTERPRETED and left is not None and left < MAKING and not _made(layout.simple)
    if hurried or _seen[layout.simple] <= INTERPRETED:
        return SimpleNamespace(**{**vars(flat_sweeps), **vars(flat_bases)})
    return flat_code(layout.simple)


def _made(simple: bool) -> bool:
    """Tell whether this process has the first and the last sweep of a question in machine code."""
    if "numba" not in sys.modules:
        return False
    code = flat_code(simple)
    return all(sweep.signatures for sweep in (code.reach, code.improve, code.violations))
