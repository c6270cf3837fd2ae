"""What an expression is while a flowchart is made: a form over variables, or something that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bisimdist.models.flowchart import Step


@dataclass(frozen=True, slots=True)
class Known:
    """A value that every run has here."""

    value: Any


@dataclass(frozen=True, slots=True)
class Slot:
    """A variable of the flowchart."""

    name: str
    fixed: bool = False  # whether a loop counts with it
    common: bool = False  # whether two runs have it in common


@dataclass(frozen=True, slots=True)
class Told:
    """A list that the observer sees: which variables hold its length, and how many elements are True."""

    length: str
    trues: str

    @property
    def last(self) -> str:
        """Under what name it is known which truth value or text was appended last."""
        return f"last of {self.length}"


@dataclass(frozen=True, slots=True)
class Listed:
    """The input."""


@dataclass(frozen=True, slots=True)
class Ranged:
    """What a loop goes over: integers from a first one, to a length or to the end of the input."""

    first: dict[str, int]
    length: dict[str, int] | None
    gives: tuple[str, ...]  # what it gives at each place: ``place``, ``element`` or both


@dataclass(frozen=True, slots=True)
class Bracketed:
    """A list of these values, which does not change."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Copied:
    """A tuple or a list of what a list holds now, which is told or returned at once."""

    told: Told
    kind: str


Form = Mapping[str, int]
Value = dict[str, int] | Known | Slot | Told | Listed | Ranged | Bracketed | Copied | tuple[Any, ...]


def added(one: Mapping[str, int], other: Mapping[str, int], factor: int = 1) -> dict[str, int]:
    """Return a form plus another one times a factor."""
    made = dict(one)
    for name, value in other.items():
        made[name] = made.get(name, 0) + factor * value
    return {name: value for name, value in made.items() if value}


def lists_in(value: Any) -> set[Told]:
    """Return which lists a value is made of."""
    if isinstance(value, Told):
        return {value}
    if isinstance(value, Copied):
        return {value.told}
    parts = value.parts if isinstance(value, Bracketed) else value if isinstance(value, tuple) else ()
    return {told for part in parts for told in lists_in(part)}


def signature(env: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    """Return what is known where a loop is entered."""
    return tuple(sorted((name, repr(value)) for name, value in env.items()))


Env = Mapping[str, Value]
Then = Callable[[Env], Step]
ThenValue = Callable[[Value, Env], Step]


@dataclass(frozen=True)
class Ways:
    """Where control goes on from inside a function or a loop."""

    returned: ThenValue
    prefix: str = ""
    depth: int = 0
    broken: Then | None = None
    continued: Then | None = None
    reading: bool = False  # whether a loop over the input is going on
