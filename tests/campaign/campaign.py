"""One model after the other: draw it, ask about it, count, and write down what disagrees."""

from __future__ import annotations

import json
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from flint import fmpq

from bisimdist.errors import BisimdistError, LimitError
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.io import parse_model
from bisimdist.progress import Deadline
from tests.campaign import analysts, automata, chains, hidden, leakages, whole
from tests.campaign.desk import Desk, Question
from tests.campaign.draw import KINDS, Case, draw

__all__ = ["QUESTIONS", "Orders", "Record", "examine", "examine_several"]

QUESTIONS: tuple[Question, ...] = (
    *chains.QUESTIONS,
    *automata.QUESTIONS,
    *hidden.QUESTIONS,
    *leakages.QUESTIONS,
    *analysts.QUESTIONS,
    *whole.QUESTIONS,
)


OVERRUN_SECONDS = 60.0
"""Whoever was given a limit of seconds has to be back by then."""


class Overrun(BaseException):
    """A question that does not keep its limit; no handler of errors is to swallow it."""


def _overrun(signal_number: int, frame: FrameType | None) -> None:
    raise Overrun(f"no answer after {OVERRUN_SECONDS:.0f} s")


@dataclass(slots=True)
class Record:
    """What a campaign has done so far.

    Parameters
    ----------
    seed
        What the models are drawn from.
    following
        The number of the next model.
    counts
        How often what was done.
    seconds
        How long each question took in all.
    findings
        What disagreed, in words.
    """

    seed: int
    following: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Record:
        """Read what `save` wrote."""
        plain = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            plain["seed"],
            plain["following"],
            Counter(plain["counts"]),
            plain["seconds"],
            plain["findings"],
        )

    def save(self, path: Path) -> None:
        """Write all of it, or nothing."""
        fresh = path.with_suffix(".new")
        plain = {
            "seed": self.seed,
            "following": self.following,
            "counts": dict(self.counts),
            "seconds": self.seconds,
            "findings": self.findings,
        }
        fresh.write_text(json.dumps(plain, indent=1), encoding="utf-8")
        fresh.replace(path)

    def add(self, other: Record) -> None:
        """Take in what another one did after this one."""
        self.following = other.following
        self.counts.update(other.counts)
        for name, seconds in other.seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.findings.extend(other.findings)

    def table(self) -> str:
        """Return all counts, and the seconds of the questions, as text."""
        lines = [f"models {self.counts['models']}, seconds {sum(self.seconds.values()):.0f}"]
        width = max((len(name) for name in self.counts), default=0)
        for name, count in sorted(self.counts.items()):
            spent = f"{self.seconds[name]:10.1f} s" if name in self.seconds else ""
            lines.append(f"  {name:<{width}} {count:>10} {spent}".rstrip())
        lines.append(f"findings: {len(self.findings)}")
        return "\n".join([*lines, *(f"  {text}" for text in self.findings)])


def examine(
    record: Record,
    number: int,
    folder: Path | None = None,
    *,
    kinds: Sequence[str] = KINDS,
    only: Collection[str] = (),
) -> None:
    """Ask about one model; what disagrees becomes a file in the folder, where there is one.

    With names of questions, only these are asked, each of every model that it is about.
    """
    case = draw(record.seed, number, kinds)
    counts = record.counts
    try:
        model = parse_model(case.text, format=case.suffix[1:])
    except BisimdistError:
        counts["models refused"] += 1
        return
    assert not isinstance(model, IntervalChain)  # nobody draws one
    counts["models"] += 1
    counts[f"models: {case.kind}"] += 1
    counts[f"family: {case.family}"] += 1
    alpha = fmpq(case.alpha.numerator, case.alpha.denominator)
    desk = Desk(case, model, counts, case.source, alpha)
    turn = number // len(kinds)
    for place, question in enumerate(QUESTIONS):
        due = question.name in only if only else (turn + place) % question.every == 0
        if case.kind in question.kinds and due:
            _ask(record, desk, question, folder)


@dataclass(frozen=True, slots=True)
class Orders:
    """What is asked of all models: see `examine`."""

    seed: int
    folder: Path
    kinds: Sequence[str]
    only: Sequence[str]


def examine_several(orders: Orders, numbers: range, deadline: Deadline) -> Record:
    """Ask about models one after the other, wherever that is."""
    record = Record(orders.seed)
    for number in numbers:
        deadline.check()
        examine(record, number, orders.folder, kinds=orders.kinds, only=orders.only)
        record.following = number + 1
    return record


@contextmanager
def _watched() -> Iterator[None]:
    """Interrupt what takes far too long, in the main thread: no other one is sent signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _overrun)
    signal.setitimer(signal.ITIMER_REAL, OVERRUN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ask(record: Record, desk: Desk, question: Question, folder: Path | None) -> None:
    name = f"asked: {question.name}"
    began = time.perf_counter()
    try:
        with _watched():
            question.ask(desk)
    except LimitError:
        record.counts["questions beyond a limit"] += 1
    except (Exception, Overrun) as error:  # whatever it is, it belongs on the list
        text = f"{desk.case.seed}:{desk.case.number} {question.name}: {type(error).__name__}: {error}"
        record.findings.append(text[:600])
        if folder is not None:
            _write(folder, desk.case, question, traceback.format_exc())
    record.counts[name] += 1
    record.seconds[name] = record.seconds.get(name, 0.0) + time.perf_counter() - began


def _write(folder: Path, case: Case, question: Question, text: str) -> None:
    place = folder / f"{case.seed}-{case.number}-{question.name.replace(' ', '-')}"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"model{case.suffix}").write_text(case.text, encoding="utf-8")
    command = question.command.replace("MODEL", f"model{case.suffix}").replace("ALPHA", str(case.alpha))
    lines = [
        f"bisimdist {command}",
        f"python -m tests.campaign --seed {case.seed} --from {case.number} --count 1",
        text,
    ]
    (place / "finding.txt").write_text("\n\n".join(lines), encoding="utf-8")
