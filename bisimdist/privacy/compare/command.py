"""Delta and all distances of a pair side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.nature import AboutNature
from bisimdist.faces.asked.question import Group, Plain, Settled, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.models.interactive import System
    from bisimdist.models.intervals import IntervalChain
    from bisimdist.privacy.compare.ask import Compared
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare(AboutNature["Compared"]):
    """Show delta and all distances of a pair side by side, in the order that the theory demands.

    If an answer violates the order, this program has a fault, and the exit code is 1.
    """

    command = "compare"
    tabled = "listed"
    group = Group.DISTANCES
    example = "example:figure1 --alpha 11/10"
    options = (
        options.ALPHA,
        options.PAIR,
        options.GAP.but(help="Stop when the bounds on delta are at most G apart."),
        options.ROUNDS,
        options.NATURE,
        options.TIMEOUT,
        options.MEMORY,
        options.JSON,
    )

    shown = ("alpha",)

    model: System | IntervalChain
    pairs: tuple[tuple[str, str], ...]
    alpha: fmpq
    gap: fmpq | None
    rounds: int | None = None
    nature: str = "each-step"

    @classmethod
    def read(cls, given: Given) -> Compare:
        said = given.fields(cls)
        if said["alpha"] is None:
            raise UsageError(
                "no --alpha was given; expected a number that is at least 1, such as --alpha 11/10"
            )
        model = given.rough_system()
        return cls(model=model, pairs=given.pairs(model), **said)

    def ask(self, limits: Limits) -> Compared:
        from bisimdist.privacy.compare.ask import compare

        return self.put(compare, limits)

    def unknown(self, reason: str) -> Plain:
        truth = {"name": "delta", "lower": "0", "upper": "1", "exact": False}
        known = {
            "facts": [],
            "measures": [truth],
            "order": [],
            "left_out": {},
            "errors": [],
            "violated": False,
        }
        return nothing_known({**self.frame(), "violated": False}, self.pairs, known)

    def settled(self, answer: Compared) -> Settled:
        if answer.violated:
            return False
        return None if answer.interrupted else True
