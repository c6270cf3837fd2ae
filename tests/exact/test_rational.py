"""Numbers are read as they are written, and refused where they are not exact."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import NumberError, NumberTypeError
from bisimdist.exact.rational import format_rational, parse_rational, to_fmpq
from tests.speed import leeway


@pytest.mark.parametrize("text", ["3/5", "0.6", "6e-1", "6E-1", "+0.6", " 0.600 ", "60e-2", "6/10", "3 / 5"])
def test_all_ways_to_write_three_fifths(text: str) -> None:
    assert parse_rational(text) == fmpq(3, 5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        ".",
        "1.",
        ".5",
        "1e",
        "1/0",
        "1/-2",
        "1/2/3",
        "0x10",
        "1_000",
        "1,5",
        "٣",
        "½",
        "1e99999999999999999999",
        "1e999999999",
        "1e-999999999",
        "1" * 20_001,
        "--1",
        "1 2",
        "3/5.0",
    ],
)
def test_what_is_no_number_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(NumberError):
        parse_rational(text)
    assert time.process_time() - start < 1 * leeway()


@given(st.fractions())
def test_writing_and_reading_are_inverse(value: Fraction) -> None:
    assert parse_rational(format_rational(to_fmpq(value))) == to_fmpq(value)
    assert format_rational(to_fmpq(value)) == str(value)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_decimals_are_read_exactly(value: object) -> None:
    assert parse_rational(str(value).replace("E", "e")) == to_fmpq(Fraction(str(value)))


def test_integers_beyond_machine_words_are_exact() -> None:
    big = 2**63 * 10**40 + 1
    assert parse_rational(f"{big}/{big + 1}") == fmpq(fmpz(big), fmpz(big + 1))


@pytest.mark.parametrize("value", [0.1, 1.0, True, None, 1j, [1]])
def test_what_is_not_exact_is_refused(value: object) -> None:
    with pytest.raises(NumberTypeError):
        to_fmpq(value)
