"""How a command ends: exit codes, and errors as one line on standard error."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum

import click

from bisimdist.errors import BisimdistError, LimitError, LinearProgramError, StoppedError
from bisimdist.faces.cli.room import out_of_memory
from bisimdist.interruption import asked_to_stop, listening, why

MAX_LINE = 2000
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""What ends the work with what is known by then; Windows has no SIGHUP."""
DEBUG_VARIABLE = "BISIMDIST_DEBUG"


class ExitCode(IntEnum):
    """The exit codes, the same for every command."""

    ANSWERED = 0
    VIOLATED = 1
    UNUSABLE = 2
    UNDECIDED = 3


def _one_line(text: str) -> str:
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 3] + "..."


_waiting: list[str] = []


def note_with_answer(text: str) -> None:
    """Keep a note until the answer or another note is written; input that is refused gets one line only."""
    _waiting.append(text)


def write_notes() -> None:
    """Write the notes that wait for an answer."""
    while _waiting:
        _write_line(_waiting.pop(0))


def note(text: str) -> None:
    """Write one line to standard error, in the name of the project."""
    write_notes()
    _write_line(text)


def _write_line(text: str) -> None:
    if sys.stderr is None:
        return
    line = f"bisimdist: {_one_line(text)}\n"
    encoding = getattr(sys.stderr, "encoding", None) or "ascii"
    try:
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody listens


def _described(error: OSError) -> str:
    reason = error.strerror or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if isinstance(context, click.Context) else "bisimdist"
    return f"{error.format_message().rstrip('.')}; see '{command} --help'"


def guarded(work: Callable[[], int]) -> int:
    """Run a command and return its exit code; whatever goes wrong becomes one line on standard error.

    Set the environment variable BISIMDIST_DEBUG to see the traceback of an error as well.
    """
    _waiting.clear()
    with listening(SIGNALS):
        return _guarded(work)


def _guarded(work: Callable[[], int]) -> int:
    try:
        return work()
    except (KeyboardInterrupt, StoppedError, click.Abort):
        return _interrupted()
    except Exception as error:
        if asked_to_stop() and not isinstance(error, BisimdistError | click.ClickException):
            return _interrupted()  # on its way out an interruption may turn into an error of another kind
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exc()
        code, text = _judged(error)
        if code is ExitCode.UNUSABLE:
            _waiting.clear()
        note(text)
        return code


def _interrupted() -> int:
    note(f"{why()} before anything was known")
    return ExitCode.UNDECIDED


def _judged(error: Exception) -> tuple[ExitCode, str]:
    """Return the exit code for an error, and what to say about it."""
    if out_of_memory(error):
        return ExitCode.UNDECIDED, "error: not decided: the memory is exhausted"
    match error:
        case LimitError() | LinearProgramError():
            return ExitCode.UNDECIDED, f"error: not decided: {error}"
        case click.ClickException():
            return ExitCode.UNUSABLE, f"error: {_usage(error)}"
        case BisimdistError():
            return ExitCode.UNUSABLE, f"error: {error}"
        case OSError():
            return ExitCode.UNUSABLE, f"error: {_described(error)}"
        case _:
            # A fault of ours must not look like "violated", as Python's own exit code 1 would.
            where = f"set {DEBUG_VARIABLE}=1 to see where"
            return ExitCode.UNDECIDED, f"internal error: {type(error).__name__}: {error} ({where})"
