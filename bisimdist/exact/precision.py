"""The precision of ball arithmetic, which is one for the whole process: one thread at a time sets it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from flint import ctx

_LOCK = RLock()


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute balls with so many bits inside the block, whatever other threads do.

    >>> from flint import arb
    >>> with working_precision(200):
    ...     float((arb(2).sqrt() ** 2 - 2).abs_upper()) < 1e-50
    True
    """
    with _LOCK, ctx.workprec(bits):
        yield
