"""Divergences of the traces of two worlds: sums of f(x, y) over traces, for x^b y^(1-b) and x ln(x/y).

An information state holds two rows of masses, x and y. For these functions V(lx, my) follows from V(x, y),
so that the rows are brought to lowest terms each by itself: traces that differ in how likely they are, but
leave the same question open, are one node. See docs/theory/leakage.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from math import exp, inf, isqrt, log, log1p, sqrt
from typing import Any, ClassVar

from flint import arb, fmpq

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.engine.domination import Ratios, bound_of_block
from bisimdist.privacy.engine.masses import Matrix, by_rows, followers
from bisimdist.privacy.engine.measure import PLACES, Ceilings, Edge, Measure, Node, dyadic
from bisimdist.privacy.engine.signed import SignedChain

BITS = PLACES + 48  # roots and logarithms are enclosed with so many bits

Step = tuple[int, tuple[int, int, int], Matrix]
"""(label, (l, m, X), information state): l and m times its rows follow; X is the total of the first row."""

Enclosed = tuple[fmpq, fmpq]
ZERO = fmpq(0)


class DivergenceNode(Node):
    """Two rows of masses, each without common factor; the first one is not 0."""

    __slots__ = ("x", "y")

    def __init__(self, index: int, vector: Matrix) -> None:
        super().__init__(index, vector)
        self.x = sum(row[0] for _, row in vector)
        self.y = sum(row[1] for _, row in vector)
        self.settled = not self.y or all(row[0] == row[1] for _, row in vector)


class Divergence(Measure[DivergenceNode]):
    """A function of two masses for which rows may be scaled each by itself."""

    needs_both: ClassVar[bool] = False
    """Whether what only the first world may show counts as 0; otherwise it counts as infinite."""

    def __init__(self, chain: SignedChain) -> None:
        self.chain = chain
        self.labels = chain.labels
        self._known: dict[tuple[int, int], Enclosed] = {}

    def node(self, index: int, vector: Any) -> DivergenceNode:
        node = DivergenceNode(index, vector)
        if not node.y:
            node.mass, node.low, node.high = fmpq(1), inf, inf
            return node
        node.mass = self.unit(node)
        node.low = self.estimate(node.x, node.y, node)
        node.high = node.low if node.settled else self._by_columns(node)
        return node

    def _by_columns(self, node: DivergenceNode) -> float:
        total = 0.0
        for _, (x, y) in node.vector:
            if x and y:
                total += self.estimate(x, y, node)
            elif x and not self.needs_both:
                return inf
        return max(total, node.low)

    def options(self, node: DivergenceNode) -> Sequence[Sequence[Step]]:
        return [list(self.steps(node.vector, arm)) for arm in self.chain.offered(node.vector)]

    def steps(self, matrix: Matrix, arm: Any = 0) -> Iterator[Step]:
        """Yield what counts of that which follows, by one of the arms that the chain offers."""
        for label, sums in followers(self.chain, matrix, arm):
            found = self.normal(sums)
            if found is not None:
                yield label, *found

    def normal(self, sums: Mapping[int, Sequence[int]]) -> tuple[tuple[int, int, int], Matrix] | None:
        """Return two rows in normal form, with their factors; None if they count as 0."""
        (left, right), matrix = by_rows(sums)
        if not left or (self.needs_both and not right):
            return None
        if not right:
            matrix = ((matrix[0][0], (1, 0)),)
        return (left, right, sum(row[0] for _, row in matrix)), matrix

    def share(self, node: DivergenceNode, factor: tuple[int, int, int], child: DivergenceNode) -> float:
        left, right, _ = factor
        if not child.y:
            return 1.0  # infinite in any case
        whole = self.chain.denominator
        x = log(left * child.x) - log(whole * node.x)
        y = log(right * child.y) - log(whole * node.y)
        return max(exp(min(self.exponent(x, y), 600.0)), 1e-300)

    @abstractmethod
    def exponent(self, x: float, y: float) -> float:
        """Return the logarithm of a share, from those of the parts of the two rows."""

    @abstractmethod
    def unit(self, node: DivergenceNode) -> fmpq:
        """Return the unit of estimates."""

    @abstractmethod
    def estimate(self, x: int, y: int, node: DivergenceNode) -> float:
        """Return about what the function of some of the masses of a node is, in its unit."""

    @abstractmethod
    def phi(self, x: int | fmpq, y: int | fmpq, *, up: bool) -> fmpq:
        """Return the function of two positive masses, rounded."""

    @abstractmethod
    def along(self, factor: tuple[int, int, int], *, up: bool) -> tuple[fmpq | int, fmpq]:
        """Return (f, k), rounded: along an edge a value V becomes f V + k, over `over`."""

    @property
    def over(self) -> int:
        """What is divided by once for all edges of a node."""
        return 1

    def total(self, edges: Sequence[Edge], values: Mapping[int, fmpq], *, up: bool) -> fmpq | None:
        total = ZERO
        for _, factor, child in edges:
            value = values.get(child)
            if value is None:
                return None
            times, constant = self.along(factor, up=up)
            total += times * value + constant
        return total / self.over

    def equation(
        self, edges: Sequence[Edge], place: Mapping[int, int], known: Mapping[int, fmpq], *, up: bool
    ) -> tuple[fmpq, list[tuple[int, fmpq]]] | None:
        constant = self.total([edge for edge in edges if edge[2] not in place], known, up=up)
        if constant is None:
            return None
        entries = []
        for _, factor, child in edges:
            if child in place:
                times, more = self.along(factor, up=up)
                constant += more / self.over
                entries.append((place[child], fmpq(times) / self.over))
        return constant, entries

    def own(self, node: DivergenceNode, *, up: bool) -> fmpq | None:
        return self.phi(node.x, node.y, up=up) if node.y else None

    def most(self, node: DivergenceNode) -> fmpq | None:
        if node.settled:
            return self.own(node, up=True)
        total = fmpq(0)
        for _, (x, y) in node.vector:
            if x and y:
                total += self.phi(x, y, up=True)
            elif x and not self.needs_both:
                return None
        return total

    def keeps(
        self,
        node: DivergenceNode,
        edges: Sequence[Edge],
        members: Container[int],
        nodes: Sequence[DivergenceNode],
    ) -> bool:
        """Tell whether edges of a node lead to members only, and keep the proportion of the two totals."""
        carried = 0
        for _, (left, right, x), number in edges:
            if number not in members or left * x * node.y != right * nodes[number].y * node.x:
                return False
            carried += left * x
        return bool(carried == self.chain.denominator * node.x)

    def rounded(self, node: DivergenceNode, value: fmpq, *, up: bool) -> fmpq:
        if value.q.bit_length() <= PLACES:
            return value
        return dyadic(value, up=up)


class Power(Divergence):
    """x^b y^(1-b) for an integer b of at least 2: chi-squared plus one for 2, Rényi before the logarithm."""

    def __init__(self, chain: SignedChain, order: int) -> None:
        super().__init__(chain)
        self.order = order

    def unit(self, node: DivergenceNode) -> fmpq:
        return self.phi(node.x, node.y, up=False)

    def estimate(self, x: int, y: int, node: DivergenceNode) -> float:
        return exp(min(self.exponent(log_of_ratio(x, node.x), log_of_ratio(y, node.y)), 600.0))

    def exponent(self, x: float, y: float) -> float:
        return self.order * x + (1 - self.order) * y

    def phi(self, x: int | fmpq, y: int | fmpq, *, up: bool) -> fmpq:
        return fmpq(x) ** self.order / fmpq(y) ** (self.order - 1)

    def along(self, factor: tuple[int, int, int], *, up: bool) -> tuple[fmpq, fmpq]:
        left, right, _ = factor
        found = self._known.get((left, right))
        if found is None:
            weight = self.phi(left, right, up=False) / self.chain.denominator
            found = self._known[left, right] = weight, weight
        return found[0], ZERO

    def loosened(self, estimate: float, part: float) -> float:
        return estimate * (1 + part)

    def sound(self, group: Sequence[DivergenceNode], values: Sequence[fmpq]) -> bool:
        return all(value > 0 for value in values)  # otherwise the spectral radius is at least 1


class Affinity(Divergence):
    """-sqrt(x y): the squared Hellinger distance is 2 plus twice its sum."""

    exact = False
    needs_both = True

    def unit(self, node: DivergenceNode) -> fmpq:
        return -self.phi(node.x, node.y, up=False)

    def estimate(self, x: int, y: int, node: DivergenceNode) -> float:
        return -sqrt(x / node.x) * sqrt(y / node.y)

    def exponent(self, x: float, y: float) -> float:
        return (x + y) / 2

    def phi(self, x: int | fmpq, y: int | fmpq, *, up: bool) -> fmpq:
        return -root(fmpq(x) * y, up=not up)

    def along(self, factor: tuple[int, int, int], *, up: bool) -> tuple[fmpq, fmpq]:
        left, right, _ = factor
        found = self._known.get((left, right))
        if found is None:
            product, whole = fmpq(left) * right, self.chain.denominator
            found = self._known[left, right] = (
                root(product, up=False) / whole,
                root(product, up=True) / whole,
            )
        return found[not up], ZERO  # values are negative: the larger weight is for bounds from below

    def sound(self, group: Sequence[DivergenceNode], values: Sequence[fmpq]) -> bool:
        return all(value <= 0 for value in values)


class Relative(Divergence):
    """x ln(x/y), the divergence of Kullback and Leibler: V(lx, my) = l V(x, y) + l |x| ln(l/m)."""

    exact = False

    def unit(self, node: DivergenceNode) -> fmpq:
        return fmpq(node.x)

    def estimate(self, x: int, y: int, node: DivergenceNode) -> float:
        return x / node.x * log_of_ratio(x, y)

    def exponent(self, x: float, y: float) -> float:
        return x

    def drift(self, node: DivergenceNode, edges: Sequence[Edge]) -> float:
        total = 0.0
        for _, (left, right, x), _child in edges:
            if right:
                part = exp(log(left * x) - log(self.chain.denominator * node.x))
                total += part * (log(left) - log(right))
        return total

    def phi(self, x: int | fmpq, y: int | fmpq, *, up: bool) -> fmpq:
        return x * logarithm(fmpq(x) / y)[up]

    def along(self, factor: tuple[int, int, int], *, up: bool) -> tuple[fmpq | int, fmpq]:
        left, right, x = factor
        found = self._known.get((left, right))
        if found is None:
            found = self._known[left, right] = logarithm(fmpq(left, right))
        return left, left * x * found[up]

    @property
    def over(self) -> int:
        return int(self.chain.denominator)

    def sound(self, group: Sequence[DivergenceNode], values: Sequence[fmpq]) -> bool:
        return True  # the masses x grow nowhere; where none leaves, the equations are singular


class Chord(Ceilings):
    """Bounds at leaves from bounds on likelihood ratios: a convex function lies below its chord.

    If L y(E) <= x(E) <= U y(E) for all events of what follows, the ratio of all continuations is between L
    and U, and the sum of f over them is at most what it would be if only L and U occurred.
    """

    def __init__(self, measure: Divergence, ratios: Ratios) -> None:
        self.measure = measure
        self.ratios = ratios

    def ends(self, matrix: Matrix) -> tuple[fmpq | None, fmpq | None]:
        """Return U, and 1/L; None where there is none."""
        x = {state: fmpq(row[0]) for state, row in matrix if row[0]}
        y = {state: fmpq(row[1]) for state, row in matrix if row[1]}
        return bound_of_block(self.ratios, x, y), bound_of_block(self.ratios, y, x)

    def at(self, vector: Matrix) -> fmpq | None:
        most, inverse = self.ends(vector)
        if most is None:
            return None
        x = sum(row[0] for _, row in vector)
        y = sum(row[1] for _, row in vector)
        return chord(self.measure, x, y, most, fmpq(0) if inverse is None else 1 / inverse)


def chord(measure: Divergence, x: int, y: int, most: fmpq, least: fmpq) -> fmpq:
    """Return the chord between the ratios `least` and `most`, at the totals (x, y); phi(0, 1) is 0."""
    if most <= least:
        return measure.phi(x, y, up=True)
    high = (x - least * y) / (most - least)
    low = y - high
    bottom = measure.phi(least, fmpq(1), up=True) if least else fmpq(0)
    return high * measure.phi(most, fmpq(1), up=True) + low * bottom


def logarithm(value: fmpq) -> Enclosed:
    """Return rationals below and above ln(value)."""
    if value == 1:
        return fmpq(0), fmpq(0)
    with working_precision(BITS):
        ball = arb(value).log()
        return ball.lower().fmpq(), ball.upper().fmpq()


def log_of_ratio(x: int, y: int) -> float:
    """Return the logarithm of x/y in doubles, also where the quotient is none."""
    if x < 2 * y and y < 2 * x:
        return log1p((x - y) / y)
    return log(x) - log(y)


def root(value: fmpq, *, up: bool) -> fmpq:
    """Return a rational below or above the square root; a root that is rational and short is exact.

    The reader of a certificate has more bits, so that its bounds lie within these.
    """
    product, below = int(value.p * value.q), int(value.q)
    shift = BITS - product.bit_length() // 2
    shifted = product << (2 * shift) if shift >= 0 else product >> (-2 * shift)
    floor = isqrt(shifted)
    if up and (shift < 0 or floor * floor != shifted):
        floor += 1
    return fmpq(floor, below << shift) if shift >= 0 else fmpq(floor << -shift, below)
