"""The guard: wasmtime runs the module with scripted chance, and must do what the machine does."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.programs.inputs import Input
from bisimdist.programs.machine import Ended
from bisimdist.programs.wasm.given import Given
from bisimdist.programs.wasm.machine import Machine
from bisimdist.programs.wasm.memory import Remembered
from bisimdist.programs.wasm.running import Engine
from bisimdist.progress import NEVER, Deadline

LONGEST = 2000  # paths with more draws are not compared

MOST_DRAWS = 100_000  # so many draws are made altogether

_COUNTED = frozenset({"instructions"})


def guard(  # noqa: PLR0913
    machine: Machine,
    given: Given,
    inputs: Sequence[Input],
    *,
    runs: int,
    counts: bool = True,
    deadline: Deadline = NEVER,
    seed: int = 0,
) -> int:
    """Compare random paths of the machine with runs of the module in wasmtime, if that is installed.

    given: its function, and the arguments.
    inputs: the inputs, each of which is run equally often.
    runs: how many paths there are for all inputs together.
    counts: whether numbers of instructions are compared, too.
    deadline: when to end with what was compared by then.
    Returns: how many paths were compared: results, numbers of draws, and numbers of instructions.
    Raises ModelError if wasmtime does something else than the machine.
    """
    try:
        import wasmtime  # noqa: PLC0415 - an extra
    except ImportError:
        return 0
    forgets = machine.memory.forgets
    machine = Machine(given.sampler, _COUNTED, set(machine.memory.kept), machine)
    machine.memory.forgets = forgets
    engine = Engine(wasmtime, given)
    chooser = random.Random(seed)
    done = draws = 0
    for number in range(runs):
        item = inputs[number % len(inputs)]
        value = item.make()
        try:
            script, end, count = _path(machine, given.laid, value, chooser)
        except Remembered:  # on a path that was cut off
            machine.again(forgets)
            continue
        draws += len(script)
        if end is None:
            continue
        found = engine.run(value, partial(_answer, script))
        found = _comparable(found[0]), *found[1:]
        if not counts:
            found = *found[:2], count
        if found != (end, len(script), count):
            raise ModelError(
                f"wasmtime and the machine differ for the answers {script[:20]}: wasmtime returns {found[0]} "
                f"after {found[1]} draws and {found[2]} instructions, the machine {end} after {len(script)} "
                f"and {count}; no answer is given",
                source=machine.module.source,
                place=f"input {item.name}",
            )
        done += 1
        if draws > MOST_DRAWS or (deadline.moment is not None and time.monotonic() > deadline.moment):
            break
    return done


def _answer(script: Sequence[int], number: int, _: int) -> int:
    return script[number] if number < len(script) else 0


def _path(
    machine: Machine, laid: Callable[..., list[Any]], value: Any, chooser: random.Random
) -> tuple[list[int], Any, int]:
    """Return the answers of a random path, how it ends, and how many instructions it executes."""
    script: list[int] = []
    outcome: Any = None
    count = 0
    for drawn, outcome in machine.path(laid, value, chooser.getrandbits):  # noqa: B007
        script.append(drawn)
        count += machine.tally.count
        if len(script) > LONGEST:
            break
    return script[1:], _comparable(outcome.value) if isinstance(outcome, Ended) else None, count


def _comparable(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_comparable(one) for one in value)
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value.hex()
    return value
