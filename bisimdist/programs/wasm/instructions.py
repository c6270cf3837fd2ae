"""The instructions of a function, one after another: what they are called, and what stands behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bisimdist.programs.wasm.binary import TYPES, Reader
from bisimdist.programs.wasm.operations import ACCESSES, NUMERIC, SATURATED

_NUMERIC = tuple(NUMERIC)
_FIRST_NUMERIC = 0x45
_SATURATED = tuple(SATURATED)
_MEMORY = dict(enumerate(ACCESSES, 0x28))

_PLAIN = {
    **{0x00: "unreachable", 0x01: "nop", 0x05: "else", 0x0B: "end", 0x0F: "return", 0x1A: "drop"},
    **{0x1B: "select", 0xD1: "ref.is_null"},
}
_INDEXED = {
    **{0x0C: "br", 0x0D: "br_if", 0x10: "call", 0x12: "return_call", 0x20: "local.get", 0x21: "local.set"},
    **{0x22: "local.tee", 0x23: "global.get", 0x24: "global.set", 0x25: "table.get", 0x26: "table.set"},
    **{0xD2: "ref.func", 0x3F: "memory.size", 0x40: "memory.grow"},
}
_BLOCKS = {0x02: "block", 0x03: "loop", 0x04: "if"}
_BULK = dict(
    enumerate(
        [
            *(("memory.init", 2), ("data.drop", 1), ("memory.copy", 2), ("memory.fill", 1)),
            *(("table.init", 2), ("elem.drop", 1), ("table.copy", 2), ("table.grow", 1)),
            *(("table.size", 1), ("table.fill", 1)),
        ],
        8,
    )
)
_OTHER = {0xFB: "garbage collection", 0xFD: "vectors (SIMD)", 0xFE: "threads"}


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction, what stands behind it, and its offset in the file."""

    name: str
    what: Any
    offset: int


@dataclass(frozen=True, slots=True)
class Signature:
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
        name, what = _one(types, part, part.byte())
        yield Instruction(name, what, offset)


def _one(types: Sequence[Signature], part: Reader, code: int) -> tuple[str, Any]:  # noqa: PLR0911, PLR0912
    if _FIRST_NUMERIC <= code < _FIRST_NUMERIC + len(_NUMERIC):
        return _NUMERIC[code - _FIRST_NUMERIC], None
    if code in _INDEXED:
        return _INDEXED[code], part.unsigned()
    if code in _MEMORY:
        part.unsigned()
        return _MEMORY[code], part.unsigned()
    if code in _PLAIN:
        return _PLAIN[code], None
    if code in _BLOCKS:
        return _BLOCKS[code], _block_type(types, part)
    match code:
        case 0x41:
            return "i32.const", part.signed(32) % 2**32
        case 0x42:
            return "i64.const", part.signed(64) % 2**64
        case 0x43:
            return "f32.const", part.real("<f")
        case 0x44:
            return "f64.const", part.real("<d")
        case 0x0E:
            return "br_table", (*part.vector(part.unsigned), part.unsigned())
        case 0x11 | 0x13:
            kind = part.unsigned()
            return ("call_indirect" if code == 0x11 else "return_call_indirect"), (kind, part.unsigned())
        case 0x1C:
            part.vector(part.byte)
            return "select", None
        case 0xD0:
            return "ref.null", part.byte()
        case 0xFC:
            return _prefixed(part)
    offset = part.place - 1
    if code in _OTHER:
        part.fail(f"an instruction for {_OTHER[code]}, which are not supported", offset)
    return part.fail(f"the instruction {code:#x} is not known", offset)


def _prefixed(part: Reader) -> tuple[str, Any]:
    offset, code = part.place - 1, part.unsigned()
    if code < len(_SATURATED):
        return _SATURATED[code], None
    if code not in _BULK:
        part.fail(f"the instruction 0xfc {code:#x} is not known", offset)
    name, count = _BULK[code]
    return name, tuple(part.unsigned() for _ in range(count))


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
