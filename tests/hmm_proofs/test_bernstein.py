from __future__ import annotations

from itertools import product

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.budgets.engine.polynomial_solver import refute_negative
from bisimdist.errors import UsageError
from bisimdist.exact.bernstein import (
    Leaf,
    Monomials,
    Sign,
    Split,
    bernstein_coefficients,
    evaluate,
    proof_boxes,
    prove_sign,
)

UNIT = ((fmpq(0), fmpq(1)),)
SQUARE = (*UNIT, *UNIT)

polynomials = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 2)), st.integers(-5, 5).map(fmpq), min_size=1, max_size=6
)


def _values(polynomial: Monomials) -> list[fmpq]:
    grid = [fmpq(k, 8) for k in range(1, 8)]
    return [evaluate(polynomial, point) for point in product(grid, repeat=2)]


@given(polynomials)
def test_the_coefficients_bound_the_values_and_the_corners_are_values(polynomial: Monomials) -> None:
    coefficients = bernstein_coefficients(polynomial, SQUARE)
    assert all(min(coefficients) <= value <= max(coefficients) for value in _values(polynomial))
    assert coefficients[0] == evaluate(polynomial, (fmpq(0), fmpq(0)))
    assert coefficients[-1] == evaluate(polynomial, (fmpq(1), fmpq(1)))


@settings(deadline=None, max_examples=30)
@given(polynomials)
def test_an_answer_agrees_with_the_values_and_has_a_witness(polynomial: Monomials) -> None:
    result = prove_sign(polynomial, SQUARE, max_boxes=200)
    if result.holds:
        assert result.proof is not None
        assert min(_values(polynomial)) >= 0
        for box in proof_boxes(result.proof, SQUARE):
            assert min(bernstein_coefficients(polynomial, box)) >= 0
    elif result.holds is False:
        assert result.point is not None
        assert all(0 < x < 1 for x in result.point)
        assert evaluate(polynomial, result.point) < 0


@settings(deadline=None, max_examples=30)
@given(polynomials)
def test_a_strict_answer_is_strict(polynomial: Monomials) -> None:
    result = prove_sign(polynomial, SQUARE, sign=Sign.POSITIVE, max_boxes=200)
    if result.holds:
        assert min(_values(polynomial)) > 0
    elif result.point is not None:
        assert evaluate(polynomial, result.point) <= 0


def test_a_zero_on_the_border_is_allowed_and_one_inside_is_not() -> None:
    border: Monomials = {(1,): fmpq(1), (2,): fmpq(-1)}
    assert prove_sign(border, UNIT, sign=Sign.POSITIVE).holds is True
    middle: Monomials = {(2,): fmpq(4), (1,): fmpq(-4), (0,): fmpq(1)}
    assert prove_sign(middle, UNIT).holds is True
    assert prove_sign(middle, UNIT, sign=Sign.POSITIVE).holds is False


def test_a_zero_at_a_third_is_left_to_the_solver() -> None:
    touching: Monomials = {(2,): fmpq(9), (1,): fmpq(-6), (0,): fmpq(1)}
    assert prove_sign(touching, UNIT, max_boxes=100).holds is None
    assert refute_negative(touching, UNIT, ("p",)).holds is True


def test_the_solver_gives_a_point_that_survives_its_exact_check() -> None:
    polynomial: Monomials = {
        (4,): fmpq(1),
        (2,): fmpq(-1),
        (0,): fmpq(6, 25),
    }  # negative only between two roots
    result = refute_negative(polynomial, UNIT, ("p",))
    assert result.holds is False
    assert result.point is not None
    assert evaluate(polynomial, result.point) < 0


def test_multilinear_polynomials_need_one_box() -> None:
    result = prove_sign({(1, 1): fmpq(-1), (0, 0): fmpq(1)}, SQUARE)
    assert isinstance(result.proof, Leaf)
    refuted = prove_sign({(1, 1): fmpq(-2), (0, 0): fmpq(1)}, SQUARE, max_boxes=1)
    assert refuted.holds is False


def test_a_negative_corner_of_the_open_box_gives_a_point_inside() -> None:
    polynomial: Monomials = {(1, 1): fmpq(-1001, 1000), (0, 0): fmpq(1)}
    result = prove_sign(polynomial, SQUARE)
    assert result.point is not None
    assert all(0 < x < 1 for x in result.point)
    assert evaluate(polynomial, result.point) < 0


def test_subdivision_proves_what_one_box_does_not() -> None:
    polynomial: Monomials = {(2,): fmpq(1), (1,): fmpq(-1), (0,): fmpq(26, 100)}
    result = prove_sign({k: 100 * v for k, v in polynomial.items()}, UNIT)
    assert isinstance(result.proof, Leaf | Split)
    assert result.holds is True


def test_degrees_that_are_too_small_are_refused() -> None:
    with pytest.raises(UsageError, match="too small"):
        bernstein_coefficients({(2,): fmpq(1)}, UNIT, degrees=(1,))
    with pytest.raises(UsageError, match="empty"):
        prove_sign({(0,): fmpq(1)}, ((fmpq(1), fmpq(1)),))


def test_a_polynomial_without_variables_is_decided() -> None:
    assert prove_sign({(): fmpq(0)}, ()).holds is True
    assert prove_sign({(): fmpq(-1)}, ()).holds is False
