"""Ratios of noise as powers: a base that is no power itself, and an exponent that may name parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Form = Mapping[str, int]
Power = tuple[str, dict[str, int]]  # the base as it is written, and the exponent, a form


def _root(number: int, degree: int) -> int | None:
    guess = round(number ** (1 / degree)) if number < 1 << 900 else 0
    return next((g for g in (guess - 1, guess, guess + 1) if g > 0 and g**degree == number), None)


def primitive(number: Fraction) -> tuple[Fraction, int]:
    """Return the base and the exponent of a positive number below 1, the exponent as large as possible."""
    for degree in range(number.denominator.bit_length(), 1, -1):
        above, below = _root(number.numerator, degree), _root(number.denominator, degree)
        if above is not None and below is not None:
            return Fraction(above, below), degree
    return number, 1


def power_of(number: Fraction) -> Power:
    """Return a number strictly between 0 and 1 as a power. Raises ValueError for others."""
    if not 0 < number < 1:
        raise ValueError(f"the ratio is {number}; expected a number strictly between 0 and 1")
    base, exponent = primitive(number)
    return str(base), {"": exponent}


def _scaled(form: Form, factor: int) -> dict[str, int]:
    return {name: value * factor for name, value in form.items()}


NO_POWER = (
    "the ratio of the noise is no power of a number or of a parameter: write '1/2', or make it a parameter"
)


@dataclass(frozen=True, slots=True)
class Ratios:
    """Reads the expression that says the ratio of noise."""

    constant: Callable[[ast.expr], Any]  # what an expression is at compile time, or None
    form: Callable[[ast.expr], Form | None]  # what an integer expression is as a form, or None
    symbol: Callable[[ast.expr], str | None]  # which parameter a name stands for, or None

    def read(self, node: ast.expr) -> Power:
        """Return the ratio. Raises ValueError if it is none that can be followed."""
        known = self.constant(node)
        if known is not None:
            return power_of(Fraction(known))
        name = self.symbol(node)
        if name is not None:
            return name, {"": 1}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            base, exponent = self.read(node.left)
            times = self.form(node.right)
            if times is not None and set(exponent) == {""}:
                return base, _scaled(times, exponent[""])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and self.constant(node.left) == 1:
            return self._inverse(node.right)
        if (
            isinstance(node, ast.Call)
            and len(node.args) == 2
            and getattr(node.func, "attr", getattr(node.func, "id", "")) == "Fraction"
            and self.constant(node.args[0]) == 1
        ):
            return self._inverse(node.args[1])
        raise ValueError(NO_POWER)

    def _inverse(self, node: ast.expr) -> Power:
        """Return one over an integer power."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            base, times = self.constant(node.left), self.form(node.right)
            if isinstance(base, int) and base > 1 and times is not None:
                root, exponent = primitive(Fraction(1, base))
                return str(root), _scaled(times, exponent)
        raise ValueError(NO_POWER)
