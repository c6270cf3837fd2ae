"""Writes the proof of two-sided bounds on delta as plain data (docs/certificates/delta.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from flint import fmpq, fmpz

from bisimdist.distances.bound.certificate import CLAIM_DIGITS, certificate_of
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.strategy import Values
from bisimdist.faces.written.frame import frame
from bisimdist.faces.written.numbers import integer_text, rational_text
from bisimdist.models.interactive import Interactive
from bisimdist.models.reach import all_reached
from bisimdist.privacy.delta.answer import WitnessEvent
from bisimdist.privacy.engine.ceiling import Ceiling
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.directions import PairQuestion, TwoSided
from bisimdist.privacy.engine.gain import GainNode
from bisimdist.privacy.engine.measure import Edge

Pair = tuple[int, int]


def delta_certificate(  # noqa: PLR0913, PLR0917
    two: TwoSided,
    asked: Sequence[Pair],
    questions: Sequence[PairQuestion],
    closure: Closure,
    bounds: Sequence[tuple[fmpq, fmpq, WitnessEvent]],
    sequences: Mapping[int, Sequence[str]] | None = None,
) -> dict[str, object]:
    """Return the certificate of bounds (lower, upper, event) on the pairs that were asked.

    Only the nodes that the bounds rest on are written. With `sequences`, by root, the claims are about what
    is fixed beforehand.
    """
    model = two.model
    writer = _Nodes(two, closure)
    claims = []
    for pair, question, (lower, upper, found) in zip(asked, questions, bounds, strict=True):
        claim: dict[str, object] = {
            "from": model.states[pair[0]],
            "to": model.states[pair[1]],
            "lower": rational_text(lower, digits=CLAIM_DIGITS),
            "upper": rational_text(upper, digits=CLAIM_DIGITS),
        }
        cyclic = found.event.order is None
        if lower > 0:
            claim["direction"] = [found.source, found.target]
        forward = found.source == model.states[pair[0]]
        directed = question.pair if forward else question.pair[::-1]
        roots = [root.node for direction, root in question.below if direction == directed]
        if lower > 0 and sequences is not None:
            claim["sequence"] = [action for root in roots for action in sequences[root]]
        elif lower > 0 and not cyclic:
            claim["event"] = found.event.data()
            claim["probabilities"] = [
                rational_text(found.probability_from, digits=CLAIM_DIGITS),
                rational_text(found.probability_to, digits=CLAIM_DIGITS),
            ]
        claims.append(claim)
        if upper < 1:
            writer.above(root.node for _, root in question.above)
        if lower > 0 and cyclic:
            writer.below(roots)
    return {
        **frame(model, "delta"),
        **({} if sequences is None else {"fixed": True}),
        "alpha": {"lower": rational_text(two.alpha_lower), "upper": rational_text(two.alpha_upper)},
        "claims": claims,
        **writer.data(),
    }


class _Nodes:
    """The nodes of the proof, numbered as they are written."""

    def __init__(self, two: TwoSided, closure: Closure) -> None:
        self.measure = two.measure
        self.refinement = two.refinement
        self.names = two.model.states
        self.closure = closure
        self.upper: dict[int, None] = {}
        self.lower: dict[int, None] = {}
        self.covered = False

    def above(self, roots: Iterable[int]) -> None:
        self._collect(self.upper, roots, self.closure.upper_leaves, lambda node: node.edges or ())

    def below(self, roots: Iterable[int]) -> None:
        self._collect(self.lower, roots, self.closure.lower_leaves, self.closure.chosen)

    def _collect(
        self,
        into: dict[int, None],
        roots: Iterable[int],
        leaves: frozenset[int],
        edges: Callable[[GainNode], tuple[Edge, ...]],
    ) -> None:
        def after(number: int) -> list[int]:
            return [child for _, _, child in edges(self.refinement.nodes[number]) if number not in leaves]

        into.update(dict.fromkeys(all_reached(roots, after)))

    def data(self) -> dict[str, object]:
        """Return the nodes, and the bounds on pairs that their couplings use."""
        chosen = list(dict.fromkeys([*self.upper, *self.lower]))
        place = {number: k for k, number in enumerate(chosen)}
        used: set[Pair] = set()
        entries = [self._entry(number, place, used) for number in chosen]
        result: dict[str, object] = {"nodes": entries}
        domination = self.measure.domination
        if self.covered and domination is not None:
            result["ratios"] = [
                [self.names[i], self.names[j], rational_text(ratio)]
                for (i, j), ratio in sorted(domination.ratios.items())
            ]
        ceiling = self.refinement.ceiling
        if used and isinstance(ceiling, Ceiling) and ceiling.prove is not None:
            result["ceiling"] = _ceiling(ceiling.prove(sorted(used)), sorted(used))
        return result

    def _entry(self, number: int, place: dict[int, int], used: set[Pair]) -> dict[str, object]:
        node = self.refinement.nodes[number]
        labels = self.measure.labels
        entry: dict[str, object] = {
            "vector": {self.names[state]: integer_text(value) for state, value in node.vector}
        }
        above = number in self.upper and number not in self.closure.upper_leaves
        below = number in self.lower and number not in self.closure.lower_leaves
        if (above or below) and node.edges is not None:
            chain = self.measure.chain
            then = {
                chain.named(node.vector, option): {labels[label]: place[child] for label, _, child in edges}
                for option, edges in enumerate(node.options)
                if above or edges is self.closure.chosen(node)
            }
            asked = isinstance(chain.model, Interactive)
            entry["then"] = then if asked else next(iter(then.values()))
            if asked and below:
                entry["ask"] = chain.named(node.vector, self.closure.choice.get(number, 0))
        if number in self.upper:
            entry["upper"] = rational_text(self.closure.upper[number])
            if node.ended:
                entry["then"] = {}
            elif number in self.closure.upper_leaves:
                entry["bound"] = self._bound(number, used)
        if number in self.lower:
            entry["lower"] = rational_text(self.closure.lower[number])
            if number in self.closure.lower_leaves:
                entry["stop"] = True
        return entry

    def _bound(self, number: int, used: set[Pair]) -> dict[str, object]:
        """Return the coupling behind the own bound of a node; without any, all positive mass is given up."""
        node = self.refinement.nodes[number]
        ceiling = self.refinement.ceiling
        if node.ruled and self.measure.domination is not None:
            complement = node.total > 0
            moves = self.measure.domination.cover(node.vector, -1 if complement else 1)
            self.covered = True
            return {
                "complement": complement,
                "covers": [[self.names[i], self.names[j], rational_text(w)] for i, j, w in moves or ()],
            }
        if node.settled or node.cap is None or not isinstance(ceiling, Ceiling) or ceiling.prove is None:
            return {}
        if self.closure.upper[number] >= node.positive:
            return {}
        found = ceiling.coupling(node.vector)
        used.update(found.moves)
        return {
            "complement": found.complement,
            "moves": [
                [self.names[i], self.names[j], rational_text(w)] for (i, j), w in sorted(found.moves.items())
            ],
            "given_up": [[self.names[i], rational_text(w)] for i, w in sorted(found.given_up.items())],
        }


def _ceiling(proof: Proof, used: Sequence[Pair]) -> dict[str, object]:
    """Return the bounds on pairs of states that couplings use (1 where there is none), and their proof."""
    space = proof.question.functional.space
    asked = tuple(pair for pair in used if pair in space.numbers)
    whole = certificate_of(
        replace(
            proof,
            question=replace(proof.question, asked=asked),
            lower_values=Values([fmpz(0)] * len(space), fmpz(1)),
        )
    )
    names = proof.question.model.states
    return {
        "alpha": whole["alpha"],
        "distance": whole["distance"],
        "bounds": [
            [names[i], names[j], rational_text(proof.upper((i, j)), digits=CLAIM_DIGITS)] for i, j in asked
        ],
        "upper": whole["upper"],
    }
