"""Points of a profile in several processes: the same answer, and nothing left behind."""

from __future__ import annotations

import multiprocessing

import pytest

from bisimdist.errors import Interruption, LimitError, UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.parallel import Pool
from bisimdist.privacy.delta.jobs import DeltaTask, delta_at
from bisimdist.privacy.profile.ask import profile
from bisimdist.progress import Deadline

ALPHAS = ["1", "11/10", "6/5", "3/2"]


def cyclic() -> tuple[LMC, list[tuple[str, str]]]:
    chain = random_lmc(6, 2, 2, 1)
    return chain, [(chain.states[s], chain.states[t]) for s, t in chain.pairs]


def test_the_same_answer_and_limits() -> None:
    chain, pairs = cyclic()
    alone = profile(chain, pairs=pairs, alphas=ALPHAS, gap="1/1000")
    assert alone.losses is None
    together = profile(chain, pairs=pairs, alphas=ALPHAS, gap="1/1000", jobs=2)
    assert together == alone
    assert together.points == alone.points
    assert not multiprocessing.active_children()


def test_an_interrupt_ends_the_processes_and_keeps_the_points() -> None:
    chain = random_lmc(30, 3, 3, 0)
    pair = (chain.states[chain.pairs[0][0]], chain.states[chain.pairs[0][1]])

    def interrupt(stage: str, done: int, total: int | None) -> None:
        if done == 2:
            raise Interruption("interrupted")

    found = profile(chain, pairs=[pair], alphas=["2", "3", "4"], gap="1/10", jobs=2, progress=interrupt)
    assert (len(found.points), found.status) == (2, Status.LIMIT)
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_limit_that_has_passed() -> None:
    chain, pairs = cyclic()
    pool = Pool(delta_at, DeltaTask(chain, tuple(pairs), None), jobs=2, deadline=Deadline.after(0))
    with pytest.raises(LimitError), pool:
        list(pool.map([(point.alpha, None) for point in profile(figure1(), alphas=ALPHAS).points]))
    assert not multiprocessing.active_children()


def test_one_job_needs_no_process() -> None:
    chain, pairs = cyclic()
    with Pool(delta_at, DeltaTask(chain, tuple(pairs), None)) as pool:
        found = list(pool.map([(point.alpha, None) for point in profile(figure1(), alphas=ALPHAS).points]))
    assert [str(at.alpha) for at in found] == ALPHAS
    assert all(at.lower <= at.upper and not at.limited for at in found)


def test_refused() -> None:
    with pytest.raises(UsageError, match="processes"):
        profile(figure1(), jobs=0)
