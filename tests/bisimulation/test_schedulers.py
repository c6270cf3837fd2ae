"""Traces under admissible schedulers, against schedulers listed one by one."""

from __future__ import annotations

from itertools import product

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.bisimulation.schedulers import History, trace_probability, worst_trace_ratio
from bisimdist.errors import ModelError, UsageError
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


@settings(max_examples=60)
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
