"""Where results go: standard output, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from bisimdist.errors import UsageError
from bisimdist.faces.asked.option import Option
from bisimdist.faces.cli.failure import write_notes
from bisimdist.faces.shown.answer import FORMAT
from bisimdist.faces.shown.streams import json_parts
from bisimdist.faces.shown.tables import Report, print_report
from bisimdist.interruption import deferred


def _write(parts: Iterable[str]) -> None:
    """Write the parts of a text to standard output; a reader that went away (``| head``) is no error."""
    write_notes()
    stream = sys.stdout
    if stream is None:
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        for part in parts:
            stream.write(part.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    # Python flushes the stream once more at exit; by then it must lead somewhere.
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def emit(answer: Report | dict[str, object] | str) -> None:
    """Write an answer to standard output: a report, one JSON object, or a text as it is."""
    if isinstance(answer, Report):
        emit_report(answer)
    elif isinstance(answer, str):
        _write([answer])
    else:
        emit_data(answer)


def emit_data(data: dict[str, object]) -> None:
    """Write an answer to standard output as one JSON object, on one line, in ASCII."""
    _write(chain(json_parts({**data, **FORMAT}), "\n"))


def emit_report(report: Report) -> None:
    """Write a report to standard output, drawn for a terminal if that is one."""
    write_notes()
    if sys.stdout is None:
        return
    if not sys.stdout.isatty():
        drawn = io.StringIO()
        print_report(report, drawn)
        _write([drawn.getvalue()])
        return
    try:
        print_report(report, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)


class OutputFile:
    """A file to be written later: known to be writable now, replaced in one step when its text is there.

    Use it as a context manager around the work whose result it is to hold. Devices and pipes are written to
    directly.

    ``option``: what to call it in errors, such as ``"--certificate"``.
    Raises UsageError on entering, if the file cannot be written.
    """

    def __init__(self, path: str | None, *, option: str) -> None:
        self.path = path
        self.option = option
        self._target: Path | None = None
        self._temporary: Path | None = None

    def __enter__(self) -> Self:
        if self.path is None:
            return self
        try:
            with deferred():  # between a file that is made and its name being known
                self._prepare(self.path)
        except (OSError, ValueError) as error:
            self._remove()
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise UsageError(f"{self.option} {self.path}: cannot be written: {reason}") from error
        return self

    def _prepare(self, path: str) -> None:
        # Through a symbolic link the file behind it is replaced, not the link.
        target = Path(os.path.realpath(path))
        if not path or target.is_dir():
            raise IsADirectoryError(0, "expected the name of a file")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(0, "the file that is there is protected")
        self._target = target
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        self._temporary = Path(name)
        os.close(handle)

    def write(self, content: str | bytes | Iterator[bytes]) -> None:
        """Put the content in its place; it may come part by part.

        Raises UsageError if the disk is full, or the place has gone since.
        Raises StoppedError if somebody has asked to stop.
        """
        if self._target is None:
            return
        raw = content.encode("utf-8") if isinstance(content, str) else content
        try:
            place = self._temporary or self._target
            with deferred() as heeding, place.open("wb") as file:  # it is closed, whatever happens
                parts = iter([raw] if isinstance(raw, bytes) else raw)
                while True:
                    with heeding():
                        part = next(parts, None)
                    if part is None:
                        break
                    file.write(part)
            if self._temporary is None:
                return
            self._temporary.chmod(self._mode())
            self._temporary.replace(self._target)
            self._temporary = None
        except OSError as error:
            raise UsageError(
                f"{self.option} {self.path}: cannot be written: {error.strerror or error}"
            ) from error

    def _mode(self) -> int:
        if self._target is not None and self._target.exists():
            return stat.S_IMODE(self._target.stat().st_mode)
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with deferred():
            self._remove()

    def _remove(self) -> None:
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.unlink()
            self._temporary = None


def _identity(path: str | int) -> tuple[int, int] | None:
    """Return which regular file is at a path, or behind a descriptor; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  (a descriptor is no path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


@contextlib.contextmanager
def output_files(
    places: Sequence[tuple[Option[Any], str]], inputs: Sequence[str | int]
) -> Iterator[list[OutputFile]]:
    """Give a file for each place, known to be writable, to be no input, and to be no other output.

    ``places``: paths, with the options that name them.
    ``inputs``: paths, or descriptors, of what the command reads.
    Raises UsageError if a file cannot be written, or must not be.
    """
    read = {_identity(path) for path in inputs} - {None}
    taken: dict[object, str] = {}
    for named, path in places:
        option = named.flag
        if _identity(path) in read:
            raise UsageError(f"{option} {path}: this file is read by the same command; expected another one")
        for mark in {os.path.realpath(path) if "\0" not in path else path, _identity(path)} - {None}:
            if mark in taken and Path("/dev") not in Path(path).parents:
                raise UsageError(f"{option} {path}: {taken[mark]} names the same file; expected another one")
            taken[mark] = option
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(OutputFile(path, option=option.flag)) for option, path in places]
