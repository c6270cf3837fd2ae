"""Does a budget hold for every observation sequence of a length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.questions import options
from bisimdist.questions.given import Given
from bisimdist.questions.options import BUDGET_EXPONENT, ENGINE, LENGTH, RATIO, UP_TO
from bisimdist.questions.question import (
    Group,
    Plain,
    Question,
    Settled,
    nothing_known,
    verdict_word,
)

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.analysis.hmm_answer import VerifyAnswer
    from bisimdist.models.hmm import HMM
    from bisimdist.progress import Limits

__all__ = ["Verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify(Question["VerifyAnswer"]):
    """Decide a privacy budget of a hidden Markov model, for all observation sequences of a length.

    Holds if Pr(w, S) <= C Pr(w, T) and Pr(w, T) <= C Pr(w, S) for every sequence w and, where the model has
    parameters, for all their values.
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
        options.TIMEOUT.but(help="Stop after so many seconds; what is left is unknown."),
        options.CERTIFICATE,
        options.SVG,
        options.JSON,
    )
    sources = ("LWZ22 Definition 3", "LWZ22 Algorithm 1")
    shown = ("length", "up_to")

    model: HMM
    pairs: tuple[tuple[str, str], ...]
    ratio: fmpq | None
    epsilon: fmpq | None
    length: int
    up_to: bool
    engine: str

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
        from bisimdist.analysis.hmm import verify

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
