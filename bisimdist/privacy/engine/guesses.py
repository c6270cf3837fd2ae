"""What somebody gains who guesses after seeing a trace: phi(d) = max(0, |d_1|, ..., |d_r|).

A row d_k is what guess k gains beyond guess 0, masses of all secrets weighted by prior and gain: what all
guesses share cancels, as it does for delta, which is the case of one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flint import fmpq

from bisimdist.privacy.engine.domination import Domination
from bisimdist.privacy.engine.gain import Gain, GainNode
from bisimdist.privacy.engine.masses import Matrix, by_one_factor, followers
from bisimdist.privacy.engine.signed import SignedChain

Covers = dict[int, list[tuple[int, int, fmpq]]]  # by row the moves that cover it


class GuessNode(GainNode):
    """Signed rows without common factor."""

    __slots__ = ("best",)

    def __init__(self, index: int, vector: Matrix) -> None:
        super().__init__(index, ())
        self.vector = vector
        rows = [row for _, row in vector]
        self.best = max(map(sum, zip(*rows, strict=True)), default=0)
        self.positive = sum(max(0, *row) for row in rows)
        self.mass = sum(abs(entry) for row in rows for entry in row)
        self.settled = self.positive == max(0, self.best)
        self.low = max(0, self.best) / self.mass
        self.high = self.positive / self.mass

    @property
    def total(self) -> int:
        """What the best guess gains without looking further."""
        return self.best


class Guesses(Gain):
    """What the best guess gains beyond the first one, on average over traces.

    chain: the chain, best without bisimilar states.
    domination: bounds on likelihood ratios: a guess that is ahead for ever settles a node.
    """

    def __init__(self, chain: SignedChain, domination: Domination | None = None) -> None:
        super().__init__(chain, domination)

    def node(self, index: int, vector: Any) -> GuessNode:
        node = GuessNode(index, vector)
        if self.domination is not None and not node.settled and self.leader(vector) is not None:
            node.settled = node.ruled = True
            node.high = node.low
        return node

    def leader(self, vector: Matrix) -> tuple[int, Covers] | None:
        """Return the guess that is best whatever follows, 0 for the first one, and what covers all others.

        None if no such guess is known.
        """
        if self.domination is None:
            return None
        rows = [(0,) * len(vector), *zip(*(row for _, row in vector), strict=True)]
        sums = [sum(row) for row in rows]
        best = sums.index(max(sums))
        covers: Covers = {}
        for number, row in enumerate(rows):
            if number == best:
                continue
            behind = tuple(
                (state, entry - ahead)
                for (state, _), entry, ahead in zip(vector, row, rows[best], strict=True)
                if entry != ahead
            )
            moves = self.domination.cover(behind, 1)
            if moves is None:
                return None
            covers[number] = moves
        return best, covers

    def options(self, node: GainNode) -> Sequence[Sequence[tuple[int, int, Any]]]:
        return [list(self._steps(node.vector, arm)) for arm in self.chain.offered(node.vector)]

    def _steps(self, matrix: Matrix, arm: Any) -> Iterator[tuple[int, int, Matrix]]:
        for label, sums in followers(self.chain, matrix, arm):
            factor, following = by_one_factor(sums)
            if following:
                yield label, factor, following
