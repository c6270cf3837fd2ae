from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import ModelError
from bisimdist.models.lmc import LMC
from bisimdist.models.transform import disjoint_union, reachable_states, restrict_to_reachable
from tests.reference.acyclic_bd import acyclic_bd
from tests.reference.traces import trace_distribution
from tests.strategies import alphas, lmcs


def chain() -> LMC:
    return LMC.from_mappings(
        {"s": "a", "t": "a", "u": "b", "v": "a"},
        {"s": {"t": "1/3", "u": "2/3"}, "t": {"u": 1}, "u": {"u": 1}, "v": {"s": 1}},
        [("s", "t"), ("s", "v")],
    )


def test_union_keeps_both_chains_and_adds_the_pairs_across() -> None:
    union = disjoint_union(chain(), chain(), prefixes=("", "other_"), pairs=[("t", "s")])
    assert union.states == ("s", "t", "u", "v", "other_s", "other_t", "other_u", "other_v")
    assert union.labels == chain().labels * 2
    assert union.rows[4] == ((5, fmpq(1, 3)), (6, fmpq(2, 3)))
    assert union.pairs == ((0, 1), (0, 3), (4, 5), (4, 7), (1, 4))


def test_union_refuses_names_that_collide() -> None:
    with pytest.raises(ModelError, match="state 's': both chains have a state of this name"):
        disjoint_union(chain(), chain())


def test_union_refuses_pairs_of_unknown_states() -> None:
    with pytest.raises(ModelError, match="no such state"):
        disjoint_union(chain(), chain(), prefixes=("1", "2"), pairs=[("1s", "s")])


@given(lmcs(), lmcs(), st.data())
def test_union_changes_no_trace(first: LMC, second: LMC, data: st.DataObject) -> None:
    union = disjoint_union(first, second, prefixes=("l", "r"))
    state = data.draw(st.integers(0, len(second) - 1))
    assert trace_distribution(union, len(first) + state, 4) == trace_distribution(second, state, 4)


def test_restriction_keeps_order_and_the_pairs_that_remain() -> None:
    small = restrict_to_reachable(chain(), ["t", "s"])
    assert small.states == ("s", "t", "u")
    assert small.rows == (((1, fmpq(1, 3)), (2, fmpq(2, 3))), ((2, fmpq(1)),), ((2, fmpq(1)),))
    assert small.pairs == ((0, 1),)


def test_restriction_starts_from_the_pairs_by_default() -> None:
    assert restrict_to_reachable(chain()) == chain()
    with pytest.raises(ModelError, match="no state to start from"):
        restrict_to_reachable(LMC(("s",), ("a",), (((0, fmpq(1)),),)))
    with pytest.raises(ModelError, match="no such state"):
        restrict_to_reachable(chain(), ["w"])


@given(lmcs(), st.data())
def test_reachable_states_are_closed_and_no_more_than_needed(lmc: LMC, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(lmc) - 1))
    layer = {start}
    naive = {start}
    for _ in range(len(lmc)):
        layer = {target for state in layer for target, _ in lmc.rows[state]}
        naive |= layer
    assert reachable_states(lmc, [start]) == tuple(sorted(naive))


@given(lmcs(max_states=5, cyclic=False), alphas(), st.data())
def test_restriction_never_lowers_the_distance(lmc: LMC, alpha: fmpq, data: st.DataObject) -> None:
    state = st.integers(0, len(lmc) - 1)
    s, t = sorted((data.draw(state), data.draw(state)))
    small = restrict_to_reachable(lmc, [lmc.states[s], lmc.states[t]])
    if s != t:
        here = acyclic_bd(small, alpha)[small.index(lmc.states[s]), small.index(lmc.states[t])]
        assert here >= acyclic_bd(lmc, alpha)[s, t]
    assert trace_distribution(small, small.index(lmc.states[s]), 4) == trace_distribution(lmc, s, 4)


def test_a_state_that_cannot_be_reached_can_lower_the_distance() -> None:
    sixth = fmpq(1, 6)
    lmc = LMC(
        tuple(f"s{i}" for i in range(7)),
        ("l0", "l0", "l0", "l0", "l1", "l1", "l0"),
        (
            ((1, sixth), (3, 3 * sixth), (4, 2 * sixth)),
            ((4, sixth), (5, sixth), (6, 4 * sixth)),
            ((3, sixth), (4, 4 * sixth), (6, sixth)),
            ((4, 2 * sixth), (5, 2 * sixth), (6, 2 * sixth)),
            ((5, 4 * sixth), (6, 2 * sixth)),
            ((6, fmpq(1)),),
            ((6, fmpq(1)),),
        ),
    )
    small = restrict_to_reachable(lmc, ["s2", "s3"])
    assert small.states == ("s2", "s3", "s4", "s5", "s6")
    assert acyclic_bd(lmc, fmpq(4, 3))[2, 3] == fmpq(71, 243)
    assert acyclic_bd(small, fmpq(4, 3))[0, 1] == fmpq(8, 27)
