"""Whatever ends the work, what is known by then is proved: limits and interruptions at every stage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

import pytest
from flint import fmpq

from bisimdist.distances.bound.ask import bd_threshold, bound
from bisimdist.distances.engine.pairs import reached_by_pairs
from bisimdist.errors import Interruption, LimitError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline
from tests.fixpoint.chains import swap
from tests.integration.certified import all_pairs, check_answer, exact_distance

CHAIN = random_lmc(8, 3, 2, seed=11)
DETOURS = random_lmc(7, 3, 2, seed=158, denominator=6, acyclic=True)


class Stop:
    """A progress callback that raises at its k-th call."""

    def __init__(self, at: int, error: type[BaseException]) -> None:
        self.left = at
        self.error = error
        self.stages: list[str] = []
        self.asleep = False

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        self.stages.append(stage)
        self.left -= 1
        if self.left < 0 and not self.asleep:
            raise self.error(f"stopped at {stage}")


@pytest.mark.parametrize("error", [Interruption, LimitError])
@pytest.mark.parametrize("precision", [None, "1e-9"])
@pytest.mark.parametrize("alpha", ["1", "4/3"])
def test_stopped_at_every_report(alpha: str, precision: str | None, error: type[BaseException]) -> None:
    """At the k-th report, for every k: certified bounds that hold the distance."""
    d = exact_distance(DETOURS, alpha)
    pairs = all_pairs(DETOURS)
    stages: set[str] = set()
    for at in count():
        stop = Stop(at, error)
        answer = bound(DETOURS, alpha, pairs=pairs, precision=precision, progress=stop)
        stages.update(stop.stages)
        left, stop.asleep = stop.left, True  # certificates report, too
        check_answer(answer)
        for pair in answer.pairs:
            assert pair.lower <= d[DETOURS.index(pair.source)][DETOURS.index(pair.target)] <= pair.upper
        if left >= 0:
            break
        if error is Interruption:
            assert answer.status is Status.LIMIT
            assert "stopped at" in answer.reason
    assert answer.status is not Status.LIMIT
    assert len(stages) >= 3


def ticking(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


@pytest.mark.parametrize("alpha", ["1", "4/3"])
@pytest.mark.parametrize("precision", [None, "1e-9"])
def test_a_deadline_that_passes_at_every_look(
    alpha: str, precision: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that only moves when somebody looks: the deadline passes at the k-th look, for growing k."""
    d = exact_distance(CHAIN, alpha)
    statuses = set()
    looks = 0.0
    while looks < 2000:
        clock = ticking(1.0)
        with monkeypatch.context() as patched:
            patched.setattr("bisimdist.progress.time.monotonic", lambda clock=clock: next(clock))
            answer = bound(
                CHAIN, alpha, pairs=all_pairs(CHAIN), precision=precision, deadline=Deadline(looks + 0.5)
            )
        check_answer(answer)
        statuses.add(answer.status)
        for pair in answer.pairs:
            assert pair.lower <= d[CHAIN.index(pair.source)][CHAIN.index(pair.target)] <= pair.upper
        if answer.status is not Status.LIMIT:
            break
        looks = looks * 1.3 + 1
    assert statuses == {Status.LIMIT, Status.EXACT if precision is None else Status.BRACKET}


@pytest.mark.parametrize("precision", [None, "1/100"])
def test_a_deadline_that_has_passed(precision: str | None) -> None:
    pairs = [("s0", "s0"), ("s0", "s1"), ("s1", "s5")]
    answer = bound(swap(2), 1, pairs=pairs, precision=precision, deadline=Deadline.after(-1))
    assert answer.status is Status.LIMIT
    assert "time limit" in answer.reason
    assert (answer.pairs[0].lower, answer.pairs[0].upper) == (0, 0)
    assert all(pair.lower <= pair.upper for pair in answer.pairs)
    check_answer(answer)


def test_a_threshold_whose_deadline_has_passed_is_unknown() -> None:
    answer = bd_threshold(CHAIN, "4/3", "s0", "s1", "1/3", deadline=Deadline.after(-1))
    assert answer.holds is None
    assert answer.verdict == "unknown"
    assert answer.status is Status.LIMIT
    check_answer(answer)


def test_a_threshold_that_needs_no_work_is_decided_all_the_same() -> None:
    answer = bd_threshold(CHAIN, "4/3", "s0", "s1", 1, deadline=Deadline.after(-1))
    assert answer.holds is True


def test_a_threshold_stopped_at_every_report() -> None:
    d = exact_distance(CHAIN, "4/3")
    source, target = next((s, t) for s, t in all_pairs(CHAIN) if 0 < d[CHAIN.index(s)][CHAIN.index(t)] < 1)
    theta = d[CHAIN.index(source)][CHAIN.index(target)] - fmpq(1, 10**30)
    for at in chain(range(10), count(10, 7)):
        stop = Stop(at, Interruption)
        answer = bd_threshold(CHAIN, "4/3", source, target, theta, progress=stop)
        left, stop.asleep = stop.left, True
        check_answer(answer)
        assert answer.holds in {False, None}
        if left >= 0:
            break
        assert answer.holds is None
        assert answer.status is Status.LIMIT
    assert answer.holds is False


class SecondLook(Deadline):
    """A time limit that is over when somebody looks for the second time."""

    looks = 0

    def check(self) -> None:
        type(self).looks += 1
        if type(self).looks > 1:
            raise LimitError("over")


def test_the_clock_is_looked_at_for_every_pair_that_is_found() -> None:
    rows = tuple(tuple((t, fmpq(1 + (s + t) % 5, 15)) for t in range(5)) for s in range(5))
    chain = LMC(tuple("stuvw"), ("a",) * 5, rows)
    with pytest.raises(LimitError, match="over"):
        reached_by_pairs(chain, [0] * 5, [(0, 1)], fmpq(1), limit=100, deadline=SecondLook())


def test_the_asymmetric_distance_keeps_to_the_time_from_its_first_program_on() -> None:
    stages: list[str] = []
    asked = [(CHAIN.states[0], CHAIN.states[1])]
    (found,) = bound(
        CHAIN,
        2,
        distance="lbd",
        pairs=asked,
        deadline=Deadline(0.0),
        progress=lambda stage, *_: stages.append(stage),
    ).pairs
    assert found.directions == ((0, 1), (0, 1))
    assert stages in ([], ["linear programs"])
