"""Are two states bisimilar, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.automata.robust.command import Robust
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import ROBUST
from bisimdist.faces.asked.question import Group, Question

if TYPE_CHECKING:
    from bisimdist.logic.explanation.ask import DistinctionAnswer
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Question["DistinctionAnswer"]):
    """Say why two states are not bisimilar: a formula that one satisfies and the other does not.

    The formula has the least possible depth. With --robust the command says which bisimilar states stay
    close when all probabilities of a chain change a little, and which jump apart.
    """

    command = "logic explain"
    tabled = "listed"
    group = Group.LOGICS
    example = "example:pin-checking"
    options = (
        options.PAIR,
        ROBUST,
        options.TIMEOUT,
        options.SVG,
        options.CERTIFICATE,
        options.JSON,
    )
    sources = ("CCP18 Definition 13",)
    start: ClassVar = {"bisimilar": None, "formula": None}

    model: PA
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        if given[ROBUST]:
            return Robust.read(given)
        model = given.automaton()
        return cls(model=model, pairs=given.pairs(model))

    def ask(self, limits: Limits) -> DistinctionAnswer:
        from bisimdist.logic.explanation.ask import explain

        return self.put(explain, limits)
