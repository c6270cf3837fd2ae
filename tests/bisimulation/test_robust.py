"""Robust bisimilarity against its definition, and against distances of chains nearby."""

from __future__ import annotations

import json
from itertools import combinations, product

from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.automata.engine.robust import robust_classes
from bisimdist.automata.robust.ask import robustness
from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.io import write_model
from bisimdist.models.lmc import LMC

LOOPS = LMC.from_mappings(
    {"s": "a", "t": "a", "x": "b"}, {"s": {"s": 1}, "t": {"t": 1}, "x": {"x": 1}}, [("s", "t")]
)


@st.composite
def lifted(draw: st.DrawFn) -> LMC:
    """Draw a chain with many bisimilar states: each state of a small one comes several times."""
    size = draw(st.integers(2, 3))
    kinds = [*range(size), *draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))]
    labels = draw(st.sampled_from(["ab" + "a" * size, "aab", "abb"]))[:size]
    rows = []
    shares = [draw(st.sampled_from([(1, 0), (1, 1), (2, 1)])) for _ in range(size)]
    ends = [draw(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))) for _ in range(size)]
    for kind in kinds:
        row: dict[int, fmpq] = {}
        for end, share in zip(ends[kind], shares[kind], strict=True):
            if share:
                target = draw(st.sampled_from([k for k, other in enumerate(kinds) if other == end]))
                row[target] = row.get(target, fmpq(0)) + fmpq(share, sum(shares[kind]))
        rows.append(tuple(sorted(row.items())))
    names = tuple(f"s{k}" for k in range(len(kinds)))
    pairs = [(s, t) for s, t in combinations(range(len(kinds)), 2) if kinds[s] == kinds[t]]
    return LMC(names, tuple(labels[kind] for kind in kinds), tuple(rows), tuple(pairs))


def partitions(size: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for _ in range(size):
        found = [(*blocks, block) for blocks in found for block in range(max(blocks, default=-1) + 2)]
    return found


def is_robust(chain: LMC, blocks: tuple[int, ...]) -> bool:
    """Tell whether a partition is a bisimulation from all of whose pairs the diagonal is reached inside."""
    states = range(len(chain))

    def masses(state: int) -> list[fmpq]:
        return [sum((p for t, p in chain.rows[state] if blocks[t] == b), fmpq(0)) for b in states]

    related = [(s, t) for s, t in product(states, repeat=2) if blocks[s] == blocks[t]]
    if any(chain.labels[s] != chain.labels[t] or masses(s) != masses(t) for s, t in related):
        return False
    good = {(s, s) for s in states}
    for _ in related:
        good |= {
            (s, t)
            for s, t in related
            if any((u, v) in good for (u, _), (v, _) in product(chain.rows[s], chain.rows[t]))
        }
    return good.issuperset(related)


@settings(deadline=None, max_examples=30)
@given(lifted())
def test_the_classes_are_the_greatest_robust_bisimulation(chain: LMC) -> None:
    classes = robust_classes(chain)
    assert is_robust(chain, classes)
    for blocks in partitions(len(chain)):
        if is_robust(chain, blocks):
            assert all(
                classes[s] == classes[t]
                for s, t in combinations(range(len(chain)), 2)
                if blocks[s] == blocks[t]
            )


def moved(chain: LMC, draw: st.DataObject, by: fmpq) -> LMC:
    """Return a chain each row of which has moved by at most so much in total variation."""
    rows = []
    for row in chain.rows:
        target = draw.draw(st.integers(0, len(chain) - 1))
        part = by * draw.draw(st.integers(0, 4)) / 4
        new = {t: p * (1 - part) for t, p in row}
        new[target] = new.get(target, fmpq(0)) + part
        rows.append(tuple(sorted((t, p) for t, p in new.items() if p)))
    return LMC(chain.states, chain.labels, tuple(rows), chain.pairs)


@settings(deadline=None, max_examples=30)
@given(lifted(), st.data())
def test_robust_pairs_stay_as_close_as_is_said(chain: LMC, data: st.DataObject) -> None:
    assume(chain.pairs)
    answer = robustness(chain)
    close = [pair for pair in answer.pairs if pair.robust]
    assume(close)
    report = check_certificate(json.dumps(answer.certificate()), write_model(chain, "json"))
    assert report.valid, report.reason
    by = fmpq(1, data.draw(st.sampled_from([10, 1000])))
    near = bound(moved(chain, data, by), 1, pairs=[(pair.source, pair.target) for pair in close])
    for pair, apart in zip(close, near.pairs, strict=True):
        assert pair.steps is not None
        assert apart.upper <= 2 * by * pair.steps


@settings(deadline=None, max_examples=20)
@given(lifted())
def test_jumps_are_where_states_are_not_robust(chain: LMC) -> None:
    assume(chain.pairs)
    kinds = bisimilarity_classes(chain)
    for pair in robustness(chain).pairs:
        s, t = chain.index(pair.source), chain.index(pair.target)
        assert pair.bisimilar == (kinds[s] == kinds[t]) and (pair.bisimilar or not pair.robust)
        assert (pair.steps is None) == (not pair.robust)
        if pair.jump is None:
            continue
        assert pair.bisimilar and not pair.robust
        state = chain.index(pair.jump.state)
        row = {chain.index(name): p for name, p in pair.jump.row.items()}
        before = dict(chain.rows[state])
        far = sum((abs(row.get(k, fmpq(0)) - before.get(k, fmpq(0))) for k in {*row, *before}), fmpq(0)) / 2
        assert far <= pair.jump.moved == fmpq(1, 10**6)
        rows = (*chain.rows[:state], tuple(sorted(row.items())), *chain.rows[state + 1 :])
        near = LMC(chain.states, chain.labels, rows)
        assert bound(near, 1, pairs=[(pair.source, pair.target)]).pairs[0].upper >= pair.jump.distance


def test_loops_jump() -> None:
    (pair,) = robustness(LOOPS).pairs
    assert (pair.bisimilar, pair.robust) == (True, False)
    assert pair.jump is not None and pair.jump.distance > fmpq(99, 100)


def test_what_meets_for_certain_is_robust() -> None:
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "u": "a", "x": "b"},
        {
            "s": {"s": "1/2", "u": "1/2"},
            "t": {"t": "1/3", "u": "2/3"},
            "u": {"u": "9/10", "x": "1/10"},
            "x": {"x": 1},
        },
        [("s", "t")],
    )
    (pair,) = robustness(chain).pairs
    assert pair.bisimilar is False  # u shows what it is, sooner from t
    chain = LMC(chain.states, chain.labels, (*chain.rows[:2], ((2, fmpq(1)),), chain.rows[3]), chain.pairs)
    (pair,) = robustness(chain).pairs
    assert (pair.robust, pair.steps) == (True, fmpq(2))
