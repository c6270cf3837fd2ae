"""What is released, rounded to a grid."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpq

from bisimdist.programs.replay.lazy import Lazy, apply
from bisimdist.programs.replay.node import Raised
from bisimdist.programs.replay.rules import grid_of


def rounded(grid: fmpq) -> Callable[[Any], Any]:
    """Return a function that rounds floats to the nearest multiple of a grid, exactly; ties go up."""
    top, bottom = int(grid.p), int(grid.q)

    def one(value: Any) -> Any:
        if type(value) is Raised:
            return value
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            return type(value)(one(part) for part in value)
        if type(value) is Lazy:
            return apply(operator.mul, apply(grid_of, value, top, bottom), Fraction(top, bottom))
        if isinstance(value, float) or hasattr(value, "dtype"):
            return grid_of(value, top, bottom) * Fraction(top, bottom)
        return value

    return one
