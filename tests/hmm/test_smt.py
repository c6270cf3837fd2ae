"""Z3 against the exact engine, and the traps of solvers."""

from __future__ import annotations

import pytest
import z3
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.budgets.engine.smt import VARIANTS, SmtAnswer, decide_by_smt, rational_near
from bisimdist.budgets.verify.answer import Verdict
from bisimdist.budgets.verify.ask import verify
from bisimdist.errors import LimitError, ModelError, UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import (
    contagious_disease,
    geometric,
    independent_disease,
    noisy_max_diseases,
    noisy_max_neighbours,
)
from bisimdist.models.mechanisms import above_threshold
from bisimdist.progress import Deadline
from bisimdist.traces.engine.forward import probability
from bisimdist.traces.engine.integers import IntegerModel
from bisimdist.traces.engine.search import Violation, decide_ratio, possible_word
from tests.strategies import hmms

PAIR = ("pi", "tau")


@pytest.mark.parametrize("variant", VARIANTS)
@given(model=hmms(), length=st.integers(1, 3), ratio=st.sampled_from([fmpq(1), fmpq(3, 2), fmpq(3)]))
@settings(max_examples=20)
def test_the_solver_agrees_with_the_exact_engine(variant: str, model: HMM, length: int, ratio: fmpq) -> None:
    resolved = IntegerModel.from_model(model, length)
    if possible_word(resolved, [resolved.start(model.distribution(name)) for name in PAIR]) is None:
        return
    exact = decide_ratio(model, PAIR, ratio, length)
    answer = decide_by_smt(model, PAIR, ratio, length, variant=variant)
    assert answer.holds is (not isinstance(exact, Violation))
    if answer.holds is False:
        assert answer.pair is not None
        assert answer.probabilities is not None
        found = tuple(probability(model, model.distribution(name), answer.word) for name in answer.pair)
        assert found == answer.probabilities
        assert answer.probabilities[0] > ratio * answer.probabilities[1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_published_verdicts(variant: str) -> None:
    model = geometric()
    assert decide_by_smt(model, ("0", "1"), fmpq(2), 1, variant=variant).holds
    model = contagious_disease()
    assert decide_by_smt(model, model.pairs[0], fmpq(2), 1, variant=variant).holds is False
    assert decide_by_smt(model, model.pairs[0], fmpq(4), 1, variant=variant).holds
    model = independent_disease()
    assert decide_by_smt(model, model.pairs[0], fmpq(2), 1, variant=variant).holds
    model = noisy_max_diseases(prior="contagious")
    found = decide_by_smt(model, model.pairs[0], fmpq(2), 1, variant=variant)
    assert found.holds is False
    assert set(found.parameters) == {"pA", "pB", "pC"}
    assert all(0 < value < 1 for value in found.parameters.values())
    model = above_threshold()
    assert decide_by_smt(model, model.pairs[0], fmpq(4), 5, variant=variant).holds
    assert decide_by_smt(model, model.pairs[0], fmpq(3), 5, variant=variant).holds is False


def parametric(pi: str, rest: str, *, low: str = "0", high: str = "1") -> HMM:
    return HMM.from_mappings(
        {"s": {"x": "3/4", "y": "1/4"}, "t": {"x": "1/4", "y": "3/4"}},
        {},
        {"pi": {"s": pi, "t": rest}, "tau": {"s": "1/2", "t": "1/2"}},
        pairs=[PAIR],
        parameters={"p": (low, high)},
    )


def test_trap_a_distribution_that_is_zero_is_refused_and_not_vacuously_accepted() -> None:
    for row in ({}, {"s": "0"}, {"s": "1/2"}, {"s": "p"}):
        with pytest.raises(ModelError, match="the probabilities sum to"):
            HMM.from_mappings({"s": {"x": 1}}, {}, {"pi": row, "tau": {"s": 1}}, parameters={"p": (0, 1)})
    model = HMM.from_mappings({"s": {"x": 1}}, {}, {"pi": {"s": 1}, "tau": {"s": 1}}, pairs=[PAIR])
    with pytest.raises(UsageError, match="mean nothing"):
        verify(model, 2, length=2, engine="smt")


def test_trap_no_model_divides_by_zero() -> None:
    """With division in the query, Z3 may choose p = 1 and any value for x / 0."""
    model = parametric("p/(1+p)", "1/(1+p)")
    for variant in VARIANTS:
        assert decide_by_smt(model, PAIR, fmpq(2), 1, variant=variant).holds
    with pytest.raises(ModelError, match="denominator"):
        parametric("(1-p)/(2*p-1)", "(3*p-2)/(2*p-1)")


def test_trap_an_algebraic_value_is_replaced_by_a_rational_one_that_still_violates() -> None:
    x = z3.Real("x")
    solver = z3.Solver()
    solver.add(x * x == 2, x > 0)
    assert solver.check() == z3.sat
    value = solver.model()[x]
    assert z3.is_algebraic_value(value)
    near = rational_near(value, 20)
    assert isinstance(near, fmpq)
    assert abs(near * near - 2) < fmpq(1, 10**15)
    # the violating values of p form a tiny interval around the square root of one half
    model = parametric("1-(2*p^2-1)^2", "(2*p^2-1)^2")
    ratio = fmpq(3, 2) - fmpq(1, 10**9)
    for variant in VARIANTS:
        found = decide_by_smt(model, PAIR, ratio, 1, variant=variant)
        assert found.holds is False
        assert found.probabilities is not None
        assert found.probabilities[0] > ratio * found.probabilities[1]
        assert 0 < found.parameters["p"] < 1


def test_trap_the_boundary_of_the_open_box_does_not_count() -> None:
    """At p = 1 the ratio is 2; inside the box it only comes close."""
    model = parametric("p", "1-p", low="1/2")
    assert verify(model, "2", length=1).verdict is Verdict.HOLDS
    found = verify(model, "1999999/1000000", length=1)
    assert found.verdict is Verdict.VIOLATED
    assert fmpq(1, 2) < found.pairs[0].parameters["p"] < 1


def test_trap_multilinear_conditions_are_decided_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object, **options: object) -> SmtAnswer:
        raise AssertionError

    monkeypatch.setattr("bisimdist.budgets.engine.smt.decide_by_smt", never)
    monkeypatch.setattr("bisimdist.budgets.engine.parametric.refute_negative", never)
    for model, ratio in ((independent_disease(), 2), (parametric("p", "1-p"), "2")):
        found = verify(model, ratio, length=1)
        assert found.verdict is Verdict.HOLDS
        assert found.pairs[0].ways == ("bernstein",)


def test_trap_an_unconfirmed_unsatisfiable_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def one(*arguments: object, variant: str, **options: object) -> SmtAnswer:
        return SmtAnswer(
            holds=True if variant == "chosen" else None, nonlinear=True, queries=1, reason="gave up"
        )

    monkeypatch.setattr("bisimdist.budgets.engine.smt.decide_by_smt", one)
    found = verify(independent_disease(), 2, length=1, engine="smt").pairs[0]
    assert found.verdict is Verdict.HOLDS
    assert found.ways == ("z3 chosen",)
    assert "one way alone" in found.note


def test_trap_engines_that_disagree_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: object, **options: object) -> SmtAnswer:
        return SmtAnswer(holds=True, nonlinear=False, queries=1)

    monkeypatch.setattr("bisimdist.budgets.engine.smt.decide_by_smt", wrong)
    with pytest.raises(LimitError, match="the engines disagree"):
        verify(contagious_disease(), 2, length=1, engine="both")


def test_trap_a_violation_that_does_not_survive_the_exact_check_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(*arguments: object, **options: object) -> SmtAnswer:
        return SmtAnswer(holds=False, nonlinear=False, queries=1, pair=("0", "1"), word=(0,))

    monkeypatch.setattr("bisimdist.budgets.engine.smt.decide_by_smt", wrong)
    found = verify(geometric(), 2, length=1, pairs=[("0", "1")], engine="smt").pairs[0]
    assert found.verdict is Verdict.UNKNOWN
    assert "did not survive" in found.note


def test_trap_a_theorem_about_untruncated_noise_says_nothing_about_truncated_noise() -> None:
    """Noisy Max with noise of ratio 2 respects 4 by the textbook; truncated noise and ties break it."""
    model = noisy_max_neighbours("naive", 3)
    found = verify(model, 4, length=1, pairs=[("1,1,1", "2,2,0")]).pairs[0]
    assert found.verdict is Verdict.VIOLATED
    assert found.probabilities is not None
    assert max(found.probabilities) == 8 * min(found.probabilities)


@given(
    numbers=st.lists(st.integers(0, 4), min_size=6, max_size=6),
    length=st.integers(1, 2),
    ratio=st.sampled_from(["1", "3/2", "2", "4"]),
)
@settings(max_examples=25, deadline=None)
def test_both_ways_agree_on_random_models_with_a_parameter(
    numbers: list[int], length: int, ratio: str
) -> None:
    a, b, c, d, e, f = numbers
    model = HMM.from_mappings(
        {"s": {"x": f"({a}+{b}*p)/8", "y": f"1-({a}+{b}*p)/8"}, "t": {"x": "1/3", "y": "2/3"}},
        {"s": {"s": f"({c}+p^2)/5", "t": f"1-({c}+p^2)/5"}, "t": {"t": 1}},
        {"pi": {"s": f"{d}/8+p*{e}/8", "t": f"1-({d}/8+p*{e}/8)"}, "tau": {"s": f"{f}/4", "t": f"1-{f}/4"}},
        pairs=[PAIR],
        parameters={"p": (0, 1)},
    )
    found = verify(model, ratio, length=length, engine="both", deadline=Deadline.after(20)).pairs[0]
    assert found.verdict is not Verdict.UNKNOWN
    if found.verdict is Verdict.HOLDS:
        assert found.ways[0] == "bernstein"


def test_limits_make_an_unknown() -> None:
    model = above_threshold()
    found = decide_by_smt(model, model.pairs[0], fmpq(16), 10, deadline=Deadline.after(0))
    assert found.holds is None
    assert "time limit" in found.reason


def test_senseless_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="length is 0"):
        decide_by_smt(geometric(), ("0", "1"), fmpq(2), 0)
    with pytest.raises(UsageError, match="variant='all'"):
        decide_by_smt(geometric(), ("0", "1"), fmpq(2), 1, variant="all")
