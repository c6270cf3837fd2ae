"""Every bound of the project held against every other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.questions import options
from bisimdist.questions.given import Given
from bisimdist.questions.option import Option
from bisimdist.questions.options import HTML, LENGTH
from bisimdist.questions.question import Content, Group, Plain, Question, Settled, identity, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.analysis.crosscheck_answer import CrosscheckAnswer
    from bisimdist.models.kinds import KnownModel
    from bisimdist.progress import Limits

__all__ = ["Crosscheck"]

SECONDS = 60.0
"""The time for each pair where none is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosscheck(Question["CrosscheckAnswer"]):
    """Hold every bound that applies to a pair against every other.

    Distances, metrics, budgets, SMT, traces and the two-sided delta stand in the order that theory demands; a
    violated order would be an error of this program: the exit code is 1 then.
    """

    command = "crosscheck"
    tabled = "listed"
    group = Group.TOOLS
    example = "example:figure1 --length 1"
    options = (
        options.PAIR,
        options.ALPHA.but(help="The skew of delta and the distances (11/10)."),
        LENGTH.but(default=4, help="Longest sequences; rounds of an analyst."),
        options.STATE_LIMIT,
        options.TIMEOUT.but(help="The time in all, shared by the pairs and measures (60 for each pair)."),
        HTML,
        options.JSON,
    )

    model: KnownModel
    named: str
    pairs: tuple[tuple[str, str], ...]
    alpha: fmpq | None
    length: int
    seconds: float | None

    @classmethod
    def read(cls, given: Given) -> Crosscheck:
        from bisimdist.models.hmm import HMM

        said = given.fields(cls)
        model = given.known_model()
        pairs = given.distributions(model) if isinstance(model, HMM) else given.pairs(model)
        return cls(
            model=model,
            named=given.argument,
            pairs=pairs,
            seconds=SECONDS if given[options.TIMEOUT] is None else None,
            **said,
        )

    def ask(self, limits: Limits) -> CrosscheckAnswer:
        from bisimdist.analysis.crosscheck import DEFAULT_ALPHA, crosscheck

        alpha = DEFAULT_ALPHA if self.alpha is None else self.alpha
        return self.put(crosscheck, limits, "model", "pairs", "length", "seconds", alpha=alpha)

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        from bisimdist.models.hmm import HMM

        kind = "hmm" if isinstance(self.model, HMM) else str(self.model.canonical()["kind"])
        return {"command": self.command, "model": {"kind": kind, **identity(self.model)}}

    def unknown(self, reason: str) -> Plain:
        del reason
        known: dict[str, object] = {"measures": [], "left_out": []}
        return nothing_known({**self.frame(), "interrupted": True}, self.pairs, known)

    def settled(self, answer: CrosscheckAnswer) -> Settled:
        if answer.violated:
            return False
        if answer.interrupted or any(pair.failed or not pair.standings() for pair in answer.pairs):
            return None
        return True

    def content(self, option: Option[Any], path: str, answer: CrosscheckAnswer) -> Content:
        if option.name != HTML.name:
            return super(Crosscheck, self).content(option, path, answer)
        from bisimdist.analysis.crosscheck_page import crosscheck_page

        return crosscheck_page(answer, self.named)
