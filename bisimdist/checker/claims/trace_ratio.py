"""Checks that quotients of probabilities of traces are bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    items,
    natural,
    rational,
    shown,
)
from bisimdist.checker.core.shape import Shape, key, listed, raw, row
from bisimdist.checker.core.trace_chain import Masses, TraceChain, total

Table = Mapping[tuple[int, int], Fraction]
Moves = Sequence[tuple[int, int, Fraction]]
Written = list[tuple[str, str, Fraction]]
MOVES = listed(row(item, item, rational))
_ZERO = Fraction(0)
_ONE = Fraction(1)


class _Proof(Shape):
    nodes: list[Any] = key(items)
    table: Any = key(raw)


class _First(Shape):
    """The first node of a proof."""

    grow: Fraction = key(rational)
    shrink: Fraction = key(rational)
    moves: tuple[Written, Written] | None = key(row(MOVES, MOVES), default=None)


class _Next(_First):
    """A node that goes on from one before."""

    parent: int = key(natural)
    action: str = key(item)


class _Entry(Shape):
    pair: tuple[str, str] = key(row(item, item))
    bound: Fraction = key(rational)
    moves: Written = key(MOVES)


@dataclass(frozen=True)
class _Node:
    """A pair of vectors after a trace, and bounds on what follows."""

    first: Masses
    second: Masses
    depth: int
    grow: Fraction
    shrink: Fraction
    moves: tuple[Moves, Moves] | None

    @property
    def quotient(self) -> Fraction:
        """The quotient of the probabilities of the trace."""
        return total(self.first) / total(self.second)


def check_ratio(
    chain: TraceChain, sides: tuple[int, int], upper: Fraction, proof: object, length: int | None
) -> None:
    """Check that no quotient of probabilities of a trace from two classes is above a bound."""
    data = _Proof.read(proof, "an upper proof")
    table = _read_table(chain, data.table)
    nodes = _read_nodes(chain, sides, data.nodes)
    if max(nodes[0].grow, nodes[0].shrink) > upper:
        raise RuleViolation("T6: the upper bound is less than that of the first node")
    found: dict[object, _Node] = {}
    for node in counted(nodes):
        found.setdefault(_place(chain, node.first, node.second, node.depth, length), node)
    for number, node in counted(enumerate(nodes)):
        _check_node(chain, (number, node), found, table, length)


def _place(
    chain: TraceChain, first: Masses, second: Masses, depth: int, length: int | None
) -> tuple[object, ...]:
    """Return what two nodes must share in order to have the same continuations."""
    return chain.key(first)[0], chain.key(second)[0], None if length is None else depth


def _read_nodes(chain: TraceChain, sides: tuple[int, int], data: list[Any]) -> list[_Node]:
    nodes: list[_Node] = []
    for number, value in counted(enumerate(data)):
        entry = (_Next if number else _First).read(value, f"node {number}")
        first, second, depth = {sides[0]: _ONE}, {sides[1]: _ONE}, 0
        if isinstance(entry, _Next):
            before = nodes[natural(entry.parent, f"the parent of {entry.where}", number)]
            first, second = (chain.after(side, entry.action) for side in (before.first, before.second))
            depth = before.depth + 1
        if not first or not second:
            raise RuleViolation(f"T7: the trace of {entry.where} is not possible from both states")
        moves = None
        if entry.moves is not None:
            there, back = (_moves(chain, part, entry.where) for part in counted(entry.moves))
            moves = there, back
        if entry.grow < 1 or entry.shrink < 1:
            raise RuleViolation(f"T7: a bound of {entry.where} is less than 1")
        nodes.append(_Node(first, second, depth, entry.grow, entry.shrink, moves))
    if not nodes:
        raise MalformedCertificate("there are no nodes")
    return nodes


def _check_node(
    chain: TraceChain,
    numbered: tuple[int, _Node],
    found: Mapping[object, _Node],
    table: Table,
    length: int | None,
) -> None:
    """Check that the bounds of a node follow from those of its successors, or from the table."""
    number, node = numbered
    if length is not None and node.depth >= length:
        return
    if chain.key(node.first)[0] == chain.key(node.second)[0]:
        return
    if node.moves is not None:
        shares = _share(node.first), _share(node.second)
        _check_moves(chain, shares, node.moves[0], table, node.grow)
        _check_moves(chain, (shares[1], shares[0]), node.moves[1], table, node.shrink)
        return
    for action in counted(sorted(all_of({*chain.possible(node.first), *chain.possible(node.second)}))):
        first, second = chain.after(node.first, action), chain.after(node.second, action)
        after = found.get(_place(chain, first, second, node.depth + 1, length))
        if after is None:
            raise RuleViolation(f"T8: what follows node {number} by {shown(action)} is no node")
        ratio = total(first) / total(second) / node.quotient
        if ratio * after.grow > node.grow or after.shrink > ratio * node.shrink:
            raise RuleViolation(f"T8: a bound of node {number} is exceeded after {shown(action)}")


def _share(masses: Masses) -> Masses:
    whole = total(masses)
    return {state: mass / whole for state, mass in counted(masses.items())}


def _moves(chain: TraceChain, written: Written, where: str) -> Moves:
    if any(mass < 0 for _, _, mass in counted(written)):
        raise RuleViolation(f"T9: a move of {where} is negative")
    return [(chain.state(k, where), chain.state(m, where), mass) for k, m, mass in counted(written)]


def _read_table(chain: TraceChain, data: object) -> Table:
    """Return the bounds of the table, each of which is proved by the others."""
    table: dict[tuple[int, int], Fraction] = {}
    moves: dict[tuple[int, int], Moves] = {}
    for entry in counted(listed(_Entry.read)(data, "the table")):
        first, second = (chain.state(name, entry.where) for name in counted(entry.pair))
        if (first, second) in table:
            raise RuleViolation(f"T9: {entry.where} is about a pair that was there before")
        table[first, second] = entry.bound
        moves[first, second] = _moves(chain, entry.moves, entry.where)
        if entry.bound < 1:
            raise RuleViolation(f"T9: {entry.where} is less than 1")
    for (first, second), bound in counted(table.items()):
        if chain.actions[first] != chain.actions[second]:
            raise RuleViolation("T9: an entry of the table is about states of different actions")
        _check_moves(chain, (chain.rows[first], chain.rows[second]), moves[first, second], table, bound)
    return table


def _check_moves(
    chain: TraceChain, sides: tuple[Masses, Masses], moves: Moves, table: Table, bound: Fraction
) -> None:
    """Check that what can act of a vector is moved away, and costs at most a multiple of another one."""
    first, second = sides
    if total(first) > bound * total(second):
        raise RuleViolation("T9: the masses are further apart than the bound")
    left: dict[int, Fraction] = {}
    paid: dict[int, Fraction] = {}
    for k, m, amount in counted(moves):
        cost = _ONE if k == m else table.get((k, m))
        if cost is None:
            raise RuleViolation("T9: a move rests on a pair that is not in the table")
        left[k] = left.get(k, _ZERO) + amount
        paid[m] = paid.get(m, _ZERO) + cost * amount
    if any(left.get(k, _ZERO) < mass for k, mass in counted(first.items()) if chain.actions[k] is not None):
        raise RuleViolation("T9: moves leave mass behind")
    if any(cost > bound * second.get(m, _ZERO) for m, cost in counted(paid.items())):
        raise RuleViolation("T9: moves cost more than the bound")
