"""The inputs of a program, and which of them are neighbours."""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.programs.loading import load_program
from bisimdist.programs.texts import literal

MOST_INPUTS = 20_000

_SEQUENCES = (list, tuple, str, bytes)

Relation = Callable[[Any, Any], object]  # tells whether two inputs are neighbours; in either order is enough


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a program: how it is written, and a way to make its value afresh."""

    name: str
    make: Callable[[], Any]


def literal_inputs(texts: Iterable[str]) -> tuple[Input, ...]:
    """Return inputs of Python literals as written. Raises UsageError if a text is no literal."""
    result = []
    for text in texts:
        try:
            value = literal(text)
        except ValueError:
            raise UsageError(
                f"--input {text[:60]}: expected a Python literal, such as 3, 1/2, 'a' or [1, 2]"
            ) from None
        _refuse_floats(value, text)
        result.append(Input(text, functools.partial(copy.deepcopy, value)))
    return tuple(result)


def _refuse_floats(value: Any, text: str) -> None:
    if isinstance(value, float | complex):
        raise UsageError(
            f"the input {text[:60]} holds a {type(value).__name__}, which is not exact; pass integers"
        )
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            _refuse_floats(item, text)


def chosen_inputs(inputs: Iterable[Any] | Mapping[str, Any]) -> tuple[Input, ...]:
    """Return inputs of values, which a mapping gives names; otherwise these are how Python writes them.

    Raises UsageError if there is none, one is given twice, or one is not exact.
    """
    if isinstance(inputs, Mapping):
        chosen = [Input(str(name), functools.partial(copy.deepcopy, value)) for name, value in inputs.items()]
    else:
        chosen = [
            value if isinstance(value, Input) else Input(repr(value), functools.partial(copy.deepcopy, value))
            for value in inputs
        ]
    if not chosen:
        raise UsageError(
            "there is no input; expected at least one, such as inputs=[0, 1] (--input 0 --input 1)"
        )
    names: set[str] = set()
    for item in chosen:
        if item.name in names:
            raise UsageError(f"the input {item.name} is given twice")
        names.add(item.name)
        _refuse_floats(item.make(), item.name)
    return tuple(chosen)


def at_distance_one(one: Any, other: Any) -> bool:
    """Tell whether two values differ by one, or in one place, or in one element that only one of them has.

    Numbers and truth values differ by one; tuples, lists and texts of the same length in one place, others in
    one element that has been left out; sets and dictionaries in one element or entry.

    >>> at_distance_one(3, 4), at_distance_one([1, 2, 3], [1, 7, 3]), at_distance_one("ab", "b")
    (True, True, True)
    >>> at_distance_one((0, 0), (1, 1)), at_distance_one({1, 2}, {1, 3})
    (False, False)
    """
    if isinstance(one, _SEQUENCES) and type(one) is type(other):
        return _one_place(one, other) if len(one) <= len(other) else _one_place(other, one)
    if isinstance(one, int | Fraction) and isinstance(other, int | Fraction):
        return bool(abs(one - other) == 1)
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return len({key for key, _ in _entries(one) ^ _entries(other)}) == 1
    return isinstance(one, set | frozenset) and len(one ^ other) == 1


def _one_place(short: Any, long: Any) -> bool:
    place = 0
    for x, y in zip(short, long, strict=False):
        if x != y:
            break
        place += 1
    extra = len(long) - len(short)
    return extra in {0, 1} and place < len(long) and bool(short[place + 1 - extra :] == long[place + 1 :])


def relation_of(text: str) -> Relation:
    """Return the relation that a text names: ``all``, ``one``, or ``FILE.py:NAME``.

    Raises BisimdistError if there is none.
    """
    if text == "all":
        return lambda *_: True
    if text == "one":
        return at_distance_one
    if ":" not in text:
        raise UsageError(
            f"neighbours {text[:60]!r}: expected all, one, or FILE.py:NAME, a function of two inputs"
        )
    found: Relation = load_program(text)[1]
    return found


def neighbour_pairs(inputs: Sequence[Input], relation: Relation) -> tuple[tuple[str, str], ...]:
    """Return the names of all inputs that are neighbours, each pair once.

    Raises UsageError if there are none, or the relation fails.
    """
    values = [item.make() for item in inputs]
    try:
        found = [
            (s, t)
            for s, t in _candidates(values, relation)
            if relation(values[s], values[t])
            or (relation is not at_distance_one and relation(values[t], values[s]))
        ]
    except Exception as error:
        raise UsageError(f"the relation of neighbours raises {type(error).__name__}: {error}") from error
    if not found:
        raise UsageError("no two of the inputs are neighbours")
    return tuple((inputs[s].name, inputs[t].name) for s, t in found)


def _candidates(values: Sequence[Any], relation: Relation) -> Iterable[tuple[int, int]]:
    """Yield all pairs of inputs that may be neighbours, in order: few of them where something is known."""
    if relation is not at_distance_one:
        return combinations(range(len(values)), 2)
    try:
        return sorted(_close(values))
    except TypeError:  # what has no hash cannot be looked up
        return combinations(range(len(values)), 2)


def _close(values: Sequence[Any]) -> set[tuple[int, int]]:
    """Return the pairs of inputs of which one may be made of the other by a change of one place or number."""
    whole: dict[Hashable, list[int]] = defaultdict(list)
    for number, value in enumerate(values):
        whole[_whole(value)].append(number)
    beside: dict[Hashable, list[int]] = defaultdict(list)
    found: set[tuple[int, int]] = set()
    for number, value in enumerate(values):
        for place, less in _less(value):
            found.update((number, other) for other in whole.get(less, ()))
            if place is not None:
                beside[place, less].append(number)
    for group in beside.values():
        found.update(combinations(group, 2))
    return {(min(pair), max(pair)) for pair in found}


def _key(value: Any) -> Hashable:
    """Return something with a hash that is the same for values that are equal."""
    if isinstance(value, list | tuple):
        return list if isinstance(value, list) else tuple, tuple(map(_key, value))
    if isinstance(value, dict):
        return dict, frozenset((key, _key(part)) for key, part in value.items())
    return frozenset(value) if isinstance(value, set) else value


def _whole(value: Any) -> Hashable:
    """Return the key of an input: entries of a dictionary are told apart as they are written."""
    return (dict, _entries(value)) if isinstance(value, dict) else _key(value)


def _entries(value: dict[Any, Any]) -> frozenset[tuple[Any, str]]:
    return frozenset((key, repr(part)) for key, part in value.items())


def _less(value: Any) -> Iterator[tuple[Hashable, Hashable]]:
    """Yield keys of what is one less: without an element, with its place where it has one, or the number."""
    if isinstance(value, _SEQUENCES):
        items: Any = value
        for place in range(len(items)):
            yield place, _key(items[:place] + items[place + 1 :])
    elif isinstance(value, dict):
        entries = _entries(value)
        for entry in entries:
            yield (entry[0],), (dict, entries - {entry})
    elif isinstance(value, set | frozenset):
        for element in value:
            yield None, frozenset(value) - {element}
    elif isinstance(value, int | Fraction):
        yield None, value - 1


def inputs_of_size(domain: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Yield all lists of so many elements of a domain. Raises UsageError if there are too many."""
    if len(domain) ** size > MOST_INPUTS:
        raise UsageError(
            f"there are {len(domain)}^{size} inputs; at most {MOST_INPUTS} are looked at: take a smaller size"
        )
    return (list(values) for values in product(domain, repeat=size))


def pairs_of(
    names: Sequence[str], pairs: Sequence[tuple[str, str]] | None, what: str = "input"
) -> tuple[tuple[str, str], ...]:
    """Return pairs of names, by default the first two. Raises UsageError if a name is none of those."""
    if pairs is None:
        return ((names[0], names[1]),) if len(names) > 1 else ()
    known = set(names)
    for name in (name for pair in pairs for name in pair):
        if name not in known:
            raise UsageError(
                f"the pair names {name!r}, which is no {what}; expected one of {', '.join(names[:10])}"
            )
    return tuple((s, t) for s, t in pairs)
