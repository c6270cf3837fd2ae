"""Numbers as answers give them out, held against Python's fractions."""

from __future__ import annotations

import json
import math
import numbers
import operator
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import delta
from bisimdist.errors import NumberTypeError
from bisimdist.exact.number import Exact
from bisimdist.models.library.registry import build_example

OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)
ORDERS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)

CUTS = (math.floor, math.ceil, math.trunc, round)


def exact(value: Fraction) -> Exact:
    return Exact(value.numerator, value.denominator)


@given(st.fractions(), st.fractions() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False))
def test_it_computes_as_fractions_do(x: Fraction, y: Fraction | int | Decimal) -> None:
    other = Fraction(y)
    for order in ORDERS:
        assert order(exact(x), y) is order(x, other)
        assert order(y, exact(x)) is order(other, x)
        assert order(exact(x), fmpq(other.numerator, other.denominator)) is order(x, other)
    for operation in OPERATIONS:
        if operation is operator.truediv and 0 in (x, other):
            continue
        found = operation(exact(x), y), operation(y, exact(x))
        assert found == (operation(x, other), operation(other, x))
        assert {type(value) for value in found} == {Exact}
    assert hash(exact(x)) == hash(x) == hash(fmpq(x.numerator, x.denominator))
    assert Fraction(exact(x)) == x
    assert pickle.loads(pickle.dumps(exact(x))) == x
    assert (abs(exact(x)), -exact(x)) == (abs(x), -x)
    assert exact(x).as_integer_ratio() == x.as_integer_ratio()
    assert all(type(cut(exact(x))) is int and cut(exact(x)) == cut(x) for cut in CUTS)
    if other:
        assert (exact(x) // y, exact(x) % y) == (x // other, x % other)
    if x:
        assert (y // exact(x), y % exact(x)) == (other // x, other % x)


@pytest.mark.parametrize("order", (*ORDERS, *OPERATIONS))
def test_it_is_not_held_against_floats(order: object) -> None:
    assert callable(order)
    for pair in ((Exact(1, 2), 0.5), (0.5, Exact(1, 2))):
        with pytest.raises(TypeError, match="float"):
            order(*pair)


def test_it_is_formatted_and_no_json() -> None:
    assert f"{Exact(1, 3)} {Exact(1, 3):.3f} {Exact(1, 8):.1%} {Exact(1, 3):>6}" == "1/3 0.333 12.5%    1/3"
    with pytest.raises(TypeError):
        json.dumps(Exact(1, 3))
    assert json.dumps(str(Exact(1, 3))) == '"1/3"'
    assert float(Exact(1, 4)) == 0.25
    assert isinstance(Exact(1, 3), numbers.Rational)
    assert Exact(3) == np.int64(3)


EQUAL = (Fraction(3, 1), Decimal("3.0"), 3, np.int64(3), np.uint8(3), np.int16(3), fmpq(3), fmpz(3), Exact(3))
LOUD = (3.0, float("inf"), 3j, np.float64(3), np.float32(3), np.float16(3), np.complex128(3))
OTHERS = ("3", None, b"3", (3,), Decimal("nan"), Decimal("inf"))


@pytest.mark.parametrize("value", EQUAL, ids=lambda value: f"{type(value).__name__}")
def test_what_is_the_same_number_is_equal(value: Any) -> None:
    three = Exact(3)
    assert three == value
    assert value == three
    assert Exact(5, 2) < value < Exact(7, 2)
    assert value > Exact(5, 2)
    assert type(three + value) is Exact


@pytest.mark.parametrize("value", LOUD, ids=lambda value: f"{type(value).__name__}")
def test_what_is_in_floating_point_is_refused(value: Any) -> None:
    for call in (operator.eq, operator.ne, operator.add, operator.mul):
        for pair in ((Exact(3), value), (value, Exact(3))):
            with pytest.raises(NumberTypeError, match="floating point"):
                call(*pair)


@pytest.mark.parametrize("value", OTHERS, ids=repr)
def test_what_is_no_number_is_another_thing(value: Any) -> None:
    assert Exact(3) != value
    with pytest.raises(TypeError):
        Exact(3) + value


@pytest.mark.parametrize(
    ("form", "text"),
    [
        *(("", "1/3"), (">5", "  1/3"), ("^7", "  1/3  "), ("s", "1/3"), (".3f", "0.333"), (".2%", "33.33%")),
        *((".3", "0.333"), (".2e", "3.33e-1"), ("8.2f", "    0.33"), ("+.2f", "+0.33")),
    ],
)
def test_every_format_says_the_number(form: str, text: str) -> None:
    assert format(Exact(1, 3), form) == text


@pytest.mark.parametrize("form", ["d", "x", "b", "q"])
def test_formats_of_integers_are_refused(form: str) -> None:
    with pytest.raises(ValueError, match="format"):
        format(Exact(1, 3), form)


def test_powers_and_rounding_stay_exact() -> None:
    assert (Exact(2, 3) ** 3, type(Exact(2, 3) ** 3)) == (Fraction(8, 27), Exact)
    assert Exact(2, 3) ** -1 == Fraction(3, 2)
    assert (round(Exact(5, 2)), type(round(Exact(5, 2)))) == (2, int)
    assert (round(Exact(1, 3), 2), type(round(Exact(1, 3), 2))) == (Fraction(33, 100), Exact)
    assert [int(Exact(7, 2)), math.floor(Exact(7, 2)), math.ceil(Exact(7, 2)), math.trunc(Exact(7, 2))] == [
        3,
        3,
        4,
        3,
    ]
    assert sum([Exact(1, 3), Exact(1, 6)]) == Fraction(1, 2)
    mixed: list[Any] = [1, Exact(1, 2), Fraction(3, 4)]
    assert sorted(mixed) == [Exact(1, 2), Fraction(3, 4), 1]


def test_answers_give_it_out() -> None:
    answer = delta(build_example("figure1"), "3/2", pairs=[("s0", "s1")])
    pair = answer.pairs[0]
    for value in (answer.upper, answer.lower, answer.alpha_upper, pair.upper, pair.witness.probability_from):
        assert isinstance(value, Exact)
        assert value == Fraction(int(value.p), int(value.q))
    assert all(isinstance(value, Exact) for way in pair.directions for value in way)
