"""Random chains, the same for the same seed on every platform and in every version of Python."""

from __future__ import annotations

import hashlib
from collections import Counter

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.library.parameters import Choice, Example, Integer
from bisimdist.models.lmc import LMC, Row


class _Source:
    """Random integers from SHA-256 in counter mode.

    Chains of benchmarks and bug reports are named by their seeds, for years. Of Python's own generator only
    ``random()``, a float, is promised to stay the same between versions; what draws integers from it has
    changed before. Block i here is SHA-256 of the text ``bisimdist-random-1:SEED:i``, read as four big-endian
    64-bit words.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._counter = 0
        self._words: list[int] = []

    def _word(self) -> int:
        if not self._words:
            text = f"bisimdist-random-1:{self._seed}:{self._counter}"
            block = hashlib.sha256(text.encode("ascii")).digest()
            self._words = [int.from_bytes(block[at : at + 8], "big") for at in (24, 16, 8, 0)]
            self._counter += 1
        return self._words.pop()

    def below(self, bound: int) -> int:
        """Return an integer in 0..bound-1, all equally likely: words beyond a multiple of it are dropped."""
        limit = (1 << 64) - (1 << 64) % bound
        while (word := self._word()) >= limit:
            pass
        return word % bound

    def sample(self, size: int, count: int) -> list[int]:
        """Return `count` different integers in 0..size-1, ascending: a shuffle that stops early."""
        moved: dict[int, int] = {}
        chosen = []
        for at in range(count):
            other = at + self.below(size - at)
            chosen.append(moved.get(other, other))
            moved[other] = moved.get(at, at)
        return sorted(chosen)


def random_lmc(  # noqa: PLR0913
    states: int,
    successors: int,
    labels: int,
    seed: int,
    *,
    denominator: int = 100,
    acyclic: bool = False,
    uniform: bool = False,
) -> LMC:
    """Return a random chain.

    ``states``: how many states, ``s0``, ``s1``, …; at least 2.
    ``successors``: how many different successors each state has (fewer where not so many states can follow).
    ``labels``: how many labels, ``l0``, ``l1``, …, there are to choose from; fewer than states.
    ``seed``: the same seed gives the same chain, always.
    ``denominator``: what the denominators of all probabilities divide; at least `successors`.
    ``acyclic``: let the successors of a state be later states only; the last state loops.
    ``uniform``: give all successors of a state the same probability, and ignore `denominator`.
    returns: with one pair: the first state that shares its label with a later one, and the first such.
    Raises UsageError if the sizes do not go together.

    >>> chain = random_lmc(3, 2, 1, seed=7, denominator=10)
    >>> chain == random_lmc(3, 2, 1, seed=7, denominator=10), chain.pairs
    (True, ((0, 1),))
    """
    _check_sizes(states, successors, labels)
    if not uniform and denominator < successors:
        raise UsageError(f"denominator={denominator} is too small for {successors} positive probabilities")
    source = _Source(seed)
    carried = [source.below(labels) for _ in range(states)]
    rows: list[Row] = []
    for state in range(states):
        earliest = state + 1 if acyclic else 0
        if earliest == states:
            rows.append(((state, fmpq(1)),))
            continue
        count = min(successors, states - earliest)
        targets = [earliest + offset for offset in source.sample(states - earliest, count)]
        if uniform:
            rows.append(tuple((target, fmpq(1, count)) for target in targets))
            continue
        # All ways to write the denominator as an ordered sum of positive numbers are equally likely.
        cuts = [0, *(cut + 1 for cut in source.sample(denominator - 1, count - 1)), denominator]
        rows.append(
            tuple(
                (target, fmpq(high - low, denominator))
                for target, low, high in zip(targets, cuts[:-1], cuts[1:], strict=True)
            )
        )
    occurrences = Counter(carried)
    # There are more states than labels, so some label occurs twice.
    first = next(state for state in range(states) if occurrences[carried[state]] > 1)
    pair = (first, carried.index(carried[first], first + 1))
    return LMC(
        tuple(f"s{state}" for state in range(states)),
        tuple(f"l{label}" for label in carried),
        tuple(rows),
        (pair,),
    )


def _check_sizes(states: int, successors: int, labels: int) -> None:
    if states < 2:
        raise UsageError(f"states={states} is too few; expected at least 2")
    if not 1 <= successors <= states:
        raise UsageError(f"successors={successors} is not usable; expected 1 to {states}, the states")
    if not 1 <= labels < states:
        raise UsageError(f"labels={labels} is not usable; expected 1 to {states - 1}, fewer than the states")


def _example(  # noqa: PLR0913
    *, states: int, successors: int, labels: int, seed: int, denominator: int, acyclic: str, uniform: str
) -> LMC:
    return random_lmc(
        states,
        successors,
        labels,
        seed,
        denominator=denominator,
        acyclic=acyclic == "true",
        uniform=uniform == "true",
    )


EXAMPLE = Example(
    "random",
    "a random chain, the same for the same seed everywhere; cyclic or not",
    (
        Integer("states", 10, 2, 100_000),
        Integer("successors", 3, 1, 100),
        Integer("labels", 3, 1, 100_000),
        Integer("seed", 0, 0, 10**18 - 1),
        Integer("denominator", 100, 1, 10**9),
        Choice("acyclic", "false", ("true", "false")),
        Choice("uniform", "false", ("true", "false")),
    ),
    _example,
)
