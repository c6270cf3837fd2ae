"""The linear program of a pair as a file that other solvers read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.questions import options
from bisimdist.questions.given import Given
from bisimdist.questions.option import Option
from bisimdist.questions.options import PROGRAM_FILE
from bisimdist.questions.question import Group, Question

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.analysis.pair_program import PairProgram
    from bisimdist.models.lmc import LMC
    from bisimdist.progress import Limits
    from bisimdist.report.tables import Report

__all__ = ["Export"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export(Question["PairProgram"]):
    """Write the linear program whose optimum is the distance of a pair, for other solvers.

    Its costs are the exact distances of the successors, as doubles in the file. MODEL is a file, '-' for
    standard input, or example:NAME[,key=value...]; without --lp the program is printed.
    """

    command = "export"
    group = Group.DISTANCES
    example = "example:figure1 --alpha 11/10"
    options = (
        options.ALPHA.but(default="1"),
        options.PAIR.but(help="The pair of states."),
        PROGRAM_FILE,
        options.JOBS,
        options.TIMEOUT,
        options.MEMORY,
        options.JSON,
    )
    sources = ("CMP18 Definition 12",)
    start = {"lower": "0", "upper": "1"}  # noqa: RUF012
    shown = ("alpha",)

    model: LMC
    alpha: fmpq
    pairs: tuple[tuple[str, str], ...]
    output: str | None

    @classmethod
    def read(cls, given: Given) -> Export:
        said = given.fields(cls)
        model = given.chain()
        pairs = given.pairs(model)
        if len(pairs) > 1:
            raise UsageError("export takes one pair; choose it with --pair")
        return cls(**said, model=model, pairs=pairs, output=given[PROGRAM_FILE])

    def ask(self, limits: Limits) -> PairProgram:
        from bisimdist.analysis.pair_program import pair_program

        ((source, target),) = self.pairs
        return self.put(pair_program, limits, "model", "alpha", source=source, target=target)

    def report(self, answer: PairProgram) -> Report | str:
        return answer.written("lp") if self.output is None else answer.report()

    def content(self, option: Option[Any], path: str, answer: PairProgram) -> str:
        del option
        return answer.written("mps" if path.endswith(".mps") else "lp")
