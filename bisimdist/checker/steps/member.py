"""One chain in intervals that is named: what it gains is gained by some chain (rule D12)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bisimdist.checker.core.chain import ONLY, Chain
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import RuleViolation, rational, shown
from bisimdist.checker.core.shape import key, named
from bisimdist.checker.core.worlds import Intervals
from bisimdist.checker.steps.step import StepShape, Way, from_below, refused


class Step(StepShape):
    """That nature has picked this chain for good."""

    rows: Mapping[str, Mapping[str, Fraction]] = key(named(named(rational)))
    rough = True

    def way(self, chain: Chain) -> Way:
        """Return the chain; a row that is not named is one that the intervals determine."""
        if not isinstance(chain, Intervals):
            raise refused(self, "a chain in intervals")
        whole = {}
        for state, box in counted(chain.boxes.items()):
            row = self.rows.get(
                state, {target: low for target, (low, high) in counted(box.items()) if low == high}
            )
            inside = all(low <= row.get(target, 0) <= high for target, (low, high) in counted(box.items()))
            if not inside or not row.keys() <= box.keys() or sum(all_of(row.values())) != 1:
                raise RuleViolation(f"D12: the row of state {shown(state)} is not one of the intervals")
            whole[state] = {target: p for target, p in counted(row.items()) if p}
        member = Chain(chain.labels, {ONLY: whole})
        return Way(member, lambda found: from_below(found.of(step="member").said(nature="fixed")))
