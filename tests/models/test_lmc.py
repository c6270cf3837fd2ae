"""Labelled Markov chains: what makes one, what is refused, and what the digest depends on."""

from __future__ import annotations

import json
import pickle
import re
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import ModelError
from bisimdist.models.labelled import digest_of, hashed
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition
from tests.strategies import lmcs

ONE = fmpq(1)
HALF = fmpq(1, 2)


def test_exact_numbers_of_every_kind() -> None:
    rows: dict[str, Any] = {
        "s": {"s": "0.1", "t": Fraction(2, 5), "u": fmpq(1, 2)},
        "t": {"t": 1, "u": "0e5"},
        "u": {"u": f"10e-{'0' * 5000}1"},
    }
    chain = LMC.from_mappings({"s": "a", "t": "b", "u": "b"}, rows, [("s", "t")])
    assert chain.rows == (((0, fmpq(1, 10)), (1, fmpq(2, 5)), (2, HALF)), ((1, ONE),), ((2, ONE),))
    assert chain.pairs == ((0, 1),)
    assert chain.index("u") == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"s": 0.5, "t": 0.5}, "transition s -> s: a float (0.5) is not exact"),
        ({"s": True}, "transition s -> s: True is not a number"),
        ({"s": "3/2", "t": "-1/2"}, "transition s -> s: the probability is 3/2; expected a number in [0, 1]"),
        ({"s": "-1/2"}, "transition s -> s: the probability is -1/2; expected a number in [0, 1]"),
        ({"s": "99/100"}, "state 's': the probabilities sum to 99/100; expected 1"),
        ({"s": 1, "t": 1}, "state 's': the probabilities sum to 2; expected 1"),
        ({}, "state 's': the state has no transitions"),
        ({"v": 1}, "transition s -> v: the target 'v' is not a declared state"),
    ],
)
def test_bad_rows(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        LMC.from_mappings({"s": "a", "t": "b"}, {"s": row, "t": {"t": 1}})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (((), (), ()), "no state; expected at least one"),
        ((("s", "s"), ("a", "a"), (((0, ONE),),) * 2), "state 's': the state is declared twice"),
        ((("s",), (), (((0, ONE),),)), "1 states, 0 labels and 1 rows"),
        (((1,), ("a",), (((0, ONE),),)), "the state 1 is a int; expected a text"),
        ((("s",), (None,), (((0, ONE),),)), "the label None is a NoneType; expected a text"),
        ((("\ud800",), ("a",), (((0, ONE),),)), "the state holds a lone surrogate"),
        ((("s",), ("a",), (((1, ONE),),)), "a transition leads to index 1, which is no state"),
        ((("s",), ("a",), (((0, HALF), (0, HALF)),)), "not in ascending order, each once"),
        ((("s",), ("a",), (((0, ONE),),), ((0, 1),)), "the pair (0, 1) names an index outside 0..0"),
        ((("s",), ("a",), (((0, ONE),),), ((0, 0, 0),)), "the pair (0, 0, 0) has 3 entries"),
    ],
)
def test_bad_parts(parts: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        LMC(*parts)


def test_names_that_are_not_declared() -> None:
    with pytest.raises(ModelError, match="state 't': transitions are given for a state"):
        LMC.from_mappings({"s": "a"}, {"s": {"s": 1}, "t": {"s": 1}})
    with pytest.raises(ModelError, match="the pair names a state that is not declared"):
        LMC.from_mappings({"s": "a"}, {"s": {"s": 1}}, [("s", "t")])
    with pytest.raises(ModelError, match="state 't': there is no such state"):
        LMC.from_mappings({"s": "a"}, {"s": {"s": 1}}).index("t")
    with pytest.raises(ModelError, match="such as 'payer1'"):
        LMC.from_mappings({"s": "a", "payer1": "a"}, {"s": {"s": 1}, "payer1": {"s": 1}}).index("payer_1")


def test_the_digest_sees_the_chain_and_nothing_else() -> None:
    chain = LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"s": "1/2", "t": "0.5"}, "t": {"t": 1}})
    turned = LMC.from_mappings(
        {"t": "b", "s": "a"}, {"t": {"t": "1.0"}, "s": {"t": "2/4", "s": "0.50"}}, [("s", "t")]
    )
    assert chain.digest() == turned.digest()
    assert chain.digest() == "sha256:599ae0e1e5641f40ed711d2f90dc6b169ef8246dab65e58064c4caf531ca7edc"
    other = LMC.from_mappings({"s": "a", "t": "c"}, {"s": {"s": "1/2", "t": "0.5"}, "t": {"t": 1}})
    assert chain.digest() != other.digest()


def test_pickling() -> None:
    chain = LMC.from_mappings({"s": "a"}, {"s": {"s": 1}}, [("s", "s")])
    again = pickle.loads(pickle.dumps(chain))
    assert again == chain
    assert again.index("s") == 0


NAMES = st.lists(st.text(max_size=3), min_size=3, max_size=3, unique=True)


@given(lmcs(), NAMES)
def test_the_digest_is_that_of_the_canonical_form(chain: LMC, names: list[str]) -> None:
    odd = LMC(tuple(names[:2]), (names[2], "\u2028"), (((0, fmpq(1, 3)), (1, fmpq(2, 3))), ((1, fmpq(1)),)))
    for model in (chain, odd):
        assert model.digest() == digest_of(model.canonical())


@given(NAMES)
def test_the_digest_of_an_automaton_is_that_of_its_sorted_canonical_form(names: list[str]) -> None:
    half, action = fmpq(1, 2), names[2]
    steps = (Transition(1, action, ((0, half), (2, half))), Transition(0, "a", ((1, half),)))
    automaton = PA(tuple(names), steps)
    plain: Any = automaton.canonical()
    said = [[step["from"], step["action"], step["to"]] for step in plain["transitions"]]
    texts = sorted(json.dumps(step, sort_keys=True, separators=(",", ":")) for step in said)
    states = json.dumps(sorted(names), separators=(",", ":"))
    text = f'{{"kind":"pa","states":{states},"transitions":[{",".join(texts)}]}}'
    assert automaton.digest() == hashed(text)
