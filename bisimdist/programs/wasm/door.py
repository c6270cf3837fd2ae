"""``FILE.wasm:FUNCTION`` as a model: a module is read, explored, and held against a second engine."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from bisimdist.errors import ModelError, UsageError
from bisimdist.interruption import deferred
from bisimdist.programs.chain import ProgramChain, compiled_kinds
from bisimdist.programs.control import Outside, line_within
from bisimdist.programs.front import chain_within, expand, inputs_and_pairs, origin_of
from bisimdist.programs.inputs import Input, Relation
from bisimdist.programs.request import Request
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

_GUARDED: list[object] = []
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
    given = opened(argument, request.chances, request.arguments, request.layout)
    module, index, _ = given.sampler
    chosen, asked = inputs_and_pairs(inputs, pairs, neighbours)
    for item in chosen:
        given.check(item.name, item.make())
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _NESTED))
    try:
        machine = Machine(given.sampler, kinds)
        machine.rehearse(given.laid, [item.make() for item in chosen], request.deadline)
        for attempt in itertools.count():
            try:
                return _explored(machine, kinds, given, chosen, asked, request)
            except Remembered:
                machine.again(forgets=attempt < FORGETTING)
        raise AssertionError
    except (Trap, RecursionError, Outside) as error:
        what, place = str(error), getattr(error, "place", f"in {module.name_of(index)}")
        _, offset = line_within(error.__traceback__, {module.source})
        if offset:
            place = Lines(module).place(offset)
        if isinstance(error, RecursionError):
            what = "the call stack is exhausted: calls are nested too deep"
        if isinstance(error, Outside):
            what = f"{what}; {error.instead}"
        raise ModelError(what, source=module.source, place=place) from None
    finally:
        sys.setrecursionlimit(limit)


def _explored(  # noqa: PLR0913, PLR0917
    machine: Machine,
    kinds: frozenset[str],
    given: Given,
    inputs: Sequence[Input],
    pairs: Sequence[tuple[str, str]],
    request: Request,
) -> ProgramChain:
    module, index, _ = given.sampler
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
            same = module.digest, index, given.sampler.chances, given.more, given.layout, names, runs, seen
            if same not in _GUARDED:
                guard(machine, given, inputs, runs=runs, counts=seen, deadline=until)
                if not ended:
                    _GUARDED.append(same)
        seen_as, files = request.observe or "output", {exploration.file: module.digest}
        origin = origin_of(exploration, module.name_of(index), seen_as, files, pairs, ended)
    plain = replace(request, observe="output")
    return chain_within(exploration, plain, pairs, origin, view=lambda graph, _: CompiledView(graph, kinds))
