"""Programs that ask: their models, strategies played against them in plain Python, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist import delta, explore
from bisimdist.errors import ModelError, UsageError
from bisimdist.models.interactive import Interactive
from bisimdist.models.library.interactive import adaptive_above_threshold
from bisimdist.models.library.programs import asked
from bisimdist.programs import flip, observe
from bisimdist.programs.analyst import explore_interactive
from bisimdist.programs.program.playing import played
from tests.programs.exhaustive import distribution
from tests.strategies import alphas, interactives


def convinced(function: Any, value: Any, witness: Any) -> dict[str, Fraction]:
    """Run plain Python under a strategy with every sequence of random numbers."""
    found = distribution(lambda v, rng: played(function, v, witness.event, rng), lambda: value)
    result = {"True": Fraction(0), "False": Fraction(0)}
    for (text, _), p in found.items():
        result[text] += p
    return result


def replayed(function: Any, values: dict[str, Any], witness: Any) -> None:
    """Hold the probabilities of a witness against plain Python."""
    for name, p in ((witness.source, witness.probability_from), (witness.target, witness.probability_to)):
        assert convinced(function, values[name], witness)["True"] == Fraction(int(p.p), int(p.q))


@pytest.mark.parametrize(("alpha", "expected"), [(1, fmpq(4, 15)), (2, fmpq(13, 90)), (16, fmpq(0))])
def test_above_threshold_asked_adaptively(alpha: int, expected: fmpq) -> None:
    model = explore_interactive(asked.asked_above_threshold, [0, 1], replays=100)
    (pair,) = delta(model, alpha).pairs
    assert (pair.lower, pair.upper) == (expected, expected)
    replayed(asked.asked_above_threshold, {"0": 0, "1": 1}, pair.witness)


def test_two_answers_and_the_best_fixed_sequence() -> None:
    function = partial(asked.asked_above_threshold, queries=3, answers=2)
    model = explore_interactive(function, [0, 1], replays=100)
    library = adaptive_above_threshold(answers=2)
    for fixed in (False, True):
        expected = delta(library, "3/2", rounds=3, fixed=fixed).upper
        assert delta(model, "3/2", rounds=3, fixed=fixed).upper == expected
    assert delta(model, "3/2").upper == fmpq(11, 45)


def test_randomised_responses_and_a_filter() -> None:
    model = explore_interactive(asked.asked_responses, [0, 1], replays=100)
    assert model.actions == ("(0, 1)", "(1, 0)")
    assert delta(model, 2).upper == delta(model, 2, rounds=3, fixed=True).upper
    odometer = explore_interactive(asked.asked_odometer, [0, 1], replays=100)
    for fixed in (False, True):  # all of the budget at once is as good as any way to spend it
        assert delta(odometer, 2, rounds=3, fixed=fixed).upper == fmpq(9, 10) - 2 * fmpq(1, 10)
    assert delta(odometer, 9).upper == 0
    (pair,) = delta(odometer, "17/2").pairs
    assert pair.lower > 0
    replayed(asked.asked_odometer, {"0": 0, "1": 1}, pair.witness)


def follow(state: str, rng: Any, analyst: Any, table: Any, labels: Any, rounds: int) -> None:  # noqa: PLR0917
    """Walk through an interactive model."""
    analyst.tell(labels[state])
    for _ in range(rounds):
        if not table[state]:
            return
        action = analyst.choose(sorted(table[state]))
        state = rng.pick(table[state][action])
        analyst.tell(labels[state])


@settings(max_examples=15, deadline=None)
@given(interactives(3), alphas(), st.integers(0, 2))
def test_a_program_that_walks_through_a_model_has_its_delta(
    model: Interactive, alpha: fmpq, rounds: int
) -> None:
    names = model.states
    table = {
        name: {action: {names[t]: Fraction(int(p.p), int(p.q)) for t, p in row} for action, row in moves}
        for name, moves in zip(names, model.moves, strict=True)
    }
    labels = dict(zip(names, model.labels, strict=True))
    function = partial(follow, table=table, labels=labels, rounds=rounds)
    program = explore_interactive(function, {"s0": "s0", "s1": "s1"}, replays=30)
    (found,) = delta(program, alpha).pairs
    (wanted,) = delta(model, alpha, pairs=[("s0", "s1")], rounds=rounds).pairs
    assert (found.lower, found.upper) == (wanted.lower, wanted.upper)
    replayed(function, {"s0": "s0", "s1": "s1"}, found.witness)


def before(bit: int, rng: Any, analyst: Any) -> int:
    """Show noise before the first question."""
    noise = rng.flip("1/2")
    observe(noise)
    wanted = analyst.choose(["bit", "noise"])
    return int(bit ^ noise if wanted == "bit" else noise)


def test_what_is_shown_before_the_first_question_begins_a_run() -> None:
    model = explore_interactive(before, [0, 1])
    assert model.moves[0][0][0] == "begin"
    (pair,) = delta(model, 1).pairs
    assert pair.upper == 1
    assert pair.witness.event.asks[:2] == (None, "begin")
    replayed(before, {"0": 0, "1": 1}, pair.witness)


def offers(bit: int, rng: Any, analyst: Any) -> int:
    """Let what is on offer tell a hidden draw."""
    hidden = rng.randrange(2)
    if hidden:
        return int(analyst.choose([1, 2]))
    return int(analyst.choose([1, 3])) + bit


def test_what_is_on_offer_is_seen() -> None:
    model = explore_interactive(offers, [0, 1])
    assert {"asked: 1, 2", "asked: 1, 3"} <= set(model.labels)
    (pair,) = delta(model, 1).pairs
    assert pair.upper == fmpq(1, 2)
    replayed(offers, {"0": 0, "1": 1}, pair.witness)


def wrong(bit: int, rng: Any, analyst: Any) -> int:
    """Raise, loop or return as it is told."""
    told = analyst.choose(["raise", "loop", "return"])
    while told == "loop":
        rng.randrange(2)
    if told == "raise":
        raise ValueError(bit)
    return 0


def test_ends_of_all_kinds() -> None:
    model = explore_interactive(wrong, [0, 1])
    assert {"raise ValueError(0)", "raise ValueError(1)", "return 0", "runs for ever"} <= set(model.labels)
    (pair,) = delta(model, 1).pairs
    assert (pair.upper, pair.witness.event.asks[1]) == (1, "'raise'")
    replayed(wrong, {"0": 0, "1": 1}, pair.witness)


def nobody(bit: int, rng: Any) -> int:
    return bit ^ int(rng.randrange(2))


def empty(bit: int, rng: Any, analyst: Any) -> int:
    return bit + int(analyst.choose([]))


def alike(bit: int, rng: Any, analyst: Any) -> int:
    return bit + len(analyst.choose([frozenset({1, 2}), frozenset({1, 2, 3})]).union({analyst.ask(1)}))


def chatty(bit: int, rng: Any, analyst: Any) -> int:
    analyst.choose([1])
    while flip("1/2"):
        observe(1)
    return bit


def test_what_is_refused() -> None:
    with pytest.raises(UsageError, match="explore_interactive"):
        explore(asked.asked_responses, [0, 1])
    with pytest.raises(UsageError, match="no parameter named analyst"):
        explore_interactive(nobody, [0, 1])
    with pytest.raises(ModelError, match="asked for ask"):
        explore_interactive(alike, [0, 1])
    with pytest.raises(ModelError, match="without asking"):
        explore_interactive(chatty, [0, 1])
    nothing = explore_interactive(empty, [0])
    assert "raise ValueError" in nothing.labels
    other = delta(explore_interactive(wrong, [0, 1]), 1).pairs[0].witness
    with pytest.raises(UsageError, match="the program offers"):
        played(asked.asked_responses, 0, other.event)
