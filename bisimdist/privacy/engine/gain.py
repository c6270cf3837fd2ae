"""The measure behind delta: what an event gains on a signed vector, phi(c) = max(0, |c|)."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from flint import fmpq

from bisimdist.privacy.engine.domination import Domination
from bisimdist.privacy.engine.measure import Edge, Measure, Node
from bisimdist.privacy.engine.signed import SignedChain, Step, Vector


class GainNode(Node):
    """A signed vector without common factor."""

    __slots__ = ("ended", "negative", "positive", "ruled")

    def __init__(self, index: int, vector: Vector) -> None:
        super().__init__(index, vector)
        self.positive = sum(value for _, value in vector if value > 0)
        self.negative = sum(-value for _, value in vector if value < 0)
        self.mass: int = self.positive + self.negative
        self.settled = not self.positive or not self.negative
        self.ruled = False
        """Whether likelihood ratios settle the node: either no continuation counts, or all of them do."""
        self.ended = False
        """Whether there is nothing to ask."""
        self.low = max(0, self.total) / self.mass if self.mass else 0.0
        self.high = self.positive / self.mass if self.mass else 0.0

    @property
    def total(self) -> int:
        """What the event of all continuations gains."""
        return self.positive - self.negative


class Gain(Measure[GainNode]):
    """What the best event gains.

    chain: the chain, best without bisimilar states.
    domination: bounds on likelihood ratios, where there are any: they settle nodes when these are made.
    """

    def __init__(self, chain: SignedChain, domination: Domination | None = None) -> None:
        self.chain = chain
        self.labels = chain.labels
        self.domination = domination

    def node(self, index: int, vector: Any) -> GainNode:
        node = GainNode(index, vector)
        if vector and self.chain.ends(vector):
            node.settled = node.ended = True
            node.high = node.low
        if self.domination is not None and not node.settled and self.domination.settles(vector):
            node.settled = node.ruled = True
            node.high = node.low
        return node

    def options(self, node: GainNode) -> Sequence[Sequence[Step]]:
        return [self.chain.steps(node.vector, arm) for arm in self.chain.offered(node.vector)]

    def share(self, node: GainNode, factor: int, child: GainNode) -> float:
        return factor * child.mass / (self.chain.denominator * node.mass)

    def own(self, node: GainNode, *, up: bool = False) -> fmpq:
        return fmpq(max(0, node.total))

    def most(self, node: GainNode) -> fmpq:
        return self.own(node) if node.ruled or node.ended else fmpq(node.positive)

    def floor(self, node: GainNode) -> fmpq:
        return fmpq(0)

    def total(self, edges: Sequence[Edge], values: Mapping[int, fmpq], *, up: bool) -> fmpq:
        total = fmpq(0)
        for _, factor, child in edges:
            total += factor * values[child]
        return total / self.chain.denominator

    def equation(
        self,
        edges: Sequence[Edge],
        place: Mapping[int, int],
        known: Mapping[int, fmpq],
        *,
        up: bool,
    ) -> tuple[fmpq, list[tuple[int, fmpq]]]:
        constant = fmpq(0)
        entries = []
        for _, factor, child in edges:
            if child in place:
                entries.append((place[child], fmpq(factor, self.chain.denominator)))
            else:
                constant += factor * known[child]
        return constant / self.chain.denominator, entries

    def keeps(
        self, node: GainNode, edges: Sequence[Edge], members: Container[int], nodes: Sequence[GainNode]
    ) -> bool:
        """Tell whether edges of a node lead to members only, and no mass cancels."""
        carried = 0
        for _, factor, child in edges:
            if child not in members:
                return False
            carried += factor * nodes[child].mass
        return carried == self.chain.denominator * node.mass

    def sound(self, group: Sequence[GainNode], values: Sequence[fmpq]) -> bool:
        return True  # masses cancel or leave, and grow nowhere
