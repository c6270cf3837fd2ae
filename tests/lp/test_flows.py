"""Flows between groups against bijections tried one by one."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from bisimdist.lp.flows import perfect_flow


def members(counts: list[int]) -> list[int]:
    return [group for group, count in enumerate(counts) for _ in range(count)]


@given(
    st.lists(st.integers(1, 3), max_size=3),
    st.lists(st.integers(1, 3), max_size=3),
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2))),
)
def test_a_flow_exists_exactly_where_a_bijection_does(
    left: list[int], right: list[int], allowed: set[tuple[int, int]]
) -> None:
    edges = [(i, j) for i, j in sorted(allowed) if i < len(left) and j < len(right)]
    ours, theirs = members(left), members(right)
    bijection = (
        len(ours) == len(theirs)
        and len(ours) <= 7
        and any(
            all(pair in edges for pair in zip(ours, order, strict=True))
            for order in set(permutations(theirs))
        )
    )
    flow = perfect_flow(left, right, edges)
    if len(ours) > 7:
        return
    assert (flow is not None) == bijection
    if flow is not None:
        assert set(flow) <= set(edges)
        assert all(amount > 0 for amount in flow.values())
        for i, count in enumerate(left):
            assert sum(amount for (k, _), amount in flow.items() if k == i) == count
        for j, count in enumerate(right):
            assert sum(amount for (_, k), amount in flow.items() if k == j) == count


def test_a_later_group_can_move_an_earlier_one() -> None:
    assert perfect_flow([1, 1], [1, 1], [(0, 0), (0, 1), (1, 0)]) == {(0, 1): 1, (1, 0): 1}
