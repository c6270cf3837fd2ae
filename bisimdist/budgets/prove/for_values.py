"""Budgets for every length and for all values of the parameters, of models whose sequences end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.budgets.epsilon.command import Epsilon
from bisimdist.errors import UsageError
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import BUDGET_EXPONENT, RATIO_FROM_ONE
from bisimdist.faces.asked.question import Question, identity
from bisimdist.faces.asked.threshold import AtMost

if TYPE_CHECKING:
    from bisimdist.models.hmm import HMM


def longest_sequence(model: HMM) -> int | None:
    """Return how many observations a sequence has at most; None where states lie on cycles.

    >>> from bisimdist.models.library.hidden_markov import above_threshold, geometric
    >>> longest_sequence(geometric()), longest_sequence(above_threshold())
    (1, None)
    """
    from bisimdist.linear.components import strongly_connected_components

    following = [[state for state, _ in row] for row in model.rows]
    length: dict[int, int] = {}
    for component in strongly_connected_components(following):  # those that come last first
        (state, *others) = component
        if others or state in following[state]:
            return None
        length[state] = 1 + max((length[after] for after in following[state]), default=0)
    return max(length.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveForValues(Epsilon):
    """The least budget of all lengths that there are."""

    command = "prove"

    @classmethod
    def of(cls, given: Given, model: HMM) -> Question[Any]:
        """Make the question of a model with parameters.

        Raises UsageError if its sequences may go on for ever.
        """
        longest = longest_sequence(model)
        if longest is None:
            raise UsageError(
                f"the model has the parameters {', '.join(model.parameter_names)}, and sequences that go on "
                "for ever; verify and epsilon answer for all values, up to a length (--length K --up-to)"
            )
        asked = cls(model=model, pairs=given.distributions(model), length=longest, up_to=True)
        ratio, epsilon = given[RATIO_FROM_ONE], given[BUDGET_EXPONENT]
        if ratio is None and epsilon is None:
            return asked
        logarithmic = ratio is None
        return AtMost(asked=asked, threshold=epsilon if logarithmic else ratio, logarithmic=logarithmic)

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        return cls.of(given, given.hmm())

    def frame(self) -> dict[str, object]:
        return {"command": self.command, "model": identity(self.model), "length": "all", "up_to": True}
