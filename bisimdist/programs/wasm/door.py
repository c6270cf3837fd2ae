"""``FILE.wasm:FUNCTION`` as a model: a module is read, explored, and held against a second engine."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from bisimdist.errors import ModelError, UsageError
from bisimdist.interruption import deferred
from bisimdist.programs.chain import Origin, ProgramChain, compiled_kinds
from bisimdist.programs.control import Outside
from bisimdist.programs.front import chain_within, expand, inputs_and_pairs
from bisimdist.programs.inputs import Input, Relation
from bisimdist.programs.parting import partings
from bisimdist.programs.request import Request
from bisimdist.programs.wasm.chance import Chance
from bisimdist.programs.wasm.exploring import CompiledExploration
from bisimdist.programs.wasm.given import Given
from bisimdist.programs.wasm.guard import guard
from bisimdist.programs.wasm.lines import Lines
from bisimdist.programs.wasm.linking import opened
from bisimdist.programs.wasm.machine import Machine
from bisimdist.programs.wasm.memory import Remembered
from bisimdist.programs.wasm.numbers import Trap
from bisimdist.programs.wasm.seen import CompiledView
from bisimdist.progress import Deadline

_NESTED = 5000  # how deep Python may nest calls of functions that do not draw

FOR_GUARD = 0.3  # the part of the time that is left after the exploration that the guard may take

_GUARDED: list[tuple[object, dict[int, Chance]]] = []
"""What was held against wasmtime in this process: it need not be again."""

FORGETTING = 50  # after so many attempts nothing is forgotten any more

FEW_RUNS = 200  # along so many random paths a limit leaves time for

MORE_RUNS = 10  # by how much a machine is faster than Python: so many times the runs


def explored_module(
    argument: str,
    inputs: Iterable[Any] | Mapping[str, Any],
    request: Request,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    neighbours: Relation | str | None = None,
) -> ProgramChain:
    """Return the chain of an exported function of a WebAssembly module.

    argument: ``FILE.wasm:FUNCTION``.
    inputs: what to run it on: integers, or lists of them where the request has a layout.
    request: how it is explored; its arguments follow the input, its chances are imports that draw.
    pairs, neighbours: which inputs are pairs.
    Raises ModelError if the module is none, or a run of it fails: with the offset. Raises UsageError if the
        inputs do not fit the function.
    """
    kinds = compiled_kinds(request.observe or "output")
    if request.bits or request.grid is not None or request.allowed:
        raise UsageError(
            "--coins, --round and --allow are for functions in Python; this one is compiled code"
        )
    module, index, chances, given = opened(argument, request.chances, request.arguments, request.layout)
    source, function = module.source, module.name_of(index)
    chosen, asked = inputs_and_pairs(inputs, pairs, neighbours)
    for item in chosen:
        given.check(item.name, item.make())
    kept: set[int] = set()
    lines = Lines(module)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _NESTED))
    try:
        machine = Machine(module, chances, index, kinds, kept)
        machine.rehearse(given.laid, [item.make() for item in chosen], request.deadline)
        for attempt in itertools.count():
            try:
                return _explored(machine, chances, kinds, given, chosen, asked, request)
            except Remembered:
                machine.again(forgets=attempt < FORGETTING)
        raise AssertionError
    except (Trap, RecursionError, Outside) as error:
        what = str(error)
        place = _place(error, lines) or str(getattr(error, "place", f"in {function}"))
        if isinstance(error, RecursionError):
            what = "the call stack is exhausted: calls are nested too deep"
        if isinstance(error, Outside):
            what = f"{what}; {error.instead}"
        raise ModelError(what, source=source, place=place) from None
    finally:
        sys.setrecursionlimit(limit)


def _explored(  # noqa: PLR0913, PLR0917
    machine: Machine,
    chances: dict[int, Chance],
    kinds: frozenset[str],
    given: Given,
    inputs: Sequence[Input],
    pairs: Sequence[tuple[str, str]],
    request: Request,
) -> ProgramChain:
    module, index = machine.module, machine.function
    file = str(Path(module.source).absolute())
    exploration = CompiledExploration(machine, file=file)  # type: ignore[arg-type]
    for item in inputs:
        exploration.start(item.name, given.laid, [item.make()], {})
    ended = not expand(exploration, request, pairs)
    with deferred() if ended else nullcontext():
        runs = FEW_RUNS if ended else MORE_RUNS * request.replays
        if request.replays:
            until = Deadline.after(request.closing) if ended else request.deadline.part(FOR_GUARD)
            seen = "instructions" in kinds
            names = tuple(item.name for item in inputs)
            same = (module.digest, index, tuple(given.more), given.layout, given.place, names, runs, seen)
            if (same, chances) not in _GUARDED:
                guard(machine, chances, given, inputs, runs=runs, counts=seen, deadline=until)
                if not ended:
                    _GUARDED.append((same, chances))
        origin = Origin(
            module.name_of(index),
            request.observe or "output",
            {Path(module.source).name: module.digest},
            len(exploration.nodes),
            {pair: partings(exploration, *pair) for pair in pairs[:20]},
            ended,
            {exploration.file: module.digest},
            frozenset(exploration.places()),
        )
    plain = replace(request, observe="output")
    return chain_within(exploration, plain, pairs, origin, view=lambda graph, _: CompiledView(graph, kinds))


def _place(error: BaseException, lines: Lines) -> str | None:
    """Return the offset and the function where something was raised."""
    trace: TracebackType | None = error.__traceback__
    found = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == lines.module.source:
            found = lines.place(trace.tb_lineno, trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return found
