"""Chains in intervals, and with parameters, held against others; and what parameters in intervals are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import LMC, IntervalChain, ParametricChain, UsageError, delta, parse_model
from bisimdist.models.against import side_by_side
from bisimdist.privacy import delta_over

COIN = """{kind: lmc, parameters: {%s: [0, 1]}, states: {s: a, t: b, u: c},
    transitions: {s: {t: %s, u: 1-(%s)}, t: {t: 1}, u: {u: 1}}}"""


def coin(name: str, entry: str) -> ParametricChain:
    model = parse_model(COIN % (name, entry, entry))
    assert isinstance(model, ParametricChain)
    return model


def test_parameters_of_both() -> None:
    both = side_by_side(coin("p", "p"), coin("q", "q^2"))
    assert isinstance(both, ParametricChain)
    assert both.parameter_names == ("p", "q")
    at = both.at({"p": "1/3", "q": "1/2"})
    assert at == side_by_side(coin("p", "p").at({"p": "1/3"}), coin("q", "q^2").at({"q": "1/2"}))
    half = both.at({"q": "1/2"})
    assert isinstance(half, ParametricChain)
    assert delta_over(half, 1).pairs[0].pieces.at(fmpq(1, 3)) == fmpq(1, 12)


def test_intervals_against_a_chain() -> None:
    rough = coin("p", "p").within({"p": (fmpq(1, 4), fmpq(1, 3))})
    both = side_by_side(rough, coin("q", "q").at({"q": "1/2"}))
    assert isinstance(both, IntervalChain)
    assert delta(both, 1).pairs[0].upper == fmpq(1, 4)
    with pytest.raises(UsageError, match="one of the two models has parameters"):
        side_by_side(rough, coin("q", "q"))


def test_confidence_stays() -> None:
    rough = replace(coin("p", "p").within({"p": (fmpq(1, 4), fmpq(1, 3))}), confidence=fmpq(9, 10))
    one = side_by_side(rough, coin("q", "q").at({"q": "1/2"}))
    assert isinstance(one, IntervalChain) and one.confidence == fmpq(9, 10)
    both = side_by_side(rough, replace(rough, confidence=fmpq(19, 20)))
    assert isinstance(both, IntervalChain) and both.confidence == fmpq(17, 20)
    with pytest.raises(UsageError, match="both are right with confidence 0"):
        side_by_side(*(replace(rough, confidence=fmpq(1, 2)) for _ in range(2)))


def test_one_parameter_has_one_interval() -> None:
    wide, narrow = (
        parse_model(COIN.replace("[0, 1]", ends) % ("p", "p", "p")) for ends in ("[0, 1]", "[0, 1/2]")
    )
    assert side_by_side(wide, wide)
    with pytest.raises(UsageError, match="'p' is between 0 and 1 in one model and between 0 and 1/2 in the"):
        side_by_side(wide, narrow)


SHARES = st.fractions(0, 1).map(lambda x: fmpq(x.numerator, x.denominator))


@given(SHARES, SHARES, SHARES, st.sampled_from(["p", "p^2", "p*(1-p)", "p/(1+p)"]))
def test_all_values_are_within(one: fmpq, two: fmpq, share: fmpq, entry: str) -> None:
    low, high = sorted((one, two))
    model = coin("p", entry)
    rough = model.within({"p": (low, high)})
    value = low + (high - low) * share
    if not 0 < value < 1:
        return
    known = model.at({"p": value})
    assert isinstance(known, LMC)
    if isinstance(rough, LMC):
        assert rough == known
    else:
        rough.member(known.rows)
