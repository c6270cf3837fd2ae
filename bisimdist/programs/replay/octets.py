"""Random bytes that are drawn when a program looks at them: one by one, or all together as one integer."""

from __future__ import annotations

import binascii
import hashlib
import struct
from collections.abc import Iterator
from functools import wraps
from typing import Any

import numpy as np

from bisimdist.programs.replay.draws import Uniform
from bisimdist.programs.replay.lazy import drawn

_real_unpack, _real_frombuffer = struct.unpack, np.frombuffer
_DIGESTS = [getattr(hashlib, name) for name in sorted(hashlib.algorithms_guaranteed)]
_hexlify, _base64 = binascii.hexlify, binascii.b2a_base64


class Octets:
    """Random bytes, of which nothing is drawn yet.

    count: how many.
    values: what they are, where they were drawn.
    """

    __slots__ = ("count", "number", "values")

    def __init__(self, count: int, values: list[Any] | None = None) -> None:
        if count < 0:
            raise ValueError("negative argument not allowed")
        self.count = count
        self.values = values
        self.number: tuple[str, Any] | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return bytes

    def each(self) -> list[Any]:
        """Return the bytes as numbers."""
        if self.values is None:
            if self.number is None:
                self.values = [drawn(Uniform(256), int, 1.0) for _ in range(self.count)]
            else:
                order, number = self.number
                places = range(self.count) if order == "little" else reversed(range(self.count))
                self.values = [(number >> 8 * place) & 255 for place in places]
        return self.values

    def integer(self, order: str, *, signed: bool = False) -> Any:
        """Return the number that all of them make."""
        if self.number is None and self.values is None and self.count:
            self.number = order, drawn(Uniform(256**self.count), int, 1.0)
        if self.number is not None and self.number[0] == order:
            found = self.number[1]
        else:
            values = self.each() if order == "little" else self.each()[::-1]
            found = sum(value << 8 * place for place, value in enumerate(values))
        half = 256**self.count // 2
        return found - 2 * half if signed and found >= half else found

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice) and self.number is None and self.values is None:
            taken = range(self.count)[place]
            if len(taken) == self.count and taken.step == 1:
                return self
        found = self.each()[place]
        return Octets(len(found), found) if isinstance(place, slice) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.each())

    def __bytes__(self) -> bytes:
        return bytes(int(value) for value in self.each())

    def __eq__(self, other: object) -> bool:
        return bytes(self) == (bytes(other) if type(other) is Octets else other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __add__(self, other: Any) -> Any:
        return bytes(self) + (bytes(other) if type(other) is Octets else other)

    def __radd__(self, other: Any) -> Any:
        return other + bytes(self)

    def __contains__(self, value: Any) -> bool:
        return value in bytes(self)

    def __repr__(self) -> str:
        return repr(bytes(self))

    def __reduce__(self) -> Any:
        return bytes, (bytes(self),)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(bytes(self), name)


def from_bytes(source: Any, byteorder: str = "big", *, signed: bool = False) -> Any:
    """Do as `int.from_bytes`."""
    if type(source) is Octets:
        return source.integer(byteorder, signed=signed)
    return int.from_bytes(source, byteorder, signed=signed)  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    return bytes(value) if type(value) is Octets else value


def _unpack(code: Any, source: Any) -> Any:
    """Do as `struct.unpack`; one integer stays open."""
    text = code.decode() if isinstance(code, bytes) else code
    order = "big" if text[:1] in {">", "!"} else "little"
    if type(source) is Octets and text.lstrip("<>!=@") in {*"BbHhIiLlQq"}:
        if struct.calcsize(text) != source.count:
            raise struct.error(f"unpack requires a buffer of {struct.calcsize(text)} bytes")
        return (source.integer(order, signed=text[-1].islower()),)
    return _real_unpack(code, _plain(source))


@wraps(np.frombuffer)
def _frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """Do as `numpy.frombuffer`; integers stay open."""
    kind = np.dtype(dtype)
    if type(buffer) is not Octets or kind.kind not in "iu" or count != -1 or offset:
        return _real_frombuffer(_plain(buffer), dtype, count, offset)
    order, size = "big" if kind.byteorder == ">" else "little", kind.itemsize
    if buffer.count % size:
        raise ValueError("buffer size must be a multiple of element size")
    whole = buffer.count == size
    parts = (
        [buffer]
        if whole
        else [Octets(size, buffer.each()[k : k + size]) for k in range(0, buffer.count, size)]
    )
    made = np.empty(len(parts), dtype=object)
    made[:] = [part.integer(order, signed=kind.kind == "i") for part in parts]
    return made


def _digest(original: Any) -> Any:
    def start(*data: Any, **named: Any) -> Any:
        return original(*map(_plain, data), **named)

    return start


def octet_functions() -> list[tuple[Any, Any]]:
    """Return which functions of C are replaced by what, so that they take random bytes."""
    return [
        (struct.unpack, _unpack),
        (np.frombuffer, _frombuffer),
        *((one, _digest(one)) for one in _DIGESTS),
        (binascii.hexlify, lambda data, *more: _hexlify(_plain(data), *more)),
        (binascii.b2a_base64, lambda data, **more: _base64(_plain(data), **more)),
    ]
