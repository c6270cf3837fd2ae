"""Writes the proof of two-sided bounds on leakages as plain data (docs/certificates/leakage.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flint import fmpq

from bisimdist.distances.bound.certificate import CLAIM_DIGITS
from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import integer_text, rational_text
from bisimdist.models.interactive import Interactive
from bisimdist.models.reach import all_reached
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.divergence import Chord, DivergenceNode
from bisimdist.privacy.engine.guesses import Guesses, GuessNode
from bisimdist.privacy.engine.leakages import Asked, Leakages
from bisimdist.privacy.engine.measure import Edge, Node
from bisimdist.privacy.engine.round_trips import growth_of, weights_of
from bisimdist.privacy.engine.unending import growing_groups, way_out


def leakage_certificate(
    graph: Leakages,
    asked: Sequence[Asked],
    closure: Closure,
    claims: Sequence[dict[str, object]],
    **about: object,
) -> Document:
    """Return the certificate of claims on what was asked; only the nodes that they rest on are written."""
    writer = _Nodes(graph, closure)
    for one, claim in zip(asked, claims, strict=True):
        roots = [root.node for _, root in one.roots]
        if claim["upper"] != "inf":
            writer.collect(writer.upper, roots, closure.upper_leaves)
        if claim["lower"] == "inf":
            writer.unending(roots)
        else:
            writer.collect(writer.lower, roots, closure.lower_leaves)
    return document(
        "leakage",
        graph.model,
        **about,
        claims=list(claims),
        **writer.data(),
    )


class _Nodes:
    """The nodes of the proof; what their lower bounds rest on comes before them."""

    def __init__(self, graph: Leakages, closure: Closure) -> None:
        self.graph = graph
        self.measure = graph.measure
        self.nodes: Sequence[Any] = graph.refinement.nodes
        self.names = graph.model.states
        self.closure = closure
        self.upper: dict[int, None] = {}
        self.lower: dict[int, None] = {}
        self.infinite: dict[int, None] = {}
        self.growth: dict[int, tuple[fmpq, fmpq]] = {}
        self.rated = False

    def collect(self, into: dict[int, None], roots: Iterable[int], leaves: frozenset[int]) -> None:
        """Note the nodes that bounds of roots rest on."""

        def after(number: int) -> list[int]:
            if number in leaves and not (into is self.upper and number in self.closure.rests):
                return []
            node = self.nodes[number]
            edges = self.closure.chosen(node) if into is self.lower else node.edges or ()
            return [child for _, _, child in edges]

        into.update(dict.fromkeys(all_reached(roots, after)))

    def _edges(self, number: int) -> Sequence[Edge]:
        """Return the edges that are written: all, or those that the bound from below rests on."""
        node = self.nodes[number]
        return (node.edges or ()) if self._above(number) else self.closure.chosen(node)

    def unending(self, roots: Sequence[int]) -> None:
        """Note why a root is infinite: a way to a node that is, and by how much sums grow there."""
        way = way_out(self.graph.refinement, roots, self.closure)
        self.infinite.update(dict.fromkeys(way))
        end = way[-1]
        if self.nodes[end].edges:
            for group in growing_groups(self.graph.refinement, roots, self.closure):
                if end in group:
                    members = [self.nodes[number] for number in group]
                    self.growth.update(growth_of(self.measure, members, self.nodes, self.closure))
                    self.infinite.update(dict.fromkeys(group))

    def data(self) -> dict[str, object]:
        """Return the nodes, which of them lie on cycles, and the ratios that they use."""
        order, cycles = self._order()
        place = {number: k for k, number in enumerate(order)}
        weights: dict[int, fmpq] = {}
        for group in cycles:
            weights.update(weights_of(self.measure, [self.nodes[number] for number in group], self.closure))
        entries = [self._entry(number, place, weights) for number in order]
        result: dict[str, object] = {"nodes": entries}
        if cycles:
            result["cycles"] = sorted([place[group[0]], place[group[-1]]] for group in cycles)
        ratios = self._ratios()
        if self.rated:
            result["ratios"] = [
                [self.names[i], self.names[j], rational_text(ratio)]
                for (i, j), ratio in sorted(ratios.items())
            ]
        return result

    def _ratios(self) -> Mapping[tuple[int, int], fmpq]:
        ceiling = self.graph.refinement.ceiling
        if isinstance(ceiling, Chord):
            return ceiling.ratios
        domination = self.measure.domination if isinstance(self.measure, Guesses) else None
        return {} if domination is None else domination.ratios

    def _order(self) -> tuple[list[int], list[list[int]]]:
        """Return all nodes that are written, children first, and the cycles that lower bounds rest on."""
        chosen = {**self.upper, **self.lower, **self.infinite}
        bare = {c for number in chosen if self._goes_on(number) for _, _, c in self._edges(number)}
        order = [number for number in bare if number not in chosen]
        cycles = []
        for group, cyclic in self.graph.refinement.reached(list(chosen)):
            inside = [number for number in group if number in chosen]
            resting = [number for number in inside if number in self.lower]
            if cyclic and any(number not in self.closure.lower_leaves for number in resting):
                cycles.append(resting)
                inside = [*resting, *(number for number in inside if number not in self.lower)]
            elif cyclic:
                way = list(self.infinite)
                inside.sort(key=lambda number: -way.index(number) if number in self.infinite else 1)
            order += inside
        return order, cycles

    def _above(self, number: int) -> bool:
        """Tell whether the bound from above rests on what follows."""
        closure = self.closure
        return number in self.upper and (number not in closure.upper_leaves or number in closure.rests)

    def _below(self, number: int) -> bool:
        """Tell whether the bound from below does."""
        return number in self.infinite or (number in self.lower and number not in self.closure.lower_leaves)

    def _goes_on(self, number: int) -> bool:
        return self._above(number) or self._below(number)

    def _entry(self, number: int, place: Mapping[int, int], weights: Mapping[int, fmpq]) -> dict[str, object]:
        node, closure = self.nodes[number], self.closure
        entry: dict[str, object] = {
            "rows": {self.names[state]: [integer_text(x) for x in row] for state, row in node.vector}
        }
        if self._goes_on(number) and node.edges is not None:
            entry |= self._then(number, place)
        if number in self.upper:
            entry["upper"] = rational_text(closure.upper[number], digits=CLAIM_DIGITS)
            if number in closure.rests:
                entry["bound"] = "rest"
            elif number in closure.upper_leaves:
                entry["bound"] = self._bound(node)
        if number in self.lower:
            entry["lower"] = rational_text(closure.lower[number], digits=CLAIM_DIGITS)
            if number in closure.lower_leaves:
                entry["stop"] = True
        if number in weights:
            entry["weight"] = rational_text(weights[number], digits=CLAIM_DIGITS)
        if number in self.infinite:
            entry["lower"] = "inf"
        if number in self.growth:
            entry["grows"] = [rational_text(x, digits=CLAIM_DIGITS) for x in self.growth[number]]
        return entry

    def _then(self, number: int, place: Mapping[int, int]) -> dict[str, object]:
        """Return what follows a node; where there is a choice, by what is chosen."""
        chain, node = self.measure.chain, self.nodes[number]
        then = {
            chain.named(node.vector, option): {self.measure.labels[label]: place[c] for label, _, c in edges}
            for option, edges in enumerate(node.options)
            if self._above(number) or edges is self.closure.chosen(node)
        }
        if not isinstance(chain.model, Interactive):
            return {"then": next(iter(then.values()))}
        if not self._below(number):
            return {"then": then}
        return {"then": then, "ask": chain.named(node.vector, self.closure.choice.get(number, 0))}

    def _bound(self, node: Node) -> object:
        ceiling = self.graph.refinement.ceiling
        if isinstance(node, DivergenceNode) and isinstance(ceiling, Chord) and node.cap is not None:
            most = self.measure.most(node)  # type: ignore[arg-type]
            ends = ceiling.ends(node.vector)
            if (most is None or node.cap < most) and ends[0] is not None:
                self.rated = True
                least = fmpq(0) if ends[1] is None else 1 / ends[1]
                return {"most": rational_text(ends[0]), "least": rational_text(least)}
        if isinstance(node, GuessNode) and node.ruled and isinstance(self.measure, Guesses):
            self.rated = True
            leader, covers = self.measure.leader(node.vector) or (0, {})
            return {
                "ahead": leader,
                "covers": [
                    [row, [[self.names[i], self.names[j], rational_text(w)] for i, j, w in moves]]
                    for row, moves in covers.items()
                    if moves
                ],
            }
        return "columns"
