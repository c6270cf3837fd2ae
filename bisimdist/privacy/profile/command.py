"""Delta as a function of epsilon."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.nature import AboutNature
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import (
    ALPHAS,
    CSV,
    EPSILONS,
    LARGEST,
    LOG,
    PLOT,
    POINTS,
    RENYI,
    RUNS,
    TRADE_OFF,
)
from bisimdist.faces.asked.question import Content, Group, Plain, Question, Settled

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.models.interactive import System
    from bisimdist.models.intervals import IntervalChain
    from bisimdist.privacy.profile.answer import ProfileAnswer
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(AboutNature["ProfileAnswer"]):
    """Compute the privacy profile: delta as a function of epsilon, certified from above and below.

    Without --alpha and --epsilon the command chooses points, more of them where the curve bends.
    """

    command = "profile"
    group = Group.DELTA
    example = "example:figure1 --points 3"
    options = (
        options.PAIR,
        ALPHAS,
        EPSILONS,
        POINTS,
        LARGEST,
        options.UNIT_THRESHOLD.but(help="Find the least epsilon with delta <= THETA."),
        RUNS,
        options.ROUNDS,
        options.NATURE,
        RENYI,
        options.GAP.but(help="Stop when the bounds of a point are at most G apart."),
        options.TIMEOUT,
        options.MEMORY,
        options.JOBS.but(help="The number of processes for the points."),
        options.CLUSTER,
        CSV.but(help="Write the points as CSV."),
        PLOT,
        LOG,
        TRADE_OFF,
        options.KINKS,
        options.JSON,
    )

    model: System | IntervalChain
    pairs: tuple[tuple[str, str], ...]
    alphas: tuple[fmpq, ...] | None
    epsilons: tuple[fmpq, ...] | None
    points: int
    largest: fmpq | None
    threshold: fmpq | None
    runs: int
    orders: tuple[int, ...]
    gap: fmpq | None
    logarithmic: bool
    trade_off: bool
    kinks: bool = False
    named: str = ""
    rounds: int | None = None
    nature: str = "each-step"
    cluster: str | None = None

    @classmethod
    def read(cls, given: Given) -> Profile:
        said = given.fields(cls)
        plot = given[PLOT]
        if plot is None and (given[LOG] or given[TRADE_OFF] or given[options.KINKS]):
            raise UsageError("--log, --trade-off and --kinks say how to draw; give the file with --plot FILE")
        model = given.rough_system()
        refuse_losses(given, model)
        if given[RENYI]:
            model.whole()  # refuses programs some runs of which are cut off
        if not (said["alphas"] or said["epsilons"]):
            said |= {"alphas": None, "epsilons": None}
        return cls(
            model=model, pairs=given.pairs(model), largest=given[LARGEST], named=given.argument, **said
        )

    def ask(self, limits: Limits) -> ProfileAnswer:
        from bisimdist.faces.shown.answer import Status
        from bisimdist.privacy.profile.ask import profile
        from bisimdist.privacy.profile.threshold_search import least_alpha

        curve = self.put(profile, limits)
        if self.orders:
            from bisimdist.privacy.profile.concentrated import concentrated
            from bisimdist.privacy.profile.renyi_curve import renyi_curve

            renyi = self.put(renyi_curve, limits)
            status = renyi.status if renyi.status is Status.LIMIT else curve.status
            rho = concentrated(renyi, curve.losses)
            curve = replace(curve, renyi=renyi, concentrated=rho, status=status)
        if self.threshold is None:
            return curve
        least = self.put(least_alpha, limits)
        return replace(curve, least=least)

    def unknown(self, reason: str) -> Plain:
        from flint import fmpq

        from bisimdist.exact.logarithm import alpha_below
        from bisimdist.exact.rational import to_fmpq
        from bisimdist.faces.shown.answer import Status
        from bisimdist.privacy.profile.answer import ProfileAnswer, ProfilePoint

        asked = {*(self.alphas or ()), *(to_fmpq(alpha_below(end)) for end in self.epsilons or ())} or {
            fmpq(1)
        }
        found = tuple(ProfilePoint(alpha, fmpq(0), fmpq(1)) for alpha in sorted(asked))
        answer = ProfileAnswer(
            model=self.model, pairs=self.pairs, points=found, status=Status.LIMIT, losses=None, runs=self.runs
        )
        return Plain(data={**self.opening(None), **answer.data()}, report=answer.report())

    def settled(self, answer: ProfileAnswer) -> Settled:
        least = answer.least
        undecided = least is not None and least.enough is None and not least.exact
        return None if undecided else Question.settled(self, answer)

    def content(self, option: Option[Any], path: str, answer: ProfileAnswer) -> Content:
        return answer.csv() if option.name == CSV.name else super(Profile, self).content(option, path, answer)

    def figure(self, answer: ProfileAnswer) -> Any:
        drawn = ("logarithmic", "trade_off", "kinks", "named")
        return answer.plot(**{name: getattr(self, name) for name in drawn})


def refuse_losses(given: Given, model: System | IntervalChain) -> None:
    """Refuse what rests on the losses of one chain, where an analyst or nature has several ways.

    Raises UsageError, naming the option.
    """
    from bisimdist.models.intervals import IntervalChain
    from bisimdist.models.lmc import LMC

    if isinstance(model, LMC):
        return
    asked = (
        ("--runs", given[RUNS] > 1, "ask a model with more rounds, or several side by side"),
        ("--renyi", bool(given[RENYI]), "leakage --ask has these divergences, of one way to ask"),
    )
    for flag, there, instead in asked:
        if there and isinstance(model, IntervalChain):
            raise UsageError(f"{flag}: is for models whose probabilities are known; these lie in intervals")
        if there:
            raise UsageError(f"{flag}: needs a model without an analyst; this one is interactive: {instead}")
