"""bd and lbd of interactive models: the largest lifting of all actions, proved from above and from below."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.automata.generalised.ask import generalised_metric
from bisimdist.checker import check_certificate
from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.distances.bound.ask import bound
from bisimdist.faces.shown.answer import Status
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.solve import solve
from bisimdist.models.interactive import Interactive, chain_as_interactive, interactive_as_automaton
from bisimdist.models.io import write_model
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import Deadline
from tests.strategies import alphas, interactives, lmcs

ZERO, ONE = fmpq(0), fmpq(1)
Table = dict[tuple[int, int], fmpq]


def step(model: Interactive, alpha: fmpq, distance: Table, *, ordered: bool) -> Table:
    """Apply the functional: by definition, with every state in every linear program."""
    states = range(len(model))
    matrix = tuple(tuple(distance[i, j] for j in states) for i in states)
    result = {}
    for i, j in distance:
        found = ZERO if i == j or model.labels[i] == model.labels[j] else ONE
        for action, row in model.moves[i] if found == 0 and i != j else ():
            rows = dict(row), dict(model.row(j, action) or ())
            here, there = (tuple(masses.get(k, ZERO) for k in states) for masses in rows)
            problem = SkewedProblem(alpha, here, there, matrix)
            found = max(found, solve(problem).value)
            if not ordered:
                found = max(found, solve(problem.swapped()).value)
        result[i, j] = found
    return result


def kleene(model: Interactive, alpha: fmpq, rounds: int, *, ordered: bool) -> Table:
    distance = {(i, j): ZERO for i in range(len(model)) for j in range(len(model))}
    for _ in range(rounds):
        distance = step(model, alpha, distance, ordered=ordered)
    return distance


def values(answer: DistanceAnswer) -> Table:
    index = answer.model.index
    return {(index(p.source), index(p.target)): p.upper for p in answer.pairs}


def proved(answer: DistanceAnswer) -> None:
    assert answer.status is Status.EXACT
    text = json.dumps(answer.certificate())
    report = check_certificate(text, write_model(answer.model, "json"))
    assert report.valid, report.reason
    for claim, pair in zip(report.claims, answer.pairs, strict=False):
        if claim.distance == "bd":
            assert claim.exact
            assert claim.upper == Fraction(int(pair.upper.p), int(pair.upper.q))


@settings(max_examples=25, deadline=None)
@given(interactives(4), alphas(), st.booleans())
def test_the_distance_is_the_least_fixed_point(model: Interactive, alpha: fmpq, ordered: bool) -> None:
    pairs = [(model.states[i], model.states[j]) for i, j in permutations(range(len(model)), 2)]
    answer = bound(model, alpha, distance="lbd" if ordered else "bd", pairs=pairs)
    proved(answer)
    found = dict.fromkeys(((i, i) for i in range(len(model))), ZERO)
    for pair in answer.pairs:
        one, other = model.index(pair.source), model.index(pair.target)
        found[one, other] = pair.upper if pair.directions is None else pair.directions[0][1]
    assert step(model, alpha, found, ordered=ordered) == found
    below = kleene(model, alpha, 6, ordered=ordered)
    assert all(below[pair] <= found[pair] for pair in found)


@settings(max_examples=25, deadline=None)
@given(lmcs(5), alphas())
def test_with_one_action_it_is_the_distance_of_the_chain(chain: LMC, alpha: fmpq) -> None:
    pairs = [(chain.states[i], chain.states[j]) for i, j in permutations(range(len(chain)), 2)]
    for distance in ("bd", "lbd"):
        answer = bound(chain_as_interactive(chain), alpha, distance=distance, pairs=pairs)
        proved(answer)
        assert values(answer) == values(bound(chain, alpha, distance=distance, pairs=pairs))


@settings(max_examples=25, deadline=None)
@given(interactives(4, max_actions=3), alphas())
def test_more_to_ask_is_no_less(model: Interactive, alpha: fmpq) -> None:
    fewer = Interactive(
        model.states, model.labels, tuple(tuple(m for m in moves if m[0] != "Z") for moves in model.moves)
    )
    pairs = [("s0", "s1")]
    assert bound(fewer, alpha, pairs=pairs).pairs[0].upper <= bound(model, alpha, pairs=pairs).pairs[0].upper


def test_brackets_close_as_far_as_is_asked() -> None:
    model = two_ways()
    (pair,) = bound(model, fmpq(3, 2), precision="1/1000").pairs
    (exact,) = bound(model, fmpq(3, 2)).pairs
    assert pair.lower <= exact.upper <= pair.upper <= pair.lower + fmpq(1, 1000)


def two_ways() -> Interactive:
    """Return two states that differ by an answer now, or later and then for certain."""
    return Interactive.from_mappings(
        {"u": "w", "v": "w", "y": "yes", "n": "no", "e": "stop"},
        {
            "u": {"A": {"y": "1/2", "n": "1/2"}, "B": {"y": "1/8", "u": "3/4", "e": "1/8"}},
            "v": {"A": {"y": "1/4", "n": "3/4"}, "B": {"n": "1/8", "v": "3/4", "e": "1/8"}},
        },
        [("u", "v")],
    )


@pytest.mark.parametrize("alpha", ["1", "2"])
@pytest.mark.parametrize("distance", ["bd", "lbd"])
def test_the_better_action_counts_even_if_it_is_slow(alpha: str, distance: str) -> None:
    answer = bound(two_ways(), alpha, distance=distance)
    proved(answer)
    assert answer.pairs[0].upper == fmpq(1, 2)


@settings(max_examples=15, deadline=None)
@given(interactives(4))
def test_the_metrics_of_automata_are_above_what_an_analyst_gains(model: Interactive) -> None:
    automaton, pairs = interactive_as_automaton(model), [("s0", "s1")]
    (additive,) = generalised_metric(automaton, "additive", pairs=pairs).pairs
    assert additive.lower == additive.upper == bound(model, 1, pairs=pairs).pairs[0].upper
    (ratio,) = generalised_metric(automaton, "multiplicative", pairs=pairs, deadline=Deadline.after(1)).pairs
    if ratio.upper is not None:
        assert delta(model, ratio.upper, pairs=pairs, rounds=3).upper == 0
