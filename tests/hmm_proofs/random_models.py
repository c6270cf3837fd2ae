"""Small random hidden Markov models, and their probabilities by enumeration."""

from __future__ import annotations

import random
from itertools import pairwise, product

from flint import fmpq

from bisimdist.models.hmm import HMM


def _row(source: random.Random, names: list[str], zero: float) -> dict[str, fmpq]:
    weights = [0 if source.random() < zero else source.randint(1, 4) for _ in names]
    if not any(weights):
        weights[source.randrange(len(names))] = 1
    return {name: fmpq(w, sum(weights)) for name, w in zip(names, weights, strict=True) if w}


def random_hmm(seed: int, states: int = 3, symbols: int = 2, *, zero: float = 0.2, end: float = 0.0) -> HMM:
    source = random.Random(seed)
    names = [f"s{i}" for i in range(states)]
    observations = [f"o{i}" for i in range(symbols)]
    return HMM.from_mappings(
        {s: _row(source, observations, zero) for s in names},
        {s: _row(source, names, zero) for s in names if source.random() >= end},
        {"pi": _row(source, names, 0), "tau": _row(source, names, 0)},
        observations=observations,
        pairs=[("pi", "tau")],
    )


def brute_probability(model: HMM, name: str, word: tuple[int, ...]) -> fmpq:
    """Sum over all paths, which no recursion shares."""
    total = fmpq(0)
    start = dict(model.distribution(name))
    rows = [dict(row) for row in model.rows]
    seen = [dict(row) for row in model.emissions]
    for path in product(range(len(model.states)), repeat=len(word)):
        chance = start.get(path[0], fmpq(0))
        for here, there in pairwise(path):
            chance = chance * rows[here].get(there, fmpq(0))
        for state, symbol in zip(path, word, strict=True):
            chance = chance * seen[state].get(symbol, fmpq(0))
        total += chance
    return total


def worst_by_enumeration(model: HMM, longest: int) -> fmpq | None:
    """Return the largest ratio over all sequences up to a length; None where it is infinite."""
    worst = fmpq(1)
    for length in range(1, longest + 1):
        for word in product(range(len(model.observations)), repeat=length):
            small, large = sorted(brute_probability(model, name, word) for name in ("pi", "tau"))
            if large and not small:
                return None
            if large:
                worst = max(worst, large / small)
    return worst
