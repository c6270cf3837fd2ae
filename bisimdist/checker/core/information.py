"""Information states: nodes, and bounds on likelihood ratios of their futures.

The rule D9 as in docs/certificates/delta.md, for all kinds whose nodes hold masses after a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    LOOK,
    Amount,
    MalformedCertificate,
    RuleViolation,
    Skew,
    item,
    items,
    natural,
    shown,
    spend,
)
from bisimdist.checker.core.shape import Reader, listed, row

COVERS = listed(row(item, item, Amount.by("D9")))
Value = TypeVar("Value")


def nodes_of(read: Reader[Value], value: object, children: Callable[[Value], Iterable[int]]) -> list[Value]:
    """Read the nodes of a graph, each of which may lead to any of them."""
    nodes = listed(read, "node", 0)(value, "the nodes")
    for node in counted(nodes):
        for child in counted(children(node)):
            natural(child, "the number of a node", len(nodes))
    return nodes


def by_pair(number: Reader[Value]) -> Reader[dict[tuple[str, str], Value]]:
    """Return what reads numbers of ordered pairs, each of which is named once."""
    entry = row(item, item, number)

    def numbers(value: object, where: str) -> dict[tuple[str, str], Value]:
        found: dict[tuple[str, str], Value] = {}
        for part in counted(items(value, where)):
            i, j, amount = entry(part, where)
            if (i, j) in found:
                raise MalformedCertificate(f"{where} name [{shown(i)}, {shown(j)}] twice")
            found[i, j] = amount
        return found

    return numbers


RATIOS = by_pair(Skew.by("D9"))


def check_ratios(chain: Chain, ratios: Mapping[tuple[str, str], Skew]) -> None:
    """Check that nu_i <= R(i, j) nu_j follows from the same for the states that come next (rule D9)."""
    if ratios and chain.natural:
        raise RuleViolation("D9: there are ratios, but nature has a say in them")
    for (i, j), ratio in counted(ratios.items()):
        where = f"ratio [{shown(i)}, {shown(j)}]: D9"
        if i not in chain.labels or j not in chain.labels or chain.labels[i] != chain.labels[j]:
            raise RuleViolation(f"{where}: not two states of one label")
        if i == j:
            raise RuleViolation(f"{where}: expected two states")
        for rows in counted(chain.arms.values()):
            labels = {chain.labels[target] for target in counted(rows.get(i, {}))}
            spend(LOOK * (1 + len(labels) * (len(rows.get(i, {})) + len(rows.get(j, {})))))
            for label in counted(labels):
                left, right = (
                    {target: p for target, p in counted(rows[state].items()) if chain.labels[target] == label}
                    for state in (i, j)
                )
                if not stays_below(ratios, left, right, ratio):
                    raise RuleViolation(f"{where}: it does not follow for the label {shown(label)}")


def stays_below(
    ratios: Mapping[tuple[str, str], Skew],
    left: Mapping[str, Fraction],
    right: Mapping[str, Fraction],
    ratio: Fraction,
) -> bool:
    """Tell whether masses stay below others times a ratio, whatever event follows (rule D9)."""
    if all(p <= ratio * right.get(k, Fraction(0)) for k, p in counted(left.items())):
        return True
    total = Fraction(0)
    spend(LOOK * len(left) * len(right))
    for k, p in counted(left.items()):
        reach = Fraction(0)
        for other, there in counted(right.items()):
            if k == other:
                reach += there
            elif (k, other) in ratios:
                reach += there / ratios[k, other]
        if not reach:
            return False
        total += p / reach
    return total <= ratio


def check_cover(
    ratios: Mapping[tuple[str, str], Skew],
    masses: Mapping[str, Fraction],
    covers: Sequence[tuple[str, str, Amount]],
    where: str,
) -> None:
    """Check that negative masses cover the positive ones at the rates of the ratios (rule D9)."""
    rest = dict(all_of(masses))
    for i, j, amount in counted(covers):
        ratio = ratios.get((i, j))
        if ratio is None or i not in rest or j not in rest:
            raise RuleViolation(f"{where}: D9: a move is not one at a known ratio")
        rest[i] -= amount
        rest[j] += amount * ratio
    if any(mass > 0 for mass in counted(rest.values())):
        raise RuleViolation(f"{where}: D9: not all positive mass is covered")
