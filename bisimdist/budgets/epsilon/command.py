"""The exact least budget for all observation sequences of a length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import CONFIDENCE, LENGTH, PLOT, PRECISION, SAMPLED, SEED, UP_TO
from bisimdist.faces.asked.question import Group, Question, Settled

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.budgets.verify.answer import BudgetAnswer, PairBudget
    from bisimdist.budgets.verify.tested import TestedAnswer
    from bisimdist.faces.asked.option import Option
    from bisimdist.models.hmm import HMM
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Epsilon(Question["BudgetAnswer"]):
    """Compute the least privacy budget of a hidden Markov model exactly, for sequences of a length.

    If the model has parameters, the answer is a bracket that holds for all their values. With --samples a
    tester says where to look first, and the answer shows the p-values of its worst finding.
    """

    command = "epsilon"
    tabled = "measured"
    group = Group.HIDDEN
    example = "example:geometric --length 1"
    options = (
        LENGTH.but(required=True),
        UP_TO,
        options.DISTRIBUTIONS,
        PRECISION.but(help="With parameters: stop when the bounds are at most P apart.", default="1/1000"),
        SAMPLED,
        SEED,
        CONFIDENCE.but(help="With --samples: the confidence of the tester's ratios."),
        PLOT.but(help="With --samples: draw the p-values of the worst pair (.svg, .png, .pdf)."),
        options.CLUSTER.but(help="Share the pairs among Dask workers: local:N or tcp://HOST:PORT."),
        options.TIMEOUT.but(help="Stop after so many seconds and print a lower bound."),
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
    def read(cls, given: Given) -> Question[Any]:
        if given[SAMPLED] is not None:
            return TestedEpsilon.read(given)
        tester: tuple[Option[Any], ...] = (SEED, CONFIDENCE, PLOT)
        for option in tester:
            if given.values.get(option.name) not in {None, option.default}:
                raise UsageError(f"{option.flag} is for the tester; say with --samples N how often it runs")
        said = given.fields(cls)
        model = given.hmm()
        return cls(model=model, pairs=given.distributions(model), **said)

    def ask(self, limits: Limits) -> BudgetAnswer:
        from bisimdist.budgets.verify.ask import epsilon

        return self.put(epsilon, limits, pairs=self.pairs or None)

    def settled(self, answer: BudgetAnswer) -> Settled:
        from bisimdist.exact.rational import to_fmpq

        def known(pair: PairBudget) -> bool:
            if pair.exact:
                return True
            width = None if pair.at_most is None else pair.at_most - (pair.at_least or 1)
            return width is not None and bool(width <= to_fmpq(self.precision))

        return True if all(map(known, answer.pairs)) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedEpsilon(Question["TestedAnswer"]):
    """The least budgets of pairs, the worst first: a tester finds where to look, verification decides."""

    __test__ = False

    command = "epsilon"
    tabled = "measured"
    shown = ("length", "up_to")
    start: ClassVar = {
        **{"ratio": None, "epsilon": None, "exact": False},
        **{"at_least": "1", "witness": [], "probabilities": None},
    }

    model: HMM
    pairs: tuple[tuple[str, str], ...]
    length: int
    samples: int
    seed: int
    confidence: fmpq
    up_to: bool = False

    @classmethod
    def read(cls, given: Given) -> TestedEpsilon:
        other: tuple[Option[Any], ...] = (options.CLUSTER, UP_TO)
        for option in other:
            if given.values.get(option.name):
                raise UsageError(f"--samples and {option.flag} were both given; expected one of them")
        model = given.hmm()
        if model.parametric:
            raise UsageError("--samples: the model has parameters, which cannot be sampled")
        return cls(
            model=model,
            pairs=given.distributions(model),
            length=given[LENGTH],
            samples=int(given[SAMPLED] or 1),
            seed=given[SEED],
            confidence=given[CONFIDENCE],
        )

    def ask(self, limits: Limits) -> TestedAnswer:
        from bisimdist.budgets.verify.tested import tested_budget

        return self.put(tested_budget, limits, pairs=self.pairs or None)

    def settled(self, answer: TestedAnswer) -> Settled:
        return True if answer.status.value == "exact" else None

    def figure(self, answer: TestedAnswer) -> Any:
        return answer.curves()
