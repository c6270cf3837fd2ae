"""The true delta against published values, closed forms, brute force, and its own certificates."""

from __future__ import annotations

import json
from math import comb

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.errors import Interruption, UsageError
from bisimdist.exact.logarithm import alpha_below
from bisimdist.exact.rational import to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC, Row
from bisimdist.privacy.delta import ask
from bisimdist.privacy.delta import work as facade
from bisimdist.privacy.delta.answer import DeltaAnswer
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.delta.work import DEFAULT_GAP
from bisimdist.privacy.engine import leaf_distances
from bisimdist.privacy.engine.domination import find_ratios
from bisimdist.progress import Deadline
from tests.reference.traces import trace_distribution, true_delta
from tests.strategies import alphas, lmcs

FEW = settings(max_examples=30)


def rational(text: str) -> fmpq:
    numerator, _, denominator = text.partition("/")
    return fmpq(int(numerator), int(denominator or 1))


def names(chain: LMC) -> list[tuple[str, str]]:
    return [(chain.states[0], chain.states[1])]


def assert_proved(answer: DeltaAnswer) -> None:
    """Assert that the certificate convinces the checker and that the events gain the lower bounds."""
    text = json.dumps(answer.certificate())
    report = check_certificate(text)
    assert report.valid, report.reason
    assert len(report.other_claims) == len(dict.fromkeys((pair.source, pair.target) for pair in answer.pairs))
    for pair in answer.pairs:
        found = pair.witness
        assert found.probability_from - answer.alpha_lower * found.probability_to >= pair.lower


@pytest.mark.parametrize(
    ("n", "value"), [(2, "7501/25000000"), (3, "17501/50000000"), (4, "62497499/125000000000")]
)
def test_rings_of_cryptographers(n: int, value: str) -> None:
    # n = 2: quoted as the true value in ATVA 2018, beside the bound 0.0004
    answer = delta(dining_cryptographers(n), "1.0002")
    (pair,) = answer.pairs
    assert (pair.lower, pair.upper, pair.exact) == (rational(value), rational(value), True)
    assert answer.status is Status.EXACT
    assert_proved(answer)


def test_a_larger_ring_closes_because_traces_merge() -> None:
    answer = delta(dining_cryptographers(16), "1.0002")
    assert answer.pairs[0].exact
    assert answer.statistics["nodes"] < 1000  # of 2^17 traces
    assert_proved(answer)


@pytest.mark.parametrize(("alpha", "value"), [("1", "1/5"), ("5/4", "1/10"), ("3/2", "0"), ("2", "0")])
def test_figure_1(alpha: str, value: str) -> None:
    answer = delta(figure1(), alpha)
    assert (answer.lower, answer.upper) == (rational(value), rational(value))


@pytest.mark.parametrize("alpha", ["1", "11/10", "2", "3", "8", "9", "10", "27", "28"])
@pytest.mark.parametrize(("k", "rounds"), [(2, 1), (3, 1), (2, 3), (3, 2)])
def test_randomised_response(alpha: str, k: int, rounds: int) -> None:
    skew, p = rational(alpha), fmpq(3, 4)
    q = (1 - p) / (k - 1)
    value = fmpq(0)
    for a in range(rounds + 1):
        for b in range(rounds - a + 1):
            c = rounds - a - b
            count = comb(rounds, a) * comb(rounds - a, b) * (k - 2) ** c
            value += count * q**c * max(p**a * q**b - skew * q**a * p**b, fmpq(0))
    answer = delta(randomised_response(k, "3/4", rounds), skew)
    assert (answer.lower, answer.upper) == (value, value)


@pytest.mark.parametrize("alpha", ["1", "101/100", "103/100", "2"])
def test_leaky_retry(alpha: str) -> None:
    # the sum of its documentation, far enough that the rest is less than 2^-100
    p, q, skew = fmpq(1, 2), fmpq(51, 100), rational(alpha)
    one = sum((max((1 - p) ** i * p - skew * (1 - q) ** i * q, fmpq(0)) for i in range(150)), fmpq(0))
    other = sum((max((1 - q) ** i * q - skew * (1 - p) ** i * p, fmpq(0)) for i in range(150)), fmpq(0))
    answer = delta(leaky_retry(), skew)
    pair = answer.pairs[0]
    assert pair.exact  # as soon as one secret is ahead by 51/50 it stays ahead
    assert max(one, other) <= pair.upper <= max(one, other) + fmpq(1, 2**100)
    assert answer.statistics["nodes"] < 50
    assert_proved(answer)


def test_a_cyclic_chain_stops_at_a_narrow_interval() -> None:
    answer = delta(random_lmc(6, 2, 2, 1), "11/10")
    assert answer.status in {Status.EXACT, Status.BRACKET}
    assert answer.upper - answer.lower <= DEFAULT_GAP


@FEW
@given(chain=lmcs(5, max_labels=2))
def test_ratios_bound_the_likelihood_of_every_trace(chain: LMC) -> None:
    merged, _ = quotient(chain)
    ratios = find_ratios(merged, set(range(len(merged))))
    assert ratios is not None
    traces = [trace_distribution(merged, state, 6) for state in range(len(merged))]
    for (i, j), ratio in ratios.items():
        for trace, mass in traces[i].items():
            assert mass <= ratio * traces[j].get(trace, fmpq(0))


@FEW
@given(chain=lmcs(7, cyclic=False), alpha=alphas())
def test_acyclic_chains_equal_brute_force(chain: LMC, alpha: fmpq) -> None:
    answer = delta(chain, alpha, pairs=names(chain))
    expected = true_delta(chain, 0, 1, alpha, len(chain) + 1)
    pair = answer.pairs[0]
    assert (pair.lower, pair.upper) == (expected, expected)
    assert answer.status is Status.EXACT
    assert_proved(answer)


@FEW
@given(chain=lmcs(6, cyclic=False), alpha=alphas())
def test_the_probabilities_of_the_event(chain: LMC, alpha: fmpq) -> None:
    found = delta(chain, alpha, pairs=names(chain)).pairs[0].witness
    for name, probability in (
        (found.source, found.probability_from),
        (found.target, found.probability_to),
    ):
        total = fmpq(0)
        for trace, mass in trace_distribution(chain, chain.index(name), len(chain) + 1).items():
            place = found.event.root
            for label in trace:
                if place >= 0:
                    place = found.event.nodes[place].get(label, -2)
            assert place < 0
            total += mass * (place == -1)
        assert total == probability


@FEW
@given(chain=lmcs(5), alpha=alphas(), distances=st.booleans())
def test_cyclic_chains(chain: LMC, alpha: fmpq, distances: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if distances:
            patch.setattr(facade, "WITHOUT_DISTANCES", 0)
        answer = delta(
            chain, alpha, pairs=names(chain), gap="1/1000", deadline=Deadline.after(1), distances=distances
        )
        pair = answer.pairs[0]
        assert 0 <= pair.lower <= pair.upper <= 1
        # what can be seen in a few steps is a lower bound, bd an upper one
        assert true_delta(chain, 0, 1, alpha, 7) <= pair.upper
        assert pair.lower <= bound(chain, alpha, pairs=names(chain)).pairs[0].upper
        assert_proved(answer)
        # antitone in alpha
        more = delta(chain, alpha + fmpq(1, 10), pairs=names(chain), gap="1/1000", deadline=Deadline.after(1))
        assert more.pairs[0].lower <= pair.upper


@settings(max_examples=15)
@given(chain=lmcs(6, min_states=4), alpha=alphas())
def test_intervals_shrink_with_work(chain: LMC, alpha: fmpq) -> None:
    before = (fmpq(0), fmpq(1))
    for gap in ("1/2", "1/10", "1/50"):
        answer = delta(chain, alpha, pairs=names(chain), gap=gap, deadline=Deadline.after(1))
        if answer.status is Status.LIMIT:
            break  # so far with less work, on a machine that is busy
        pair = answer.pairs[0]
        assert before[0] <= pair.lower <= pair.upper <= before[1]
        before = (pair.lower, pair.upper)


def test_finitely_many_information_states_of_a_cyclic_chain_close_exactly() -> None:
    chain = LMC.from_mappings(
        {"s": "wait", "t": "wait", "x": "x", "y": "y"},
        {
            "s": {"s": "1/2", "x": "3/10", "y": "1/5"},
            "t": {"t": "1/2", "x": "1/5", "y": "3/10"},
            "x": {"x": 1},
            "y": {"y": 1},
        },
    )
    for alpha, value in (("1", "1/5"), ("5/4", "1/10"), ("3/2", "0")):
        answer = delta(chain, alpha, pairs=[("s", "t")])
        pair = answer.pairs[0]
        assert (pair.lower, pair.upper) == (rational(value), rational(value))
        assert answer.status is Status.EXACT
        assert_proved(answer)
        if pair.lower > 0:
            assert pair.witness.event.traces() is None  # the event is a cyclic automaton
            assert pair.witness.probability_from == fmpq(3, 5)


@pytest.mark.parametrize("alpha", ["1", "11/10"])
def test_equal_traces_of_states_that_are_not_bisimilar(alpha: str) -> None:
    # nothing ever cancels and no leaf is reached: the value on the cycle is that of all continuations
    chain = LMC.from_mappings(
        {"s": "a", "p1": "b", "p2": "b", "c1": "c", "d1": "d", "t": "a", "q": "b", "c2": "c", "d2": "d"},
        {
            "s": {"p1": "1/2", "p2": "1/2"},
            "p1": {"c1": 1},
            "p2": {"d1": 1},
            "c1": {"s": 1},
            "d1": {"s": 1},
            "t": {"q": 1},
            "q": {"c2": "1/2", "d2": "1/2"},
            "c2": {"t": 1},
            "d2": {"t": 1},
        },
    )
    answer = delta(chain, alpha, pairs=[("s", "t")])
    assert (answer.lower, answer.upper, answer.status) == (0, 0, Status.EXACT)
    assert bound(chain, alpha, pairs=[("s", "t")]).pairs[0].upper > 0
    assert_proved(answer)


def test_total_variation_at_alpha_one_against_a_long_unrolling() -> None:
    chain = leaky_retry("1/3", "1/2")
    answer = delta(chain, 1, gap="1e-12")
    unrolled = true_delta(chain, 0, 1, fmpq(1), 60)
    assert answer.lower - fmpq(1, 10**6) <= unrolled <= answer.upper


def test_distances_cap_delta_where_runs_are_too_long_for_a_bracket() -> None:
    # 25 heads in a row, then a coin that is fair or not quite; some 2^26 steps
    half, length = fmpq(1, 2), 25
    states = [f"{copy}{k}" for copy in "st" for k in range(length)]
    rows: list[Row] = []
    for start, win in ((0, half), (length, fmpq(51, 100))):
        rows += [((start, half), (start + k, half)) for k in range(1, length)]
        rows.append(((2 * length, win), (2 * length + 1, 1 - win)))
    rows += [((2 * length + k, fmpq(1)),) for k in range(2)]
    labels = ["wait"] * (2 * length) + ["won", "lost"]
    chain = LMC((*states, "won", "lost"), tuple(labels), tuple(rows))
    answer = delta(chain, 1, pairs=[("s0", "t0")], threshold="1/100")
    assert answer.pairs[0].upper == fmpq(1, 100)
    assert_proved(answer)


@pytest.mark.parametrize("alpha", ["1", "11/10"])
def test_a_small_delta_has_digits(alpha: str) -> None:
    inner, rare = random_lmc(8, 3, labels=2, seed=1), fmpq(1, 10**12)
    starts = tuple(((k, rare), (8, 1 - rare)) for k in (0, 2))
    labels = (*inner.labels, "z", "s", "s")
    chain = LMC((*inner.states, "z", "s", "t"), labels, (*inner.rows, ((8, fmpq(1)),), *starts))
    answer = delta(chain, alpha, pairs=[("s", "t")], relative="1/100")
    assert 0 < answer.lower < answer.upper < rare
    assert answer.upper - answer.lower <= answer.upper / 100
    both = delta(chain, alpha, pairs=[("s", "t")], relative="1/100", gap="1/1000")
    assert both.upper - both.lower <= fmpq(1, 1000)
    with pytest.raises(UsageError, match="the relative gap is -1; expected at least 0"):
        delta(chain, alpha, relative=-1)


def test_memory_ends_the_work_where_nobody_says_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = random_lmc(8, 3, labels=2, seed=1)
    monkeypatch.setattr(ask, "DEFAULT_MEMORY", -1)
    answer = delta(chain, "11/10", gap="1e-12", pairs=[("s0", "s2")])
    assert answer.status is Status.LIMIT
    assert 0 <= answer.lower < answer.upper <= 1
    assert_proved(answer)


@FEW
@given(chain=lmcs(6), alpha=alphas())
def test_coarse_distances_of_many_pairs(chain: LMC, alpha: fmpq) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facade, "WITHOUT_DISTANCES", 0)
        patch.setattr(leaf_distances, "FINE_PAIRS", 0)
        answer = delta(chain, alpha, pairs=names(chain), gap="1/1000", deadline=Deadline.after(2))
    pair = answer.pairs[0]
    assert true_delta(chain, 0, 1, alpha, 7) <= pair.upper
    if alpha == 1:
        assert pair.upper <= bound(chain, alpha, pairs=names(chain)).pairs[0].upper + fmpq(1, 1000)
    assert_proved(answer)


def test_epsilon_is_rounded_on_both_sides() -> None:
    answer = delta(randomised_response(), epsilon="1/10")
    assert answer.alpha_upper < answer.alpha_lower
    for alpha, value in ((answer.alpha_upper, answer.upper), (answer.alpha_lower, answer.lower)):
        assert value == fmpq(3, 4) - alpha * fmpq(1, 4)
    assert answer.upper - answer.lower < fmpq(1, 10**10)
    assert_proved(answer)


@pytest.mark.parametrize("gap", ["1e-12", "1e-30", "1e-100"])
def test_epsilon_is_rounded_as_finely_as_the_gap_needs(gap: str) -> None:
    for chain in (randomised_response(), leaky_retry()):
        answer = delta(chain, epsilon="1/10", gap=gap)
        assert answer.status is Status.BRACKET
        assert 0 < answer.upper - answer.lower <= to_fmpq(gap)
        assert_proved(answer)


@pytest.mark.parametrize("more", [0, 1])
def test_a_threshold_is_decided_however_little_is_missing(more: int) -> None:
    """e * 10^20 lies between two integers: a ratio below it is private, and one above it is not."""
    below = 271828182845904523536
    quiet = 1 + fmpq(below + more, 10**20)
    yes, no = fmpq(below + more, 10**20) / quiet, 1 / quiet
    chain = LMC.from_mappings(
        {"s": "?", "t": "?", "yes": "1", "no": "0"},
        {"s": {"yes": yes, "no": no}, "t": {"yes": no, "no": yes}, "yes": {"yes": 1}, "no": {"no": 1}},
    )
    answer = delta(chain, epsilon=1, pairs=[("s", "t")], threshold=0)
    assert (answer.lower > 0, answer.upper > 0) == (bool(more), bool(more))
    assert_proved(answer)


def test_bounds_at_epsilon_say_why_they_do_not_meet() -> None:
    (said,) = (
        line for line in delta(randomised_response(), epsilon="1/10").report().remarks if "cannot" in line
    )
    alpha = said.partition("--alpha ")[2].partition(",")[0]
    assert delta(randomised_response(), alpha).pairs[0].exact
    assert fmpq(11, 10) < to_fmpq(alpha) < alpha_below("1/10")
    assert "cannot" not in "".join(delta(randomised_response(), alpha).report().remarks)


def test_trivial_pairs() -> None:
    chain = LMC.from_mappings({"s": "a", "t": "a", "u": "b"}, {"s": {"s": 1}, "t": {"t": 1}, "u": {"u": 1}})
    answer = delta(chain, "11/10", pairs=[("s", "s"), ("s", "t"), ("s", "u"), ("u", "s")])
    assert [(int(pair.lower.p), pair.exact) for pair in answer.pairs] == [
        (0, True),
        (0, True),
        (1, True),
        (1, True),
    ]
    assert_proved(answer)


def test_the_worst_pair_is_named() -> None:
    chain = dining_cryptographers(5, pairs="all")
    answer = delta(chain, "1.0002")
    assert len(answer.pairs) == 10
    assert answer.upper == max(pair.upper for pair in answer.pairs)
    alone = delta(chain, "1.0002", worst=True)
    assert (alone.lower, alone.upper) == (answer.lower, answer.upper)
    assert alone.statistics["expanded"] <= answer.statistics["expanded"]


def test_limits_leave_certified_bounds() -> None:
    chain = dining_cryptographers(24)
    answer = delta(chain, "1.0002", deadline=Deadline.after(0))
    assert answer.status is Status.LIMIT
    assert answer.lower <= answer.upper
    assert_proved(answer)
    small = delta(chain, "1.0002", memory=1)
    assert small.status is Status.LIMIT
    assert small.lower <= small.upper


def test_an_interrupt_leaves_certified_bounds() -> None:
    def interrupt(stage: str, done: int, total: int | None) -> None:
        if stage.startswith("delta") and done:
            raise Interruption("interrupted")

    answer = delta(dining_cryptographers(30), "1.0002", progress=interrupt)
    assert answer.status is Status.LIMIT
    assert 0 < answer.upper < 1
    assert_proved(answer)


@pytest.mark.parametrize(
    "arguments", [{}, {"alpha": 2, "epsilon": 1}, {"alpha": "1/2"}, {"alpha": 1, "gap": -1}]
)
def test_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        delta(figure1(), **arguments)  # type: ignore[arg-type]


def test_a_page_for_notebooks() -> None:
    assert "payer0" in delta(dining_cryptographers(2), 1)._repr_html_()


def test_the_checker_reads_the_certificate() -> None:
    report = check_certificate(json.dumps(delta(figure1(), 1).certificate()))
    assert report.valid
    assert report.kind == "delta"
