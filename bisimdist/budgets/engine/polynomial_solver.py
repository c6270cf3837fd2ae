"""Z3 as the second way to the sign of a polynomial on a box; what it finds is checked exactly."""

from __future__ import annotations

import time
from typing import Any

from flint import fmpq

from bisimdist.exact.bernstein import Box, Monomials, SignResult, evaluate
from bisimdist.progress import NEVER, Deadline

SECONDS = 20
DIGITS = (6, 20, 60)


def refute_negative(
    polynomial: Monomials, box: Box, names: tuple[str, ...], *, deadline: Deadline = NEVER
) -> SignResult:
    """Ask Z3 for a point of the open box where a polynomial is negative.

    A point that it gives counts only if exact evaluation agrees; an irrational one is replaced by rational
    ones nearby. The query has no division: the polynomial has cleared denominators.

    Returns with `holds` true, and no proof, where Z3 says that there is no such point.
    """
    import z3  # noqa: PLC0415  (slow to load, and rarely needed)

    context = z3.Context()  # one that threads share crashes the interpreter

    def number(value: fmpq) -> Any:
        return z3.Q(int(value.p), int(value.q), context)

    solver = z3.SolverFor("QF_NRA", context)
    seconds = SECONDS if deadline.moment is None else min(SECONDS, deadline.moment - time.monotonic())
    solver.set("timeout", max(1, int(1000 * seconds)))
    variables = [z3.Real(name, context) for name in names]
    for variable, (low, high) in zip(variables, box, strict=True):
        solver.add(variable > number(low), variable < number(high))
    total: Any = number(fmpq(0))
    for exponents, coefficient in polynomial.items():
        term: Any = number(coefficient)
        for variable, power in zip(variables, exponents, strict=True):
            for _ in range(power):
                term = term * variable
        total = total + term
    solver.add(total < 0)
    answer = solver.check()
    if answer == z3.unsat:
        return SignResult(True)
    if answer != z3.sat:
        return SignResult(None)
    model = solver.model()
    for digits in DIGITS:
        point = tuple(_value(model.eval(v, model_completion=True), digits) for v in variables)
        inside = all(low < x < high for x, (low, high) in zip(point, box, strict=True))
        if inside and evaluate(polynomial, point) < 0:
            return SignResult(False, point=point)
    return SignResult(None)


def _value(value: Any, digits: int) -> fmpq:
    import z3  # noqa: PLC0415

    if z3.is_algebraic_value(value):
        value = value.approx(digits)
    return fmpq(value.numerator_as_long(), value.denominator_as_long())
