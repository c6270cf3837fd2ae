"""Exponentials, logarithms and normal tails in integers, each with a bound on what was rounded.

A number x stands as an integer near ``x * 2**bits``. An enclosure is a pair of integers on both sides of it.
Each function says how much it rounds; no other arithmetic is trusted than that of integers.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import isqrt, log

from bisimdist.checker.core.counting import all_of, counted, kept
from bisimdist.checker.core.reading import ENTRY, MalformedCertificate, hold, spend

Enclosure = tuple[int, int]

MOST_BITS = 2_900  # more than that and normal tails would need other series
DOUBT = 1 << 48  # how many units a function is off at most; each says why it is less
MOST_TERMS = 1 << 10  # more than any series here has; each says how many it has at most
TERM = 300  # the least work of a term of a series; a long one costs half the square of its digits


class Fixed:
    """Arithmetic with so many bits behind the point.

    bits: at most 2900.
    """

    def __init__(self, bits: int) -> None:
        if bits > MOST_BITS:
            raise MalformedCertificate(f"the masses need {bits} bits; at most {MOST_BITS} are taken")
        self.bits, self.one = bits, 1 << bits
        self.term = max(TERM, 100 + (bits // 30) ** 2 // 2)
        self.powers: dict[int, int] = {}
        self.terms: dict[int, list[int]] = {}
        self.room = ENTRY + 2 * bits  # how many bits it takes to keep an enclosure

    def of(self, value: Fraction) -> Enclosure:
        """Enclose a rational."""
        above = value.numerator << self.bits
        low = above // value.denominator
        return low, low + (low * value.denominator != above)

    def times(self, one: Enclosure, other: Enclosure) -> Enclosure:
        """Enclose a product."""
        (a, b), (c, d) = one, other
        if a >= 0 and c >= 0:
            return a * c >> self.bits, -(-b * d >> self.bits)
        w, x, y, z = a * c, a * d, b * c, b * d
        return min(w, x, y, z) >> self.bits, -(-max(w, x, y, z) >> self.bits)

    def over(self, one: Enclosure, other: Enclosure) -> Enclosure:
        """Enclose a quotient by what is positive."""
        low, high = one
        first, last = other
        if first <= 0:
            raise MalformedCertificate("a number is too small for the precision of the masses")
        return (
            (low << self.bits) // (last if low >= 0 else first),
            -((-high << self.bits) // (first if high >= 0 else last)),
        )

    def exp(self, value: Enclosure) -> Enclosure:
        """Enclose an exponential, closely if the argument lies close together."""
        low, high = value
        if not (low or high):
            return self.one, self.one
        if low > 0:
            inverse = self.exp((-high, -low))
            if inverse[0] <= 0:
                raise MalformedCertificate("an exponential is out of range")
            return self.over((self.one, self.one), inverse)
        middle, apart = self._exp(low), high - low
        if apart > self.one:
            return max(0, middle - DOUBT), self.exp((high, high))[1]
        # e^(x + d) <= e^x (1 + 2 d) for d up to 1
        return max(0, middle - DOUBT), middle + DOUBT + 2 * (((middle + DOUBT) * apart >> self.bits) + 1)

    def _exp(self, value: int) -> int:
        """Return e^x for x at most 0, off by less than 2^34 units.

        It is a product of what is at most 1: a power for the integer part, one for each of two digits to the
        base of 32, all off by less than 2^32, and a series of what is left, which is below 2^-10.
        """
        above, bits = -value, self.bits
        if above > min(bits, 1 << 13) << bits:  # e^-8192 is less than 2^-2900
            return 0
        found = self._series(-(above & (self.one >> 10) - 1))
        whole, first, second = above >> bits << 10, above >> bits - 10 & 31 << 5, above >> bits - 10 & 31
        for place in (whole, first, second):
            if place:
                found = found * self._power(place) >> bits
        return found

    def _power(self, place: int) -> int:
        """Return e^-x for a multiple x of 1/1024, off by less than 2^32 units; made once."""
        if place not in self.powers:
            hold(self.bits)
            self.powers[place] = self._halved(-(place << self.bits - 10))
        return self.powers[place]

    def _halved(self, value: int) -> int:
        """Return e^x for x at most 0, off by less than 2^32 units.

        The argument is halved at most 20 times, until it is below 2^-6, and the result squared as often. A
        square of what is at most 1 is off by twice as much, and one more.
        """
        halvings = max(0, (-value >> self.bits).bit_length() + 6)
        total = self._series(value >> halvings)
        for _ in counted(range(halvings), self.term):
            total = total * total >> self.bits
        return total

    def _series(self, small: int) -> int:
        """Return e^x for x from -2^-6 to 0, off by less than 2^10 units: it has less than 2^9 terms."""
        total = term = self.one
        number = 1
        for number in range(1, MOST_TERMS):
            term = (term * small >> self.bits) // number
            if -1 <= term <= 0:  # what is rounded down never comes to 0 from below
                break
            total += term
        spend(number * self.term)
        return total

    def log(self, value: Enclosure) -> Enclosure:
        """Enclose a logarithm of what is positive."""
        low, high = value
        if (high - low) << 20 > low:
            return self.log((low, low))[0], self.log((high, high))[1]
        size = low.bit_length()
        guess = log(max(1, low) / (1 << size)) + (size - self.bits) * log(2)
        start = int(guess * (1 << 60)) << self.bits >> 60
        # ln x = g + ln(x e^-g), and x e^-g is nearly 1
        first, last = self.times(value, self.exp((-start, -start)))
        return start + self._log(first, down=True), start + self._log(last, down=False)

    def _log(self, value: int, *, down: bool) -> int:
        """Return a bound on ln(1 + t) = t - t^2/2 + ...; the next term bounds what is left."""
        small = value - self.one
        if abs(small) << 10 > self.one:
            raise MalformedCertificate("a logarithm is out of range")
        total, power, number = 0, small, 1
        for number in range(1, MOST_TERMS):
            if power in {0, -1}:
                break
            total += power // number if number % 2 else -(power // number)
            power = power * small >> self.bits
        spend(number * self.term)
        doubt = 4 * number + 4
        return total - doubt if down else total + doubt

    def root(self, value: Fraction) -> Enclosure:
        """Enclose a square root."""
        low = isqrt((value.numerator << 2 * self.bits) // value.denominator)
        return low, low + 1

    @cached_property
    def _pi(self) -> int:
        """Pi, off by less than 2^12: 16 arctan(1/5) - 4 arctan(1/239)."""

        def arctan(inverse: int) -> int:
            total = term = self.one // inverse
            number, sign = 1, 1
            while term:
                spend(self.term)
                term //= inverse * inverse
                number, sign = number + 2, -sign
                total += sign * (term // number)
            return total

        return 16 * arctan(5) - 4 * arctan(239)

    @cached_property
    def _anchors(self) -> tuple[list[int], list[int]]:
        """Tails and densities of the normal law at multiples of 1/8, as far as tails are not negligible.

        The densities are off by 2^32 units. A part is off by less than 2^34: what is multiplied with the
        density is less than e^5 / 16. The tails are sums of at most 2^11 parts, and off by less than 2^46.
        """
        whole = isqrt(2 * self._pi << self.bits)
        tails, densities = [self.one >> 1], []
        last = 8 * (isqrt(14 * self.bits // 10) + 3)
        for number in kept(range(last + 1), self.room, self.term):
            densities.append((self._halved(-(number * number << self.bits) // 128) << self.bits) // whole)
        half, terms = self.one >> 4, self._terms(0)
        for number in counted(range(last), self.term):
            # from each anchor half of the way, and back from the next one
            step, terms = self._part(terms, half, densities[number]), self._terms(number + 1)
            tails.append(tails[-1] - step + self._part(terms, -half, densities[number + 1]))
        return tails, densities

    def _part(self, terms: list[int], apart: int, density: int) -> int:
        """Return the mass of the normal law between an anchor and a place at most 1/16 away.

        What is rounded in a step is not multiplied by more than 1 in all that follow, and it has 2^9 steps.
        """
        total, share = 0, apart << 4
        spend(len(terms) * self.term)
        for term in all_of(terms):
            total = (total * share >> self.bits) + term
        return (total * apart >> self.bits) * density >> self.bits

    def _terms(self, anchor: int) -> list[int]:
        """Return the terms of that mass for 1/16 in place of d, the last first, without d and the density.

        The density there is that of the anchor times the sum of b_k, with b_0 = 1 and
        b_{k+1} = -(z d b_k + d^2 b_{k-1}) / (k + 1). Since |z d| is at most 5, what is rounded in a term is
        multiplied by less than e^6 in all that follow, and 2^9 terms are off by less than 2^20.
        """
        before, now, found = 0, self.one, [self.one]
        for number in range(1, MOST_TERMS):
            before, now = now, -((anchor * now >> 7) + (before >> 8)) // number
            found.append(now // (number + 1))
            if number > 16 and -2 <= now <= 2 and -2 <= before <= 2:
                break
        spend(len(found) * self.term)
        return found[::-1]

    def tail(self, value: Enclosure) -> Enclosure:
        """Enclose the mass above a value; the density at z >= 1 is less than z + 1 times that."""
        low, high = value
        near = self._tail(low) if low >= 0 else self.one - self._tail(-low)
        dense = -(-(near + DOUBT) * (low + self.one) >> self.bits) if low >= self.one else self.one
        return max(0, near - DOUBT - ((high - low) * dense >> self.bits) - 1), min(self.one, near + DOUBT)

    def _tail(self, value: int) -> int:
        tails, densities = self._anchors
        anchor = (value + (self.one >> 4)) * 8 >> self.bits
        if anchor >= len(densities):
            return 0
        if anchor not in self.terms:
            self.terms[anchor] = self._terms(anchor)
            hold(len(self.terms[anchor]) * (ENTRY + self.bits // 2))  # the last ones are short
        terms, apart = self.terms[anchor], value - (anchor << self.bits >> 3)
        return tails[anchor] - self._part(terms, apart, densities[anchor])
