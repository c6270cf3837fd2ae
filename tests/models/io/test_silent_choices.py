"""Silent steps of automata: what changes has the same law under every scheduler, and choices stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist import LMC, PA
from bisimdist.models import action_labelled_lmc
from bisimdist.models.io.silent import without_silent_steps
from bisimdist.models.io.silent_choices import without_silent_choices
from bisimdist.models.pa import outgoing
from tests.strategies import automata, tangled_automata

LENGTH = 4


def scheduled(automaton: PA, choices: list[int]) -> PA:
    """Return the automaton in which each state that has a choice makes the one that is named for it."""
    steps = [
        found[choices[state % len(choices)] % len(found)]
        for state, found in enumerate(outgoing(automaton))
        if found
    ]
    return replace(automaton, transitions=tuple(steps))


def traces(chain: LMC, start: int) -> dict[tuple[str, ...], fmpq]:
    """Return the probabilities of the traces of a length."""
    runs: dict[tuple[str, ...], dict[int, fmpq]] = {(chain.labels[start],): {start: fmpq(1)}}
    for _ in range(LENGTH - 1):
        longer: dict[tuple[str, ...], dict[int, fmpq]] = {}
        for word, states in runs.items():
            for state, mass in states.items():
                for target, p in chain.rows[state]:
                    into = longer.setdefault((*word, chain.labels[target]), {})
                    into[target] = into.get(target, fmpq(0)) + mass * p
        runs = longer
    return {word: sum(states.values(), fmpq(0)) for word, states in runs.items()}


def changes(automaton: PA, start: int) -> dict[tuple[str, ...], fmpq]:
    """Return the law of what somebody sees who sees changes only, of an automaton without choices."""
    chain = without_silent_steps(action_labelled_lmc(automaton), [start])
    return traces(chain, chain.states.index(automaton.states[start]))


@settings(max_examples=30)
@given(st.one_of(automata(), tangled_automata()), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_changes_have_the_same_law_under_every_scheduler(automaton: PA, choices: list[int]) -> None:
    automaton = replace(automaton, pairs=())
    less = without_silent_choices(automaton)
    count = len(automaton.states)
    assert less.states[:count] == automaton.states
    for state in range(count):
        assert changes(scheduled(less, choices), state) == changes(scheduled(automaton, choices), state)
    assert [(s.source, s.action, s.tag) for s in less.transitions[: len(automaton.transitions)]] == [
        (s.source, s.action, s.tag) for s in automaton.transitions
    ]


def test_choices_and_states_of_pairs_stay() -> None:
    steps: list[tuple[str, str, Mapping[str, int | str]]] = [
        ("s", "a", {"t": 1}),
        ("t", "a", {"t": "1/2", "u": "1/4"}),  # the run halts with 1/4
        ("u", "a", {"v": 1}),
        ("u", "b", {"w": 1}),
        ("v", "a", {"v": 1}),
        ("w", "a", {"v": 1}),
        ("x", "a", {"s": 1}),
    ]
    less = without_silent_choices(PA.from_mappings("stuvwx", steps, [("s", "u")]))
    assert less.states == ("s", "u", "w", "(a for ever)")
    assert [
        (less.states[s.source], s.action, {less.states[t]: p for t, p in s.row}) for s in less.transitions
    ] == [
        ("s", "a", {"u": fmpq(1, 2)}),
        ("u", "a", {"(a for ever)": 1}),
        ("u", "b", {"w": 1}),
        ("w", "a", {"w": 1}),
        ("(a for ever)", "a", {"(a for ever)": 1}),
    ]
