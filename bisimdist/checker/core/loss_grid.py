"""Measures on a grid of losses, in integers: products, coarser grids, windows, and what they say of delta.

From above: the measure of P by loss, whatever is uncertain at a greater loss or in `excess`. From below: the
masses of both sides by label, those of P rounded down and those of Q rounded up. A product is one product of
two long decimals, which Python's ``decimal`` multiplies in nearly linear time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from itertools import accumulate

from bisimdist.checker.core.balls import Fixed
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import OVERHEAD, RuleViolation, demand_room, hold_for, spend

MOST_ENTRIES = 4_000_000
GUARD = 128  # bits beyond those of the masses and of the numbers that they are multiplied with

PLACE = 64  # how many bits a place of a list takes beside those of its mass

DIGIT = 15  # what a digit of a product costs, in units of work: transforms take nearly linear time

ENTRY = 600  # what it costs to write and to read an entry of a product


@dataclass
class Known:
    """A measure that dominates, and masses by label, on a grid; `copies` says of which factors."""

    step: Fraction
    digits: int
    level: int
    low: int
    above: list[int]
    excess: int
    p: list[int]
    q: list[int]
    sure: int
    copies: dict[int, int]

    def __post_init__(self) -> None:
        parts = [part for part in (self.above, self.p, self.q) if part]
        hold_for(self, sum(len(part) * (PLACE + max(all_of(part)).bit_length()) for part in counted(parts)))

    @property
    def unit(self) -> int:
        return int(10**self.digits)

    @property
    def grid(self) -> Fraction:
        return self.step / (1 << self.level)

    def upper(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound on delta at an epsilon (rule O6)."""
        first = max(epsilon // self.grid + 1, self.low)
        entries = self.above[first - self.low :]
        fixed = Fixed(self.unit.bit_length() + GUARD)
        # the factors e^(epsilon - loss) are rounded down, which is the wrong side for us
        share = fixed.exp(fixed.of(epsilon - first * self.grid))[0]
        step = fixed.exp(fixed.of(-self.grid))[0]
        total = self.excess << fixed.bits
        for entry in counted(entries, OVERHEAD * 2):
            total += entry * (fixed.one - share)
            share = share * step >> fixed.bits
        return Fraction(total, self.unit << fixed.bits)

    def lower(self, epsilon: Fraction) -> Fraction:
        """Return a lower bound on delta at an epsilon: what the best threshold shows."""
        fixed = Fixed(self.unit.bit_length() + GUARD + 3 * int(epsilon) // 2)
        alpha = fixed.exp(fixed.of(epsilon))[1]
        sums = (accumulate(reversed(all_of(part))) for part in (self.p, self.q))
        shown_by = ((p << fixed.bits) - q * alpha for p, q in counted(zip(*sums, strict=True), OVERHEAD * 2))
        best = max(all_of(shown_by), default=0)
        return Fraction(max(best, 0), self.unit << fixed.bits) + Fraction(self.sure, self.unit)


def _pack(entries: list[int], width: int) -> Decimal:
    return Decimal(f"%0{width}d" * len(entries) % tuple(all_of(entries)[::-1]))


def _product(one: list[int], other: list[int], digits: int, *, up: bool) -> Callable[..., list[int]]:
    """Return what gives rounded entries of a product of polynomials in units: from one on, before another.

    It is one product of long decimals, in which all of one times the most of the other fits into an entry.
    """
    size = len(one) + len(other) - 1
    most = min(sum(all_of(one)) * max(all_of(other)), sum(all_of(other)) * max(all_of(one))) + 10**digits
    width = len(str(most)) if most < 10**4000 else 0
    if not width or size > MOST_ENTRIES:
        raise RuleViolation("O4: a product is too long")
    demand_room(size * width * 32)
    spend(size * (width * DIGIT + ENTRY))
    first = _pack(one, width)
    second = first if other is one else _pack(other, width)
    exact = Context(prec=min(MAX_PREC, 2 * size * width + 100), Emax=MAX_EMAX, Emin=MIN_EMIN)
    text = format(exact.multiply(first, second), "f").zfill(size * width)
    nothing = "0" * digits

    def entries(start: int, stop: int = size) -> list[int]:
        places = range(width * (size - start), width * (size - stop), -width)
        if not up:
            return [int(text[end - width : end - digits]) for end in all_of(places)]
        return [
            int(text[end - width : end - digits]) + (text[end - digits : end] != nothing)
            for end in all_of(places)
        ]

    return entries


def product(one: Known, other: Known, low: int, high: int, where: str) -> Known:
    """Return what is known of two together, on a window (rule O4)."""
    if one.level != other.level:
        raise RuleViolation(f"O4: {where} multiplies on two grids")
    first, last = _ends(one.low + other.low, len(one.above) + len(other.above) - 1, low, high, where)
    entries = _product(one.above, other.above, one.digits, up=True)
    above, beyond = entries(first, last), sum(all_of(entries(last)))
    above[0] += sum(all_of(entries(0, first)))
    labels: list[list[int]] = []
    for some, others, up in counted(((one.p, other.p, False), (one.q, other.q, True))):
        labels.append([])
        if some:
            entries = _product(some, others, one.digits, up=up)
            labels[-1] = entries(first, last)
            labels[-1][-1] += sum(all_of(entries(last)))
    unit = one.unit
    copies = dict(all_of(one.copies))
    for number, count in counted(other.copies.items()):
        copies[number] = copies.get(number, 0) + count
    excess = one.excess - (-other.excess * sum(all_of(one.above)) // unit) + beyond
    sure = one.sure + other.sure + (-one.sure * other.sure // unit)
    return Known(one.step, one.digits, one.level, low, above, excess, labels[0], labels[1], sure, copies)


def _ends(start: int, size: int, low: int, high: int, where: str) -> tuple[int, int]:
    """Return where a window begins and ends among so many entries from a start on."""
    first, last = low - start, high - start + 1
    if not 0 <= first < last <= size:
        raise RuleViolation(f"O4: {where} is cut outside of its window")
    return first, last


def coarsened(found: Known, where: str) -> Known:
    """Return the same on a grid of twice the step (rule O4)."""
    if not found.level:
        raise RuleViolation(f"O4: {where} makes the last grid coarser")
    unit = found.unit
    fixed = Fixed(unit.bit_length() + GUARD)
    less = fixed.exp(fixed.of(-found.grid))[0]
    share = -((-fixed.one * unit) // (fixed.one + less))
    low, odd = found.low // 2, found.low % 2
    size = (found.low + len(found.above)) // 2 + 1 - low

    def halves(masses: list[int]) -> tuple[list[int], list[int]]:
        whole = [0] * odd + all_of(masses)
        even, uneven = whole[::2], whole[1::2]
        return even + [0] * (size + 1 - len(even)), uneven + [0] * (size + 1 - len(uneven))

    even, uneven = halves(found.above)
    up = [-(-mass * share // unit) for mass in all_of(uneven)]
    above = [a + b - c + d for a, b, c, d in counted(zip(even, uneven, up, [0, *up], strict=False), OVERHEAD)]
    p, q = (
        [a + b for a, b in counted(zip(*halves(part), strict=True), OVERHEAD)] if part else []
        for part in counted((found.p, found.q))
    )
    return Known(
        found.step, found.digits, found.level - 1, low, above, found.excess, p, q, found.sure, found.copies
    )


def cut(found: Known, low: int, high: int, where: str) -> Known:
    """Return the same on a smaller window (rule O4)."""
    first, last = _ends(found.low, len(found.above), low, high, where)
    above, p, q = (part[first:last] for part in (found.above, found.p, found.q))
    above[0] += sum(all_of(found.above[:first]))
    if p:
        p[-1] += sum(all_of(found.p[last:]))
        q[-1] += sum(all_of(found.q[last:]))
    excess = found.excess + sum(all_of(found.above[last:]))
    return Known(found.step, found.digits, found.level, low, above, excess, p, q, found.sure, found.copies)
