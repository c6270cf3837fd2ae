"""Rational functions, and the reading of expressions."""

from __future__ import annotations

import pickle
import re
import time

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import NumberError, UsageError
from bisimdist.exact.bernstein import bernstein_coefficients
from bisimdist.models.expression import parse_expression
from bisimdist.models.polynomial import Entry, RationalFunction, format_entry, monomials_of, parameter_ring
from bisimdist.models.positivity import Sign, sign_on_box
from tests.speed import leeway

NAMES = ["p", "q"]
UNIT = ((fmpq(0), fmpq(1)),) * 2


def parse(text: str) -> Entry:
    return parse_expression(text, NAMES)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("(1-p)^2", "1 - 2*p + p*p"),
        ("1-(1-p)^2", "p*(2-p)"),
        ("p*q/(1-p)", "q*(p/(1-p))"),
        ("-p^2", "0-(p*p)"),
        ("--p", "p"),
        ("6e-1*p", "3/5*p"),
        ("0.25 + p", "p + 1/4"),
        ("(p^2-q^2)/(p-q)", "p+q"),
        ("p**3", "p*p*p"),
        ("p^0*q", "q"),
        ("1-p-q", "1-(p+q)"),
        ("8/4/2*p", "p"),
    ],
)
def test_equal_expressions_are_equal(text: str, other: str) -> None:
    assert parse(text) == parse(other)
    assert format_entry(parse(text)) == format_entry(parse(other))
    assert hash(parse(text)) == hash(parse(other))


@pytest.mark.parametrize(
    ("text", "value"),
    [("p/p", "1"), ("p-p+1/3", "1/3"), ("2^10", "1024"), ("1-1/3-2/3", "0"), ("2*3-4", "2")],
)
def test_what_does_not_depend_on_a_parameter_is_a_rational(text: str, value: str) -> None:
    found = parse(text)
    assert isinstance(found, fmpq)
    assert str(found) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: found the end; expected a number, a parameter or"),
        ("p q", "column 3: found 'q'"),
        ("2p", "column 2: found 'p'"),
        ("(p", r"column 3: found the end; expected '\)'"),
        ("p)", "column 2"),
        ("1/(p-p)", "column 2: the divisor is zero"),
        ("1/0", "column 2: the divisor is zero"),
        ("p^q", "column 3: found 'q'; expected a whole number"),
        ("p^-1", "column 3"),
        ("p^1.5", "column 3"),
        ("p^99999999999999999999", "column 3: the exponent is beyond"),
        ("p^2^3", "column 4: a power of a power is ambiguous"),
        ("r", "column 1: the parameter 'r' is not declared .declared: p, q."),
        ("p@q", "column 2: found '@'"),
        ("__import__('os')", "column 1: the parameter '__import__' is not declared"),
        ("1e", "column 2"),
        ("0x1", "column 2"),
        (".5", "column 1"),
        ("(1+p+q)^200", "more than the 20000 monomials"),
        ("((p+1)^200)^200", "degree"),
        ("(1e9999)^256", "bits allowed"),
        ("1e99999", "exponent"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_column(text: str, message: str) -> None:
    with pytest.raises(NumberError, match=message):
        parse(text)


@pytest.mark.parametrize("text", ["(" * 10_000, "-" * 15_000 + "p", "(" * 60 + "p" + ")" * 60, "p" * 30_000])
def test_deep_and_long_texts_are_refused_quickly(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(NumberError, match=r"nested deeper than the 50|longer than the 20000"):
        parse(text)
    assert time.process_time() - begin < 1 * leeway()


def test_a_product_of_many_long_numbers_is_refused() -> None:
    with pytest.raises(NumberError, match="bits allowed"):
        parse("*".join(["(1e9999)^30"] * 400))


expressions = st.recursive(
    st.sampled_from(["p", "q", "1", "2", "3"]),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    max_leaves=8,
)


@given(expressions, st.fractions(0, 1), st.fractions(0, 1))
def test_values_agree_with_python(text: str, p: object, q: object) -> None:
    values = {"p": fmpq(p.numerator, p.denominator), "q": fmpq(q.numerator, q.denominator)}  # type: ignore[attr-defined]
    try:
        found = parse(text)
        value = found.at(values) if isinstance(found, RationalFunction) else found
    except (NumberError, UsageError):
        return
    spelled = re.sub(r"([0-9]+)", r"fmpq(\1)", text)
    try:
        expected = eval(spelled, {"fmpq": fmpq, **values})
    except ZeroDivisionError:
        return  # a common factor was cancelled
    assert value == expected


@given(expressions)
def test_the_written_form_reads_back(text: str) -> None:
    try:
        found = parse(text)
    except NumberError:
        return
    assert parse(format_entry(found)) == found
    assert pickle.loads(pickle.dumps(found)) == found


def test_rational_functions_do_not_change_and_mix_with_numbers() -> None:
    p = RationalFunction.of(parameter_ring(["p"]).gens()[0])
    with pytest.raises(AttributeError):
        p.numerator = p.denominator
    assert fmpq(1, 2) * p == p / 2
    assert 1 - p == -(p - 1)
    assert (1 / p).at({"p": fmpq(2)}) == fmpq(1, 2)
    with pytest.raises(UsageError, match="vanishes"):
        (1 / p).at({"p": fmpq(0)})
    with pytest.raises(UsageError, match="no value"):
        p.at({})


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("p", Sign.POSITIVE),
        ("p-1", Sign.NEGATIVE),
        ("p-q", Sign.BOTH),
        ("(p-q)^2", Sign.NOT_NEGATIVE),
        ("-(2*p-1)^2*q", Sign.NOT_POSITIVE),
        ("p^2-p+1/2", Sign.POSITIVE),
        ("p*q*(1-p)*(1-q)", Sign.POSITIVE),
        ("p^2+q^2-p*q+1/100", Sign.POSITIVE),
        ("p^2-1/3", Sign.BOTH),
    ],
)
def test_signs_on_the_open_unit_box(text: str, sign: Sign) -> None:
    found = parse(text)
    assert isinstance(found, RationalFunction)
    assert sign_on_box(found.numerator, UNIT) is sign


@given(st.lists(st.integers(-3, 3), min_size=9, max_size=9))
def test_a_sign_is_that_of_all_points_and_coefficients_enclose_the_values(weights: list[int]) -> None:
    ring = parameter_ring(NAMES)
    polynomial = ring.from_dict({(i % 3, i // 3): fmpq(w) for i, w in enumerate(weights) if w})
    values = [polynomial(fmpq(a, 8), fmpq(b, 8)) for a in range(1, 8) for b in range(1, 8)]
    coefficients = bernstein_coefficients(monomials_of(polynomial), UNIT)
    assert min(coefficients) <= min(values)
    assert max(coefficients) >= max(values)
    known = {
        Sign.ZERO: {0},
        Sign.POSITIVE: {1},
        Sign.NEGATIVE: {-1},
        Sign.NOT_NEGATIVE: {0, 1},
        Sign.NOT_POSITIVE: {-1, 0},
    }
    signs = {(value > 0) - (value < 0) for value in values}
    assert signs <= known.get(sign_on_box(polynomial, UNIT), {-1, 0, 1})
