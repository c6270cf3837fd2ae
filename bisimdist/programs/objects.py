"""The objects that only the machine has: cells, closures, positions in lists, constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MethodType
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakValueDictionary

from bisimdist.programs.control import Outside

if TYPE_CHECKING:
    from bisimdist.programs.code import Code, Segment


class _Unbound:
    """The value of a variable that has none yet."""

    __slots__ = ()


UNBOUND = _Unbound()


@dataclass(slots=True, eq=False)
class Cell:
    """A variable that functions share."""

    value: object = UNBOUND


@dataclass(slots=True, eq=False)
class Closure:
    """A function that was made while the program runs."""

    code: Code  # what it does
    cells: tuple[Cell, ...]  # the variables that it shares
    defaults: tuple[object, ...]  # the values of parameters that are not given, by name
    run: Callable[..., object]  # runs it where a built-in function calls it; a draw is refused then

    def __call__(self, *args: object, **keywords: object) -> object:
        return self.run(self, args, keywords)


@dataclass(slots=True, eq=False)
class ListPosition:
    """Where a loop over a list stands."""

    items: list[Any]
    position: int


class Rest:
    """What is left to go through of items that do not change: the first of them, and the rest or None.

    `box` is what it is frozen to, once it has been; `read` says whether a loop has come to it.
    """

    __slots__ = ("box", "first", "read", "rest")

    def __init__(self, first: Any, rest: Rest | None) -> None:
        self.first = first
        self.rest = rest
        self.read = False
        self.box: Any = None

    def items(self) -> Iterator[Any]:
        """Yield all that is left."""
        place: Rest | None = self
        while place is not None:
            yield place.first
            place = place.rest

    @staticmethod
    def of(*items: Any) -> Rest | None:
        """Return all that is left of items that nobody has seen yet."""
        made = None
        for item in reversed(items):
            made = Rest(item, made)
        return made


@dataclass(slots=True, eq=False)
class Watched:
    """What is left of items that were read from lists and dictionaries, which must stay as they are."""

    rest: Rest | None
    done: int  # how many items are gone
    # each with its items, its values if these are read, and whether they are read from the first on
    sources: tuple[Any, ...]


class Numbers:
    """What is left to go through of a range: its first number; there is one object for each range."""

    __slots__ = ("__weakref__", "_range", "_turn")

    def __init__(self, numbers: range) -> None:
        self._range = numbers
        self._turn: tuple[int, Numbers | None] | None = None

    @staticmethod
    def of(numbers: range) -> Numbers | None:
        if not numbers:
            return None
        key = numbers.start, len(numbers), numbers.step
        found = _numbers.get(key)
        if found is None:
            found = _numbers[key] = Numbers(numbers)
        return found

    @property
    def turn(self) -> tuple[int, Numbers | None]:
        """The first number, and what is left."""
        if self._turn is None:
            self._turn = self._range[0], Numbers.of(self._range[1:])
        return self._turn


_numbers: WeakValueDictionary[tuple[int, int, int], Numbers] = WeakValueDictionary()


@dataclass(slots=True, eq=False)
class Generator:
    """A generator of the program that may draw: where it waits, until it has ended."""

    segment: Segment | None  # what goes on; None when it has ended, or is running
    given: tuple[Any, ...]  # what that takes

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Outside(f"it uses {name} of a generator", "go through it with a for loop, next or send")

    @property
    def begins(self) -> bool:
        """Whether nothing of it has run yet."""
        return self.segment is not None and self.segment is self.segment.code.entry

    @property
    def send(self) -> MethodType:
        return MethodType(SEND, self)

    def __next__(self) -> NoReturn:
        self.__iter__()

    def __iter__(self) -> NoReturn:
        raise Outside(
            "built-in code goes through a generator that draws",
            "write the loop out, with the draw in its body",
        )


@dataclass(slots=True, eq=False)
class Mark:
    """Something that only the machine calls."""

    name: str  # what it does

    def __call__(self, generator: Generator, *_: object) -> NoReturn:
        generator.__iter__()


YIELD, NEXT, SEND = Mark("yield"), Mark("next"), Mark("send")


@dataclass(slots=True, eq=False)
class Thrown:
    """An exception on its way to the frame that called."""

    error: Exception


def _refuse(*_: object, **__: object) -> NoReturn:
    raise Outside(
        "a list, dictionary or set of the module is changed, which later runs would see",
        "make it inside the function, or pass it as an argument",
    )


class ConstantList(list[Any]):
    """A list of a module, which programs may read."""

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    __hash__ = object.__hash__  # type: ignore[assignment]


class ConstantDict(dict[Any, Any]):
    """A dictionary of a module, which programs may read."""

    clear = pop = popitem = setdefault = update = __setitem__ = __delitem__ = __ior__ = _refuse
    __hash__ = object.__hash__  # type: ignore[assignment]


class ConstantSet(set[Any]):
    """A set of a module, which programs may read."""

    add = remove = discard = pop = clear = update = intersection_update = difference_update = _refuse
    symmetric_difference_update = __ior__ = __iand__ = __isub__ = __ixor__ = _refuse
    __hash__ = object.__hash__  # type: ignore[assignment]


def constant(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a value of a module with its lists, dictionaries and sets made constant.

    convert: what to make of everything inside that is none of these.
    """
    if type(value) is list:
        return ConstantList(constant(item, convert) for item in value)
    if type(value) is dict:
        return ConstantDict((key, constant(item, convert)) for key, item in value.items())
    if type(value) is set:
        return ConstantSet(value)
    if type(value) is tuple:
        return tuple(constant(item, convert) for item in value)
    return convert(value)
