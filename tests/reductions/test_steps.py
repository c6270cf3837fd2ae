"""Claims on their way back: what each step keeps, widens and drops, and what no way back is claimed of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimdist
from bisimdist import UsageError, bound, check_certificate, delta, leakage
from bisimdist.exact.bounds import DirectionError
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import worlds
from bisimdist.programs.chain import Origin, ProgramChain
from bisimdist.reductions.chain import REDUCTIONS, straight
from bisimdist.reductions.claim import Above, Below, Claim
from bisimdist.reductions.cut import Cut
from bisimdist.reductions.merge import Merged
from bisimdist.reductions.nature import Member, Picked, Widened

HALF, QUARTER, ONE = fmpq(1, 2), fmpq(1, 4), fmpq(1)


def intervals() -> IntervalChain:
    rows: dict[str, Any] = {
        "s": {"x": ["1/4", "1/2"], "y": ["1/2", "3/4"]},
        "t": {"x": ["1/3", "2/3"], "y": ["1/3", "2/3"]},
        "x": {"x": 1},
        "y": {"y": 1},
    }
    return IntervalChain.from_mappings({"s": "a", "t": "a", "x": "b", "y": "c"}, rows, [("s", "t")])


def asked() -> Interactive:
    return Interactive.from_mappings(
        {"s": "a", "t": "a", "x": "b", "y": "c"},
        {
            "s": {"X": {"x": "1/2", "y": "1/2"}, "Y": {"x": 1}},
            "t": {"X": {"x": "1/4", "y": "3/4"}, "Y": {"x": "3/4", "y": "1/4"}},
        },
        [("s", "t")],
    )


def program(mass: fmpq) -> ProgramChain:
    """A program whose runs from s are cut off with a probability, and those from t with half of it."""
    names = ("s", "t", "x", "cut")
    first, second = ((2, ONE - mass), (3, mass)), ((2, ONE - mass / 2), (3, mass / 2))
    rows = (*(tuple((t, p) for t, p in row if p) for row in (first, second)), ((2, ONE),), ((3, ONE),))
    cut = {0: mass, 1: mass / 2, 3: ONE} if mass else {}
    return ProgramChain(names, ("a", "a", "b", "cut"), rows, ((0, 1),), Origin("f", "output", {}), cut)


def claim(quantity: str, alpha: fmpq = ONE, states: tuple[str, ...] = ("s", "t")) -> Claim:
    return Claim.between(quantity, states, (QUARTER, HALF), (alpha, alpha))


def test_a_claim_does_not_mix_its_sides() -> None:
    with pytest.raises(DirectionError):
        Claim(quantity="delta", states=("s", "t"), below=Above(HALF), above=None)  # type: ignore[arg-type]
    with pytest.raises(DirectionError):
        Claim(quantity="delta", states=("s", "t"), below=None, above=Below(HALF))  # type: ignore[arg-type]


def test_a_bound_without_a_way_back_is_gone_and_nothing_is_exact() -> None:
    chain = intervals()
    member = LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})
    exact = Claim.between("delta", ("s", "t"), (HALF, HALF), (ONE, ONE))
    assert exact.exact
    for step, below, above in (
        (Picked(chain, worlds(chain, apart=True), "each-step"), True, True),
        (Picked(chain, worlds(chain, apart=False), "fixed"), False, True),
        (Widened(chain, chain), False, True),
        (Member(chain, member), True, False),
    ):
        found = step.back(exact)
        assert (found.below is not None, found.above is not None) == (below, above)
        assert found.exact == (below and above)


@pytest.mark.parametrize("alpha", [ONE, fmpq(3, 2)])
def test_a_cut_widens_delta_by_the_formulas_of_the_theory(alpha: fmpq) -> None:
    step = Cut(program(fmpq(1, 8)), LMC.from_mappings({"s": "a"}, {"s": {"s": 1}}))
    p, q = fmpq(1, 8), fmpq(1, 16)
    found = step.back(claim("delta", alpha))
    assert found.sides == (max(fmpq(0), QUARTER - max(p + alpha * q, q + alpha * p)), HALF + p)
    distance = step.back(claim("bd", alpha))
    assert (distance.quantity, distance.below, distance.above) == ("delta", None, Above(HALF + p))
    whole = step.back(claim("bd", alpha, ("x", "x")))
    assert whole == claim("bd", alpha, ("x", "x"))


def test_merging_widens_both_sides_and_distances_above_one_lose_the_lower_one() -> None:
    chain = bisimdist.build_example("figure1")
    step = Merged(chain, chain, {name: name for name in chain.states}, fmpq(1, 100), dict)
    assert step.back(claim("delta", fmpq(3, 2))).sides == (QUARTER - fmpq(1, 40), HALF + fmpq(1, 40))
    assert step.back(claim("bd")).sides == (QUARTER - fmpq(1, 50), HALF + fmpq(1, 50))
    assert step.back(claim("bd", fmpq(3, 2))).below is None


def steps_of(document: Any) -> list[list[str]]:
    return [[step["name"] for step in part["steps"]] for part in document["reduced"]]


def proved(answer: Any) -> Any:
    document = answer.certificate()
    report = check_certificate(json.dumps(document))
    assert report.valid, report.reason
    for said, pair in zip(report.plain_claims(), answer.pairs, strict=False):
        assert said["upper"] == str(pair.upper)
        assert said["lower"] == str(pair.lower)
    return document


@pytest.mark.parametrize("nature", ["each-step", "fixed"])
@pytest.mark.parametrize("alpha", [1, "11/10"])
def test_what_is_proved_of_intervals_is_what_is_answered(nature: str, alpha: Any) -> None:
    expected = [["nature"]] if nature == "each-step" else [["nature"], ["member"]]
    assert steps_of(proved(delta(intervals(), alpha, nature=nature))) == expected
    assert steps_of(proved(bound(intervals(), alpha, nature=nature))) == expected
    assert steps_of(proved(leakage(intervals(), "tv", nature=nature))) == expected
    assert steps_of(proved(leakage(intervals(), "chi2", nature=nature))) == expected


def test_an_event_with_cycles_is_proved_in_the_chain_that_is_named() -> None:
    """A lower bound that rests on nodes, and not on an event without cycles."""
    rows: dict[str, Any] = {
        "s": {"s": "1/2", "x": ["1/8", "1/4"], "y": ["1/4", "3/8"]},
        "t": {"t": "1/2", "x": "1/4", "y": "1/4"},
        "x": {"x": 1},
        "y": {"y": 1},
    }
    chain = IntervalChain.from_mappings({"s": "a", "t": "a", "x": "b", "y": "c"}, rows, [("s", "t")])
    answer = delta(chain, 1, nature="fixed", gap="1/1000")
    assert answer.lower > 0
    proved(answer)


@pytest.mark.parametrize("fixed", [False, True])
def test_rounds_are_a_step(fixed: bool) -> None:
    answer = delta(asked(), "3/2", rounds=1, fixed=fixed)
    document = proved(answer)
    assert steps_of(document) == [["rounds"]]
    assert document["claims"][0]["rounds"] == 1


def test_a_cut_is_a_step_and_a_whole_program_needs_none() -> None:
    cut = program(fmpq(1, 8))
    assert steps_of(proved(delta(cut, 2))) == [["cut"]]
    assert steps_of(proved(bound(cut, 2))) == [["cut"]]
    whole = program(fmpq(0))
    assert steps_of(delta(whole, 2).certificate()) == [["quotient"]]  # s and t do the same
    assert delta(whole, 2).pairs[0].cut == (0, 0)


def test_what_no_rule_brings_back_is_not_proved() -> None:
    cut = program(fmpq(1, 8))
    with pytest.raises(UsageError, match="bd and delta"):
        bound(cut, 2, distance="lbd").certificate()
    with pytest.raises(UsageError, match="no certificate"):
        leakage(cut, "tv").certificate()


def test_many_vertices_are_proved_in_wider_intervals() -> None:
    many = {f"t{k}": ["0", "1/8"] for k in range(16)}
    labels = {"s": "a", "r": "a"} | {name: "b" if k % 2 else "c" for k, name in enumerate(many)}
    rows: dict[str, Any] = {"s": many, "r": many, **{name: {name: 1} for name in many}}
    chain = IntervalChain.from_mappings(labels, rows, [("s", "r")])
    assert chain.relaxed() is not chain
    answer = delta(chain, 2)
    document: Any = answer.certificate()
    report = check_certificate(json.dumps(document), json.dumps(chain.canonical()))
    assert report.valid, report.reason
    assert steps_of(document) == [["widen", "nature"]]
    (said,) = report.plain_claims()
    assert (said["lower"], said["upper"]) == ("0", str(answer.upper))


@settings(max_examples=20, deadline=None)
@given(st.fractions(0, 1, max_denominator=16), st.fractions(1, 4, max_denominator=4))
def test_whatever_runs_that_are_cut_off_would_show_is_inside(mass: Any, alpha: Any) -> None:
    """Send them anywhere: delta of the whole program is between the bounds."""
    cut = program(fmpq(mass.numerator, mass.denominator))
    skew = fmpq(alpha.numerator, alpha.denominator)
    pair = delta(cut, skew).pairs[0]
    for first in ("x", "n"):
        for second in ("x", "n"):
            m = cut.cut.get(0, fmpq(0))
            one = {"x": ONE - m, "n": fmpq(0)}
            two = {"x": ONE - m / 2, "n": fmpq(0)}
            one[first] += m
            two[second] += m / 2
            gains = [max(fmpq(0), one[o] - skew * two[o]) for o in "xn"]
            back = [max(fmpq(0), two[o] - skew * one[o]) for o in "xn"]
            true = max(sum(gains, fmpq(0)), sum(back, fmpq(0)))
            assert pair.lower <= true <= pair.upper


def test_straight_leaves_models_that_are_no_programs_alone() -> None:
    chain = bisimdist.build_example("figure1")
    assert straight(chain) == (chain, ())
    assert len(REDUCTIONS) == len({type(reduction) for reduction in REDUCTIONS})
