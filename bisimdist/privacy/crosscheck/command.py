"""Every bound of the project held against every other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import HTML, LENGTH
from bisimdist.faces.asked.question import Content, Group, Plain, Question, Settled, identity, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.models.kinds import KnownModel
    from bisimdist.privacy.crosscheck.answer import CrosscheckAnswer
    from bisimdist.progress import Limits

SECONDS = 60.0  # the time for each pair where none is given


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosscheck(Question["CrosscheckAnswer"]):
    """Compare every bound that applies to a pair with every other.

    The theory puts distances, metrics, budgets, SMT, traces and the two-sided delta into an order. If an
    answer violates it, this program has a fault, and the exit code is 1.
    """

    command = "crosscheck"
    tabled = "listed"
    group = Group.TOOLS
    example = "example:figure1 --length 1"
    options = (
        options.PAIR,
        options.ALPHA.but(help="The skew of delta and the distances (11/10)."),
        LENGTH.but(default=4, help="How long sequences may be, and how many rounds an analyst has."),
        options.TIMEOUT.but(help="The whole time, shared by the pairs and measures (60 for each pair)."),
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
        from bisimdist.privacy.crosscheck.ask import DEFAULT_ALPHA, crosscheck

        alpha = DEFAULT_ALPHA if self.alpha is None else self.alpha
        return self.put(crosscheck, limits, alpha=alpha)

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        from bisimdist.models.hmm import HMM

        kind = "hmm" if isinstance(self.model, HMM) else str(self.model.canonical()["kind"])
        return {"command": self.command, "model": {"kind": kind, **identity(self.model)}}

    def unknown(self, reason: str) -> Plain:
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
        from bisimdist.privacy.crosscheck.page import crosscheck_page

        return crosscheck_page(answer, self.named)
