"""Intervals in interactive and in hidden Markov models: against chains in intervals, and models inside."""

from __future__ import annotations

import json

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist import Interactive, IntervalChain, ModelError, UsageError, bound, delta, parse_model
from bisimdist.checker import check_certificate
from bisimdist.models.analyst import Strategy, asked_chain
from bisimdist.models.contested import Contested, contested
from bisimdist.models.conversions import hmm_as_lmc
from bisimdist.models.hmm import HMM
from bisimdist.models.io import write_model
from tests.strategies import alphas, interval_chains

ASKED = """
kind: interactive
states: {s: q, t: q, yes: y, no: n}
transitions:
  s: {X: {yes: [0.74, 0.76], no: [0.24, 0.26]}, Y: {yes: 5/8, no: 3/8}}
  t: {X: {yes: 1/2, no: 1/2}, Y: {yes: [0.8, 0.9], no: [0.1, 0.2]}}
  yes: {}
  no: {}
pairs: [[s, t]]
"""
HIDDEN = """
kind: hmm
observations: [x, y]
states: {s: {x: %s, y: %s}, t: {x: 1/3, y: 2/3}}
transitions: {s: {s: 1/2, t: 1/2}}
distributions: {pi: {s: %s, t: %s}, tau: {t: 1}}
pairs: [[pi, tau]]
"""


def test_the_worst_of_both_actions() -> None:
    model = parse_model(ASKED)
    assert isinstance(model, Contested)
    found = delta(model, 1)
    assert found.pairs[0].exact
    assert found.pairs[0].upper == fmpq(9, 10) - fmpq(5, 8)
    assert bound(model, 1).pairs[0].upper == found.pairs[0].upper
    assert check_certificate(json.dumps(found.certificate()), write_model(model, "json")).valid
    assert delta(model, 1, rounds=0).pairs[0].upper == 0


def test_one_state_differs_between_the_worlds() -> None:
    model = parse_model(ASKED)
    assert isinstance(model, Interactive)
    assert delta(model, 1, pairs=[("s", "s")]).pairs[0].upper == fmpq(1, 50)
    assert delta(parse_model(ASKED, pairs=[("s", "s")]), 1).pairs[0].upper == fmpq(1, 50)


def test_without_a_choice_nothing_is_doubled() -> None:
    model = parse_model(ASKED.replace("[0.74, 0.76]", "[3/4, 1]").replace("[0.24, 0.26]", "[1/4, 1]"))
    known = ASKED.replace("[0.74, 0.76]", "3/4").replace("[0.24, 0.26]", "1/4")
    text = known.replace("[0.8, 0.9]", "[0.8, 0.8]").replace("[0.1, 0.2]", "[0.1, 0.3]")
    assert parse_model(text) == parse_model(known.replace("[0.8, 0.9]", "0.8").replace("[0.1, 0.2]", "0.2"))
    assert isinstance(model, Contested)


@settings(max_examples=10)
@given(interval_chains(middle=2, cyclic=False), alphas())
def test_with_one_action_it_is_the_chain_in_intervals(chain: IntervalChain, alpha: fmpq) -> None:
    rows = [[("step", row)] for row in chain.rows]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bisimdist.models.contested.MAX_ACTIONS", 48)
        try:
            model = contested(chain.states, chain.labels, rows, [(0, 1)])
        except ModelError:
            assume(False)
    mine, other = delta(model, alpha), delta(chain, alpha, pairs=[("s0", "s1")])
    assert mine.pairs[0].upper == other.pairs[0].upper
    assert bound(model, alpha).pairs[0].upper == bound(chain, alpha, pairs=[("s0", "s1")]).pairs[0].upper


def test_too_many_ways() -> None:
    row = tuple((k, fmpq(0), fmpq(1)) for k in range(12))
    with pytest.raises(ModelError, match=r"state 's0', action 'X': nature may pick in more than 10000 ways"):
        contested([f"s{k}" for k in range(12)], ["a"] * 12, [[("X", row)]] * 12, [(0, 1)])


@given(st.integers(0, 10), st.integers(0, 10))
@settings(max_examples=20)
def test_hidden_chains_inside_have_less(seen: int, start: int) -> None:
    rough = parse_model(HIDDEN % ("[0.6, 0.7]", "[0.3, 0.4]", "[0.2, 0.3]", "[0.7, 0.8]"))
    assert isinstance(rough, IntervalChain)
    most = delta(rough, "5/4").pairs[0].upper
    x, p = fmpq(60 + seen, 100), fmpq(20 + start, 100)
    inside = parse_model(HIDDEN % (x, 1 - x, p, 1 - p))
    assert isinstance(inside, HMM)
    assert delta(hmm_as_lmc(inside), "5/4").pairs[0].upper <= most


def test_hidden_intervals_without_a_choice() -> None:
    text = HIDDEN % ("[0.6, 0.6]", "[0.3, 0.4]", "1/5", "4/5")
    inside = parse_model(HIDDEN % ("0.6", "0.4", "1/5", "4/5"))
    assert isinstance(inside, HMM)
    assert parse_model(text) == hmm_as_lmc(inside, unfold=True)
    with pytest.raises(ModelError, match="without parameters"):
        parse_model(text + "parameters: {p: [0, 1]}\n")


WAITING = """
kind: interactive
states: {s: q, t: q, one: one, two: two, u: m, a: a, b: b}
transitions:
  s: {X: {one: 4/5, two: 1/5}}
  t: {X: {one: 1/5, two: 4/5}}
  one: {X: {u: 1}}
  two: {X: {u: 1}}
  u: {X: {a: [1/2, 1], b: [0, 1/2]}}
  a: {}
  b: {}
pairs: [[s, t]]
"""
"""What is best for nature to pick in u depends on the label before, and there is nothing else to choose."""


def test_sequences_that_are_fixed_beforehand_do_not_fix_what_nature_picks() -> None:
    model = parse_model(WAITING)
    assert isinstance(model, Contested)
    assert delta(model, 1, rounds=3).upper == fmpq(4, 5)
    written_out = parse_model(json.dumps(model.canonical() | {"pairs": [["s", "t'"]]}))
    assert delta(written_out, 1, rounds=3, fixed=True).upper == fmpq(7, 10)  # true of other models only
    with pytest.raises(UsageError, match="would fix its picks, too"):
        delta(model, 1, rounds=3, fixed=True)
    with pytest.raises(UsageError, match="does not make a chain"):
        asked_chain(model, Strategy.in_turn(["X"]))
