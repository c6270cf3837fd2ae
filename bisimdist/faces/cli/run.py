"""The one way of every question: read, ask, show the answer, then write its proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from bisimdist.errors import BisimdistError, LimitError, UsageError
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import CERTIFICATE, JOBS, JSON, MEMORY, TIMEOUT, TOP
from bisimdist.faces.asked.question import Content, Plain, Question, Settled
from bisimdist.faces.cli.failure import ExitCode, note, note_with_answer
from bisimdist.faces.cli.output import OutputFile, emit, output_files
from bisimdist.faces.cli.progress import hinting, shown_progress
from bisimdist.faces.cli.room import out_of_memory
from bisimdist.faces.shown.tables import Report, shortened
from bisimdist.interruption import alarm, asked_to_stop, deferred, forget, why
from bisimdist.progress import Deadline, Limits

A = TypeVar("A")

READING, ASKING, WRITING = 1.0, 0.9, 1.0
"""How many seconds beyond its time work has that does not look at the clock: there is nothing to show before
the model is read, and files are written last."""

CODES: dict[tuple[Settled, bool], ExitCode] = {
    (True, True): ExitCode.ANSWERED,
    (True, False): ExitCode.UNDECIDED,
    (False, True): ExitCode.VIOLATED,
    (False, False): ExitCode.VIOLATED,
    (None, True): ExitCode.UNDECIDED,
    (None, False): ExitCode.UNDECIDED,
}  # from how a question is settled, and whether all files were written, to the exit code


def run_question(kind: type[Question[A]], values: Mapping[str, Any]) -> int:
    """Answer a question and return the exit code.

    ``values``: the values of its options and, as ``argument``, of its argument.
    Raises BisimdistError where the input is not usable; nothing is printed then.
    """
    begun = time.monotonic()
    given = Given(values, note_with_answer, kind.offered())
    seconds = given[TIMEOUT]
    limits = Limits(
        deadline=Deadline(None if seconds is None else begun + seconds),
        memory=given[MEMORY],
        jobs=given[JOBS],
    )
    with alarm(limits.deadline.moment, _grace(seconds, READING)):
        question = kind.read(given)
    places = question.places(given)
    inputs = given.inputs(model=kind.argument.endswith(("MODEL", "MODEL OTHER", "MECHANISM")))
    with output_files(places, [*inputs, *map(str, question.files)]) as files:
        with alarm(limits.deadline.moment, _grace(seconds, ASKING)):
            answer = _answered(question, limits)
        try:
            with deferred():
                _show(question, answer, as_json=given[JSON], most=given[TOP])
            forget()
        finally:
            last = partial(alarm, limits.deadline.moment, _grace(seconds, WRITING, 10))
            pairs = zip(places, files, strict=True)
            written = [_write(question, answer, option, file, last) for (option, _), file in pairs]
        settled = answer.settled if isinstance(answer, Plain) else question.settled(answer)
    return CODES[settled, all(written)]


def _grace(seconds: float | None, least: float, part: int = 20) -> float:
    """Return how much longer than so many seconds work may take before it is torn from its place."""
    return max(least, (seconds or 0) / part)


def _answered(question: Question[A], limits: Limits) -> A | Plain:
    """Ask; where not even the engine could say what is known, say what is known without it."""
    try:
        with shown_progress() as progress:
            return question.ask(replace(limits, progress=hinting(progress, question.hint())))
    except (Exception, KeyboardInterrupt) as error:
        stopped = asked_to_stop() and not isinstance(error, BisimdistError)  # or what became of it on its way
        if not (stopped or isinstance(error, LimitError | KeyboardInterrupt) or out_of_memory(error)):
            raise
        with deferred():
            reason = why() if stopped else _reason(error)
            known = question.unknown(reason)
            if known is None:
                raise
            note(f"stopped: {reason}")
            return known


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return why()
    return "the memory is exhausted" if out_of_memory(error) else str(error)


def _show(question: Question[A], answer: A | Plain, *, as_json: bool, most: int | None) -> None:
    if not isinstance(answer, Plain):
        for line in question.notes(answer):
            note(line)
    if most is not None:
        emit(_largest(question, answer, most, as_json=as_json))
        return
    said = _said(question, answer, as_json=as_json)
    if question.tabled and isinstance(said, Report):
        top = "" if question.tabled == "listed" else ", --top N the largest"
        said = shortened(said, f"--json and --csv have all{top}")
    emit(said)


def _largest(question: Question[A], answer: A | Plain, most: int, *, as_json: bool) -> Any:
    """Return what is said of so many pairs with the largest upper bounds."""
    from bisimdist.faces.shown.pair_table import largest, only  # noqa: PLC0415  (rarely asked for)

    said = _said(question, answer, as_json=True)
    every = said["pairs"]
    places = largest(every, most)
    if as_json:
        return {**said, "pairs": [every[k] for k in places], "pairs_asked": len(every)}
    if isinstance(answer, Plain):
        return only(answer.report, places, every)
    return question.report_of(answer, places, every)


def _said(question: Question[A], answer: A | Plain, *, as_json: bool) -> Any:
    if isinstance(answer, Plain):
        return answer.data if as_json else answer.report
    return question.data(answer) if as_json else question.report(answer)


def _accepted(content: Content) -> bytes:
    """Return a proof that its check accepts.

    Raises LimitError where it does not.
    """
    from bisimdist.checker import MalformedCertificate, check_certificate  # noqa: PLC0415  (few proofs are tried)

    text = b"".join(content)  # type: ignore[arg-type]
    try:
        reason = check_certificate(text).reason
    except MalformedCertificate as error:
        reason = str(error)
    if reason:
        raise LimitError(f"its check refuses it: {reason}; another --width, or fewer points, may do")
    return text


def _write(
    question: Question[A],
    answer: A | Plain,
    option: Option[Any],
    file: OutputFile,
    alarmed: Callable[[], AbstractContextManager[None]],
) -> bool:
    """Write what belongs into a file, in the time that is left; tell whether that could be done."""
    try:
        if isinstance(answer, Plain):
            bare = question.bare(answer)
            if bare is None:
                raise LimitError("nothing was computed")
            file.write(bare)
            return True
        with nullcontext() if question.drawn else alarmed():
            content = question.content(option, str(file.path), answer)
            file.write(_accepted(content) if question.tried and option.name == CERTIFICATE.name else content)
    except (Exception, KeyboardInterrupt) as error:
        if not (isinstance(error, UsageError | LimitError | KeyboardInterrupt) or out_of_memory(error)):
            raise
        text = _reason(error)
        thing = "certificate" if option.flag == "--certificate" else "file"
        note(f"no {thing} was written to {file.path}: {text}")
        forget()
        return False
    return True
