"""The exact least budget for all observation sequences of a length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bisimdist.questions import options
from bisimdist.questions.given import Given
from bisimdist.questions.options import LENGTH, PRECISION, UP_TO
from bisimdist.questions.question import Group, Question, Settled

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.analysis.hmm_answer import BudgetAnswer, PairBudget
    from bisimdist.models.hmm import HMM
    from bisimdist.progress import Limits

__all__ = ["Epsilon"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Epsilon(Question["BudgetAnswer"]):
    """Compute the least privacy budget of a hidden Markov model exactly, for sequences of a length.

    With parameters it is bracketed, for all their values.
    """

    command = "epsilon"
    tabled = "measured"
    group = Group.HIDDEN
    example = "example:geometric --length 1"
    options = (
        LENGTH.but(required=True),
        UP_TO,
        options.DISTRIBUTIONS,
        PRECISION.but(help="With parameters: how narrow the bounds are to be (1/1000).", default="1/1000"),
        options.CLUSTER.but(help="Share the pairs among Dask workers: local:N or tcp://HOST:PORT."),
        options.TIMEOUT.but(help="Stop after so many seconds with a lower bound."),
        options.CERTIFICATE,
        options.SVG,
        options.JSON,
    )

    shown = ("length", "up_to")
    start: ClassVar = {
        "ratio": None,
        "epsilon": None,
        "exact": False,
        "at_least": "1",
        "witness": [],
        "probabilities": None,
    }

    model: HMM
    pairs: tuple[tuple[str, str], ...]
    length: int
    up_to: bool
    precision: fmpq | str = "1/1000"
    cluster: str | None = None

    @classmethod
    def read(cls, given: Given) -> Epsilon:
        said = given.fields(cls)
        model = given.hmm()
        return cls(model=model, pairs=given.distributions(model), **said)

    def ask(self, limits: Limits) -> BudgetAnswer:
        from bisimdist.analysis.hmm import epsilon

        about = ("model", "length", "up_to", "precision", "cluster")
        return self.put(epsilon, limits, *about, pairs=self.pairs or None)

    def settled(self, answer: BudgetAnswer) -> Settled:
        from bisimdist.exact.rational import to_fmpq

        def known(pair: PairBudget) -> bool:
            if pair.exact:
                return True
            width = None if pair.at_most is None else pair.at_most - (pair.at_least or 1)
            return width is not None and bool(width <= to_fmpq(self.precision))

        return True if all(map(known, answer.pairs)) else None
