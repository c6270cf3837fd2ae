"""Nature, which picks the probabilities that are only known to lie in intervals."""

from __future__ import annotations

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.reading import RuleViolation
from bisimdist.checker.core.shape import key, one_of
from bisimdist.checker.core.worlds import Intervals, worlds
from bisimdist.checker.steps.step import Proved, StepShape, Way, from_above, refused


class Step(StepShape):
    """That nature picks a row from the intervals: at every step, or once for good."""

    nature: str = key(one_of("each-step", "fixed"))
    rough = True

    def way(self, chain: Chain) -> Way:
        """Return the interactive model that nature asks.

        With one world nature may still change its mind there: where it has picked for good, only bounds from
        above come back.
        """
        if not isinstance(chain, Intervals):
            raise refused(self, "a chain in intervals")
        apart = self.nature == "each-step"
        picked = worlds(chain, apart=apart)

        def back(found: Proved) -> Proved:
            said = found.of(step="nature").said(nature=self.nature)
            return said if apart else from_above(said)

        def place(states: tuple[str, ...]) -> tuple[str, ...]:
            if not apart:
                return states
            if len(states) != 2:
                raise RuleViolation("V1: nature picks in two worlds; expected two states")
            first, *others = states
            return first, *(picked.second[state] for state in counted(others))

        return Way(picked, back, place)
