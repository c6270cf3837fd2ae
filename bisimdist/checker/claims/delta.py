"""Certificates of kind ``delta``: two-sided bounds on the true delta (docs/certificates/delta.md).

The rules are named D1 ... D8 and C1 as in the specification; why they prove the claims is in
``docs/theory/delta.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bisimdist.checker.claims.delta_document import (
    Claim,
    Document,
    Event,
    FixedDocument,
    Node,
    OwnBound,
    read_document,
)
from bisimdist.checker.core.chain import Chain, given_chain, own_chain, read_asked
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.information import RATIOS, check_cover, check_ratios
from bisimdist.checker.core.reading import (
    LOOK,
    Counted,
    RuleViolation,
    Skew,
    common,
    hold,
    product_work,
    shown,
    spend,
)
from bisimdist.checker.core.shape import CheckReport, judged
from bisimdist.checker.core.words import Masses, WholeRow, whole_row

if TYPE_CHECKING:
    from bisimdist.checker.claims.delta_ceiling import Ceiling

ACCEPT = "accept"
REJECT = "reject"
Place = tuple[int | str, str]  # a node of an event, and the state whose label it reads next


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``delta``."""
    whole = read_document(document)
    given = given_chain(model, read_asked)
    said = (claim.said(whole.alpha) for claim in counted(whole.claims))
    return judged(said, lambda: _check(whole, given))


def _check(whole: Document, given: Chain | None) -> None:
    lower, upper = (
        Skew.of(alpha, f"D2: alpha of the {side} bounds")
        for side, alpha in (("lower", whole.alpha.lower), ("upper", whole.alpha.upper))
    )
    nodes = whole.nodes()
    proved = None if whole.ceiling is None else _part("ceiling").read_ceiling(whole)
    ratios = RATIOS(whole.ratios, "the ratios")
    chain = own_chain(whole.model, whole.digest, given, read_asked)
    if upper > lower:
        raise RuleViolation("D2: alpha of the upper bounds is more than that of the lower bounds")
    kind = _part("sequences").Blind if isinstance(whole, FixedDocument) else DeltaGraph
    if proved is not None:
        _part("ceiling").check_ceiling(chain, *proved)
    check_ratios(chain, ratios)
    graph = kind(chain, nodes, (lower, upper), proved and proved[0], ratios)
    graph.check_nodes()
    for claim in counted(whole.claims):
        where = f"{claim.where}, [{shown(claim.source)}, {shown(claim.target)}]"
        chain.known((claim.source, claim.target), f"{where}: C1")
        _check_claim(graph, claim, where)


def _part(name: str) -> Any:
    """Return rules that few certificates open."""
    return import_module(f"bisimdist.checker.claims.delta_{name}")


def _check_claim(graph: DeltaGraph, claim: Claim, where: str) -> None:
    if not 0 <= claim.lower <= claim.upper <= 1:
        raise RuleViolation(f"{where}: C1: expected 0 <= lower <= upper <= 1")
    s, t = claim.source, claim.target
    ways = [(t, s), (s, t)]
    if claim.upper < 1:
        for pair in counted([(s, t)] if graph.chain.mirrored(s, t) else ways):
            if not graph.at_most(pair, claim.upper, where):
                raise RuleViolation(f"{where}: C1: the upper bound is less than what the nodes prove")
    if claim.lower > 0:
        if claim.direction not in ways:
            raise RuleViolation(f"{where}: C1: the direction is not one of the pair")
        if graph.gained(claim, claim.direction, where) < claim.lower:
            raise RuleViolation(f"{where}: C1: the lower bound is more than what is proved")


def _event_gain(
    graph: DeltaGraph, claim: Claim, event: Event, direction: tuple[str, str], where: str
) -> Fraction:
    """Check the probabilities of an event, and return what it gains (rule D8)."""
    if not isinstance(event.root, int):
        return Fraction(0)  # it happens always, or never
    if claim.probabilities is None:
        raise RuleViolation(f"{where}: D8: the event has no probabilities")
    _require_no_cycle(event, where)
    for state, probability in counted(zip(direction, claim.probabilities, strict=True)):
        if _probability(graph.chain, event, state) != probability:
            raise RuleViolation(f"{where}: D8: the probability of the event from {shown(state)} is another")
    return claim.probabilities[0] - graph.alpha_lower * claim.probabilities[1]


def _require_no_cycle(event: Event, where: str) -> None:
    incoming = [0] * len(event.nodes)
    for node in counted(event.nodes):
        for target in counted(node.then.values()):
            if isinstance(target, int):
                incoming[target] += 1
    order = [number for number, count in counted(enumerate(incoming)) if not count]
    for number in counted(order):
        for target in counted(event.nodes[number].then.values()):
            if isinstance(target, int):
                incoming[target] -= 1
                if not incoming[target]:
                    order.append(target)
    if len(order) < len(event.nodes):
        raise RuleViolation(f"{where}: D8: the event has a cycle")


def _probability(chain: Chain, event: Event, start: str) -> Fraction:
    """Return the probability of an event without cycles: that of being led to where it accepts."""
    done: Place = ACCEPT, ""
    rows: dict[Place, WholeRow[Place]] = {done: whole_row({done: Fraction(1)})}

    def row(place: Place) -> WholeRow[Place] | None:
        """Return what follows when a node reads the label of a state."""
        if place not in rows:
            node, state = place
            target = event.nodes[int(node)].then.get(chain.labels[state], REJECT)
            if target == REJECT:
                return None
            if target == ACCEPT:
                rows[place] = whole_row({done: Fraction(1)})
            else:
                following = chain.rows_of(event.nodes[int(target)].ask).get(state)
                if following is None:
                    return None  # it asks what is not on offer: it ends, not convinced
                rows[place] = whole_row({(target, t): p for t, p in counted(following.items())})
        return rows[place]

    masses: Masses[Place] = Masses.of({(event.root, start): Fraction(1)})
    while masses.parts.keys() - {done}:
        spend(LOOK)
        masses = masses.after(row)
    return masses.total()


@dataclass(frozen=True)
class _Edge:
    factor: Fraction
    child: int


class DeltaGraph:
    """The nodes of a certificate over the model; nothing of them is believed before `check_nodes`."""

    def __init__(
        self,
        chain: Chain,
        nodes: Sequence[Node],
        alphas: tuple[Skew, Skew],
        ceiling: Ceiling | None,
        ratios: Mapping[tuple[str, str], Skew],
    ) -> None:
        self.chain = chain
        self.nodes = nodes
        self.alpha_lower, self.alpha_upper = alphas
        self.number = {key_of(node.vector): k for k, node in counted(enumerate(nodes))}
        self.ceiling = ceiling
        self.ratios = ratios
        self.denominator = common(
            p.denominator
            for rows in counted(chain.arms.values())
            for row in counted(rows.values())
            for p in counted(row.values())
        )
        self.weights: dict[tuple[str, str], list[tuple[str, int]]] = {}

    def check_nodes(self) -> None:
        """Check every node with its bounds (rules D3 to D7)."""
        for node in counted(self.nodes):
            self._check_vector(node)
        edges = [
            {action: self._edges(node, action, arm) for action, arm in counted((node.then or {}).items())}
            for node in counted(self.nodes)
        ]
        asked = [arms.get(node.ask, []) for node, arms in counted(zip(self.nodes, edges, strict=True))]
        for number, node in counted(enumerate(self.nodes)):
            if node.upper is not None:
                self._check_upper(node, node.upper, edges[number])
            if node.lower is not None:
                self._check_lower(node, node.lower, asked[number])
        self._check_progress(asked)

    def _check_vector(self, node: Node) -> None:
        for state, value in counted(node.vector.items()):
            if state not in self.chain.labels or not value:
                raise RuleViolation(f"{node.where}: D3: {shown(state)} is no state, or its entry is 0")
        if len({self.chain.labels[state] for state in counted(node.vector)}) > 1:
            raise RuleViolation(f"{node.where}: D3: the states carry different labels")

    def _edges(self, node: Node, action: str, then: Mapping[str, int]) -> list[_Edge]:
        """Return what follows a node and an action, once it is known to be all that follows (rule D4)."""
        rows = self.chain.rows_of(action)
        seen: dict[str, dict[str, int]] = {}
        for state, value in counted(node.vector.items()):
            row = rows.get(state, {})
            spend(product_work(value.bit_length(), self.denominator.bit_length(), 5 * len(row)))
            for target, weight in counted(self._weights(action, state, row)):
                into = seen.setdefault(self.chain.labels[target], {})
                into[target] = into.get(target, 0) + value * weight
        result = []
        for label in counted(sorted(all_of(seen.keys() | then.keys()))):
            image = {state: value for state, value in counted(seen.get(label, {}).items()) if value}
            if label not in then:
                if image:
                    raise RuleViolation(f"{node.where}: D4: the label {shown(label)} is missing")
                continue
            child = self.nodes[then[label]].vector
            if image.keys() != child.keys():
                raise RuleViolation(f"{node.where}: D4: the label {shown(label)} leads elsewhere")
            factors = {Counted.ratio(value, child[state]) for state, value in counted(image.items())}
            factor, *others = factors
            if others or factor < 0:
                raise RuleViolation(f"{node.where}: D4: the label {shown(label)} leads elsewhere")
            result.append(_Edge(factor / self.denominator, then[label]))
        return result

    def _weights(self, action: str, state: str, row: Mapping[str, Fraction]) -> list[tuple[str, int]]:
        """Return the row of an action and a state in integers over the denominator."""
        if (action, state) not in self.weights:
            hold(self.denominator.bit_length() * len(row))
            whole = [(target, int(p * self.denominator)) for target, p in counted(row.items())]
            self.weights[action, state] = whole
        return self.weights[action, state]

    def _check_upper(self, node: Node, upper: Fraction, edges: Mapping[str, Sequence[_Edge]]) -> None:
        if upper < max(0, sum(all_of(node.vector.values()))):
            raise RuleViolation(f"{node.where}: D5: the upper bound is less than all continuations gain")
        if node.bound is not None:
            if self._own_bound(node, node.bound) > upper:
                raise RuleViolation(f"{node.where}: D6: the coupling costs more than the upper bound")
            return
        for action in counted(self.chain.offered(*node.vector)):
            if action not in edges:
                raise RuleViolation(f"{node.where}: D10: nothing is said of the action {shown(action)}")
            total = Fraction(0)
            for edge in counted(edges[action]):
                above = self.nodes[edge.child].upper
                if above is None:
                    raise RuleViolation(f"{node.where}: D5: it leads to a node without upper bound")
                total += edge.factor * above
            if total > upper:
                raise RuleViolation(f"{node.where}: D5: the upper bound is less than what follows adds up to")

    def _own_bound(self, node: Node, bound: OwnBound) -> Fraction:
        """Return what the coupling of a node proves (rule D6)."""
        whole = Fraction(sum(all_of(node.vector.values())) if bound.complement else 0)
        if bound.covers is not None:
            sign = -1 if bound.complement else 1
            masses = {state: Fraction(sign * value) for state, value in counted(node.vector.items())}
            check_cover(self.ratios, masses, bound.covers, node.where)
            return whole
        if not bound.moves and not bound.given_up and not bound.complement:
            return Fraction(sum(max(0, value) for value in counted(node.vector.values())))
        if self.ceiling is None:
            raise RuleViolation(f"{node.where}: D6: there is a coupling, but no ceiling")
        sign = -1 if bound.complement else 1
        surplus = {state: Fraction(-sign * value) for state, value in counted(node.vector.items())}
        cost = Fraction(0)
        for i, j, amount in counted(bound.moves or ()):
            if i == j or i not in self.chain.labels:  # what is moved to no state leaves it for none
                raise RuleViolation(f"{node.where}: D6: a move is not one between two states")
            surplus[i] = surplus.get(i, Fraction(0)) + amount
            surplus[j] = surplus.get(j, Fraction(0)) - self.ceiling.alpha * amount
            cost += amount * self.ceiling.bounds.get((i, j), Fraction(1))
        for i, amount in counted(bound.given_up or ()):
            if i not in self.chain.labels:
                raise RuleViolation(f"{node.where}: D6: mass is given up at {shown(i)}, which is no state")
            surplus[i] = surplus.get(i, Fraction(0)) + amount
            cost += amount
        if min(all_of(surplus.values())) < 0:
            raise RuleViolation(f"{node.where}: D6: the coupling carries less away than it has to")
        return cost + whole

    def _check_lower(self, node: Node, lower: Fraction, edges: Sequence[_Edge]) -> None:
        if node.stop or node.then is None:
            if lower > max(0, sum(all_of(node.vector.values()))):
                raise RuleViolation(f"{node.where}: D7: the lower bound is more than all continuations gain")
            return
        total = Fraction(0)
        for edge in counted(edges):
            below = self.nodes[edge.child].lower
            if below is None:
                raise RuleViolation(f"{node.where}: D7: it leads to a node without lower bound")
            total += edge.factor * below
        if lower > total:
            raise RuleViolation(f"{node.where}: D7: the lower bound is more than what follows adds up to")

    def _check_progress(self, edges: Sequence[Sequence[_Edge]]) -> None:
        """Check that every lower bound leads to a leaf, or to a node where masses cancel (rule D7)."""
        mass = [sum(all_of(map(abs, node.vector.values()))) for node in counted(self.nodes)]
        before: dict[int, list[int]] = {}
        good = []
        for number, node in counted(enumerate(self.nodes)):
            if (
                node.stop
                or sum(edge.factor * mass[edge.child] for edge in counted(edges[number])) < mass[number]
            ):
                good.append(number)
            for edge in counted(edges[number]):
                before.setdefault(edge.child, []).append(number)
        proved = set(all_of(good))
        while good:
            spend(LOOK)
            for number in counted(before.get(good.pop(), ())):
                if number not in proved:
                    proved.add(number)
                    good.append(number)
        for number, node in counted(enumerate(self.nodes)):
            if node.lower is not None and number not in proved:
                raise RuleViolation(f"{node.where}: D7: the lower bound rests on a cycle that nothing leaves")

    def _root(self, pair: tuple[str, str], alpha: Fraction) -> dict[str, int]:
        vector = {pair[0]: alpha.denominator}
        vector[pair[1]] = vector.get(pair[1], 0) - alpha.numerator
        factor = math.gcd(*vector.values())
        return {state: value // factor for state, value in counted(vector.items()) if value}

    def _ways(self, pair: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the directions of equal value that may be proved instead of one."""
        # at alpha = 1 an event gains in one direction what its complement gains in the other
        return (pair, pair[::-1]) if self.alpha_upper == 1 else (pair,)

    def upper(self, pair: tuple[str, str]) -> Fraction:
        """Return what is proved of one direction from above."""
        if pair[0] == pair[1]:
            return Fraction(0)
        for chosen in counted(self._ways(pair)):
            number = self.number.get(key_of(self._root(chosen, self.alpha_upper)))
            above = None if number is None else self.nodes[number].upper
            if above is not None:
                return above / self.alpha_upper.denominator
        return Fraction(1)

    def at_most(self, pair: tuple[str, str], bound: Fraction, where: str) -> bool:
        """Tell whether one direction is proved to be at most a bound."""
        del where
        return self.upper(pair) <= bound

    def gained(self, claim: Claim, pair: tuple[str, str], where: str) -> Fraction:
        """Return what is proved of one direction from below, by an event where there is one."""
        if claim.event is None:
            return self.lower(pair)
        return _event_gain(self, claim, claim.event, pair, where)

    def lower(self, pair: tuple[str, str]) -> Fraction:
        """Return what is proved of one direction from below."""
        if self.chain.labels[pair[0]] != self.chain.labels[pair[1]]:
            return Fraction(1)
        number = self.number.get(key_of(self._root(pair, self.alpha_lower)))
        below = None if number is None else self.nodes[number].lower
        return Fraction(0) if below is None else below / self.alpha_lower.denominator


def key_of(vector: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return a vector as its node is found by."""
    return tuple(all_of(sorted(all_of(vector.items()))))
