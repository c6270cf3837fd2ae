"""Files that are compressed: with gzip, xz or bzip2, whatever they are called."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bisimdist.bounded import MAX_BYTES, read_at_most
from bisimdist.errors import ModelError

SUFFIXES = (".gz", ".xz", ".bz2")

_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\0": lzma.open,
    b"BZh": bz2.open,
}  # by how such a content begins


def unpacked(content: bytes) -> bytes:
    """Return a content without its compression, if it has one.

    Raises ModelError if it is damaged, or larger than `MAX_BYTES` without.
    """
    for beginning, opener in _OPENERS.items():
        if content.startswith(beginning):
            try:
                plain = read_at_most(opener(io.BytesIO(content)), MAX_BYTES)
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
                raise ModelError(f"the file cannot be unpacked ({error}); expected a model file") from None
            if plain is None:
                raise ModelError(f"the file unpacks to more than the {MAX_BYTES >> 20} MiB allowed")
            return plain
    return content


def plain_name(path: Path) -> Path:
    """Return what a file is called without its compression.

    >>> plain_name(Path("model.tra.gz")).name, plain_name(Path("model.tra")).name
    ('model.tra', 'model.tra')
    """
    return path.with_suffix("") if path.suffix.lower() in SUFFIXES else path


def packed_names(path: Path) -> list[Path]:
    """Return a path and what it may be called if it is compressed."""
    return [path, *(path.with_name(path.name + suffix) for suffix in SUFFIXES)]
