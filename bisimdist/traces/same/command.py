"""Two models in one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.faces.asked import options
from bisimdist.faces.asked.question import Group, Plain, Question, Settled, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.asked.given import Given
    from bisimdist.models.lmc import LMC
    from bisimdist.progress import Limits
    from bisimdist.traces.same.ask import SameAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Same(Question["SameAnswer"]):
    """Compare two models: are they equivalent, and if not, how far apart are they.

    Equivalent models give every trace the same probability. If they differ, the command prints a shortest
    trace that tells them apart, with exit code 1. In either case it bounds the bisimilarity distance and
    delta at alpha (1 by default). It compares the initial states; with --pair S T it compares the state S of
    MODEL with the state T of OTHER. MODEL and OTHER are files, or example:NAME[,key=value...]; one of them
    may be '-' for standard input.
    """

    command = "same"
    tabled = "listed"
    group = Group.TRACES
    argument = "MODEL OTHER"
    example = "example:geometric example:geometric,alpha=1/3"
    options = (
        options.ALPHA.but(default="1"),
        options.PAIR,
        options.GAP.but(help="Stop when the bounds on delta are at most G apart."),
        options.PRECISION.but(help="Accept bounds on the distance at most P apart."),
        options.TIMEOUT,
        options.MEMORY,
        options.CERTIFICATE.but(help="Write a proof of the equivalence, or of the difference."),
        options.JSON,
    )
    sources = ("CCP18 Definition 2", "CMP18 Definition 12", "CMP18 Definition 5")
    shown = ("alpha",)

    model: LMC
    pairs: tuple[tuple[str, str], ...]
    alpha: fmpq
    gap: fmpq | None
    precision: fmpq | None

    @classmethod
    def read(cls, given: Given) -> Same:
        model = given.chain()
        return cls(model=model, pairs=given.pairs(model), **given.fields(cls))

    def ask(self, limits: Limits) -> SameAnswer:
        from bisimdist.traces.same.ask import same_models

        return self.put(same_models, limits, first=self.model)

    def unknown(self, reason: str) -> Plain:
        nothing = {"lower": "0", "upper": "1", "exact": False}
        known = {"equivalent": None, "bound": nothing, "delta": nothing, "difference": None}
        return nothing_known({**self.frame(), **known}, self.pairs, known)

    def settled(self, answer: SameAnswer) -> Settled:
        return answer.equivalent
