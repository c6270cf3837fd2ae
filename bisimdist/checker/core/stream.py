"""The bytes of a long certificate, read once from its beginning to its end, a part at a time."""

from __future__ import annotations

import io
from typing import BinaryIO

from bisimdist.checker.core.reading import WORK_OF_EVERY_BYTE, MalformedCertificate, hold, spend

HELD_FOR_A_BYTE = 4_000  # how many bits may be held for each byte that has been read

PART = 1 << 16
MAX_LINE = 1 << 30  # how long the first lines may be, which are held in memory

MAX_SHIFT = 63  # numbers of more bits have a length that is said before


def _allow(count: int) -> None:
    """Let a certificate ask for more, since so many bytes of it have been read."""
    spend(-WORK_OF_EVERY_BYTE * count)
    hold(-HELD_FOR_A_BYTE * count)


class Stream:
    """Bytes, from memory or from a file; every part that is read allows for some more work."""

    def __init__(self, source: bytes | BinaryIO) -> None:
        self.file: BinaryIO = io.BytesIO(source) if isinstance(source, bytes) else source
        self.part = b""
        self.at = 0

    def line(self) -> bytes:
        """Return what comes before the next end of a line, which has to be there."""
        text = self.file.readline(MAX_LINE)
        _allow(len(text))
        if not text.endswith(b"\n"):
            raise MalformedCertificate("the certificate ends, or has too long a line, before its tables")
        return text[:-1]

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.part):
            self._fill(count)
            end = count
        taken = self.part[self.at : end]
        self.at = end
        return taken

    def _fill(self, count: int) -> None:
        """Read on, so that at least so many bytes are there: a part at a time, since there may be fewer."""
        parts = [self.part[self.at :]]
        have = len(parts[0])
        while have < count:
            read = self.file.read(PART)
            if not read:
                raise MalformedCertificate("the certificate ends in the middle of its tables")
            _allow(len(read))
            parts.append(read)
            have += len(read)
        self.part, self.at = b"".join(parts), 0

    def number(self) -> int:
        """Return a natural number: seven bits a byte, the lowest first; the last byte is less than 128."""
        result = shift = 0
        while True:
            byte = self.take(1)[0]
            result |= (byte & 127) << shift
            if byte < 128:
                return result
            shift += 7
            if shift >= MAX_SHIFT:
                raise MalformedCertificate("a number has more than 63 bits")

    def end(self) -> None:
        """Demand that nothing is left."""
        if self.at < len(self.part) or self.file.read(1):
            raise MalformedCertificate("the certificate goes on after its last pair")
