"""The exact privacy budget of a mechanism: the worst ratio over all neighbouring inputs and all answers.

Which inputs are neighbours is part of the question (`Adjacency`). Where the answer of a mechanism depends on
some of the query results only as a multiset, one representative of each class of pairs is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import combinations_with_replacement, product

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.mechanisms import truncated_geometric, winner_distribution
from bisimdist.models.mechanisms.noisy_max import TIES
from bisimdist.progress import UNBOUNDED, Limits

__all__ = [
    "Adjacency",
    "BudgetResult",
    "QueryFamily",
    "enumerated_budget",
    "geometric_family",
    "noisy_max_family",
    "privacy_budget",
]

Results = tuple[int, ...]
Step = tuple[int, int]

REPORT_EVERY = 5_000


class Adjacency(Enum):
    """Which inputs are neighbours: the results of the queries on two data sets that differ in one person."""

    ONE = "one"
    """One query result differs, by one."""
    ALL = "all"
    """Every query result may differ, each by at most one."""


@dataclass(frozen=True, slots=True)
class QueryFamily:
    """A mechanism that is given the results of some queries, and the symmetries of its answers.

    Parameters
    ----------
    name
        What it is called.
    count
        How many query results it is given.
    levels
        The results are 0, ..., levels - 1.
    answers
        What it may answer.
    chance
        The exact probability of an answer, by its place in `answers`, given the results.
    blocks
        For each answer a partition of the queries: permuting the results within a block does not change the
        probability of that answer.
    representatives
        Answers such that every other one is one of them after renaming the queries.
    description
        What the mechanism is, as plain data for a certificate.
    """

    name: str
    count: int
    levels: int
    answers: tuple[str, ...]
    chance: Callable[[int, Results], fmpq]
    blocks: tuple[tuple[tuple[int, ...], ...], ...]
    representatives: tuple[int, ...]
    description: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetResult:
    """The exact budget, and where it is attained.

    Parameters
    ----------
    family
        The mechanism.
    adjacency
        Which inputs are neighbours.
    ratio
        The least C that holds for every pair of neighbours and every answer; None where there is none.
    pair
        Neighbours that attain it.
    answer
        The answer that attains it.
    probabilities
        Its probabilities on the two inputs, the larger one first.
    looked_at, pairs
        How many pairs of inputs were looked at for some answer, and how many ordered pairs of neighbours
        there are.
    """

    family: QueryFamily
    adjacency: Adjacency
    ratio: fmpq | None
    pair: tuple[Results, Results]
    answer: str
    probabilities: tuple[fmpq, fmpq]
    looked_at: int = field(compare=False)
    pairs: int = field(compare=False)


def noisy_max_family(
    n: int, *, alpha: ExactNumber = "1/2", levels: int = 3, ties: str = "uniform"
) -> QueryFamily:
    """Return Noisy Max for n queries (see `bisimdist.models.mechanisms.noisy_max`) with its symmetries.

    Whether a query wins depends on the others only as a multiset where ties are broken uniformly, and as
    two multisets, of the queries before it and after it, where the first of equals wins.

    Raises
    ------
    UsageError
        If an argument is out of range.
    """
    if n < 1:
        raise UsageError(f"there are {n} queries; expected at least 1")
    if ties not in TIES:
        raise UsageError(f"ties={ties!r} is not usable; expected {' or '.join(TIES)}")
    noise = truncated_geometric(alpha, levels)

    @cache
    def winners(results: Results) -> tuple[fmpq, ...]:
        return winner_distribution(results, noise, ties)

    def chance(answer: int, results: Results) -> fmpq:
        if ties == "uniform":
            rest = sorted((*results[:answer], *results[answer + 1 :]))
            return winners((results[answer], *rest))[0]
        ordered = (*sorted(results[:answer]), results[answer], *sorted(results[answer + 1 :]))
        return winners(ordered)[answer]

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
        chance,
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


def geometric_family(*, alpha: ExactNumber = "1/2", levels: int = 3) -> QueryFamily:
    """Return the truncated geometric mechanism on one count."""
    noise = truncated_geometric(alpha, levels)
    return QueryFamily(
        "truncated geometric",
        1,
        levels,
        tuple(str(value) for value in range(levels)),
        lambda answer, results: noise[results[0]][answer],
        (((0,),),) * levels,
        tuple(range(levels)),
        {"kind": "geometric", "levels": str(levels), "noise": str(to_fmpq(alpha))},
    )


def _steps(levels: int) -> list[Step]:
    """Return every way in which one result may be on the two sides."""
    return [(a, b) for a in range(levels) for b in range(levels) if abs(a - b) <= 1]


def _neighbours(family: QueryFamily, answer: int, adjacency: Adjacency) -> Iterator[tuple[Step, ...]]:
    """Yield one pair of neighbours of each class, as the steps of the queries."""
    steps = _steps(family.levels)
    blocks = family.blocks[answer]
    choices: list[Iterator[tuple[Step, ...]]] = [
        combinations_with_replacement(steps, len(block)) for block in blocks
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
) -> BudgetResult:
    """Return the exact budget of a mechanism over all pairs of neighbours.

    Parameters
    ----------
    family
        The mechanism.
    adjacency
        Which inputs are neighbours.
    limits
        When to give up, and who is told how far the work is.

    Raises
    ------
    LimitError
        If the deadline passes.
    UsageError
        If there are no neighbours.

    Examples
    --------
    >>> privacy_budget(noisy_max_family(3), Adjacency.ALL).ratio
    24/7
    >>> privacy_budget(noisy_max_family(3), Adjacency.ONE).ratio
    40/21
    """
    classes = (
        (answer, steps)
        for answer in family.representatives
        for steps in _neighbours(family, answer, adjacency)
    )
    return _worst(family, adjacency, classes, limits)


def enumerated_budget(
    family: QueryFamily,
    adjacency: Adjacency,
    *,
    limits: Limits = UNBOUNDED,
) -> BudgetResult:
    """Return the same as `privacy_budget` by looking at every pair and every answer, for comparison."""
    everything = (
        (answer, steps)
        for steps in product(_steps(family.levels), repeat=family.count)
        if (moved := sum(a != b for a, b in steps)) and (adjacency is Adjacency.ALL or moved == 1)
        for answer in range(len(family.answers))
    )
    return _worst(family, adjacency, everything, limits)


def _worst(
    family: QueryFamily,
    adjacency: Adjacency,
    classes: Iterator[tuple[int, Sequence[Step]]],
    limits: Limits,
) -> BudgetResult:
    best: tuple[fmpq, fmpq, int, tuple[Results, Results]] | None = None
    count = 0
    for answer, steps in classes:
        count += 1
        if count % REPORT_EVERY == 0:
            limits.deadline.check()
            limits.progress("pairs of neighbours", count, None)
        first, second = tuple(a for a, _ in steps), tuple(b for _, b in steps)
        one, two = family.chance(answer, first), family.chance(answer, second)
        if one == 0 or one < two or (one == two and best is not None):
            continue  # the pair with the sides swapped is looked at as well
        if best is None or one * best[1] > two * best[0]:
            best = (one, two, answer, (first, second))
    if best is None:
        raise UsageError(f"{family.name} on {family.levels} levels has no neighbours with different answers")
    one, two, answer, pair = best
    return BudgetResult(
        family=family,
        adjacency=adjacency,
        ratio=None if two == 0 else one / two,
        pair=pair,
        answer=family.answers[answer],
        probabilities=(one, two),
        looked_at=count,
        pairs=_pair_count(family, adjacency),
    )


def _pair_count(family: QueryFamily, adjacency: Adjacency) -> int:
    steps = 3 * family.levels - 2
    if adjacency is Adjacency.ONE:
        return int(family.count * 2 * (family.levels - 1) * family.levels ** (family.count - 1))
    return int(steps**family.count - family.levels**family.count)
