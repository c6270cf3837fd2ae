"""Robust bisimilarity: which bisimilar states stay close when all probabilities move a little.

See docs/theory/robust.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.linear import SparseSystem, solve_exact
from bisimdist.models.bisimilarity import bisimilarity_classes, lumped
from bisimdist.models.lmc import LMC
from bisimdist.models.partition import canonical_numbering, refined_blocks
from bisimdist.progress import NEVER, Deadline

Pair = tuple[int, int]
Coupling = Mapping[Pair, fmpq]

MAX_PAIRS = 1_000_000  # how many pairs of bisimilar states are looked at
MAX_UNKNOWNS = 20_000  # how many pairs may be coupled on the way


def robust_classes(chain: LMC, *, deadline: Deadline = NEVER) -> tuple[int, ...]:
    """Return the class of each state under robust bisimilarity: a partition that refines bisimilarity.

    Source: FKPB25, Section 5.

    >>> loops = LMC.from_mappings(dict.fromkeys("st", "a"), {"s": {"s": 1}, "t": {"t": 1}})
    >>> robust_classes(loops)
    (0, 1)
    """
    before: list[list[int]] = [[] for _ in chain.states]
    for state, row in enumerate(chain.rows):
        for target, _ in row:
            before[target].append(state)
    classes = bisimilarity_classes(chain)
    while True:
        sizes = [classes.count(kind) for kind in set(classes)]
        if sum(size * size for size in sizes) > MAX_PAIRS:
            raise LimitError(f"more than {MAX_PAIRS} pairs of states are bisimilar")
        meeting = _meeting(before, classes, deadline)
        if sum(map(len, meeting)) == sum(size * size for size in sizes):
            return classes
        blocks = canonical_numbering(zip(classes, map(frozenset, meeting), strict=True))
        refined = refined_blocks(
            blocks,
            [[target for target, _ in row] for row in chain.rows],
            lambda state, block_of: lumped(chain.rows[state], block_of),
        )
        classes = canonical_numbering(refined)


def _meeting(before: Sequence[Sequence[int]], classes: Sequence[int], deadline: Deadline) -> list[set[int]]:
    """Return by state those of its class that two runs may come from which stay alike until they meet."""
    meeting = [{state} for state in range(len(classes))]
    waiting = [(state, state) for state in range(len(classes))]
    while waiting:
        deadline.check()
        u, v = waiting.pop()
        for s in before[u]:
            for t in before[v]:
                if classes[s] == classes[t] and t not in meeting[s]:
                    meeting[s].add(t)
                    meeting[t].add(s)
                    waiting.append((s, t))
                    waiting.append((t, s))
    return meeting


def coupled(chain: LMC, classes: Sequence[int], s: int, t: int) -> Coupling:
    """Couple the rows of two states of a class: what they share goes together, the rest class by class.

    >>> chain = LMC.from_mappings(dict.fromkeys("stu", "a"),
    ...     {"s": {"u": 1}, "t": {"t": "1/2", "u": "1/2"}, "u": {"u": 1}})
    >>> coupled(chain, (0, 0, 0), 0, 1)
    {(2, 2): 1/2, (2, 1): 1/2}
    """
    left, right = dict(chain.rows[s]), dict(chain.rows[t])
    made: dict[Pair, fmpq] = {}
    for target in left.keys() & right.keys():
        made[target, target] = shared = min(left[target], right[target])
        left[target] -= shared
        right[target] -= shared
    mass: dict[int, fmpq] = {}
    for target, p in left.items():
        mass[classes[target]] = mass.get(classes[target], fmpq(0)) + p
    for u, p in left.items():
        for v, q in right.items():
            if p and q and classes[u] == classes[v]:
                made[u, v] = p * q / mass[classes[u]]
    return made


def steps_together(
    chain: LMC, classes: Sequence[int], pairs: Iterable[Pair], *, deadline: Deadline = NEVER
) -> dict[Pair, fmpq]:
    """Return how many steps coupled runs take in the mean until they meet, by every pair on the way.

    ``chain``, ``classes``: the chain, and its `robust_classes`.
    ``pairs``: pairs of different states, each of one class.
    """
    couplings: dict[Pair, Coupling] = {}
    waiting = list(dict.fromkeys(pairs))
    while waiting:
        deadline.check()
        pair = waiting.pop()
        if pair in couplings:
            continue
        if len(couplings) == MAX_UNKNOWNS:
            raise LimitError(f"more than {MAX_UNKNOWNS} pairs are on the way")
        couplings[pair] = coupled(chain, classes, *pair)
        waiting += [(u, v) for u, v in couplings[pair] if u != v]
    place = {pair: number for number, pair in enumerate(couplings)}
    rows = [
        (fmpq(1), [(place[after], p) for after, p in coupling.items() if after in place])
        for coupling in couplings.values()
    ]
    solution = solve_exact(SparseSystem.from_rationals(rows), deadline=deadline)
    return {pair: solution.entry(number) for pair, number in place.items()}
