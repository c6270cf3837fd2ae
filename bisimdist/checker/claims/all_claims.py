"""Claims of a certificate with compact tables about all pairs of states, made when they are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import gcd
from typing import Any

from bisimdist.checker.core.compact_tables import Tables
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import OVERHEAD, spend, text_of
from bisimdist.checker.core.shape import Claim

SHORT = 1000  # every interpreter writes integers of fewer bits in decimal


class AllClaims(Sequence[Claim]):
    """That the tables of bd are right about every two states of the model, in the order of the model."""

    def __init__(
        self, tables: Tables, alpha: Fraction, names: Iterable[str], inside: Mapping[str, str]
    ) -> None:
        self.tables, self.alpha, self.names = tables, alpha, list(all_of(names))
        self.distance = "bd"
        digits = tables.denominator.bit_length() // 30
        long = sum(all_of(map(len, tables.partners)))  # all others are 0 or 1
        if len(tables.states.number) < len(self.names):
            long = len(self)
        spend(OVERHEAD * len(self) + 2 * long * digits**2)
        number, states = tables.states.number, tables.states
        at = [number[inside[name]] for name in counted(self.names)]
        self.where = [
            (name, x, states.kind[x], states.place[x])
            for name, x in counted(zip(self.names, at, strict=True))
        ]
        """By state of the model: its name, and where the tables speak of it."""

    def __len__(self) -> int:
        return len(self.names) * (len(self.names) - 1) // 2

    def __getitem__(self, number: Any) -> Any:
        return next(islice(self, range(len(self))[number], None))

    def __iter__(self) -> Iterator[Claim]:
        one = self.tables.denominator
        for s, t, upper, lower in counted(self.bounds()):
            yield Claim(s, t, self.distance, self.alpha, Fraction(upper, one), Fraction(lower, one))

    def bounds(self) -> Iterator[tuple[str, str, int, int]]:
        """Yield the names of two states, and the numerators of the upper and the lower bound."""
        one = self.tables.denominator
        for first, (s, x, kind, _) in counted(enumerate(self.where, 1)):
            above, below = self.tables.upper[x], self.tables.lower[x]
            for t, y, other, place in counted(islice(self.where, first, None)):
                if kind != other:
                    yield s, t, one, one
                elif x == y:
                    yield s, t, 0, 0
                else:
                    yield s, t, above[place], below[place]

    def texts(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the names of two states, and both bounds in lowest terms."""
        one = self.tables.denominator
        text = self._short if one.bit_length() < SHORT else self._long
        known = {0: "0", one: "1"}
        for s, t, upper, lower in counted(self.bounds()):
            above = known[upper] if upper in known else text(upper)
            yield s, t, above, above if upper == lower else known[lower] if lower in known else text(lower)

    def _short(self, number: int) -> str:
        shared = gcd(number, self.tables.denominator)
        return f"{number // shared}/{self.tables.denominator // shared}"

    def _long(self, number: int) -> str:
        return text_of(Fraction(number, self.tables.denominator))
