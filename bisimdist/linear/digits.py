"""Long integers to and from rows of binary digits of a fixed width, in linear time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpz
from numpy.typing import NDArray

_FEW = 32  # of so few digits integers are made by shifts and sums
_BLOCK = 64  # how many unknowns are packed at a time, which bounds the memory in use


def digits_of(values: Sequence[fmpz], width: int, count: int) -> NDArray[np.int64]:
    """Write integers in base 2**width, the leading digit first.

    ``values``: the integers, each of at most ``count * width`` bits; a negative one has negative digits.
    ``width``: the number of bits of a digit, at most 56.

    >>> digits_of([fmpz(0x1234)], 8, 2).tolist()
    [[18], [52]]
    """
    if count == 1:
        return np.array([[int(value) for value in values]], dtype=np.int64)
    result = np.zeros((count, len(values)), dtype=np.int64)
    length = (count * width + 7) // 8
    for column, value in enumerate(values):
        if not value:
            continue
        raw = np.frombuffer(int(abs(value)).to_bytes(length, "little"), dtype=np.uint8)
        bits = np.unpackbits(raw, bitorder="little")[: count * width].reshape(count, width)
        wide = np.zeros((count, 64), dtype=np.uint8)
        wide[:, :width] = bits
        row = np.packbits(wide, axis=1, bitorder="little").view("<u8").ravel().astype(np.int64)
        result[:, column] = row[::-1] if value > 0 else -row[::-1]
    return result


def integers_of(digits: Sequence[NDArray[np.int64]], width: int) -> list[fmpz]:
    """Return for each column the integer with these digits in base 2**width, the leading digit first.

    ``digits``: the rows of digits, which may have any sign and any size below 2**62.
    ``width``: the number of bits of a digit, at most 56.

    >>> integers_of(np.array([[1, -1], [-1, 0]]), 8)
    [255, -256]
    """
    count, size = len(digits), len(digits[0])
    if count <= _FEW:
        sums: NDArray[Any] = np.zeros(size, dtype=object)
        for digit in digits:
            sums = (sums << width) + digit.astype(object)
        return list(map(fmpz, sums.tolist()))
    result: list[fmpz] = []
    for start in range(0, size, _BLOCK):
        block = np.array([row[start : start + _BLOCK] for row in digits])
        proper = np.empty((block.shape[1], count), dtype=np.uint64)
        carry = np.zeros(block.shape[1], dtype=np.int64)
        mask = (1 << width) - 1
        for place in range(count):
            total = block[count - 1 - place] + carry
            proper[:, place] = total & mask
            carry = total >> width
        for row, top in zip(proper, carry.tolist(), strict=True):
            bits = np.unpackbits(
                row.astype("<u8").view(np.uint8).reshape(count, 8), axis=1, bitorder="little"
            )
            packed = np.packbits(bits[:, :width].ravel(), bitorder="little")
            low = int.from_bytes(packed.tobytes(), "little")
            result.append((fmpz(top) << (count * width)) + fmpz(low))
    return result


def integer_of(digits: Sequence[Any], width: int) -> fmpz:
    """Return the integer with these digits in base 2**width, the leading digit first.

    The digits are integers of any size; the cost is quasi-linear.

    >>> integer_of([1, -1], 8)
    255
    """
    if len(digits) <= 32:
        value = 0
        for digit in digits:
            value = (value << width) + int(digit)
        return fmpz(value)
    half = len(digits) // 2
    low = len(digits) - half
    return (integer_of(digits[:half], width) << (low * width)) + integer_of(digits[half:], width)
