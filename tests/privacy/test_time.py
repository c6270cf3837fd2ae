"""Exact bounds where there is no time to solve a linear system: they rise and fall by iteration."""

from __future__ import annotations

import json
import time

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.checker import check_certificate
from bisimdist.errors import LimitError
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import Deadline
from tests.speed import leeway
from tests.strategies import alphas, lmcs

BIG = 2**60


def nearly_alike() -> LMC:
    """Two copies of a cyclic chain, whose long numbers differ in the last bit."""
    rows = []
    for first in (0, 3):
        weights = (BIG, BIG + 1, BIG) if first == 0 else (BIG, BIG, BIG + 1)
        rows += [
            tuple((first + k, fmpq(w, 3 * BIG + 1)) for k, w in enumerate(weights)),
            ((first + 1, fmpq(1, 2)), (first + 2, fmpq(1, 2))),
            ((first, fmpq(1)),),
        ]
    return LMC(("s0", "s1", "s2", "t0", "t1", "t2"), tuple("abbabb"), tuple(rows), ((0, 3),))


def test_a_limit_is_kept_although_a_large_system_would_have_to_be_solved() -> None:
    began = time.process_time()
    answer = delta(nearly_alike(), "3/2", deadline=Deadline.after(1.0))
    assert time.process_time() - began < 6 * leeway()
    assert check_certificate(json.dumps(answer.certificate())).valid


def no_time(*arguments: object, **options: object) -> None:
    raise LimitError("the time limit was reached")


@settings(max_examples=60)
@given(lmcs(5), alphas())
def test_what_is_iterated_encloses_what_is_solved(chain: LMC, alpha: fmpq) -> None:
    pairs = [(chain.states[0], chain.states[-1])]
    exact = delta(chain, alpha, pairs=pairs, gap="1/100").pairs[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bisimdist.privacy.engine.closure.solve_exact", no_time)
        answer = delta(chain, alpha, pairs=pairs, gap="1/100", deadline=Deadline.after(0.5))
        (found,) = answer.pairs
        report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid, report.reason
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert 0 <= found.lower <= found.upper <= 1
