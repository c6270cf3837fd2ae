"""Floats that depend on what was drawn: what computes them of whole numbers that are still open.

IEEE's operations are monotone in each argument, as rounding is, also where -0 lies below 0. So the values at
the ends of a range, or at its corners, enclose all others. Where an enclosure does not decide, the draw is
divided: at the place where the answer changes, which a search finds, or in the middle.
"""

from __future__ import annotations

import itertools
import math
import operator
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bisimdist.programs.wasm.drawn import Drawn

_LARGEST = 4096  # expressions of more operations are told apart value by value

_SHORT = 64  # expressions of more operations are not looked at whether they are exact

_EXACT = frozenset({"float", "short", "f32", "neg", "add", "sub", "mul", "div"})

_SIGNS: dict[str, Callable[..., tuple[int | None, ...]]] = {
    "sub": lambda *_: (1, -1),
    "neg": lambda *_: (-1,),
    "abs": lambda a: (_sign(a),),
    "mul": lambda a, b: (_sign(b), _sign(a)),
    "div": lambda a, b: (_sign(b), None if (sign := _sign(a)) is None else -sign),
    "as_f32": lambda a: (-1 if a.low >> 31 else 1,),
    "as_f64": lambda a: (-1 if a.low >> 63 else 1,),
}  # how a result moves with each argument, where it does not rise with all of them; None where both may be

_APPLIED: dict[str, Callable[..., Any]] = {
    "float": float,
    "neg": lambda a: -a,
    "abs": abs,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}


def bits_of(value: float, bits: int = 64) -> int:
    """Return the bits of a float, as an unsigned integer."""
    return int.from_bytes(struct.pack("<f" if bits == 32 else "<d", value), "little")


def _order(value: float) -> tuple[float, float]:
    return value, math.copysign(1.0, value)


def _sign(value: Any) -> int | None:
    low, high = (value, value) if type(value) is float else (value.low, value.high)
    return 1 if math.copysign(1.0, low) > 0 else -1 if math.copysign(1.0, high) < 0 else None


def _nan(value: Any) -> bool:
    return type(value) is float and math.isnan(value)


def computed(kind: str, *parts: Any) -> Any:
    """Return what an operation gives: a float, or one that is still open."""
    if not any(type(part) in {Real, Drawn} for part in parts):
        return float(_APPLIED[kind](*parts))
    if any(map(_nan, parts)):
        return math.nan
    made = Real(kind, parts)
    return made.low if _order(made.low) == _order(made.high) else made


def _both(kind: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """Return an operator, and the same with what stands on the left given last."""
    return lambda one, other: computed(kind, one, other), lambda one, other: computed(kind, other, one)


class Real:
    """A float for each value of whole numbers.

    kind, parts: the operation, and what it is done to: floats, open floats, or an open whole number.
    """

    __slots__ = ("first", "high", "inner", "kind", "last", "low", "parts", "size", "turn")
    size: int

    def __init__(self, kind: str, parts: tuple[Any, ...]) -> None:
        self.kind = kind
        self.parts = parts
        reals = [part for part in parts if type(part) is Real]
        inner = {id(one): one for real in reals for one in real.inner} if reals else {0: parts[0]}
        self.inner: list[Drawn] = []
        """The whole numbers, each once."""
        for one in inner.values():
            if not any(one.const == two.const and one.terms == two.terms for two in self.inner):
                self.inner.append(one)
        self.size: int = 1 + sum(real.size for real in reals)
        apply = _APPLIED[kind]
        signs = _SIGNS[kind](*parts) if kind in _SIGNS else (1,) * len(parts)
        if (kind in {"abs", "div"} and signs[0] is None) or self.size > _LARGEST:
            self.halve()
        ends = [_ends(part) for part in parts]
        self.turn = _together(ends, signs)
        """Whether it rises with the whole number (1) or falls (-1); None where that is not known."""
        if len(self.inner) == 1:
            self.first, self.last = (float(apply(*(end[k] for end in ends))) for k in (0, 1))
        else:
            self.first = self.last = 0.0
            self.turn = None
        if self.turn is not None:
            self.low, self.high = (self.first, self.last)[:: self.turn]
        else:
            found = [float(apply(*corner)) for corner in itertools.product(*(end[2:4] for end in ends))]
            if any(map(math.isnan, found)):
                self.halve()
            self.low, self.high = min(found, key=_order), max(found, key=_order)
            if kind == "sub" and (left := _left(*parts)):
                self.low, self.high = max(self.low, left[0]), min(self.high, left[1])
        if self.low != self.high and not (math.isfinite(self.low) and math.isfinite(self.high)):
            self.halve()

    @staticmethod
    def know(name: str, function: Callable[..., float]) -> Callable[..., Any]:
        """Return a function of floats that rises with each of them as one of open floats as well."""
        _APPLIED[name] = function

        def call(*given: Any) -> Any:
            return computed(name, *given) if any(type(one) is Real for one in given) else function(*given)

        return call

    def at(self, whole: int) -> float:
        """Return the float for a whole number, where it depends on one only."""
        known: dict[int, Any] = {}

        def value(part: Any) -> Any:
            if type(part) is not Real:
                return whole if type(part) is Drawn else part
            if id(part) not in known:
                known[id(part)] = float(_APPLIED[part.kind](*map(value, part.parts)))
            return known[id(part)]

        return float(value(self))

    def decided(self, test: Callable[[float], Any]) -> Any:
        """Return what a monotone test says of all values; divide the draw if it does not say one thing."""
        found = test(self.low)
        if found == test(self.high):
            return found
        if len(self.inner) == 1 and (found := test(self.first)) != test(self.last):
            (inner,) = self.inner
            low, high = inner.low, inner.high
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if test(self.at(middle)) == found else (low, middle)
            inner.cut(high)
        return self.halve()

    def value(self) -> float:
        """Return the float, which has to be the same for all values; divide the draw where it is not."""
        return float(self.decided(_order)[0])

    def halve(self, *_: object) -> Any:
        """Divide the draw."""
        widest = max(self.inner, key=lambda one: one.high - one.low)
        return widest.cut((widest.low + widest.high + 1) // 2)

    def _below(self, other: Any, test: Callable[[Any, Any], bool]) -> bool:
        """Compare, by what is true of smaller floats."""
        if type(other) is Real:
            wholes = _on_one_grid(self, other)
            return bool(test(*wholes) if wholes else test(computed("sub", self, other), 0.0))
        return bool(self.decided(lambda value: test(value, other)))

    def __lt__(self, other: Any) -> bool:
        return self._below(other, operator.lt)

    def __le__(self, other: Any) -> bool:
        return self._below(other, operator.le)

    def __gt__(self, other: Any) -> bool:
        return not (_nan(other) or self <= other)

    def __ge__(self, other: Any) -> bool:
        return not (_nan(other) or self < other)

    def __eq__(self, other: object) -> bool:
        return self <= other and self >= other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int(self.halve())

    __add__, __radd__ = _both("add")
    __sub__, __rsub__ = _both("sub")
    __mul__, __rmul__ = _both("mul")

    def __neg__(self) -> Any:
        return computed("neg", self)

    def __abs__(self) -> Any:
        return computed("abs", self)

    __float__ = __bool__ = __index__ = halve


def _ends(part: Any) -> tuple[Any, Any, Any, Any, int | None]:
    """Return the values at both ends, the least and the largest value, and how it moves."""
    if type(part) is Real:
        return part.first, part.last, part.low, part.high, part.turn
    if type(part) is Drawn:
        return part.low, part.high, part.low, part.high, 1
    return part, part, part, part, 0


def _left(one: Any, other: Any) -> tuple[float, float] | None:
    """Enclose ``(p + q) - q`` and ``q - (p + q)``: they are `p` and ``-p`` up to the rounding of the sum.

    Both are multiples of what `q` and the sum are multiples of. Libraries split numbers in this way.
    """
    for whole, part, sign in ((one, other, 1), (other, one, -1)):
        if type(whole) is Real and whole.kind == "add" and any(part is term for term in whole.parts):
            rest = whole.parts[part is whole.parts[0]]
            low, high = (rest, rest) if type(rest) is float else (rest.low, rest.high)
            lost = Fraction(math.ulp(max(-whole.low, whole.high))) / 2
            grid = Fraction(min(_least_ulp(whole), _least_ulp(part)))
            ends = -((lost - Fraction(low)) // grid) * grid, (Fraction(high) + lost) // grid * grid
            return (float(ends[0]), float(ends[1])) if sign > 0 else (-float(ends[1]), -float(ends[0]))
    return None


def _least_ulp(value: Any) -> float:
    """Return what a float, or each value of one that is open, is a multiple of."""
    low, high = (value, value) if type(value) is float else (value.low, value.high)
    return math.ulp(min(abs(low), abs(high)) if low > 0 or high < 0 else 0.0)


def _together(ends: list[tuple[Any, Any, Any, Any, int | None]], signs: tuple[int | None, ...]) -> int | None:
    """Return how a result moves, if it moves with each argument as the signs say."""
    found: int | None = 0
    for (*_, turn), sign in zip(ends, signs, strict=True):
        if turn == 0:
            continue
        if turn is None or sign is None or found not in {0, turn * sign}:
            return None
        found = turn * sign
    return found


def _exactly(part: Any) -> tuple[Any, int] | None:  # noqa: PLR0911
    """Return `m` and `e` of an open whole number or a float that is ``m 2^e`` for all values, unrounded.

    None where it may be rounded, or where that is not known.
    """
    if type(part) is float:
        if not (math.isfinite(part) and part):
            return None
        top, bottom = part.as_integer_ratio()
        shift = (top & -top).bit_length() - 1
        return top >> shift, shift + 1 - bottom.bit_length()
    if type(part) is not Real:
        return part, 0
    found = [_exactly(one) for one in part.parts]
    if part.kind == "as_f64" and part.parts[0].low >> 52 == (power := part.parts[0].high >> 52):
        return (part.parts[0] - ((power - 1) << 52), power - 1075) if 0 < power < 2047 else None
    if None in found or part.kind not in _EXACT:
        return None
    (one, least), *others = found  # type: ignore[misc]
    for two, power in others:  # type: ignore[misc]
        if part.kind in {"mul", "div"}:
            if type(one) is type(two) or (part.kind == "div" and two != 1):
                return None
            one, least = one * two, least + (power if part.kind == "mul" else -power)
        else:
            grid = min(least, power)
            high, low = one * (1 << (least - grid)), two * (1 << (power - grid))
            one, least = (high + low if part.kind == "add" else high - low), grid
    if part.kind == "neg":
        one = -one
    digits, lowest = (24, -126) if part.kind in {"short", "f32"} else (53, -1022)
    fits = type(one) is Drawn and max(-one.low, one.high) <= 1 << digits and lowest <= least <= 64
    return (one, least) if fits else None


def _on_one_grid(one: Real, other: Real) -> tuple[Any, Any] | None:
    """Return two floats as whole multiples of the same power of two, if neither is rounded."""
    if one.size + other.size > _SHORT or not ((first := _exactly(one)) and (second := _exactly(other))):
        return None
    grid = min(first[1], second[1])
    return first[0] * (1 << (first[1] - grid)), second[0] * (1 << (second[1] - grid))


class Pattern(Drawn):
    """The bits of a float that is still open: what it is combined with leaves the operation to it."""

    __slots__ = ("bits", "real")

    def __init__(self, real: Real, bits: int) -> None:
        self.real = real
        self.bits = bits

    def whole(self, shift: int = 0) -> Any:
        """Return the bits without some of the lowest: they move with the size of a float of one sign.

        Between two powers of two, ``m 2^e`` has bits that rise with `m` in proportion: these stay open.
        """
        real = self.real
        real.decided(lambda value: math.copysign(1.0, value))
        if self.bits == 64 and real.size <= _SHORT and (exact := _exactly(real)):
            head = real.decided(lambda value: bits_of(value) >> 52)
            power = exact[1] + 1075 - (head & 2047)
            if 0 < head & 2047 < 2047 and power >= 0:
                size = -exact[0] if head >> 11 else exact[0]
                return (size * (1 << power) + ((head - 1) << 52)) >> shift
        return int(real.decided(lambda value: bits_of(value, self.bits) >> shift))

    def __rshift__(self, count: Any) -> Any:
        return self.whole(int(count)) if count else self

    def __lshift__(self, count: Any) -> Any:
        return self.whole() << count if count else self

    def __and__(self, mask: Any) -> Any:
        whole = (1 << self.bits) - 1
        if mask == whole >> 1:
            return pattern(abs(self.real), self.bits)
        return self if type(mask) is int and mask & whole == whole else self.whole() & mask

    def __index__(self, *_: object) -> Any:
        return self.whole().__index__()

    __int__ = __index__


def pattern(value: Any, bits: int = 64) -> Any:
    """Return the bits of a float, or of one that is still open."""
    return Pattern(value, bits) if type(value) is Real else bits_of(value, bits)


def _of_whole(name: str, *, turned: bool = False) -> Callable[..., Any]:
    apply = getattr(operator, name)

    def call(self: Pattern, other: Any) -> Any:
        one, two = self.whole(), other.whole() if type(other) is Pattern else other
        return apply(two, one) if turned else apply(one, two)

    return call


for _name in ("add", "sub", "mul", "floordiv", "mod", "or", "xor", "and", "lshift", "rshift"):
    if _name not in {"and", "lshift", "rshift"}:
        setattr(Pattern, f"__{_name}__", _of_whole(f"__{_name}__"))
    setattr(Pattern, f"__r{_name}__", _of_whole(f"__{_name}__", turned=True))
for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(Pattern, _name, _of_whole(_name))
for _name in ("__bool__", "__hash__", "bit_length"):
    setattr(Pattern, _name, lambda self, name=_name: getattr(self.whole(), name)())
