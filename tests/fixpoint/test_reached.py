"""Exact distances for alpha > 1 of what direct couplings reach, on top of brackets of all pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound import work
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.bound.certificate import certificate_of
from bisimdist.distances.bound.compact import compact_certificate
from bisimdist.distances.engine import reached
from bisimdist.distances.engine.flat_engine import FlatTables, NoBracketError, flat_tables
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.reached import prove_reached
from bisimdist.errors import LimitError
from bisimdist.faces.shown.answer import Status
from bisimdist.linear import SingularSystemError
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from tests.strategies import interactives, lmcs


def twin(model: LMC) -> LMC:
    """Return the chain with another state like the last one, which nothing enters."""
    states = (*model.states, "twin")
    return LMC(states, (*model.labels, model.labels[-1]), (*model.rows, model.rows[-1]), model.pairs)


SKEWS = [fmpq(21, 20), fmpq(6, 5), fmpq(3)]


@pytest.fixture(autouse=True, scope="module")
def _however_few() -> Iterator[None]:
    with patch.object(reached, "SHARE", 1), patch.object(work, "FEW", 0):
        yield


def tables_of(model: System, alpha: fmpq, asked: tuple[int, int], *, ordered: bool) -> FlatTables | None:
    layout = Layout.of(model, alpha, [asked], ordered=ordered)
    if layout is None:
        return None
    try:
        return flat_tables(model, alpha, [asked], layout, fmpq(1, 10**6))
    except NoBracketError:
        return None


def drawn(model: System, alpha: fmpq, data: st.DataObject, *, ordered: bool = False) -> FlatTables:
    tables = tables_of(model, alpha, drawn_pair(model, data), ordered=ordered)
    assume(tables is not None)
    assert tables is not None
    return tables


def drawn_pair(model: System, data: st.DataObject) -> tuple[int, int]:
    classes = distinguishable_classes(model)
    every = [(s, t) for s, t in permutations(range(len(model)), 2) if classes[s] == classes[t]]
    assume(every)
    return data.draw(st.sampled_from(every))


def exact(model: System, alpha: fmpq, pair: tuple[int, int], *, ordered: bool) -> fmpq:
    with patch.object(work, "FEW", 10**6):
        found = bound(
            model,
            alpha,
            pairs=[(model.states[pair[0]], model.states[pair[1]])],
            distance="lbd" if ordered else "bd",
        )
    assert found.status is Status.EXACT
    (known,) = found.pairs
    return known.upper if known.directions is None else known.directions[0][1]


def proved(tables: FlatTables) -> Proof | None:
    """Return the proof, having checked it and its value; None where there is none."""
    try:
        proof = prove_reached(tables)
    except (LimitError, SingularSystemError):
        return None
    (pair,) = tables.asked
    value = exact(tables.model, tables.alpha, pair, ordered=tables.layout.ordered)
    assert proof.bounds(pair) == (value, value)
    assert check_certificate(json.dumps(certificate_of(proof))).valid
    if isinstance(tables.model, LMC):
        assert check_certificate(b"".join(compact_certificate(proof))).valid
    return proof


@settings(max_examples=20)
@given(lmcs(7, max_labels=2, max_successors=3), st.sampled_from(SKEWS), st.booleans(), st.data())
def test_it_is_the_distance(model: LMC, alpha: fmpq, ordered: bool, data: st.DataObject) -> None:
    proved(drawn(model, alpha, data, ordered=ordered))


@settings(max_examples=30)
@given(lmcs(7, max_labels=2, max_successors=3), st.sampled_from(SKEWS), st.booleans(), st.data())
def test_pairs_that_tie_are_let_in(model: LMC, alpha: fmpq, ordered: bool, data: st.DataObject) -> None:
    """Where nothing is known of a third state it seems to offer a shortcut, until its distances are exact."""
    tables = drawn(model, alpha, data, ordered=ordered)
    proved(replace(tables, lower=np.zeros_like(tables.lower)))


@settings(max_examples=20)
@given(interactives(), st.sampled_from(SKEWS), st.data())
def test_interactive_models(model: System, alpha: fmpq, data: st.DataObject) -> None:
    proved(drawn(model, alpha, data))


@pytest.mark.parametrize("alpha", SKEWS)
@pytest.mark.parametrize(
    "model", [random_lmc(20, 3, 2, 5), twin(random_lmc(20, 3, 2, 5)), build_example("dining-cryptographers")]
)
def test_it_is_found(model: LMC, alpha: fmpq) -> None:
    tables = tables_of(model, alpha, model.pairs[0] if model.pairs else (0, 1), ordered=False)
    assert tables is not None
    proof = proved(tables)
    assert proof is not None
    assert proof.whole().question.functional.size > proof.question.functional.size
