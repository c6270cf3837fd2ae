"""The questions of `bisimdist.logic.formula.ask` as a user asks them."""

from __future__ import annotations

import json

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.errors import Interruption, LimitError, ModelError, UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.explanation.ask import distinguishing_formula, explain
from bisimdist.logic.formula.ask import formula_distance, logical_distance, mimicking_formula
from bisimdist.logic.satisfaction.ask import satisfies, satisfying
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.pa import PA, Transition, chain_as_automaton
from bisimdist.progress import Deadline
from tests.logic.formula_reference import holds, k_step_classes
from tests.logic.test_mimicking import figure_2
from tests.strategies import automata

ONE, HALF = fmpq(1), fmpq(1, 2)


def test_mimicking_for_ever_says_whether_it_is_recursive() -> None:
    finite = mimicking_formula(figure_2(), "s")
    assert not finite.recursive
    assert finite.text() == "let\n  x1 = !<a>T & !<b>T\nin <a>(1/2 x1 + 1/2 (<b>x1 & !<a>T)) & !<b>T"
    recursive = mimicking_formula(pin_checking(), "s1")
    assert recursive.recursive
    assert isinstance(recursive.formula, EquationSystem)
    assert recursive.size > 10
    assert "⟨a1⟩" in recursive._repr_html_()
    assert "<pre>" in mimicking_formula(figure1(), "s0", 2)._repr_html_()


def test_every_state_satisfies_its_own_formula_for_ever() -> None:
    for model in (pin_checking(), chain_as_automaton(figure1()), figure_2()):
        for state in model.states:
            answer = mimicking_formula(model, state)
            assert satisfies(model, state, answer.formula)
            assert satisfies(model, state, answer.text())


def test_witnesses_of_answers() -> None:
    answer = satisfying(figure_2(), "<a>(1/2 <b>T + 1/2 T)")
    assert answer.states == ("s", "t")
    found = answer.witness("s")
    assert found is not None
    assert [dict(masses) for _, _, masses in found.parts] == [{2: HALF}, {3: HALF}]
    assert answer.witness("end") is None
    assert "<p>s, t</p>" in answer._repr_html_()
    with pytest.raises(UsageError, match="is recursive"):
        satisfying(figure_2(), "rec X = <a>X in X").witness("s")
    with pytest.raises(ModelError, match="state 'x'"):
        answer.holds("x")
    with pytest.raises(ModelError, match="column 4"):
        satisfying(figure_2(), "<a>&")


@settings(max_examples=30, deadline=None)
@given(automata())
def test_explanations_are_true(automaton: PA) -> None:
    pairs = [(s, t) for s in automaton.states for t in automaton.states]
    answer = explain(automaton, pairs)
    assert answer.status is Status.EXACT
    last = k_step_classes(automaton, len(automaton))
    for pair in answer.pairs:
        s, t = automaton.index(pair.source), automaton.index(pair.target)
        assert pair.bisimilar == (last[s] == last[t])
        if pair.bisimilar:
            assert pair.formula is None
            assert pair.explanation.endswith("are bisimilar.")
            continue
        assert pair.formula is not None
        assert pair.depth is not None
        assert holds(automaton, s, pair.formula)
        assert not holds(automaton, t, pair.formula)
        before, after = (k_step_classes(automaton, pair.depth - k) for k in (1, 0))
        assert before[s] == before[t]
        assert after[s] != after[t]
        assert pair.irreducible


def test_a_difference_without_a_trace() -> None:
    """Two states with the same traces: first choose, then act, or the other way round."""
    steps = (
        Transition(0, "a", ((2, HALF), (3, HALF))),
        Transition(1, "a", ((4, ONE),)),
        Transition(2, "b", ((5, ONE),)),
        Transition(3, "b", ((6, ONE),)),
        Transition(4, "b", ((5, HALF), (6, HALF))),
        Transition(5, "c", ()),
        Transition(6, "d", ()),
    )
    names = ("s", "t", "u", "v", "w", "c", "d")
    # Counted are actions that are survived: c and d halt, so nothing is seen of them.
    found = distinguishing_formula(PA(names, steps), "s", "t")
    assert (found.bisimilar, found.trace, found.trace_decided) == (False, None, True)
    assert found.depth == 3
    going_on = (*steps[:5], Transition(5, "c", ((5, ONE),)), Transition(6, "d", ((6, ONE),)))
    found = distinguishing_formula(PA(names, going_on), "s", "t")
    assert (found.bisimilar, found.trace, found.trace_decided) == (False, None, True)


def test_answers_without_time() -> None:
    answer = explain(pin_checking(), [("s1", "t1"), ("s1", "s1")], deadline=Deadline.after(0))
    assert answer.status is Status.LIMIT
    assert [pair.bisimilar for pair in answer.pairs] == [None, True]
    assert "not decided" in answer._repr_html_()
    with pytest.raises(UsageError, match="nothing was decided"):
        answer.certificate()
    with pytest.raises(LimitError):
        distinguishing_formula(pin_checking(), "s1", "t1", deadline=Deadline.after(0))
    with pytest.raises(UsageError, match="no pairs of its own"):
        explain(PA(("s",), ()))


def test_an_interrupted_answer_keeps_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def progress(stage: str, done: int, total: int | None) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Interruption("interrupted")

    pairs = [("s1", "t1"), ("s1", "t4"), ("s5", "t5")]
    answer = explain(pin_checking(), pairs, progress=progress)
    assert answer.status is Status.LIMIT
    assert [pair.bisimilar for pair in answer.pairs] == [False, None, True]
    assert [claim["bisimilar"] for claim in answer.certificate()["claims"]] == [False, True]  # type: ignore[attr-defined]


def test_distances() -> None:
    bound = formula_distance("<a>(1 T)", "<a>(1/2 T)", "multiplicative", discount="1/2")
    assert not bound.exact
    assert bound.lower is not None
    assert bound.upper is not None
    assert bound.lower**2 < 2 < bound.upper**2
    assert formula_distance("<a>T", "<b>T", "multiplicative").upper is None
    with pytest.raises(UsageError, match="no distance 'x'"):
        formula_distance("T", "T", "x")
    with pytest.raises(UsageError, match="discount is 2"):
        formula_distance("T", "T", discount=2)
    with pytest.raises(ModelError, match="is recursive"):
        formula_distance("T", "rec X = <a>X in X")


@pytest.mark.parametrize("discount", ["1", "9/10", "1/3"])
def test_example_5(discount: str) -> None:
    half = fmpq(1, 2) * formula_distance("<a>T", "<b>T", discount=discount).discount
    for depth in (2, 3, 7, None):
        assert logical_distance(figure_2(), "s", "t", depth=depth, discount=discount).upper == half
    assert logical_distance(figure_2(), "s", "t", depth=1, discount=discount).upper == 0


@settings(max_examples=30, deadline=None)
@given(automata(4))
def test_depths_increase_to_the_metric(automaton: PA) -> None:
    previous = fmpq(0)
    last = logical_distance(automaton, "s0", "s1", discount="1/2")
    for depth in range(12):
        value = logical_distance(automaton, "s0", "s1", depth=depth, discount="1/2").upper
        assert value is not None
        assert previous <= value
        assert last.upper is not None
        assert value <= last.upper
        previous = value
    assert last.upper is not None
    # What is discounted by 1/2 twelve times cannot matter more than this.
    assert last.upper - previous <= fmpq(1, 2**12)


def test_a_thousand_states_are_explained() -> None:
    automaton = chain_as_automaton(random_lmc(1000, 3, 2, 1))
    pairs = [(f"s{i}", f"s{i + 1}") for i in range(0, 60, 2)]
    answer = explain(automaton, pairs)
    assert answer.status is Status.EXACT
    assert all(pair.bisimilar or pair.irreducible for pair in answer.pairs)
    assert len(json.dumps(answer.certificate())) < 1_000_000
