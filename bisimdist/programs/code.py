"""What a function is compiled to: one function, or segments between draws and calls."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any

__all__ = ["INVOKE", "LEAVE", "NOWHERE", "TAIL", "Code", "Place", "Places", "Segment"]

Place = tuple[str, int | None]
"""A file, or nothing, and a line of it."""
NOWHERE: Place = "", None
Places = tuple[tuple[str, int], ...]

LEAVE, INVOKE, TAIL = 0, 1, 2
"""How a segment ends: ``(LEAVE, value)``, ``(INVOKE, segment, function, arguments, keywords, live)`` or
``(TAIL, place, function, arguments, keywords)``, with None for no keywords."""


@dataclass(eq=False, slots=True)
class Segment:
    """The code from one draw or call to the next.

    Parameters
    ----------
    code
        The function that it belongs to.
    line
        The line of the draw or call before it.
    live
        The variables that it takes, behind the value of the draw or call.
    handles
        Whether it takes an exception in place of the value.
    run
        The code.
    inner
        Where that draw or call stands, and what was called on the way there, where functions are written into
        this one: the innermost first.
    """

    code: Code
    line: int
    live: tuple[str, ...] = ()
    handles: bool = False
    run: Callable[..., tuple[Any, ...]] = field(default=None, repr=False)  # type: ignore[assignment]
    inner: Places = ()

    def place(self, files: Container[str]) -> Place:
        """Return the innermost place that lies in one of these files."""
        places = (*self.inner, (self.code.file, self.line))
        return next((place for place in places if place[0] in files), NOWHERE)


@dataclass(eq=False, slots=True)
class Code:
    """A function of the program.

    Parameters
    ----------
    name, file, line
        What it is called, and where it stands.
    native
        The whole of it, where it cannot draw.
    bind
        Puts arguments in their order, as values of its parameters.
    entry
        Its first segment, which takes those, behind the cells of a closure.
    defaults
        Names of parameters whose defaults a closure carries.
    generates
        Whether calling it makes a generator.
    arity
        How many arguments without names its first segment takes as they are; -1 where they have to be bound.
    """

    name: str
    file: str
    line: int
    native: Callable[..., Any] | None = None
    bind: Callable[..., tuple[Any, ...]] | None = None
    entry: Segment | None = None
    defaults: tuple[str, ...] = ()
    generates: bool = False
    arity: int = -1
