"""Interactive models: what they are made of, and what is refused with its place."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq
from hypothesis import given

from bisimdist.errors import ModelError
from bisimdist.models.bisimilarity import bisimilarity_classes, quotient
from bisimdist.models.interactive import Interactive, chain_as_interactive
from bisimdist.models.io import parse_model, write_dot, write_model
from bisimdist.models.visible import only_sight
from tests.strategies import interactives, lmcs

ONE = fmpq(1)
STATES = {"s": "q", "t": "q", "end": "e"}


@given(interactives(5, max_labels=3))
def test_files_give_back_the_model(model: Interactive) -> None:
    for format_ in ("json", "yaml"):
        assert parse_model(write_model(model, format_), format=format_) == model


@given(interactives(5))
def test_the_digest_is_that_of_the_content(model: Interactive) -> None:
    order = range(len(model) - 1, -1, -1)
    names = [model.states[k] for k in order]
    moved = Interactive.from_mappings(
        {name: model.labels[model.index(name)] for name in names},
        {
            name: {a: {model.states[t]: p for t, p in row} for a, row in model.moves[model.index(name)][::-1]}
            for name in names
        },
    )
    assert moved.digest() == model.digest()


@given(lmcs())
def test_a_chain_is_a_model_with_one_action(chain: Any) -> None:
    model = chain_as_interactive(chain)
    assert model.arms == chain.arms
    assert bisimilarity_classes(model) == bisimilarity_classes(chain)
    assert only_sight(model) == only_sight(chain)


def test_states_are_bisimilar_only_if_no_action_tells_them_apart() -> None:
    rows = {"X": {"end": 1}, "Y": {"s": 1}}
    model = Interactive.from_mappings(
        {**STATES, "u": "q", "v": "w"}, {"s": rows, "t": rows, "u": {"X": {"end": 1}, "Y": {"v": 1}}}
    )
    merged, classes = quotient(model)
    assert classes == (0, 0, 1, 2, 3)
    assert merged.moves[0] == (("X", ((1, ONE),)), ("Y", ((0, ONE),)))


def test_states_with_nothing_to_ask_are_bisimilar() -> None:
    rows = {"X": {"end": 1}, "Y": {"over": 1}}
    states = {"s": "q", "t": "q", "end": "e", "over": "e"}
    model = Interactive.from_mappings(states, {"s": rows, "t": rows})
    assert bisimilarity_classes(model) == (0, 0, 1, 1)


@pytest.mark.parametrize(
    ("moves", "place", "message"),
    [
        ((((("X"), ((2, ONE),)),), (), ()), "state 't'", "the same actions for one label"),
        (((("X", ((2, ONE),)), ("X", ((2, ONE),))), (), ()), "state 's', action 'X'", "given twice"),
        (((("X", ((2, fmpq(1, 2)),)),), (), ()), "state 's', action 'X'", "sum to 1/2; expected 1"),
        (((("X", ()),), (), ()), "state 's', action 'X'", "sum to 0; expected 1"),
        (((("X", ((7, ONE),)),), (), ()), "state 's', action 'X'", "no state"),
        (((("X", ((0, fmpq(-1)), (2, fmpq(2)))),), (), ()), "state 's', action 'X' -> s", "positive"),
        (((("\ud800", ((2, ONE),)),), (), ()), "action '\\ud800'", "lone surrogate"),
    ],
)
def test_what_is_no_model_is_refused_with_its_place(moves: Any, place: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        Interactive(tuple(STATES), tuple(STATES.values()), moves)
    assert caught.value.place == place


def test_names_are_checked() -> None:
    with pytest.raises(ModelError, match="not declared"):
        Interactive.from_mappings({"s": "q"}, {"v": {}})
    with pytest.raises(ModelError, match="no such state"):
        Interactive.from_mappings({"s": "q"}, {}).index("v")
    with pytest.raises(ModelError, match="index outside"):
        Interactive(("s",), ("q",), ((),), ((0, 1),))


def test_it_is_drawn_with_a_point_for_every_action() -> None:
    model = Interactive.from_mappings(STATES, {s: {'"X"': {"end": 1}} for s in "st"}, [("s", "t")])
    drawn = write_dot(model)
    assert drawn.count("shape=point") == 2
    assert '[arrowhead=none, label="\\"X\\""]' in drawn
    assert "s0 -> s1 [style=dashed" in drawn
