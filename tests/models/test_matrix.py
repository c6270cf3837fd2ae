"""Chains from matrices: NumPy, SciPy and nested lists, exact or made so."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from scipy import sparse

from bisimdist import LMC, ModelError
from tests.strategies import lmcs

THIRDS = [[Fraction(1, 3), Fraction(2, 3)], [Fraction(0), Fraction(1)]]


@given(lmcs())
def test_a_chain_comes_back_from_its_matrix(chain: LMC) -> None:
    dense = [[fmpq(0)] * len(chain) for _ in chain.states]
    for state, row in enumerate(chain.rows):
        for target, p in row:
            dense[state][target] = p
    rest: dict[str, Any] = {"states": chain.states, "pairs": chain.pairs}
    assert LMC.from_matrix(dense, chain.labels, **rest) == chain
    assert LMC.from_matrix(np.array(dense, dtype=object), chain.labels, **rest) == chain
    values = [[int(p.p) / int(p.q) for p in row] for row in dense]
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.dok_array):
        assert LMC.from_matrix(kind(np.array(values)), chain.labels, rationalise=True, **rest) == chain


def test_names_and_numbers_name_pairs() -> None:
    chain = LMC.from_matrix(THIRDS, ["a", "b"], states=["s", "t"], pairs=[("s", 1)])
    assert chain.pairs == ((0, 1),)
    assert LMC.from_matrix(np.eye(2, dtype=int), "ab").states == ("0", "1")
    assert LMC.from_matrix(sparse.csr_array(np.eye(2, dtype=np.int8)), "ab").rows == (((0, 1),), ((1, 1),))


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[0.5, 0.5], [0, 1]], "transition 0 -> 0: the entry 0.5 is a double"),
        (np.full((2, 2), 0.5), "the entry 0.5 is a double"),
        (np.eye(2, dtype=np.float32), "float32"),
        (np.eye(2, dtype=bool), "not a number"),
        ([["1/3", "1/3"], [0, 1]], "state '0': the probabilities sum to 2/3"),
        ([[2, -1], [0, 1]], "expected a number in \\[0, 1\\]"),
        ([[1, 0]], "row 0: the row has 2 entries; expected a square matrix of 1"),
        (sparse.coo_matrix((2, 3)), "the shape \\(2, 3\\)"),
        ([[1]], "the matrix has 1 rows, and there are 2 labels"),
        ([], "0 rows"),
    ],
)
def test_what_is_refused(matrix: Any, expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        LMC.from_matrix(matrix, ["a", "b"])


def test_pairs_have_to_be_there() -> None:
    with pytest.raises(ModelError, match="state 7"):
        LMC.from_matrix(THIRDS, "ab", pairs=[(0, 7)])


def test_doubles_become_the_simplest_rationals() -> None:
    chain = LMC.from_matrix(np.array([[1 / 3, 2 / 3], [0.98, 0.02]]), "ab", rationalise=True)
    assert chain.rows == (((0, fmpq(1, 3)), (1, fmpq(2, 3))), ((0, fmpq(49, 50)), (1, fmpq(1, 50))))


def test_a_row_of_doubles_still_has_to_sum_to_one() -> None:
    with pytest.raises(ModelError, match="state '0': the probabilities sum to"):
        LMC.from_matrix([[0.3333333333, 2 / 3], [0, 1]], "ab", rationalise=True)
