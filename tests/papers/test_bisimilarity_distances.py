"""Published values: Chistikov, Murawski, Purser, "Bisimilarity Distances for Approximate Differential
Privacy", ATVA 2018.
"""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.distances import bd_threshold
from bisimdist.lp.problem import skewed_difference
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC
from tests.integration.certified import certified, check_answer, upper_bounds
from tests.reference.traces import true_delta


@pytest.mark.parametrize(("x", "y", "expected"), [(9, 3, 3), (9, 6, 0), (6, 3, 0), (3, 9, 3), (0, 0, 0)])
def test_section_3_the_skewed_difference_at_2(x: int, y: int, expected: int) -> None:
    assert skewed_difference(fmpq(2), fmpq(x), fmpq(y)) == expected


def test_section_3_the_skewed_difference_obeys_no_triangle_inequality() -> None:
    direct, first, second = (
        skewed_difference(fmpq(2), fmpq(x), fmpq(y)) for x, y in ((9, 3), (9, 6), (6, 3))
    )
    assert direct > first + second


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [("3/2", "0"), ("1", "1/5"), ("11/10", "4/25"), ("5", "0"), ("1.499999", "1/2500000")],
)
def test_example_1(alpha: str, expected: str) -> None:
    """Figure 1: the distance of s0 and s1 is max(3/5 - alpha 2/5, 0)."""
    answer = certified(figure1(), alpha, [("s0", "s1")])
    assert answer.status is Status.EXACT
    assert str(answer.pairs[0].upper) == str(answer.pairs[0].lower) == expected


@pytest.mark.parametrize(("n", "expected"), [(2, "1/2500"), (3, "1/50")])
def test_section_4_dining_cryptographers(n: int, expected: str) -> None:
    """Figure 3: the ring with bias 0.49, alpha = 1.0002; 0.0004 for two cryptographers."""
    lmc = dining_cryptographers(n, "49/100")
    answer = certified(lmc, "5001/5000", [("payer0", "payer1")])
    assert answer.status is Status.EXACT
    assert str(answer.pairs[0].upper) == expected
    assert answer.pairs[0].exact


def test_section_4_every_pair_of_payers_of_three() -> None:
    lmc = dining_cryptographers(3, "49/100")
    pairs = [(f"payer{i}", f"payer{j}") for i in range(3) for j in range(3)]
    found = upper_bounds(certified(lmc, "5001/5000", pairs))
    assert all(found[s, t] == found[t, s] for s, t in pairs)
    assert all((found[s, t] == 0) == (s == t) for s, t in pairs)


def test_section_4_fair_coins_tell_nothing() -> None:
    for n in (2, 3, 4):
        lmc = dining_cryptographers(n, "1/2")
        assert set(upper_bounds(certified(lmc, 1, [("payer0", f"payer{n - 1}")])).values()) == {fmpq(0)}


@pytest.mark.parametrize("theta", ["1/2500", "1"])
def test_bd_threshold_holds_at_the_tie(theta: str) -> None:
    answer = bd_threshold(dining_cryptographers(2, "49/100"), "1.0002", "payer0", "payer1", theta)
    assert answer.holds is True
    check_answer(answer)


def test_disjoint_labels_are_at_distance_1() -> None:
    lmc = LMC.from_mappings(
        {"s": "a", "t": "a", "x": "b", "y": "c"}, {"s": {"x": 1}, "t": {"y": 1}, "x": {"x": 1}, "y": {"y": 1}}
    )
    for alpha in ("1", "2", "1000000"):
        assert set(upper_bounds(certified(lmc, alpha)).values()) == {fmpq(1)}


@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(5001, 5000), fmpq(3, 2), fmpq(3), fmpq(4)])
@pytest.mark.parametrize(("k", "truth"), [(2, "3/4"), (2, "1/2"), (3, "3/4"), (4, "1/10")])
def test_randomised_response_has_its_closed_form(k: int, truth: str, alpha: fmpq) -> None:
    """Asked once, bd is the true delta: max(p - alpha q, q - alpha p, 0) with q = (1 - p)/(k - 1)."""
    lmc = randomised_response(k, truth)
    p = dict(lmc.rows[0])[lmc.index("answer0")]
    q = dict(lmc.rows[0])[lmc.index("answer1")]
    (found,) = certified(lmc, alpha).pairs[:1]
    assert found.upper == max(p - alpha * q, q - alpha * p, fmpq(0)) == true_delta(lmc, 0, 1, alpha, 2)
