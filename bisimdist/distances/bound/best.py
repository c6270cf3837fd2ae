"""The best that is proved of pairs of states, where somebody looks at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from bisimdist.distances.bound.tables import ProofBounds, UnitBounds
from bisimdist.distances.engine.flat_engine import FlatTables
from bisimdist.distances.engine.proof import Proof
from bisimdist.models.interactive import System
from bisimdist.models.worlds import Worlds

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Best:
    """The best that is proved of pairs of states of a model."""

    model: System
    proof: Proof | FlatTables | None  # what is proved, if anything is
    # by state of the model its state in the quotient that the proof is about; None where nothing is merged
    place: Sequence[int] | None
    directed: bool  # whether the distance is asymmetric: then a pair has two
    lockstep: Mapping[Pair, fmpq] = field(default_factory=dict)
    """By pair, where nothing is proved, an upper bound by runs that are coupled step by step."""

    def bounds(self, pair: Pair) -> tuple[Any, Any, Any]:
        """Return the lower and the upper bound on a pair, and those of both directions where they differ."""
        lower, upper = forth = self.one_way(pair)
        if not self.directed:
            return lower, upper, None
        back = self.one_way(turned(self.model, pair))
        return max(lower, back[0]), max(upper, back[1]), (forth, back)

    def one_way(self, pair: Pair) -> tuple[Any, Any]:
        """Return the lower and the upper bound on a pair, of an asymmetric distance in this direction."""
        inside = pair if self.place is None else (self.place[pair[0]], self.place[pair[1]])
        if self.proof is None:
            most = fmpq(0 if inside[0] == inside[1] else 1)
            return fmpq(0), self.lockstep.get(inside, self.lockstep.get(inside[::-1], most))
        if self.directed or isinstance(self.proof, FlatTables):
            return self.proof.bounds(inside)
        return self.proof.claims(inside)

    def table(self, asked: Sequence[Pair]) -> UnitBounds | ProofBounds | None:
        """Return the bounds on many pairs; None where they have to be looked at one by one."""
        if self.directed or self.lockstep:
            return None
        if isinstance(self.proof, Proof):
            return ProofBounds(asked, self.proof, self.place)
        return UnitBounds(asked, self.proof, self.place)


def turned(model: System, pair: Pair) -> Pair:
    """Return a pair the other way round."""
    return model.turned(pair) if isinstance(model, Worlds) else pair[::-1]
