"""Reading no more of a file than is allowed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from bisimdist.errors import ModelError

MAX_BYTES = 256 << 20  # how large a file may be, unless somebody says otherwise

PART = 1 << 20


def read_at_most(file: BinaryIO, most: int) -> bytes | None:
    """Return the content of a file, or None where that is more than `most` bytes.

    One read of so many bytes would take the memory for all of them before it looks how many there are.

    >>> import io
    >>> read_at_most(io.BytesIO(b"text"), 10)
    b'text'
    """
    parts = list(islice(iter(lambda: file.read(PART), b""), most // PART + 1))
    return b"".join(parts) if sum(map(len, parts)) <= most else None


def read_file(source: str | os.PathLike[str], *, expected: str, most: int | None = None) -> bytes:
    """Return the content of the file that is called `source`, of at most `most` bytes (`MAX_BYTES`).

    Raises ModelError if it cannot be read, or is larger; the error names the file and says that `expected`
    was expected.
    """
    most = MAX_BYTES if most is None else most
    name = os.fspath(source)
    with open_file(source, expected=expected) as file:
        try:
            content = read_at_most(file, most)
        except OSError as error:
            raise ModelError(f"{_reason(error)}; expected {expected}", source=name) from None
    if content is None:
        raise ModelError(f"the file is larger than the {most // 2**20} MiB allowed", source=name)
    return content


@contextmanager
def open_file(source: str | os.PathLike[str], *, expected: str) -> Iterator[BinaryIO]:
    """Open the file that is called `source` for reading.

    Raises ModelError if it cannot be read; the error names the file and says that `expected` was expected.
    """
    name = os.fspath(source)
    try:
        file = Path(name).open("rb")  # noqa: SIM115 - what goes wrong later is no matter of the file
    except (OSError, ValueError) as error:
        raise ModelError(f"{_reason(error)}; expected {expected}", source=name) from None
    with file:
        yield file


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, ValueError):
        return f"this names no file ({error})"
    known = {FileNotFoundError: "there is no such file", IsADirectoryError: "this is a directory"}
    return known.get(type(error)) or f"the file cannot be read ({error.strerror or error})"


def decoded(content: bytes) -> str:
    """Return the text that bytes are in UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"the byte 0x{content[error.start]:02x} at position {error.start} is not UTF-8; "
            "expected a text file",
            line=content.count(b"\n", 0, error.start) + 1,
        ) from None
