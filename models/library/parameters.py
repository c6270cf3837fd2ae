"""Parameters of built-in examples: what they are called, what they may be, how they are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import NumberError, UsageError
from bisimdist.exact.rational import format_rational, parse_rational
from bisimdist.models.expression import PARAMETER_NAME
from bisimdist.models.kinds import AnyModel

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


def shown(text: str) -> str:
    """Return what somebody wrote, in quotes and cut short where it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer between two bounds, both allowed."""

    name: str
    default: int
    minimum: int
    maximum: int

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        return f"an integer from {self.minimum} to {self.maximum}"

    @property
    def default_text(self) -> str:
        """The default, as it would be written."""
        return str(self.default)

    def read(self, text: str) -> int:
        """Return the value that is written."""
        if not _INTEGER.fullmatch(text) or not self.minimum <= int(text) <= self.maximum:
            raise UsageError(f"{self.name}={shown(text)} is not usable; expected {self.expected}")
        return int(text)


@dataclass(frozen=True, slots=True)
class Rational:
    """An exact rational between two integers, both allowed; without a default it may be left unknown."""

    name: str
    default: fmpq | None
    minimum: int = 0
    maximum: int = 1

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        sample = "49/100 or 0.49" if self.maximum <= 1 else "3/2 or 1.5"
        unknown = "unknown, or " if self.default is None else ""
        return f"{unknown}an exact number from {self.minimum} to {self.maximum}, such as {sample}"

    @property
    def default_text(self) -> str:
        """The default, as it would be written."""
        return "unknown" if self.default is None else format_rational(self.default)

    def read(self, text: str) -> fmpq | None:
        """Return the value that is written; None where it is left unknown."""
        if self.default is None and text == "unknown":
            return None
        try:
            value = parse_rational(text)
        except NumberError as error:
            raise UsageError(f"{self.name}: {error}; expected {self.expected}") from error
        if not self.minimum <= value <= self.maximum:
            raise UsageError(f"{self.name}={shown(text)} is out of range; expected {self.expected}")
        return value


@dataclass(frozen=True, slots=True)
class RationalOrName(Rational):
    """An exact rational, or the name of a parameter that stands for it."""

    def read(self, text: str) -> fmpq | str | None:
        """Return the value or the name that is written."""
        return text if PARAMETER_NAME.fullmatch(text) else Rational.read(self, text)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    name: str
    default: str
    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        return " or ".join(self.words)

    @property
    def default_text(self) -> str:
        """The default, as it would be written."""
        return self.default

    def read(self, text: str) -> str:
        """Return the value that is written."""
        if text not in self.words:
            raise UsageError(f"{self.name}={shown(text)} is not usable; expected {self.expected}")
        return text


Parameter = Integer | Rational | Choice


@dataclass(frozen=True, slots=True)
class Example:
    """A built-in example: its name, what it shows, and the function that makes it."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]  # what may follow as ``,key=value``
    # called with a keyword argument for each parameter; raises UsageError where values do not go together
    build: Callable[..., AnyModel]
    # called likewise, makes the same model as a text of the process calculus; None where there is none
    text: Callable[..., str] | None = None
    # the figures and examples of papers that it is, by the keys of ``docs/papers.md``
    papers: tuple[str, ...] = ()
