"""Wider intervals in place of intervals: nature may do more (rule W1)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.reading import RuleViolation, shown
from bisimdist.checker.core.shape import key, named
from bisimdist.checker.core.worlds import Intervals, read_ends, rows_in
from bisimdist.checker.steps.step import StepShape, Way, from_above, refused

NOTHING = Fraction(0), Fraction(0)


class Step(StepShape):
    """That the rows of some states are wider; the others stay as they are."""

    rows: Mapping[str, Mapping[str, tuple[Fraction, Fraction]]] = key(named(named(read_ends)))
    rough = True

    def way(self, chain: Chain) -> Way:
        """Return the chain with wider intervals."""
        if not isinstance(chain, Intervals):
            raise refused(self, "a chain in intervals")
        chain.known(self.rows, "W1: the step")
        wider = rows_in({**chain.boxes, **self.rows}, chain.labels)
        for state, box in counted(wider.items()):
            old = chain.boxes[state]
            for target in counted({**old, **box}):
                (low, high), (least, most) = box.get(target, NOTHING), old.get(target, NOTHING)
                if not low <= least <= most <= high:
                    raise RuleViolation(f"W1: the intervals of state {shown(state)} are not wider")
        return Way(Intervals(chain.labels, {}, boxes=wider), from_above)
