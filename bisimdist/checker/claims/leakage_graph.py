"""The nodes of a certificate of kind ``leakage``: rules V2 to V7, one for all convex measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.claims.leakage_measures import Enclosure, Guess, Measure, times
from bisimdist.checker.core.chain import ONLY, Chain, read_model
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.information import COVERS, check_cover, check_ratios, nodes_of, stays_below
from bisimdist.checker.core.reading import (
    Amount,
    Counted,
    MalformedCertificate,
    Mass,
    RuleViolation,
    Skew,
    choice,
    common,
    integer,
    item,
    items,
    natural,
    product_work,
    rational,
    shown,
    spend,
)
from bisimdist.checker.core.shape import Bound, Shape, bound, either, key, listed, named, raw, row, truth

Matrix = Mapping[str, Sequence[int]]  # by state its masses in all rows


@dataclass(frozen=True)
class _Edge:
    child: int
    factor: Enclosure
    constant: Enclosure
    scales: tuple[Fraction, ...]


class LeakageGraph:
    """The nodes over the model; nothing of them is believed before `check_nodes`.

    A node with a `lower` of infinity whose children are not is one whose second row is 0, or one that grows.
    """

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        chain: Chain,
        nodes: Sequence[Node],
        cycles: Sequence[tuple[int, int]],
        ratios: Mapping[tuple[str, str], Skew],
        measure: Measure,
        rows: int,
    ) -> None:
        self.chain = chain
        self.measure = measure
        self.nodes = nodes
        self.uppers = [node.upper for node in counted(nodes)]
        self.lowers = [node.lower for node in counted(nodes)]
        self.number = {_key(node.rows): k for k, node in counted(enumerate(nodes))}
        self.ratios = ratios
        self.cycles = cycles
        self.width = rows
        self.seen: list[Fraction | None] = []
        self.starts: list[Fraction] = []
        self.arms: list[dict[str, list[_Edge]]] = []
        self.asked: list[list[_Edge] | None] = []
        """What the bounds from below rest on."""
        self.denominator = common(
            p.denominator
            for rows in counted(chain.arms.values())
            for row in counted(rows.values())
            for p in counted(row.values())
        )

    def check_nodes(self) -> None:
        check_ratios(self.chain, self.ratios)
        for node in counted(self.nodes):
            self._check_rows(node)
            seen = self.seen_at_least(node.rows)
            self.seen.append(seen)
            self.starts.append(node.growth[0] if node.growth else seen or Fraction(0))
        self.arms = [
            {
                action: list(all_of(self._edges(node, action, then)))
                for action, then in counted((node.then or {}).items())
            }
            for node in counted(self.nodes)
        ]
        self.asked = [arms.get(node.ask) for node, arms in counted(zip(self.nodes, self.arms, strict=True))]
        cycle_of = self._cycles()
        for number, node in counted(enumerate(self.nodes)):
            if node.upper is not None:
                self._check_upper(number, node, node.upper)
            if node.growth is not None:
                self._check_growth(number, node, *node.growth)
            if node.lower == INFINITE:
                self._check_infinite(number, node)
            elif isinstance(node.lower, Fraction):
                self._check_lower(number, node, node.lower, cycle_of[number])

    def _cycles(self) -> list[tuple[int, int]]:
        """Return for every node the first and the last one of its cycle: itself where it is on none."""
        found = [(number, number - 1) for number in counted(range(len(self.nodes)))]
        before = -1
        for first, last in counted(self.cycles):
            if not before < first <= last:
                raise RuleViolation("V6: the cycles are not in order, or overlap")
            before = last
            for number in counted(range(first, last + 1)):
                found[number] = (first, last)
        return found

    def _check_rows(self, node: Node) -> None:
        columns = list(all_of(node.rows.values()))
        if len(columns[0]) != self.width:
            raise RuleViolation(f"{node.where}: V2: the measure has another number of rows")
        if any(state not in self.chain.labels for state in counted(node.rows)):
            raise RuleViolation(f"{node.where}: V2: there is a column of no state")
        if not isinstance(self.measure, Guess) and min(all_of(map(min, columns))) < 0:
            raise RuleViolation(f"{node.where}: V2: a mass is negative")

    def totals(self, matrix: Matrix) -> list[int]:
        """Return the sums of the rows."""
        return [sum(all_of(row)) for row in counted(zip(*matrix.values(), strict=True))]

    def _edges(self, node: Node, action: str, then: Mapping[str, int]) -> Iterable[_Edge]:
        """Yield what follows a node and an action, once it is known to be all that follows (rule V3)."""
        seen: dict[str, dict[str, list[int]]] = {}
        rows = self.chain.rows_of(action)
        if not rows:
            raise RuleViolation(f"{node.where}: V3: there is no action {shown(action)}")
        size = self.denominator.bit_length()
        for state, column in counted(node.rows.items()):
            bits = max(all_of(map(int.bit_length, column)))
            spend(product_work(bits + size, size, (5 + len(column)) * len(rows.get(state, {}))))
            for target, p in counted(rows.get(state, {}).items()):
                weight = p.numerator * (self.denominator // p.denominator)
                image = seen.setdefault(self.chain.labels[target], {})
                before = image.get(target, [0] * self.width)
                image[target] = [
                    have + weight * mass for have, mass in counted(zip(before, column, strict=True))
                ]
        for label in counted(sorted(all_of(seen.keys() | then.keys()))):
            image = {
                state: column for state, column in counted(seen.get(label, {}).items()) if any(all_of(column))
            }
            if not image or not all(self.totals(image)[row] for row in counted(self.measure.needed)):
                if label in then:
                    raise RuleViolation(
                        f"{node.where}: V3: nothing that counts follows with the label {shown(label)}"
                    )
                continue
            if label not in then:
                raise RuleViolation(f"{node.where}: V3: the label {shown(label)} is missing")
            child = self.nodes[then[label]].rows
            scales = self._scales(image, child)
            if scales is None:
                raise RuleViolation(f"{node.where}: V3: the label {shown(label)} leads elsewhere")
            factor, constant = self.measure.along(scales, self.totals(child)[0])
            yield _Edge(then[label], factor, constant, scales)

    def _scales(self, image: Matrix, child: Matrix) -> tuple[Fraction, ...] | None:
        """Return by how much the rows of a node have to be scaled to be those of an image; None for none.

        Where only the second of two rows is 0 both values are infinite, and scales do not matter.
        """
        guess = isinstance(self.measure, Guess)
        if not guess and not self.totals(image)[1]:
            return (Fraction(1), Fraction(1)) if self.measure.phi(self.totals(child)) is None else None
        if image.keys() != child.keys():
            return None
        rows = [range(self.width)] if guess else [range(row, row + 1) for row in counted(range(self.width))]
        scales: list[Fraction] = []
        for together in counted(rows):
            found = {
                Counted.ratio(column[row], child[state][row]) if child[state][row] else Fraction(0)
                for row in counted(together)
                for state, column in counted(image.items())
                if column[row] or child[state][row]
            }
            if len(found) != 1:
                return None
            scale = found.pop()
            if scale <= 0:
                return None
            scales += [scale / self.denominator] * len(together)
        return tuple(all_of(scales))

    @staticmethod
    def _sum(
        edges: Sequence[_Edge] | None, values: Sequence[Fraction | str | None], *, up: bool
    ) -> Fraction | None:
        """Return a bound on what edges add up to, given values of nodes; None if one has none."""
        if edges is None:
            return None
        total = Fraction(0)
        for edge in counted(edges):
            value = values[edge.child]
            if not isinstance(value, Fraction):
                return None
            total += times(value, edge.factor, up=up) + edge.constant[up]
        return total

    def _check_upper(self, number: int, node: Node, upper: Fraction) -> None:
        if upper < self._phi(self.totals(node.rows), f"{node.where}: V4"):
            raise RuleViolation(f"{node.where}: V4: the upper bound is less than what is seen by then")
        match node.bound:
            case Leader() as leader:  # this and the next one prove what is seen by then
                self._check_leader(node, leader)
                return
            case "rest":
                self._check_rest(number, node)
                return
            case Chord() as chord:
                proved: Fraction | None = self._chord(node, chord)
            case None:
                proved = self._most(number)
            case _:
                proved = sum(
                    (self._phi(c, f"{node.where}: V5") for c in counted(node.rows.values())), Fraction(0)
                )
        if proved is None or upper < proved:
            raise RuleViolation(
                f"{node.where}: {'V5' if node.bound else 'V4'}: the upper bound is less than what is proved"
            )

    def _most(self, number: int) -> Fraction | None:
        """Return what follows a node adds up to at most, whatever is picked; None where that is not known."""
        most = None
        for action in counted(self.chain.offered(*self.nodes[number].rows)):
            total = self._sum(self.arms[number].get(action), self.uppers, up=True)
            if total is None:
                return None
            most = total if most is None else max(most, total)
        return most

    def _phi(self, masses: Sequence[Fraction | int], where: str) -> Fraction:
        """Return what the function of some masses is at most."""
        value = self.measure.phi(masses)
        if value is None:
            raise RuleViolation(f"{where}: there is no finite value")
        return value[1]

    def _chord(self, node: Node, chord: Chord) -> Fraction:
        if isinstance(self.measure, Guess):
            raise RuleViolation(f"{node.where}: V5: a chord is for pairs")
        left, right = (
            {s: Fraction(column[row]) for s, column in counted(node.rows.items())} for row in (0, 1)
        )
        most, least = Fraction(chord.most), Fraction(chord.least)
        if not stays_below(self.ratios, left, right, most) or (
            least and not stays_below(self.ratios, right, left, 1 / least)
        ):
            raise RuleViolation(f"{node.where}: V5: the ratios do not stay within the chord")
        x, y = self.totals(node.rows)
        if most == least:
            high, low = Fraction(y), Fraction(0)
        else:
            high = (x - least * y) / (most - least)
            low = y - high
        return high * self._phi((most, 1), node.where) + low * self._phi((least, 1), node.where)

    def _check_leader(self, node: Node, leader: Leader) -> None:
        if not isinstance(self.measure, Guess) or leader.ahead > self.width:
            raise RuleViolation(f"{node.where}: V5: there is no such row to be ahead")
        covers = dict(all_of(leader.covers))
        columns = {state: (0, *column) for state, column in counted(node.rows.items())}
        for line in counted(range(self.width + 1)):
            behind = {
                s: Fraction(column[line] - column[leader.ahead]) for s, column in counted(columns.items())
            }
            check_cover(self.ratios, behind, covers.get(line, ()), node.where)

    def _check_rest(self, number: int, node: Node) -> None:
        """Check that from here on totals stay in proportion, and that nothing is lost, whatever is picked."""
        for action in counted(self.chain.offered(*node.rows)):
            self._check_kept(node, self.arms[number].get(action))

    def _check_kept(self, node: Node, edges: Sequence[_Edge] | None) -> None:
        totals = self.totals(node.rows)
        left = [Fraction(total) for total in counted(totals)]
        for edge in counted(edges or ()):
            child = self.nodes[edge.child]
            image = [s * t for s, t in counted(zip(edge.scales, self.totals(child.rows), strict=True))]
            part = next((i / t for i, t in counted(zip(image, totals, strict=True)) if t), Fraction(0))
            resting = child.bound == "rest" and child.upper is not None  # which is checked at that node
            if not resting or part < 0 or image != [part * total for total in counted(totals)]:
                raise RuleViolation(f"{node.where}: V5: it does not come to rest with the node {edge.child}")
            left = [have - i for have, i in counted(zip(left, image, strict=True))]
        if edges is None or any(all_of(left)):
            raise RuleViolation(f"{node.where}: V5: something is lost on the way")

    def _check_lower(self, number: int, node: Node, lower: Fraction, cycle: tuple[int, int]) -> None:
        if node.stop or node.then is None:
            seen = self.seen[number]
            if seen is not None and lower > seen:
                raise RuleViolation(f"{node.where}: V6: the lower bound is more than what is seen by then")
            return
        total = self._sum(self.asked[number], self.lowers, up=False)
        if total is None or lower > total:
            raise RuleViolation(f"{node.where}: V6: the lower bound is more than what follows adds up to")
        inside = self._inside(number, cycle)
        weights = [self.nodes[edge.child].weight for edge in counted(inside)]
        if inside and (
            node.weight is None
            or None in weights
            or node.weight
            <= sum(w * edge.factor[1] for w, edge in counted(zip(weights, inside, strict=True)) if w)
        ):
            raise RuleViolation(f"{node.where}: V6: the lower bound rests on a cycle that nothing leaves")

    def _inside(self, number: int, cycle: tuple[int, int]) -> list[_Edge]:
        """Return the edges that stay on the cycle of a node; all others have to lead to nodes before it."""
        first, last = cycle
        edges = self.asked[number] or ()
        if any(edge.child > last for edge in counted(edges)):
            raise RuleViolation(
                f"{self.nodes[number].where}: V6: it leads to a node that does not come before it"
            )
        return [edge for edge in counted(edges) if edge.child >= first]

    def _check_infinite(self, number: int, node: Node) -> None:
        if node.growth is not None or self.seen[number] is None:
            return
        if not any(
            e.child < number and self.nodes[e.child].lower == INFINITE
            for e in counted(self.asked[number] or ())
        ):
            raise RuleViolation(f"{node.where}: V7: no node before it is infinite")

    def _check_growth(self, number: int, node: Node, start: Fraction, step: Amount) -> None:
        """Check that a bound grows by its step with every round: z + h <= A z + k and h <= A h."""
        if start > (self.seen[number] or 0):
            raise RuleViolation(f"{node.where}: V7: growth begins at more than what is seen by then")
        edges = self.asked[number] or ()
        total = self._sum(self.asked[number], self.starts, up=False)
        grows = sum(
            times(grown[1], edge.factor, up=False)
            for edge in counted(edges)
            if (grown := self.nodes[edge.child].growth)
        )
        if total is None or step > grows or start + step > total:
            raise RuleViolation(f"{node.where}: V7: nothing makes the bound grow")

    def seen_at_least(self, matrix: Matrix) -> Fraction | None:
        """Return what is seen by then, bounded below; None for infinity."""
        value = self.measure.phi(self.totals(matrix))
        return None if value is None else value[0]

    def node(self, matrix: Matrix) -> Node | None:
        number = self.number.get(_key(matrix))
        return None if number is None else self.nodes[number]


def _key(matrix: Matrix) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple(all_of(sorted((state, tuple(all_of(column))) for state, column in counted(matrix.items()))))


INFINITE = "inf"


class Claim(Shape):
    """That a measure of some states lies between two bounds; with a prior the states are secrets."""

    states: list[str] = key(listed(item))
    prior: list[Fraction] | None = key(listed(rational), default=None)
    lower: Bound = key(bound)
    upper: Bound = key(bound)


class Chord(Shape):
    """That the ratio of the two rows lies between two numbers, whatever follows."""

    most: Amount = key(Amount.by("V5"))
    least: Mass = key(Mass.by("V5"), default=Mass(0))


class Leader(Shape):
    """That a row (0 for the row of zeros) stays ahead of all others, whatever follows."""

    ahead: int = key(natural)
    covers: list[tuple[int, list[tuple[str, str, Amount]]]] = key(listed(row(natural, COVERS)))


def _own_bound(value: object, where: str) -> Chord | Leader | str:
    if isinstance(value, str):
        return choice(value, where, ("columns", "rest"))
    found: Chord | Leader = either(lambda bound: "most" in bound, Chord, Leader)(value, where)
    return found


def _lower(value: object, where: str) -> Fraction | str:
    return INFINITE if value == INFINITE else rational(value, where)


class Node(Shape):
    """Masses with what follows them and what is claimed of their value.

    With `growth`, a bound and by how much it grows from one round to the next.
    """

    rows: Mapping[str, list[int]] = key(named(listed(integer)))
    then: Mapping[str, Mapping[str, int]] | None = key(
        lambda value, where: {ONLY: named(natural)(value, where)}, default=None
    )
    upper: Fraction | None = key(rational, default=None)
    bound: Chord | Leader | str | None = key(_own_bound, default=None)
    lower: Fraction | str | None = key(_lower, default=None)
    stop: bool = key(truth, default=False)
    weight: Amount | None = key(Amount.by("V6"), default=None)
    growth: tuple[Fraction, Amount] | None = key(row(rational, Amount.by("V7")), "grows", default=None)
    ask: str = ONLY

    def children(self) -> list[int]:
        """Return the numbers of what follows."""
        return [child for arm in counted((self.then or {}).values()) for child in counted(arm.values())]

    def __post_init__(self) -> None:
        """Demand rows of one length."""
        lengths = {len(column) for column in counted(self.rows.values())}
        if len(lengths) != 1 or 0 in lengths:
            raise MalformedCertificate(f"the rows of {self.where} are empty, or not of one length")


class AskingNode(Node):
    """A node where somebody asks: what follows by what is asked, and what the bound from below rests on."""

    then: Mapping[str, Mapping[str, int]] | None = key(named(named(natural)), default=None)
    ask: str = key(item, default=ONLY)


class Document(Shape):
    """A certificate of kind ``leakage``."""

    claims: list[Claim] = key(listed(Claim.read, "claim"))
    measure: str = key(item)
    gains: Mapping[str, Mapping[str, Fraction]] | None = key(named(named(rational)), default=None)
    model: Any = key(read_model)
    digest: str = key(item)
    cycles: list[tuple[int, int]] = key(listed(row(natural, natural)), default_factory=list)
    proof: list[Any] = key(items, "nodes")
    ratios: Any = key(raw, default_factory=list)

    def nodes(self) -> list[Node]:
        """Read the nodes, which the cycles name as well."""
        asking = isinstance(self.model, Chain) and self.model.interactive
        read = AskingNode.read if asking else Node.read
        nodes = nodes_of(read, self.proof, Node.children)
        for number in (end for cycle in counted(self.cycles) for end in counted(cycle)):
            natural(number, "an end of a cycle", len(nodes))
        return nodes
