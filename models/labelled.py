"""What models with labelled states share: names, rows and pairs, with errors that say where."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from operator import itemgetter
from typing import Any, Self, TypeVar

from flint import fmpq

from bisimdist.errors import Located, ModelError
from bisimdist.exact.rational import ExactNumber, shorten_rational, to_fmpq
from bisimdist.models.model import Model

X = TypeVar("X")
V = TypeVar("V")
Row = tuple[tuple[int, fmpq], ...]
"""The successors of a state: (index of a state, positive probability), by ascending index."""

MAX_ROW_BITS = 200_000
"""How long the common denominator of a row may be, so that adding up a row takes bounded time."""
NEARBY = 1000
"""How many states are compared with a name that no state has."""


def check_names(names: Iterable[str], what: str) -> None:
    """Refuse names that are no text, or that hold half a character and so fit in no file."""
    names = names if isinstance(names, Sequence) else list(names)
    with suppress(TypeError, UnicodeEncodeError):  # all at once is quicker; one at a time says which it is
        "".join(names).encode("utf-8")
        return
    for name in names:
        if not isinstance(name, str):
            raise ModelError(f"the {what} {name!r} is a {type(name).__name__}; expected a text")
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            raise ModelError(
                f"the {what} holds a lone surrogate; expected Unicode text", place=f"{what} {name!r}"
            ) from None


class Named(Model):
    """A model whose states have names; their indices are worked out when it is validated."""

    __slots__ = ()

    states: tuple[str, ...]
    _position: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.states)

    def index(self, name: str) -> int:
        """Return the index of a state."""
        try:
            return self._position[name]
        except KeyError:
            near = get_close_matches(str(name), self.states[:NEARBY], 1) or self.states
            raise ModelError(
                f"there is no such state; expected one of {len(self)}, such as {near[0]!r}",
                place=f"state {name!r}",
            ) from None


class Labelled(Named):
    """A model whose states have labels, too: a chain, or one in which somebody chooses."""

    __slots__ = ()

    labels: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]

    @classmethod
    def _from_rows(
        cls,
        states: Mapping[str, str],
        transitions: Mapping[str, Mapping[str, Any]],
        pairs: Iterable[tuple[str, str]],
        row: Callable[[str, Mapping[str, Any], Mapping[str, int]], Any],
        **more: Any,
    ) -> Self:
        """Make a model from names; `row` makes the row of a state of its name, successors and indices."""
        position = {name: index for index, name in enumerate(states)}
        check_sources(transitions, position)
        rows = tuple(row(name, transitions.get(name, {}), position) for name in states)
        asked = indexed_pairs(pairs, position)
        return cls(tuple(states), tuple(states.values()), rows, pairs=asked, **more)  # type: ignore[call-arg]

    def whole(self) -> Self:
        """Return the model, which stands for all of its runs.

        Raises
        ------
        UsageError
            Where runs are cut off, as in the chain of a program that was not explored to its end.
        """
        return self

    def called(self, state: int) -> str:
        """Return what a user calls a state."""
        return self.states[state]

    def provenance(self) -> dict[str, object]:
        """Return what a model file says of where the model comes from, as plain data; empty if nothing."""
        return {}

    def _canonical_form(self, rows: Iterable[object]) -> dict[str, object]:
        """Return the plain data of a chain, given what it says of the row of every state."""
        states, transitions = (dict(zip(self.states, of, strict=True)) for of in (self.labels, rows))
        return {"kind": "lmc", "states": states, "transitions": transitions}

    def canonical(self) -> dict[str, object]:
        """Return the model as plain data in canonical form, without its pairs: what `digest` hashes."""
        raise NotImplementedError

    def digest(self) -> str:
        """Return the SHA-256 of the canonical form, ``"sha256:…"``; no order matters."""
        return digest_of(self.canonical())


def check_states(what: str, states: Sequence[str]) -> Mapping[str, int]:
    """Return the index of every state."""
    check_names(states, "state")
    position = dict(zip(states, range(len(states)), strict=True))
    if not states:
        raise ModelError(f"the {what} has no state; expected at least one")
    if len(position) != len(states):
        twice = next(name for i, name in enumerate(states) if position[name] != i)
        raise ModelError("the state is declared twice", place=f"state {twice!r}")
    return position


def check_labels(states: Sequence[str], labels: Sequence[str], rows: Sized) -> None:
    """Refuse what is no label, and what is not as many labels and rows as states."""
    check_names(labels, "label")
    if not len(labels) == len(rows) == len(states):
        raise ModelError(
            f"{len(states)} states, {len(labels)} labels and {len(rows)} rows; expected as many of each"
        )


def check_pairs(pairs: Iterable[Sequence[int]], size: int) -> None:
    """Refuse what is not a pair of indices of states."""
    for pair in pairs:
        if len(pair) != 2:
            raise ModelError(f"the pair {pair} has {len(pair)} entries; expected two indices")
        if not all(0 <= index < size for index in pair):
            raise ModelError(f"the pair {pair} names an index outside 0..{size - 1}")


def row_total(row: Row, states: Sequence[str], place: str, transition: str) -> fmpq:
    """Return the sum of a row once its entries are known to be in order.

    ``row``: successors and probabilities.
    ``place``: what an error about the row as a whole names.
    ``transition``: what an error about one entry names, before the target.
    Raises ModelError if a successor is no state, the order is not ascending or a probability is not positive.
    """
    previous = -1
    total = fmpq(0)
    for target, probability in row:
        if not 0 <= target < len(states):
            raise ModelError(f"a transition leads to index {target}, which is no state", place=place)
        if target <= previous:
            raise ModelError("the successors are not in ascending order, each once", place=place)
        if probability <= 0:
            raise ModelError(
                f"the probability is {shorten_rational(probability)}; expected a positive number",
                place=f"{transition} -> {states[target]}",
            )
        previous = target
        total += probability
        if total.q.bit_length() > MAX_ROW_BITS:
            raise ModelError(
                f"the common denominator of the probabilities is longer than the {MAX_ROW_BITS} bits allowed",
                place=place,
            )
    return total


def rows_to_check(rows: Iterable[Row], count: int) -> Iterator[int]:
    """Yield the numbers of the rows that must be looked at, so that all rows of `count` states are.

    Many rows have the same probabilities, as one object each. If one such row was not refused, the others are
    right as long as their successors are in order. The caller keeps all rows alive.

    >>> half = fmpq(1, 2)
    >>> list(rows_to_check([((0, half), (1, half)), ((0, half), (2, half)), ((2, half), (0, half))], 3))
    [0, 2]
    """
    right: set[tuple[int, ...]] = set()
    for number, row in enumerate(rows):
        probabilities = tuple([id(p) for _, p in row])
        if probabilities in right:
            before = -1
            for target, _ in row:
                if not before < target < count:
                    break
                before = target
            else:
                continue
        yield number
        right.add(probabilities)


def full_row(row: Row, states: Sequence[str], place: str, transition: str) -> None:
    """Refuse a row that is not in order or does not sum to one."""
    total = row_total(row, states, place, transition)
    if total != 1:
        raise ModelError(f"the probabilities sum to {shorten_rational(total)}; expected 1", place=place)


UNDECLARED = "the target {} is not a declared state"


def sparse_row(  # noqa: PLR0913, PLR0917
    row: Mapping[str, X],
    index: Mapping[str, int],
    place: str,
    read: Callable[[X, str], V],
    unknown: str = UNDECLARED,
    fail: Callable[[X, str, str], ModelError] = lambda _, message, where: ModelError(message, place=where),
) -> tuple[tuple[int, V], ...]:
    """Return a row that is given by names, by ascending index; entries of zero are dropped.

    ``read``: reads an entry, told where it stands.
    ``unknown``: what is wrong with a name that has no index.
    ``fail``: the error about an entry.
    """
    entries = []
    for name, entry in row.items():
        where = f"{place} -> {name}"
        if name not in index:
            raise fail(entry, unknown.format(repr(name)), where)
        if value := read(entry, where):
            entries.append((index[name], value))
    return tuple(sorted(entries, key=itemgetter(0)))


def probability(value: ExactNumber, place: str) -> fmpq:
    """Return a probability as an exact number."""
    with Located(place=place):
        number = to_fmpq(value)
    if not 0 <= number <= 1:
        raise ModelError(
            f"the probability is {shorten_rational(number)}; expected a number in [0, 1]", place=place
        )
    return number


def row_from_names(row: Mapping[str, ExactNumber], position: Mapping[str, int], transition: str) -> Row:
    """Return a row that is given by names; entries of probability zero are dropped."""
    return sparse_row(row, position, transition, probability)


def check_sources(transitions: Iterable[str], position: Mapping[str, int]) -> None:
    """Refuse transitions of what is no state."""
    for source in transitions:
        if source not in position:
            raise ModelError(
                "transitions are given for a state that is not declared", place=f"state {source!r}"
            )


def indexed_pairs(
    pairs: Iterable[tuple[str, str]], position: Mapping[str, int]
) -> tuple[tuple[int, int], ...]:
    """Return pairs of names as pairs of indices."""
    indexed = []
    for first, second in pairs:
        for name in (first, second):
            if name not in position:
                raise ModelError(
                    "the pair names a state that is not declared", place=f"pair [{first}, {second}]"
                )
        indexed.append((position[first], position[second]))
    return tuple(indexed)


def digest_of(canonical: Mapping[str, object]) -> str:
    """Return the SHA-256 of plain data, ``"sha256:…"``; the order of keys does not matter."""
    return hashed([json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)])


def hashed(parts: Iterable[str]) -> str:
    """Return the SHA-256 of a canonical text, which comes in parts: that of a large model is long."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("ascii"))
    return f"sha256:{digest.hexdigest()}"


def joined(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts with commas between them, some thousands at a time.

    >>> list(joined(["a", "b"]))
    ['a,b']
    """
    remaining, comma = iter(texts), ""
    while some := list(islice(remaining, 4096)):
        yield comma + ",".join(some)
        comma = ","


def quoted(texts: Iterable[str]) -> dict[str, str]:
    """Return by text how JSON has it."""
    return {text: json.dumps(text) for text in set(texts)}
