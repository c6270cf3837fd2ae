"""Measures on a grid of losses, in integers: products, coarser grids, windows, and what they say of delta.

From above: the measure of P by loss, whatever is uncertain at a greater loss or in `excess`. From below: the
masses of both sides by label, those of P rounded down and those of Q rounded up. A product is one product of
two long decimals, which Python's ``decimal`` multiplies in nearly linear time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache
from operator import add, mul

from bisimdist.checker.core.balls import Enclosure, Fixed
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import LOOK, OVERHEAD, RuleViolation, demand_room, hold, hold_for, spend

MOST_ENTRIES = 4_000_000
GUARD = 96  # bits beyond those of the masses and of the numbers that they are multiplied with
ROOM = 2_816  # so many bits are always allowed
PLACE = 64  # how many bits a place of a list takes beside those of its mass
DIGIT = 15  # what a digit of a product costs, in units of work: transforms take nearly linear time

ZERO = Fraction(0)
FAR = Fraction(64)  # how much less than epsilon the least label may be that a threshold is taken at
BLOCK = 128  # how many entries are summed at a time
ENTRY = 600  # what it costs to write and to read an entry of a product


class Precisions:
    """Arithmetic of each precision, made once: it has tables. None has fewer bits than `least`."""

    def __init__(self, least: int = 0) -> None:
        self.made, self.least = dict[int, Fixed](), min(least, ROOM)

    def of(self, bits: int) -> Fixed:
        """Return one of at least so many bits."""
        bits = -(-max(bits, self.least) // 32) * 32
        if bits not in self.made:
            self.made[bits] = Fixed(bits)
        return self.made[bits]

    def fit(self, epsilon: Fraction, about: Fraction) -> Fixed:
        """Return one for a delta of about this size."""
        small = about.denominator.bit_length() if about else 200
        large = small + 2 * GUARD + 3 * int(epsilon) // 2
        # what is multiplied with e^epsilon has lost as many digits before, if a loss is large
        return self.of(max(large, min(large + 3 * int(epsilon) // 2, ROOM)))


@dataclass(frozen=True)
class Units:
    """A grid, and what its entries stand for.

    An entry at a loss l is so many times 10^-digits e^(scale - tilt l) of P, or as many times e^-l of that of
    Q. So masses that count alike have as many digits. The scale is the sum of that of each copy.
    """

    step: Fraction
    digits: int
    tilt: Fraction = ZERO
    scales: tuple[Fraction, ...] = ()
    precisions: Precisions = field(default_factory=Precisions, compare=False)

    def fixed(self, large: Fraction = ZERO) -> Fixed:
        """Return arithmetic that is fit for entries that are multiplied with e to numbers up to this."""
        return self.precisions.of(self.digits * 10 // 3 + GUARD + int(3 * abs(large) / 2))


class Powers:
    """Powers of e at the places of a grid: where they lie close, each is a product of two that are kept."""

    def __init__(self, rate: Fraction, fixed: Fixed, start: Fraction = Fraction(0)) -> None:
        self.rate, self.start, self.fixed = rate, start, fixed
        self.block = 256 if abs(rate) < Fraction(1, 16) else 1
        self.near: dict[int, Enclosure] = {}
        self.far: dict[int, Enclosure] = {}

    def at(self, place: int) -> Enclosure:
        """Enclose e^(start + rate * place)."""
        rest = place % self.block
        if rest not in self.near:
            self.near[rest] = self._made(self.rate * rest)
        if place - rest not in self.far:
            self.far[place - rest] = self._made(self.start + self.rate * (place - rest))
        return self.fixed.times(self.far[place - rest], self.near[rest])

    def _made(self, exponent: Fraction) -> Enclosure:
        hold(self.fixed.room)
        return self.fixed.exp(self.fixed.of(exponent))


@dataclass
class Places:
    """How masses become entries at the places of a grid, and back."""

    unit: int
    powers: Powers  # e to the loss
    growth: Powers  # e to the loss times the tilt, less the scale
    fixed: Fixed

    def up(self, mass: int, place: int, *, of_q: bool = False) -> int:
        """Return how many units a mass of P, or of Q, is at most."""
        factor = self.growth.at(place)
        if of_q:
            factor = self.fixed.times(factor, self.powers.at(place))
        return max(0, -(-mass * factor[1] * self.unit >> 2 * self.fixed.bits))

    def down(self, mass: int, place: int) -> int:
        """Return how many units a mass of P is at least."""
        return max(0, mass * self.growth.at(place)[0] * self.unit >> 2 * self.fixed.bits)

    def worth(self, entry: int, place: int) -> int:
        """Return how much mass of P an entry is at least."""
        return (entry << 2 * self.fixed.bits) // (self.growth.at(place)[1] * self.unit)


@dataclass
class Known:
    """A measure that dominates, and masses by label, on a grid; `copies` says of which factors."""

    units: Units
    level: int
    low: int
    above: list[int]
    excess: Fraction
    p: list[int]
    q: list[int]
    sure: Fraction
    copies: dict[int, int]

    def __post_init__(self) -> None:
        parts = [part for part in (self.above, self.p, self.q) if part]
        hold_for(self, sum(len(part) * (PLACE + max(all_of(part)).bit_length()) for part in counted(parts)))

    @property
    def grid(self) -> Fraction:
        return self.units.step / (1 << self.level)

    @property
    def rate(self) -> Fraction:
        """By which power of e the unit of P falls from a loss to the next one."""
        return self.units.tilt * self.grid

    def worth(self, entry: int, place: int, fixed: Fixed, *, up: bool) -> Fraction:
        """Return a bound on the mass of P of an entry at a place, which is a fixed number."""
        if not entry:
            return Fraction(0)
        scales = self.units.scales
        scale = sum((runs * scales[number] for number, runs in counted(self.copies.items())), Fraction(0))
        exponent = scale - self.rate * place
        finer = self.units.fixed(exponent)
        power = finer.exp(finer.of(exponent))[up]
        return short(Fraction(entry * power, 10**self.units.digits << fixed.bits + finer.bits), up=up)

    def upper(self, epsilon: Fraction) -> Fraction:
        """Return an upper bound on delta at an epsilon (rule O6)."""
        first = max(epsilon // self.grid + 1, self.low)
        entries, fixed = self.above[first - self.low :], self.units.fixed()
        whole = gathered(entries, -self.rate, fixed, up=True)
        part = gathered(entries, -self.rate - self.grid, fixed, up=False)
        # the factor e^(epsilon - loss) is rounded down, which is the wrong side for us
        share = fixed.exp(fixed.of(epsilon - first * self.grid))[0]
        return self.excess + self.worth(whole - (part * share >> fixed.bits), first, fixed, up=True)

    def lower(self, epsilon: Fraction) -> Fraction:
        """Return a lower bound on delta at an epsilon: what the best threshold shows."""
        step, high = self.grid, self.low + len(self.p) - 1
        fixed = self.units.fixed(FAR)
        less, down = fixed.exp(fixed.of(-self.rate))[0], fixed.exp(fixed.of(-self.rate - step))[1]
        # e^(epsilon - loss) grows by that from a label to the next one, and is made anew now and then
        often = BLOCK if step * BLOCK < FAR else 1
        grow = fixed.exp(fixed.of(step))[1] if often > 1 else 0
        alpha = p_sum = q_sum = shown = 0
        best = 0, high
        # from the largest label on: all in units of P, or of Q, at the label; any threshold may be taken
        last = max(self.low, (epsilon - FAR) // step + 1)
        for place in counted(range(high, last - 1, -1), OVERHEAD * 8):
            alpha = -(-alpha * grow >> fixed.bits)
            if (high - place) % often == 0:
                alpha = fixed.exp(fixed.of(epsilon - place * step))[1]
            p_sum = (self.p[place - self.low] << fixed.bits) + (p_sum * less >> fixed.bits)
            q_sum = (self.q[place - self.low] << fixed.bits) - (-q_sum * down >> fixed.bits)
            gain, shown = p_sum + (-q_sum * alpha >> fixed.bits), shown * less >> fixed.bits
            if gain > shown:
                best, shown = (gain, place), gain
            elif 0 <= 2 * gain < shown and place * step < epsilon:
                break
        return self.sure + self.worth(*best, fixed, up=False)


def short(value: Fraction, *, up: bool) -> Fraction:
    """Return a bound on a number that has not many digits, close to it in relation to it."""
    size = 256 + value.denominator.bit_length() - value.numerator.bit_length()
    if size <= 0:
        return value
    whole = (value.numerator << size) // value.denominator
    return Fraction(whole + (up and whole * value.denominator != value.numerator << size), 1 << size)


def gathered(entries: list[int], exponent: Fraction, fixed: Fixed, *, up: bool) -> int:
    """Return a bound on a sum of entries, as a fixed number: each counts e^exponent times that before."""
    if not exponent:
        return sum(all_of(entries)) << fixed.bits
    factor, powers = fixed.exp(fixed.of(exponent))[up], [fixed.one]
    for _ in counted(range(min(BLOCK, len(entries)))):
        powers.append((powers[-1] * factor >> fixed.bits) + up)
    far, total = powers.pop(), 0
    for start in counted(range(BLOCK * ((len(entries) - 1) // BLOCK), -1, -BLOCK), LOOK):
        near = sum(map(mul, all_of(entries[start : start + BLOCK]), all_of(powers)))
        total = near + (-(-total * far >> fixed.bits) if up else total * far >> fixed.bits)
    return total


def _pack(entries: list[int], width: int) -> Decimal:
    return Decimal(f"%0{width}d" * len(entries) % tuple(all_of(entries)[::-1]))


@lru_cache(maxsize=1)
def _nines(digits: int, width: int, size: int) -> Decimal:
    """Return what is added to each entry to round it up."""
    return Decimal(f"{10**digits - 1:0{width}d}" * size)


def _product(one: list[int], other: list[int], digits: int, *, up: bool) -> list[int]:
    """Return the entries of a product of polynomials in units.

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
    exact = Context(min(MAX_PREC, size * width), Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
    more = _nines(digits, width, size) if up else Decimal(0)
    text = format(exact.fma(first, second, more), "f").zfill(size * width)
    return [int(text[end - width : end - digits]) for end in all_of(range(width * size, 0, -width))]


def product(one: Known, other: Known, low: int, high: int, where: str) -> Known:
    """Return what is known of two together, on a window (rule O4)."""
    if one.level != other.level:
        raise RuleViolation(f"O4: {where} multiplies on two grids")
    units = one.units
    above, p, q = (
        _product(some, others, units.digits, up=up) if some else []
        for some, others, up in (
            (one.above, other.above, True),
            (one.p, other.p, False),
            (one.q, other.q, True),
        )
    )
    copies = dict(all_of(one.copies))
    for number, count in counted(other.copies.items()):
        copies[number] = copies.get(number, 0) + count
    excess = one.excess
    if other.excess:
        fixed = units.fixed()
        mass = one.worth(gathered(one.above, -one.rate, fixed, up=True), one.low, fixed, up=True)
        excess = short(one.excess + other.excess * mass, up=True)
    sure = short(one.sure + other.sure - one.sure * other.sure, up=False)
    whole = Known(units, one.level, one.low + other.low, above, excess, p, q, sure, copies)
    return cut(whole, low, high, where)


def coarsened(found: Known, where: str) -> Known:
    """Return the same on a grid of twice the step (rule O4)."""
    if not found.level:
        raise RuleViolation(f"O4: {where} makes the last grid coarser")
    fixed = found.units.fixed(found.rate)
    fall, rise = fixed.exp(fixed.of(-found.rate)), fixed.exp(fixed.of(found.rate))
    less = fixed.exp(fixed.of(-found.grid))
    whole = fixed.one + less[0], fixed.one + less[1]
    raised = fixed.times(fixed.over((fixed.one, fixed.one), whole), rise)[1]
    lowered = fixed.times(fixed.over(less, whole), fall)[1]
    low, odd = found.low // 2, found.low % 2

    def halves(masses: list[int]) -> tuple[list[int], list[int]]:
        whole = [0] * odd + all_of(masses)
        return [*whole[::2], 0], [*whole[1::2], 0]

    def times(masses: list[int], factor: int, *, up: bool) -> list[int]:
        if up:
            return [-(-mass * factor >> fixed.bits) for mass in all_of(masses)]
        return [mass * factor >> fixed.bits for mass in all_of(masses)]

    def total(some: list[int], others: list[int]) -> list[int]:  # a longer one has a 0 more
        return list(map(add, all_of(some), all_of(others)))

    even, uneven = halves(found.above)
    above = total(total(even, times(uneven, lowered, up=True)), [0, *times(uneven, raised, up=True)])
    labels: list[list[int]] = [[], []]
    if found.p:
        even, uneven = halves(found.p)
        labels[0] = total(even, times(uneven, fall[0], up=False))
        even, uneven = halves(found.q)
        labels[1] = total(even, times(uneven, fixed.times(fall, less)[1], up=True))
    return Known(
        found.units, found.level - 1, low, above, found.excess, labels[0], labels[1], found.sure, found.copies
    )


def cut(found: Known, low: int, high: int, where: str) -> Known:
    """Return the same on a smaller window (rule O4)."""
    first, last = low - found.low, high - found.low + 1
    if not 0 <= first < last <= len(found.above):
        raise RuleViolation(f"O4: {where} is cut outside of its window")
    fixed, rate = found.units.fixed(found.rate), found.rate
    above, p, q = (part[first:last] for part in (found.above, found.p, found.q))
    moved = gathered([0, *all_of(found.above[:first])[::-1]], rate, fixed, up=True)
    above[0] -= -moved >> fixed.bits
    if p:  # mass that may lie anywhere has the last label, and stays: a label beyond becomes the last one
        p[-1] += gathered([0, *all_of(found.p[last:])], -rate, fixed, up=False) >> fixed.bits
        q[-1] -= -gathered([0, *all_of(found.q[last:])], -rate - found.grid, fixed, up=True) >> fixed.bits
    beyond = gathered(found.above[last:], -rate, fixed, up=True)
    excess = short(found.excess + found.worth(beyond, high + 1, fixed, up=True), up=True)
    made = Known(found.units, found.level, low, above, excess, p, q, found.sure, found.copies)
    # a mass of one is enough, and what is at the least loss counts for no other
    mass = made.worth(gathered(above, -rate, fixed, up=False), low, fixed, up=False)
    surplus = (mass + excess - 1) / made.worth(fixed.one, low, fixed, up=True)
    above[0] -= max(0, min(above[0], surplus.numerator // surplus.denominator))
    return made
