"""Exact bounds where there is no time to solve a linear system: they rise and fall by iteration."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.checker import check_certificate
from bisimdist.errors import LimitError
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.answer import NO_WITNESS, DeltaAnswer
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.delta.page import answer_as_html
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


@settings(max_examples=30)
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


HALF, THIRD, SIXTH = fmpq(1, 2), fmpq(1, 3), fmpq(1, 6)
CYCLIC = LMC(  # both wait, then one is more likely to say "on"
    ("s", "t", "on", "off"),
    ("wait", "wait", "on", "off"),
    (
        ((0, HALF), (2, THIRD), (3, SIXTH)),
        ((1, HALF), (2, SIXTH), (3, THIRD)),
        ((2, fmpq(1)),),
        ((3, fmpq(1)),),
    ),
    ((0, 1),),
)


def out_of_time(spare: float) -> DeltaAnswer:
    """Return an answer that is shown when the time is over, with so many seconds to spare."""
    answer = delta(CYCLIC, "11/10", gap="1/100")
    work: Any = answer._work
    while hasattr(work, "found"):  # of a simpler model
        work = work.found._work
    work.question = replace(work.question, deadline=Deadline.after(0))
    work.spare = spare
    return answer


def test_no_event_is_looked_for_when_the_time_is_over() -> None:
    answer = out_of_time(0)
    assert answer.lower > 0
    with pytest.raises(LimitError):
        _ = answer.worst.witness
    with pytest.raises(LimitError):
        answer.certificate()
    assert answer.data()["pairs"][0]["witness"] is None  # type: ignore[index]
    assert NO_WITNESS in answer.report().remarks
    assert "<svg" not in answer_as_html(answer, answer.report())


def test_an_event_may_take_a_little_when_the_time_is_over() -> None:
    answer = out_of_time(3600)
    assert answer.worst.witness.event.order is None  # so there is a system
    assert NO_WITNESS not in answer.report().remarks
