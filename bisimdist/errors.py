"""The errors that the project raises, each of which says what is wrong and where."""

from __future__ import annotations

__all__ = [
    "ENDINGS",
    "BisimdistError",
    "Interruption",
    "LimitError",
    "LinearProgramError",
    "Located",
    "ModelError",
    "NumberError",
    "NumberTypeError",
    "StoppedError",
    "UsageError",
    "visible",
]


_LONGEST_PART = 400


def visible(text: str) -> str:
    r"""Return a text in which nothing is hidden: whatever a terminal would act on is written as an escape.

    Examples
    --------
    >>> visible("s0\n")
    's0\\n'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _one_line(text: str) -> str:
    """Make text fit for one line: blanks merged, what cannot be printed escaped, not too long."""
    line = " ".join(text.split())
    if len(line) > _LONGEST_PART:
        line = f"{line[: _LONGEST_PART // 2]} ... {line[-_LONGEST_PART // 2 :]}"
    return visible(line)


class BisimdistError(Exception):
    """Base class of every error that the project raises on purpose.

    Examples
    --------
    >>> import bisimdist
    >>> issubclass(bisimdist.ModelError, bisimdist.BisimdistError)
    True
    """


class NumberError(BisimdistError, ValueError):
    """A text that is no exact number, or a number outside its range.

    Examples
    --------
    >>> import bisimdist
    >>> issubclass(bisimdist.NumberError, ValueError)
    True
    """


class NumberTypeError(BisimdistError, TypeError):
    """A Python object that holds no exact number, such as a ``float``.

    Examples
    --------
    >>> import bisimdist
    >>> issubclass(bisimdist.errors.NumberTypeError, TypeError)
    True
    """


class ModelError(BisimdistError, ValueError):
    """Input that does not make a model.

    Parameters
    ----------
    message
        What is wrong and what was expected, one line.
    place
        Where in the model (``"state 's0'"``, ``"transition s0 -> s1"``); empty where unknown.
    line
        The line of the file, counted from one, where known.
    source
        The name of the file, where there is one.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> chain.index("s9")
    Traceback (most recent call last):
        ...
    bisimdist.errors.ModelError: state 's9': there is no such state; expected one of 4, such as 's0'
    """

    def __init__(self, message: str, *, place: str = "", line: int | None = None, source: str = "") -> None:
        self.message = _one_line(message)
        self.place = _one_line(place)
        self.line = line
        self.source = _one_line(source)
        super().__init__(str(self))

    def __str__(self) -> str:
        where = self.source
        if self.line is not None:
            where = f"{where}:{self.line}" if where else f"line {self.line}"
        return ": ".join(part for part in (where, self.place, self.message) if part)

    def with_source(self, source: str) -> ModelError:
        """Return the same error, told of the file that it came from."""
        return type(self)(self.message, place=self.place, line=self.line, source=self.source or source)


class Located:
    """Lets errors that are raised inside say where: at a place if a number is none, and in which file.

    place, source: what `ModelError` calls them.
    """

    def __init__(self, *, place: str = "", source: str = "") -> None:
        self.place, self.source = place, source

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self.place and isinstance(error, NumberError | NumberTypeError):
            raise ModelError(str(error), place=self.place) from error
        if self.source and isinstance(error, ModelError):
            raise error.with_source(self.source) from None


class LinearProgramError(BisimdistError, RuntimeError):
    """A linear program without optimum, or a back-end that could not give one."""


class LimitError(BisimdistError, RuntimeError):
    """A limit (time, memory, size) ended the work before it was decided.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> try:
    ...     bisimdist.profile(chain, deadline=bisimdist.Deadline.after(0))
    ... except bisimdist.LimitError as error:
    ...     print(error)
    the time limit was reached
    """


class StoppedError(LimitError):
    """Somebody asked the work to stop, by Ctrl-C or another signal; raised where a deadline is looked at.

    Examples
    --------
    >>> import bisimdist
    >>> issubclass(bisimdist.errors.StoppedError, bisimdist.LimitError)
    True
    """


class Interruption(KeyboardInterrupt):
    """The same, raised wherever the work stands: only for those who can put together what they know."""


ENDINGS = (LimitError, Interruption)
"""What ends an engine with the best so far; inner parts catch `LimitError` alone, which comes in order."""


class UsageError(BisimdistError, ValueError):
    """A call or command line that asks for something which does not exist.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.bound(chain, "1/2")
    Traceback (most recent call last):
        ...
    bisimdist.errors.UsageError: alpha is 1/2; expected at least 1 (alpha = e^epsilon with epsilon >= 0)
    """
