"""Values that depend on random bits, exact for all of these at once until something tells them apart.

What was drawn is a whole number plus multiples of independent, uniform numbers, the leaves. A value is a sum
of multiples of leaves, and of quotients and remainders of such sums. Where something depends on more than is
known, `Split` says which leaf has to be divided, and the run begins again with the parts.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from functools import lru_cache
from math import gcd, prod
from typing import Any

from bisimdist.programs.wasm.leaves import MOST_VALUES, Leaf, Split, Variable

_FEW_POINTS = 64  # leaves of fewer values are compared value by value


class _Quotient:
    """A value divided by a number, rounded down."""

    __slots__ = ("divisor", "high", "inner", "low")

    def __init__(self, inner: Drawn, divisor: int) -> None:
        self.inner = inner
        self.divisor = divisor
        self.low = inner.low // divisor
        self.high = inner.high // divisor

    def part(self, bound: int) -> Any:
        """Tell values below a bound from others."""
        bound = min(max(bound, self.low + 1), self.high)
        self.inner.cut(bound * self.divisor)


class _Remainder:
    """What is left of a value that is divided by a number."""

    __slots__ = ("divisor", "high", "inner")
    low = 0

    def __init__(self, inner: Drawn, divisor: int) -> None:
        self.inner = inner
        self.divisor = divisor
        self.high = divisor - 1

    def part(self, _: int) -> Any:
        """Tell apart where it begins again from 0."""
        lowest, highest = self.inner.low // self.divisor, self.inner.high // self.divisor
        self.inner.cut(((lowest + highest + 1) // 2) * self.divisor)


class _Bitwise:
    """What `and`, `or`, or `exclusive or` make of two values that are not negative."""

    __slots__ = ("high", "one", "operator", "two")
    low = 0

    def __init__(self, operator: Callable[[Any, Any], Any], one: Drawn, two: Drawn) -> None:
        self.operator = operator
        self.one = one
        self.two = two
        if operator is operators.and_:
            self.high = min(one.high, two.high)
        else:
            self.high = (1 << max(one.high, two.high).bit_length()) - 1

    def part(self, _: int) -> Any:
        """Tell the values of one of the two apart: of that which has fewer."""
        narrow = self.one if self.one.high - self.one.low < self.two.high - self.two.low else self.two
        return narrow.force()


def drawn_of(variable: Variable, number: int) -> int | Drawn:
    """Return the value of a variable."""
    const, leaves = variable
    return _drawn(const, leaves, number) if leaves else const


@lru_cache(1 << 14)
def _drawn(const: int, leaves: tuple[tuple[int, ...], ...], number: int) -> Drawn:
    return Drawn(
        const, {Leaf(number, place, *(leaf[2:] or leaf[1:])): leaf[0] for place, leaf in enumerate(leaves)}
    )


def _width(term: tuple[Any, int]) -> Any:
    """Return how far apart the values of a multiple of an atom are."""
    atom, factor = term
    return abs(factor) * (atom.high - atom.low)


def _made(const: int, terms: dict[Any, int]) -> int | Drawn:
    return Drawn(const, terms) if terms else const


class Drawn:
    """A value that depends on what was drawn: a constant and multiples of atoms, none of them 0.

    Operators give what they give of each of its values, or raise `Split`.
    """

    __slots__ = ("const", "high", "low", "terms")

    def __init__(self, const: int, terms: dict[Any, int]) -> None:
        low = high = const
        for atom, factor in terms.items():
            if factor > 0:
                low += factor * atom.low
                high += factor * atom.high
            else:
                low += factor * atom.high
                high += factor * atom.low
        self.const = const
        self.terms = terms
        self.low = low
        self.high = high

    # what is told apart

    def cut(self, bound: int) -> Any:
        """Tell values below a bound from others, or come nearer to that."""
        terms = [*self.terms.items()]
        atom, factor = max(terms, key=_width) if len(terms) > 1 else terms[0]
        low, high = self.low - bound, self.high - bound  # what lies beside the atom moves it between these
        if factor > 0:
            points = -((high - factor * atom.high) // factor), -((low - factor * atom.low) // factor)
        else:
            points = (low - factor * atom.high) // -factor + 1, (high - factor * atom.low) // -factor + 1
        if type(atom) is not Leaf:
            return atom.part(sum(points) // 2)
        inside = [point for point in points[points[0] == points[1] :] if 0 < point <= atom.high]
        raise Split(atom, tuple(inside) or ((atom.high + 1) // 2,))

    def force(self) -> Any:
        """Tell all values apart."""
        for atom in self.terms:
            if type(atom) is not Leaf:
                atom.part((atom.low + atom.high + 1) // 2)
        return min(self.terms, key=lambda leaf: leaf.high).part(0)

    def values(self) -> range:
        """Return its values, each as likely as any other; if it has several atoms, tell these apart first."""
        ((atom, factor), *more) = self.terms.items()
        if more or type(atom) is not Leaf or atom.pair >= 0 or atom.high >= MOST_VALUES:
            self.force()
        return range(self.const, self.const + factor * (atom.high + 1), factor)

    def settle(self) -> None:
        """Make sure that it is a sum of multiples of leaves that are independent of all others.

        Sums of few values, of which several are the same, are told apart: these become one state.
        """
        for atom in self.terms:
            if type(atom) is not Leaf or atom.pair >= 0:
                atom.part((atom.low + atom.high + 1) // 2)
        if len(self.terms) > 1:
            few = min(self.terms, key=lambda leaf: leaf.high)
            many = prod(leaf.high + 1 for leaf in self.terms)
            if few.high < _FEW_POINTS and self.high - self.low + 1 < many:
                few.part(0)

    def _below(self, bound: int) -> bool:
        """Tell whether it is below a bound.

        The difference of two leaves with as many values is below 0, or 1, as these two are compared.
        """
        if self.high < bound:
            return True
        if self.low >= bound:
            return False
        if len(self.terms) == 2:
            (one, factor), (other, back) = self.terms.items()
            if factor == -back and type(one) is Leaf and type(other) is Leaf and one.high == other.high:
                if factor < 0:
                    one, other, factor = other, one, back
                least = -((self.const - bound) // factor)  # it is below where `one - other` is
                if least in {0, 1}:
                    if one.pair == other.pair >= 0:
                        return one.order < least
                    if one.pair == other.pair and one.high >= _FEW_POINTS:
                        raise Split(one, other=other)
        return bool(self.cut(bound))

    def _is(self, value: int) -> bool:
        if not self.low <= value <= self.high:
            return False
        return not self._below(value) and self._below(value + 1)

    def __lt__(self, other: Any) -> bool:
        return self._below(other) if type(other) is not Drawn else bool(self - other < 0)

    def __ge__(self, other: Any) -> bool:
        return not self._below(other) if type(other) is not Drawn else not self < other

    def __gt__(self, other: Any) -> bool:
        return not self._below(other + 1) if type(other) is not Drawn else other < self

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __eq__(self, other: object) -> bool:
        if type(other) is Drawn:
            apart = self - other
            return apart._is(0) if type(apart) is Drawn else apart == 0
        return isinstance(other, int) and self._is(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return not self._is(0)

    def _force(self, *_: object) -> Any:
        self.force()

    def __hash__(self) -> int:
        return int(self.force())

    __index__ = __int__ = __float__ = __round__ = __str__ = _force
    __rlshift__ = __rrshift__ = __rfloordiv__ = __rmod__ = _force

    def bit_length(self) -> int:
        """As that of an integer that is not negative."""
        for size in range(self.high.bit_length(), 0, -1):
            if not self._below(1 << (size - 1)):
                return size
        return 0

    # sums

    def __add__(self, other: Any) -> Any:
        if type(other) is not Drawn:
            return Drawn(self.const + other, self.terms)
        terms = dict(self.terms)
        for atom, factor in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor
            if not terms[atom]:
                del terms[atom]
        return _made(self.const + other.const, terms)

    __radd__ = __add__

    def __neg__(self) -> Drawn:
        return Drawn(-self.const, {atom: -factor for atom, factor in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: int) -> Drawn:
        return Drawn(other - self.const, {atom: -factor for atom, factor in self.terms.items()})

    def __mul__(self, other: Any) -> Any:
        if type(other) is Drawn:
            (self if self.high - self.low < other.high - other.low else other).force()
        if not other:
            return 0
        return Drawn(self.const * other, {atom: factor * other for atom, factor in self.terms.items()})

    __rmul__ = __mul__

    def __lshift__(self, count: Any) -> Any:
        return self * (1 << count)

    # quotients

    def _divided(self, divisor: int) -> tuple[Any, Any]:  # noqa: PLR0911
        """Return quotient and remainder."""
        if self.low // divisor == (first := self.high // divisor):
            return first, self - first * divisor
        if len(self.terms) == 1 and not self.const and not divisor & (divisor - 1):
            ((bits, times),) = self.terms.items()
            if type(bits) is _Bitwise and times == 1:
                halves = bits.one._divided(divisor), bits.two._divided(divisor)
                return tuple(bits.operator(one, two) for one, two in zip(*halves, strict=True))
        whole, rest = {}, {}
        for atom, factor in self.terms.items():
            times = factor // divisor if factor > 0 else -(-factor // divisor)
            if times:
                whole[atom] = times
            if factor != times * divisor:
                rest[atom] = factor - times * divisor
        inner = _made(self.const, rest)
        if type(inner) is not Drawn:
            return _made(inner // divisor, whole), inner % divisor
        first = inner.low // divisor
        if inner.high // divisor == first:
            return _made(first, whole), inner - first * divisor
        tidy = _tidied(inner)
        first = tidy.low // divisor
        if tidy.high // divisor == first:
            return _made(first, whole), tidy - first * divisor
        simple = _simpler(inner, divisor)
        if simple is not None:
            return _made(0, whole) + simple, inner - simple * divisor
        for atom, factor in rest.items():
            period = divisor // gcd(factor, divisor)
            if type(atom) is Leaf and atom.high >= period:
                raise Split(atom, period=period)
        return (
            _made(0, {**whole, _Quotient(inner, divisor): 1}),
            Drawn(0, {_Remainder(inner, divisor): 1}),
        )

    def __floordiv__(self, divisor: Any) -> Any:
        return self if divisor == 1 else self._divided(int(divisor))[0]

    def __rshift__(self, count: Any) -> Any:
        return self._divided(1 << count)[0] if count else self

    def __mod__(self, divisor: Any) -> Any:
        divisor = int(divisor)
        value: Any = self
        for atom, factor in self.terms.items():
            if type(atom) is _Remainder and factor * atom.divisor % divisor == 0:
                value = value - Drawn(0, {atom: factor}) + atom.inner * factor
        return value._divided(divisor)[1] if type(value) is Drawn else value % divisor

    # bits

    def __and__(self, mask: Any) -> Any:
        if type(mask) is Drawn:
            return _of_bits(operators.and_, self, mask)
        if not mask & (mask + 1):
            if self.low >= 0 and self.high <= mask:
                return self
            return self % (mask + 1)
        found: Any = 0
        while mask:
            low = (mask & -mask).bit_length() - 1
            high = low + ((~(mask >> low)) & ((mask >> low) + 1)).bit_length() - 1
            found = found + (self % (1 << high) - (self % (1 << low) if low else 0))
            mask &= -1 << high
        return found

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        if type(other) is not Drawn:
            return self + (other - (self & other)) if other else self
        for one, two in ((self, other), (other, self)):
            step = one.const
            for factor in one.terms.values():
                step = gcd(step, factor)
            if two.low >= 0 and two.high < (step & -step):
                return one + two
        return _of_bits(operators.or_, self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        if type(other) is not Drawn:
            return self + other - 2 * (self & other)
        return _of_bits(operators.xor, self, other)

    __rxor__ = __xor__


def _tidied(value: Drawn) -> Drawn:
    """Write dividends less multiples of their quotients as remainders, if these are few."""
    const, terms = value.const, dict(value.terms)
    for atom in value.terms:
        if type(atom) is not _Quotient or atom.divisor > MOST_VALUES:
            continue
        times, odd = divmod(-terms[atom], atom.divisor)
        if odd or any(terms.get(one, 0) != times * factor for one, factor in atom.inner.terms.items()):
            continue
        for gone in (atom, *atom.inner.terms):
            del terms[gone]
        terms[_Remainder(atom.inner, atom.divisor)] = times
        const -= times * atom.inner.const
    return value if len(terms) == len(value.terms) else Drawn(const, terms)


def _simpler(value: Drawn, divisor: int) -> Any:
    """Return the quotient of a multiple of one leaf as that of the leaf by a small number, if it is the same.

    This is how compilers divide by a constant. ``(c t + k) / divisor`` is larger than ``(t + j) / m`` by
    ``e(t)``, which is linear in `t`. Where that lies in ``[0, 1 / m)`` at both ends, no whole number lies
    between the two for any `t`.
    """
    ((leaf, factor), *more) = value.terms.items()
    if (
        more
        or type(leaf) is not Leaf
        or not 1 < factor < divisor
        or leaf.high >= divisor // gcd(factor, divisor)
    ):
        return None
    small = -(-divisor // factor)
    begin = value.const * small // divisor
    last = (factor * leaf.high + value.const) * small - (leaf.high + begin) * divisor
    return Drawn(begin, {leaf: 1}) // small if 0 <= last < divisor else None


def _of_bits(operator: Callable[[Any, Any], Any], one: Drawn, two: Drawn) -> Drawn:
    return Drawn(0, {_Bitwise(operator, one, two): 1})
