"""A distance that bounds what couplings of delta cost (rule D6 of docs/certificates/delta.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bisimdist.checker.claims.delta_document import Document
from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.information import by_pair
from bisimdist.checker.core.reading import RuleViolation, Share, Skew, shown
from bisimdist.checker.core.shape import Shape, key, one_of, raw
from bisimdist.checker.core.tables import Setting, Table, UpperEntry, check_upper, read_upper_table


class Ceiling(Shape):
    """Bounds on pairs of states, and the table that proves them."""

    distance: str = key(one_of("bd", "lbd"))
    alpha: Skew = key(Skew.by("D6"))
    bounds: Mapping[tuple[str, str], Share] = key(by_pair(Share.by("D6")))
    upper: Any = key(raw)


def read_ceiling(whole: Document) -> tuple[Ceiling, Table[UpperEntry]]:
    """Read the ceiling of a certificate and its table."""
    ceiling = Ceiling.read(whole.ceiling, "the ceiling")
    return ceiling, read_upper_table(ceiling.upper, ceiling.distance, interactive=whole.asking)


def check_ceiling(chain: Chain, ceiling: Ceiling, table: Table[UpperEntry]) -> None:
    """Check the table of a distance of the merged chain, and that the bounds say no more than it."""
    setting = Setting(chain, ceiling.alpha, ordered=ceiling.distance == "lbd")
    try:
        upper = check_upper(setting, table)
        for (i, j), bound in counted(ceiling.bounds.items()):
            setting.known((i, j), "C1: a bound")
            if upper.at(i, j) > bound * upper.denominator:
                raise RuleViolation(f"C1: the bound of [{shown(i)}, {shown(j)}] is less than the table's")
    except RuleViolation as violation:
        raise RuleViolation(f"ceiling: {violation}") from violation
