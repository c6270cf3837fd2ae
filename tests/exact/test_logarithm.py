"""Enclosures of e**epsilon and of logarithms, held against independent exact series."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import NumberTypeError, UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below, log_enclosure
from bisimdist.exact.rational import to_fmpq

epsilons = st.one_of(
    st.fractions(min_value=0, max_value=3, max_denominator=10**6),
    st.fractions(min_value=0, max_value=Fraction(1, 1000)),
    st.fractions(min_value=3, max_value=700, max_denominator=1000),
)
ratios = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6).filter(lambda r: r > 0),
    st.fractions(min_value=0, max_value=Fraction(1, 10**6)).map(lambda r: 1 + r),
)


def exponential_series(x: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Enclose e**x for x >= 0 by its series and a geometric bound on the rest: no ball arithmetic."""
    halvings = 0
    while x > Fraction(1, 2):
        x /= 2
        halvings += 1
    term, total = Fraction(1), Fraction(1)
    for k in range(1, terms):
        term = term * x / k
        total += term
    low, high = total, total + 2 * term
    for _ in range(halvings):
        low, high = low * low, high * high
    return low, high


@given(st.fractions(min_value=0, max_value=4, max_denominator=50))
def test_alphas_lie_on_their_sides_of_an_independent_series(epsilon: Fraction) -> None:
    low, high = exponential_series(epsilon, 30)
    below, above = alpha_below(epsilon), alpha_above(epsilon)
    assert Fraction(int(below.p), int(below.q)) <= low
    assert Fraction(int(above.p), int(above.q)) >= high or epsilon == 0


@given(epsilons)
def test_alphas_enclose_the_exponential_closely_and_shortly(epsilon: Fraction) -> None:
    below, above = alpha_below(epsilon), alpha_above(epsilon)
    assert below >= 1
    with ctx.workprec(4000):
        exact = arb(to_fmpq(epsilon)).exp()
        assert epsilon == 0 or (arb(below) < exact < arb(above))
    assert above - below <= below * to_fmpq("2e-12")
    assert below.q.bit_length() <= 129
    assert epsilon < 1 or below.q.bit_length() <= 41


@pytest.mark.parametrize("zero", [0, "0", "0.000", "0/7", Fraction(0)])
def test_epsilon_zero_is_alpha_one_exactly(zero: int | str | Fraction) -> None:
    assert alpha_below(zero) == 1
    assert alpha_above(zero) == 1


def test_small_epsilon_keeps_the_accuracy_of_alpha_minus_one() -> None:
    epsilon = to_fmpq("1e-9")
    assert abs((alpha_below(epsilon) - 1) / epsilon - 1) < to_fmpq("1e-8")
    assert alpha_below("1e-300") == 1
    assert alpha_above("1e-300") > 1


def test_epsilon_700() -> None:
    with ctx.workprec(4000):
        assert arb(alpha_below(700)) < arb(700).exp()
    assert alpha_above(700) / alpha_below(700) < 1 + to_fmpq("2e-12")


@given(epsilons, st.integers(1, 80))
def test_denominator_bits_bound_error_and_denominator(epsilon: Fraction, bits: int) -> None:
    below = alpha_below(epsilon, denominator_bits=bits)
    above = alpha_above(epsilon, denominator_bits=bits)
    width = fmpq(1, fmpz(2) ** bits)
    assert above - below <= 2 * width * above
    assert max(below.q, above.q) <= fmpz(2) ** (bits + 1)


@pytest.mark.parametrize("function", [alpha_below, alpha_above])
def test_what_no_alpha_exists_for_is_refused(function: object) -> None:
    assert callable(function)
    with pytest.raises(UsageError, match="at least 0"):
        function("-1e-9")
    with pytest.raises(UsageError, match="at most"):
        function("1e9")
    with pytest.raises(NumberTypeError, match="float"):
        function(0.1)
    with pytest.raises(UsageError, match="denominator_bits"):
        function(1, denominator_bits=0)


def test_the_enclosure_of_the_interface() -> None:
    assert log_enclosure("9/4") == ("0.81093", "0.81094")


@pytest.mark.parametrize(
    ("ratio", "digits", "expected"),
    [
        ("1", 5, ("0", "0")),
        ("4/9", 5, ("-0.81094", "-0.81093")),
        ("1.0002", 5, ("0.00019998", "0.00019999")),
        ("2", 1, ("0.6", "0.7")),
        ("1e9999", 5, ("23023", "23024")),
        ("1e9999", 2, ("23023", "23024")),
        ("10", 7, ("2.302585", "2.302586")),
    ],
)
def test_enclosures_of_logarithms(ratio: str, digits: int, expected: tuple[str, str]) -> None:
    assert log_enclosure(ratio, digits) == expected


@given(ratios, st.integers(1, 30))
def test_logarithms_lie_in_their_enclosures_of_one_unit(ratio: Fraction, digits: int) -> None:
    low, high = log_enclosure(ratio, digits)
    if ratio == 1:
        assert (low, high) == ("0", "0")
        return
    with localcontext() as context:
        context.prec = 80
        logarithm = Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()
        slack = Decimal("1e-50")  # what the subtraction above may lose
        assert Decimal(low) - slack <= logarithm <= Decimal(high) + slack
    assert to_fmpq(low) < to_fmpq(high)
    assert len(low.lstrip("-0.").replace(".", "")) <= digits + 10


def test_a_ratio_one_step_from_one_is_decided() -> None:
    ratio = 1 + fmpq(1, fmpz(10) ** 400)
    assert log_enclosure(ratio) == ("9.9999e-401", "1.00000e-400")


def test_logarithms_that_do_not_exist_are_refused() -> None:
    for ratio in ("0", "-1"):
        with pytest.raises(UsageError, match="positive"):
            log_enclosure(ratio)
    with pytest.raises(UsageError, match="digits"):
        log_enclosure("2", 0)
