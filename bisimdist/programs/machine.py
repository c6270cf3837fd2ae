"""The machine: runs segments from one draw to the next, and keeps what lies between as immutable states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from bisimdist.errors import BisimdistError
from bisimdist.programs.calls import RETURN, Calls, Told
from bisimdist.programs.code import INVOKE, LEAVE, TAIL, Segment
from bisimdist.programs.compiler import Compiler
from bisimdist.programs.control import Failed, Outside, Unbounded
from bisimdist.programs.freezing import Freezer
from bisimdist.programs.heap import attributes, thaw, thawed
from bisimdist.programs.helpers import MOST_TICKS, Ticker
from bisimdist.programs.machine_source import OBSERVE, Analyst, DrawMethod, LibraryMethod, Source, SourceClass
from bisimdist.programs.noise import Choices
from bisimdist.programs.objects import Closure, Thrown
from bisimdist.programs.sources import Sources
from bisimdist.programs.states import BOTTOM, MOST_FRAMES, Drawing, Frame, State, States, too_deep
from bisimdist.programs.texts import text_of

NO_BOUNDS: dict[int, tuple[int, int]] = {}


@dataclass(slots=True)
class Announced:
    """The program announces a value to the observer."""

    state: State
    value: Any


@dataclass(slots=True, eq=False)
class Ended:
    """The program has returned a value, or raised an exception."""

    value: Any
    raised: bool
    line: int | None


Outcome = Drawing | Announced | Ended


class Machine:
    """Runs a program piece by piece.

    announces: whether ``observe`` is an outcome of its own.
    clips: whether noise is clipped where the program says so.
    """

    def __init__(self, sources: Sources, *, announces: bool = False, clips: bool = True) -> None:
        self.ticker = Ticker()
        self.sources = sources
        self.freezer = Freezer(
            (Source, SourceClass, Analyst, DrawMethod, LibraryMethod, Segment, type(OBSERVE))
        )
        self.compiler = Compiler(sources, self.ticker, self._call_natively, self.freezer.constants)
        self.announces = announces
        self.calls = Calls(sources, self.compiler, announces=announces, clips=clips)
        self.states = States(self.freezer)
        self.place = RETURN
        """Where the last call was made."""

    @property
    def clipped(self) -> bool:
        """Whether some noise was."""
        return self.calls.clipped

    # running

    def prepare(self, function: FunctionType) -> None:
        """Compile a function and what it calls.

        Raises ModelError if something in it is outside the subset.
        """
        self.compiler.code_of(function)

    def check_globals(self) -> None:
        """Refuse a program that has changed objects of its module. Raises Outside if it has."""
        for value, before in self.compiler.snapshots():
            if text_of(attributes(value)) != before:
                raise Outside(
                    f"an object of the module, a {type(value).__name__}, is changed: later runs would see it",
                    "make it inside the function, or pass it as an argument",
                )

    def start(self, function: Callable[..., Any], arguments: list[Any], keywords: dict[str, Any]) -> Outcome:
        """Run a function from its beginning to its first draw; the list of arguments is empty afterwards."""
        self.ticker.left = MOST_TICKS
        self.ticker.steps = 0
        return self._go(RETURN, None, [], BOTTOM, (function, arguments, keywords))

    def resume(
        self,
        state: State,
        value: Any,
        bounds: dict[int, tuple[int, int]] = NO_BOUNDS,
        choices: Choices | None = None,
    ) -> Outcome:
        """Go on from a state with what the source answered.

        value: the answer; an interval stands for each of its values.
        bounds: within what the intervals that the state remembers lie.
        choices: what is chosen about noise.
        """
        ticker = self.ticker
        ticker.left = MOST_TICKS
        ticker.steps = 0
        if not state.contents:
            return self._straight(state, value)
        return self._go(*self._thawed(state, value, bounds, choices or Choices()), BOTTOM, None)

    def _straight(self, state: State, value: Any) -> Outcome:
        """Go on from a state in which nothing can be changed, mostly to a draw of the same function."""
        segment, base = state.segment, state.stack
        given = (value, *state.values)
        try:
            end = segment.run(*given)
            if end[0] == INVOKE and type(end[2]) is DrawMethod:
                _, self.place, method, arguments, keywords, live = end
                request = self.calls.asked(method, arguments, keywords)
                return self.states.state(self.place, live, [], base).drawing(request)
        except Exception:  # once more, with an eye on who takes it
            self.ticker.left, self.ticker.steps = MOST_TICKS, 0
            return self._go(segment, given, [], base, None)
        return self._go(segment, given, [], base, None, end)

    def _thawed(
        self, state: State, value: Any, bounds: dict[int, tuple[int, int]], choices: Choices
    ) -> tuple[Segment, Sequence[Any], list[Frame]]:
        """Build what a state holds afresh; nobody but who goes on refers to it."""
        objects = thawed(state.contents, bounds, choices)
        frames: list[Frame] = [
            (segment, [thaw(part, objects) for part in live]) for segment, live in state.stack
        ]
        return state.segment, [value, *[thaw(part, objects) for part in state.live]], frames

    def _go(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
        self,
        segment: Segment | None,
        given: Sequence[Any] | None,
        frames: list[Frame],
        base: int,
        called: tuple[Any, Sequence[Any], dict[str, Any]] | None,
        end: tuple[Any, ...] | None = None,
    ) -> Outcome:
        """Run until the source is asked for something, or the end; maybe from where a segment has ended."""
        live: Sequence[Any]
        enter = self.calls.enter
        while True:
            try:
                if called is not None:
                    entered = enter(called[0], called[1], called[2], frames)
                    if not isinstance(entered, tuple):
                        break
                    _forget(called[1])
                    called = None
                    segment, given = entered
                if end is None:
                    end = segment.run(*given)  # type: ignore[misc, union-attr]
                if type(given) is list:  # not a call of _forget: this is done again and again
                    given.clear()
                live = given = ()
            except Exception as error:
                _check_python(error)
                thrown = self._unwound(error, frames, base)
                if isinstance(thrown, Ended):
                    return thrown
                segment, given, base = thrown
                called = end = None
                continue
            if end[0] == LEAVE:
                if frames:
                    segment, live = frames.pop()
                elif base >= 0:
                    segment, live, base = self.states.frames[base]
                else:
                    return Ended(end[1], False, segment.line or None)  # type: ignore[union-attr]
                given = (end[1], *live)
                end = None
                continue
            if end[0] == TAIL:
                _, self.place, function, arguments, keywords = end
            else:
                _, self.place, function, arguments, keywords, live = end
                frames.append((self.place, live))
                if len(frames) > MOST_FRAMES:
                    raise too_deep()
            if type(function) is Closure and function.code.arity == len(arguments) and not keywords:
                segment, given = function.code.entry, (*function.cells, *arguments)
            else:
                called = function, arguments, keywords or {}
            arguments = ()
            end = None
        segment, live = RETURN, ()
        if frames:
            segment, live = frames.pop()
        elif base >= 0:
            segment, live, base = self.states.frames[base]
        state = self.states.state(segment, live, frames, base)
        if isinstance(entered, Told):
            return Announced(state, entered.value)
        return state.drawing(entered)

    def _unwound(
        self, error: Exception, frames: list[Frame], base: int
    ) -> Ended | tuple[Segment, Sequence[Any], int]:
        """Find the frame that takes an exception."""
        while True:
            live: Sequence[Any]
            if frames:
                segment, live = frames.pop()
            elif base >= 0:
                segment, live, base = self.states.frames[base]
            else:
                return Ended(error, True, _line_of(error))
            if segment is self.calls.ended and isinstance(error, StopIteration):
                error = RuntimeError("generator raised StopIteration")
            if segment.handles:
                return segment, (Thrown(error), *live), base

    def _call_natively(self, closure: Closure, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Run a function of the program where a built-in function calls it."""
        outcome = self._go(RETURN, None, [], BOTTOM, (closure, arguments, keywords))
        if isinstance(outcome, Ended):
            if outcome.raised:
                raise outcome.value
            return outcome.value
        raise Outside(
            "built-in code calls a function that draws",
            "write the loop out, with the draw in its body",
        )


def _forget(values: Sequence[Any] | None) -> None:
    """Give up a list of arguments: what is kept has to be all that refers to a list of the program."""
    if type(values) is list:
        values.clear()


def _line_of(error: BaseException) -> int | None:
    trace = error.__traceback__
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_name in ("segment", "native"):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _check_python(error: Exception) -> None:
    """Refuse what depends on where Python itself gives up; errors of ours are not the program's."""
    if isinstance(error, BisimdistError):
        raise Failed(error) from error
    if isinstance(error, RecursionError):
        raise Unbounded("calls are nested too deep", "write a loop, or recursion that ends") from error
    if isinstance(error, MemoryError):
        raise Unbounded("the memory is exhausted", "keep less at a time") from error
