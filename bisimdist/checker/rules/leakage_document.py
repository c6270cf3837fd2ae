"""The shape of a certificate of kind ``leakage``: everything read and typed, nothing of it believed yet."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.chain import read_model
from bisimdist.checker.core.information import COVERS, merged, nodes_of
from bisimdist.checker.core.quantities import Amount, Mass
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    choice,
    integer,
    item,
    items,
    natural,
    rational,
)
from bisimdist.checker.core.shape import Bound, Shape, bound, either, key, listed, named, raw, row, truth

__all__ = ["INFINITE", "Chord", "Claim", "Document", "Leader", "Node"]

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
    then: Mapping[str, int] | None = key(named(natural), default=None)
    upper: Fraction | None = key(rational, default=None)
    bound: Chord | Leader | str | None = key(_own_bound, default=None)
    lower: Fraction | str | None = key(_lower, default=None)
    stop: bool = key(truth, default=False)
    weight: Amount | None = key(Amount.by("V6"), default=None)
    growth: tuple[Fraction, Amount] | None = key(row(rational, Amount.by("V7")), "grows", default=None)

    def __post_init__(self) -> None:
        """Demand rows of one length."""
        lengths = {len(column) for column in self.rows.values()}
        if len(lengths) != 1 or 0 in lengths:
            raise MalformedCertificate(f"the rows of {self.where} are empty, or not of one length")


class Document(Shape):
    """A certificate of kind ``leakage``."""

    claims: list[Claim] = key(listed(Claim.read, "claim"))
    measure: str = key(item)
    gains: Mapping[str, Mapping[str, Fraction]] | None = key(named(named(rational)), default=None)
    model: dict[str, object] = key(read_model)
    digest: str = key(item)
    merged: list[list[str]] = key(merged)
    cycles: list[tuple[int, int]] = key(listed(row(natural, natural)), default_factory=list)
    proof: list[Any] = key(items, "nodes")
    ratios: Any = key(raw, default_factory=list)

    def nodes(self) -> list[Node]:
        """Read the nodes, which the cycles name as well."""
        nodes = nodes_of(Node.read, self.proof, lambda node: (node.then or {}).values())
        for number in (end for cycle in self.cycles for end in cycle):
            natural(number, "an end of a cycle", len(nodes))
        return nodes
