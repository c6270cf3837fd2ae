"""Budgets of Noisy Max over all neighbours, proofs for all parameters, and proofs for all lengths.

Run ``python benchmarks/hmm_proofs.py``; ``--large`` takes Noisy Max to nine queries.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

from bisimdist.analysis.hmm_proofs import for_all_lengths
from bisimdist.analysis.mechanism_budget import mechanism_budget
from bisimdist.checker.rules import KINDS
from bisimdist.hmm.budget import Adjacency, enumerated_budget, noisy_max_family
from bisimdist.hmm.parametric import prove_for_all
from bisimdist.models.library.hidden_markov import contagious_disease, geometric, noisy_max_diseases
from bisimdist.models.mechanisms import above_threshold

T = TypeVar("T")

ENUMERATED = 4
"""Up to so many queries every pair is looked at as well, for comparison."""


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return a result and the seconds that it took."""
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def checked(document: dict[str, object]) -> tuple[bool, float]:
    """Return whether the checker accepts a certificate, and the seconds that it takes."""
    plain = json.loads(json.dumps(document))
    check = import_module(KINDS[str(document["kind"])]).check_document
    report, seconds = timed(lambda: check(plain, None))
    return report.valid, seconds


def budgets(largest: int) -> None:
    """Print the exact budgets of Noisy Max by the number of queries."""
    print("Noisy Max, results and noise on {0, 1, 2}, noise 1/2")
    print(
        f"{'n':>2} {'ties':8} {'neighbours':10} {'pairs':>9} {'looked at':>9} {'budget':>12} "
        f"{'s':>7} {'all, s':>7}"
    )
    for n in range(3, largest + 1):
        for ties in ("uniform", "first"):
            for adjacency in Adjacency:
                family = noisy_max_family(n, ties=ties)
                found, seconds = timed(lambda f=family, a=adjacency: mechanism_budget(f, a).result)
                plain = ""
                if n <= ENUMERATED:
                    other, slow = timed(lambda f=family, a=adjacency: enumerated_budget(f, a))
                    plain = f"{slow:7.2f}" if other.ratio == found.ratio else "DIFFERS"
                print(
                    f"{n:2} {ties:8} {adjacency.value:10} {found.pairs:9} {found.looked_at:9} "
                    f"{found.ratio!s:>12} {seconds:7.2f} {plain:>7}"
                )


def parameters() -> None:
    """Print how budgets for all parameter values are proved."""
    print("\nNoisy Max on diseases of unknown probabilities, budget 2")
    for n in (2, 3, 4):
        model = noisy_max_diseases(n=n)
        answer, seconds = timed(lambda m=model: prove_for_all(m, m.pairs[0], 2, 1))
        print(f"{n} diseases: {answer.verdict} {dict(answer.statistics)} in {seconds:.2f} s")


def lengths() -> None:
    """Print what is proved for all lengths."""
    print("\nsequences of every length")
    cases = (
        ("geometric mechanism", geometric(), None),
        ("contagious disease, budget 4", contagious_disease("9/10"), 4),
        ("Above Threshold, budget 16", above_threshold(), 16),
        ("Above Threshold, any budget", above_threshold(), None),
    )
    for name, model, ratio in cases:
        answer, seconds = timed(lambda m=model, r=ratio: for_all_lengths(m, r, pairs=[m.pairs[0]]))
        valid, check = checked(answer.certificate())
        found = answer.pairs[0]
        growth = "" if found.growth is None else f", growth {found.growth[0]} against {found.growth[1]}"
        print(
            f"{name}: {found.verdict.value} by {found.method}{growth} in {seconds:.2f} s; "
            f"certificate {'valid' if valid else 'NOT VALID'} in {check:.2f} s"
        )


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    budgets(9 if parser.parse_args().large else 7)
    parameters()
    lengths()


if __name__ == "__main__":
    main()
