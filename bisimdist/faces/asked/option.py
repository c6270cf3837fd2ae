"""One option of the command line: how it is called, what it takes, and how that is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, overload

from bisimdist.errors import UsageError
from bisimdist.faces.asked import numbers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OneOf:
    """Reads one of some names."""

    names: tuple[str, ...]
    what: str

    def __call__(self, flag: str, text: str) -> str:
        if text not in self.names:
            *first, last = self.names
            expected = f"{', '.join(first)} or {last}" if first else last
            raise UsageError(f"{flag} {text}: {self.what}; expected {expected}")
        return text


def _as_given(_: str, value: Any) -> Any:
    return value


def _no_file(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option(Generic[T]):
    """One option of the command line."""

    name: str  # what the value is found under
    flags: tuple[str, ...]  # how it is called; the last one is the name in errors
    help: str
    metavar: str = ""  # what stands for its value in help texts; empty for a switch
    default: Any = None  # the value where it is not given
    type: type = str  # ``str`` or ``int``, of every part
    parts: int = 1  # of how many parts a value consists
    repeatable: bool = False  # whether it may be given more than once; its value is a tuple then
    required: bool = False  # whether it has to be given
    writes: bool = False  # whether it names a file to be written
    file_of: Callable[[str], str | None] = _no_file  # returns which file is read for a value
    read: Callable[[str, Any], T] = _as_given  # makes the value of the text, given the flag for errors
    offered: tuple[str, ...] = ()  # values that a shell offers, where `read` does not say which there are

    @property
    def values(self) -> tuple[str, ...]:
        """What a shell offers."""
        return self.read.names if isinstance(self.read, OneOf) else self.offered

    @property
    def flag(self) -> str:
        """What errors call it."""
        return self.flags[-1]

    def but(self, **changes: Any) -> Option[T]:
        """Return the same option with another help text, default or the like."""
        return replace(self, **changes)


@overload
def option(
    flag: str, metavar: str, help: str, *, name: str = "", read: Callable[[str, Any], T], **more: Any
) -> Option[T]: ...
@overload
def option(
    flag: str, metavar: str, help: str, *, name: str = "", default: str, **more: Any
) -> Option[str]: ...
@overload
def option(flag: str, metavar: str, help: str, *, name: str = "", **more: Any) -> Option[str | None]: ...
def option(flag: str, metavar: str, help: str, *, name: str = "", **more: Any) -> Option[Any]:
    """Return an option that takes a value, which is found under its flag unless it has another name."""
    known = {"name": name or flag.lstrip("-").replace("-", "_"), "flags": (flag,)}
    return Option(**{**known, **more}, metavar=metavar, help=help)


def switch(flag: str, help: str, *, name: str = "") -> Option[bool]:
    """Return an option that is there or not."""
    return option(flag, "", help, name=name, default=False, read=lambda _, given: bool(given))


def choice(  # noqa: PLR0913
    flag: str, metavar: str, help: str, *names: str, what: str, default: str, name: str = ""
) -> Option[str]:
    """Return an option that takes one of some names; `what` says of another one that it is none."""
    return option(flag, metavar, help, name=name, default=default, read=OneOf(names, what))


@overload
def whole(
    flag: str, metavar: str, help: str, *, default: int, least: int | None = None, name: str = ""
) -> Option[int]: ...
@overload
def whole(
    flag: str, metavar: str, help: str, *, least: int | None = None, name: str = ""
) -> Option[int | None]: ...
def whole(flag: str, metavar: str, help: str, *, least: int | None = None, **more: Any) -> Option[Any]:
    """Return an option that takes an integer, perhaps not below the least one."""

    def read(flag: str, value: int | None) -> int | None:
        return value if value is None or least is None else numbers.at_least(flag, value, least)

    return option(flag, metavar, help, type=int, read=read, **more)


def _parts(text: str) -> list[str]:
    """Return what stands between the commas of a text: those outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def several(  # noqa: PLR0913
    flag: str,
    metavar: str,
    help: str,
    *,
    name: str,
    each: Callable[[str, Any], Any] = _as_given,
    commas: bool = False,
    parts: int = 1,
) -> Option[Any]:
    """Return an option that may be given more than once, or with commas; its value is a tuple."""

    def read(flag: str, values: Any) -> tuple[Any, ...]:
        texts = values or ()
        return tuple(each(flag, part) for text in texts for part in (_parts(text) if commas else (text,)))

    return option(flag, metavar, help, name=name, repeatable=True, parts=parts, read=read)
