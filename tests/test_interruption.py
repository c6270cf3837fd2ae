"""Ctrl-C in Python: KeyboardInterrupt unless asked otherwise, and then the best so far."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

from bisimdist import interruption
from bisimdist.automata.generalised.ask import generalised_metric
from bisimdist.automata.metric.ask import metric
from bisimdist.budgets.verify.ask import verify
from bisimdist.distances.bound.ask import bd_threshold, bound
from bisimdist.errors import Interruption, LimitError, StoppedError
from bisimdist.faces.shown.answer import Status
from bisimdist.interruption import (
    asked_to_stop,
    deferred,
    due,
    forget,
    interruptible,
    listening,
    under_deadline,
)
from bisimdist.logic.explanation.ask import explain
from bisimdist.lp.compiled import machine_code
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.hidden_markov import geometric
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import chain_as_automaton
from bisimdist.privacy.crosscheck.ask import crosscheck
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import NEVER, Deadline, Progress
from bisimdist.traces.equivalence.ask import trace_equivalence
from bisimdist.traces.trace.ask import trace_metric

CHAIN: LMC = random_lmc(8, 3, 3, 1)
AUTOMATON = chain_as_automaton(CHAIN)
PAIRS = [("s0", "s1"), ("s1", "s2"), ("s0", "s2")]

QUESTIONS: dict[str, Callable[..., object]] = {
    "bound": lambda **how: bound(CHAIN, 1, pairs=PAIRS, **how),
    "bd_threshold": lambda **how: bd_threshold(CHAIN, 1, "s0", "s1", "1/1000", **how),
    "delta": lambda **how: delta(CHAIN, 1, pairs=PAIRS, **how),
    "metric": lambda **how: metric(AUTOMATON, "accumulative", pairs=PAIRS, **how),
    "generalised_metric": lambda **how: generalised_metric(AUTOMATON, "additive", pairs=PAIRS, **how),
    "trace_metric": lambda **how: trace_metric(AUTOMATON, "multiplicative", pairs=PAIRS, **how),
    "trace_equivalence": lambda **how: trace_equivalence(AUTOMATON, PAIRS, **how),
    "explain": lambda **how: explain(AUTOMATON, PAIRS, **how),
    "verify": lambda **how: verify(geometric(), 3, length=1, **how),
    "crosscheck": lambda **how: crosscheck(figure1(), **how),
}


def pressing(at: int = 0) -> tuple[Progress, Callable[[], bool]]:
    """Return a callback that presses Ctrl-C at its report number `at`, and whether it did."""
    seen = 0

    def report(stage: str, done: int, total: int | None) -> None:
        nonlocal seen
        seen += 1
        if seen == at + 1:
            signal.raise_signal(signal.SIGINT)

    return report, lambda: seen > at


@pytest.mark.parametrize("name", QUESTIONS)
def test_ctrl_c_is_not_swallowed(name: str) -> None:
    report, pressed = pressing()
    try:
        QUESTIONS[name](progress=report)
    except KeyboardInterrupt:
        assert pressed()
    else:
        assert not pressed()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_known_is_returned_where_that_is_asked(name: str) -> None:
    for at in range(4):
        report, pressed = pressing(at)
        try:
            answer = QUESTIONS[name](progress=report, on_interrupt="return")
        except StoppedError:
            assert pressed()
        else:
            status = getattr(answer, "status", None)
            assert status in (None, *Status)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert not asked_to_stop()


def test_the_answer_says_that_it_was_stopped() -> None:
    report, _ = pressing()
    answer = bound(CHAIN, 1, pairs=PAIRS, progress=report, on_interrupt="return")
    assert answer.status is Status.LIMIT
    assert "interrupted" in answer.reason
    assert all(0 <= pair.lower <= pair.upper <= 1 for pair in answer.pairs)


def test_one_that_is_swallowed_still_stops_the_work() -> None:
    with listening():
        with pytest.raises(Interruption):
            signal.raise_signal(signal.SIGINT)
        assert NEVER.passed()
        with pytest.raises(StoppedError):
            NEVER.check()
        forget()
        assert not NEVER.passed()
    assert not NEVER.passed()


def test_a_second_one_shortly_after_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("bisimdist.interruption.time.monotonic", lambda: clock[0])
    with listening((signal.SIGINT, signal.SIGTERM)):
        with pytest.raises(Interruption):
            signal.raise_signal(signal.SIGTERM)
        clock[0] += 0.5
        signal.raise_signal(signal.SIGINT)
        clock[0] += 1
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_deferred_signals_are_remembered() -> None:
    with listening():
        with deferred():
            signal.raise_signal(signal.SIGINT)
        assert asked_to_stop()


def test_signals_that_are_ignored_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with listening():
            signal.raise_signal(signal.SIGINT)
            assert not asked_to_stop()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_do_not_listen() -> None:
    found: list[object] = []

    def work() -> None:
        with listening():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


def test_nothing_known_is_an_error_of_the_project() -> None:
    @interruptible
    def work(*, on_interrupt: interruption.OnInterrupt = "raise") -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(LimitError, match="interrupted"):
        work(on_interrupt="return")
    with pytest.raises(KeyboardInterrupt):
        work()


def test_a_call_tells_the_logger_how_it_ended(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="bisimdist"):
        bound(figure1(), 1)
        trace_equivalence(figure1())
    assert [record.getMessage().partition(" after ")[0] for record in caplog.records] == [
        "bound: exact",
        "trace_equivalence: exact",
    ]


def test_a_deadline_ends_the_compiler_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled for the first time takes seconds, and looks at the clock of the call that needs it."""
    path = tmp_path / "slow.py"
    path.write_text("def twice(x):\n    return 2 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    twice = machine_code(("twice",), vars(import_module("slow")))["twice"]

    @interruptible
    def doubled(x: int, *, deadline: Deadline = NEVER) -> int:
        assert due() is (None if deadline is NEVER else deadline)
        return twice(x)  # type: ignore[no-any-return]

    with pytest.raises(LimitError, match="time limit"):
        doubled(3, deadline=Deadline.after(0))
    assert due() is None
    assert doubled(3) == 6
    assert doubled(4, deadline=Deadline.after(0)) == 8  # it is compiled by now


def test_other_threads_work_under_the_same_deadline() -> None:
    """So that what they compile for the first time ends with the call, too."""

    def seen(_: int) -> object:
        return due()

    @interruptible
    def asked(*, deadline: Deadline = NEVER) -> list[object]:
        assert deadline is not NEVER
        with ThreadPoolExecutor(2) as pool:
            return [*pool.map(under_deadline(seen), range(4)), *pool.map(seen, range(1))]

    deadline = Deadline.after(60)
    assert asked(deadline=deadline) == [deadline] * 4 + [None]
