"""One limit on the work that a certificate may ask for, however short it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bisimdist.checker.core.reading import MalformedCertificate

__all__ = ["afford", "fraction_work", "limited", "product_work", "spend"]

MAX_WORK = 30_000_000_000
"""In products of two digits of 30 bits, each of which takes about a nanosecond."""

LEAST_WORK, WORK_OF_A_BYTE = 4_000_000_000, 50_000
"""What a document may ask for however short it is, and what it may for each of its bytes, up to the limit."""

OVERHEAD = 100
"""What a product of short integers costs in all."""

_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Count the work on one document of so many bytes; what is checked inside of it counts for it."""
    if _left.get() is not None:
        yield
        return
    token = _left.set([min(MAX_WORK, LEAST_WORK + WORK_OF_A_BYTE * size)])
    try:
        yield
    finally:
        _left.reset(token)


def spend(work: int) -> None:
    """Count work before it is done."""
    afford(work)
    left = _left.get()
    if left is not None:
        left[0] -= work


def afford(work: int) -> None:
    """Refuse work that is more than what is left, before the first part of it is done."""
    left = _left.get()
    if left is not None and work > left[0]:
        raise MalformedCertificate("the document asks for more work than a certificate may")


def product_work(first_bits: int, second_bits: int, count: int = 1) -> int:
    """Return what products of integers of so many bits cost."""
    return count * (OVERHEAD + (1 + first_bits // 30) * (1 + second_bits // 30))


def fraction_work(bits: int, count: int = 1) -> int:
    """Return what operations on fractions cost whose parts have so many bits: lowest terms are dear."""
    return count * (60 * OVERHEAD + (1 + bits // 30) ** 2)
