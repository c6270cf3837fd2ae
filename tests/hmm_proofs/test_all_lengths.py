from __future__ import annotations

import json

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.budgets.engine.cone import find_cone, worst_ratio
from bisimdist.budgets.engine.multiplicative import find_factors
from bisimdist.budgets.prove.ask import for_all_lengths
from bisimdist.budgets.verify.answer import Verdict
from bisimdist.checker import check_certificate
from bisimdist.errors import UsageError
from bisimdist.linear.simplex import nonnegative_combination
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import contagious_disease, geometric, independent_disease
from bisimdist.models.mechanisms import above_threshold
from bisimdist.progress import Deadline
from bisimdist.traces.engine.forward import word_probability
from bisimdist.traces.engine.numeric import NumericModel
from bisimdist.traces.engine.refutation import Impossible, Pump, find_pump
from tests.hmm_proofs.random_models import random_hmm, worst_by_enumeration

PAIR = ("pi", "tau")


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0.0, 0.3]))
def test_what_is_proved_for_all_lengths_holds_for_short_ones(seed: int, states: int, zero: float) -> None:
    model = random_hmm(seed, states, zero=zero, end=0.2)
    numeric = NumericModel.of(model, PAIR)
    worst = worst_by_enumeration(model, 4)
    cone, factors = find_cone(numeric), find_factors(numeric)
    if cone is not None:
        ratio, _ = worst_ratio(numeric, cone.generators)
        assert ratio is None or (worst is not None and worst <= ratio)
        for generator, word in zip(cone.generators, cone.words, strict=True):
            if word is not None:
                function = numeric.of_word(word)
                assert tuple(v * sum(function, fmpq(0)) for v in generator) == function
    if factors is not None:
        assert worst is not None
        assert worst <= factors.ratio


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.5]))
def test_a_pump_grows_as_it_says(seed: int, zero: float) -> None:
    model = random_hmm(seed, 4, 2, zero=zero)
    numeric = NumericModel.of(model, PAIR)
    found = find_pump(numeric)
    if isinstance(found, Impossible):
        names = PAIR[::-1] if found.swapped else PAIR
        assert word_probability(model, names[0], found.word) > 0
        assert word_probability(model, names[1], found.word) == 0
    elif isinstance(found, Pump):
        fast, slow = PAIR[::-1] if found.swapped else PAIR
        ratios = []
        for rounds in (0, 20, 40):
            word = found.prefix + found.cycle * rounds + found.suffix
            ratios.append(word_probability(model, fast, word) / word_probability(model, slow, word))
        assert ratios[2] > ratios[1] > 0
        tail = _tail(numeric, found.suffix)
        above = sum((found.above.get(s, fmpq(0)) * tail[s] for s in found.counting), fmpq(0))
        below = sum((v * tail[s] for s, v in found.below.items()), fmpq(0))
        assert below > 0
        assert ratios[1] >= below / above * (found.fast / found.slow) ** 20


def _tail(numeric: NumericModel, suffix: tuple[int, ...]) -> list[fmpq]:
    if not suffix:
        return [fmpq(1)] * len(numeric)
    function = numeric.of_word(suffix)
    return [sum((p * function[t] for t, p in row), fmpq(0)) for row in numeric.rows]


def test_a_suffix_that_comes_some_rounds_after_what_grows() -> None:
    """What grows leads to y only through another state: a round of the cycle comes before the suffix."""
    rows: dict[str, dict[str, str | int]] = {
        "A": {"A": "1/2", "B": "1/4", "F": "1/4"},
        "B": {"D": 1},
        "C": {"C": "1/3", "B": "1/6", "E": "1/3", "F": "1/6"},
        "E": {"E": "1/2", "F": "1/2"},
        "D": {"D": 1},
        "F": {"F": 1},
    }
    seen: dict[str, dict[str, str | int]] = {name: {{"D": "y", "F": "z"}.get(name, "x"): 1} for name in rows}
    model = HMM.from_mappings(seen, rows, {"pi": {"A": 1}, "tau": {"C": 1}}, pairs=[PAIR])
    answer = for_all_lengths(model)
    assert answer.pairs[0].pump == (("x",), ("x",), ("x", "y"))
    assert check_certificate(json.dumps(answer.certificate())).valid


def test_above_threshold_has_no_budget() -> None:
    """Liu, Wang, Zhang: discrete Above Threshold has no privacy at all."""
    model = above_threshold()
    at_16 = for_all_lengths(model, 16)
    assert at_16.verdict is Verdict.VIOLATED
    assert at_16.pairs[0].method == "counterexample"
    one, two = at_16.pairs[0].probabilities or (fmpq(0), fmpq(0))
    assert max(one, two) > 16 * min(one, two) > 0
    answer = for_all_lengths(model)
    found = answer.pairs[0]
    assert (found.method, found.no_budget) == ("pump", True)
    assert found.growth == (fmpq(2, 21), fmpq(1, 21))
    assert found.pump is not None
    prefix, cycle, suffix = ([model.observation(name) for name in word] for word in found.pump)
    for rounds in (1, 10):
        word = tuple(prefix + cycle * rounds + suffix)
        first, second = (word_probability(model, name, word) for name in ("first", "second"))
        assert first == 2**rounds * second


def test_a_sequence_that_one_side_never_makes_refutes_every_budget() -> None:
    model = HMM.from_mappings(
        {"s": {"x": 1}, "t": {"x": "1/2", "y": "1/2"}},
        {"s": {"s": 1}, "t": {"t": 1}},
        {"pi": {"s": 1}, "tau": {"t": 1}},
        pairs=[("pi", "tau")],
    )
    found = for_all_lengths(model, 100).pairs[0]
    assert (found.method, found.counterexample) == ("impossible", ("y",))


def test_exact_budgets_for_all_lengths() -> None:
    for pair in for_all_lengths(geometric()).pairs:
        assert (pair.method, pair.proved, pair.exact) == ("cone", 2, True)
    found = for_all_lengths(contagious_disease("9/10"), 4).pairs[0]
    assert (found.verdict, found.proved, found.exact) == (Verdict.HOLDS, fmpq(38, 11), True)
    assert for_all_lengths(contagious_disease(), 2).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("method", ["cone", "factors", "coupling"])
def test_each_invariant_proves_the_geometric_mechanism(method: str) -> None:
    answer = for_all_lengths(geometric(), 2, pairs=[("0", "1")], method=method)
    assert answer.pairs[0].method == method


def test_a_mixing_chain_has_a_budget_that_no_sequence_attains() -> None:
    model = HMM.from_mappings(
        {"s": {"x": "2/3", "y": "1/3"}, "t": {"x": "1/3", "y": "2/3"}},
        {"s": {"s": "3/4", "t": "1/4"}, "t": {"s": "1/4", "t": "3/4"}},
        {"pi": {"s": 1}, "tau": {"t": 1}},
        pairs=[("pi", "tau")],
    )
    found = for_all_lengths(model).pairs[0]
    assert found.verdict is Verdict.HOLDS
    assert found.proved is not None
    worst = worst_by_enumeration(model, 5)
    assert worst is not None
    assert worst <= found.proved <= worst * fmpq(11, 10)


def test_questions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="parameters"):
        for_all_lengths(independent_disease())
    with pytest.raises(UsageError, match="at least 1"):
        for_all_lengths(geometric(), "1/2")
    with pytest.raises(UsageError, match="method"):
        for_all_lengths(geometric(), method="magic")
    with pytest.raises(UsageError, match="needs a ratio"):
        for_all_lengths(geometric(), method="coupling")
    with pytest.raises(UsageError, match="no pairs"):
        for_all_lengths(geometric(), pairs=[])


def test_a_limit_leaves_the_question_open() -> None:
    answer = for_all_lengths(above_threshold(), deadline=Deadline.after(0))
    assert answer.verdict is Verdict.UNKNOWN
    with pytest.raises(UsageError, match="nothing was decided"):
        answer.certificate()


numbers = st.integers(-3, 3).map(fmpq)


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=6), st.data())
def test_a_combination_is_found_where_there_is_one(columns: list[list[fmpq]], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(columns), max_size=len(columns)))
    pairs = list(zip(weights, columns, strict=True))
    target = [sum((w * c[k] for w, c in pairs), fmpq(0)) for k in range(3)]
    found = nonnegative_combination(columns, target)
    assert found is not None
    assert all(amount > 0 for amount in found.values())
    assert [sum((a * columns[n][k] for n, a in found.items()), fmpq(0)) for k in range(3)] == target


def test_an_impossible_combination_is_none() -> None:
    one = fmpq(1)
    assert nonnegative_combination([[one, one]], [one, fmpq(2)]) is None
