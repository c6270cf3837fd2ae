"""Measures on a grid of losses, in integers: products, coarser grids, windows, and what they say of delta.

From above: the measure of P by loss, whatever is uncertain at a greater loss or in `excess`. From below: the
masses of both sides by label, those of P rounded down and those of Q rounded up. A product is one product of
two long decimals, which Python's ``decimal`` multiplies in nearly linear time.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from itertools import accumulate, chain

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
        masses = chain(self.above, self.p, self.q)
        hold_for(self, sum(PLACE + mass.bit_length() for mass in counted(masses, OVERHEAD)))

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


def _products(pairs: list[tuple[list[int], list[int]]], digits: int, ups: list[bool]) -> list[list[int]]:
    """Return products of polynomials in units, rounded: one product of long decimals each."""
    found: list[list[int]] = []
    for (one, other), up in counted(zip(pairs, ups, strict=True)):
        if not one:
            found.append([])
            continue
        size = len(one) + len(other) - 1
        most = max(all_of(one)) * max(all_of(other)) * min(len(one), len(other)) + 10**digits
        width = len(str(most)) if most < 10**4000 else 0
        if not width or size > MOST_ENTRIES:
            raise RuleViolation("O4: a product is too long")
        demand_room(size * width * 32)
        spend(size * (width * DIGIT + ENTRY))
        first = _pack(one, width)
        second = first if other is one else _pack(other, width)
        exact = Context(prec=min(MAX_PREC, 2 * size * width + 100), Emax=MAX_EMAX, Emin=MIN_EMIN)
        whole = exact.multiply(first, second)
        if up:  # each entry gets one unit less than what would carry over
            whole = exact.add(whole, Decimal(("0" * (width - digits) + "9" * digits) * size))
        text = format(whole, "f").zfill(size * width)
        ends = range(width * size, 0, -width)
        found.append([int(text[end - width : end - digits]) for end in all_of(ends)])
    return found


def product(one: Known, other: Known, where: str) -> Known:
    """Return what is known of two together (rule O4)."""
    if one.level != other.level:
        raise RuleViolation(f"O4: {where} multiplies on two grids")
    pairs = [(one.above, other.above), (one.p, other.p), (one.q, other.q)]
    above, p, q = _products(pairs, one.digits, [True, False, True])
    unit = one.unit
    copies = dict(all_of(one.copies))
    for number, count in counted(other.copies.items()):
        copies[number] = copies.get(number, 0) + count
    return Known(
        one.step,
        one.digits,
        one.level,
        one.low + other.low,
        above,
        one.excess - (-other.excess * sum(all_of(one.above)) // unit),
        p,
        q,
        one.sure + other.sure + (-one.sure * other.sure // unit),
        copies,
    )


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
    first, last = low - found.low, high - found.low + 1
    if not 0 <= first < last <= len(found.above):
        raise RuleViolation(f"O4: {where} is cut outside of its window")
    above, p, q = (part[first:last] for part in (found.above, found.p, found.q))
    above[0] += sum(all_of(found.above[:first]))
    if p:
        p[-1] += sum(all_of(found.p[last:]))
        q[-1] += sum(all_of(found.q[last:]))
    excess = found.excess + sum(all_of(found.above[last:]))
    return Known(found.step, found.digits, found.level, low, above, excess, p, q, found.sure, found.copies)
