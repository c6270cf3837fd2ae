"""The machine: runs segments from one draw to the next, and keeps what lies between as immutable states."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from bisimdist.errors import BisimdistError
from bisimdist.programs.code import LEAVE, TAIL, Code, Segment
from bisimdist.programs.compiler import Compiler
from bisimdist.programs.control import Failed, ListValues, Outside
from bisimdist.programs.freezing import Box, Freezer, Frozen
from bisimdist.programs.heap import Contents, Heap, attributes, thaw, thawed
from bisimdist.programs.helpers import MOST_TICKS, Ticker
from bisimdist.programs.interval import Interval
from bisimdist.programs.machine_source import (
    OBSERVE,
    SOURCE,
    Analyst,
    DrawMethod,
    LibraryMethod,
    Request,
    Source,
    SourceClass,
)
from bisimdist.programs.noise import Choices, Noise
from bisimdist.programs.objects import NEXT, SEND, YIELD, Closure, Generator, Thrown
from bisimdist.programs.outcomes import leaves
from bisimdist.programs.sources import Sources
from bisimdist.programs.texts import text_of

__all__ = ["Announced", "Drawing", "Ended", "Machine", "State"]

MOST_FRAMES = 900
"""How deep calls may be nested; plain Python gives up at about a thousand."""

_BOTTOM = -1
NO_BOUNDS: dict[int, tuple[int, int]] = {}


class State:
    """Where a program waits for the random source; the same one whenever it is reached again.

    Parameters
    ----------
    segment, live
        What goes on, and with which variables.
    stack
        The number of the frame below; with contents, all frames.
    contents
        The objects that can be changed.
    """

    __slots__ = ("contents", "live", "segment", "stack", "values")

    def __init__(
        self, segment: Segment, live: tuple[Frozen, ...], stack: Any, contents: tuple[Contents, ...]
    ) -> None:
        self.segment = segment
        self.live = live
        self.stack = stack
        self.contents = contents
        self.values: tuple[Any, ...] = ()


@dataclass(slots=True)
class Drawing:
    """The program asks the source for something."""

    state: State
    request: Request


@dataclass(slots=True)
class Announced:
    """The program announces a value to the observer."""

    state: State
    value: Any


@dataclass(slots=True)
class Ended:
    """The program has returned a value, or raised an exception."""

    value: Any
    raised: bool
    line: int | None


Outcome = Drawing | Announced | Ended
_Frame = tuple[Segment, Sequence[Any]]


class Machine:
    """Runs a program piece by piece.

    Parameters
    ----------
    sources
        The functions of the program.
    announces
        Whether ``observe`` is an outcome of its own.
    clips
        Whether noise is clipped where the program says so.
    """

    def __init__(self, sources: Sources, *, announces: bool = False, clips: bool = True) -> None:
        self.ticker = Ticker()
        self.sources = sources
        self.freezer = Freezer(
            (Source, SourceClass, Analyst, DrawMethod, LibraryMethod, Segment, type(OBSERVE))
        )
        self.compiler = Compiler(sources, self.ticker, self._call_natively, self.freezer.constants)
        self.announces = announces
        self.clips = clips
        self.clipped = False
        """Whether some noise was."""
        self.frames: list[tuple[Segment, tuple[Any, ...], int]] = []
        self._depths: list[int] = []
        self._frame_numbers: dict[tuple[Segment, tuple[Frozen, ...], int], int] = {}
        self._states: dict[tuple[Any, ...], State] = {}
        leave = Code("", "", 0)
        self._made = Segment(leave, 0, ("object",), run=lambda _, made: (LEAVE, made))
        self._ended = Segment(leave, 0, ("generator",), run=lambda *_: (LEAVE, ()))
        self._taken = Segment(leave, 0, ("default",), run=_taken)
        self._return = Segment(leave, 0, (), run=lambda value: (LEAVE, value))
        self.place = self._return
        """Where the last call was made."""

    # running

    def prepare(self, function: FunctionType) -> None:
        """Compile a function and what it calls.

        Raises
        ------
        ModelError
            If something in it is outside the subset.
        """
        self.compiler.code_of(function)

    def check_globals(self) -> None:
        """Refuse a program that has changed objects of its module.

        Raises
        ------
        Outside
            If it has.
        """
        for value, before in self.compiler.snapshots():
            if text_of(attributes(value)) != before:
                raise Outside(
                    f"an object of the module, a {type(value).__name__}, is changed: later runs would see it",
                    "make it inside the function, or pass it as an argument",
                )

    def start(
        self, function: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> Outcome:
        """Run a function from its beginning to its first draw."""
        self.ticker.left = MOST_TICKS
        self.ticker.steps = 0
        return self._go(self._return, None, [], _BOTTOM, (function, arguments, keywords))

    def resume(
        self,
        state: State,
        value: Any,
        bounds: dict[int, tuple[int, int]] = NO_BOUNDS,
        choices: Choices | None = None,
    ) -> Outcome:
        """Go on from a state with what the source answered.

        Parameters
        ----------
        state
            Where.
        value
            The answer; an interval stands for each of its values.
        bounds
            Within what the intervals that the state remembers lie.
        choices
            What is chosen about noise.
        """
        ticker = self.ticker
        ticker.left = MOST_TICKS
        ticker.steps = 0
        if not state.contents:
            return self._go(state.segment, (value, *state.values), [], state.stack, None)
        return self._go(*self._thawed(state, value, bounds, choices or Choices()), _BOTTOM, None)

    def _thawed(
        self, state: State, value: Any, bounds: dict[int, tuple[int, int]], choices: Choices
    ) -> tuple[Segment, Sequence[Any], list[_Frame]]:
        """Build what a state holds afresh; nobody but who goes on refers to it."""
        objects = thawed(state.contents, bounds, choices)
        frames: list[_Frame] = [
            (segment, [thaw(part, objects) for part in live]) for segment, live in state.stack
        ]
        return state.segment, [value, *[thaw(part, objects) for part in state.live]], frames

    def _go(  # noqa: PLR0912
        self,
        segment: Segment,
        given: Sequence[Any] | None,
        frames: list[_Frame],
        base: int,
        called: tuple[Any, Sequence[Any], dict[str, Any]] | None,
    ) -> Outcome:
        """Run until the source is asked for something, or the end."""
        live: Sequence[Any]
        while True:
            try:
                if called is not None:
                    entered = self._enter(called[0], called[1], called[2], frames)
                    if type(entered) is not tuple:
                        break
                    called = None
                    segment, given = entered
                end = segment.run(*given)  # type: ignore[misc]
                if type(given) is list:  # what is kept has to be all that refers to a list
                    given.clear()
                live = given = ()
            except Exception as error:
                _check_python(error)
                thrown = self._unwound(error, frames, base)
                if isinstance(thrown, Ended):
                    return thrown
                segment, given, base = thrown
                called = None
                continue
            if end[0] == LEAVE:
                if frames:
                    segment, live = frames.pop()
                elif base >= 0:
                    segment, live, base = self.frames[base]
                else:
                    return Ended(end[1], False, segment.line or None)
                given = (end[1], *live)
            else:
                self.place = end[1]
                called = end[2:5]
                if end[0] != TAIL:
                    frames.append((end[1], end[5]))
                    if len(frames) > MOST_FRAMES:
                        raise _too_deep()
        return self._outcome(entered, frames, base)

    def _enter(  # noqa: PLR0911, PLR0912
        self, function: Any, arguments: Sequence[Any], keywords: dict[str, Any], frames: list[_Frame]
    ) -> Any:
        """Begin a call: return a segment and what it takes, or what the source is asked for."""
        kind = type(function)
        if kind is Closure:
            code = function.code
            if code.entry is None:
                return self._return, (code.native(*arguments, **keywords),)
            return self._begun(
                code, (*function.cells, *code.bind(*function.defaults, *arguments, **keywords))
            )
        if kind is DrawMethod:
            request = function.request(*arguments, **keywords)
            self.clipped |= request.unclipped is not None
            return request if self.clips or request.unclipped is None else request.unclipped
        if function is OBSERVE:
            value = arguments[0] if len(arguments) == 1 else tuple(arguments)
            return Announced(None, value) if self.announces else (self._return, (None,))  # type: ignore[arg-type]
        if function is NEXT:
            return self._resume_generator(arguments[0], None, frames)
        if kind is BuiltinFunctionType and function is next and type(arguments[0]) is Generator:
            frames.append((self._taken, (tuple(arguments[1:]),)))
            return self._resume_generator(arguments[0], None, frames)
        if function is SEND:
            generator, value = arguments
            if value is not None and generator.begins:
                raise TypeError("can't send non-None value to a just-started generator")
            frames.append((self._taken, ((),)))
            return self._resume_generator(generator, value, frames)
        if function is YIELD:
            own, (_, (generator,)) = frames.pop(), frames.pop()
            generator.segment, generator.given = own[0], (None, *own[1])
            return self._return, ((arguments[0], generator),)
        if kind is LibraryMethod:
            return self._enter(function.function, (SOURCE, *arguments), keywords, frames)
        if kind is FunctionType:
            return self._enter_function(function, arguments, keywords)
        if kind is MethodType:
            return self._enter(function.__func__, (function.__self__, *arguments), keywords, frames)
        if kind is functools.partial:
            return self._enter(
                function.func, (*function.args, *arguments), {**function.keywords, **keywords}, frames
            )
        if isinstance(function, type) and self.sources.is_ours(function):
            return self._make(function, arguments, keywords, frames)
        if (
            kind is BuiltinFunctionType
            or isinstance(function, type)
            or kind.__module__.startswith("bisimdist")
        ):
            return self._return, (function(*arguments, **keywords),)
        found = kind.__dict__.get("__call__")
        if isinstance(found, FunctionType) and self.sources.is_ours(kind):
            return self._enter(found, (function, *arguments), keywords, frames)
        if callable(function):
            raise Outside(f"it calls a {kind.__name__}", "call functions, methods and classes of the program")
        return self._return, (function(*arguments, **keywords),)  # raises what Python raises

    def _enter_function(
        self, function: FunctionType, arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> Any:
        if function.__globals__.get(".tick") is not None:  # compiled already
            return self._return, (function(*arguments, **keywords),)
        if function.__module__ == "bisimdist.programs.helpers":
            return self._return, (function(*arguments, **keywords),)
        code = self._code(function)
        if code.entry is None or code.bind is None:
            native = code.native
            return self._return, (native(*arguments, **keywords) if native is not None else None,)
        return self._begun(code, code.bind(*arguments, **keywords))

    def _begun(self, code: Code, given: tuple[Any, ...]) -> Any:
        """Begin to run a function that may draw, or make a generator of it."""
        return (self._return, (Generator(code.entry, given),)) if code.generates else (code.entry, given)

    def _resume_generator(self, generator: Generator, sent: Any, frames: list[_Frame]) -> Any:
        """Go on with a generator: it gives a value and itself, or nothing where it has ended."""
        if sent is not None:
            generator.given = (sent, *generator.given[1:])
        segment, given = generator.segment, generator.given
        if segment is None:
            return self._return, ((),)
        generator.segment, generator.given = None, ()
        frames.append((self._ended, (generator,)))
        return segment, given

    def _code(self, function: FunctionType) -> Code:
        try:
            return self.compiler.code_of(function)
        except Exception as error:
            raise Failed(error) from error

    def _make(
        self, kind: type, arguments: Sequence[Any], keywords: dict[str, Any], frames: list[_Frame]
    ) -> Any:
        """Make an object of a class of the program."""
        create: Any = kind.__new__
        if not self.sources.has_init(kind) or create is not object.__new__:
            return self._return, (kind(*arguments, **keywords),)
        made: Any = create(kind)
        frames.append((self._made, (made,)))
        begin: Any = kind.__init__  # type: ignore[misc]
        return self._enter(begin, (made, *arguments), keywords, frames)

    def _unwound(
        self, error: Exception, frames: list[_Frame], base: int
    ) -> Ended | tuple[Segment, Sequence[Any], int]:
        """Find the frame that takes an exception."""
        while True:
            live: Sequence[Any]
            if frames:
                segment, live = frames.pop()
            elif base >= 0:
                segment, live, base = self.frames[base]
            else:
                return Ended(error, True, _line_of(error))
            if segment is self._ended and isinstance(error, StopIteration):
                error = RuntimeError("generator raised StopIteration")
            if segment.handles:
                return segment, (Thrown(error), *live), base

    def _call_natively(self, closure: Closure, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Run a function of the program where a built-in function calls it."""
        outcome = self._go(self._return, None, [], _BOTTOM, (closure, arguments, keywords))
        if isinstance(outcome, Ended):
            if outcome.raised:
                raise outcome.value
            return outcome.value
        raise Outside(
            "a draw stands inside a function that built-in code calls",
            "write the loop out, with the draw in its body",
        )

    # states

    def _outcome(self, entered: Any, frames: list[_Frame], base: int) -> Outcome:
        if not isinstance(entered, Request | Announced):
            return Ended(entered, False, None)
        if frames:
            segment, live = frames.pop()
        elif base >= 0:
            segment, live, base = self.frames[base]
        else:
            segment, live = self._return, ()
        state = self._state(segment, live, frames, base)
        if isinstance(entered, Announced):
            return Announced(state, entered.value)
        return Drawing(state, entered)

    def _state(self, segment: Segment, live: Sequence[Any], frames: list[_Frame], base: int) -> State:
        frozen = self.freezer.simple(live)
        if frozen is not None:
            number = base
            for below, values in frames:
                kept = self.freezer.simple(values)
                if kept is None:
                    break
                number = self._frame(below, kept, number)
            else:
                key = (segment, frozen, number)
                state = self._states.get(key)
                if state is None:
                    state = self._states[key] = State(segment, frozen, number, ())
                    state.values = _values(frozen)
                return state
        return self._state_with_heap(segment, live, frames, base)

    def _frame(self, segment: Segment, frozen: tuple[Frozen, ...], below: int) -> int:
        key = (segment, frozen, below)
        number = self._frame_numbers.get(key)
        if number is None:
            depth = self._depths[below] + 1 if below >= 0 else 1
            if depth > MOST_FRAMES:
                raise _too_deep()
            number = self._frame_numbers[key] = len(self.frames)
            self.frames.append((segment, _values(frozen), below))
            self._depths.append(depth)
        return number

    def _state_with_heap(
        self, segment: Segment, live: Sequence[Any], frames: list[_Frame], base: int
    ) -> State:
        heap = Heap(self.freezer)
        frozen = heap.all(live)
        below: list[_Frame] = list(frames)
        lower: list[_Frame] = []
        while base >= 0:
            under, values, base = self.frames[base]
            lower.append((under, values))
        whole = [*reversed(lower), *below]
        stack = tuple(reversed([(under, heap.all(values)) for under, values in reversed(whole)]))
        contents = tuple(heap.contents)
        key = (segment, frozen, stack, contents)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = State(segment, frozen, stack, contents)
        return state

    def value_of(self, value: Any, *, ends: bool = False) -> Frozen:
        """Return a value that the program ended with, or announced, as one that can be compared.

        Parameters
        ----------
        value
            The value.
        ends
            Whether the program ended with it, so that noise may be in it.

        Raises
        ------
        Outside
            If it is not exact, or has no value that could be compared.
        """
        found = [leaf for leaf in leaves(value) if type(leaf) in (Interval, Noise)]
        for leaf in found:
            if type(leaf) is Interval:
                raise ListValues(leaf.index)
            if not (ends and leaf.endless):
                leaf.value()
        heap = Heap(self.freezer)
        return self.freezer.freeze(value, heap), tuple(heap.contents)


def _taken(made: tuple[Any, ...], default: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a generator gave, a default where it has ended, or raise what says so."""
    if made:
        return LEAVE, made[0]
    if default:
        return LEAVE, default[0]
    raise StopIteration


def _values(frozen: tuple[Frozen, ...]) -> tuple[Any, ...]:
    """Return the values of what cannot be changed: always the same objects."""
    return tuple([part.value if type(part) is Box else part for part in frozen])


def _line_of(error: BaseException) -> int | None:
    trace = error.__traceback__
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_name in ("segment", "native"):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _too_deep() -> Outside:
    return Outside(f"calls are nested more than {MOST_FRAMES} deep", "write a loop, or recursion that ends")


def _check_python(error: Exception) -> None:
    """Refuse what depends on where Python itself gives up; errors of ours are not the program's."""
    if isinstance(error, BisimdistError):
        raise Failed(error) from error
    if isinstance(error, RecursionError):
        raise Outside("calls are nested too deep", "write a loop, or recursion that ends") from error
    if isinstance(error, MemoryError):
        raise Outside("the memory is exhausted", "keep less at a time") from error
