"""What the code of a program calls in place of operators and built-in functions that need a check first."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Reversible, Sized
from gc import get_referents
from itertools import zip_longest
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from bisimdist.programs.control import ListValues, Outside, Unbounded
from bisimdist.programs.interval import Interval
from bisimdist.programs.machine_source import Source, SourceClass
from bisimdist.programs.noise import Noise
from bisimdist.programs.objects import (
    UNBOUND,
    Closure,
    ConstantDict,
    ConstantList,
    ConstantSet,
    Generator,
    ListPosition,
    Numbers,
    Rest,
    Watched,
)

MOST_BITS = 1_000_000
MOST_ITEMS = 10_000_000
MOST_TICKS = 1_000_000

_SMALL = 1 << 12
_SETS = (set, frozenset)
_PLAIN_NUMBERS = (int, bool)


class Ticker:
    """Counts turns of loops between two draws, and steps where they are observed."""

    __slots__ = ("left", "steps")

    def __init__(self) -> None:
        self.left = MOST_TICKS
        self.steps = 0

    def tick(self) -> None:
        """Count one turn."""
        self.left -= 1
        if self.left < 0:
            raise Unbounded(
                f"the program runs for {MOST_TICKS} turns of loops without a draw",
                "write a loop that ends, or draws",
            )

    def step(self, cost: int) -> None:
        """Count an executed step."""
        self.steps += cost
        self.tick()


def over(value: Any) -> Any:
    """Return what a loop runs over, unless its order is not defined or it is far too long."""
    if isinstance(value, _SETS):
        raise Outside("it goes through a set, whose order is not defined", "write sorted(...) around the set")
    if type(value) is range and len(value) > MOST_ITEMS:
        raise Unbounded(f"it goes through {len(value)} numbers", f"at most {MOST_ITEMS} are gone through")
    return value


def items_of(value: Any) -> Any:
    """Return what a loop that draws runs over, as something that can be kept from draw to draw."""
    over(value)
    if type(value) is range:
        return Numbers.of(value)
    if type(value) in (str, Generator):
        return value
    if type(value) is GeneratorType:
        raise Outside(
            "a loop with a draw goes through a generator without", "write list(...) around the generator"
        )
    if isinstance(value, list):
        return ListPosition(value, 0)
    items = iter(value)  # a star alone has words of its own for what cannot be gone through
    sources = tuple(_sources(items, forward=True))
    rest = Rest.of(*items)
    return Watched(rest, 0, sources) if sources else rest


def _sources(items: Any, *, forward: bool) -> Iterator[tuple[Any, ...]]:
    """Yield what an iterator reads that may change, as `Watched` has it."""
    kind = type(items)
    parts = get_referents(items)
    if kind in (zip, map, zip_longest):
        parts += [one for part in parts if type(part) is tuple for one in part]
    for part in parts:
        if isinstance(part, dict | list | deque):
            values = tuple(part.values()) if isinstance(part, dict) and "key" not in kind.__name__ else ()
            yield part, tuple(part), values, forward and "reverse" not in kind.__name__
        elif hasattr(part, "__next__"):
            yield from _sources(part, forward=forward and kind in (enumerate, zip, map))
        elif type(part) is tuple and not forward:  # what chain(...) goes through
            for one in part:
                if isinstance(one, Reversible):
                    yield from _sources(iter(one), forward=False)
        elif isinstance(part, FunctionType) and part.__closure__:
            raise Outside("a loop goes through what a function makes", "write list(...) around it")


def first_and_rest(items: Any) -> tuple[Any, ...]:
    """Return the next item of a loop and what is left, or nothing at its end."""
    if type(items) is Numbers:
        return items.turn
    if type(items) is Rest:
        items.read = True
        return items.first, items.rest
    if type(items) is Watched:
        if not all(_unchanged(items.done, *source) for source in items.sources):
            raise Outside("it changes what a loop goes through", "go through a copy, list(...)")
        rest = items.rest
        return () if rest is None else (rest.first, Watched(rest.rest, items.done + 1, items.sources))
    if type(items) is ListPosition:
        if items.position < len(items.items):
            return items.items[items.position], ListPosition(items.items, items.position + 1)
        return ()
    return (items[0], items[1:]) if items else ()


def _unchanged(
    done: int, source: Any, items: tuple[Any, ...], values: tuple[Any, ...], forward: bool
) -> bool:
    """Tell whether a loop that has gone through so many items would still read the same ones."""
    ahead = slice(done if forward else 0, None)
    now = tuple(source.values()) if values else ()
    return (
        len(source) == len(items)
        and _alike(tuple(source)[ahead], items[ahead])
        and _alike(now[ahead], values[ahead])
    )


def _alike(ones: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Tell whether values are the same ones; what a state builds anew is compared by its parts."""
    return len(ones) == len(others) and all(
        one is other
        or (
            type(one) is type(other)
            and (
                _alike(one, other)
                if type(one) is tuple
                else (one.drawn, one.offset) == (other.drawn, other.offset)
                if type(one) is Noise
                else isinstance(one, Closure | MethodType) or (type(one) in {int, str} and one == other)
            )
        )
        for one, other in zip(ones, others, strict=True)
    )


def _size(value: Any) -> int:
    return value.bit_length() if type(value) in _PLAIN_NUMBERS else 0


def _grown(size: int) -> None:
    if size > MOST_BITS:
        raise Unbounded(f"a number of {size} bits comes about", f"at most {MOST_BITS} bits are kept")


def _multiply(a: Any, b: Any) -> Any:
    kind = type(a)
    if kind is int:
        if type(b) is int:
            if a.bit_length() + b.bit_length() > MOST_BITS:
                _grown(a.bit_length() + b.bit_length())
        elif isinstance(b, Sized):
            _long(a * len(b))
    elif isinstance(a, Sized) and type(b) is int:
        _long(len(a) * b)
    return a * b


def _long(length: int) -> None:
    if length > MOST_ITEMS:
        raise Unbounded(f"a sequence would have {length} items", f"at most {MOST_ITEMS} are kept")


def _add(a: Any, b: Any) -> Any:
    kind = type(a)
    if kind is not int and isinstance(a, Sized) and isinstance(b, Sized):
        _long(len(a) + len(b))
    return a + b


def _divide(a: Any, b: Any) -> Any:
    if type(a) in _PLAIN_NUMBERS and type(b) in _PLAIN_NUMBERS:
        if b == 0:
            return a / b
        raise Outside("the quotient of two integers is a float", "write Fraction(a, b), or a // b")
    return a / b


def _power(a: Any, b: Any) -> Any:
    if type(a) is int and type(b) is int and -_SMALL < a < _SMALL and 0 <= b < _SMALL:
        return a**b
    if type(a) in _PLAIN_NUMBERS and type(b) in _PLAIN_NUMBERS:
        if b < 0 and a != 0:
            raise Outside("a negative power of an integer is a float", "write Fraction(a) ** b")
        if abs(a) > 1:
            _grown(_size(a) * b)
    elif type(b) in _PLAIN_NUMBERS and hasattr(a, "denominator"):
        _grown(max(_size(a.numerator), _size(a.denominator)) * abs(b))
    return a**b


def _shift(a: Any, b: Any) -> Any:
    if type(b) in _PLAIN_NUMBERS:
        _grown(_size(a) + b)
    return a << b


def _augment(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        if type(a) is not int and isinstance(a, list | deque | ConstantList | ConstantSet | ConstantDict):
            if operation is _add:
                if isinstance(b, Sized):
                    _long(len(a) + len(b))
                a += over(b) if isinstance(a, list) else b
            else:
                _long(len(a) * b)
                a *= b
            return a
        return operation(a, b)

    return run


def _same(a: Any, b: Any) -> bool:
    for value, other in ((a, b), (b, a)):
        if type(value) in (Interval, Noise):
            if type(other) not in (int, Interval, Noise):
                return False
            if type(value) is Noise:
                raise Outside(
                    "whether two numbers are the same object is not defined", "compare them with =="
                )
            raise ListValues(value.index)
    if type(a) is type(b) and type(a) in (int, str, tuple, bytes, frozenset) and a is not b and a != b:
        return False
    if type(a) is type(b) and type(a) in (int, str, tuple, bytes, frozenset):
        raise Outside("whether two equal values are the same object is not defined", "compare them with ==")
    return a is b


_STANDS_FOR: dict[type, type] = {
    Interval: int,
    Noise: int,
    Source: random.SystemRandom,
    ConstantList: list,
    ConstantDict: dict,
    ConstantSet: set,
}


def is_kind(value: Any, kinds: Any) -> bool:
    """Tell as `isinstance` does what a value is, for those that stand for others as well."""
    if type(kinds) is type and type(value) not in _STANDS_FOR:
        return isinstance(value, kinds)
    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    if any(type(kind) is SourceClass for kind in wanted):
        kinds = wanted = tuple(kind.kind if type(kind) is SourceClass else kind for kind in wanted)
    if type(value) in (Interval, Noise):
        return any(isinstance(0, kind) for kind in wanted)
    if type(value) is Source:
        return any(isinstance(kind, type) and issubclass(random.SystemRandom, kind) for kind in wanted)
    return isinstance(value, kinds)


def type_of(value: Any) -> type:
    """Return the type of a value as the program sees it."""
    return _STANDS_FOR.get(type(value), type(value))


def _bound(value: Any, name: str) -> Any:
    if value is UNBOUND:
        raise UnboundLocalError(
            f"cannot access local variable {name!r} where it is not associated with a value"
        )
    return value


def _pop(value: Any, *arguments: Any) -> Any:
    if isinstance(value, set):
        raise Outside("which element pop() takes from a set is not defined", "take min(...) and discard it")
    return value.pop(*arguments)


def _join(text: Any, parts: Iterable[str]) -> Any:
    return text.join(over(parts))


def shown(value: Any) -> Any:
    """Return what is written as text, unless that would show the order of a set."""
    if isinstance(value, _SETS):
        raise Outside("the text of a set has no defined order", "write sorted(...) around the set")
    return value


def checked(
    function: Callable[..., Any], check: Callable[[Any], Any], *, keyed: bool = False
) -> Callable[..., Any]:
    """Return a built-in function whose arguments are checked first; if `keyed`, only where a key is given."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        if not keyed or "key" in keywords:
            for value in arguments:
                check(value)
        return function(*arguments, **keywords)

    run.__name__ = function.__name__
    return run


HELPERS: dict[str, Callable[..., Any]] = {
    "over": over,
    "items_of": items_of,
    "first_and_rest": first_and_rest,
    "is_generator": lambda items: type(items) is Generator,
    "Mult": _multiply,
    "Add": _add,
    "Div": _divide,
    "Pow": _power,
    "LShift": _shift,
    "iMult": _augment(_multiply),
    "iAdd": _augment(_add),
    "iDiv": _divide,
    "iPow": _power,
    "iLShift": _shift,
    "same": _same,
    "bound": _bound,
    "pop": _pop,
    "join": _join,
    "shown": shown,
}  # by the name that generated code gives them, behind an underscore
