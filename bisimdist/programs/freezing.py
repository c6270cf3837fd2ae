"""Values as immutable, hashable things that are equal only if nothing can tell them apart, and back.

An integer, a text and None stand for themselves; any other immutable value is a `Box`, one for each value;
what can be changed is a `Ref` into a list of contents, numbered in the order in which it is met, so that two
states are the same whatever their objects are called.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from sys import getrefcount
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from bisimdist.programs.control import Outside
from bisimdist.programs.interval import Interval
from bisimdist.programs.noise import Noise
from bisimdist.programs.objects import (
    UNBOUND,
    Cell,
    Closure,
    ConstantDict,
    ConstantList,
    ConstantSet,
    ListPosition,
    Numbers,
    Rest,
    Watched,
)

if TYPE_CHECKING:
    from bisimdist.programs.heap import Heap

Frozen = Hashable


@dataclass(slots=True, eq=False)
class Box:
    """An immutable value; equal values have the same box."""

    value: object


@dataclass(slots=True, eq=False)
class Whole:
    """An immutable value with parts that can be changed: how to build it, and its parts."""

    build: Callable[..., object]
    parts: tuple[Frozen, ...]


@dataclass(slots=True, eq=False)
class Ref:
    """The number of an object that can be changed."""

    index: int


ALONE = 2
"""References to a list that only a loop has: that of the loop, and that which is handed to who counts."""

_ATOMS = (
    *(type, BuiltinFunctionType, FunctionType, Enum, Numbers),
    *(type(UNBOUND), type(Ellipsis), type(NotImplemented)),
)
_CONSTANTS = (ConstantList, ConstantDict, ConstantSet)


class Freezer:
    """Freezes and thaws; what it has made once it makes again.

    atoms: types whose values are compared by identity and never change.
    """

    def __init__(self, atoms: tuple[type, ...] = ()) -> None:
        self._boxes: dict[Hashable, Box] = {}
        self._same: dict[int, Box] = {}
        self._wholes: dict[Hashable, Whole] = {}
        self._refs: list[Ref] = []
        self.constants: dict[int, Any] = {}
        """Objects of a module, by identity: they do not change."""
        self._atoms = (*_ATOMS, *_CONSTANTS, *atoms)
        self._kinds: dict[type, Callable[[Any, Heap | None], Frozen]] = {
            bool: self._boolean,
            Fraction: self._fraction,
            tuple: self._tuple,
            range: self._range,
            bytes: lambda value, _: self._box((bytes, value), value),
            frozenset: self._frozenset,
            Closure: self._closure,
            MethodType: self._method,
            ListPosition: self._position,
            Rest: self._rest,
            Watched: self._watched,
        }

    def simple(self, values: Sequence[object]) -> tuple[Frozen, ...] | None:
        """Freeze values if none of them can be changed; None otherwise."""
        result: list[Frozen] = []
        same = self._same
        for value in values:
            kind = type(value)
            if kind is int or kind is str or value is None:
                result.append(value)
                continue
            box = same.get(id(value))
            if box is not None and box.value is value:
                result.append(box)
                continue
            try:
                result.append(self.freeze(value, None))
            except Mutable:
                return None
        return tuple(result)

    def box_of(self, value: Any) -> Frozen | None:
        """Freeze a value that is no integer or text, if nothing in it can be changed."""
        box = self._same.get(id(value))
        if box is not None and box.value is value:
            return box
        try:
            return self.freeze(value, None)
        except Mutable:
            return None

    def freeze(self, value: Any, heap: Heap | None) -> Frozen:
        """Freeze one value; without a heap what can be changed raises an exception of its own."""
        kind = type(value)
        if kind is int or kind is str or value is None:
            return value  # type: ignore[no-any-return]
        freeze = self._kinds.get(kind)
        if freeze is not None:
            return freeze(value, heap)
        return self._other(value, kind, heap)

    def _box(self, key: Hashable, value: object) -> Box:
        box = self._boxes.get(key)
        if box is None:
            box = self._boxes[key] = Box(value)
            self._same[id(value)] = box  # which the box keeps alive
        return box

    def _whole(self, build: Callable[..., object], parts: tuple[Frozen, ...]) -> Whole:
        key = (build, parts)
        whole = self._wholes.get(key)
        if whole is None:
            whole = self._wholes[key] = Whole(build, parts)
        return whole

    def _of_parts(self, build: Callable[..., Any], parts: tuple[Frozen, ...], value: object) -> Frozen:
        if any(isinstance(part, Ref | Whole) for part in parts):
            return self._whole(build, parts)
        return self._box((build, parts), value)

    def _boolean(self, value: bool, _: Heap | None) -> Frozen:
        return self._box((bool, value), value)

    def _fraction(self, value: Fraction, _: Heap | None) -> Frozen:
        return self._box((Fraction, value._numerator, value._denominator), value)  # type: ignore[attr-defined]

    def _range(self, value: range, _: Heap | None) -> Frozen:
        return self._box((range, value.start, value.stop, value.step), value)

    def _tuple(self, value: tuple[Any, ...], heap: Heap | None) -> Frozen:
        return self._of_parts(_tuple_of, tuple([self.freeze(item, heap) for item in value]), value)

    def _frozenset(self, value: frozenset[Any], _: Heap | None) -> Frozen:
        return self._box((frozenset, frozenset(self.elements(value))), value)

    def elements(self, value: Iterable[Any]) -> list[Frozen]:
        """Freeze the elements of a set."""
        try:
            return [self.freeze(item, None) for item in value]
        except Mutable:
            raise Outside(
                "a set holds objects that can be changed", "keep numbers, texts or tuples in it"
            ) from None

    def _closure(self, value: Closure, heap: Heap | None) -> Frozen:
        code, run = value.code, value.run
        key = (Closure, code, len(value.cells))
        build = _remembered(key, lambda: _closure_builder(code, run, len(value.cells)))
        parts = tuple(self.freeze(part, heap) for part in (*value.cells, *value.defaults))
        return self._of_parts(build, parts, value)

    def _method(self, value: MethodType, heap: Heap | None) -> Frozen:
        return self._of_parts(
            MethodType, (self.freeze(value.__func__, heap), self.freeze(value.__self__, heap)), value
        )

    def _position(self, value: ListPosition, heap: Heap | None) -> Frozen:
        if getrefcount(value.items) == ALONE:  # nobody else can change the list, or see that it changes
            return self.freeze(Rest.of(*value.items[value.position :]), heap)
        return self._of_parts(ListPosition, (self.freeze(value.items, heap), value.position), value)

    def _watched(self, value: Watched, heap: Heap | None) -> Frozen:
        if all(getrefcount(source[0]) == ALONE for source in value.sources):
            return self.freeze(value.rest, heap)
        parts = self.freeze(value.rest, heap), value.done, self.freeze(value.sources, heap)
        return self._of_parts(Watched, parts, value)

    def _rest(self, value: Rest, heap: Heap | None) -> Frozen:
        if value.box is not None:
            return value.box  # type: ignore[no-any-return]
        fresh: list[Rest] = []
        place: Rest | None = value
        while place is not None and place.box is None:
            fresh.append(place)
            place = place.rest
        try:
            firsts = [self.freeze(cell.first, None) for cell in fresh]
        except Mutable:
            if heap is None:
                raise
            return self._whole(Rest.of, tuple(self.freeze(item, heap) for item in value.items()))
        box = None if place is None else place.box
        for cell, first in zip(reversed(fresh), reversed(firsts), strict=True):
            box = cell.box = self._box((Rest, first, box), cell)
        return box

    def _other(self, value: Any, kind: type, heap: Heap | None) -> Frozen:
        if isinstance(value, self._atoms) or id(value) in self.constants:
            return self._box(("atom", id(value)), value)
        if kind is Interval or kind is Noise:
            if kind is Noise and value.high - value.low == 1:
                return int(value.low)
            if heap is None:
                raise Mutable
            return heap.interval(value) if kind is Interval else heap.noise(value)
        if isinstance(value, BaseException):
            return self._exception(value, heap)
        if isinstance(value, tuple) and hasattr(kind, "_make"):
            parts = tuple(self.freeze(item, heap) for item in value)
            return self._of_parts(_remembered(kind, lambda: lambda *items: kind._make(items)), parts, value)
        if isinstance(value, float | complex):
            raise Outside(
                f"the value {value!r} is a {kind.__name__}, which is not exact",
                "use Fraction, or // for whole numbers",
            )
        plain = hasattr(value, "__dict__") or hasattr(kind, "__slots__")
        if kind not in _MUTABLE and (kind.__module__ in _FOREIGN or not plain):
            raise Outside(
                f"a value of type {kind.__name__} is kept from one draw to the next",
                "keep numbers, texts, tuples, lists, dictionaries, sets or plain objects",
            )
        if heap is None:
            raise Mutable
        return heap.reference(value)

    def _exception(self, value: BaseException, heap: Heap | None) -> Frozen:
        parts = tuple(self.freeze(item, heap) for item in value.args)
        return self._of_parts(type(value), parts, value)

    def built(self, build: Callable[..., object], parts: tuple[Frozen, ...]) -> Frozen:
        """Return what is built of parts that can be changed."""
        return self._whole(build, parts)

    def ref(self, index: int) -> Ref:
        """Return the reference of a number, always the same."""
        while index >= len(self._refs):
            self._refs.append(Ref(len(self._refs)))
        return self._refs[index]


_builders: dict[Hashable, Callable[..., Any]] = {}


def _remembered(key: Hashable, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    if key not in _builders:
        _builders[key] = make()
    return _builders[key]


def _closure_builder(code: Any, run: Callable[..., object], cells: int) -> Callable[..., Closure]:
    return lambda *parts: Closure(code, parts[:cells], parts[cells:], run)


def _tuple_of(*parts: object) -> tuple[object, ...]:
    return parts


class Mutable(Exception):  # noqa: N818 - it is caught where it is raised
    """A value that can be changed was met where there is no heap."""


_MUTABLE = (list, deque, dict, Counter, defaultdict, set, Cell)
_FOREIGN = frozenset({"builtins", "itertools", "functools", "collections", "re", "io", "random"})
