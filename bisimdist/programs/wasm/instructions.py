"""The instructions of a function, one after another: what they are called, and what stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from bisimdist.programs.wasm.binary import TYPES, Reader
from bisimdist.programs.wasm.operations import ACCESSES, NUMERIC, SATURATED


class Instruction(NamedTuple):
    """An instruction, what stands behind it, and its offset in the file."""

    name: str
    what: Any
    offset: int


class Signature(NamedTuple):
    """The types of parameters and results."""

    parameters: tuple[str, ...]
    results: tuple[str, ...]

    def __str__(self) -> str:
        return f"({', '.join(self.parameters)}) -> ({', '.join(self.results)})"


def decoded(part: Reader, types: Sequence[Signature]) -> Iterator[Instruction]:
    """Yield the instructions of a part of a module that has these types.

    Raises ModelError if there is one that is not known, with its offset.
    """
    while part.place < part.end:
        offset = part.place
        code = part.byte()
        if code in _OTHER:
            part.fail(f"an instruction for {_OTHER[code]}, which are not supported", offset)
        if code == _PREFIX:
            code = _PREFIX << 8 | part.unsigned()
        if code not in _CODES:
            part.fail(f"the instruction {code:#x} is not known", offset)
        name, behind = _CODES[code]
        what = [_BEHIND[kind](part, types) for kind in behind]
        yield Instruction(name, what[0] if len(what) == 1 else tuple(what) or None, offset)


def _block_type(types: Sequence[Signature], part: Reader) -> tuple[tuple[str, ...], tuple[str, ...]]:
    offset = part.place
    code = part.byte()
    if code == 0x40:
        return (), ()
    if code in TYPES:
        return (), (TYPES[code],)
    part.place = offset
    index = part.signed(33)
    if not 0 <= index < len(types):
        part.fail(f"there is no type {index}", offset)
    kind = types[index]
    return kind.parameters, kind.results


_BEHIND: dict[str, Callable[[Reader, Sequence[Signature]], Any]] = {
    "number": lambda part, _: part.unsigned(),
    # behind an alignment, which says nothing
    "offset": lambda part, _: (part.unsigned(), part.unsigned())[1],
    "block": lambda part, types: _block_type(types, part),
    "labels": lambda part, _: (*part.vector(part.unsigned), part.unsigned()),
    "types": lambda part, _: part.vector(part.byte),
    "type": lambda part, _: part.byte(),
    "i32": lambda part, _: part.signed(32) % 2**32,
    "i64": lambda part, _: part.signed(64) % 2**64,
    "f32": lambda part, _: part.real("<f"),
    "f64": lambda part, _: part.real("<d"),
}  # what may stand behind an instruction

_PREFIX = 0xFC
_OTHER = {0xFB: "garbage collection", 0xFD: "vectors (SIMD)", 0xFE: "threads"}
_CODES: dict[int, tuple[str, list[str]]] = {}
"""By code the name of an instruction, and what stands behind it."""
for _first, _behind, _names in (
    (0x00, "", "unreachable nop"),
    (0x02, "block", "block loop if"),
    (0x05, "", "else"),
    (0x0B, "", "end"),
    (0x0C, "number", "br br_if"),
    (0x0E, "labels", "br_table"),
    (0x0F, "", "return"),
    (0x10, "number", "call"),
    (0x11, "number number", "call_indirect"),
    (0x12, "number", "return_call"),
    (0x13, "number number", "return_call_indirect"),
    (0x1A, "", "drop select"),
    (0x1C, "types", "select"),
    (0x20, "number", "local.get local.set local.tee global.get global.set table.get table.set"),
    (0x28, "offset", " ".join(ACCESSES)),
    (0x3F, "number", "memory.size memory.grow"),
    *((0x41 + k, kind, f"{kind}.const") for k, kind in enumerate(("i32", "i64", "f32", "f64"))),
    (0x45, "", " ".join(NUMERIC)),
    (0xD0, "type", "ref.null"),
    (0xD1, "", "ref.is_null"),
    (0xD2, "number", "ref.func"),
    (0xFC00, "", " ".join(SATURATED)),
    (0xFC08, "number number", "memory.init"),
    (0xFC09, "number", "data.drop"),
    (0xFC0A, "number number", "memory.copy"),
    (0xFC0B, "number", "memory.fill"),
    (0xFC0C, "number number", "table.init"),
    (0xFC0D, "number", "elem.drop"),
    (0xFC0E, "number number", "table.copy"),
    (0xFC0F, "number", "table.grow table.size table.fill"),
):
    _CODES |= {_first + k: (name, _behind.split()) for k, name in enumerate(_names.split())}
CODES = {name: code for code, (name, _) in _CODES.items()}
