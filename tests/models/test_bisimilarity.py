from __future__ import annotations

import time

from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.models.bisimilarity import bisimilarity_classes, quotient
from bisimdist.models.lmc import LMC
from bisimdist.models.partition import Masses, canonical_numbering, refined_blocks, settled_blocks
from bisimdist.models.transform import disjoint_union
from tests.reference.acyclic_bd import acyclic_bd
from tests.reference.traces import trace_distribution
from tests.speed import leeway
from tests.strategies import alphas, lmcs


def greatest_bisimulation(lmc: LMC) -> set[tuple[int, int]]:
    """The definition, taken literally: drop pairs from "same label" until all that is left is justified."""
    states = range(len(lmc))
    related = {(s, t) for s in states for t in states if lmc.labels[s] == lmc.labels[t]}
    while True:

        def mass(s: int, u: int, relation: set[tuple[int, int]]) -> fmpq:
            return sum((p for v, p in lmc.rows[s] if (u, v) in relation), fmpq(0))

        kept = {(s, t) for s, t in related if all(mass(s, u, related) == mass(t, u, related) for u in states)}
        if kept == related:
            return related
        related = kept


def relation(classes: tuple[int, ...]) -> set[tuple[int, int]]:
    states = range(len(classes))
    return {(s, t) for s in states for t in states if classes[s] == classes[t]}


@given(lmcs(max_states=8))
def test_agrees_with_the_greatest_fixed_point(lmc: LMC) -> None:
    classes = bisimilarity_classes(lmc)
    assert relation(classes) == greatest_bisimulation(lmc)
    assert classes == canonical_numbering(classes)


@st.composite
def mostly_forward(draw: st.DrawFn) -> LMC:
    """A chain with many ends and some cycles."""
    size = draw(st.integers(1, 8))
    order = draw(st.permutations(range(size)))
    rows: list[tuple[tuple[int, fmpq], ...]] = [()] * size
    for place, state in enumerate(order):
        onward = order[:place] if place and draw(st.integers(0, 3)) else order
        weights = draw(st.dictionaries(st.sampled_from(onward), st.integers(1, 2), min_size=1, max_size=3))
        if not draw(st.integers(0, 4)):
            weights = {state: 1}
        total = sum(weights.values())
        rows[state] = tuple((target, fmpq(weights[target], total)) for target in sorted(weights))
    labels = draw(st.lists(st.sampled_from("aab"), min_size=size, max_size=size))
    return LMC(tuple(map(str, range(size))), tuple(labels), tuple(rows), ())


@given(mostly_forward())
def test_states_that_lead_to_ends_are_classed_as_all_others(lmc: LMC) -> None:
    first = canonical_numbering(lmc.labels)
    graph = [[target for target, _ in row] for row in lmc.rows]
    assert relation(bisimilarity_classes(lmc)) == greatest_bisimulation(lmc)
    ends = settled_blocks(first, graph, Masses(lmc.rows).of)
    whole = refined_blocks(first, graph, Masses(lmc.rows).of)
    known = [state for state, end in enumerate(ends) if end >= 0]
    assert canonical_numbering(ends[s] for s in known) == canonical_numbering(whole[s] for s in known)


@given(lmcs(max_states=9, cyclic=False, max_labels=1, max_successors=2))
def test_one_label_makes_all_states_bisimilar(lmc: LMC) -> None:
    assert set(bisimilarity_classes(lmc)) == {0}


@given(lmcs(max_states=5))
def test_a_chain_and_its_copy_are_bisimilar_state_by_state(lmc: LMC) -> None:
    classes = bisimilarity_classes(disjoint_union(lmc, lmc, prefixes=("l", "r")))
    assert classes[: len(lmc)] == classes[len(lmc) :] == bisimilarity_classes(lmc)


@given(lmcs(max_states=7), st.data())
def test_quotient_preserves_traces_and_is_as_small_as_can_be(lmc: LMC, data: st.DataObject) -> None:
    merged, classes = quotient(lmc)
    state = data.draw(st.integers(0, len(lmc) - 1))
    assert trace_distribution(merged, classes[state], 5) == trace_distribution(lmc, state, 5)
    assert bisimilarity_classes(merged) == tuple(range(len(merged)))
    assert merged.states[classes[state]] == lmc.states[classes.index(classes[state])]


@given(lmcs(max_states=6, cyclic=False), alphas())
def test_bisimilar_states_have_distance_zero_for_every_alpha(lmc: LMC, alpha: fmpq) -> None:
    classes = bisimilarity_classes(lmc)
    for (s, t), value in acyclic_bd(lmc, alpha).items():
        if classes[s] == classes[t]:
            assert value == 0
        elif alpha == 1:
            assert value > 0


entries = st.dictionaries(st.integers(0, 4), st.sampled_from([fmpq(1, 4), fmpq(1, 2), fmpq(3, 4), fmpq(1)]))
rows = entries.map(lambda found: tuple(sorted(found.items())))


@given(st.lists(rows, min_size=2, max_size=6), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_rows_show_the_same_exactly_if_they_give_blocks_the_same(
    given: list[tuple[tuple[int, fmpq], ...]], blocks: list[int]
) -> None:
    masses = Masses(given)
    said = [masses.of(number, blocks) for number in range(len(given))]
    true = [
        [sum((p for target, p in row if blocks[target] == block), fmpq(0)) for block in range(3)]
        for row in given
    ]
    assert [[one == other for other in said] for one in said] == [
        [one == other for other in true] for one in true
    ]


def test_quotient_carries_each_pair_once() -> None:
    lmc = LMC.from_mappings(
        {"s": "a", "t": "a", "u": "a", "v": "b"},
        {"s": {"v": 1}, "t": {"v": 1}, "u": {"u": 1}, "v": {"v": 1}},
        [("s", "u"), ("t", "u"), ("s", "t"), ("u", "s")],
    )
    merged, classes = quotient(lmc)
    assert classes == (0, 0, 1, 2)
    assert merged.states == ("s", "u", "v")
    assert merged.pairs == ((0, 1), (0, 0), (1, 0))


def test_the_quotient_can_have_a_smaller_skewed_distance() -> None:
    lmc = LMC.from_mappings(
        {"s0": "b", "s1": "b", "s2": "a", "s3": "b", "s4": "b"},
        {
            "s0": {"s2": "1/6", "s4": "5/6"},
            "s1": {"s2": "1/3", "s3": "2/3"},
            "s2": {"s3": "5/6", "s4": "1/6"},
            "s3": {"s4": 1},
            "s4": {"s4": 1},
        },
    )
    merged, classes = quotient(lmc)
    assert classes == (0, 1, 2, 3, 3)
    assert acyclic_bd(lmc, fmpq(3, 2))[0, 1] == fmpq(1, 6)
    assert acyclic_bd(merged, fmpq(3, 2))[0, 1] == fmpq(1, 12)
    assert acyclic_bd(merged, fmpq(1))[0, 1] == acyclic_bd(lmc, fmpq(1))[0, 1]


def test_tiny_differences_and_large_numbers_count() -> None:
    tiny = fmpq(1, 10**40)
    half = fmpq(1, 2)
    rows = (
        ((3, half), (4, half)),
        ((3, half), (4, half)),
        ((3, half + tiny), (4, half - tiny)),
        ((3, fmpq(1)),),
        ((4, fmpq(1)),),
    )
    lmc = LMC(("s", "t", "u", "v", "w"), ("a", "a", "a", "b", "c"), rows)
    assert bisimilarity_classes(lmc) == (0, 0, 1, 2, 3)


def test_a_long_line_takes_no_quadratic_time() -> None:
    size = 20_000
    rows = tuple(((min(state + 1, size - 1), fmpq(1)),) for state in range(size))
    lmc = LMC(tuple(map(str, range(size))), ("a",) * (size - 1) + ("b",), rows)
    begin = time.process_time()
    assert bisimilarity_classes(lmc) == tuple(range(size))
    assert time.process_time() - begin < 20 * leeway()
