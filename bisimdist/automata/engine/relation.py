"""Is a given relation a bisimulation? If not, which clause of which triple fails, in words.

Source: XCL14 Example 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flint import fmpq

from bisimdist.exact.rational import format_rational, shorten_rational
from bisimdist.lp.flows import perfect_flow
from bisimdist.models.io.document import MapNode, Node
from bisimdist.models.io.expect import check_keys, expect_list, expect_map, expect_number, expect_text
from bisimdist.models.io.json_or_yaml import load_document
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA, Transition, outgoing

Triple = tuple[int, int, fmpq]
SHOWN = 4


@dataclass(frozen=True, slots=True)
class Relation:
    """A finite relation of triples (s, t, ratio), the ratio being e to the number of the definition."""

    triples: tuple[Triple, ...]  # indices of states, and positive ratios
    # e to the bound that the ratios must keep; None for the least that they do keep
    ratio: fmpq | None = None

    def least_ratio(self) -> fmpq:
        """Return the largest ratio of a triple, or of its inverse; 1 where there is none."""
        return max((max(c, 1 / c) for _, _, c in self.triples), default=fmpq(1))


@dataclass(frozen=True, slots=True)
class Violation:
    """A clause that fails."""

    triple: Triple
    # ``"bound"``, ``"left"`` (a transition of s is not answered) or ``"right"`` (one of t is not)
    clause: str
    text: str


@dataclass(frozen=True, slots=True)
class RelationVerdict:
    """Whether a relation is a bisimulation."""

    ratio: fmpq  # e to the epsilon of the bisimulation that was asked for
    # every clause that fails, triple by triple; empty if the relation is a bisimulation
    violations: tuple[Violation, ...]
    # the pairs (s, t) whose distance it bounds: those with a triple (s, t, 1)
    proved: tuple[tuple[int, int], ...]
    supplied: tuple[Triple, ...] = ()  # triples (u, u, c) that were supplied, where that was allowed

    @property
    def holds(self) -> bool:
        """Whether no clause fails."""
        return not self.violations


def check_relation(
    automaton: PA, kind: str, relation: Relation, *, identity: bool = False
) -> RelationVerdict:
    """Check every clause of the definition for every triple.

    ``kind``: ``"accumulative"`` or ``"amortised"``.
    ``identity``: whether triples (u, u, c) within the bound are supplied. A state answers a transition by the
        same one and every successor by itself, so the relation with them is a bisimulation
        (docs/theory/metric.md).
    Source: XCL14.

    >>> half, third = fmpq(1, 2), fmpq(1, 3)
    >>> steps = (Transition(0, "a", ((2, half),)), Transition(1, "a", ((2, third),)))
    >>> automaton = PA(("s", "t", "u"), steps)
    >>> check_relation(automaton, "amortised", Relation(((0, 1, fmpq(1)), (2, 2, fmpq(3, 2))))).holds
    True
    >>> print(check_relation(automaton, "amortised", Relation(((0, 1, fmpq(1)),))).violations[0].text)
    s --a--> {u: 1/2} is not answered: t --a--> {u: 1/3} would need (u, u, 3/2), which is not in the relation
    """
    ratio = relation.least_ratio() if relation.ratio is None else relation.ratio
    checker = _Checker(automaton, kind, frozenset(relation.triples), ratio, identity=identity)
    unique = dict.fromkeys(relation.triples)
    violations = tuple(violation for triple in unique for violation in checker.violations(triple))
    proved = tuple(dict.fromkeys((s, t) for s, t, c in unique if c == 1))
    return RelationVerdict(ratio, violations, proved, tuple(checker.supplied))


class _Checker:
    def __init__(
        self, automaton: PA, kind: str, triples: frozenset[Triple], ratio: fmpq, *, identity: bool
    ) -> None:
        self.names = automaton.states
        self.steps = outgoing(automaton)
        self.accumulative = kind == "accumulative"
        self.triples = triples
        self.ratio = ratio
        self.least = fmpq(1) if self.accumulative else 1 / ratio
        self.identity = identity
        self.supplied: dict[Triple, None] = {}

    def _has(self, triple: Triple) -> bool:
        if triple in self.triples:
            return True
        if not self.identity or triple[0] != triple[1] or not self.least <= triple[2] <= self.ratio:
            return False
        self.supplied[triple] = None
        return True

    def violations(self, triple: Triple) -> Iterator[Violation]:
        s, t, credit = triple
        if not self.least <= credit <= self.ratio:
            yield Violation(
                triple,
                "bound",
                f"its ratio is not between {format_rational(self.least)} and {format_rational(self.ratio)}",
            )
        for clause, mine, other in (("left", s, t), ("right", t, s)):
            for step in self.steps[mine]:
                reasons = []
                for answer in self.steps[other]:
                    if answer.action != step.action:
                        continue
                    rows = (step.row, answer.row) if clause == "left" else (answer.row, step.row)
                    reason = self._fails(*rows, credit)
                    if reason is None:
                        break
                    reasons.append(f"{self._shown(answer)} {reason}")
                else:
                    why = "; ".join(reasons) or f"{self.names[other]} has no transition {step.action}"
                    yield Violation(triple, clause, f"{self._shown(step)} is not answered: {why}")

    def _shown(self, step: Transition) -> str:
        entries = [f"{self.names[t]}: {format_rational(p)}" for t, p in step.row[:SHOWN]]
        if len(step.row) > SHOWN:
            entries.append(f"{len(step.row) - SHOWN} more")
        return f"{self.names[step.source]} --{step.action}--> {{{', '.join(entries)}}}"

    def _fails(self, ours: Row, theirs: Row, credit: fmpq) -> str | None:
        """Return why no bijection of two supports keeps inside the relation, or None where one does."""
        if len(ours) != len(theirs):
            return f"has a support of another size ({len(ours)} against {len(theirs)}): there is no bijection"
        if self.accumulative:
            return self._fails_accumulative(ours, theirs, credit)
        wanted = [[(u, v, credit * p / q) for v, q in theirs] for u, p in ours]
        edges = [(i, j) for i, row in enumerate(wanted) for j, triple in enumerate(row) if self._has(triple)]
        if perfect_flow([1] * len(ours), [1] * len(theirs), edges) is not None:
            return None
        for row in wanted:
            if not any(map(self._has, row)):
                return self._missing(row)
        return "has no bijection all triples of which are in the relation"

    def _fails_accumulative(self, ours: Row, theirs: Row, credit: fmpq) -> str | None:
        sizes = [[max(p / q, q / p) for _, q in theirs] for _, p in ours]
        counts = [1] * len(ours)
        if not ours:
            return None
        costs = sorted({size for row in sizes for size in row})
        for cost in costs:
            edges = [
                (i, j)
                for i, row in enumerate(sizes)
                for j, size in enumerate(row)
                if size <= cost and self._has((ours[i][0], theirs[j][0], credit * cost))
            ]
            # the largest term must be the cost itself, so one of its pairs has to be used
            for i, j in [(i, j) for i, j in edges if sizes[i][j] == cost]:
                kept = [(k, m) for k, m in edges if (k == i) == (m == j)]
                if perfect_flow(counts, counts, kept) is not None:
                    return None
        if len(ours) == 1:
            return self._missing([(ours[0][0], theirs[0][0], credit * costs[0])])
        listed = ", ".join(format_rational(credit * cost) for cost in costs[:SHOWN])
        more = f" or {len(costs) - SHOWN} more" if len(costs) > SHOWN else ""
        return f"has no bijection whose triples (all with the ratio {listed}{more}) are in the relation"

    def _missing(self, row: Sequence[Triple]) -> str:
        listed = [
            f"({self.names[u]}, {self.names[v]}, {format_rational(c)})"
            for u, v, c in dict.fromkeys(row[:SHOWN])
        ]
        if len(row) == 1:
            return f"would need {listed[0]}, which is not in the relation"
        more = f" or {len(row) - SHOWN} more" if len(row) > SHOWN else ""
        return f"would need one of {', '.join(listed)}{more}, none of which is in the relation"


def load_relation(source: str | Path, automaton: PA) -> Relation:
    """Read a relation from a JSON or YAML file.

    The file holds ``triples``, a list of ``[s, t, ratio]``, and optionally ``ratio``, the bound.
    """
    return load_document(source, lambda root: _relation(root, automaton), expected="a relation")


def _relation(root: Node, automaton: PA) -> Relation:
    document: MapNode = expect_map(root, "the relation", "a mapping with the key 'triples'")
    check_keys(document, "", required=("triples",), optional=("ratio", "kind"))
    example = "a list of triples, such as [[s, t, 3/2]]"
    listed = expect_list(document.entries["triples"], "triples", example)
    position = {name: index for index, name in enumerate(automaton.states)}
    triples = tuple(_triple(node, number, position) for number, node in enumerate(listed.items, 1))
    bound = None
    if "ratio" in document.entries:
        bound = _number(document.entries["ratio"], "ratio")
        if bound < 1:
            raise document.entries["ratio"].error("the ratio is less than 1", "ratio")
    return Relation(triples, bound)


def _triple(node: Node, number: int, position: dict[str, int]) -> Triple:
    place = f"triple number {number}"
    entries = expect_list(node, place, "a triple such as [s, t, 3/2]").items
    if len(entries) != 3:
        raise node.error(f"it has {len(entries)} entries; expected two states and a ratio", place)
    states = []
    for entry in entries[:2]:
        name = expect_text(entry, place, "the name of a state")
        if name not in position:
            raise entry.error(f"{name!r} is no state of the model", place)
        states.append(position[name])
    return states[0], states[1], _number(entries[2], place)


def _number(node: Node, place: str) -> fmpq:
    value = expect_number(node, place, "a positive exact number, such as 3/2")
    if value <= 0:
        raise node.error(f"the ratio is {shorten_rational(value)}; expected a positive number", place)
    return value
