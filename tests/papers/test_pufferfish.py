"""The results of Liu, Wang, Zhang, "Verifying Pufferfish Privacy in Hidden Markov Models", row by row.

Every verdict comes with a certificate, and the checker accepts it.
"""

from __future__ import annotations

import json

import pytest

from bisimdist.analysis.hmm import epsilon, verify
from bisimdist.analysis.hmm_proofs import for_all_lengths, mechanism_budget
from bisimdist.checker import check_certificate
from bisimdist.hmm.budget import noisy_max_family
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import (
    contagious_disease,
    geometric,
    independent_disease,
    noisy_max_diseases,
    noisy_max_neighbours,
)
from bisimdist.models.mechanisms import above_threshold

ROWS: list[tuple[str, HMM, str, int, str]] = [
    ("geometric mechanism, ln 2", geometric(), "2", 1, "holds"),
    ("contagious disease, 2", contagious_disease(), "2", 1, "violated"),
    ("contagious disease, 4", contagious_disease(), "4", 1, "holds"),
    ("independent disease, any p, 2", independent_disease(), "2", 1, "holds"),
    ("naive Noisy Max, 2", noisy_max_neighbours("naive", 3), "2", 1, "violated"),
    ("improved Noisy Max, independent diseases, any p, 2", noisy_max_diseases(), "2", 1, "holds"),
    ("improved Noisy Max, contagious, 2", noisy_max_diseases(prior="contagious"), "2", 1, "violated"),
    ("Above Threshold, 16", above_threshold(), "16", 13, "violated"),
]


def _valid(certificate: dict[str, object]) -> bool:
    return check_certificate(json.dumps(certificate)).valid


@pytest.mark.parametrize(
    ("model", "ratio", "length", "verdict"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_the_verdict_is_the_published_one_and_proved(
    model: HMM, ratio: str, length: int, verdict: str
) -> None:
    answer = verify(model, ratio, length=length)
    assert answer.verdict.value == verdict
    assert _valid(answer.certificate())


@pytest.mark.parametrize("ratio", ["16", "1000000"])
def test_above_threshold_has_no_privacy_at_all(ratio: str) -> None:
    model = above_threshold()
    assert for_all_lengths(model, ratio).verdict.value == "violated"
    answer = for_all_lengths(model)
    assert answer.pairs[0].method == "pump"
    assert _valid(answer.certificate())


def test_above_threshold_exceeds_sixteen_only_after_ten_observations() -> None:
    """Up to ten observations the least budget is 16: the papers' bound is met, then left behind."""
    assert epsilon(above_threshold(), length=10, up_to=True).pairs[0].ratio == 16
    longer = epsilon(above_threshold(), length=12, up_to=True).pairs[0]
    assert longer.ratio is not None
    assert longer.ratio > 16


@pytest.mark.parametrize(
    ("n", "ties", "adjacency", "ratio"),
    [
        (3, "uniform", "all", "24/7"),
        (3, "first", "all", "8"),
        (5, "uniform", "all", "288/73"),
        (5, "first", "all", "32"),
        (3, "first", "one", "2"),
    ],
)
def test_the_exact_budget_over_all_neighbours(n: int, ties: str, adjacency: str, ratio: str) -> None:
    answer = mechanism_budget(noisy_max_family(n, ties=ties), adjacency)
    assert str(answer.ratio) == ratio
    assert _valid(answer.certificate())


def test_bisection_found_the_logarithm_of_the_exact_budget() -> None:
    """The papers give 1.232 for improved Noisy Max; it is ln(24/7) = 1.23214..."""
    found = mechanism_budget(noisy_max_family(3), "all").epsilon
    assert found is not None
    assert float(found[0]) <= 1.23214369 <= float(found[1])
