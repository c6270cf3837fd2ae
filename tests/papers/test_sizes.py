"""CMP18, Theorem 1: the formula and the values that solve it are of polynomial size."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest
import z3
from flint import fmpq, fmpz

from bisimdist.distances.bound.ask import bound
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from tests.reference.fig4_formula import _phi, _prefixed, _unknowns

ALPHA = fmpq(11, 10)


def one_label(size: int) -> LMC:
    """Return a chain in which no label helps: every pair is a variable."""
    rows = tuple(tuple((t, fmpq(1 + (s * t) % 3, 1)) for t in range(size)) for s in range(size))
    sums = [sum((p for _, p in row), fmpq(0)) for row in rows]
    return LMC(
        tuple(f"s{k}" for k in range(size)),
        ("a",) * size,
        tuple(tuple((t, p / total) for t, p in row) for row, total in zip(rows, sums, strict=True)),
    )


def comparisons(term: Any) -> int:
    """Return how many linear constraints a formula has, written out as a tree."""
    if z3.is_quantifier(term):
        return comparisons(term.body())
    if z3.is_le(term) or z3.is_ge(term) or z3.is_lt(term) or z3.is_gt(term):
        return 1
    return sum(map(comparisons, term.children()))


@pytest.mark.parametrize("size", range(2, 9))
def test_the_formula_of_figure_4_is_quadratic(size: int) -> None:
    """n(n-1)/2 distances and n values of f; 2n(n-1) constraints of phi, and 2n more for the range of f."""
    chain = one_label(size)
    d, variables = _unknowns(chain, "d")
    assert len(variables) == size * (size - 1) // 2
    f = [z3.Real(f"f_{k}") for k in range(size)]
    assert comparisons(_phi(chain, ALPHA, d, f)) == 2 * size * (size - 1)
    assert comparisons(_prefixed(chain, ALPHA, d, "f")) == 2 * size * (size - 1) + 2 * size


def bits(value: fmpq) -> int:
    return int(fmpz(value.p).bit_length() + fmpz(value.q).bit_length())


@pytest.mark.parametrize("size", range(3, 9))
@pytest.mark.parametrize("seed", range(3))
def test_values_are_of_polynomial_size(size: int, seed: int) -> None:
    """A value solves a linear system of at most n^2 unknowns: Cramer and Hadamard bound its length."""
    chain = random_lmc(size, min(3, size), 2, seed, denominator=12)
    pairs = [(chain.states[s], chain.states[t]) for s in range(size) for t in range(s)]
    longest = max(bits(p) for row in chain.rows for _, p in row) + bits(ALPHA)
    most = 2 * size**2 * (size * longest + log2(size) + 1)
    for found in bound(chain, ALPHA, pairs=pairs).pairs:
        assert found.exact
        assert bits(fmpq(found.upper)) <= most
