"""What an analyst sees who has fixed what to ask, and how files say it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.analyst import Step, Strategy, asked_chain
from bisimdist.models.interactive import Interactive
from bisimdist.models.io.strategy import load_strategy
from bisimdist.models.library.registry import build_any_example
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.leakage.ask import leakage
from tests.reference.analysts import sequence_as_analyst, traces
from tests.strategies import interactives

ROUNDS = 2


def two_questions() -> Interactive:
    model = build_any_example("two-questions")
    assert isinstance(model, Interactive)
    return model


@settings(max_examples=20)
@given(model=interactives(4), actions=st.lists(st.sampled_from("XY"), max_size=3).map(tuple))
def test_the_chain_shows_what_is_seen(model: Interactive, actions: tuple[str, ...]) -> None:
    actions = tuple(action for action in actions if action in model.actions)
    chain = asked_chain(model, Strategy.in_turn(actions))
    analyst = sequence_as_analyst(model, model.labels[0], actions)
    p, q = (
        {w: fmpq(x.numerator, x.denominator) for w, x in traces(model, analyst, model.states[state]).items()}
        for state in model.pairs[0]
    )
    zero = fmpq(0)
    found = leakage(chain, "renyi:2").pairs[0]
    if any(w not in q for w in p):
        assert found.lower is None
    else:
        assert found.upper == sum((x * x / q[w] for w, x in p.items()), zero)
    tv = sum((max(x - q.get(w, zero), zero) for w, x in p.items()), zero)
    assert leakage(chain, "tv").pairs[0].upper == tv


@settings(max_examples=20)
@given(model=interactives(4))
def test_the_best_strategies_gain_what_delta_says(model: Interactive) -> None:
    """Total variation of the best fixed sequence, and of the best adaptive analyst, is delta at 1."""
    fixed = delta(model, 1, rounds=ROUNDS, fixed=True).upper
    sequences = product(model.actions, repeat=ROUNDS)
    gained = [
        leakage(asked_chain(model, Strategy.in_turn(actions)), "tv").pairs[0].upper for actions in sequences
    ]
    assert fixed == max((x for x in gained if x is not None), default=fmpq(0))


def test_the_witness_of_delta_is_a_strategy(tmp_path: Path) -> None:
    model = two_questions()
    answer = delta(model, 1, rounds=3)
    path = tmp_path / "strategy.json"
    event = answer.pairs[0].witness.event
    assert event is not None
    path.write_text(json.dumps(event.data()))
    chain = asked_chain(model, load_strategy(path))
    assert leakage(chain, "tv").pairs[0].upper == answer.upper == fmpq(111, 256)
    fixed = asked_chain(model, Strategy.in_turn(["Y", "Y", "Y"]))
    assert leakage(fixed, "tv").pairs[0].upper < answer.upper


def test_the_analyst_stops_where_nothing_is_said() -> None:
    model = two_questions()
    only_yes = Strategy((Step(None, {"start": 1}), Step("X", {"yes": 1})))
    chain = asked_chain(model, only_yes)
    # yes with 3/4 from 0 and 1/2 from 1: a run of answers yes that ends with the first no
    p, q = fmpq(3, 4), fmpq(1, 2)
    found = leakage(chain, "renyi:2", pairs=[("0:start", "1:start")]).pairs[0]
    assert p * p / q > 1
    assert found.lower is None
    back = leakage(chain, "renyi:2", pairs=[("1:start", "0:start")]).pairs[0]
    assert back.upper == (1 - q) ** 2 / (1 - p) / (1 - q * q / p)


def test_names_that_are_taken() -> None:
    model = Interactive.from_mappings(
        {"s": "q", "s@": "q"}, {"s": {"X": {"s@": 1}}, "s@": {"X": {"s": 1}}}, [("s", "s@")]
    )
    chain = asked_chain(model, Strategy.in_turn(["X"]), ["s@"])
    assert chain.states == ("s@", "s@'")
    assert chain.pairs == ()


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (Strategy.in_turn(["Z"]), "asks 'Z'; expected an action"),
        (Strategy((Step(None, {"begin": 0}),)), "the label 'begin'"),
    ],
)
def test_strategies_that_do_not_fit(strategy: Strategy, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        asked_chain(two_questions(), strategy)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "expected a strategy, such as"),
        ("{root: 0}", "'nodes' is missing"),
        ("{nodes: [{ask: X}]}", "node 0.*'then' is missing"),
        ("{nodes: [{then: {start: 1}}]}", "node 0, label 'start'.*below 1, accept or reject"),
        ("{nodes: [{then: {start: -1}}]}", "accept or reject"),
        ("{nodes: [{ask: X, then: {}}]}", "the root asks nothing"),
        ("{nodes: [{then: {}}], root: 1}", "root.*below 1"),
        ("{nodes: [{then: {}, else: 1}]}", "'else' is unknown"),
    ],
)
def test_files_that_hold_no_strategy(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "strategy.yaml"
    path.write_text(text)
    with pytest.raises(ModelError, match=said):
        load_strategy(path)


def test_an_event_that_needs_no_question(tmp_path: Path) -> None:
    path = tmp_path / "strategy.yaml"
    path.write_text("{nodes: [], root: reject}")
    assert load_strategy(path) == Strategy((Step(None),))
