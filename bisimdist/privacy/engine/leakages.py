"""Leakages of one chain: roots in a graph, and from the values of these the values of measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, lcm

from flint import fmpq

from bisimdist.models.interactive import System
from bisimdist.models.worlds import Worlds
from bisimdist.privacy.engine.closure import Closure, close
from bisimdist.privacy.engine.divergence import Affinity, Chord, Divergence, Power, Relative
from bisimdist.privacy.engine.domination import Domination, find_ratios
from bisimdist.privacy.engine.guesses import Guesses
from bisimdist.privacy.engine.masses import by_one_factor, split_by_label
from bisimdist.privacy.engine.measure import Node, double
from bisimdist.privacy.engine.refinement import Refinement, Root
from bisimdist.privacy.engine.signed import SignedChain, SignedWorlds
from bisimdist.progress import NEVER, Deadline, Progress, silent

NEARLY = 1 - 1e-9

Rows = Sequence[Mapping[int, fmpq]]
"""Rows of masses on states: two distributions, or for every guess the gains times the prior."""


def measure_of(name: str, order: int | None) -> Callable[[SignedChain], Divergence | Guesses]:
    """Return what makes the measure of the graph: of `guesses`, `power`, `affinity` or `relative`."""
    if name == "power":
        return lambda chain: Power(chain, order or 2)
    return {"guesses": Guesses, "affinity": Affinity, "relative": Relative}[name]


@dataclass(frozen=True, slots=True)
class Asked:
    """A number: `offset` plus `factor` times the values of roots, each times what stands with it."""

    roots: tuple[tuple[fmpq, Root], ...]
    offset: fmpq
    factor: fmpq
    relative: bool = False  # whether its width counts relative to its size

    def value(self, values: Mapping[int, fmpq]) -> fmpq | None:
        """Return the number from values of nodes; None for infinity."""
        total = fmpq(0)
        for weight, root in self.roots:
            value = values.get(root.node)
            if value is None:
                return None
            total += weight * value
        return self.offset + self.factor * total


@dataclass(slots=True)
class Leakages:
    """Bounds on leakages of one chain by one measure, refined for as long as somebody wants."""

    model: System  # the chain, or the worlds of one whose probabilities lie in intervals
    kind: Callable[[SignedChain], Divergence | Guesses]  # what makes the measure
    memory: int | None = None  # how many bytes the process may hold
    measure: Divergence | Guesses = field(init=False)
    refinement: Refinement[Node] = field(init=False)

    def __post_init__(self) -> None:
        natural = isinstance(self.model, Worlds)
        self.measure = self.kind(SignedWorlds.of(self.model) if natural else SignedChain.of(self.model))
        self.refinement = Refinement(self.measure, memory=self.memory)  # type: ignore[arg-type]

    def acyclic(self, states: Sequence[int]) -> bool:
        """Tell whether every run from some states comes to rest."""
        return self.measure.chain.acyclic(tuple(set(states)))

    def use_ratios(self, states: Sequence[int], *, deadline: Deadline = NEVER) -> None:
        """Let bounds on likelihood ratios bound or settle nodes, if the chain is cyclic; call it first."""
        if self.acyclic(states):
            return
        ratios = find_ratios(self.model, set(states), deadline=deadline)
        if not ratios:
            return
        if isinstance(self.measure, Guesses):
            self.measure.domination = Domination(ratios)
        else:
            self.refinement.ceiling = Chord(self.measure, ratios)

    def asked(self, worlds: Rows, offset: fmpq, factor: fmpq, *, relative: bool = False) -> Asked:
        """Return the number for some worlds on states."""
        unit = lcm(*(int(p.q) for row in worlds for p in row.values()))
        sums: dict[int, list[int]] = {}
        for number, row in enumerate(worlds):
            for state, p in row.items():
                entry = sums.setdefault(state, [0] * len(worlds))
                entry[number] += int(p.p) * (unit // int(p.q))
        parts = list(split_by_label(self.measure.chain, sums))
        if isinstance(self.measure, Guesses):
            return self._guessed(parts, unit, offset, factor)
        roots = []
        for part in parts:
            found = self.measure.normal(part)
            if found is not None:
                roots.append((fmpq(1), Root(self.refinement.node_of(found[1]), 1, 1.0)))
        return Asked(tuple(roots), offset, factor, relative=relative)

    def _guessed(
        self, parts: Sequence[Mapping[int, Sequence[int]]], unit: int, offset: fmpq, factor: fmpq
    ) -> Asked:
        roots = []
        for part in parts:
            offset += factor * fmpq(sum(row[0] for row in part.values()), unit)
            beyond = {state: [entry - row[0] for entry in row[1:]] for state, row in part.items()}
            common, vector = by_one_factor(beyond)
            if vector:
                number = self.refinement.node_of(vector)
                weight = common * self.refinement.nodes[number].mass / unit
                roots.append((fmpq(common, unit), Root(number, 1, weight)))
        return Asked(tuple(roots), offset, factor)

    def interval(self, asked: Asked) -> tuple[float, float]:
        """Return what doubles say about a number."""
        low = high = 0.0
        for _, root in asked.roots:
            node = self.refinement.nodes[root.node]
            low += (root.weight or 0.0) * node.low
            high += (root.weight or 0.0) * node.high
        start, factor = double(asked.offset), double(asked.factor)
        return start + factor * low, start + factor * high

    def width(self, asked: Asked) -> float:
        """Return how wide the interval of a number is in doubles, where that still matters."""
        low, high = self.interval(asked)
        if low == inf:
            return 0.0
        return (high - low) / low if asked.relative and low > 0 else high - low

    def refine(
        self,
        asked: Sequence[Asked],
        *,
        gap: fmpq,
        most: int,
        deadline: Deadline = NEVER,
        progress: Progress = silent,
    ) -> bool:
        """Refine until all intervals are as narrow as the gap, closed, or `most` nodes are expanded.

        Returns whether they are as narrow, to the accuracy of doubles, or closed.
        Raises LimitError if a limit ends the work; what has been found stays.
        """
        wide, reached = float(gap) * NEARLY, False

        def active() -> list[Asked]:
            return [one for one in asked if self.width(one) > wide]

        def choose() -> list[Root]:
            # before the first sweep nothing is known of the roots: all of them may matter
            return [root for one in active() for _, root in one.roots]

        def enough(closed: bool) -> bool:
            nonlocal reached
            widest = max(map(self.interval, asked), key=lambda x: x[1] - x[0] if x[0] < inf else 0.0)
            progress(f"between {widest[0]:.8g} and {widest[1]:.8g}", self.refinement.expanded, None)
            reached = closed or not active()
            return reached or self.refinement.expanded >= most

        self.refinement.refine(choose, enough=enough, deadline=deadline)
        return reached

    def close(self, asked: Sequence[Asked], *, deadline: Deadline = NEVER) -> Closure:
        """Return the exact bounds on all nodes that matter."""
        return close(
            self.refinement, [root.node for one in asked for _, root in one.roots], deadline=deadline
        )
