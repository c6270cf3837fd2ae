"""What can be changed in a state: numbered contents, and the objects again."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Any

from bisimdist.programs.control import Outside
from bisimdist.programs.freezing import Box, Freezer, Frozen, Ref, Whole
from bisimdist.programs.interval import Interval, plain
from bisimdist.programs.noise import Choices, Drawn, Noise, moved
from bisimdist.programs.objects import Cell

Contents = tuple[Any, ...]  # the kind of an object, and its frozen parts


class Heap:
    """The objects of a state that can be changed, in the order in which they are met."""

    def __init__(self, freezer: Freezer) -> None:
        self._freezer = freezer
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []
        self._offsets: dict[int, int] = {}
        self.contents: list[Contents] = []

    def all(self, values: Iterable[object]) -> tuple[Frozen, ...]:
        """Freeze values one after another."""
        return tuple([self._freezer.freeze(value, self) for value in values])

    def interval(self, value: Interval) -> Frozen:
        """Freeze an interval: what shares it goes on sharing it."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._new(value)
            self.contents[number] = (Interval, value.low, value.high)
        return self._freezer.ref(number)

    def noise(self, value: Noise) -> Frozen:
        """Freeze noise: what else is made of the same draw goes on sharing it."""
        drawn = value.drawn
        number = self._numbers.get(id(drawn))
        if number is None:
            drawn.check()
            if any(id(other) in self._numbers for other in drawn.others):
                raise Outside(
                    "two noisy values are kept after a comparison with each other",
                    "go on with one of them only, as in 'if noisy > best: best = noisy'",
                )
            number = self._new(drawn)
            self.contents[number] = (Noise, value.low, value.high, drawn.law)
            self._offsets[number] = value.offset
        ref = self._freezer.ref(number)
        by = value.offset - self._offsets[number]
        return self._freezer.built(moved, (ref, by)) if by else ref

    def _new(self, value: object) -> int:
        number = self._numbers[id(value)] = len(self.contents)
        self._kept.append(value)
        self.contents.append(())
        return number

    def reference(self, value: Any) -> Frozen:
        """Freeze an object that can be changed."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._new(value)
            self.contents[number] = self._content(value)
        return self._freezer.ref(number)

    def _content(self, value: Any) -> Contents:
        kind = type(value)
        freeze = self._freezer.freeze
        if kind is list or kind is deque:
            extra = value.maxlen if kind is deque else None
            return (kind, extra, *[freeze(item, self) for item in value])
        if kind is dict or kind is Counter or kind is defaultdict:
            extra = freeze(value.default_factory, self) if kind is defaultdict else None
            pairs = [freeze(part, self) for item in value.items() for part in item]
            return (kind, extra, *pairs)
        if kind is set:
            return (kind, frozenset(self._freezer.elements(value)))
        if kind is Cell:
            return (kind, freeze(value.value, self))
        found = attributes(value)
        return (kind, tuple(found), *[freeze(item, self) for item in found.values()])


def attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object by name, in alphabetical order."""
    found = dict(getattr(value, "__dict__", {}))
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            mangled = f"_{base.__name__.lstrip('_')}{name}" if name.startswith("__") else name
            if name not in ("__dict__", "__weakref__") and hasattr(value, mangled):
                found[mangled] = getattr(value, mangled)
    return dict(sorted(found.items()))


def thawed(contents: Sequence[Contents], bounds: dict[int, tuple[int, int]], choices: Choices) -> list[Any]:
    """Build the objects of a state afresh; intervals within the given bounds.

    contents: what the heap of the state holds.
    bounds: by number, where an interval has been divided.
    choices: what is chosen about noise.
    """
    objects: list[Any] = []
    for number, content in enumerate(contents):
        kind = content[0]
        if kind is Interval:
            objects.append(plain(number, *bounds.get(number, content[1:])))
        elif kind is Noise:
            objects.append(Noise(Drawn(content[1], content[2], content[3], choices)))
        elif kind is defaultdict:
            objects.append(defaultdict(thaw(content[1], objects)))
        elif kind is deque:
            objects.append(deque(maxlen=content[1]))
        else:
            objects.append(kind.__new__(kind))
    for value, content in zip(objects, contents, strict=True):
        _fill(value, content, objects)
    return objects


def _fill(value: Any, content: Contents, objects: list[Any]) -> None:
    kind = content[0]
    if kind is Interval or kind is Noise:
        return
    if kind is list or kind is deque:
        value.extend([thaw(part, objects) for part in content[2:]])
    elif kind is dict or kind is Counter or kind is defaultdict:
        parts = iter([thaw(part, objects) for part in content[2:]])
        for key in parts:
            value[key] = next(parts)
    elif kind is set:
        value.update([thaw(part, objects) for part in content[1]])
    elif kind is Cell:
        value.value = thaw(content[1], objects)
    else:
        for name, part in zip(content[1], content[2:], strict=True):
            object.__setattr__(value, name, thaw(part, objects))


def thaw(part: Frozen, objects: list[Any]) -> Any:
    """Return the value of a frozen part."""
    kind = type(part)
    if kind is Box:
        return part.value  # type: ignore[attr-defined]
    if kind is Ref:
        return objects[part.index]  # type: ignore[attr-defined]
    if kind is Whole:
        return part.build(*[thaw(item, objects) for item in part.parts])  # type: ignore[attr-defined]
    return part
