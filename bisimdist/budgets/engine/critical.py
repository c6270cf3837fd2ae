"""The least budget of a model with one parameter, as an algebraic number inside a bracket.

Over an open interval the quotient N/D of two polynomials has its supremum at an end, as a limit, or at a zero
of N'D - ND'; there it solves the resultant of N - C D and that derivative. So the least budget is one of
finitely many algebraic numbers, and a bracket with a single one of them in it says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from flint import Ordering, ctx, fmpq, fmpq_mpoly_ctx, fmpq_poly, fmpz_poly

from bisimdist.models.hmm import HMM
from bisimdist.models.polynomial import Entry, RationalFunction
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.forward import probability

MAX_WORDS = 2_000  # with more sequences the bracket alone is the answer


def only_candidate(
    model: HMM,
    pair: tuple[str, str],
    lengths: range,
    bracket: tuple[fmpq, fmpq],
    *,
    deadline: Deadline = NEVER,
) -> fmpz_poly | None:
    """Return the irreducible polynomial of the least budget, which is its only zero in a bracket.

    model: a model with one parameter.
    lengths: how long sequences are.
    bracket: proved bounds of the least budget.
    Returns None where the bracket holds several candidates, there are too many sequences, or more
        parameters.
    """
    symbols = len(model.observations)
    if len(model.parameters) != 1 or sum(symbols**length for length in lengths) > MAX_WORDS:
        return None
    inside: dict[str, tuple[fmpz_poly, int]] = {}
    for length in lengths:
        for word in product(range(symbols), repeat=length):
            deadline.check()
            first, second = (probability(model, model.distribution(name), word) for name in pair)
            for candidate in (*_candidates(model, first, second), *_candidates(model, second, first)):
                if str(candidate) not in inside:
                    inside[str(candidate)] = candidate, roots_within(candidate, *bracket)
    kept = [candidate for candidate, zeros in inside.values() for _ in range(zeros)]
    return kept[0] if len(kept) == 1 else None


def _candidates(model: HMM, above: Entry, below: Entry) -> Iterator[fmpz_poly]:
    """Yield polynomials that the supremum of a quotient of two functions of the parameter may solve."""
    if not above or not below:
        return
    quotient = above / below
    if not isinstance(quotient, RationalFunction):
        yield _linear(quotient)
        return
    ring = fmpq_mpoly_ctx.get(("p", "C"), Ordering.lex)
    parameter, value = ring.gens()
    upper, lower = (
        sum((coefficient * parameter ** exponents[0] for exponents, coefficient in part.to_dict().items()))
        for part in (quotient.numerator, quotient.denominator)
    )
    for end in model.box[0]:
        if lower(end, 0) != 0:
            yield _linear(upper(end, 0) / lower(end, 0))
    slope = upper.derivative("p") * lower - upper * lower.derivative("p")
    if slope and not slope.is_constant():
        resultant = (upper - value * lower).resultant(slope, "p")
        degree = max((exponents[1] for exponents in resultant.to_dict()), default=0)
        coefficients = {exponents[1]: value for exponents, value in resultant.to_dict().items()}
        dense = fmpq_poly([coefficients.get(k, 0) for k in range(degree + 1)])
        yield from (factor for factor, _ in dense.numer().factor()[1] if factor.degree() > 0)


def _linear(root: fmpq) -> fmpz_poly:
    return fmpz_poly([-root.p, root.q])


def roots_within(polynomial: fmpz_poly, low: fmpq, high: fmpq) -> int:
    """Return how many real zeros an irreducible polynomial has between two rationals, these included.

    >>> roots_within(fmpz_poly([-2, 0, 1]), fmpq(1), fmpq(3, 2))
    1
    """
    if polynomial.degree() == 1:
        return int(low <= fmpq(-polynomial[0], polynomial[1]) <= high)
    # real zeros come with an imaginary part that is exactly 0
    with ctx.workprec(ctx.prec):
        while True:
            balls = [ball.real for ball, _ in polynomial.complex_roots() if ball.imag == 0]
            inside = [ball for ball in balls if ball > low and ball < high]
            outside = [ball for ball in balls if ball < low or ball > high]
            if len(inside) + len(outside) == len(balls):
                return len(inside)
            ctx.prec *= 2  # its zeros are irrational, so that enough bits tell them from the ends
