"""Probabilistic automata: what is refused, and what the translation to chains preserves."""

from __future__ import annotations

import re

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import ModelError
from bisimdist.models.lmc import LMC, Row
from bisimdist.models.pa import PA, Transition, action_labelled_lmc

HALF = fmpq(1, 2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (((0, HALF), (1, fmpq(51, 100))), "the probabilities sum to 101/100; expected at most 1"),
        (((0, -HALF),), "from state 't' -> s: the probability is -1/2; expected a positive number"),
        (((0, fmpq(0)),), "the probability is 0; expected a positive number"),
        (((2, HALF),), "a transition leads to index 2, which is no state"),
        (((1, HALF), (0, HALF)), "not in ascending order"),
    ],
)
def test_bad_rows_are_refused_with_state_and_number(row: Row, message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)) as caught:
        PA(("s", "t"), (Transition(0, "a", ()), Transition(1, "b", row)))
    assert "transition number 2 of the automaton, from state 't'" in str(caught.value)


def test_bad_automata_are_refused() -> None:
    with pytest.raises(ModelError, match="no state; expected at least one"):
        PA((), ())
    with pytest.raises(ModelError, match="state 's': the state is declared twice"):
        PA(("s", "t", "s"), ())
    with pytest.raises(ModelError, match="transition number 1: the transition leaves index 3"):
        PA(("s",), (Transition(3, "a", ()),))
    with pytest.raises(ModelError, match=r"the pair \(0, 1\) names an index outside 0..0"):
        PA(("s",), (), ((0, 1),))
    with pytest.raises(ModelError, match="the action 1 is a int; expected a text"):
        PA(("s",), (Transition(0, 1, ()),))  # type: ignore[arg-type]


def test_translation() -> None:
    automaton = PA(
        ("s", "t", "u"),
        (Transition(0, "a", ((1, HALF), (2, HALF))), Transition(1, "b", ((2, fmpq(1, 3)),))),
        ((0, 1),),
    )
    assert automaton.fully_probabilistic
    assert action_labelled_lmc(automaton) == LMC.from_mappings(
        {"s": "a", "t": "b", "u": "(stop)", "(halt)": "(halt)"},
        {
            "s": {"t": "1/2", "u": "1/2"},
            "t": {"u": "1/3", "(halt)": "2/3"},
            "u": {"u": 1},
            "(halt)": {"(halt)": 1},
        },
        [("s", "t")],
    )


def test_no_halt_state_where_no_mass_is_missing() -> None:
    automaton = PA(("s",), (Transition(0, "a", ((0, fmpq(1)),)),))
    assert action_labelled_lmc(automaton) == LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})


def test_reserved_names_make_way() -> None:
    automaton = PA(
        ("(halt)", "(halt)'", "s"), (Transition(0, "(stop)", ()), Transition(1, "(halt)", ((0, fmpq(1)),)))
    )
    chain = action_labelled_lmc(automaton)
    assert chain.states == ("(halt)", "(halt)'", "s", "(halt)''")
    assert chain.labels == ("(stop)", "(halt)", "(stop)'", "(halt)'")
    assert chain.rows[0] == ((3, fmpq(1)),)


def test_nondeterminism_is_refused_by_the_translation() -> None:
    step = Transition(1, "a", ())
    with pytest.raises(
        ModelError, match="state 't': the state has several transitions; expected at most one"
    ):
        action_labelled_lmc(PA(("s", "t"), (step, step)))


@st.composite
def fully_probabilistic(draw: st.DrawFn) -> PA:
    size = draw(st.integers(1, 4))
    steps = []
    for source in range(size):
        if draw(st.integers(0, 4)) == 0:
            continue
        parts = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
        total = sum(parts) + draw(st.sampled_from([0, 0, 1]))
        row = tuple((target, fmpq(part, total)) for target, part in enumerate(parts) if part)
        steps.append(Transition(source, draw(st.sampled_from(["a", "b"])), row))
    return PA(tuple(f"s{index}" for index in range(size)), tuple(steps))


def survival(automaton: PA, state: int, word: str) -> fmpq:
    """Compute the probability of performing all actions of the word and halting in none of them."""
    if not word:
        return fmpq(1)
    for step in automaton.transitions:
        if step.source == state and step.action == word[0]:
            return sum((value * survival(automaton, target, word[1:]) for target, value in step.row), fmpq(0))
    return fmpq(0)


def cylinder(chain: LMC, state: int, word: list[str]) -> fmpq:
    if chain.labels[state] != word[0]:
        return fmpq(0)
    if len(word) == 1:
        return fmpq(1)
    return sum((value * cylinder(chain, target, word[1:]) for target, value in chain.rows[state]), fmpq(0))


@given(fully_probabilistic(), st.text("ab", min_size=1, max_size=4))
def test_traces_keep_their_probabilities(automaton: PA, word: str) -> None:
    chain = action_labelled_lmc(automaton)
    letters = list(word)
    for state in range(len(automaton)):
        lost = cylinder(chain, state, [*letters, "(halt)"])
        assert cylinder(chain, state, letters) - lost == survival(automaton, state, word)
        stopped = cylinder(chain, state, [*letters, "(stop)"])
        carried_on = sum((cylinder(chain, state, [*letters, action]) for action in "ab"), fmpq(0))
        assert stopped + carried_on == survival(automaton, state, word)
