"""The parts of the kernel on their own: trees, flows, potentials."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bisimdist.lp import kernel


@st.composite
def forests(draw: st.DrawFn) -> tuple[int, int, list[int]]:
    """Draw a basis: a forest in which parents are of the other side, or the root."""
    sources, sinks = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    order = draw(st.permutations(range(sources + sinks)))
    parent = [-1] * (sources + sinks)
    for place, node in enumerate(order):
        above = [other for other in order[:place] if (other < sources) != (node < sources)]
        parent[node] = draw(st.sampled_from([-1, *above]))
    return sources, sinks, parent


def sorted_tree(parent: list[int]) -> tuple[list[int], list[int]]:
    depth, order = [0] * len(parent), [0] * len(parent)
    kernel.sort_tree(len(parent), parent, depth, order)
    return depth, order


@given(forests())
def test_parents_come_before_children(forest: tuple[int, int, list[int]]) -> None:
    parent = forest[2]
    depth, order = sorted_tree(parent)
    assert sorted(order) == list(range(len(parent)))
    place = {node: k for k, node in enumerate(order)}
    for node, above in enumerate(parent):
        assert depth[node] == (0 if above < 0 else depth[above] + 1)
        assert above < 0 or place[above] < place[node]


@given(forests(), st.data())
def test_flows_balance_at_every_node(forest: tuple[int, int, list[int]], data: st.DataObject) -> None:
    sources, sinks, parent = forest
    amounts = data.draw(st.lists(st.integers(1, 10**30), min_size=sources + sinks, max_size=sources + sinks))
    flow = [0] * (sources + sinks)
    _, order = sorted_tree(parent)
    kernel.basis_flows(sources, sinks, amounts[:sources], amounts[sources:], parent, order, flow)
    for node, amount in enumerate(amounts):
        children = sum(flow[child] for child, above in enumerate(parent) if above == node)
        assert flow[node] + children == amount


@given(forests(), st.data())
def test_potentials_are_tight_on_the_tree(forest: tuple[int, int, list[int]], data: st.DataObject) -> None:
    sources, sinks, parent = forest
    one = 10**30
    count = sources * sinks
    cost = data.draw(st.lists(st.integers(0, one), min_size=count, max_size=count))
    potential = [0] * (sources + sinks)
    _, order = sorted_tree(parent)
    kernel.basis_potentials(sources, sinks, cost, [one] * sources, [0] * sinks, parent, order, potential)
    for node, above in enumerate(parent):
        if above < 0:
            assert potential[node] == (one if node < sources else 0)
        else:
            i, j = (node, above - sources) if node < sources else (above, node - sources)
            assert potential[i] - potential[sources + j] == cost[i * sinks + j]
