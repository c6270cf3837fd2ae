"""Bounds on pairs, which are made where somebody looks at them: there may be millions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, TypeAlias, overload

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.bounds import Bracket, LowerBound, UpperBound
from bisimdist.exact.number import Exact, Numbers, Unreduced
from bisimdist.exact.rational import format_rational
from bisimdist.models.all_pairs import AllPairs

Names: TypeAlias = Sequence[tuple[str, str]]
Pair: TypeAlias = tuple[int, int]
Texts: TypeAlias = tuple[list[str], list[str]]  # lower and upper bounds of many pairs, as JSON has them

PART = 1 << 12
"""So many pairs are written at a time; where their bounds are units, about as many as make a block."""

KEPT = 1 << 16  # so many pairs are made once and for all: to bring long numbers to lowest terms takes time


@dataclass(frozen=True, slots=True)
class PairBound(Numbers):
    """Bounds on the distance of an ordered pair of states.

    Parameters
    ----------
    source, target
        The names of the two states.
    upper, lower
        Proved bounds, ``0 <= lower <= upper <= 1``.
    exact
        Whether `upper` is the distance itself, which is so where the bounds meet.
    directions
        For an asymmetric distance its bounds (lower, upper) from `source` and from `target`; the larger of
        both are those of the pair.

    Raises
    ------
    UsageError
        If the bounds contradict each other or what `exact` says.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> (pair,) = bisimdist.bound(chain, "11/10").pairs
    >>> pair.source, pair.target, pair.upper
    ('s0', 's1', 4/25)
    """

    source: str
    target: str
    upper: Exact
    lower: Exact
    exact: bool
    directions: tuple[tuple[Exact, Exact], tuple[Exact, Exact]] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        lower, upper, exact = (object.__getattribute__(self, name) for name in ("lower", "upper", "exact"))
        if isinstance(upper, Unreduced) and upper is lower:
            within = bool(0 <= upper.p <= upper.q)
            if exact and within:
                return
        lower, upper = (x.value if isinstance(x, Unreduced) else x for x in (lower, upper))
        if not 0 <= lower <= upper <= 1:
            raise UsageError(
                f"bounds {self.lower} and {self.upper} for the pair ({self.source}, {self.target}); "
                "expected 0 <= lower <= upper <= 1"
            )
        if exact != (lower == upper):
            raise UsageError(
                f"the pair ({self.source}, {self.target}) is exact where its bounds meet, and only there"
            )

    @property
    def bracket(self) -> Bracket:
        """The two bounds with their direction in their type."""
        return Bracket(LowerBound(self.lower), UpperBound(self.upper))

    def data(self, distance: str, names: tuple[str, str]) -> dict[str, object]:
        """Return the bounds as plain data, under the names by which the pair was asked."""
        upper, exact = format_rational(self.upper), self.exact
        data: dict[str, object] = {
            "from": names[0],
            "to": names[1],
            "upper": upper,
            "exact": exact,
            "distance": distance,
            "lower": upper if exact else format_rational(self.lower),
        }
        if self.directions is not None:
            data["directions"] = [
                {"lower": format_rational(low), "upper": format_rational(high)}
                for low, high in self.directions
            ]
        return data


class Table(Protocol):
    """Bounds on many pairs, which are not looked at one by one."""

    @property
    def exact(self) -> bool:
        """Whether the bounds of every pair meet."""

    def texts(self) -> Iterator[Texts]:
        """Yield the lower and the upper bounds as JSON has them, many pairs at a time."""

    def largest(self, most: int) -> list[int] | None:
        """Return the places of so many largest upper bounds; None where each has to be looked at."""


class Known(Protocol):
    """What is known of pairs of states, by their numbers."""

    @property
    def directed(self) -> bool:
        """Whether something is said of both directions of a pair."""

    def bounds(self, pair: Pair) -> tuple[Any, Any, Any]:
        """Return the lower and the upper bound on a pair, and those of both directions where they differ."""

    def table(self, asked: Sequence[Pair]) -> Table | None:
        """Return the bounds on many pairs; None where they have to be looked at one by one."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """That distances are between 0 and 1 is known of so many pairs from the start."""

    count: int
    directed = exact = False

    def bounds(self, pair: Pair) -> tuple[Any, Any, Any]:
        del pair
        return fmpq(0), fmpq(1), None

    def table(self, asked: Sequence[Pair]) -> Nothing:
        del asked
        return self

    def texts(self) -> Iterator[Texts]:
        """Yield the bounds as JSON has them, many pairs at a time."""
        for low in range(0, self.count, PART):
            size = min(PART, self.count - low)
            yield ["0"] * size, ["1"] * size

    def largest(self, most: int) -> list[int]:
        """Return the first places."""
        return list(range(min(most, self.count)))


class PairBounds(Sequence[PairBound]):
    """The bounds on the pairs of an answer, in the order in which they were asked.

    It is indexed, sliced, compared and gone through like a tuple of them; a copy for another process is one.

    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> pairs = bisimdist.bound(chain, 1, pairs=bisimdist.AllPairs(chain.states)).pairs
    >>> len(pairs), pairs[0].upper, [str(pair.upper) for pair in pairs if pair.upper < 1]
    (6, 1/5, ['1/5'])
    """

    __slots__ = ("_made", "asked", "called", "known")

    def __init__(self, asked: Sequence[Pair], called: Callable[[int], str], known: Known) -> None:
        self.asked, self.called, self.known = asked, called, known
        self._made: dict[Pair, PairBound] = {}

    def __len__(self) -> int:
        return len(self.asked)

    @overload
    def __getitem__(self, index: int) -> PairBound: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[PairBound, ...]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return tuple(map(self._of, self.asked[index]))
        return self._of(self.asked[index])

    def __iter__(self) -> Iterator[PairBound]:
        return map(self._of, self.asked)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, PairBounds | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)

    def _of(self, pair: Pair) -> PairBound:
        found = self._made.get(pair)
        if found is None:
            lower, upper, ways = self.known.bounds(pair)
            source, target = map(self.called, pair)
            found = PairBound(source, target, upper, lower, lower == upper, ways)
            if len(self._made) < KEPT:
                self._made[pair] = found
        return found

    def names(self) -> Names:
        if isinstance(self.asked, AllPairs):
            return AllPairs(list(map(self.called, self.asked.of)))
        return [(self.called(s), self.called(t)) for s, t in self.asked]

    @classmethod
    def unknown(cls, names: Names) -> PairBounds:
        """Return the bounds on pairs of which nothing is known."""
        if isinstance(names, AllPairs):
            return cls(AllPairs(range(len(names.of))), names.of.__getitem__, Nothing(len(names)))
        of = list(dict.fromkeys(name for pair in names for name in pair))
        place = {name: k for k, name in enumerate(of)}
        asked = [(place[s], place[t]) for s, t in names]
        return cls(asked, of.__getitem__, Nothing(len(names)))

    @property
    def exact(self) -> bool:
        table = self.known.table(self.asked)
        return all(pair.exact for pair in self) if table is None else table.exact

    def texts(self) -> Iterator[Texts]:
        """Yield the lower and the upper bounds as JSON has them, many pairs at a time."""
        table = self.known.table(self.asked)
        if table is not None:
            yield from table.texts()
            return
        pairs = iter(self)
        while part := list(islice(pairs, PART)):
            upper = [format_rational(pair.upper) for pair in part]
            both = zip(part, upper, strict=True)
            yield [high if pair.exact else format_rational(pair.lower) for pair, high in both], upper

    def largest(self, most: int) -> list[int] | None:
        """Return the places of so many largest upper bounds; None where each has to be looked at."""
        table = self.known.table(self.asked)
        return None if table is None else table.largest(most)
