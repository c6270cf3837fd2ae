"""Which bisimilar states stay close when all probabilities move a little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.question import Group, Question

if TYPE_CHECKING:
    from bisimdist.automata.robust.ask import RobustnessAnswer
    from bisimdist.models.lmc import LMC
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Robust(Question["RobustnessAnswer"]):
    """Decide robust bisimilarity: explain --robust."""

    command = "logic explain"
    tabled = "listed"
    group = Group.LOGICS
    start: ClassVar = {"bisimilar": None, "robust": None}

    model: LMC
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, given: Given) -> Robust:
        model = given.chain()
        return cls(model=model, pairs=given.pairs(model))

    def ask(self, limits: Limits) -> RobustnessAnswer:
        from bisimdist.automata.robust.ask import robustness

        return self.put(robustness, limits)
