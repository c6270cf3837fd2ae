"""Budgets of hidden Markov models: the exact engine against Algorithm 1 in Z3, by length and by size.

Noisy Max is asked here pair by pair, for three and four queries; the table of proofs uses its symmetries
and goes to seven or nine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from flint import fmpq

from benchmarks.tables import Size, Table, fine_seconds
from benchmarks.timing import Clock
from bisimdist.budgets.engine.smt import decide_by_smt
from bisimdist.errors import LimitError
from bisimdist.exact.doubles import as_double
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import noisy_max_neighbours
from bisimdist.models.mechanisms import above_threshold
from bisimdist.progress import Deadline, Limits
from bisimdist.traces.engine.search import decide_ratio, least_ratio

__all__ = ["hmm_tables"]


def random_model(size: int, symbols: int, successors: int, seed: int) -> HMM:
    """Return a model whose rows have so many successors and whose states make every observation."""
    source = random.Random(seed)

    def distribution(names: list[str], count: int) -> dict[str, fmpq]:
        chosen = source.sample(names, min(count, len(names)))
        weights = [source.randint(1, 9) for _ in chosen]
        return {name: fmpq(weight, sum(weights)) for name, weight in zip(chosen, weights, strict=True)}

    states, made = [f"s{i}" for i in range(size)], [f"o{i}" for i in range(symbols)]
    return HMM.from_mappings(
        {s: distribution(made, symbols) for s in states},
        {s: distribution(states, successors) for s in states},
        {"pi": distribution(states, size), "tau": distribution(states, size)},
        observations=made,
        pairs=[("pi", "tau")],
    )


def _timed(work: Callable[[], str]) -> tuple[str, str]:
    """Return what a question said, and the CPU seconds that it took."""
    clock = Clock.start()
    try:
        said = work()
    except LimitError:
        said = "limit"
    return said, fine_seconds(clock.spent().cpu)


def _row(table: Table, name: str, model: HMM, length: int, limit: float) -> None:
    """Add the least budget, and both engines' times to prove it."""
    pair = model.pairs[0]
    values: list[fmpq] = []
    layers: list[int] = []

    def within() -> Limits:
        return Limits(deadline=Deadline.after(limit))

    def least() -> str:
        found = least_ratio(model, pair, length, limits=within())
        layers.extend(proof.proof.size for proof in found.proofs)
        if found.ratio is None:
            return "inf"
        values.append(found.ratio)
        return f"{as_double(found.ratio):.6g}"

    said, spent = _timed(least)
    ratio = values[0] if values else fmpq(2)

    def exact() -> str:
        found = decide_ratio(model, pair, ratio, length, limits=within())
        return "holds" if isinstance(found, tuple) else "violated"

    def solver() -> str:
        found = decide_by_smt(model, pair, ratio, length, deadline=within().deadline)
        return {True: "holds", False: "violated", None: "unknown"}[found.holds]

    table.add(name, str(length), said, str(sum(layers)), spent, *_timed(exact), *_timed(solver))


def hmm_tables(size: Size) -> Iterator[Table]:
    """Budgets of hidden Markov models: our search beside the published algorithm in Z3."""
    limit = size.pick(1.0, 5.0, 30.0)
    table = Table(
        "Budgets of hidden Markov models: CPU seconds",
        ("model", "K", "least ratio", "vectors", "s", "exactly that", "s", "Algorithm 1 in Z3", "s"),
        (f"Each question has {limit:g} s wall. Exactly that: the proof that the ratio is one.",),
    )
    lengths = size.pick((5,), (5, 10, 20), (5, 10, 20, 50))
    for length in lengths:
        _row(table, "Above Threshold, 52 states", above_threshold(), length, limit)
    for states in size.pick((10,), (10, 50), (10, 50, 200)):
        for length in lengths:
            model = random_model(states, 3, 5, states)
            _row(table, f"random, {states} states, 3 symbols", model, length, limit)
    yield table
    table = Table(
        "Noisy Max, all neighbouring pairs: CPU seconds", ("variant", "n", "pairs", "largest ratio", "s")
    )
    for n in size.pick((3,), (3,), (3, 4)):
        for variant in ("naive", "improved"):
            model = noisy_max_neighbours(variant, n)

            def largest(model: HMM = model) -> str:
                ratios = [least_ratio(model, pair, 1).ratio for pair in model.pairs]
                return str(max(r for r in ratios if r is not None))

            table.add(variant, str(n), str(len(model.pairs)), *_timed(largest))
    yield table
