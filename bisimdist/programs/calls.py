"""What a call comes to: a segment that goes on, or something that the source is asked for."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from bisimdist.programs.code import LEAVE, Code, Segment
from bisimdist.programs.compiler import Compiler
from bisimdist.programs.control import Failed, Outside
from bisimdist.programs.machine_source import OBSERVE, SOURCE, DrawMethod, LibraryMethod, Request
from bisimdist.programs.objects import NEXT, SEND, YIELD, Closure, Generator
from bisimdist.programs.sources import Sources
from bisimdist.programs.states import Frame

_LEAVE = Code("", "", 0)
RETURN = Segment(_LEAVE, 0, (), run=lambda value: (LEAVE, value))  # returns what it is given


@dataclass(frozen=True, slots=True)
class Told:
    """Something that the program announces to the observer."""

    value: Any


Entered = tuple[Segment | None, Sequence[Any]] | Request | Told
"""What goes on, and what it takes; or what only the world outside of the program answers."""


class Calls:
    """Begins calls."""

    def __init__(self, sources: Sources, compiler: Compiler, *, announces: bool, clips: bool) -> None:
        self.sources = sources
        self.compiler = compiler
        self.announces = announces
        self.clips = clips
        self.clipped = False
        """Whether some noise was."""
        self._made = Segment(_LEAVE, 0, ("object",), run=lambda _, made: (LEAVE, made))
        self.ended = Segment(_LEAVE, 0, ("generator",), run=lambda *_: (LEAVE, ()))
        self._taken = Segment(_LEAVE, 0, ("default",), run=_taken)

    def asked(self, method: DrawMethod, arguments: Sequence[Any], keywords: dict[str, Any] | None) -> Request:
        request = method.asks(arguments, keywords)
        if request.unclipped is None:
            return request
        self.clipped = True
        return request if self.clips else request.unclipped

    def enter(  # noqa: PLR0911, PLR0912
        self, function: Any, arguments: Sequence[Any], keywords: dict[str, Any], frames: list[Frame]
    ) -> Entered:
        """Begin a call: return a segment and what it takes, or what the source is asked for."""
        kind = type(function)
        if kind is DrawMethod:
            return self.asked(function, arguments, keywords)
        if kind is Closure:
            code = function.code
            if code.entry is None:
                return RETURN, (code.native(*arguments, **keywords),)
            return self._begun(
                code, (*function.cells, *code.bind(*function.defaults, *arguments, **keywords))
            )
        if function is OBSERVE:
            value = arguments[0] if len(arguments) == 1 else tuple(arguments)
            return Told(value) if self.announces else (RETURN, (None,))
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
            return RETURN, ((arguments[0], generator),)
        if kind is LibraryMethod:
            return self.enter(function.function, (SOURCE, *arguments), keywords, frames)
        if kind is FunctionType:
            return self._enter_function(function, arguments, keywords)
        if kind is MethodType:
            return self.enter(function.__func__, (function.__self__, *arguments), keywords, frames)
        if kind is functools.partial:
            return self.enter(
                function.func, (*function.args, *arguments), {**function.keywords, **keywords}, frames
            )
        if isinstance(function, type) and self.sources.is_ours(function):
            return self._make(function, arguments, keywords, frames)
        if (
            kind is BuiltinFunctionType
            or isinstance(function, type)
            or kind.__module__.startswith("bisimdist")
        ):
            return RETURN, (function(*arguments, **keywords),)
        found = kind.__dict__.get("__call__")
        if isinstance(found, FunctionType) and self.sources.is_ours(kind):
            return self.enter(found, (function, *arguments), keywords, frames)
        if callable(function):
            raise Outside(f"it calls a {kind.__name__}", "call functions, methods and classes of the program")
        return RETURN, (function(*arguments, **keywords),)  # raises what Python raises

    def _enter_function(
        self, function: FunctionType, arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> Entered:
        if function.__globals__.get(".tick") is not None:  # compiled already
            return RETURN, (function(*arguments, **keywords),)
        if function.__module__ == "bisimdist.programs.helpers":
            return RETURN, (function(*arguments, **keywords),)
        code = self._code(function)
        if code.entry is None or code.bind is None:
            native = code.native
            return RETURN, (native(*arguments, **keywords) if native is not None else None,)
        return self._begun(code, code.bind(*arguments, **keywords))

    def _begun(self, code: Code, given: tuple[Any, ...]) -> Entered:
        """Begin to run a function that may draw, or make a generator of it."""
        return (RETURN, (Generator(code.entry, given),)) if code.generates else (code.entry, given)

    def _resume_generator(self, generator: Generator, sent: Any, frames: list[Frame]) -> Entered:
        """Go on with a generator: it gives a value and itself, or nothing where it has ended."""
        if sent is not None:
            generator.given = (sent, *generator.given[1:])
        segment, given = generator.segment, generator.given
        if segment is None:
            return RETURN, ((),)
        generator.segment, generator.given = None, ()
        frames.append((self.ended, (generator,)))
        return segment, given

    def _code(self, function: FunctionType) -> Code:
        try:
            return self.compiler.code_of(function)
        except Exception as error:
            raise Failed(error) from error

    def _make(
        self, kind: type, arguments: Sequence[Any], keywords: dict[str, Any], frames: list[Frame]
    ) -> Entered:
        """Make an object of a class of the program."""
        create: Any = kind.__new__
        if not self.sources.has_init(kind) or create is not object.__new__:
            return RETURN, (kind(*arguments, **keywords),)
        made: Any = create(kind)
        frames.append((self._made, (made,)))
        begin: Any = kind.__init__  # type: ignore[misc]
        return self.enter(begin, (made, *arguments), keywords, frames)


def _taken(made: tuple[Any, ...], default: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a generator gave, a default where it has ended, or raise what says so."""
    if made:
        return LEAVE, made[0]
    if default:
        return LEAVE, default[0]
    raise StopIteration
