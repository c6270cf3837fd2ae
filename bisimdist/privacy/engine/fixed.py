"""The best sequence of actions that is fixed beforehand, by branch and bound.

An analyst who has fixed the first actions faces many information states at once, and asks the same in all of
them; where that is not on offer it ends there. What an adaptive analyst would still gain bounds what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.gain import Gain, GainNode
from bisimdist.privacy.engine.refinement import Refinement
from bisimdist.progress import NEVER, Deadline

Front = Mapping[int, fmpq]  # where an analyst may be: nodes, and the factors by which their values count


@dataclass(slots=True)
class FixedSearch:
    """The search for one direction of a pair; what it has found by then is there at any time."""

    # measure and refinement: the graph of an unrolled model; what an adaptive analyst had no need to look
    # behind is expanded
    measure: Gain
    refinement: Refinement[GainNode]
    closure: Closure  # what an adaptive analyst gains
    root: int  # the node of the direction
    best: fmpq = field(init=False)
    sequence: tuple[int, ...] = ()
    complete: bool = False

    def __post_init__(self) -> None:
        self.best = self.measure.own(self._node(self.root))

    def run(self, deadline: Deadline = NEVER) -> None:
        """Search until the best sequence is proved, or the deadline passes."""
        try:
            self._search({self.root: fmpq(1)}, fmpq(0), (), deadline)
            self.complete = True
        except LimitError:
            pass

    @property
    def most(self) -> fmpq:
        return self.best if self.complete else self.closure.upper[self.root]

    def _search(self, front: Front, certain: fmpq, asked: tuple[int, ...], deadline: Deadline) -> None:
        deadline.check()
        if not front:
            if certain > self.best:
                self.best, self.sequence = certain, asked
            return
        after = [self._ask(front, certain, arm) for arm in range(len(self.measure.chain.arms))]
        order = sorted(range(len(after)), key=lambda arm: self._bound(*after[arm]), reverse=True)
        for arm in order:
            if self._bound(*after[arm]) > self.best:
                self._search(*after[arm], (*asked, arm), deadline)

    def _bound(self, front: Front, certain: fmpq) -> fmpq:
        return certain + sum((w * self._above(number) for number, w in front.items()), fmpq(0))

    def _node(self, number: int) -> GainNode:
        return self.refinement.nodes[number]

    def _above(self, number: int) -> fmpq:
        """Return a bound on what is gained at a node, if need be one that rests on the node alone."""
        known = self.closure.upper.get(number)
        return self.measure.most(self._node(number)) if known is None else known

    def _ask(self, front: Front, certain: fmpq, arm: int) -> tuple[dict[int, fmpq], fmpq]:
        following: dict[int, fmpq] = {}
        for number, weight in front.items():
            option = self.option(number, arm)
            if option is None:
                certain += weight * self.measure.own(self._node(number))
                continue
            for _, factor, child in self._node(number).options[option]:
                share = weight * fmpq(factor, self.measure.chain.denominator)
                following[child] = following.get(child, fmpq(0)) + share
        return following, certain

    def option(self, number: int, arm: int) -> int | None:
        """Return which option of a node an action is; None where the analyst ends."""
        node = self._node(number)
        if node.settled:
            return None
        self.refinement.expand(node)
        offered = self.measure.chain.offered(node.vector)
        return offered.index(arm) if arm in offered else None

    def strategy(self) -> Closure:
        """Return the sequence as what is asked at each node, with what it gains there."""
        layers: list[list[int]] = [[self.root]]
        choice: dict[int, int] = {}
        leaves: set[int] = set()
        for depth, layer in enumerate(layers):  # grows
            following: dict[int, None] = {}
            for number in layer:
                arm = self.sequence[depth] if depth < len(self.sequence) else -1
                option = self.option(number, arm)
                if option is None:
                    leaves.add(number)
                else:
                    choice[number] = option
                    following.update((c, None) for _, _, c in self._node(number).options[option])
            if following:
                layers.append(list(following))
        lower: dict[int, fmpq] = {}
        for layer in reversed(layers):
            for number in layer:
                node = self._node(number)
                if number in leaves:
                    lower[number] = self.measure.own(node)
                else:
                    lower[number] = self.measure.total(node.options[choice[number]], lower, up=False)
        return Closure(lower, self.closure.upper, frozenset(leaves), self.closure.upper_leaves, choice)
