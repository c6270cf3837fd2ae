"""Best-first refinement: traces are told apart where that narrows the interval most.

A node is an information state of a measure. Expanding it asks for one more label; its value is then the sum
of the values of what follows, each times a factor, and the largest of such sums where there is a choice.
Nodes that agree up to a factor are one, so the tree of traces is a graph, which may close to a finite one.
"""

from __future__ import annotations

import heapq
import math
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic

from bisimdist.errors import LimitError
from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.reach import all_reached
from bisimdist.privacy.engine.measure import Ceilings, Measure, Node, NodeT, double
from bisimdist.progress import NEVER, Deadline

FIRST_BATCH = 256
GROWTH = 0.4  # after so many more expansions, relative to those before, all bounds are worked out anew

TRIALS = 64
WORTH = 0.3
SELDOM = 8
"""Once it was tried so often, the ceiling is asked for every leaf only if it takes so much of a gap in the
mean; otherwise for one leaf in so many."""

CIRCULATIONS = 60  # rounds in which the bounds on a cycle are estimated

WIDEST = 1e30  # without a bound from above a leaf counts as so uncertain

SLACK = 1e-12  # what rounding in doubles may make of a bound: decisions near it are left to exact arithmetic


@dataclass(frozen=True, slots=True)
class Root:
    """What is asked of a node: its value, divided by `divisor`; `weight` is that of its mass in doubles."""

    node: int
    divisor: int
    weight: float | None = None


@dataclass(slots=True)
class Refinement(Generic[NodeT]):
    """The graph of nodes that has been built so far; it only grows."""

    measure: Measure[NodeT]  # what nodes are, what follows them, and what they are worth
    ceiling: Ceilings | None = None  # bounds that leaves may ask for, where there are any
    memory: int | None = None  # how many bytes the process may hold; None for no limit
    nodes: list[NodeT] = field(default_factory=list)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    expanded: int = 0
    programs: int = 0
    gained: float = 0.0

    def node_of(self, vector: Hashable) -> int:
        """Return the number of an information state in normal form, which becomes a node if it is none."""
        number = self.numbers.get(vector)
        if number is None:
            number = len(self.nodes)
            self.nodes.append(self.measure.node(number, vector))
            self.numbers[vector] = number
        return number

    def expand(self, node: NodeT) -> None:
        """Ask for one more label after a node."""
        if node.edges is None:
            measure = self.measure
            options = tuple(
                tuple((label, factor, self.node_of(vector)) for label, factor, vector in steps)
                for steps in measure.options(node)
            )
            node.shares = tuple(
                tuple(
                    (measure.share(node, factor, self.nodes[child]), self.nodes[child])
                    for _, factor, child in edges
                )
                for edges in options
            )
            node.options = options
            node.edges = options[0] if len(options) == 1 else tuple(chain.from_iterable(options))
            node.drifts = tuple(measure.drift(node, edges) for edges in options)
            self.expanded += 1

    def gap(self, node: Node) -> float:
        """Return how uncertain a leaf is, as a part of its mass; negative for a node that is settled."""
        return -1.0 if node.settled else min(node.high - node.low, WIDEST)

    def bound(self, node: NodeT) -> None:
        """Ask the ceiling for a bound on a leaf."""
        if self.ceiling is None or node.asked:
            return
        node.asked = True
        before = self.gap(node)
        node.cap = self.ceiling.at(node.vector)
        if node.cap is not None:
            node.high = min(node.high, double(node.cap / node.mass))
        self.programs += 1
        if before > 0:
            self.gained += 1 - max(0.0, self.gap(node)) / before

    def _asks(self, node: Node) -> bool:
        """Tell whether to ask the ceiling for a leaf before it is expanded."""
        if self.ceiling is None or node.asked:
            return False
        worth = self.programs < TRIALS or self.gained >= WORTH * self.programs
        return worth or node.index % SELDOM == 0

    def closed_by_bound(self, node: NodeT) -> bool:
        """Tell whether the ceiling leaves nothing open at a leaf."""
        return node.cap is not None and node.cap == self.measure.own(node, up=False)

    def is_open(self, node: NodeT) -> bool:
        """Tell whether a node is a leaf that refinement may still improve."""
        return node.edges is None and not node.settled and not self.closed_by_bound(node)

    def reached(self, roots: Iterable[int]) -> list[tuple[list[int], bool]]:
        """Return the strongly connected components of what the roots reach, those that come last first.

        Returns list of (members, cyclic): a component of one node is cyclic if it leads to itself.
        """
        order = all_reached(roots, lambda number: [child for _, _, child in self.nodes[number].edges or ()])
        place = {number: k for k, number in enumerate(order)}
        adjacency = [[place[child] for _, _, child in self.nodes[number].edges or ()] for number in order]
        return [
            ([order[k] for k in group], len(group) > 1 or group[0] in adjacency[group[0]])
            for group in strongly_connected_components(adjacency)
        ]

    def sweep(self, roots: Sequence[Root]) -> tuple[list[int], bool]:
        """Estimate all bounds anew in doubles, and the weights of all leaves.

        Returns open leaves: those that the roots reach.
            closed: whether there are none.
        """
        groups = self.reached(root.node for root in roots)
        leaves = []
        for group, cyclic in groups:
            self._estimate(group, cyclic)
            for number in group:
                node = self.nodes[number]
                node.weight = 0.0
                if node.edges is None and self.is_open(node):
                    leaves.append(number)
        for root in roots:
            node = self.nodes[root.node]
            node.weight += node.mass / root.divisor if root.weight is None else root.weight
        for group, cyclic in reversed(groups):
            self._spread(group, cyclic)
        return leaves, not leaves

    def _estimate(self, group: Sequence[int], cyclic: bool) -> None:
        for _ in range(CIRCULATIONS if cyclic else 1):
            change = 0.0
            for number in group:
                node = self.nodes[number]
                if node.edges is None:
                    continue
                low, high = node.low, -math.inf
                for shares, drift in zip(node.shares, node.drifts, strict=True):
                    least = most = drift
                    for share, below in shares:
                        least += share * below.low
                        most += share * below.high
                    low, high = max(low, least), max(high, most)
                high = min(high, node.high)
                change = max(change, low - node.low, node.high - high)
                node.low, node.high = low, max(low, high)
            if change < SLACK:
                break

    def _spread(self, group: Sequence[int], cyclic: bool) -> None:
        for _ in range(3 if cyclic else 1):
            for number in group:
                _spread_below(self.nodes[number])

    def refine(
        self,
        choose: Callable[[], Sequence[Root]],
        *,
        enough: Callable[[bool], bool],
        deadline: Deadline = NEVER,
    ) -> bool:
        """Refine the leaf whose gap weighs most, until that is enough or a limit ends it.

        choose: called after every sweep: the roots that still matter.
        enough: called after every sweep with whether all leaves are closed: whether to stop.
        Returns whether it was enough.
        Raises LimitError if the deadline passes or the memory is full; what has been built stays.
        """
        while True:
            roots = choose()
            begun = time.monotonic()
            leaves, closed = self.sweep(roots)
            swept = (1 + GROWTH) * (time.monotonic() - begun)
            if enough(closed):
                return True
            if closed:
                return False
            heap = [(-self._priority(self.nodes[number]), number) for number in leaves]
            heapq.heapify(heap)
            self._batch(heap, deadline)
            deadline.earlier(swept).check()  # the next sweep would not be over in time

    def _priority(self, node: Node) -> float:
        return node.weight * self.gap(node)

    def _batch(self, heap: list[tuple[float, int]], deadline: Deadline) -> None:
        budget = max(FIRST_BATCH, int(GROWTH * self.expanded))
        while heap and budget > 0:
            if budget % 16 == 0:
                deadline.check()
                if budget % 128 == 0:
                    self.check_memory()
            priority, number = heapq.heappop(heap)
            node = self.nodes[number]
            if not self.is_open(node):
                continue
            if self._asks(node):
                self.bound(node)
                budget -= 1
                if self.is_open(node):
                    heapq.heappush(heap, (-self._priority(node), number))
                continue
            present = -self._priority(node)
            if present > priority + SLACK * abs(priority) and heap and present > heap[0][0]:
                heapq.heappush(heap, (present, number))
                continue
            self.expand(node)
            budget -= 1
            for below in _spread_below(node):
                child = self.nodes[below.index]
                if self.is_open(child):
                    heapq.heappush(heap, (-self._priority(child), child.index))

    def check_memory(self) -> None:
        """Raise a `LimitError` if the process holds more than it may."""
        if self.memory is not None and bytes_held() > self.memory:
            raise LimitError("the memory limit was reached")


def _spread_below(node: Node) -> list[Node]:
    """Let the weight of a node go to what follows, by the option that may be the best; return that."""
    if not node.shares:
        return []
    shares = node.shares[0]
    if len(node.shares) > 1:
        hoped = [
            sum([share * below.high for share, below in shares], drift)
            for shares, drift in zip(node.shares, node.drifts, strict=True)
        ]
        shares = node.shares[hoped.index(max(hoped))]
    for share, below in shares:
        below.weight += node.weight * share
    return [below for _, below in shares]


def bytes_held() -> int:
    """Return the most memory that this process has held, or 0 where the system does not say."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:  # pragma: no cover  (Windows)
        return 0
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024
