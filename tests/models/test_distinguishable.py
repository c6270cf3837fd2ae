from __future__ import annotations

from flint import fmpq
from hypothesis import given

from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.lmc import LMC
from bisimdist.models.partition import canonical_numbering
from tests.reference.acyclic_bd import acyclic_bd
from tests.reference.traces import trace_distribution
from tests.strategies import alphas, lmcs


def by_definition(lmc: LMC) -> tuple[int, ...]:
    """Round by round, with the links of a round and their transitive closure written out."""
    states = range(len(lmc))
    classes = canonical_numbering(lmc.labels)
    while True:
        seen = [{classes[target] for target, _ in lmc.rows[state]} for state in states]
        linked = [[classes[s] == classes[t] and bool(seen[s] & seen[t]) for t in states] for s in states]
        for k in states:
            for s in states:
                for t in states:
                    linked[s][t] = linked[s][t] or (linked[s][k] and linked[k][t])
        following = canonical_numbering(tuple(row) for row in linked)
        if following == classes:
            return classes
        classes = following


@given(lmcs(max_states=9, max_labels=3, max_successors=2))
def test_agrees_with_the_definition(lmc: LMC) -> None:
    assert distinguishable_classes(lmc) == by_definition(lmc)


@given(lmcs(max_states=9, max_labels=3, max_successors=2))
def test_bisimilar_states_are_in_one_class_and_labels_are_respected(lmc: LMC) -> None:
    classes = distinguishable_classes(lmc)
    assert len(set(zip(classes, bisimilarity_classes(lmc), strict=True))) == len(
        set(bisimilarity_classes(lmc))
    )
    assert len(set(zip(classes, lmc.labels, strict=True))) == len(set(classes))


@given(lmcs(max_states=6, cyclic=False, max_labels=3), alphas())
def test_different_classes_have_distance_one(lmc: LMC, alpha: fmpq) -> None:
    classes = distinguishable_classes(lmc)
    for (s, t), value in acyclic_bd(lmc, alpha).items():
        if classes[s] != classes[t]:
            assert value == 1


@given(lmcs(max_states=6, max_labels=3, max_successors=2))
def test_different_classes_share_no_long_trace(lmc: LMC) -> None:
    classes = distinguishable_classes(lmc)
    traces = [set(trace_distribution(lmc, state, len(lmc) + 1)) for state in range(len(lmc))]
    for s in range(len(lmc)):
        for t in range(s):
            if classes[s] != classes[t]:
                assert not traces[s] & traces[t]


def test_figure1_starts_in_one_class() -> None:
    assert distinguishable_classes(figure1()) == (0, 0, 1, 2)


def test_positions_on_the_ring_are_told_apart() -> None:
    ring = dining_cryptographers(3)
    classes = distinguishable_classes(ring)
    spoken = [name.split("_")[0] for name in ring.states if name.startswith("said")]
    at = [classes[i] for i, name in enumerate(ring.states) if name.startswith("said")]
    assert len(set(zip(spoken, at, strict=True))) == len(set(at))


def test_the_states_of_a_line_are_told_apart_one_by_one() -> None:
    size = 1_000
    rows = tuple(((min(state + 1, size - 1), fmpq(1)),) for state in range(size))
    lmc = LMC(tuple(map(str, range(size))), ("a",) * (size - 1) + ("b",), rows)
    assert distinguishable_classes(lmc) == tuple(range(size))
