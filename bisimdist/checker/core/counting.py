"""The one way through whatever a document makes long: each step of it counts as work.

Every loop whose length a document decides goes through `counted`, or through `kept` if it makes something
that stays, or through `all_of` where it surely comes to the end of what does not grow meanwhile; a ``while``
calls `spend` itself. A test goes through the sources of the checker and finds loops that do none of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast

from bisimdist.checker.core.reading import LOOK, OVERHEAD, afford, hold, remaining, spend

Item = TypeVar("Item")
Collection = TypeVar("Collection")


def counted(items: Iterable[Item], work: int = LOOK) -> Iterable[Item]:
    """Go through items, however many there are or come to be; each one counts before it is looked at."""
    left = remaining()
    return items if left is None else _counted(items, left, work)


def _counted(items: Iterable[Item], left: list[int], work: int) -> Iterator[Item]:
    for item in items:
        if work > left[0]:
            afford(work)
        left[0] -= work
        yield item


def kept(items: Iterable[Item], bits: int, work: int = LOOK) -> Iterable[Item]:
    """Go through items, and keep something of each: its memory, so many bits, counts before it is taken."""
    for item in counted(items, work):
        hold(bits)
        yield item


def all_of(items: Collection) -> Collection:
    """Count all of a collection at once, for what goes through it alone: to sort it, to copy it."""
    try:
        count = len(items)  # type: ignore[arg-type]
    except TypeError:
        return cast("Collection", counted(cast("Iterable[Any]", items), OVERHEAD))
    spend(OVERHEAD * count)
    return items


def joined(text: str) -> str:
    """Count the memory of a text that was put together, of which there will be many, and of digests."""
    hold(24 * text.__sizeof__())
    return text
