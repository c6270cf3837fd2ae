"""Bytes of a module: numbers, names and vectors, read in order, with the offset of whatever is wrong."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NoReturn, TypeVar

from bisimdist.errors import ModelError

_Item = TypeVar("_Item")


TYPES = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64", 0x70: "funcref", 0x6F: "externref"}


def at(offset: int, function: str = "") -> str:
    """Return how an error names an offset in the module, and the function there.

    >>> at(255, "sample")
    'offset 0xff, in sample'
    """
    return f"offset {offset:#x}" + (f", in {function}" if function else "")


class Reader:
    """A part of a file that is read from its beginning.

    data: the bytes of the file.
    source: what errors call the file.
    place, end: where the part begins and ends.
    """

    __slots__ = ("data", "end", "place", "source")

    def __init__(self, data: bytes, source: str, place: int = 0, end: int | None = None) -> None:
        self.data = data
        self.source = source
        self.place = place
        self.end = len(data) if end is None else end

    def fail(self, what: str, place: int | None = None) -> NoReturn:
        """Refuse the file."""
        raise ModelError(what, source=self.source, place=at(self.place if place is None else place))

    def take(self, size: int) -> bytes:
        """Read so many bytes."""
        if size > self.end - self.place:
            self.fail(f"the module ends too soon; expected {size} more bytes")
        self.place += size
        return self.data[self.place - size : self.place]

    def byte(self) -> int:
        """Read one byte."""
        return self.take(1)[0]

    def part(self, size: int) -> Reader:
        """Return so many of the next bytes as a part of their own."""
        self.take(size)
        return Reader(self.data, self.source, self.place - size, self.place)

    def unsigned(self, bits: int = 32) -> int:
        """Read an unsigned LEB128 number."""
        return self._number(bits, False)

    def signed(self, bits: int) -> int:
        """Read a signed LEB128 number."""
        return self._number(bits, True)

    def _number(self, bits: int, sign: bool) -> int:
        begin, value, shift, byte = self.place, 0, 0, 128
        while byte >= 128:
            if shift >= bits:
                self.fail(f"a number takes more bytes than {bits} bits need", begin)
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
        if sign and byte & 64:
            value -= 1 << shift
        half = 1 << (bits - 1) if sign else 0
        if not -half <= value < (half or 1 << bits):
            self.fail(f"the number {value} does not fit in {bits} bits", begin)
        return value

    def real(self, layout: str) -> float:
        """Read a float that lies like this."""
        return float(struct.unpack(layout, self.take(struct.calcsize(layout)))[0])

    def name(self) -> str:
        """Read a text."""
        begin = self.place
        try:
            return self.take(self.unsigned()).decode("utf-8")
        except UnicodeDecodeError:
            self.fail("a name is no UTF-8", begin)

    def vector(self, item: Callable[[], _Item]) -> list[_Item]:
        """Read how many items follow, and each of them."""
        count = self.unsigned()
        if count > self.end - self.place:
            self.fail(f"the module ends too soon; expected {count} entries")
        return [item() for _ in range(count)]

    def finish(self, what: str) -> None:
        """Refuse bytes that are left over."""
        if self.place != self.end:
            self.fail(f"{self.end - self.place} bytes are left over at the end of {what}")
