"""Budgets of Noisy Max over all neighbours, proofs for all parameters, and proofs for all lengths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from importlib import import_module

from benchmarks.tables import Size, Table, fine_seconds
from benchmarks.timing import timed
from bisimdist.budgets.budget.ask import mechanism_budget
from bisimdist.budgets.engine.budget import Adjacency, noisy_max_family
from bisimdist.budgets.engine.parametric import prove_for_all
from bisimdist.budgets.prove.ask import for_all_lengths
from bisimdist.checker.claims import KINDS
from bisimdist.models.library.hidden_markov import contagious_disease, geometric, noisy_max_diseases
from bisimdist.models.mechanisms import above_threshold
from tests.reference.budgets import enumerated

__all__ = ["hmm_proof_tables"]

ENUMERATED = 4
"""Up to so many queries every pair is looked at as well, for comparison."""


def hmm_proof_tables(size: Size) -> Iterator[Table]:
    """Noisy Max over all neighbours, proofs for all parameters and for all lengths."""
    yield _budgets(size.pick(3, 6, 9))
    yield _parameters(size.pick(2, 4, 4))
    yield _lengths()


def _checked(document: dict[str, object]) -> str:
    """Return the CPU seconds that the checker takes for a certificate, or that it rejects it."""
    plain = json.loads(json.dumps(document))
    check = import_module(KINDS[str(document["kind"])]).check_document
    report, spent = timed(lambda: check(plain, None))
    return fine_seconds(spent) if report.valid else "REJECTED"


def _budgets(largest: int) -> Table:
    table = Table(
        "Noisy Max, results and noise on {0, 1, 2}, noise 1/2: CPU seconds",
        ("n", "ties", "neighbours", "pairs", "looked at", "budget", "s", "every pair s"),
    )
    for n in range(3, largest + 1):
        for ties in ("uniform", "first"):
            for adjacency in Adjacency:
                family = noisy_max_family(n, ties=ties)
                answer, spent = timed(partial(mechanism_budget, family, adjacency))
                found = answer.result
                plain = "-"
                if n <= ENUMERATED:
                    (ratio, _), slow = timed(partial(enumerated, family, adjacency))
                    plain = fine_seconds(slow) if ratio == found.ratio else "WRONG"
                counts = (str(found.pairs), str(found.looked_at), str(found.ratio))
                table.add(str(n), ties, adjacency.value, *counts, fine_seconds(spent), plain)
    return table


def _parameters(largest: int) -> Table:
    table = Table(
        "Noisy Max on diseases of unknown probabilities, budget 2: CPU seconds",
        ("diseases", "verdict", "counts", "s"),
    )
    for n in range(2, largest + 1):
        model = noisy_max_diseases(n=n)
        answer, spent = timed(partial(prove_for_all, model, model.pairs[0], 2, 1))
        counts = ", ".join(f"{count} {name}" for name, count in answer.statistics.items())
        table.add(str(n), str(answer.verdict), counts, fine_seconds(spent))
    return table


def _lengths() -> Table:
    table = Table(
        "Sequences of every length: CPU seconds",
        ("model", "budget", "verdict", "by", "growth", "s", "check s"),
    )
    cases = (
        ("geometric mechanism", geometric(), None),
        ("contagious disease", contagious_disease("9/10"), 4),
        ("Above Threshold", above_threshold(), 16),
        ("Above Threshold", above_threshold(), None),
    )
    for name, model, ratio in cases:
        answer, spent = timed(partial(for_all_lengths, model, ratio, pairs=[model.pairs[0]]))
        found = answer.pairs[0]
        growth = "-" if found.growth is None else f"{found.growth[0]} against {found.growth[1]}"
        told = (str(ratio or "any"), found.verdict.value, str(found.method), growth)
        table.add(name, *told, fine_seconds(spent), _checked(answer.certificate()))
    return table
