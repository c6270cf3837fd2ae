"""What a function is compiled to: one function, or segments between draws and calls."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any

Place = tuple[str, int | None]  # a file, or nothing, and a line of it
NOWHERE: Place = "", None

LEAVE, INVOKE, TAIL = 0, 1, 2
"""How a segment ends: ``(LEAVE, value)``, ``(INVOKE, segment, function, arguments, keywords, live)`` or
``(TAIL, place, function, arguments, keywords)``, with None for no keywords."""


@dataclass(eq=False, slots=True)
class Segment:
    """The code from one draw or call to the next."""

    code: Code  # the function that it belongs to
    line: int  # the line of the draw or call before it
    live: tuple[str, ...] = ()  # the variables that it takes, behind the value of the draw or call
    handles: bool = False  # whether it takes an exception in place of the value
    # the code
    run: Callable[..., tuple[Any, ...]] = field(default=None, repr=False)  # type: ignore[assignment]

    def place(self, files: Container[str]) -> Place:
        """Return where that draw or call stands, if that is in one of these files."""
        return (self.code.file, self.line) if self.code.file in files else NOWHERE


@dataclass(eq=False, slots=True)
class Code:
    """A function of the program."""

    name: str  # name, file and line: what it is called, and where it stands
    file: str
    line: int
    native: Callable[..., Any] | None = None  # the whole of it, where it cannot draw
    # puts arguments in their order, as values of its parameters
    bind: Callable[..., tuple[Any, ...]] | None = None
    entry: Segment | None = None  # its first segment, which takes those, behind the cells of a closure
    defaults: tuple[str, ...] = ()  # names of parameters whose defaults a closure carries
    generates: bool = False  # whether calling it makes a generator
    # how many arguments without names its first segment takes as they are; -1 where they have to be bound
    arity: int = -1
