"""Traces under admissible schedulers, against schedulers listed one by one."""

from __future__ import annotations

from itertools import product

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist import metric, parse_model
from bisimdist.automata.engine.schedulers import History, trace_probability, worst_trace_ratio
from bisimdist.errors import ModelError, UsageError
from bisimdist.models.io.layout import write_model
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition
from tests.strategies import similar_automata

HALF = fmpq(1, 2)


def test_the_worst_trace_of_pin_checking_is_what_the_amortised_metric_says() -> None:
    ratios = [worst_trace_ratio(pin_checking(), "s1", "t1", length).ratio for length in range(7)]
    assert ratios == [1, 1, fmpq(3, 2), fmpq(3, 2), fmpq(9, 4), fmpq(9, 4), fmpq(9, 4)]


def test_probability_of_a_trace() -> None:
    def alternating(history: History) -> str:
        screen = history[-1][0]
        if len(screen) == 1:
            return screen[0]
        return "a1"

    assert trace_probability(pin_checking(), "s1", ["a1", "no", "a2", "ok"], alternating) == fmpq(4, 25)
    assert trace_probability(pin_checking(), "t1", ["a1", "no", "a2", "ok"], alternating) == fmpq(9, 25)
    assert trace_probability(pin_checking(), "t1", ["a2"], alternating) == 0
    assert trace_probability(pin_checking(), "t1", [], alternating) == 1
    assert trace_probability(pin_checking(), "t1", ["a1"], lambda history: None) == 0
    with pytest.raises(UsageError, match="chose 'x', which is not on the screen"):
        trace_probability(pin_checking(), "t1", ["a1"], lambda history: "x")


def test_what_the_scheduler_sees_it_may_use() -> None:
    # From s and from t the same mixture is reached, but the scheduler is shown which half of it.
    automaton = PA(
        ("s", "t", "u", "v"),
        (
            Transition(0, "a", ((2, HALF), (3, HALF))),
            Transition(1, "a", ((2, fmpq(1, 4)), (3, fmpq(3, 4)))),
            Transition(2, "b", ()),
            Transition(2, "c", ()),
            Transition(3, "b", ()),
            Transition(3, "d", ()),
        ),
    )
    assert worst_trace_ratio(automaton, "s", "t", 1).ratio == 1
    worst = worst_trace_ratio(automaton, "s", "t", 2)
    assert worst.ratio == 2  # u takes c (or b, and v stops)
    alike = ["a", "a", "b", "c", "b", "c"]
    hidden = worst_trace_ratio(automaton, "s", "t", 2, tags=alike)
    assert hidden.ratio == 2  # the actions tell c from d although the tags do not


def test_only_possible_from_one_state() -> None:
    automaton = PA(("s", "t"), (Transition(0, "a", ()),))
    for pair in (("s", "t"), ("t", "s")):
        worst = worst_trace_ratio(automaton, *pair, 3)
        assert worst.ratio is None
        assert worst.trace == ("a",)


def test_tags_have_to_tell_transitions_apart() -> None:
    automaton = PA(("s",), (Transition(0, "a", ()), Transition(0, "a", ((0, HALF),))))
    with pytest.raises(ModelError, match="state 's': two transitions carry the tag 'a'"):
        worst_trace_ratio(automaton, "s", "s", 1)
    assert worst_trace_ratio(automaton, "s", "s", 3, tags=["end", "go"]).ratio == 1
    with pytest.raises(UsageError, match="1 tags for 2 transitions"):
        worst_trace_ratio(automaton, "s", "s", 1, tags=["end"])


def histories(automaton: PA, length: int) -> list[History]:
    """List every history of up to so many screens, whatever the automaton does."""
    screens = sorted(
        {
            tuple(sorted(step.action for step in automaton.transitions if step.source == state))
            for state in range(len(automaton))
        }
    )
    found: list[History] = []
    past: list[History] = [()]
    for _ in range(length):
        found += [(*history, (screen, None)) for history in past for screen in screens if screen]
        past = [(*history, (screen, tag)) for history in past for screen in screens for tag in screen]
    return found


@settings(max_examples=30)
@given(similar_automata(2, deterministic=True))
def test_against_every_scheduler(automaton: PA) -> None:
    s, t = (automaton.states[index] for index in automaton.pairs[0])
    listed = histories(automaton, 2)
    choices = [(*history[-1][0], None) for history in listed]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > 400:
        return
    best: fmpq | None = fmpq(1)
    for chosen in product(*choices):
        table = dict(zip(listed, chosen, strict=True))
        for trace in [(a,) for a in "ab"] + [(a, b) for a in "ab" for b in "ab"]:
            ours = trace_probability(automaton, s, trace, table.__getitem__)
            theirs = trace_probability(automaton, t, trace, table.__getitem__)
            for above, below in ((ours, theirs), (theirs, ours)):
                if above and not below:
                    best = None
                elif above and best is not None:
                    best = max(best, above / below)
    assert worst_trace_ratio(automaton, s, t, 2).ratio == best


@settings(max_examples=20)
@given(similar_automata())
def test_the_scheduler_that_is_shown_attains_the_ratio(automaton: PA) -> None:
    tags = [f"{step.action}{number}" for number, step in enumerate(automaton.transitions)]
    s, t = (automaton.states[index] for index in (0, 1))
    worst = worst_trace_ratio(automaton, s, t, 3, tags=tags)

    def chosen(history: History) -> str | None:
        return worst.scheduler.get(history)

    if worst.trace:
        found = tuple(trace_probability(automaton, x, worst.trace, chosen, tags=tags) for x in (s, t))
        assert found == worst.probabilities


def test_tags_of_the_file_are_what_schedulers_see() -> None:
    """The metric matches transitions of one action as it likes; who tells them apart does better."""
    model = parse_model(TAGGED)
    assert isinstance(model, PA)
    assert parse_model(write_model(model, "yaml")) == model == parse_model(write_model(model, "json"))
    assert metric(model, "amortised").pairs[0].ratio == 2
    assert worst_trace_ratio(model, "s", "t", 2).ratio == 3


TAGGED = """kind: pa
states: [s, t, a, b, c]
transitions:
  - {from: s, action: x, tag: left, to: {a: 1/2, b: 1/2}}
  - {from: s, action: x, tag: right, to: {a: 3/4, b: 1/4}}
  - {from: t, action: x, tag: left, to: {a: 1/2, b: 1/2}}
  - {from: t, action: x, tag: right, to: {a: 1/4, b: 3/4}}
  - {from: a, action: "y", to: {c: 1}}
  - {from: b, action: z, to: {c: 1}}
pairs: [[s, t]]
"""
