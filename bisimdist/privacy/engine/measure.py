"""What the graph of information states needs to know of the function whose sums over traces are bounded.

Let phi be convex and positively homogeneous on the masses of the worlds that an observer wants to tell
apart, and let V be the supremum over all lengths of the sums of phi over traces. The graph refines, merges
and closes in the same way for every phi; a `Measure` says what a node is and what follows it, and bounds its
value without looking at what follows. See docs/theory/delta.md and docs/theory/leakage.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Container, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from flint import fmpq, fmpz

from bisimdist.exact.doubles import as_double

PLACES = 160  # bounds that are not exact are rounded outwards to so many binary places of their mass

Edge = tuple[int, Any, int]
"""(label, factor, node): what a label leads to; how its value counts only the measure knows."""


class Node:
    """An information state up to what its measure takes for a factor, what follows it, and estimates.

    The estimates are doubles, in parts of the mass.
    """

    __slots__ = (
        "asked",
        "cap",
        "drifts",
        "edges",
        "high",
        "index",
        "low",
        "mass",
        "options",
        "settled",
        "shares",
        "vector",
        "weight",
    )

    index: int
    vector: Any  # the information state, in normal form
    mass: Any  # the unit of the estimates; it counts along an edge as the value does
    settled: bool  # whether the measure knows the value: then no refinement is needed
    low: float
    high: float

    def __init__(self, index: int, vector: Any) -> None:
        self.index = index
        self.vector = vector
        self.edges: tuple[Edge, ...] | None = None
        """All edges; None for a leaf."""
        self.options: tuple[tuple[Edge, ...], ...] = ()
        """The edges by what may be chosen: the value is the largest of their sums. A chain has one option."""
        self.shares: tuple[tuple[tuple[float, Node], ...], ...] = ()
        """For every option and edge the part of the mass that it carries, and the node that it leads to."""
        self.drifts: tuple[float, ...] = ()
        """For every option what is added to the sum, as a part of the mass."""
        self.cap: fmpq | None = None
        """A bound on the value from a ceiling, if there is one."""
        self.asked = False
        """Whether the ceiling was asked."""
        self.weight = 0.0


NodeT = TypeVar("NodeT", bound=Node)


class Ceilings(ABC):
    """Bounds from above that cost some work, asked for leaf by leaf."""

    @abstractmethod
    def at(self, vector: Any) -> fmpq | None:
        """Return a bound on the value of an information state; None for none."""


class Measure(ABC, Generic[NodeT]):
    """A convex, positively homogeneous function of masses, over the information states of one model."""

    labels: Sequence[str]  # the names of the labels of edges
    exact = True  # whether values are rational where the graph is closed

    @abstractmethod
    def node(self, index: int, vector: Hashable) -> NodeT:
        """Return a new node without edges."""

    @abstractmethod
    def options(self, node: NodeT) -> Sequence[Sequence[tuple[int, Any, Any]]]:
        """Return for everything that may be chosen (label, factor, information state) of what follows."""

    @abstractmethod
    def share(self, node: NodeT, factor: Any, child: NodeT) -> float:
        """Return the part of the mass of a node that an edge carries."""

    def drift(self, node: NodeT, edges: Sequence[Edge]) -> float:  # noqa: ARG002
        """Return what is added to the sum of what edges lead to, as a part of the mass."""
        return 0.0

    @abstractmethod
    def own(self, node: NodeT, *, up: bool) -> fmpq | None:
        """Return phi of the totals, rounded `up` or down: a bound from below. None for infinity."""

    @abstractmethod
    def most(self, node: NodeT) -> fmpq | None:
        """Return a bound from above that rests on the node alone. None for none."""

    def floor(self, node: NodeT) -> fmpq | None:
        """Return where an iteration from below begins: a bound, at most the sum of what follows."""
        return self.own(node, up=False)

    @abstractmethod
    def total(self, edges: Sequence[Edge], values: Mapping[int, fmpq], *, up: bool) -> fmpq | None:
        """Return what edges add up to, rounded `up` or down; no value, and None, mean infinity."""

    @abstractmethod
    def equation(
        self, edges: Sequence[Edge], place: Mapping[int, int], known: Mapping[int, fmpq], *, up: bool
    ) -> tuple[fmpq, list[tuple[int, fmpq]]] | None:
        """Return the sum of edges: a constant and weights of unknowns; None for infinity."""

    def rests(self, group: Sequence[NodeT], nodes: Sequence[NodeT]) -> bool:
        """Tell of a cycle whether nothing leaves it and totals stay in proportion, whatever is chosen.

        V is phi of them then.
        """
        members = {node.index for node in group}
        return all(self.keeps(node, edges, members, nodes) for node in group for edges in node.options)

    @abstractmethod
    def keeps(
        self, node: NodeT, edges: Sequence[Edge], members: Container[int], nodes: Sequence[NodeT]
    ) -> bool:
        """Tell whether edges of a node lead to members only, and totals stay in proportion."""

    @abstractmethod
    def sound(self, group: Sequence[NodeT], values: Sequence[fmpq]) -> bool:
        """Tell whether the solution of the equations of a cycle is the least one: the value is finite."""

    def loosened(self, estimate: float, part: float) -> float:
        """Return an estimate with some room: what is added has to be more than what follows adds up to."""
        return estimate + part

    def rounded(self, node: NodeT, value: fmpq, *, up: bool) -> fmpq:
        """Return a value with few digits, rounded outwards."""
        return rounded(value, node.mass, up=up)


def rounded(value: fmpq, mass: int | fmpq, *, up: bool) -> fmpq:
    """Round a number with a long denominator to `PLACES` binary places of a mass."""
    if value.q.bit_length() <= PLACES:
        return value
    part = value / mass * fmpq(fmpz(2) ** PLACES)
    units = part.ceil() if up else part.floor()
    return fmpq(units, fmpz(2) ** PLACES) * mass


def dyadic(value: fmpq, *, up: bool, places: int = PLACES) -> fmpq:
    """Round a rational to so many significant binary places."""
    places -= int(value.p).bit_length() - int(value.q).bit_length()
    unit = fmpz(2) ** abs(places)
    part = value * unit if places >= 0 else value / unit
    units = part.ceil() if up else part.floor()
    return fmpq(units, unit) if places >= 0 else fmpq(units * unit)


def double(value: fmpq) -> float:
    """Return the double nearest to a rational; infinity where it is too large."""
    try:
        return as_double(value)
    except OverflowError:
        return math.inf
