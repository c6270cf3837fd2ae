"""Deltas and distances of chains that are only known roughly, against brute force and chains inside."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.distances.bound.ask import bd_threshold, bound
from bisimdist.errors import UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.intervals import IntervalChain, vertices
from bisimdist.models.io import parse_model, write_model
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import NATURES, worlds
from bisimdist.privacy.delta.answer import DeltaAnswer
from bisimdist.privacy.delta.ask import delta
from tests.reference.nature import corners, most_gained
from tests.strategies import alphas, interval_chains

PAIRS = [("s0", "s1")]


def plain(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def proved(answer: DeltaAnswer | DistanceAnswer) -> None:
    """Let the checker judge the proof."""
    report = check_certificate(json.dumps(answer.certificate()), write_model(answer.model, "json"))
    assert report.valid, report.reason


@st.composite
def members(draw: st.DrawFn, chain: IntervalChain) -> LMC:
    """Draw a chain in the intervals: every row a mixture of two vertices."""
    rows = []
    for state, row in enumerate(chain.rows):
        found = sorted(vertices(row))
        first, second = (dict(draw(st.sampled_from(found))) for _ in range(2))
        part = fmpq(draw(st.integers(0, 3)), 3)
        mixed = {t: part * first.get(t, fmpq(0)) + (1 - part) * second.get(t, fmpq(0)) for t, _, _ in row}
        rows.append(tuple((t, p) for t, p in mixed.items() if p))
        assert sum(p for _, p in rows[state]) == 1
    return chain.member(rows)


def leaves_choice(chain: IntervalChain) -> bool:
    return any(low != high for row in chain.rows for _, low, high in row)


@given(interval_chains())
def test_vertices_are_those_of_the_box_with_sum_one(chain: IntervalChain) -> None:
    for state, row in enumerate(chain.rows):
        mine = {tuple((t, plain(p)) for t, p in vertex) for vertex in vertices(row)}
        assert mine == corners(chain, state)
        for place, (target, low, high) in enumerate(row):
            reached = {dict(vertex).get(target, fmpq(0)) for vertex in vertices(row)}
            assert {min(reached), max(reached)} == {low, high}, place


@settings(deadline=None, max_examples=30)
@given(interval_chains(cyclic=False), alphas())
def test_delta_is_what_nature_and_the_best_event_gain(chain: IntervalChain, alpha: fmpq) -> None:
    answer = delta(chain, alpha)
    (pair,) = answer.pairs
    expected = max(most_gained(chain, plain(alpha), *way) for way in ((0, 1), (1, 0)))
    assert answer.status is Status.EXACT
    assert plain(pair.lower) == plain(pair.upper) == expected
    proved(answer)


@settings(deadline=None, max_examples=25)
@given(interval_chains(cyclic=False), alphas(), st.data())
def test_every_chain_inside_has_its_delta_and_distance_inside(
    chain: IntervalChain, alpha: fmpq, data: st.DataObject
) -> None:
    apart, fixed = (delta(chain, alpha, nature=nature) for nature in NATURES)
    far, near = (bound(chain, alpha, nature=nature).pairs[0] for nature in NATURES)
    assert fixed.lower <= fixed.upper <= apart.upper <= far.upper
    assert near.upper <= far.upper
    for answer in (apart, fixed):
        proved(answer)
    for _ in range(3):
        member = data.draw(members(chain))
        inside = delta(member, alpha)
        assert inside.upper <= fixed.upper
        assert bound(member, alpha).pairs[0].upper <= near.upper


@settings(deadline=None, max_examples=25)
@given(interval_chains(cyclic=False), alphas(), st.sampled_from(NATURES))
def test_wider_intervals_have_no_smaller_answers(chain: IntervalChain, alpha: fmpq, nature: str) -> None:
    wider = IntervalChain(
        chain.states,
        chain.labels,
        tuple(
            tuple(
                (t, max(fmpq(0), low - fmpq(1, 8)), min(fmpq(1), high + fmpq(1, 8))) for t, low, high in row
            )
            for row in chain.rows
        ),
        chain.pairs,
    )
    assert delta(chain, alpha, nature=nature).upper <= delta(wider, alpha, nature=nature).upper
    before, after = (bound(model, alpha, nature=nature).pairs[0] for model in (chain, wider))
    assert before.upper <= after.upper


@settings(deadline=None, max_examples=25)
@given(interval_chains(2), alphas(), st.sampled_from(NATURES), st.sampled_from(("bd", "lbd")))
def test_distances_on_cycles_are_proved(
    chain: IntervalChain, alpha: fmpq, nature: str, distance: str
) -> None:
    answer = bound(chain, alpha, nature=nature, distance=distance)
    # under "fixed" a lower bound is that of a member, and none may be found that attains the upper one
    assert answer.status is Status.EXACT or (nature == "fixed" and answer.status is Status.UPPER)
    proved(answer)
    exact = answer.pairs[0].upper
    assert bd_threshold(chain, alpha, "s0", "s1", exact, nature=nature, distance=distance).holds


@settings(deadline=None, max_examples=5)
@given(interval_chains(1), alphas(include_one=False), st.sampled_from(NATURES))
def test_deltas_on_cycles_are_proved(chain: IntervalChain, alpha: fmpq, nature: str) -> None:
    answer = delta(chain, alpha, gap="1/100", nature=nature)
    proved(answer)
    assert answer.upper <= bound(chain, alpha, nature=nature).pairs[0].upper


@settings(deadline=None, max_examples=20)
@given(interval_chains(), alphas())
def test_intervals_without_choice_are_the_chain_itself(chain: IntervalChain, alpha: fmpq) -> None:
    chain = IntervalChain(
        chain.states,
        chain.labels,
        tuple(tuple((t, p, p) for t, p in sorted(vertices(row))[0]) for row in chain.rows),
        chain.pairs,
    )
    known = LMC(
        chain.states, chain.labels, tuple(tuple((t, p) for t, p, _ in row) for row in chain.rows), chain.pairs
    )
    assert chain.digest() == known.digest()
    for ask in (delta, bound):
        assert json.dumps(ask(chain, alpha).certificate()) == json.dumps(ask(known, alpha).certificate())


def coin(least: str, most: str) -> IntervalChain:
    """Return a coin that is tossed once."""
    return IntervalChain.from_mappings(
        {"s": "toss", "h": "heads", "t": "tails"},
        {
            "s": {"h": [least, most], "t": [str(1 - Fraction(most)), str(1 - Fraction(least))]},
            "h": {"h": 1},
            "t": {"t": 1},
        },
        [("s", "s")],
    )


def test_a_state_differs_from_itself_where_nature_picks_anew() -> None:
    apart, fixed = (delta(coin("1/4", "3/4"), 1, nature=nature).pairs[0] for nature in NATURES)
    assert (apart.lower, apart.upper) == (fmpq(1, 2), fmpq(1, 2))
    assert (fixed.lower, fixed.upper) == (0, 0)
    assert bound(coin("1/4", "3/4"), 1).pairs[0].upper == fmpq(1, 2)
    assert bound(coin("1/4", "3/4"), 1).pairs[0].target == "s"


def test_a_member_that_nature_has_picked_is_named() -> None:
    model = IntervalChain.from_mappings(
        {"s": "a", "t": "a", "y": "y", "n": "n"},
        {
            "s": {"y": ["1/2", "3/4"], "n": ["1/4", "1/2"]},
            "t": {"y": ["1/4", "1/2"], "n": ["1/2", "3/4"]},
            "y": {"y": 1},
            "n": {"n": 1},
        },
        [("s", "t")],
    )
    pair = delta(model, 1, nature="fixed").pairs[0]
    assert (pair.lower, pair.upper) == (fmpq(1, 2), fmpq(1, 2))
    assert pair.witness.member == {"s": {"y": "3/4", "n": "1/4"}, "t": {"y": "1/4", "n": "3/4"}}


def test_copies_have_names_of_their_own() -> None:
    model = IntervalChain.from_mappings(
        {"s": "a", "s'": "a"}, {"s": {"s": [0, 1], "s'": [0, 1]}, "s'": {"s'": 1}}, [("s", "s'")]
    )
    assert worlds(model, apart=True).states == ("s", "s'", "s''")
    proved(bound(model, 2))


def test_nature_is_one_of_two() -> None:
    with pytest.raises(UsageError, match="nature cannot do 'wild'; expected each-step or fixed"):
        bound(coin("1/4", "3/4"), 1, nature="wild")


@settings(deadline=None, max_examples=20)
@given(interval_chains())
def test_models_are_read_as_they_are_written(chain: IntervalChain) -> None:
    assume(leaves_choice(chain))
    for format in ("json", "yaml"):
        again = parse_model(write_model(chain, format), format=format)
        assert again == chain
        assert again.digest() == chain.digest()


def test_randomised_response_with_coins_that_somebody_bends() -> None:
    """The truth is told if one of two coins shows heads; each shows it with a probability of 1/3 to 2/3."""
    coin = ["1/3", "2/3"]
    states = {"yes": "ask", "no": "ask"} | dict.fromkeys(("yes1", "no1", "yes2", "no2"), "toss")
    rows: dict[str, dict[str, Any]] = {"Y": {"Y": 1}, "N": {"N": 1}}
    for bit, told, other in (("yes", "Y", "N"), ("no", "N", "Y")):
        rows[bit] = {f"{bit}1": coin, f"{bit}2": coin}
        rows[f"{bit}1"] = {told: 1}
        rows[f"{bit}2"] = {told: coin, other: coin}
    bent = IntervalChain.from_mappings({**states, "Y": "y", "N": "n"}, rows, [("yes", "no")])
    at_three = delta(bent, 3).pairs[0]
    assert at_three.exact and at_three.upper == fmpq(5, 9)  # 8/9 against 1/9: fair coins have 3/4 against 1/4
    assert at_three.witness.probability_from == 8 * at_three.witness.probability_to
    assert delta(bent, 8).pairs[0].upper == 0 < delta(bent, "7.9").pairs[0].lower
    proved(delta(bent, 3))
