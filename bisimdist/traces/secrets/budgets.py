"""What a pair of secrets needs: how far apart the system behaves, for each unit of their distance."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb, fmpq, fmpz

from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.precision import working_precision
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.numbers import exact_value, short_rational

MAX_POWER_BITS = 1 << 22


@dataclass(frozen=True, slots=True)
class Budget(Numbers):
    """The number ``ln(ratio) / distance``; infinite where the ratio is, or where only the distance is 0."""

    ratio: Exact | None  # at least 1; None stands for infinity
    distance: Exact  # at least 0. With a ratio of 1 the number is 0 whatever the distance.

    @property
    def infinite(self) -> bool:
        """Whether no finite number is enough."""
        return self.ratio is None or bool(self.distance == 0 and self.ratio != 1)

    def __lt__(self, other: Budget | AdditiveBudget) -> bool:
        """Compare exactly: ``r^q < s^p`` for ``ln(r)/p < ln(s)/q``, with integer exponents."""
        if not isinstance(other, Budget):
            raise UsageError("a logarithm of quotients is not compared with a difference")
        if self.infinite or other.infinite:
            return other.infinite and not self.infinite
        if self.ratio is None or other.ratio is None or other.ratio == 1:
            return False
        if self.ratio == 1:
            return True
        return _power_less(self.ratio, other.distance, other.ratio, self.distance)

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the number."""
        if self.infinite or self.ratio is None:
            return "inf", "inf"
        if self.ratio == 1:
            return "0", "0"
        precision = 64 + 4 * digits
        while True:
            with working_precision(precision):
                ball = arb(self.ratio).log() / arb(self.distance)
            low, high = ball.lower().fmpq(), ball.upper().fmpq()
            if low > 0:
                below, above = decimal_below(low, digits)[0], decimal_above(high, digits)[0]
                if decimal_below(high, digits)[0] == below:  # in the end: the number is irrational
                    return below, above
            precision *= 2

    def data(self) -> dict[str, object]:
        return {"ratio": exact_value(self.ratio), "distance": format_rational(self.distance)}

    def __str__(self) -> str:
        if self.infinite or self.ratio is None:
            return "inf"
        if self.ratio == 1:
            return "0"
        ratio = f"ln({short_rational(self.ratio)})"
        return ratio if self.distance == 1 else f"{ratio} / {short_rational(self.distance)}"


@dataclass(frozen=True, slots=True)
class AdditiveBudget(Numbers):
    """The number ``difference / distance``; infinite where only the distance is 0."""

    difference: Exact
    distance: Exact  # at least 0. With a difference of 0 the number is 0 whatever the distance.

    @property
    def infinite(self) -> bool:
        """Whether no finite number is enough."""
        return bool(self.distance == 0 and self.difference != 0)

    @property
    def value(self) -> Exact | None:
        """The number; None stands for infinity.

        >>> AdditiveBudget(fmpq(1, 2), fmpq(3)).value
        1/6
        """
        if self.infinite:
            return None
        return self.difference / self.distance if self.difference else fmpq(0)

    def __lt__(self, other: Budget | AdditiveBudget) -> bool:
        if not isinstance(other, AdditiveBudget):
            raise UsageError("a difference is not compared with a logarithm of quotients")
        mine, theirs = self.value, other.value
        if mine is None or theirs is None:
            return mine is not None and theirs is None
        return bool(mine < theirs)

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the number."""
        value = self.value
        if value is None:
            return "inf", "inf"
        return decimal_below(value, digits)[0], decimal_above(value, digits)[0]

    def data(self) -> dict[str, object]:
        return {"difference": format_rational(self.difference), "distance": format_rational(self.distance)}

    def __str__(self) -> str:
        return "inf" if self.value is None else short_rational(self.value)


def _power_less(ratio: fmpq, exponent: fmpq, other: fmpq, power: fmpq) -> bool:
    """Tell whether ``ratio^exponent < other^power`` for ratios above 1 and positive rational exponents."""
    for precision in (128, 1024, 8192):
        with working_precision(precision):
            difference = arb(other).log() * arb(power) - arb(ratio).log() * arb(exponent)
        if difference > 0:
            return True
        if difference < 0:
            return False
    # So close that they are equal, or as good as: integer powers decide.
    share = exponent / power
    n, m = int(share.p), int(share.q)
    if max(n, m) * max(_bits(ratio), _bits(other)) > MAX_POWER_BITS:
        raise LimitError(
            "two budgets are too close to each other to be compared: their distances are too long"
        )
    return bool(ratio**n < other**m)


def _bits(value: fmpq) -> int:
    return int(fmpz(value.p).bit_length() + fmpz(value.q).bit_length())
