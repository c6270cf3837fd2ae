"""Masses along words, in integers over one denominator: the one place that follows them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Generic, TypeVar

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    ENTRY,
    Counted,
    common,
    fraction_work,
    hold,
    hold_for,
    product_work,
    spend,
)

Key = TypeVar("Key", bound=Hashable)

SHORT_BITS = 1 << 12
"""From this length on, masses are brought to lowest terms each time that their length has doubled."""


@dataclass(frozen=True, slots=True)
class WholeRow(Generic[Key]):
    """The entries of a row as integers over its denominator."""

    entries: Mapping[Key, int]
    denominator: int
    bits: int


def whole_row(row: Mapping[Key, Fraction]) -> WholeRow[Key]:
    """Bring a row over one denominator."""
    denominator = common(p.denominator for p in counted(row.values()))
    spend(fraction_work(denominator.bit_length(), len(row)))
    hold(denominator.bit_length() * len(row))
    entries = {key: p.numerator * (denominator // p.denominator) for key, p in counted(row.items())}
    return WholeRow(entries, denominator, denominator.bit_length())


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Masses(Generic[Key]):
    """Masses over one denominator; none is 0, and they may have signs."""

    parts: Mapping[Key, int]
    denominator: int
    short: int = SHORT_BITS

    def __post_init__(self) -> None:
        size = max(all_of(map(int.bit_length, self.parts.values())), default=0)
        hold_for(self, len(self.parts) * (ENTRY + size))

    @classmethod
    def of(cls, masses: Mapping[Key, Fraction]) -> Masses[Key]:
        """Bring masses over one denominator."""
        row = whole_row(masses)
        return cls({key: mass for key, mass in counted(row.entries.items()) if mass}, row.denominator)

    def after(self, row_of: Callable[[Key], WholeRow[Key] | None]) -> Masses[Key]:
        """Return the masses one step later; those without a row are lost."""
        alive = [(mass, row) for key, mass in counted(self.parts.items()) if (row := row_of(key)) is not None]
        unit = common(row.denominator for _, row in counted(alive))
        size = unit.bit_length()
        moved: dict[Key, int] = {}
        for mass, row in counted(alive):
            spend(product_work(mass.bit_length(), size, 1 + len(row.entries)))
            scaled = mass * (unit // row.denominator)
            for key, entry in counted(row.entries.items()):
                moved[key] = moved.get(key, 0) + scaled * entry
        return Masses(
            {key: mass for key, mass in counted(moved.items()) if mass}, self.denominator * unit, self.short
        )._shortened()

    def _shortened(self) -> Masses[Key]:
        bits = self.denominator.bit_length()
        if bits <= self.short:
            return self
        spend(fraction_work(bits, 1 + len(self.parts)))
        divisor = gcd(self.denominator, *self.parts.values())
        denominator = self.denominator // divisor
        short = 2 * max(denominator.bit_length(), SHORT_BITS)
        return Masses({key: mass // divisor for key, mass in counted(self.parts.items())}, denominator, short)

    def total(self) -> Fraction:
        return Counted.ratio(sum(all_of(self.parts.values())), self.denominator)

    def are(self, total: Fraction) -> bool:
        """Tell whether the masses sum to a number, without lowest terms."""
        return sum(all_of(self.parts.values())) * total.denominator == total.numerator * self.denominator

    def fractions(self) -> dict[Key, Fraction]:
        """Return the masses in lowest terms."""
        return {key: Counted.ratio(mass, self.denominator) for key, mass in counted(self.parts.items())}


class Steps(Generic[Key]):
    """The one step of each state that has one: an action, and what follows."""

    def __init__(self, steps: Mapping[Key, tuple[str | None, Mapping[Key, Fraction]]]) -> None:
        self.actions = {
            state: action for state, (action, row) in counted(steps.items()) if action is not None and row
        }
        self.rows: dict[str, dict[Key, WholeRow[Key]]] = {}
        for state, action in counted(self.actions.items()):
            self.rows.setdefault(action, {})[state] = whole_row(steps[state][1])

    def along(self, masses: Masses[Key], word: Iterable[str]) -> Masses[Key]:
        for action in counted(word):
            masses = masses.after(self.rows.get(action, {}).get)
        return masses

    def possible(self, states: Iterable[Key]) -> list[str]:
        """Return the actions that may be next, in order."""
        return sorted({self.actions[state] for state in counted(states) if state in self.actions})
