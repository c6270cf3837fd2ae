"""Reading no more of a file than is allowed."""

from __future__ import annotations

from itertools import islice
from typing import BinaryIO

__all__ = ["read_at_most"]

PART = 1 << 20


def read_at_most(file: BinaryIO, most: int) -> bytes:
    """Return the content of a file; where that is more than `most` bytes, more than `most` of it.

    One read of so many bytes would take the memory for all of them before it looks how many there are.

    Examples
    --------
    >>> import io
    >>> read_at_most(io.BytesIO(b"text"), 10)
    b'text'
    """
    return b"".join(islice(iter(lambda: file.read(PART), b""), most // PART + 1))
