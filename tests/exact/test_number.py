"""Numbers as answers give them out, held against Python's fractions."""

from __future__ import annotations

import json
import numbers
import operator
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import delta
from bisimdist.exact.number import Exact
from bisimdist.models.library.registry import build_example

OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)
ORDERS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


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


def test_answers_give_it_out() -> None:
    answer = delta(build_example("figure1"), "3/2", pairs=[("s0", "s1")])
    pair = answer.pairs[0]
    for value in (answer.upper, answer.lower, answer.alpha_upper, pair.upper, pair.witness.probability_from):
        assert isinstance(value, Exact)
        assert value == Fraction(int(value.p), int(value.q))
    assert all(isinstance(value, Exact) for way in pair.directions for value in way)
