"""What a program ends with, where noise without bounds is in it: finitely many classes of values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import inf
from typing import Any

from flint import fmpq

from bisimdist.programs.control import Outside
from bisimdist.programs.heap import attributes
from bisimdist.programs.interval import Interval
from bisimdist.programs.laws import MOST_DISTANCE, Law
from bisimdist.programs.noise import Drawn, Noise
from bisimdist.programs.texts import text_of

_CLASS = re.compile(r"(-?\d+) or (more|less)")


def leaves(value: Any) -> Iterator[Any]:
    """Yield what a value is made of in the end."""
    stack = [value]
    seen: set[int] = set()
    while stack:
        item = stack.pop()
        if item is None or isinstance(item, bool | int | str | Interval | Noise):
            yield item
        elif id(item) not in seen:
            seen.add(id(item))
            if isinstance(item, dict):
                stack.extend([*item, *item.values()])
            elif isinstance(item, list | tuple | set | frozenset):
                stack.extend(item)
            elif isinstance(item, BaseException):
                stack.extend(item.args)
            else:
                stack.extend(attributes(item).values())


def classes_of(ends: Mapping[int, object], beyond: fmpq | None = None) -> dict[int, dict[str | None, fmpq]]:
    """Return for each end with noise in it the classes of values, as texts, with their probabilities.

    Beyond the lowest and the highest number that any end names, ends differ by their laws only. Where these
    are the same, all values are in proportion there, and one class tells as much as the value
    (``docs/theory/programs.md``).

    ends: all values that a program ends with, by number.
    beyond: what is less likely may be given up, which the class None stands for.
    Raises Outside if classes that cannot be told apart have values that are not in proportion, and nothing is
        given up.
    """
    noisy = {number: noise for number, value in ends.items() if (noise := _endless(value))}
    if not noisy:
        return {}
    every = [noise for among in noisy.values() for noise in among]
    named = [leaf for value in ends.values() for leaf in leaves(value) if type(leaf) is int]
    lowest = min([*named, *(int(one.high) - 1 for one in every if one.high < inf)], default=0) - 1
    highest = max([*named, *(int(one.low) for one in every if one.low > -inf)], default=0) + 1
    found, unlike = _divided(ends, noisy, lowest, highest)
    if not unlike:
        return found
    if not beyond:
        raise Outside(
            f"the probabilities of the values of {unlike} are not in proportion",
            "return whether the noise is above a number, clip it, or say where to cut",
        )
    slowest = max(noise.drawn.law.terms[-1][0] for noise in every)
    more, left = 0, fmpq(1)
    while left > beyond and more < MOST_DISTANCE:
        more, left = more + 1, left * slowest
    found, _ = _divided(ends, noisy, lowest - more, highest + more)
    return {number: _given_up(row) for number, row in found.items()}


def _endless(value: object) -> list[Noise]:
    return [leaf for leaf in leaves(value) if type(leaf) is Noise and leaf.endless]


def _given_up(row: Mapping[str | None, fmpq]) -> dict[str | None, fmpq]:
    made: dict[str | None, fmpq] = {}
    for text, chance in row.items():
        kept = None if text is None or _CLASS.search(text) else text
        made[kept] = made.get(kept, fmpq(0)) + chance
    return made


def _divided(
    ends: Mapping[int, object], noisy: Mapping[int, list[Noise]], lowest: int, highest: int
) -> tuple[dict[int, dict[str | None, fmpq]], str]:
    """Return the classes of each end, and one where those of two ends overlap, or their laws differ."""
    alike: dict[str, tuple[str, tuple[Law, ...]]] = {}
    found: dict[int, dict[str | None, fmpq]] = {}
    unlike = ""
    for number, every in noisy.items():
        row = found[number] = {}
        for text, known, chance in _classes(ends[number], every, lowest, highest):
            if alike.setdefault(_CLASS.sub(r"\2", text), (text, known)) != (text, known):
                unlike = text
            row[text] = row.get(text, fmpq(0)) + chance
    return found, unlike


def _classes(
    value: object, every: Iterable[Noise], lowest: int, highest: int
) -> Iterator[tuple[str, tuple[Law, ...], fmpq]]:
    """Yield the classes of one end, the laws beyond, and how likely they are."""
    drawn: dict[Drawn, list[int]] = {}
    for noise in every:
        drawn.setdefault(noise.drawn, []).append(noise.offset)
    known = {one: (one.low, one.high) for one in drawn}
    for parts in product(*(_parts(one, offsets, lowest, highest) for one, offsets in drawn.items())):
        chance = fmpq(1)
        for one, (p, low, high, _) in zip(drawn, parts, strict=True):
            one.low, one.high = low, high
            chance *= p
        yield text_of(value), tuple(law for *_, law in parts if law.terms), chance
    for one, (low, high) in known.items():
        one.low, one.high = low, high


def _parts(
    drawn: Drawn, offsets: list[int], lowest: int, highest: int
) -> list[tuple[fmpq, float, float, Law]]:
    """Divide what was drawn into single values and the rest."""
    rest: tuple[float, float]
    single = Law((), True)
    if drawn.high == inf:
        first, end = int(drawn.low), highest - min(offsets)
        values = range(first, end)
        rest = (end, inf)
    else:
        first, end = int(drawn.high) - 1, lowest - max(offsets)
        values = range(first, end, -1)
        rest = (-inf, end + 1)
    if len(values) > MOST_DISTANCE:
        raise Outside(
            f"noise is added to numbers {len(values)} apart", f"at most {MOST_DISTANCE} are looked at"
        )
    parts: list[tuple[fmpq, float, float, Law]] = [
        (drawn.law.part(abs(value - first), 1)[0], value, value + 1, single) for value in values
    ]
    chance, law = drawn.law.part(len(values), inf)
    return [*parts, (chance, *rest, law)]


def class_labels(labels: Iterable[str]) -> list[str]:
    """Return the labels that stand for classes of values."""
    return [label for label in labels if _CLASS.search(label)]


def is_of_class(output: str, label: str) -> bool:
    """Tell whether a value, as a text, is one of a class."""
    bounds = [(int(number), side) for number, side in _CLASS.findall(label)]
    pattern = r"(-?\d+)".join(re.escape(part) for part in _CLASS.split(label)[::3])
    found = re.fullmatch(pattern, output) if bounds else None
    return found is not None and all(
        int(number) >= bound if side == "more" else int(number) <= bound
        for number, (bound, side) in zip(found.groups(), bounds, strict=True)
    )
