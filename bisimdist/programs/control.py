"""What interrupts a straight run: a refusal, or a value that has to be split or listed.

None of these is an ``Exception``: a program that catches everything must not catch them.
"""

from __future__ import annotations

from types import TracebackType

from bisimdist.errors import ModelError


class Outside(BaseException):
    """Something that the subset of Python does not have, met while the program runs."""

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(what)
        self.what = what
        self.instead = instead

    def as_error(self, source: str, line: int | None) -> ModelError:
        """Return the refusal as an error that names file and line."""
        return ModelError(f"{self.what}; {self.instead}", source=source, line=line)


class Endless(ModelError):  # noqa: N818 - what it says of the program
    """A program that takes more time or memory than there is, however it is run."""


class Unbounded(Outside):
    """Something that takes more time or memory than any limit allows."""

    def as_error(self, source: str, line: int | None) -> ModelError:
        return Endless(f"{self.what}; {self.instead}", source=source, line=line)


class Failed(BaseException):
    """An error that is ours, or about the program, and not one that the program raises."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class SplitInterval(BaseException):
    """An interval of values of a draw was compared with something inside it.

    index: which interval.
    cuts: where to divide it.
    """

    def __init__(self, index: int, cuts: tuple[int, ...]) -> None:
        super().__init__(index)
        self.index = index
        self.cuts = cuts


class ListValues(BaseException):
    """The values of an interval are told apart one by one."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def line_within(trace: TracebackType | None, files: frozenset[str] | set[str]) -> tuple[str, int | None]:
    """Return the innermost place of a traceback that lies in one of these files."""
    found: tuple[str, int | None] = ("", None)
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name in files:
            found = name, trace.tb_lineno
        trace = trace.tb_next
    return found
