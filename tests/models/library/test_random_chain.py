from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import UsageError
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from bisimdist.models.transform import reachable_states


@st.composite
def chains(draw: st.DrawFn, *, acyclic: bool, uniform: bool = False) -> LMC:
    states = draw(st.integers(2, 12))
    return random_lmc(
        states,
        draw(st.integers(1, states)),
        draw(st.integers(1, states - 1)),
        draw(st.integers(0, 10**6)),
        denominator=draw(st.integers(12, 60)),
        acyclic=acyclic,
        uniform=uniform,
    )


@given(chains(acyclic=False))
def test_pairs_are_the_first_two_states_of_one_label(lmc: LMC) -> None:
    ((s, t),) = lmc.pairs
    assert s < t
    assert lmc.labels[s] == lmc.labels[t]
    assert lmc.labels[s] not in lmc.labels[s + 1 : t]
    assert all(lmc.labels.count(lmc.labels[state]) == 1 for state in range(s))


@given(st.integers(1, 12), st.integers(12, 60), st.integers(0, 10**6), st.booleans())
def test_rows_have_so_many_successors_and_their_denominators_divide(
    successors: int, denominator: int, seed: int, uniform: bool
) -> None:
    lmc = random_lmc(12, successors, 2, seed, denominator=denominator, uniform=uniform)
    for row in lmc.rows:
        assert len(row) == successors
        assert all(denominator % int(p.q) == 0 for _, p in row) or uniform
        assert not uniform or {p for _, p in row} == {fmpq(1, successors)}


@given(chains(acyclic=True))
def test_an_acyclic_chain_only_goes_forward(lmc: LMC) -> None:
    last = len(lmc) - 1
    assert lmc.rows[last] == ((last, fmpq(1)),)
    for state in range(last):
        assert all(target > state for target, _ in lmc.rows[state])
        assert last in reachable_states(lmc, [state])


def test_every_successor_and_every_split_is_possible() -> None:
    rows = {random_lmc(2, 2, 1, seed, denominator=4).rows[0] for seed in range(60)}
    assert {row[0][1] for row in rows} == {fmpq(1, 4), fmpq(1, 2), fmpq(3, 4)}
    targets = {random_lmc(5, 1, 1, seed).rows[0][0][0] for seed in range(60)}
    assert targets == set(range(5))


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("random", "3126d5bf8a281909f7caecd9b4472c3c32cd614e37adbf7713caab65907a5738"),
        ("random,seed=1", "8e5759c3b42dc006d2b0e6654f83728698425f2c081a070ae4cba411f6b950f2"),
        (
            "random,states=50,successors=5,labels=3,seed=2018,denominator=1000",
            "6bd173977c4e1f909e5f6922ab9e572d4a97c82b8b765a4ff4e5d1a14be53e45",
        ),
        (
            "random,states=20,successors=2,labels=2,seed=7,acyclic=true",
            "b2b4fba9b3cc3b7f4a1817bce92cc47cf1a858f7e6802dc3c15308088ffc07e6",
        ),
        (
            "random,states=24,successors=3,labels=2,seed=7,uniform=true",
            "2566723fee04700b40a1c87dd3a4af4a5a3f3ba9b7bf509f690cb075d030eb68",
        ),
    ],
)
def test_the_same_seed_gives_the_same_chain_for_ever(text: str, digest: str) -> None:
    assert build_example(text).digest() == "sha256:" + digest


@pytest.mark.parametrize(
    ("states", "successors", "labels", "message"),
    [(1, 1, 1, "states=1"), (4, 0, 1, "successors=0"), (4, 5, 1, "successors=5"), (4, 1, 4, "labels=4")],
)
def test_sizes_that_do_not_go_together_are_refused(
    states: int, successors: int, labels: int, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        random_lmc(states, successors, labels, 0)
