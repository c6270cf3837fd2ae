"""Least budgets for all values of one parameter, as algebraic numbers."""

from __future__ import annotations

import json

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.budgets.verify.ask import epsilon, verify
from bisimdist.checker import check_certificate
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import independent_disease, noisy_max_diseases


def mixture(first: str, second: str) -> HMM:
    """Return a model that shows x with the one or the other probability, both functions of p in (0, 1)."""
    return HMM.from_mappings(
        {"s": {"x": 1}, "t": {"y": 1}},
        {},
        {name: {"s": share, "t": f"1-({share})"} for name, share in (("pi", first), ("tau", second))},
        pairs=[("pi", "tau")],
        parameters={"p": (0, 1)},
    )


def test_a_limit_at_an_end_is_exact() -> None:
    (pair,) = epsilon(independent_disease(), length=1).pairs
    assert (pair.ratio, pair.exact, pair.polynomial) == (2, True, None)
    assert pair.at_least is not None
    assert pair.at_least < 2


def test_an_irrational_value_is_named_by_its_polynomial() -> None:
    """(1 + p) / (1 + p^2) is largest at sqrt 2 - 1, where it is (1 + sqrt 2) / 2."""
    answer = epsilon(mixture("(1+p)/4", "(1+p^2)/4"), length=1, precision="1/100000")
    (pair,) = answer.pairs
    assert pair.polynomial == "4*C^2 + (-4)*C + (-1)"
    assert (pair.ratio, pair.exact) == (None, False)
    assert pair.at_least is not None
    assert pair.at_most is not None
    assert 4 * pair.at_least**2 - 4 * pair.at_least - 1 <= 0 <= 4 * pair.at_most**2 - 4 * pair.at_most - 1
    assert check_certificate(json.dumps(answer.certificate())).valid


def test_several_parameters_leave_a_bracket() -> None:
    (pair,) = epsilon(noisy_max_diseases(), length=1).pairs
    assert (pair.exact, pair.polynomial, pair.at_most) == (False, None, fmpq(40, 21))


@given(st.lists(st.integers(1, 6), min_size=6, max_size=6), st.fractions(0, 1, max_denominator=50))
def test_no_value_of_the_parameter_exceeds_it(weights: list[int], p: object) -> None:
    a, b, c, d, e, f = weights
    model = mixture(f"({a}+{b}*p+{c}*p^2)/20", f"({d}+{e}*p+{f}*p^2)/20")
    (pair,) = epsilon(model, length=1).pairs
    most = pair.ratio if pair.ratio is not None else pair.at_most
    assert most is not None
    value = fmpq(p.numerator, p.denominator)  # type: ignore[attr-defined]
    one, two = (u + v * value + w * value**2 for u, v, w in ((a, b, c), (d, e, f)))
    other = [(20 - x) for x in (one, two)]
    assert max(one / two, two / one, other[0] / other[1], other[1] / other[0]) <= most


def test_what_it_finds_is_what_verify_decides() -> None:
    model = mixture("(1+p)/4", "(1+p^2)/4")
    (pair,) = epsilon(model, length=1).pairs
    assert pair.at_least is not None
    assert pair.at_most is not None
    assert verify(model, pair.at_most, length=1).verdict.value == "holds"
    assert verify(model, pair.at_least - fmpq(1, 10**6), length=1).verdict.value == "violated"


@pytest.mark.parametrize("precision", ["0", "-1"])
def test_a_precision_that_is_none(precision: str) -> None:
    with pytest.raises(ValueError, match="expected a positive number"):
        epsilon(independent_disease(), length=1, precision=precision)


def test_shorter_sequences_that_end_count_too() -> None:
    """One observation has the ratio 2, two have 3/2: the budget of all lengths is the larger one."""
    model = HMM.from_mappings(
        {"a": {"x": 1}, "b": {"y": 1}, "c": {"x": 1}},
        {"b": {"c": 1}},
        {"pi": {"a": "p", "b": "1-p"}, "tau": {"a": "1/4", "b": "3/4"}},
        pairs=[("pi", "tau")],
        parameters={"p": ("1/4", "1/2")},
    )
    (pair,) = epsilon(model, length=2, up_to=True).pairs
    assert (pair.ratio, pair.witness) == (2, ("x",))
    assert pair.at_most is not None
    assert pair.at_most >= 2
    (alone,) = epsilon(model, length=2).pairs
    assert alone.ratio == fmpq(3, 2)
    (further,) = epsilon(model, length=5, up_to=True).pairs
    assert further == pair
