"""Exact numbers of any size, and thresholds, on their way through the whole engine."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.distances.bound.ask import bd_threshold, bound
from bisimdist.errors import ModelError, NumberTypeError, UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below
from bisimdist.exact.rational import to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.models.io import parse_model
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.lmc import LMC
from tests.fixpoint.chains import make_chain, weighted
from tests.integration.certified import all_pairs, certified, check_answer, exact_distance
from tests.reference.bd_oracle import is_fixed_point
from tests.reference.traces import true_delta
from tests.strategies import alphas, lmcs

LONG = 10**200
ULP = fmpq(1, 10**100)
HUGE_ALPHAS = [fmpq(1), 1 + fmpq(1, 10**30), fmpq(LONG + 1, LONG - 1), fmpq(2**64 + 1, 2**63), fmpq(10**12)]

big_weights = st.one_of(
    st.integers(1, LONG),
    st.sampled_from([1, 2, 3, 10**20, 3 * 10**20, 10**40, 2**63, 2**63 - 1, 2**64 + 1, 10**60]),
)


@st.composite
def big_chains(draw: st.DrawFn) -> LMC:
    """Draw a chain whose probabilities fit no machine word, often of very different sizes."""
    shape = draw(lmcs(6, max_successors=5))
    rows = []
    for row in shape.rows:
        weights = draw(st.lists(big_weights, min_size=len(row), max_size=len(row)))
        whole = sum(weights)
        rows.append(
            tuple((target, fmpq(weight, whole)) for (target, _), weight in zip(row, weights, strict=True))
        )
    return LMC(shape.states, shape.labels, tuple(rows))


@settings(max_examples=30)
@given(big_chains(), st.sampled_from(HUGE_ALPHAS) | alphas())
def test_probabilities_that_fit_no_machine_word(chain: LMC, alpha: fmpq) -> None:
    assert is_fixed_point(chain, alpha, exact_distance(chain, alpha))


@settings(max_examples=20)
@given(big_chains(), st.sampled_from(HUGE_ALPHAS) | alphas(), st.sampled_from(["1/100", "1e-9", "1e-40"]))
def test_brackets_of_such_chains(chain: LMC, alpha: fmpq, precision: str) -> None:
    answer = certified(chain, alpha, precision=precision)
    d = exact_distance(chain, alpha)
    for pair in answer.pairs:
        assert pair.lower <= d[chain.index(pair.source)][chain.index(pair.target)] <= pair.upper
        assert pair.upper - pair.lower <= fmpq(1, 100)


@settings(max_examples=20)
@given(lmcs(5), st.sampled_from(HUGE_ALPHAS))
def test_alpha_that_fits_no_machine_word(chain: LMC, alpha: fmpq) -> None:
    assert is_fixed_point(chain, alpha, exact_distance(chain, alpha))


@pytest.mark.parametrize("precision", [None, "1/100"])
@pytest.mark.parametrize("alpha", ["1", "3/2"])
def test_amounts_that_differ_by_twenty_digits(alpha: str, precision: str | None) -> None:
    large, half = 10**20, 5 * 10**19
    chain = weighted(
        {"s0": "a", "s1": "a", "s2": "a"},
        {"s0": {"s1": 1, "s2": large}, "s1": {"s0": 1, "s1": half}, "s2": {"s1": 1, "s2": large}},
    )
    certified(chain, alpha, precision=precision)


@pytest.mark.parametrize("precision", [None, "1/100"])
def test_amounts_whose_rounding_changes_the_optimal_basis(precision: str | None) -> None:
    large = 10**20
    chain = weighted(
        {"s0": "b", "s1": "a", "s2": "b", "s3": "a"},
        {
            "s0": {"s0": 3 * large, "s1": 1, "s3": 2},
            "s1": {"s1": large, "s2": large, "s3": 1},
            "s2": {"s0": large, "s1": 1, "s3": large},
            "s3": {"s0": 2, "s2": 3 * large, "s3": 3 * large},
        },
    )
    certified(chain, 2, precision=precision)


@pytest.mark.parametrize("precision", [None, "1/100"])
def test_rounded_amounts_beside_near_ties(precision: str | None) -> None:
    """Costs that tie to within a double must not send the exact bases to and fro."""
    chain = weighted(
        dict(zip(("s0", "s1", "s2", "s3", "s4", "s5"), "aaabaa", strict=True)),
        {
            "s0": {"s2": 1, "s5": 5 * 10**39},
            "s1": {"s2": 289, "s4": 5 * 10**59},
            "s2": {"s1": 10**20, "s2": 3093, "s3": 700, "s4": 44, "s5": 3},
            "s3": {"s1": 1},
            "s4": {"s3": 1},
            "s5": {"s1": 29460, "s2": 3, "s3": 10**40, "s4": 10**60, "s5": 2**64 + 1},
        },
    )
    answer = certified(chain, fmpq(2**64 + 1, 2**63), precision=precision)
    assert answer.status in {Status.EXACT, Status.BRACKET}, answer.method


@pytest.mark.parametrize("alpha", ["1", "11/10"])
def test_self_loops_that_doubles_take_for_certain(alpha: str) -> None:
    chain = weighted(
        {"s0": "a", "s1": "b", "s2": "b", "s3": "a"},
        {
            "s0": {"s0": 10**60, "s1": 10**20, "s2": 2**64 + 1, "s3": 4260296},
            "s1": {"s0": 3, "s1": 10**40, "s2": 15014, "s3": 10**60},
            "s2": {"s1": 1355989, "s2": 1476},
            "s3": {"s3": 1},
        },
    )
    assert is_fixed_point(chain, to_fmpq(alpha), exact_distance(chain, alpha))


@pytest.mark.parametrize("alpha", [1 + fmpq(1, 10**30), fmpq(LONG + 1, LONG - 1), fmpq(3, 2)])
def test_a_self_loop_closer_to_1_than_alpha(alpha: fmpq) -> None:
    """A guess that keeps its mass nearly for ever is where exact work begins, not where it ends."""
    chain = weighted(
        dict(zip([f"s{index}" for index in range(9)], "abaaababb", strict=True)),
        {
            "s0": {"s4": 1, "s6": 1},
            "s1": {"s3": 3, "s8": 1},
            "s2": {"s2": 15 * 10**34, "s8": 1},
            "s3": {"s4": 1, "s5": 10**5},
            "s4": {"s2": 2, "s4": 3},
            "s5": {"s1": 3 * 2**64 + 1, "s2": 2**65 - 1},
            "s6": {"s6": 2**65 - 1, "s7": 2**64 - 1},
            "s7": {"s0": 15 * 10**19, "s5": 1},
            "s8": {"s5": 3, "s7": 1},
        },
    )
    assert is_fixed_point(chain, alpha, exact_distance(chain, alpha))


@pytest.mark.parametrize("digits", [100, 300, 400, 2000])
@pytest.mark.parametrize("alpha", ["1", "3/2"])
def test_a_label_that_is_hardly_ever_seen(digits: int, alpha: str) -> None:
    """Masses beyond the range of doubles."""
    tiny = fmpq(1, 10**digits)
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "x": "b", "y": "b", "u": "c", "v": "c", "o": "d"},
        {
            "s": {"x": 1 - tiny, "u": tiny},
            "t": {"y": 1 - 2 * tiny, "v": 2 * tiny},
            "x": {"s": "1/2", "o": "1/2"},
            "y": {"t": "1/2", "o": "1/2"},
            "u": {"s": "1/2", "u": "1/2"},
            "v": {"t": "1/3", "o": "2/3"},
            "o": {"o": 1},
        },
    )
    d = exact_distance(chain, alpha)
    assert d[0][1] > 0
    certified(chain, alpha, precision="1e-9")


def test_distances_below_the_smallest_double() -> None:
    tiny = fmpq(1, 10**400)
    chain = make_chain(
        "aabc",
        [[(2, 1 - tiny), (3, tiny)], [(2, 1 - 2 * tiny), (3, 2 * tiny)], [(2, 1)], [(3, 1)]],
    )
    assert exact_distance(chain, 1)[0][1] == tiny
    assert exact_distance(chain, "3/2")[0][1] == tiny / 2
    assert exact_distance(chain, 2)[0][1] == 0


@pytest.mark.parametrize("sign", [-1, 1])
def test_costs_that_differ_by_a_last_place(sign: int) -> None:
    """Two ways to move the mass, the costs of which differ by 2^-60: no double sees which is cheaper."""
    ulp = fmpq(sign, 2**60)
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "i": "b", "j": "b", "k": "b", "l": "b", "x": "c", "y": "d"},
        {
            "s": {"i": "1/2", "j": "1/2"},
            "t": {"k": "1/2", "l": "1/2"},
            "i": {"x": 1},
            "j": {"x": fmpq(1, 2) + ulp, "y": fmpq(1, 2) - ulp},
            "k": {"x": fmpq(1, 3), "y": fmpq(2, 3)},
            "l": {"y": 1},
            "x": {"x": 1},
            "y": {"y": 1},
        },
    )
    for alpha in (fmpq(1), 1 + fmpq(1, 2**60), fmpq(3, 2)):
        assert is_fixed_point(chain, alpha, exact_distance(chain, alpha))
    d = exact_distance(chain, 1)
    pairings = [(d[2][4] + d[3][5]) / 2, (d[2][5] + d[3][4]) / 2]
    assert d[0][1] == min(pairings)


def test_one_tenth_is_exactly_that() -> None:
    text = (
        "kind: lmc\nstates: {s: a, t: a, x: b, y: c}\n"
        "transitions: {s: {x: 0.1, y: 0.9}, t: {x: 0.3, y: 0.7}, x: {x: 1}, y: {y: 1}}\n"
    )
    chain = parse_model(text, format="yaml")
    assert isinstance(chain, LMC)
    assert exact_distance(chain, 1)[0][1] == fmpq(1, 5)
    assert exact_distance(chain, "1.1")[0][1] == fmpq(19, 100)
    with pytest.raises(NumberTypeError, match="float"):
        bound(chain, 1.1, pairs=[("s", "t")])
    with pytest.raises(NumberTypeError, match="float"):
        bound(chain, 1, pairs=[("s", "t")], precision=1e-9)


def test_a_row_of_99_percent_is_refused_by_name() -> None:
    text = (
        "kind: lmc\nstates: {s: a, leaking: a}\ntransitions: {s: {s: 1}, leaking: {leaking: 0.5, s: 0.49}}\n"
    )
    with pytest.raises(ModelError, match=r"leaking.*99/100.*expected 1"):
        parse_model(text, format="yaml")


@pytest.mark.parametrize("alpha", ["99/100", "0", "-1"])
def test_alpha_below_1_is_refused(alpha: str) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        bound(figure1(), alpha)


def test_every_kind_of_exact_number_says_the_same() -> None:
    answers = [bound(figure1(), alpha) for alpha in ("11/10", "1.1", "11e-1", Fraction(11, 10), fmpq(11, 10))]
    assert all(answer == answers[0] for answer in answers)
    assert str(answers[0].pairs[0].upper) == "4/25"


@pytest.mark.parametrize("epsilon", ["0", "1/10", "2/5", "1"])
def test_epsilon_is_rounded_so_that_the_bound_stays_one(epsilon: str) -> None:
    """alpha_below <= e^epsilon <= alpha_above, so delta at epsilon is at most bd at alpha_below."""
    below, above = alpha_below(epsilon), alpha_above(epsilon)
    assert below <= above <= below + fmpq(1, 10**6)
    (pair,) = certified(figure1(), below).pairs[:1]
    assert pair.upper >= true_delta(figure1(), 0, 1, below, 2) >= true_delta(figure1(), 0, 1, above, 2)
    if epsilon == "2/5":  # e^0.4 < 3/2: something is seen, and rounding up would have hidden some of it
        assert pair.upper >= fmpq(3, 5) - above * fmpq(2, 5) > 0


# ----- thresholds -----

TIES = {
    "without cycles": (figure1(), "11/10", ("s0", "s1"), fmpq(4, 25)),
    "cyclic": (leaky_retry("1/2", "51/100"), "1", ("secret0", "secret1"), fmpq(1, 51)),
    "zero": (figure1(), "3/2", ("s0", "s1"), fmpq(0)),
    "one": (figure1(), "3/2", ("s0", "s2"), fmpq(1)),
    "the same state": (figure1(), "3/2", ("s0", "s0"), fmpq(0)),
}


@pytest.mark.parametrize(("chain", "alpha", "pair", "distance"), TIES.values(), ids=TIES.keys())
def test_a_threshold_at_a_tie(chain: LMC, alpha: str, pair: tuple[str, str], distance: fmpq) -> None:
    tie = bd_threshold(chain, alpha, *pair, distance)
    assert tie.holds is True
    check_answer(tie)
    if distance > 0:
        missed = bd_threshold(chain, alpha, *pair, distance - ULP)
        assert missed.holds is False
        check_answer(missed)
    if distance < 1:
        met = bd_threshold(chain, alpha, *pair, distance + ULP)
        assert met.holds is True
        check_answer(met)


@settings(max_examples=20)
@given(lmcs(5), alphas(), st.fractions(0, 1, max_denominator=12))
def test_a_threshold_agrees_with_the_distance(chain: LMC, alpha: fmpq, theta: Fraction) -> None:
    d = exact_distance(chain, alpha)
    for source, target in all_pairs(chain)[:4]:
        answer = bd_threshold(chain, alpha, source, target, theta)
        distance = d[chain.index(source)][chain.index(target)]
        assert answer.holds is bool(distance <= fmpq(theta.numerator, theta.denominator))
        assert answer.status in {Status.EXACT, Status.BRACKET}
        check_answer(answer)


@pytest.mark.parametrize("theta", ["-1/10", "11/10", "1e400"])
def test_a_threshold_outside_of_0_to_1_is_refused(theta: str) -> None:
    with pytest.raises(UsageError, match=r"\[0, 1\]"):
        bd_threshold(figure1(), 1, "s0", "s1", theta)
