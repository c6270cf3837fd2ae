"""Does a budget hold for every observation sequence of a length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import BUDGET_EXPONENT, ENGINE, LENGTH, RATIO, SMT_TIMEOUT, UP_TO
from bisimdist.faces.asked.question import (
    Group,
    Plain,
    Question,
    Settled,
    nothing_known,
    verdict_word,
)

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.budgets.verify.answer import VerifyAnswer
    from bisimdist.models.hmm import HMM
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify(Question["VerifyAnswer"]):
    """Decide a privacy budget of a hidden Markov model, for all observation sequences of a length.

    The budget C holds if Pr(w, S) <= C Pr(w, T) and Pr(w, T) <= C Pr(w, S) for every sequence w, and for all
    values of the parameters if the model has some.
    """

    command = "verify"
    tabled = "listed"
    group = Group.HIDDEN
    example = "example:geometric --ratio 2 --length 1"
    options = (
        RATIO,
        BUDGET_EXPONENT,
        LENGTH.but(required=True),
        UP_TO,
        options.DISTRIBUTIONS,
        ENGINE,
        SMT_TIMEOUT,
        options.TIMEOUT.but(help="Stop after so many seconds; the rest is unknown."),
        options.CERTIFICATE,
        options.SVG,
        options.JSON,
    )
    sources = ("LWZ22-long Definition 5.1", "LWZ22-long Algorithm 1")
    shown = ("length", "up_to")

    model: HMM
    pairs: tuple[tuple[str, str], ...]
    ratio: fmpq | None
    epsilon: fmpq | None
    length: int
    up_to: bool
    engine: str
    smt_seconds: float | None = None

    @classmethod
    def read(cls, given: Given) -> Verify:
        texts = [given.values.get(option.name) for option in (RATIO, BUDGET_EXPONENT)]
        if (texts[0] is None) == (texts[1] is None):
            which = "neither" if texts[0] is None else "both"
            raise UsageError(f"{which} of --ratio and --epsilon given; expected one of them")
        said = given.fields(cls)
        model = given.hmm()
        return cls(model=model, pairs=given.distributions(model), **said)

    def ask(self, limits: Limits) -> VerifyAnswer:
        from bisimdist.budgets.verify.ask import verify

        return self.put(verify, limits, pairs=self.pairs or None)

    def opening(self, settled: Settled) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        from bisimdist.exact.rational import format_rational

        return {
            **self.frame(),
            **({} if self.ratio is None else {"ratio": format_rational(self.ratio)}),
            **({} if self.epsilon is None else {"epsilon": format_rational(self.epsilon)}),
            "verdict": verdict_word(settled),
        }

    def unknown(self, reason: str) -> Plain:
        known: dict[str, object] = {
            "verdict": "unknown",
            "counterexample": None,
            "probabilities": None,
            "parameters": {},
        }
        return nothing_known(self.opening(None), self.pairs, {**known, "ways": [], "note": reason})

    def settled(self, answer: VerifyAnswer) -> Settled:
        return answer.verdict.settled
