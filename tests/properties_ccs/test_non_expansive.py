"""No operator of CCS_p makes processes more distant (Proposition 4), for both metrics.

Xu, Chatzikokolakis, Lin, "Metrics for Differential Privacy in Concurrent Systems", FORTE 2014.
"""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from bisimdist.automata.engine.accumulative import accumulative_values
from bisimdist.automata.engine.amortised import amortised_values
from bisimdist.automata.engine.game import SAME, Arena
from bisimdist.errors import ModelError
from bisimdist.models.ccs.normal import normal_form
from bisimdist.models.ccs.parser import parse_term
from bisimdist.models.ccs.semantics import automaton
from bisimdist.models.ccs.specification import Specification
from bisimdist.models.ccs.syntax import (
    Action,
    Parallel,
    Prefix,
    Probabilistic,
    Restriction,
    Sum,
    Term,
)
from tests.models.ccs.terms import CYCLES, actions, neighbours, terms

LIMIT = 400
"""Larger automata are not drawn: the property does not need them."""

Pair = tuple[Term, Term]


def measured(kind: str, pairs: list[Pair]) -> list[fmpq | None] | None:
    """Return the exponentials of the distances, None for infinity; None in all if that takes too long."""
    try:
        model = automaton(Specification(CYCLES, (), tuple(pairs)), state_limit=LIMIT)
    except ModelError:
        return None
    arena = Arena(model, model.pairs)
    positions = [arena.position(s, t) for s, t in model.pairs]
    if kind == "accumulative":
        found = accumulative_values(arena)
        return [found.value(position) for position in positions]
    asked = [position for position in positions if position is not None and position != SAME]
    amortised = amortised_values(arena, asked)
    if not all(amortised.found(position) for position in positions):
        return None
    return [amortised.lower(position) for position in positions]


def distances(kind: str, pairs: list[Pair]) -> list[fmpq | None]:
    found = measured(kind, pairs)
    assume(found is not None)
    return found or []


def not_more(kind: str, inner: Pair, outer: Pair) -> None:
    before, after = distances(kind, [inner, outer])
    assert before is None or (after is not None and after <= before), (before, after)


KINDS = pytest.mark.parametrize("kind", ["accumulative", "amortised"])
COIN = (parse_term("1/2: a.0 (+) 1/2: b.0"), parse_term("1/3: a.0 (+) 2/3: b.0"))
TWICE = (
    parse_term("a.(1/2: a.0 (+) 1/2: 0) + (1/4: b.0 (+) 3/4: X)"),
    parse_term("a.(1/5: a.0 (+) 4/5: 0) + (1/4: b.0 (+) 3/4: X)"),
)


@KINDS
@settings(max_examples=25)
@given(pair=neighbours(), action=actions())
@example(pair=COIN, action=Action("a"))
def test_prefix(kind: str, pair: Pair, action: Action) -> None:
    not_more(kind, pair, (Prefix(action, pair[0]), Prefix(action, pair[1])))


@KINDS
@settings(max_examples=25)
@given(pair=neighbours(), names=st.lists(st.sampled_from("abc"), min_size=1, max_size=2))
@example(pair=TWICE, names=["b"])
def test_restriction(kind: str, pair: Pair, names: list[str]) -> None:
    not_more(kind, pair, (Restriction(tuple(names), pair[0]), Restriction(tuple(names), pair[1])))


@KINDS
@settings(max_examples=25)
@given(pair=neighbours(), other=terms(max_leaves=4))
@example(pair=COIN, other=parse_term("1/2: a.0 (+) 1/2: b.0"))
def test_choice(kind: str, pair: Pair, other: Term) -> None:
    not_more(kind, pair, (Sum((other, pair[0])), Sum((other, pair[1]))))


@KINDS
@settings(max_examples=25)
@given(pair=neighbours(), other=terms(max_leaves=4), share=st.sampled_from([1, 3, 5]))
@example(pair=COIN, other=parse_term("0"), share=1)
def test_probabilistic_choice_beside_another_process(kind: str, pair: Pair, other: Term, share: int) -> None:
    # Where the other branch is one of the two processes, the branches of one side are merged: see below.
    different = normal_form(other) not in {normal_form(pair[0]), normal_form(pair[1])}
    assume(different or normal_form(pair[0]) == normal_form(pair[1]))
    one, two = (Probabilistic(((fmpq(share, 6), other), (fmpq(6 - share, 6), process))) for process in pair)
    not_more(kind, pair, (one, two))


@KINDS
@settings(max_examples=25)
@given(pair=neighbours(max_leaves=4), other=terms(max_leaves=3))
@example(pair=TWICE, other=parse_term("~a.b.0"))
@example(pair=COIN, other=parse_term("1/2: ~a.0 (+) 1/2: ~b.0"))
def test_parallel_composition(kind: str, pair: Pair, other: Term) -> None:
    not_more(kind, pair, (Parallel((other, pair[0])), Parallel((other, pair[1]))))


@KINDS
def test_probabilistic_choice_with_the_process_itself_expands(kind: str) -> None:
    """The clause needs its branches to be different: a merged support has no bijection to a pair."""
    first, second = COIN
    mixed = [Probabilistic(((fmpq(1, 2), first), (fmpq(1, 2), process))) for process in COIN]
    assert measured(kind, [(first, second), (mixed[0], mixed[1])]) == [fmpq(3, 2), None]


@settings(max_examples=25)
@given(pair=neighbours(), third=terms(max_leaves=4))
def test_pseudometric_laws_on_processes(pair: Pair, third: Term) -> None:
    first, second = pair
    asked = [(first, first), (first, second), (second, first), (second, third), (first, third)]
    for kind in ("accumulative", "amortised"):
        own, there, back, on, far = distances(kind, asked)
        assert own == 1
        assert there == back
        assert there is None or on is None or (far is not None and far <= there * on)
    large, small = distances("accumulative", asked)[1], distances("amortised", asked)[1]
    assert large is None or (small is not None and small <= large)
