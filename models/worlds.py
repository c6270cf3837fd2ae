"""The interactive model of a chain that is only known roughly: nature asks, and picks a vertex of every row.

Nature sees what an analyst sees and chooses for every state a vertex of its row. An action of that model says
which, for all states; only what it says of the states at hand matters, and nothing more is ever named.
See docs/theory/intervals.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.models.conversions import observed_chain
from bisimdist.models.interactive import Interactive, Moves, System
from bisimdist.models.intervals import (
    FEW,
    MAX_CHOICES,
    IntervalChain,
    filled,
    first_vertices,
    rough_or_exact,
    vertices,
)
from bisimdist.models.kinds import AnyModel
from bisimdist.models.labelled import Row
from bisimdist.models.second_world import SecondWorld

EACH_STEP, FIXED = NATURES = ("each-step", "fixed")
"""What nature may do: pick a member at every step, in each world on its own; or one for good, for both."""


@dataclass(frozen=True, slots=True, repr=False)
class Worlds(Interactive):
    """What runs may do when nature picks the rows: the moves of a state are the vertices of its row.

    With two worlds a state whose future nature has a say in comes twice: nature chooses in each world on its
    own, and what the copy does in the second world is another matter.
    """

    chain: IntervalChain = field(kw_only=True)  # the chain that this is made of
    origin: tuple[int, ...] = field(kw_only=True)
    second: tuple[int, ...] = field(kw_only=True)

    @property
    def nature(self) -> str:
        """One of `NATURES`."""
        return NATURES[self.second == tuple(range(len(self.chain)))]

    def _check_offers(self) -> None:
        """Let states of one label have as many vertices as they like: an action speaks of all states."""

    def facing(self, s: int, t: int) -> tuple[tuple[int, int], ...]:
        """Return every two vertices of two states."""
        return tuple(product(range(len(self.moves[s])), range(len(self.moves[t]))))

    def options(self, states: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield what nature may choose for states: a vertex of each."""
        sizes = [len(self.moves[state]) for state in states]
        if prod(sizes) > MAX_CHOICES:
            raise LimitError(f"nature has more than {MAX_CHOICES} choices for {len(states)} states")
        return product(*map(range, sizes))

    def name_of(self, states: Sequence[int], choice: Sequence[int]) -> str:
        """Return the name of an action that says so much: JSON, with the states in order."""
        chosen = {
            self.states[state]: number
            for state, number in zip(states, choice, strict=True)
            if len(self.moves[state]) > 1
        }
        return json.dumps(chosen, sort_keys=True, separators=(",", ":"))

    def facing_name(self, s: int, t: int, arm: int) -> str:
        """Return the name of one of `facing`."""
        return self.name_of((s, t), self.facing(s, t)[arm])

    def rows_by(self, action: str | None) -> Mapping[int, Row]:
        """Return the rows of an action by state; a state of which it says nothing has its first vertex."""
        chosen = self.numbers(action)
        return {state: moves[chosen.get(state, 0)][1] for state, moves in enumerate(self.moves)}

    def numbers(self, action: str | None) -> dict[int, int]:
        """Return which vertex an action picks, by state; nothing of those of which it says nothing."""
        return {} if action is None else {self.index(name): k for name, k in json.loads(action).items()}

    def placed(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return where two states of the chain are: the first in one world, the second in the other."""
        return pair[0], self.second[pair[1]]

    def turned(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return a pair the other way round."""
        return self.placed((self.origin[pair[1]], self.origin[pair[0]]))

    def spelt(self, action: str) -> str:
        """Return an action as a person reads it: the probabilities that it picks."""
        parts = []
        for state, number in self.numbers(action).items():
            row = ", ".join(
                f"{self.chain.states[self.origin[t]]} {p}" for t, p in self.moves[state][number][1]
            )
            parts.append(f"{self.states[state]} to {row}")
        return "; ".join(parts) or "nothing"

    def canonical(self) -> dict[str, object]:
        """Return the vertices as plain data, by number."""
        return {**super(Worlds, self).canonical(), "kind": "worlds"}


def known_or_rough(model: AnyModel) -> System | IntervalChain:
    """Return what delta is about: the model, or of what nobody asks the chain of what is observed."""
    if isinstance(model, IntervalChain):
        return rough_or_exact(model)
    return model if isinstance(model, Interactive) else observed_chain(model)


def picking(chain: IntervalChain, *, apart: bool) -> Worlds:
    """Return the model in which nature may only pick a few vertices of every row with many.

    These give as much as they may to one successor after the other, in the order of what the row has more of
    than that of another state with its label, or less.
    """
    several = [first_vertices(row, FEW) for row in chain.rows]
    middles = [{t: (low + high) / 2 for t, low, high in row} for row in chain.rows]
    for state, row in enumerate(chain.rows):
        if len(several[state]) <= FEW:
            continue
        mine = middles[state]
        others = [k for k, label in enumerate(chain.labels) if label == chain.labels[state] and k != state]
        orders = [sorted(range(len(row)), key=lambda k: mine[row[k][0]])]
        for other in others[: FEW // 2]:
            lead = [mine[t] - middles[other].get(t, fmpq(0)) for t, _, _ in row]
            orders.append(sorted(range(len(row)), key=lead.__getitem__))
        several[state] = tuple(
            dict.fromkeys(filled(row, way) for order in orders for way in (order, order[::-1]))
        )
    return _worlds(chain, several, apart=apart)


def worlds(chain: IntervalChain, *, apart: bool) -> Worlds:
    """Return the model that nature asks, with one world, or two that are `apart`.

    The pairs have their second states in the second world. The copy of a state has as many apostrophes more
    as it takes to make all names different.

    >>> chain = IntervalChain.from_mappings(
    ...     {"s": "a", "t": "b"}, {"s": {"s": [0, "1/2"], "t": ["1/2", 1]}, "t": {"t": 1}}, [("s", "s")])
    >>> model = worlds(chain, apart=True)
    >>> model.states, model.pairs, model.moves[2]
    (('s', 't', "s'"), ((0, 2),), (('0', ((1, 1/2), (2, 1/2))), ('1', ((1, 1),))))
    """
    places = (f"state {name!r}" for name in chain.states)
    return _worlds(chain, list(map(vertices, chain.rows, places)), apart=apart)


def _worlds(chain: IntervalChain, several: Sequence[Sequence[Row]], *, apart: bool) -> Worlds:
    """Return what `worlds` does where nature picks some distributions of every row."""
    size = len(chain)
    found = [sorted(picks, key=lambda v: sorted((chain.states[t], p) for t, p in v)) for picks in several]
    rough = [state for state, picks in enumerate(found) if len(picks) > 1]
    after = ([target for target, _, _ in row] for row in chain.rows)
    both = SecondWorld.of(chain.states, after, rough if apart else ())
    moves: Iterable[Moves] = (
        tuple((str(number), both.row(state, vertex)) for number, vertex in enumerate(found[source]))
        for state, source in enumerate(both.origin)
    )
    return Worlds(
        both.names,
        tuple(chain.labels[state] for state in both.origin),
        tuple(moves),
        tuple((s, both.second[t]) for s, t in chain.pairs),
        chain=chain,
        origin=both.origin,
        second=both.second[:size],
    )
