"""Rational functions over named parameters: exact, in lowest terms, and cheap to compare.

A quotient of two polynomials is kept without common factors and with a denominator whose leading coefficient
is one, so that equal functions have equal parts and equal texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpz

from bisimdist.errors import NumberError, UsageError
from bisimdist.exact.bernstein import Box, Monomials, bernstein_coefficients
from bisimdist.exact.rational import format_rational

MAX_DEGREE = 256  # the largest total degree that is computed with
MAX_TERMS = 20_000  # the largest number of monomials that is computed with
MAX_BITS = 1_000_000  # how long the coefficients of a power may become


def parameter_ring(names: Sequence[str]) -> fmpq_mpoly_ctx:
    """Return the ring of polynomials over the given parameters, the same object for the same names.

    >>> parameter_ring(["p", "q"]).gens()
    (p, q)
    """
    return fmpq_mpoly_ctx.get(tuple(names), "lex")


def _height(polynomial: fmpq_mpoly) -> int:
    return max((c.p.bit_length() + c.q.bit_length() for c in polynomial.coeffs()), default=0)


def _check_product(first: fmpq_mpoly, second: fmpq_mpoly) -> None:
    if first.is_constant() or second.is_constant():
        return
    degree = first.total_degree() + second.total_degree()
    if degree > MAX_DEGREE:
        raise NumberError(f"an expression has degree {degree}; expected at most {MAX_DEGREE}")
    if len(first) * len(second) > MAX_TERMS:
        raise NumberError(f"an expression may have more than the {MAX_TERMS} monomials allowed")


class RationalFunction:
    """A quotient of two polynomials over the same parameters, in lowest terms; immutable.

    ``numerator``, ``denominator``: polynomials of one ring (see `parameter_ring`); the denominator is not the
        zero polynomial.
    Raises NumberError if the denominator is zero.

    >>> p, q = (RationalFunction.of(x) for x in parameter_ring(["p", "q"]).gens())
    >>> (p * p - q * q) / (p - q)
    RationalFunction('p + q')
    """

    __slots__ = ("_text", "denominator", "numerator")

    numerator: fmpq_mpoly
    denominator: fmpq_mpoly
    _text: str | None

    def __init__(self, numerator: fmpq_mpoly, denominator: fmpq_mpoly) -> None:
        if denominator.is_zero():
            raise NumberError("an expression divides by zero")
        if not denominator.is_constant():
            common = numerator.gcd(denominator)
            if not common.is_one():
                numerator, denominator = numerator / common, denominator / common
        leading = denominator.leading_coefficient()
        if leading != 1:
            numerator, denominator = numerator / leading, denominator / leading
        object.__setattr__(self, "numerator", numerator)
        object.__setattr__(self, "denominator", denominator)
        object.__setattr__(self, "_text", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a rational function does not change")

    def __reduce__(self) -> tuple[object, ...]:
        names = self.names
        return _rebuilt, (names, dict(self.numerator.to_dict()), dict(self.denominator.to_dict()))

    @classmethod
    def of(cls, polynomial: fmpq_mpoly) -> RationalFunction:
        """Return a polynomial as a rational function."""
        return cls(polynomial, polynomial.context().constant(1))

    @property
    def ring(self) -> fmpq_mpoly_ctx:
        """The ring that numerator and denominator are of."""
        return self.numerator.context()

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the ring, whether they occur or not."""
        return tuple(self.ring.names())

    @property
    def is_polynomial(self) -> bool:
        """Whether the denominator is one."""
        return bool(self.denominator.is_constant())

    @property
    def constant(self) -> fmpq | None:
        """The value, where the function is constant; else None."""
        if self.numerator.is_constant() and self.denominator.is_constant():
            return fmpq(self.numerator.leading_coefficient()) if self.numerator else fmpq(0)
        return None

    def at(self, values: Mapping[str, fmpq]) -> fmpq:
        """Return the value at a point.

        ``values``: a number for each parameter of the ring.
        Raises UsageError if a number is missing, or the denominator vanishes there.
        """
        missing = [name for name in self.names if name not in values]
        if missing:
            raise UsageError(f"no value is given for the parameter {missing[0]!r}")
        point = [values[name] for name in self.names]
        below = self.denominator(*point)
        if below == 0:
            raise UsageError(f"the denominator {self.denominator} vanishes at the given values")
        return fmpq(self.numerator(*point)) / fmpq(below)

    def _other(self, other: object) -> RationalFunction | None:
        if isinstance(other, RationalFunction):
            if other.ring is not self.ring and other.names != self.names:
                raise UsageError("two expressions have different parameters")
            return other
        if isinstance(other, int | fmpz | fmpq):
            return RationalFunction.of(self.ring.constant(other))
        return None

    def __add__(self, other: object) -> RationalFunction:
        right = self._other(other)
        if right is None:
            return NotImplemented
        if self.denominator == right.denominator:
            return RationalFunction(self.numerator + right.numerator, self.denominator)
        for first, second in (
            (self.numerator, right.denominator),
            (right.numerator, self.denominator),
            (self.denominator, right.denominator),
        ):
            _check_product(first, second)
        return RationalFunction(
            self.numerator * right.denominator + right.numerator * self.denominator,
            self.denominator * right.denominator,
        )

    __radd__ = __add__

    def __neg__(self) -> RationalFunction:
        return RationalFunction(-self.numerator, self.denominator)

    def __sub__(self, other: object) -> RationalFunction:
        right = self._other(other)
        return NotImplemented if right is None else self + (-right)

    def __rsub__(self, other: object) -> RationalFunction:
        return (-self) + other

    def __mul__(self, other: object) -> RationalFunction:
        right = self._other(other)
        if right is None:
            return NotImplemented
        _check_product(self.numerator, right.numerator)
        _check_product(self.denominator, right.denominator)
        return RationalFunction(self.numerator * right.numerator, self.denominator * right.denominator)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> RationalFunction:
        right = self._other(other)
        if right is None:
            return NotImplemented
        _check_product(self.numerator, right.denominator)
        _check_product(self.denominator, right.numerator)
        return RationalFunction(self.numerator * right.denominator, self.denominator * right.numerator)

    def __rtruediv__(self, other: object) -> RationalFunction:
        left = self._other(other)
        return NotImplemented if left is None else left / self

    def __pow__(self, exponent: int) -> RationalFunction:
        if exponent < 0:
            return 1 / self**-exponent
        for part in (self.numerator, self.denominator):
            if part and part.total_degree() * exponent > MAX_DEGREE:
                raise NumberError(f"an expression has a degree above the {MAX_DEGREE} allowed")
            if _height(part) * exponent > MAX_BITS:
                raise NumberError(f"a power has coefficients of more than the {MAX_BITS} bits allowed")
        result = RationalFunction.of(self.ring.constant(1))
        for _ in range(exponent if self.constant is None else 0):
            result = result * self
        if self.constant is not None:
            result = RationalFunction.of(self.ring.constant(self.constant**exponent))
        return result

    def __bool__(self) -> bool:
        return not self.numerator.is_zero()

    def __eq__(self, other: object) -> bool:
        right = self._other(other)
        if right is None:
            return NotImplemented
        return bool(self.numerator == right.numerator and self.denominator == right.denominator)

    def __hash__(self) -> int:
        constant = self.constant
        return hash(str(self)) if constant is None else hash(constant)

    def __str__(self) -> str:
        if self._text is None:
            above, below = str(self.numerator), str(self.denominator)
            text = above if self.is_polynomial else f"({above})/({below})"
            object.__setattr__(self, "_text", text)
        return str(self._text)

    def __repr__(self) -> str:
        return f"RationalFunction({str(self)!r})"


def _rebuilt(
    names: tuple[str, ...], above: dict[tuple[int, ...], fmpq], below: dict[tuple[int, ...], fmpq]
) -> RationalFunction:
    ring = parameter_ring(names)
    return RationalFunction(ring.from_dict(above), ring.from_dict(below))


Entry: TypeAlias = fmpq | RationalFunction
"""A number of a model: a rational, or a function of the parameters that is not constant."""


def simplified(entry: Entry) -> Entry:
    """Return a constant function as the rational that it is."""
    if isinstance(entry, RationalFunction):
        constant = entry.constant
        return entry if constant is None else constant
    return entry


def check_size(entry: Entry) -> Entry:
    """Return an entry as it is, unless its numbers are too long to be meant."""
    if isinstance(entry, RationalFunction):
        bits = max(_height(entry.numerator), _height(entry.denominator))
    else:
        bits = entry.p.bit_length() + entry.q.bit_length()
    if bits > MAX_BITS:
        raise NumberError(f"an expression has numbers of more than the {MAX_BITS} bits allowed")
    return entry


def evaluate_entry(entry: Entry, values: Mapping[str, fmpq]) -> fmpq:
    """Return the value of an entry at a point (see `RationalFunction.at`)."""
    return entry.at(values) if isinstance(entry, RationalFunction) else entry


def common_denominator(ring: fmpq_mpoly_ctx, entries: Iterable[Entry], point: Sequence[fmpq]) -> fmpq_mpoly:
    """Return the least common multiple of all denominators, with the sign that is positive at a point."""
    result = ring.constant(1)
    for entry in entries:
        if isinstance(entry, RationalFunction) and not entry.is_polynomial:
            result = result / result.gcd(entry.denominator) * entry.denominator
    return -result if result(*point) < 0 else result


def cleared(entry: Entry, denominator: fmpq_mpoly) -> fmpq_mpoly:
    """Return an entry times a common denominator."""
    if isinstance(entry, RationalFunction):
        return entry.numerator * (denominator / entry.denominator)
    return denominator.context().constant(entry) * denominator


def monomials_of(polynomial: fmpq_mpoly) -> Monomials:
    """Return a polynomial as the coefficients of its exponent vectors."""
    return {tuple(int(e) for e in key): fmpq(value) for key, value in polynomial.to_dict().items()}


def substituted(entry: Entry, values: Mapping[str, fmpq]) -> Entry:
    """Return an entry with values for some of its parameters, over those that are left.

    >>> p, q = (RationalFunction.of(x) for x in parameter_ring(["p", "q"]).gens())
    >>> substituted(p * q + q, {"q": fmpq(1, 2)})
    RationalFunction('1/2*p + 1/2')
    """
    if not isinstance(entry, RationalFunction) or not values:
        return entry
    ring = parameter_ring([name for name in entry.names if name not in values])
    kept = dict(zip(ring.names(), ring.gens(), strict=True))
    arguments = [kept[name] if name in kept else ring.constant(values[name]) for name in entry.names]
    above, below = (part.compose(*arguments, ctx=ring) for part in (entry.numerator, entry.denominator))
    return simplified(RationalFunction(above, below))


def range_of(entry: Entry, box: Box) -> tuple[fmpq, fmpq]:
    """Return ends of an interval within 0 and 1 that has all values of a probability in a closed box.

    Raises UsageError if the box is too large to tell that its denominator has no zero.

    >>> (p,) = (RationalFunction.of(x) for x in parameter_ring(["p"]).gens())
    >>> range_of(p * (1 - p), ((fmpq(1, 4), fmpq(1, 2)),))
    (3/16, 1/4)
    """
    if not isinstance(entry, RationalFunction):
        return entry, entry
    values = quotient_coefficients(entry, box)
    if values is None:
        raise UsageError(f"{entry}: the interval is too wide to tell how large it may be; expected less")
    return max(min(values), fmpq(0)), min(max(values), fmpq(1))


def quotient_coefficients(function: RationalFunction, box: Box) -> list[fmpq] | None:
    """Return numbers with all values of a function in a closed box between the least and the largest of them.

    They are quotients of Bernstein coefficients of one degree. None where they do not show that the
    denominator has no zero.

    >>> (p,) = (RationalFunction.of(x) for x in parameter_ring(["p"]).gens())
    >>> quotient_coefficients(1 / (1 + p), ((fmpq(0), fmpq(1)),))
    [1, 1/2]
    """
    parts = [monomials_of(part) for part in (function.numerator, function.denominator)]
    degrees = [max(key[axis] for part in parts for key in part) for axis in range(len(box))]
    above, below = (bernstein_coefficients(part, box, degrees) for part in parts)
    if len({b > 0 for b in below}) > 1 or not all(below):
        return None
    return [a / b for a, b in zip(above, below, strict=True)]


def format_entry(entry: Entry) -> str:
    """Write an entry in its canonical form, which `parse_expression` reads back.

    >>> (p,) = (RationalFunction.of(x) for x in parameter_ring(["p"]).gens())
    >>> format_entry((1 - p) ** 2), format_entry(fmpq(2, 4)), format_entry(p / (1 - p))
    ('p^2 - 2*p + 1', '1/2', '(-p)/(p - 1)')
    """
    return str(entry) if isinstance(entry, RationalFunction) else format_rational(entry)
