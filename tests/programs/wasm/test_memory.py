"""Memory: what is written is read, whatever its place and size; what is forgotten is never read."""

from __future__ import annotations

from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import ModelError
from bisimdist.programs.request import Request
from bisimdist.programs.wasm.door import explored_module
from bisimdist.programs.wasm.memory import Memory, Remembered
from bisimdist.programs.wasm.numbers import Trap
from tests.programs.wasm.assembly import RANDOM, assembled, call, chain_of, get, i32, law_of

SIZE = 64
accesses = st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(0, SIZE), st.integers(0, 2**64 - 1))


@given(st.binary(min_size=SIZE, max_size=SIZE), st.lists(st.tuples(st.booleans(), accesses), max_size=30))
def test_as_bytes(content: bytes, work: list[tuple[bool, tuple[int, int, int]]]) -> None:
    words = {k: int.from_bytes(content[8 * k : 8 * k + 8], "little") for k in range(SIZE // 8)}
    memory = Memory(words, 1, 1, set(), None)
    plain = bytearray(content) + bytes(2**16 - SIZE)
    for writes, (size, place, value) in work:
        part = value % 256**size
        if writes:
            memory.write[size](place, part)
            plain[place : place + size] = part.to_bytes(size, "little")
        else:
            assert memory.read[size](place) == int.from_bytes(plain[place : place + size], "little")
        if value % 5 == 0:
            frozen = memory.frozen(lambda one: one)
            memory.open(memory.thawed(frozen, lambda one: one), 1)
    with pytest.raises(Trap):
        memory.read[8](2**16 - 7)


def test_what_is_forgotten_is_remembered_once_it_is_read() -> None:
    kept: set[int] = set()
    memory = Memory({}, 1, 1, kept, None)
    memory.write[8](256, 7)
    memory.pop(256, 264)
    with pytest.raises(Remembered):
        memory.read[8](256)
    assert kept == {32}
    memory.write[8](256, 7)
    memory.pop(256, 264)
    assert memory.read[8](256) == 7


def test_what_was_read_before_is_not_forgotten() -> None:
    """Another run has read the word as the module began with it: the two states would not be one."""
    kept: set[int] = set()
    memory = Memory({32: 5}, 1, 1, kept, None)
    assert memory.read[4](256) == 5
    memory.write[8](256, 7)
    with pytest.raises(Remembered):
        memory.pop(256, 272)
    assert kept == {32}


def test_a_function_that_reads_below_its_stack(tmp_path: Path) -> None:
    """The first call leaves a draw behind in its frame, the second one reads it without writing first."""
    stack = b"\x23\0"
    leave = stack + i32(16) + b"\x6b\x24\0" + stack + call(0) + b"\x36\0\0" + stack + i32(16) + b"\x6a\x24\0"
    read = leave + call(0) + b"\x1a" + stack + i32(16) + b"\x6b" + b"\x28\0\0" + get(0) + b"\x6a"
    module = assembled({"f": ((("i32",), ("i32",)), (), read)}, imports=[RANDOM[8]], pages=1, stack=4096)
    law = law_of(chain_of(tmp_path, module, "f", [0, 1]), "1")
    assert law == {str(k + 1): fmpq(1, 256) for k in range(256)}


def test_frames_that_were_popped_do_not_tell_states_apart(tmp_path: Path) -> None:
    stack = b"\x23\0"
    helper = (
        *(stack, i32(16), b"\x6b\x24\0", stack, call(0), b"\x36\0\0"),
        *(stack, b"\x2d\0\0", i32(1), b"\x71\x45", stack, i32(16), b"\x6a\x24\0"),
    )
    body = call(1) + call(1) + b"\x6a" + call(1) + b"\x6a" + get(0) + b"\x6a"
    module = assembled(
        {"bit": (((), ("i32",)), (), b"".join(helper)), "f": ((("i32",), ("i32",)), (), body)},
        imports=[RANDOM[8]],
        pages=1,
        stack=4096,
    )
    chain = chain_of(tmp_path, module, "f", [0, 1])
    assert chain.origin.explored == 2 * (1 + 2 + 3) + 5
    assert law_of(chain, "0") == {str(k): fmpq((1, 3, 3, 1)[k], 8) for k in range(4)}


def test_what_nothing_reads_later_does_not_tell_states_apart(tmp_path: Path) -> None:
    """A buffer holds a draw, and then it is left; a counter beside it is read after the next draw."""
    turn = i32(512) + call(0) + b"\x36\0\0" + i32(256) * 2 + b"\x28\0\0"
    turn += i32(512) + b"\x28\0\0" + i32(1) + b"\x71\x45\x6a\x36\0\0"
    code = turn * 3 + i32(256) + b"\x28\0\0" + get(0) + b"\x6a"
    module = assembled({"f": ((("i32",), ("i32",)), (), code)}, imports=[RANDOM[8]], pages=1)
    chain = chain_of(tmp_path, module, "f", [0, 1])
    assert chain.origin.explored == 2 * (1 + 2 + 3) + 5
    assert law_of(chain, "0") == {str(k): fmpq((1, 3, 3, 1)[k], 8) for k in range(4)}


def test_how_a_module_starts(tmp_path: Path) -> None:
    """It draws zeros, and finds no environment."""
    sizes = ("wasi_snapshot_preview1", "environ_sizes_get", (("i32", "i32"), ("i32",)))
    ready = i32(100) + call(1) + b"\x36\0\0" + i32(104) + i32(7) + b"\x36\0\0"
    ready += i32(104) + i32(108) + call(0) + b"\x1a"
    code = b"".join(i32(place) + b"\x2d\0\0" for place in (100, 104)) + b"\x6a" + get(0) + b"\x6a"
    functions = {"_initialize": (((), ()), (), ready), "f": ((("i32",), ("i32",)), (), code)}
    module = assembled(functions, imports=[sizes, RANDOM[8]], pages=1)
    chain = chain_of(tmp_path, module, "f", [0, 1])
    assert law_of(chain, "1") == {"1": 1}


@pytest.mark.parametrize("imported", [("wasi_snapshot_preview1", "random_get"), ("env", "getentropy")])
def test_random_bytes(imported: tuple[str, str], tmp_path: Path) -> None:
    fill = (*imported, (("i32", "i32"), ("i32",)))
    code = (
        i32(100) + i32(4) + call(0) + b"\x1a" + i32(100) + b"\x28\0\0" + i32(3) + b"\x70" + get(0) + b"\x6a"
    )
    module = assembled({"f": ((("i32",), ("i32",)), (), code)}, imports=[fill], pages=1)
    law = law_of(chain_of(tmp_path, module, "f", [0, 1]), "0")
    assert law == {str(k): fmpq(2**32 // 3 + (k < 1), 2**32) for k in range(3)}


@pytest.mark.parametrize("layout", ["i32", "i32 at 512"])
def test_lists_in_memory(layout: str, tmp_path: Path) -> None:
    code = (
        get(0)
        + b"\x28\0\0"
        + get(0)
        + b"\x28\0\4"
        + b"\x6a"
        + get(1)
        + b"\x6a"
        + call(0)
        + i32(1)
        + b"\x71\x6a"
    )
    module = assembled({"f": ((("i32", "i32"), ("i32",)), (), code)}, imports=[RANDOM[8]], pages=1)
    path = tmp_path / "lists.wasm"
    path.write_bytes(module)
    request = Request(chances=("env.rnd8",), layout=layout, replays=20)
    chain = explored_module(f"{path}:f", {"a": [5, -7], "b": [1, 2]}, request)
    assert law_of(chain, "a") == {"0": fmpq(1, 2), "1": fmpq(1, 2)}
    assert law_of(chain, "b") == {"5": fmpq(1, 2), "6": fmpq(1, 2)}


def _init(number: int, size: int) -> bytes:
    return i32(16) + i32(0) + i32(size) + b"\xfc\x08" + bytes([number, 0])


def test_data_that_is_dropped_is_empty(tmp_path: Path) -> None:
    load, drop = i32(17) + b"\x2d\0\0", b"\xfc\x09\0"
    code = _init(0, 4) + drop + call(0) + b"\x1a" + _init(0, 0) + _init(1, 2) + load + get(0) + b"\x6a"
    kind = (("i32",), ("i32",))
    data = [(None, b"abcd"), (None, b"xy"), (64, b"active")]
    module = assembled({"f": (kind, (), code)}, imports=[RANDOM[8]], pages=1, data=data)
    assert law_of(chain_of(tmp_path, module, "f", [0, 1]), "1") == {str(ord("y") + 1): fmpq(1)}
    maybe = call(0) + i32(1) + b"\x71\x04\x40" + drop + b"\x0b" + call(0) + b"\x1a"
    for before, number in ((maybe, 0), (b"", 2)):  # in half of all runs; active data is dropped at once
        code = before + _init(number, 1) + get(0)
        module = assembled({"f": (kind, (), code)}, imports=[RANDOM[8]], pages=1, data=data)
        with pytest.raises(ModelError, match="memory out of bounds"):
            chain_of(tmp_path, module, "f", [0, 1])
