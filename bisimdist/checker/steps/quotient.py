"""States that stand for states that are bisimilar to them (rules Q1 to Q3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.partition import lumped
from bisimdist.checker.core.reading import RuleViolation, item, shown
from bisimdist.checker.core.shape import key, named
from bisimdist.checker.steps.step import Proved, StepShape, Way, refused


class Step(StepShape):
    """That one state stands for each of some others."""

    classes: Mapping[str, str] = key(named(item))

    def way(self, chain: Chain) -> Way:
        """Return the model of the states that stand for themselves."""
        if chain.natural or chain.open:
            raise refused(self, "a chain, or a model that somebody asks")
        chain.known((*self.classes, *self.classes.values()), "Q1: the step")
        if not self.classes.keys().isdisjoint(self.classes.values()):
            raise RuleViolation("Q1: a state that stands for another one is merged itself")
        stands = {state: self.classes.get(state, state) for state in counted(chain.labels)}
        arms = {
            action: {state: lumped(row, stands) for state, row in counted(rows.items())}
            for action, rows in counted(chain.arms.items())
        }
        for state, other in counted(self.classes.items()):
            same = chain.labels[state] == chain.labels[other]
            if not same or any(rows.get(state) != rows.get(other) for rows in counted(arms.values())):
                raise RuleViolation(f"Q2: {shown(state)} and {shown(other)} are merged and not alike")
        labels = {state: chain.labels[state] for state in counted(chain.labels) if state not in self.classes}
        kept = {
            action: {state: row for state, row in counted(rows.items()) if state in labels}
            for action, rows in counted(arms.items())
        }

        def place(states: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(stands.get(state, state) for state in counted(states))

        return Way(replace(chain, labels=labels, arms=kept), _back, place, same=True)


def _back(found: Proved) -> Proved:
    """Return a claim as it is; distances above 1 tell bisimilar states apart."""
    found.of(step="quotient")
    if found.quantity in {"bd", "lbd"} and found.terms["alpha"] != "1":
        raise RuleViolation("Q3: states are merged, and alpha of the distance is not 1")
    return found
