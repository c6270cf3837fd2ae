"""Budgets of hidden Markov models for observation sequences of every length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.budgets.prove.for_values import ProveForValues
from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import BUDGET_EXPONENT, METHOD, RATIO_FROM_ONE
from bisimdist.faces.asked.question import (
    Group,
    Question,
    Settled,
    verdict_word,
)

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.budgets.prove.answer import AllLengthsAnswer
    from bisimdist.models.hmm import HMM
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Prove(Question["AllLengthsAnswer"]):
    """Prove or refute a budget of a hidden Markov model for sequences of every length.

    The command looks for a sequence above the budget, for sequences whose ratio grows without bound, and for
    invariants.
    """

    command = "prove"
    tabled = "listed"
    group = Group.HIDDEN
    example = "example:contagious-disease --ratio 4"
    options = (
        RATIO_FROM_ONE,
        BUDGET_EXPONENT,
        METHOD,
        options.DISTRIBUTIONS,
        options.TIMEOUT,
        options.CERTIFICATE,
        options.SVG,
        options.JSON,
    )
    start: ClassVar = {
        "verdict": "unknown",
        "method": None,
        "ratio": None,
        "attained": None,
        "exact": False,
    }

    model: HMM
    pairs: tuple[tuple[str, str], ...]
    ratio: fmpq | None
    epsilon: fmpq | None
    method: str

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        if all(given.values.get(option.name) is not None for option in (RATIO_FROM_ONE, BUDGET_EXPONENT)):
            raise UsageError("both of --ratio and --epsilon given; expected one of them, or none")
        said = given.fields(cls)
        model = given.hmm()
        if model.parametric:
            return ProveForValues.of(given, model)
        return cls(model=model, pairs=given.distributions(model), **said)

    def ask(self, limits: Limits) -> AllLengthsAnswer:
        from bisimdist.budgets.prove.ask import for_all_lengths

        return self.put(for_all_lengths, limits, pairs=self.pairs or None)

    def opening(self, settled: Settled) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        from bisimdist.exact.rational import format_rational

        return {
            **self.frame(),
            "length": "all",
            "ratio": None if self.ratio is None else format_rational(self.ratio),
            **({} if self.epsilon is None else {"epsilon": format_rational(self.epsilon)}),
            "verdict": verdict_word(settled),
        }

    def settled(self, answer: AllLengthsAnswer) -> Settled:
        return answer.verdict.settled
