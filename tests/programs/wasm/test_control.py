"""Code with branches, loops, memory and calls does what wasmtime does: results, draws, instructions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from bisimdist.errors import ModelError
from bisimdist.programs.inputs import literal_inputs
from bisimdist.programs.machine import Ended
from bisimdist.programs.wasm.chance import Chance, Sampler, chances_of
from bisimdist.programs.wasm.exploring import CompiledExploration
from bisimdist.programs.wasm.given import Given
from bisimdist.programs.wasm.guard import guard
from bisimdist.programs.wasm.machine import Machine
from bisimdist.programs.wasm.memory import Remembered
from bisimdist.programs.wasm.module import Module
from bisimdist.programs.wasm.states import NOTHING
from tests.programs.wasm.assembly import (
    RANDOM,
    assembled,
    call,
    chain_of,
    get,
    i32,
    law_of,
    law_of_graph,
    unsigned,
)

BLOCK, LOOP, IF, ELSE, END = b"\x02\x40", b"\x03\x40", b"\x04\x40", b"\x05", b"\x0b"
LOADS = (0x28, 0x2C, 0x2D, 0x2E, 0x2F)
STORES = (0x36, 0x3A, 0x3B)
BINARY = (0x6A, 0x6B, 0x6C, 0x71, 0x72, 0x73, 0x48, 0x49, 0x46, 0x74, 0x75, 0x76)
RND, HELPER, NOISY, INNER = 0, 1, 2, 3
VARIABLES, COUNTERS = 3, 3
STACK = b"\x23\0"
TOP = 0x200
"""Where the stack begins: other code reads and writes there, too."""
MOST_PATHS = 2000


def _set(index: int) -> bytes:
    return b"\x21" + unsigned(index)


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> bytes:  # noqa: PLR0911
    """Code that pushes a number of 32 bits."""
    kind = draw(st.integers(0, 9)) if depth else draw(st.integers(0, 2))
    if kind == 0:
        return i32(draw(st.integers(-5, 300)))
    if kind <= 2:
        return get(draw(st.integers(0, VARIABLES)))
    one = draw(values(depth - 1))
    if kind <= 5:
        return one + draw(values(depth - 1)) + bytes([draw(st.sampled_from(BINARY))])
    if kind == 6:
        code = draw(st.sampled_from(LOADS))
        return one + i32(0x3FF) + b"\x71" + bytes([code, 0]) + unsigned(draw(st.integers(0, 40)))
    if kind == 7:
        return one + draw(values(depth - 1)) + call(HELPER)
    if kind == 8:
        return one + draw(values(depth - 1)) + draw(values(depth - 1)) + b"\x1b"
    return one + b"\x04\x7f" + draw(values(depth - 1)) + ELSE + draw(values(depth - 1)) + END


@st.composite
def statements(draw: st.DrawFn, depth: int = 2, labels: int = 0) -> bytes:
    """Code that leaves the stack as it was; `labels` blocks are around it."""
    made = b""
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 10)) if depth else draw(st.integers(0, 3))
        if kind <= 1:
            made += draw(values()) + _set(draw(st.integers(1, VARIABLES)))
        elif kind == 2:
            code = draw(st.sampled_from(STORES))
            address = draw(values(1)) + i32(0x3FF) + b"\x71"
            made += address + draw(values()) + bytes([code, 0]) + unsigned(draw(st.integers(0, 40)))
        elif kind == 3:
            made += call(RND) + _set(draw(st.integers(1, VARIABLES)))
        elif kind == 4:
            inner = draw(statements(depth - 1, labels + 1))
            made += draw(values()) + IF + inner + ELSE + draw(statements(depth - 1, labels + 1)) + END
        elif kind == 5:
            body = draw(statements(depth - 1, labels + 1)) + draw(values()) + b"\x0d" + unsigned(0)
            made += BLOCK + body + draw(statements(depth - 1, labels + 1)) + END
        elif kind == 6:
            counter = VARIABLES + depth
            turn = get(counter) + i32(1) + b"\x6a" + b"\x22" + unsigned(counter) + i32(3) + b"\x49\x0d\0"
            made += i32(0) + _set(counter) + LOOP + draw(statements(depth - 1, labels + 1)) + turn + END
        elif kind == 7 and labels:
            depths = draw(st.lists(st.integers(0, 1), min_size=1, max_size=4))
            table = b"\x0e" + unsigned(len(depths) - 1) + b"".join(map(unsigned, depths))
            made += (
                BLOCK + BLOCK + draw(values()) + table + END + draw(statements(depth - 1, labels + 2)) + END
            )
        elif kind == 8:
            made += get(1) + call(NOISY) + _set(1)
        elif kind == 9:
            down, up = (STACK + i32(16) + bytes([way]) + b"\x24\0" for way in (0x6B, 0x6A))
            kept = STACK + draw(values(1)) + b"\x36\0\4"
            inner = draw(statements(depth - 1, labels))
            made += down + kept + inner + STACK + b"\x28\0\4" + _set(draw(st.integers(1, VARIABLES))) + up
        else:
            made += draw(values()) + IF + draw(values()) + b"\x0f" + END
    return made


def _module(body: bytes, inner: bytes = b"") -> Module:
    one, two = (("i32",), ("i32",)), (("i32", "i32"), ("i32",))
    kinds = ("i32",) * (VARIABLES + COUNTERS)
    helper = get(0) + get(1) + b"\x6c" + i32(0) + b"\x28\0\0" + b"\x6a"
    noisy = get(0) + call(RND) + b"\x6a"
    content = assembled(
        {
            "helper": (two, (), helper),
            "noisy": (one, (), noisy),
            "inner": (one, kinds, inner + get(1)),
            "f": (one, kinds, body + get(1)),
        },
        imports=[RANDOM[8]],
        pages=1,
        data=[(3, bytes(range(1, 60)))],
        stack=TOP,
    )
    return Module.of(content, "control.wasm")


@pytest.mark.extra("wasm")
@settings(max_examples=30)
@given(statements(), statements())
def test_random_code(body: bytes, inner: bytes) -> None:
    module = _module(body + inner)
    chances = chances_of(module, ["env.rnd8"])
    index = module.exported("f")
    shape = Given(Sampler(module, index, chances))
    machine = Machine(shape.sampler)
    machine.rehearse(shape.laid, [0, 7])
    assert guard(machine, shape, literal_inputs(["0", "7"]), runs=40) > 0


def _law(machine: Machine) -> dict[object, fmpq] | None:
    """Return how likely each end is, of all runs one by one; None if these are too many."""
    begin = machine.start(lambda _, value: [value], [3])
    work, law, paths = [(begin, fmpq(1))], dict[object, fmpq](), 0
    while work:
        outcome, chance = work.pop()
        paths += 1
        if paths > MOST_PATHS:
            return None
        if isinstance(outcome, Ended):
            law[outcome.value] = law.get(outcome.value, fmpq(0)) + chance
        else:
            state: Any = outcome.state
            work += [(machine.follow(state, k, NOTHING), chance / 16) for k in range(16)]
    return law


@given(statements(), statements())
def test_random_laws(body: bytes, inner: bytes) -> None:
    """Explored, with values left open, states merged, and stack frames forgotten: the same law."""
    module = _module(body + inner)
    chances, index = {0: Chance("env.rnd8", 4)}, module.exported("f")
    kept: set[int] = set()
    while True:
        try:
            plain = Machine(Sampler(module, index, chances))
            plain.memory.forgets = False
            wanted = _law(plain)
            assume(wanted is not None)
            graph = CompiledExploration(Machine(Sampler(module, index, chances), kept=kept))  # type: ignore[arg-type]
            graph.start("3", lambda _, value: [value], [3], {})
            graph.explore()
            break
        except Remembered:
            event("remembered")
    assert law_of_graph(graph, "3") == wanted


class _EachCall(CompiledExploration):
    """Runs a function in each call of it."""

    def _returning(self, _: object) -> None:
        return None


@given(statements(), statements(), st.sampled_from([1, 2, 4]), st.integers(0, 3))
def test_functions_that_draw(body: bytes, inner: bytes, bits: int, passed: int) -> None:
    """What a function does is found out once for all calls, or anew in each of them: the same law."""
    turn = get(passed) + call(INNER) + _set(1)
    module = _module(turn + body + turn + turn, inner)
    chances, index = {0: Chance("env.rnd8", bits)}, module.exported("f")
    laws = []
    for kind in (CompiledExploration, _EachCall):
        machine = Machine(Sampler(module, index, chances))
        machine.memory.forgets = False
        graph = kind(machine)  # type: ignore[arg-type]
        graph.start("3", lambda _, value: [value], [3], {})
        assume(graph.explore(states=3000))
        laws.append(law_of_graph(graph, "3"))
        event(f"functions that do the same in several calls: {sum(map(bool, graph._inner.values()))}")
    assert laws[0] == laws[1]


RETURN, SELECT, DROP, NEGATED = b"\x0f", b"\x1b", b"\x1a", b"\x9a"


@pytest.mark.parametrize(
    "code",
    [
        get(0) + RETURN + SELECT + NEGATED + DROP,
        get(0) + RETURN + SELECT + SELECT + NEGATED + DROP + i32(1),
        get(0) + RETURN + BLOCK + b"\x0c\0" + END + LOOP + b"\x00\x6a\x0d\0" + END + b"\x0e\1\0\0",
        BLOCK
        + get(0)
        + IF
        + get(0)
        + RETURN
        + b"\x6a"
        + DROP
        + ELSE
        + b"\x0c\1\x6a"
        + DROP
        + END
        + END
        + i32(5),
        get(0) + b"\x04\x7f" + get(0) + ELSE + i32(7) + RETURN + END + call(0) + b"\x6a",
        b"\x02\x7f" + get(0) + b"\x0c\0\x00\x6a" + END,
    ],
)
def test_code_that_is_never_reached(code: bytes, tmp_path: Path) -> None:
    """It takes what there is not from the stack, as the standard says; wasmtime runs the same."""
    module = assembled({"f": ((("i32",), ("i32",)), (), call(0) + DROP + code)}, imports=[RANDOM[8]])
    assert len(law_of(chain_of(tmp_path, module, "f", [0, 3]), "3")) in {1, 256}


@pytest.mark.parametrize("code", [get(0) + RETURN + i32(1) + i32(2), get(0) + RETURN + i32(1) + NEGATED])
def test_code_that_is_never_reached_and_wrong(code: bytes, tmp_path: Path) -> None:
    module = assembled({"f": ((("i32",), ("i32",)), (), call(0) + DROP + code)}, imports=[RANDOM[8]])
    with pytest.raises(ModelError, match=r"offset 0x.*, in f: (the function ends with 2|f64.neg takes)"):
        chain_of(tmp_path, module, "f", [0, 3])


COUNT = i32(256) + b"\x28\0\0"


@pytest.mark.parametrize("writes", [True, False])
def test_functions_that_use_memory(writes: bool) -> None:
    """A function adds a bit to a number in memory, or reads it; then what calls it adds one more."""
    add = i32(256) + COUNT + call(0) + b"\x6a\x36\0\0" + i32(0)
    more = i32(256) + COUNT + i32(1) + b"\x6a\x36\0\0"
    turn = call(1) + more + b"\x6a"
    content = assembled(
        {
            "inner": (((), ("i32",)), (), add if writes else call(0) + COUNT + b"\x6c"),
            "f": ((("i32",), ("i32",)), (), get(0) + turn + turn + turn + COUNT + b"\x6a"),
        },
        imports=[RANDOM[8]],
        pages=1,
    )
    module = Module.of(content, "memory.wasm")
    machine = Machine(Sampler(module, 2, {0: Chance("env.rnd8", 1)}))
    machine.memory.forgets = False
    graph = CompiledExploration(machine)  # type: ignore[arg-type]
    graph.start("0", lambda _, value: [value], [0], {})
    graph.explore()
    wanted = (
        {3: 1, 4: 3, 5: 3, 6: 1}
        if writes  # the bits add to three; or they are multiplied by 0, 1 and 2
        else {3: 2, 4: 2, 5: 2, 6: 2}
    )
    assert law_of_graph(graph, "0") == {key: fmpq(part, 8) for key, part in wanted.items()}


def test_a_table_without_functions_that_draw() -> None:
    """A function that draws, of the same type as those in the table, is not called through it."""
    one = (("i32",), ("i32",))
    content = assembled(
        {
            "plain": (one, (), get(0) + i32(1) + b"\x6a"),
            "draws": (one, (), get(0) + call(0) + b"\x6a"),
            "through": (one, (), get(0) + i32(0) + b"\x11\1\0" + i32(1) + b"\x6a"),
            "f": (one, (), get(0) + call(3) + call(2)),
        },
        imports=[RANDOM[8]],
        table=[1],
    )
    module = Module.of(content, "table.wasm")
    graph = CompiledExploration(Machine(Sampler(module, 4, {0: Chance("env.rnd8", 1)})))  # type: ignore[arg-type]
    graph.start("5", lambda _, value: [value], [5], {})
    graph.explore()
    assert law_of_graph(graph, "5") == {7: fmpq(1, 2), 8: fmpq(1, 2)}


def test_a_module_may_import_a_source_twice(tmp_path: Path) -> None:
    code = call(0) + call(1) + b"\x73" + i32(1) + b"\x71"
    module = assembled({"f": ((("i32",), ("i32",)), (), code)}, imports=[RANDOM[8], RANDOM[8]])
    assert [*law_of(chain_of(tmp_path, module, "f", [0]), "0").values()] == [fmpq(1, 2), fmpq(1, 2)]
