"""Brackets of any precision enclose the exact distances, and wrong digits do no harm."""

import json
from itertools import combinations
from unittest.mock import patch

import pytest
from flint import fmpq, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine import digit_brackets
from bisimdist.distances.engine.digit_brackets import prove_digits
from bisimdist.distances.engine.exact_engine import approximate
from bisimdist.distances.engine.improvement import improve_nearly
from bisimdist.distances.engine.question import prepare
from bisimdist.distances.engine.strategy import Strategy, Values
from bisimdist.distances.engine.walks import steps_by_direction
from bisimdist.errors import LimitError
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.answer import Status
from bisimdist.linear import leading
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline
from tests.fixpoint.chains import birth_death, leaking_cycle
from tests.strategies import lmcs

SKEWS = st.sampled_from(["1", "21/20", "3/2", "2"])


def _bracketed(model: LMC, alpha: str, digits: int, distance: str = "bd") -> None:
    """Hold bounds of so many digits against the exact distances, and let their proof be checked."""
    pairs = list(combinations(model.states, 2))
    width = fmpq(1, fmpz(10) ** digits)
    found = bound(model, alpha, pairs=pairs, precision=width, distance=distance)
    exact = bound(model, alpha, pairs=pairs, distance=distance)
    assert exact.status is Status.EXACT
    for near, known in zip(found.pairs, exact.pairs, strict=True):
        assert near.lower <= known.upper <= near.upper <= near.lower + width
    assert check_certificate(json.dumps(found.certificate())).valid


@given(lmcs(8, max_labels=3, max_successors=5), SKEWS, st.integers(17, 200))
def test_brackets_of_any_precision_enclose_the_exact_distances(model: LMC, alpha: str, digits: int) -> None:
    _bracketed(model, alpha, digits)


@settings(max_examples=20)
@given(lmcs(6, max_labels=2, max_successors=4), SKEWS, st.integers(17, 60))
def test_brackets_of_the_asymmetric_distance(model: LMC, alpha: str, digits: int) -> None:
    _bracketed(model, alpha, digits, distance="lbd")


@pytest.mark.parametrize("alpha", ["1", "21/20"])
@pytest.mark.parametrize(
    "model", [leaking_cycle(5, fmpq(1, 10**4)), birth_death(6, fmpq(1, 3)), random_lmc(16, 3, 2, 5)]
)
def test_slow_chains(model: LMC, alpha: str) -> None:
    _bracketed(model, alpha, 50)


def test_a_bracket_of_digits_asks_for_no_exact_solution() -> None:
    model = random_lmc(40, 2, 3, 1)
    with patch.object(Strategy, "values", side_effect=AssertionError("an exact solution")):
        found = bound(model, 1, pairs=list(combinations(model.states, 2)), precision="1e-100")
    assert found.status is Status.BRACKET
    assert max(len(format_rational(pair.upper)) for pair in found.pairs) < 230


@settings(max_examples=20)
@given(lmcs(8, max_labels=2, max_successors=3), SKEWS, st.integers(0, 10**6))
def test_strategies_that_are_not_optimal_are_improved(model: LMC, alpha: str, seed: int) -> None:
    """Digits of a strategy that is no good are no bracket, and no bracket is what they must not become."""
    pairs = tuple(combinations(range(len(model.states)), 2))
    question = prepare(model, fmpq(*map(int, f"{alpha}/1".split("/")[:2])), pairs)
    if not question.functional.size:
        return
    guess = approximate(question)
    basis, options = guess.basis.copy(), question.functional.options
    basis.parent[:] = -1  # all mass given up
    basis.flow[:] = 0
    for index, program in enumerate(question.functional.batch.programs):
        nodes = question.functional.batch.nodes_of(index)
        basis.flow[nodes] = [*program.supply, *program.capacity]
    guess.direction[:] = options[seed % len(options)]
    strategy = Strategy(question.functional, basis, guess.direction, guess.zero)
    good, taken = steps_by_direction(strategy, guess.distance / float(1 << 48))
    exact = bound(model, alpha, pairs=[(model.states[s], model.states[t]) for s, t in pairs])
    try:
        proof = prove_digits(question, strategy, good, taken, fmpq(1, 10**30))
    except LimitError:
        return
    for pair, known in zip(pairs, exact.pairs, strict=True):
        lower, upper = proof.bounds(pair)
        assert lower <= known.upper <= upper <= lower + fmpq(1, 10**30)


@settings(max_examples=20)
@given(lmcs(7, max_labels=2, max_successors=3), SKEWS, st.integers(-(1 << 90), 1 << 90))
def test_wrong_digits_never_reach_the_answer(model: LMC, alpha: str, off: int) -> None:
    honest = improve_nearly

    def spoilt(strategy: Strategy, places: int, **_: object) -> Values:
        values = honest(strategy, places)
        moved = [min(max(x + off, fmpz(0)), values.denominator) for x in values.numerators]
        return Values(moved, values.denominator)

    with patch.object(digit_brackets, "improve_nearly", spoilt):
        _bracketed(model, alpha, 30)


def test_a_deadline_ends_the_work_with_what_doubles_prove() -> None:
    model = random_lmc(60, 2, 2, 1)
    with patch.object(leading, "prepare_lifting", side_effect=LimitError("the time limit was reached")):
        found = bound(model, 1, pairs=[("s0", "s1"), ("s0", "s2")], precision="1e-40")
    assert found.status is Status.EXACT  # by another way
    found = bound(model, 1, pairs=[("s0", "s1")], precision="1e-40", deadline=Deadline.after(0))
    assert found.status is Status.LIMIT
