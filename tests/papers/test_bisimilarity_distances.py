"""Published values: Chistikov, Murawski, Purser, "Bisimilarity Distances for Approximate Differential
Privacy", ATVA 2018.
"""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.distances.bound.ask import bd_threshold
from bisimdist.exact.rational import to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.lp.problem import SkewedProblem, skewed_difference
from bisimdist.lp.simplex import solve_simplex
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC
from tests.integration.certified import certified, check_answer, upper_bounds
from tests.reference.fig4_formula import least_prefixed_point, printed_formula_holds
from tests.reference.printed_dual import printed_dual, printed_least_fixed_point
from tests.reference.test_bd_is_not_antitone import CHAIN
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


@pytest.mark.parametrize(
    ("alpha", "defined", "printed"), [(2, "2/5", "19/45"), (3, "11/27", "58/135"), (1, "43/90", "43/90")]
)
def test_lemma_3_as_printed_is_not_the_distance(alpha: int, defined: str, printed: str) -> None:
    """Definition 12, and the least fixed point of Figure 5's formula: they agree at alpha 1 only."""
    assert upper_bounds(certified(CHAIN, alpha, [("s", "t")]))["s", "t"] == to_fmpq(defined)
    found = printed_least_fixed_point(CHAIN, fmpq(alpha))
    assert found[0][1] == to_fmpq(printed)


@pytest.mark.parametrize("others", [0, 1, 2])
def test_states_of_other_labels_do_not_mend_lemma_3(others: int) -> None:
    """The three states of the note on the lifting: 13/20, and 1 as printed, however many are added."""
    near = [["0", "1/10", "1"], ["1/10", "0", "1/10"], ["1", "1/10", "0"]]
    distance = [[to_fmpq(d) for d in row] + [fmpq(1)] * others for row in near]
    distance += [[fmpq(k != 3 + i) for k in range(3 + others)] for i in range(others)]
    left, right = ([fmpq(k == at) for k in range(3 + others)] for at in (0, 2))
    assert solve_simplex(
        SkewedProblem(fmpq(2), tuple(left), tuple(right), tuple(map(tuple, distance)))
    ).value == fmpq(13, 20)
    assert printed_dual(left, right, fmpq(2), distance) == 1


@pytest.mark.parametrize(
    ("lmc", "alpha"), [(figure1(), "1"), (figure1(), "6/5"), (leaky_retry(), "101/100"), (leaky_retry(), "1")]
)
def test_the_formula_of_figure_4(lmc: LMC, alpha: str) -> None:
    """With f quantified inside the premise the distances solve it; as printed nothing does."""
    found = least_prefixed_point(lmc, to_fmpq(alpha))
    assert found is not None
    assert found
    pairs = {(i, j): (lmc.states[i], lmc.states[j]) for i, j in found}
    bounds = upper_bounds(certified(lmc, alpha, list(pairs.values())))
    assert found == {key: bounds[pair] for key, pair in pairs.items()}
    assert not printed_formula_holds(lmc, to_fmpq(alpha))
