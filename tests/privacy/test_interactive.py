"""Delta of interactive models against every analyst, one by one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.errors import LimitError, UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.interactive import Interactive, chain_as_interactive
from bisimdist.models.io import write_model
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from bisimdist.models.unrolling import unrolled
from bisimdist.privacy.delta.answer import DeltaAnswer
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.engine import closure as closing
from bisimdist.privacy.engine.policy import Policy
from bisimdist.progress import Deadline
from tests.fixpoint.test_actions import two_ways
from tests.reference.analysts import best_adaptive, best_fixed
from tests.strategies import alphas, interactives, lmcs

PAIR = [("s0", "s1")]


def plain(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def two_questions() -> Interactive:
    """Return a secret bit that two questions are asked about, each as often as somebody likes."""
    yes = {"X": ("3/4", "1/2"), "Y": ("5/8", "7/8")}
    states = {f"{bit}{seen}": seen for bit in "01" for seen in ("start", "yes", "no")}
    moves = {
        name: {
            action: {f"{name[0]}yes": p, f"{name[0]}no": str(1 - Fraction(p))}
            for action, both in yes.items()
            for p in [both[int(name[0])]]
        }
        for name in states
    }
    return Interactive.from_mappings(states, moves, [("1start", "0start")])


def proved(answer: DeltaAnswer) -> None:
    """Let the checker judge the proof."""
    text = json.dumps(answer.certificate())
    report = check_certificate(text, write_model(answer.model, "json"))
    assert report.valid, report.reason
    for claim, pair in zip(report.other_claims, answer.pairs, strict=True):
        assert (claim["lower"], claim["upper"]) == (str(pair.lower), str(pair.upper))


def consistent(answer: DeltaAnswer, alpha: fmpq) -> None:
    """Hold every witness against its lower bound."""
    for pair in answer.pairs:
        found = pair.witness
        gained = found.probability_from - alpha * found.probability_to
        assert gained == pair.lower or (pair.lower == 0 and gained <= 0) or not pair.exact


def test_two_questions_about_a_secret_bit() -> None:
    model, alpha = two_questions(), fmpq(2)
    adaptive, fixed = delta(model, alpha, rounds=3), delta(model, alpha, rounds=3, fixed=True)
    assert [way[0] for way in adaptive.pairs[0].directions] == [fmpq(7, 32), fmpq(31, 128)]
    assert [way[1] for way in fixed.pairs[0].directions] == [fmpq(3, 16), fmpq(31, 128)]
    assert (adaptive.status, fixed.status) == (Status.EXACT, Status.EXACT)
    assert best_fixed(model, "1start", "0start", Fraction(2), 3) == Fraction(3, 16)


def test_two_questions_by_all_analysts() -> None:
    model = two_questions()
    short = Interactive(
        model.states, tuple("no" if x == "start" else x for x in model.labels), model.moves, model.pairs
    )
    assert best_adaptive(short, "1start", "0start", Fraction(2), 3) == Fraction(7, 32)


def test_a_sequence_goes_where_an_adaptive_analyst_does_not_look() -> None:
    model = two_questions()
    expected = [best_fixed(model, *names, Fraction(3, 2), 6) for names in model_pairs(model)]
    for options in ({}, {"gap": fmpq(1)}):  # with a gap of 1 nothing was looked at before
        answer = delta(model, fmpq(3, 2), rounds=6, fixed=True, **options)
        assert answer.status is Status.EXACT
        assert [plain(upper) for _, upper in answer.pairs[0].directions] == expected
        consistent(answer, fmpq(3, 2))
        proved(answer)


def model_pairs(model: Interactive) -> list[tuple[str, str]]:
    """Return the one pair of a model, both ways round."""
    ((s, t),) = model.pairs
    return [(model.states[s], model.states[t]), (model.states[t], model.states[s])]


@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(2)])
def test_without_a_bound_on_rounds(alpha: fmpq) -> None:
    answer = delta(two_ways(), alpha)
    (pair,) = answer.pairs
    assert (pair.lower, pair.upper, answer.status) == (fmpq(1, 2), fmpq(1, 2), Status.EXACT)
    assert pair.witness.event.asks[1] == "B"
    assert bound(two_ways(), alpha).pairs[0].upper == fmpq(1, 2)
    consistent(answer, alpha)
    proved(answer)


@settings(max_examples=20, deadline=None)
@given(interactives(3), alphas(), st.integers(0, 3))
def test_it_is_the_best_of_all_analysts(model: Interactive, alpha: fmpq, rounds: int) -> None:
    answer = delta(model, alpha, pairs=PAIR, rounds=rounds)
    (pair,) = answer.pairs
    proved(answer)
    expected = [best_adaptive(model, *names, plain(alpha), rounds) for names in (("s0", "s1"), ("s1", "s0"))]
    assert plain(pair.lower) == plain(pair.upper) == max(expected)
    for (low, high), best in zip(pair.directions, expected, strict=True):
        assert plain(low) <= best <= plain(high)  # only the better direction is looked at to the end
    consistent(answer, alpha)
    fixed = delta(model, alpha, pairs=PAIR, rounds=rounds, fixed=True)
    best = max(best_fixed(model, *names, plain(alpha), rounds) for names in (("s0", "s1"), ("s1", "s0")))
    assert plain(fixed.pairs[0].lower) == plain(fixed.pairs[0].upper) == best
    proved(fixed)
    consistent(fixed, alpha)


@settings(max_examples=30, deadline=None)
@given(lmcs(5), alphas(), st.integers(0, 1))
def test_with_one_action_it_is_the_delta_of_the_chain(chain: LMC, alpha: fmpq, first: int) -> None:
    pairs = [(chain.states[first], chain.states[1 - first])]
    options = {"pairs": pairs, "gap": fmpq(1, 1000)}
    one, other = delta(chain_as_interactive(chain), alpha, **options), delta(chain, alpha, **options)
    assert (one.pairs[0].lower, one.pairs[0].upper) == (other.pairs[0].lower, other.pairs[0].upper)
    assert one.pairs[0].witness.event.nodes == other.pairs[0].witness.event.nodes
    proved(one)


@settings(max_examples=12, deadline=None)
@given(interactives(4, max_actions=3), alphas())
def test_more_rounds_and_actions_gain_no_less_and_no_more_than_the_distance(
    model: Interactive, alpha: fmpq
) -> None:
    fewer = Interactive(
        model.states, model.labels, tuple(tuple(m for m in moves if m[0] != "Z") for moves in model.moves)
    )
    gained = [delta(model, alpha, pairs=PAIR, rounds=rounds).pairs[0].upper for rounds in range(4)]
    assert gained == sorted(gained)
    assert delta(fewer, alpha, pairs=PAIR, rounds=3).pairs[0].upper <= gained[3]
    unbounded = delta(model, alpha, pairs=PAIR, gap=fmpq(1, 100), deadline=Deadline.after(0.3))
    proved(unbounded)
    (free,) = unbounded.pairs
    assert gained[3] <= free.upper
    (lbd,), (bd,) = (bound(model, alpha, distance=name, pairs=PAIR).pairs for name in ("lbd", "bd"))
    assert free.lower <= lbd.upper <= bd.upper
    assert gained[3] <= lbd.upper


@settings(max_examples=12, deadline=None)
@given(interactives(4), alphas())
def test_without_time_for_equations_the_bounds_hold(model: Interactive, alpha: fmpq) -> None:
    (exact,) = delta(model, alpha, pairs=PAIR, gap=fmpq(1, 100), deadline=Deadline.after(0.3)).pairs
    with pytest.MonkeyPatch.context() as patch:

        def never(*_: object, **__: object) -> None:
            raise LimitError("no time")

        patch.setattr(Policy, "improve", never)
        patch.setattr(closing, "solve_exact", never)
        answer = delta(model, alpha, pairs=PAIR, gap=fmpq(1, 100), deadline=Deadline.after(0.3))
    (pair,) = answer.pairs
    proved(answer)
    assert pair.lower <= exact.upper
    assert exact.lower <= pair.upper
    found = pair.witness
    assert found.probability_from - alpha * found.probability_to >= pair.lower


@settings(max_examples=30, deadline=None)
@given(interactives(4), st.integers(0, 3))
def test_an_unrolled_model_is_the_same_for_so_many_rounds(model: Interactive, rounds: int) -> None:
    found = unrolled(model, rounds, [0, 1])
    pair = [(found.model.states[found.starts[s]], found.model.states[found.starts[t]]) for s, t in [(0, 1)]]
    (free,) = delta(found.model, 1, pairs=pair).pairs
    (held,) = delta(model, 1, pairs=PAIR, rounds=rounds).pairs
    assert (free.lower, free.upper) == (held.lower, held.upper)
    assert [found.labels[label] for label in found.model.labels] == [
        model.labels[origin] for origin in found.origin
    ]


def forged(answer: DeltaAnswer, **claim: Any) -> str:
    """Return why the checker refuses a proof in which a claim was changed; "" where it does not."""
    document: Any = answer.certificate()
    (part,) = document["reduced"]
    sides = {name: claim[name] for name in ("lower", "upper") if name in claim}
    (said,), (inside,) = document["claims"], part["proof"]["claims"]
    place = {said["from"]: inside["from"], said["to"]: inside["to"]}
    if "direction" in claim:
        claim["direction"] = [place[name] for name in claim["direction"]]
    document["claims"] = [{**said, **sides}]
    part["proof"]["claims"] = [{**inside, **claim}]
    report = check_certificate(json.dumps(document), write_model(answer.model, "json"))
    return "" if report.valid else str(report.reason)


@settings(max_examples=15, deadline=None)
@given(interactives(4, max_actions=3), alphas(), st.integers(1, 3), st.data())
def test_a_proof_about_sequences_says_no_more_than_holds(
    model: Interactive, alpha: fmpq, rounds: int, data: st.DataObject
) -> None:
    answer = delta(model, alpha, pairs=PAIR, rounds=rounds, fixed=True)
    proved(answer)
    best = max(best_fixed(model, *names, plain(alpha), rounds) for names in (("s0", "s1"), ("s1", "s0")))
    claimed = data.draw(st.sampled_from([best / 2, best, (best + 1) / 2, best + Fraction(1, 1000)]))
    upper = min(Fraction(1), max(claimed, best))
    assert not forged(answer, upper=str(upper))
    if claimed < best:
        assert "upper bound" in forged(answer, lower="0", upper=str(claimed))
    if best < claimed <= 1:
        assert "C1" in forged(answer, lower=str(claimed), upper="1", direction=["s0", "s1"], sequence=["X"])
    sequence = data.draw(st.lists(st.sampled_from("XYZ"), max_size=rounds))
    more = {"lower": str(best + Fraction(1, 10**6)), "upper": "1", "sequence": sequence}
    for direction in (["s0", "s1"], ["s1", "s0"]):
        assert forged(answer, direction=direction, **more)


@pytest.mark.parametrize("alpha", [1, 2])
def test_where_nothing_is_on_offer_nothing_is_found_out(alpha: int) -> None:
    model = Interactive.from_mappings({"s": "a", "t": "a", "u": "b"}, {}, pairs=[("s", "t"), ("s", "u")])
    options: Sequence[dict[str, Any]] = ({}, {"distance": "lbd"}, {"precision": "1/10"})
    answers: list[Any] = [delta(model, alpha), *(bound(model, alpha, **chosen) for chosen in options)]
    for answer in answers:
        assert [pair.upper for pair in answer.pairs] == [0, 1]
        assert check_certificate(json.dumps(answer.certificate()), write_model(model, "json")).valid


def test_rounds_are_for_who_asks() -> None:
    for options in ({"rounds": 2}, {"fixed": True}):
        with pytest.raises(UsageError, match="no analyst"):
            delta(build_example("figure1"), 1, **options)
    with pytest.raises(UsageError, match="how many rounds"):
        delta(two_ways(), 1, fixed=True)
    with pytest.raises(UsageError, match="at least 0"):
        delta(two_ways(), 1, rounds=-1)
