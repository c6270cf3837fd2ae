"""Numbers and JSON as bytes, as compact tables have them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np

WIDTHS = (1, 2, 4, 8)  # numbers of up to 8 bytes have one of these widths


def json_bytes(data: object) -> bytes:
    """Write JSON in ASCII, without blanks."""
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def numeral(number: int) -> bytes:
    r"""Write a natural number: seven bits a byte, the lowest first; all bytes but the last are over 127.

    >>> numeral(5), numeral(300)
    (b'\x05', b'\xac\x02')
    """
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes((*result, number))


def width_of(most: int) -> int:
    """Return how many bytes numbers up to this take."""
    needed = -(-most.bit_length() // 8)
    return next((width for width in (0, *WIDTHS) if width >= needed), needed)


def runs(places: Sequence[int]) -> bytes:
    """Write which places are listed, as runs: how many are left out, how many are not.

    >>> list(runs([0, 1, 2, 5]))
    [2, 0, 3, 2, 1]
    """
    listed = np.asarray(places, dtype=np.int64)
    cuts = np.flatnonzero(np.diff(listed, prepend=-2) != 1)
    starts, lengths = listed[cuts], np.diff(cuts, append=len(listed))
    skips = np.diff(starts, prepend=0)
    skips[1:] -= lengths[:-1]
    both = zip(skips.tolist(), lengths.tolist(), strict=True)
    return numeral(len(cuts)) + b"".join(numeral(part) for run in both for part in run)


def packed(numbers: Iterable[int], width: int) -> bytes:
    """Write numbers of so many bytes, the lowest byte first."""
    if not width:
        return b""
    if width in WIDTHS:
        return np.asarray(numbers, dtype=f"<u{width}").tobytes()
    return b"".join(number.to_bytes(width, "little") for number in numbers)
