"""Budgets of hidden Markov models: the exact engine against Algorithm 1 in Z3, by length and by size.

Run ``python benchmarks/hmm.py [seconds]``; each single question may take so many seconds (default 30).
Noisy Max is asked here pair by pair, for three and four queries; ``benchmarks/hmm_proofs.py`` uses its
symmetries and goes to seven or nine.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.hmm.smt import decide_by_smt
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import noisy_max_neighbours
from bisimdist.models.mechanisms import above_threshold
from bisimdist.progress import Deadline, Limits
from bisimdist.words.search import decide_ratio, least_ratio


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


def timed(work: Callable[[], str]) -> str:
    """Return how long a question took, and what it said."""
    begin = time.perf_counter()
    try:
        said = work()
    except LimitError:
        said = "limit"
    return f"{time.perf_counter() - begin:8.2f} s  {said}"


def compare(name: str, model: HMM, length: int, seconds: float) -> None:
    """Print the least budget's time, and both engines' times to prove it."""
    pair = model.pairs[0]
    values: list[fmpq] = []
    layers: list[int] = []

    def least() -> str:
        found = least_ratio(model, pair, length, limits=Limits(deadline=Deadline.after(seconds)))
        layers.extend(proof.proof.size for proof in found.proofs)
        if found.ratio is not None:
            values.append(found.ratio)
        text = "inf" if found.ratio is None else f"{float(int(found.ratio.p) / int(found.ratio.q)):.6g}"
        return f"ratio {text}, {found.rounds} rounds, {sum(layers)} vectors"

    print(f"{name:32} K={length:3}  least budget  {timed(least)}", flush=True)
    ratio = values[0] if values else fmpq(2)

    def exact() -> str:
        found = decide_ratio(model, pair, ratio, length, limits=Limits(deadline=Deadline.after(seconds)))
        return "holds" if isinstance(found, tuple) else "violated"

    def solver() -> str:
        found = decide_by_smt(model, pair, ratio, length, limits=Limits(deadline=Deadline.after(seconds)))
        return {True: "holds", False: "violated", None: "unknown"}[found.holds]

    print(f"{'':32} {'':5}  exact         {timed(exact)}", flush=True)
    print(f"{'':32} {'':5}  Algorithm 1   {timed(solver)}", flush=True)


def main() -> None:
    """Print the tables."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    for length in (5, 10, 20, 50):
        compare("Above Threshold (52 states)", above_threshold(), length, seconds)
    for size in (10, 50, 200):
        for length in (5, 10, 20, 50):
            compare(f"random, {size} states, 3 symbols", random_model(size, 3, 5, size), length, seconds)
    for n in (3, 4):
        for variant in ("naive", "improved"):
            model = noisy_max_neighbours(variant, n)

            def largest(model: HMM = model) -> str:
                ratios = [least_ratio(model, pair, 1).ratio for pair in model.pairs]
                return f"{max(r for r in ratios if r is not None)} over {len(model.pairs)} pairs"

            print(f"{variant} Noisy Max, n={n}: {timed(largest)}", flush=True)


if __name__ == "__main__":
    main()
