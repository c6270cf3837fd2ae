"""Modules that are none, runs that fail, and questions that do not fit: one line, with the offset."""

from __future__ import annotations

from pathlib import Path

import pytest

from bisimdist.errors import ModelError, UsageError
from bisimdist.programs.request import Request
from bisimdist.programs.wasm.door import explored_module
from tests.programs.wasm.assembly import RANDOM, assembled, call, get, i32

ONE = (("i32",), ("i32",))
LOOP, BR, END = b"\x03\x40", b"\x0c", b"\x0b"
GOOD = assembled({"f": (ONE, (), call(0) + get(0) + b"\x6a")}, imports=[RANDOM[8]], pages=1)


def explore(folder: Path, content: bytes, function: str = "f", **more: object) -> None:
    path = folder / "module.wasm"
    path.write_bytes(content)
    more.setdefault("chances", ("env.rnd8",) if b"rnd8" in content else ())
    inputs = more.pop("inputs", {"0": 0, "1": 1})
    request = Request(**more)  # type: ignore[arg-type]
    explored_module(f"{path}:{function}", inputs, request)  # type: ignore[arg-type]


def module(code: bytes, **more: object) -> bytes:
    return assembled({"f": (ONE, (), code)}, imports=[RANDOM[8]], pages=1, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "offset 0x0: this is no WebAssembly module"),
        (b"def f(x): pass", "offset 0x0: this is no WebAssembly module"),
        (b"\0asm\x02\0\0\0", "offset 0x4: this is version 2 of the format"),
        (b"\0asm\x0d\0\x01\0", "offset 0x4: this is a component"),
        (GOOD[:-4], "the module ends too soon"),
        (GOOD[:8] + b"\x0f\x01\0" + GOOD[8:], "offset 0x8: section 15 is not known"),
        (GOOD + b"\x01\x01\0", "section 1 is not in its order"),
        (module(b"\xfd\x0c"), "an instruction for vectors (SIMD), which are not supported"),
        (module(b"\xff"), "the instruction 0xff is not known"),
        (module(b"\x6a"), "in f: i32.add takes a value from an empty stack"),
        (module(get(7)), "in f: there is no variable 7"),
        (module(call(9)), "in f: there is no function 9"),
        (module(b"\x42\0"), "takes a value of type i32; there is one of type i64"),
        (module(LOOP + BR + b"\0" + END + get(0)), "in f: a loop does not end"),
        (module(i32(65533) + b"\x28\0\0"), "in f: memory out of bounds"),
        (module(i32(65533) + get(0) + b"\x36\0\0" + get(0)), "in f: memory out of bounds"),
        (module(call(0) + b"\x04\x40\0" + END + get(0)), "in f: unreachable code is reached"),
        (module(get(0) + call(0) + b"\x6e"), "in f: a division by zero"),
        (module(get(0) + call(1) + i32(1) + b"\x6a"), "in f: the call stack is exhausted"),
        (module(call(0) + call(1) + i32(1) + b"\x6a"), "in f: the call stack is exhausted"),
        (module(get(0), data=[(65530, bytes(10))]), "10 bytes of data at 65530 do not fit"),
    ],
)
def test_modules(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        explore(tmp_path, content)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "offset 0x" in str(raised.value) or "when it begins" in str(raised.value)


def test_an_import_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"offset 0x.*: the import env\.rnd8 is not known"):
        explore(tmp_path, GOOD, chances=())


def test_a_function_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no exported function 'g'; expected one of f"):
        explore(tmp_path, GOOD, "g")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"chances": ("env.other",)}, "--chance env.other: .*does not import it; expected one of env.rnd8"),
        ({"arguments": ("1",)}, "f takes 1 arguments .*1 are too many"),
        ({"inputs": {"x": 2**32, "y": 0}}, "--input x: it does not fit the 32 bits"),
        ({"inputs": {"x": "a", "y": 0}}, "--input x: expected an integer"),
        ({"inputs": {"x": [1], "y": [2]}}, "a list needs --layout"),
        ({"observe": "steps"}, "observe='steps' is for functions in Python"),
        ({"observe": "heat"}, "observe='heat': expected output, draws, instructions"),
        ({"layout": "i31"}, "--layout i31: expected a type"),
    ],
)
def test_questions(more: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        explore(tmp_path, GOOD, "f", **more)


def test_every_part_of_a_module_is_refused_or_read(tmp_path: Path) -> None:
    """Whatever byte is wrong: an answer, or one line that says what is wrong."""
    for place in range(len(GOOD)):
        for change in (0x01, 0x80, 0xFF):
            content = GOOD[:place] + bytes([GOOD[place] ^ change]) + GOOD[place + 1 :]
            try:
                explore(tmp_path, content, replays=0)
            except (ModelError, UsageError) as error:
                assert "\n" not in str(error)
