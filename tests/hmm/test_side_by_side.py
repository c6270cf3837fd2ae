"""``verify(engine="both")``: two engines at the same time, and what remains where one of them is stopped."""

from __future__ import annotations

import json
import threading
import time

import pytest

from bisimdist.budgets.engine.smt import SmtAnswer
from bisimdist.budgets.verify.answer import Verdict
from bisimdist.budgets.verify.ask import verify
from bisimdist.checker import check_certificate
from bisimdist.errors import Interruption, LimitError
from bisimdist.models.library.hidden_markov import geometric, independent_disease, noisy_max_diseases
from bisimdist.progress import Deadline

SMT = "bisimdist.budgets.engine.smt.decide_by_smt"
EXACT = "bisimdist.budgets.verify.verification.decide_ratio"


class Context:
    """Stands for a context of Z3."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def interrupt(self) -> None:
        self.stopped.set()


def test_both_say_what_they_found_and_when() -> None:
    (found,) = verify(independent_disease(), 2, length=1, engine="both").pairs
    assert [(said.engine, said.verdict) for said in found.engines] == [
        ("exact", Verdict.HOLDS),
        ("smt", Verdict.HOLDS),
    ]
    assert all(float(said.seconds) >= 0 for said in found.engines)
    assert found.ways[0] == "bernstein"
    assert "z3 chosen" in found.ways
    assert [said["engine"] for said in found.data()["engines"]] == ["exact", "smt"]  # type: ignore[attr-defined]


def test_they_work_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for the other one to be at work: one after the other would wait for ever."""
    meeting = threading.Barrier(2, timeout=20)

    def z3(*arguments: object, **options: object) -> SmtAnswer:
        meeting.wait()
        return SmtAnswer(holds=True, nonlinear=False, queries=1)

    def exact(*arguments: object, **options: object) -> tuple[object, ...]:
        meeting.wait()
        return ()

    monkeypatch.setattr(SMT, z3)
    monkeypatch.setattr(EXACT, exact)
    (found,) = verify(geometric(), 2, length=1, pairs=[("0", "1")], engine="both").pairs
    assert found.verdict is Verdict.HOLDS
    assert found.ways == ("information states", "z3 chosen")


def test_an_interruption_keeps_what_the_other_one_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context()

    def z3(*arguments: object, told: object, **options: object) -> SmtAnswer:
        assert callable(told)
        told(context)
        context.stopped.wait(30)
        return SmtAnswer(holds=None, nonlinear=True, queries=1, reason="Z3 gave up: canceled")

    def interrupted(what: str, done: int, total: int | None) -> None:
        if what == "waiting for Z3":
            raise Interruption("interrupted")

    monkeypatch.setattr(SMT, z3)
    begun = time.monotonic()
    answer = verify(noisy_max_diseases(), 2, length=1, engine="both", progress=interrupted)
    assert time.monotonic() - begun < 20
    assert context.stopped.is_set()
    assert answer.verdict is Verdict.HOLDS
    assert [said.verdict for said in answer.pairs[0].engines] == [Verdict.HOLDS, Verdict.UNKNOWN]
    assert check_certificate(json.dumps(answer.certificate())).valid


def test_an_interruption_of_the_exact_engine_keeps_what_z3_found(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def z3(*arguments: object, **options: object) -> SmtAnswer:
        done.set()
        return SmtAnswer(holds=True, nonlinear=False, queries=1)

    def exact(*arguments: object, **options: object) -> None:
        done.wait(20)
        raise Interruption("interrupted")

    monkeypatch.setattr(SMT, z3)
    monkeypatch.setattr(EXACT, exact)
    (found,) = verify(geometric(), 2, length=1, pairs=[("0", "1")], engine="both").pairs
    assert (found.verdict, found.ways) == (Verdict.HOLDS, ("z3 chosen",))
    assert [said.verdict for said in found.engines] == [Verdict.UNKNOWN, Verdict.HOLDS]


def test_z3_has_a_limit_of_its_own() -> None:
    begun = time.monotonic()
    (found,) = verify(noisy_max_diseases(), 2, length=1, engine="both", smt_seconds=0.5).pairs
    assert time.monotonic() - begun < 20
    assert [said.verdict for said in found.engines] == [Verdict.HOLDS, Verdict.UNKNOWN]
    assert found.engines[1].note


def test_what_goes_wrong_in_the_thread_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> SmtAnswer:
        raise ZeroDivisionError

    monkeypatch.setattr(SMT, broken)
    with pytest.raises(ZeroDivisionError):
        verify(geometric(), 2, length=1, engine="both")


def test_without_time_neither_is_asked() -> None:
    answer = verify(geometric(), 2, length=1, engine="both", deadline=Deadline.after(0))
    assert answer.verdict is Verdict.UNKNOWN
    assert answer.pairs[0].engines == ()


def test_opposite_verdicts_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SMT, lambda *_, **__: SmtAnswer(holds=True, nonlinear=False, queries=1))
    with pytest.raises(LimitError, match="disagree"):
        verify(geometric(), "3/2", length=1, engine="both")
