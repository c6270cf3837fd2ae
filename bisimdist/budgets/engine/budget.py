"""The exact privacy budget of a mechanism: the worst ratio over all neighbouring inputs and all answers.

Which inputs are neighbours is part of the question (`Adjacency`). Where the answer of a mechanism depends on
some of the query results only as a multiset, one representative of each class of pairs is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.mechanisms import truncated_geometric, winner_distribution
from bisimdist.models.mechanisms.noisy_max import TIES
from bisimdist.progress import UNBOUNDED, Deadline, Limits

Results = tuple[int, ...]
Step = tuple[int, int]

Part = tuple[int, tuple[Step, ...]]

LOOK_EVERY = 5_000  # the deadline is looked at after so many pairs


class Worst(NamedTuple):
    """Probabilities of an answer on two inputs, the larger one first; none so far while both are 0."""

    one: fmpq = fmpq(0)
    two: fmpq = fmpq(0)
    answer: int = 0
    pair: tuple[Results, Results] = ((), ())
    looked_at: int = 0  # how many pairs were looked at

    def or_else(self, other: Worst) -> Worst:
        """Return the other where its ratio is larger."""
        larger = other.one * self.two > other.two * self.one if self.one else other.one > 0
        return other if larger else self


class Adjacency(Enum):
    """Which inputs are neighbours: the results of the queries on two data sets that differ in one person."""

    ONE = "one"  # one query result differs, by one
    ALL = "all"  # every query result may differ, each by at most one


@dataclass(frozen=True, slots=True)
class QueryFamily:
    """A mechanism that is given the results of some queries, and the symmetries of its answers."""

    name: str  # what it is called
    count: int  # how many query results it is given
    levels: int  # the results are 0, ..., levels - 1
    answers: tuple[str, ...]  # what it may answer
    # the exact probability of an answer, by its place in `answers`, given the results
    chance: Callable[[int, Results], fmpq]
    # for each answer a partition of the queries: permuting the results within a block does not change the
    # probability of that answer
    blocks: tuple[tuple[tuple[int, ...], ...], ...]
    # answers such that every other one is one of them after renaming the queries
    representatives: tuple[int, ...]
    # what the mechanism is, as plain data for a certificate
    description: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetResult:
    """The exact budget, and where it is attained."""

    family: QueryFamily  # the mechanism
    adjacency: Adjacency  # which inputs are neighbours
    # the least C that holds for every pair of neighbours and every answer; None where there is none
    ratio: fmpq | None
    pair: tuple[Results, Results]  # neighbours that attain it
    answer: str  # the answer that attains it
    probabilities: tuple[fmpq, fmpq]  # its probabilities on the two inputs, the larger one first
    # looked_at and pairs: how many pairs of inputs were looked at for some answer, and how many ordered pairs
    # of neighbours there are
    looked_at: int = field(compare=False)
    pairs: int = field(compare=False)


def noisy_max_family(
    n: int, *, alpha: ExactNumber = "1/2", levels: int = 3, ties: str = "uniform"
) -> QueryFamily:
    """Return Noisy Max for n queries (see `bisimdist.models.mechanisms.noisy_max`) with its symmetries.

    Whether a query wins depends on the others only as a multiset where ties are broken uniformly, and as
    two multisets, of the queries before it and after it, where the first of equals wins.

    Raises UsageError if an argument is out of range.
    """
    if n < 1:
        raise UsageError(f"there are {n} queries; expected at least 1")
    if ties not in TIES:
        raise UsageError(f"ties={ties!r} is not usable; expected {' or '.join(TIES)}")
    blocks = []
    for answer in range(n):
        before, after = tuple(range(answer)), tuple(range(answer + 1, n))
        parts = ((answer,), before + after) if ties == "uniform" else ((answer,), before, after)
        blocks.append(tuple(part for part in parts if part))
    return QueryFamily(
        "naive Noisy Max" if ties == "first" else "improved Noisy Max",
        n,
        levels,
        tuple(str(i) for i in range(1, n + 1)),
        _Winning(truncated_geometric(alpha, levels), ties),
        tuple(blocks),
        (0,) if ties == "uniform" else tuple(range(n)),
        {
            "kind": "noisy-max",
            "queries": str(n),
            "levels": str(levels),
            "noise": str(to_fmpq(alpha)),
            "ties": ties,
        },
    )


@dataclass(slots=True)
class _Winning:
    """How probable it is that a query wins; a value that workers can be sent."""

    noise: Sequence[Sequence[fmpq]]
    ties: str
    known: dict[Results, tuple[fmpq, ...]] = field(default_factory=dict)

    def __call__(self, answer: int, results: Results) -> fmpq:
        before, after = results[:answer], results[answer + 1 :]
        if self.ties == "uniform":
            return self._winners((results[answer], *sorted(before + after)))[0]
        return self._winners((*sorted(before), results[answer], *sorted(after)))[answer]

    def _winners(self, results: Results) -> tuple[fmpq, ...]:
        found = self.known.get(results)
        if found is None:
            found = self.known[results] = winner_distribution(results, self.noise, self.ties)
        return found


def _noisy(noise: Sequence[Sequence[fmpq]], answer: int, results: Results) -> fmpq:
    return noise[results[0]][answer]


def geometric_family(*, alpha: ExactNumber = "1/2", levels: int = 3) -> QueryFamily:
    """Return the truncated geometric mechanism on one count."""
    noise = truncated_geometric(alpha, levels)
    return QueryFamily(
        "truncated geometric",
        1,
        levels,
        tuple(str(value) for value in range(levels)),
        partial(_noisy, noise),
        (((0,),),) * levels,
        tuple(range(levels)),
        {"kind": "geometric", "levels": str(levels), "noise": str(to_fmpq(alpha))},
    )


def _steps(levels: int) -> list[Step]:
    """Return every way in which one result may be on the two sides."""
    return [(a, b) for a in range(levels) for b in range(levels) if abs(a - b) <= 1]


def _parts(family: QueryFamily) -> list[Part]:
    """Return what the pairs of neighbours fall into: an answer, and the steps of its first block."""
    steps = _steps(family.levels)
    return [
        (answer, begun)
        for answer in family.representatives
        for begun in combinations_with_replacement(steps, len(family.blocks[answer][0]))
    ]


def _neighbours(family: QueryFamily, part: Part, adjacency: Adjacency) -> Iterator[tuple[Step, ...]]:
    """Yield one pair of neighbours of each class, as the steps of the queries."""
    steps = _steps(family.levels)
    answer, begun = part
    blocks = family.blocks[answer]
    choices: list[Iterable[tuple[Step, ...]]] = [
        (begun,),
        *(combinations_with_replacement(steps, len(block)) for block in blocks[1:]),
    ]
    order = [query for block in blocks for query in block]
    for chosen in product(*choices):
        flat = [step for part in chosen for step in part]
        moved = sum(a != b for a, b in flat)
        if moved == 0 or (adjacency is Adjacency.ONE and moved != 1):
            continue
        placed: list[Step] = [(0, 0)] * family.count
        for query, step in zip(order, flat, strict=True):
            placed[query] = step
        yield tuple(placed)


def privacy_budget(
    family: QueryFamily,
    adjacency: Adjacency,
    *,
    limits: Limits = UNBOUNDED,
    spread: Callable[[Sequence[Part]], Iterable[Worst]] | None = None,
) -> BudgetResult:
    """Return the exact budget of a mechanism over all pairs of neighbours.

    spread: does `worst_of_part` to each of what the neighbours fall into, in their order; by default that is
        done here.
    Raises LimitError if the deadline passes. Raises UsageError if there are no neighbours.

    >>> privacy_budget(noisy_max_family(3), Adjacency.ALL).ratio
    24/7
    >>> privacy_budget(noisy_max_family(3), Adjacency.ONE).ratio
    40/21
    """
    parts = _parts(family)
    if spread is None:
        found = (worst_of_part((family, adjacency), part, limits.deadline) for part in parts)
        return _budget(family, adjacency, found, limits)
    return _budget(family, adjacency, spread(parts), limits)


def worst_of_part(about: tuple[QueryFamily, Adjacency], part: Part, deadline: Deadline) -> Worst:
    """Return the first of the worst pairs of neighbours of a part."""
    family, adjacency = about
    deadline.check()
    classes = ((part[0], steps) for steps in _neighbours(family, part, adjacency))
    return _worst(family, classes, deadline)


def _worst(family: QueryFamily, classes: Iterable[tuple[int, Sequence[Step]]], deadline: Deadline) -> Worst:
    worst = Worst()
    count = 0
    for answer, steps in classes:
        count += 1
        if count % LOOK_EVERY == 0:
            deadline.check()
        first, second = tuple(a for a, _ in steps), tuple(b for _, b in steps)
        one, two = family.chance(answer, first), family.chance(answer, second)
        if one >= two:  # the pair with the sides swapped is looked at as well
            worst = worst.or_else(Worst(one, two, answer, (first, second)))
    return worst._replace(looked_at=count)


def _budget(
    family: QueryFamily, adjacency: Adjacency, found: Iterable[Worst], limits: Limits
) -> BudgetResult:
    best, count = Worst(), 0
    for worst in found:
        best = best.or_else(worst)
        count += worst.looked_at
        limits.progress("pairs of neighbours", count, None)
    if best.one == 0:
        raise UsageError(f"{family.name} on {family.levels} levels has no neighbours with different answers")
    return BudgetResult(
        family=family,
        adjacency=adjacency,
        ratio=None if best.two == 0 else best.one / best.two,
        pair=best.pair,
        answer=family.answers[best.answer],
        probabilities=(best.one, best.two),
        looked_at=count,
        pairs=_pair_count(family, adjacency),
    )


def _pair_count(family: QueryFamily, adjacency: Adjacency) -> int:
    steps = 3 * family.levels - 2
    if adjacency is Adjacency.ONE:
        return int(family.count * 2 * (family.levels - 1) * family.levels ** (family.count - 1))
    return int(steps**family.count - family.levels**family.count)
