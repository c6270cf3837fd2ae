"""Formulae: one object each, in canonical form, however deep."""

from __future__ import annotations

import copy
import gc
import pickle
import random

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import NumberError, NumberTypeError, UsageError
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula import (
    ANYTHING,
    TOP,
    StateFormula,
    conjunction,
    conjuncts,
    diamond,
    enabled,
    formula_size,
    mixture,
    negation,
    postorder,
    variable,
)
from tests.logic.formula_reference import formulae

HALF = fmpq(1, 2)


def test_the_canonical_form() -> None:
    a, b, c = enabled("a"), enabled("b"), enabled("c")
    assert conjunction([]) is TOP
    assert conjunction([a]) is a
    assert conjunction([a, conjunction([c, b]), TOP, b]) is conjunction([c, b, a])
    assert conjuncts(conjunction([c, b, a])) == (a, b, c)
    assert negation(negation(a)) is a
    assert negation(TOP) is not TOP
    assert mixture([(HALF, a), (fmpq(1, 4), b), (fmpq(1, 4), a)]) is mixture([("1/4", b), ("3/4", a)])
    assert diamond("a", mixture([])) is not enabled("a")
    assert diamond("a", mixture([])).depth == 1
    assert diamond("a", mixture([(1, TOP)])) is not enabled("a")


def test_bad_weights_are_refused() -> None:
    with pytest.raises(NumberError, match="sum to 3/2"):
        mixture([(1, TOP), (HALF, enabled("a"))])
    with pytest.raises(NumberError, match="weight 0 is not positive"):
        mixture([(0, TOP)])
    with pytest.raises(NumberTypeError, match="not exact"):
        mixture([(0.5, TOP)])


def test_formulae_do_not_change() -> None:
    formula = enabled("a")
    with pytest.raises(AttributeError, match="does not change"):
        formula.action = "b"
    with pytest.raises(AttributeError, match="does not change"):
        del formula.action


@given(formulae())
def test_copies_are_the_same_object(formula: StateFormula) -> None:
    assert copy.copy(formula) is formula
    assert copy.deepcopy(formula) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert pickle.loads(pickle.dumps(ANYTHING)) is ANYTHING


@given(st.lists(formulae(2), max_size=4), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(drawn: list[StateFormula], source: random.Random) -> None:
    again = [*drawn, *drawn[:1], TOP]
    source.shuffle(again)
    assert conjunction(again) is conjunction(drawn)
    if drawn:
        shares = [(fmpq(1, len(drawn)), part) for part in drawn]
        shuffled = list(shares)
        source.shuffle(shuffled)
        assert mixture(shuffled) is mixture(shares)
    assert conjunction(drawn).depth == max((part.depth for part in drawn), default=0)


def chain_of(length: int) -> StateFormula:
    formula: StateFormula = negation(enabled("a"))
    for _ in range(length):
        formula = conjunction([diamond("a", mixture([(HALF, formula), (HALF, TOP)])), negation(enabled("b"))])
    return formula


def test_depth_is_no_obstacle() -> None:
    formula = chain_of(5_000)
    assert formula.depth == 5_001
    assert formula_size(formula) == 15_000 + 6
    assert chain_of(5_000) is formula
    assert repr(formula) == "<Conjunction 15006 nodes, depth 5001>"
    assert pickle.loads(pickle.dumps(formula)) is formula
    before = formula_size(formula)
    del formula
    gc.collect()
    assert formula_size(chain_of(5_000)) == before


def test_parts_come_before_wholes() -> None:
    formula = chain_of(3)
    seen: list[object] = []
    for node in postorder(formula):
        assert all(child in seen for child in getattr(node, "operands", ()))
        seen.append(node)
    assert seen[-1] is formula


def test_systems_of_equations_are_checked() -> None:
    x, y = variable("X"), variable("Y")
    assert variable("X") is x
    with pytest.raises(UsageError, match="the variable Y has no equation"):
        EquationSystem(x, (("X", diamond("a", mixture([(1, y)]))),))
    with pytest.raises(UsageError, match="two equations"):
        EquationSystem(x, (("X", TOP), ("X", x)))
    with pytest.raises(UsageError, match="odd number of negations"):
        EquationSystem(x, (("X", negation(diamond("a", mixture([(1, x)])))),))
    twice = negation(diamond("a", mixture([(1, negation(x))])))
    assert EquationSystem(x, (("X", twice),)).root is x
