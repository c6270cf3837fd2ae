"""Signed information states: what an observer who has seen a trace still has to decide.

After a trace w an observer faces the masses m(i) and m'(i) of the runs that show w and are in state i. For
the question at alpha = p/q only the signed vector c = q m - p m' matters: an event E of continuations gains
``c(E) = sum_i c(i) nu_i(E)``, and ``value(c) = sup_E c(E)``. Vectors are integers, scaled to have no common
factor, so that states that agree up to a positive factor are one.

Source: CMP18 Definition 3, CMP18 Definition 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import gcd, lcm
from typing import Any, Self

from flint import fmpq

from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.interactive import System
from bisimdist.models.lmc import Row
from bisimdist.models.reach import all_reached
from bisimdist.models.worlds import Worlds

Vector = tuple[tuple[int, int], ...]  # (state, integer other than zero), by ascending state

Masses = Sequence[tuple[int, Any]]  # something for each of some states

Moves = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
"""Where a state leads: (label, ((target, weight), …))."""

Step = tuple[int, int, Vector]  # (label, factor g, vector v): seeing the label turns c into g v / denominator


def primitive(entries: Mapping[int, int]) -> tuple[int, Vector]:
    """Return the greatest common factor of the entries, and the vector without it.

    >>> primitive({2: -4, 0: 6, 1: 0})
    (2, ((0, 3), (2, -2)))
    """
    kept = sorted((state, value) for state, value in entries.items() if value)
    factor = gcd(*(value for _, value in kept))
    if factor > 1:
        return factor, tuple((state, value // factor) for state, value in kept)
    return factor, tuple(kept)


def pair_vector(alpha: fmpq, s: int, t: int) -> Vector:
    """Return the vector of the ordered pair (s, t): its value is q lv_alpha(s, t) for alpha = p/q.

    For s = t it is empty or negative: nothing is gained.
    """
    p, q = int(alpha.p), int(alpha.q)
    if s == t:
        return ((s, q - p),) if p != q else ()
    return tuple(sorted(((s, q), (t, -p))))


@dataclass(frozen=True, slots=True)
class SignedChain:
    """A chain whose rows are integers over one denominator, sorted by the label that they show.

    An interactive model has such rows for every action.
    """

    model: System
    labels: tuple[str, ...]
    denominator: int
    arms: tuple[tuple[Moves, ...], ...]  # by action and state

    @classmethod
    def of(cls, model: System) -> Self:
        """Bring the rows of a model to one denominator."""
        labels = tuple(dict.fromkeys(model.labels))
        number = {label: k for k, label in enumerate(labels)}
        denominator = lcm(*(int(p.q) for rows in model.arms for row in rows for _, p in row))

        def sorted_by_label(row: Row) -> Moves:
            groups: dict[int, list[tuple[int, int]]] = {}
            for target, p in row:
                weight = int(p.p) * (denominator // int(p.q))
                groups.setdefault(number[model.labels[target]], []).append((target, weight))
            return tuple((label, tuple(group)) for label, group in sorted(groups.items()))

        arms = tuple(tuple(map(sorted_by_label, rows)) for rows in model.arms)
        return cls(model, labels, denominator, arms)

    @property
    def moves(self) -> tuple[Moves, ...]:
        """The rows of a chain, by state."""
        return self.arms[0]

    def ends(self, vector: Vector) -> bool:
        """Tell whether there is nothing to ask where a vector is."""
        return not any(moves[vector[0][0]] for moves in self.arms)

    def offered(self, vector: Masses) -> list[Any]:
        """Return what may be asked where a vector is: the numbers of actions, of which a chain has one."""
        state = vector[0][0]
        return [arm for arm, moves in enumerate(self.arms) if moves[state]]

    def named(self, vector: Masses, number: int) -> str:
        arm: int = self.offered(vector)[number]
        return self.model.actions[arm]

    def rows(self, vector: Masses, arm: Any) -> list[Moves]:
        """Return the rows of the states of a vector where an action is asked."""
        return [self.arms[arm][state] for state, _ in vector]

    def steps(self, vector: Vector, arm: Any = 0) -> list[Step]:
        """Return what a vector becomes with each label that can follow, but for labels where all cancels.

        >>> from bisimdist.models.library.figure1 import figure1
        >>> SignedChain.of(figure1()).steps(((0, 1), (1, -1)))
        [(1, 1, ((2, 1),)), (2, 1, ((3, -1),))]
        """
        seen: dict[int, dict[int, int]] = {}
        for (_, value), moves in zip(vector, self.rows(vector, arm), strict=True):
            for label, group in moves:
                into = seen.get(label)
                if into is None:
                    into = seen[label] = {}
                for target, weight in group:
                    into[target] = into.get(target, 0) + value * weight
        result = []
        for label in sorted(seen):
            factor, following = primitive(seen[label])
            if following:
                result.append((label, factor, following))
        return result

    def acyclic(self, starts: tuple[int, ...]) -> bool:
        """Tell whether every run from the states comes to rest in a state that it never leaves."""

        def after(state: int) -> set[int]:
            targets = {target for rows in self.model.arms for target, _ in rows[state]}
            return targets if targets != {state} else set()

        place = {state: k for k, state in enumerate(all_reached(starts, after))}
        graph = [[place[target] for target in after(state)] for state in place]
        groups = strongly_connected_components(graph)
        return all(len(group) == 1 and group[0] not in graph[group[0]] for group in groups)


class SignedWorlds(SignedChain):
    """Where nature picks a vertex of the row of every state of a vector."""

    model: Worlds

    def ends(self, vector: Vector) -> bool:  # noqa: ARG002
        """Return False: nature always picks something."""
        return False

    def offered(self, vector: Masses) -> list[Any]:
        """Return every choice of a vertex for each state of a vector."""
        return list(self.model.options([state for state, _ in vector]))

    def named(self, vector: Masses, number: int) -> str:
        states = [state for state, _ in vector]
        return self.model.name_of(states, next(islice(self.model.options(states), number, None)))

    def rows(self, vector: Masses, arm: Any) -> list[Moves]:
        """Return the vertices that are chosen."""
        return [self.arms[k][state] for k, (state, _) in zip(arm, vector, strict=True)]
