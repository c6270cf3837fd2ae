"""The exact budget of a program over all neighbours among its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.budgets.budget.command import theorem, wants_theorem
from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import DOMAIN, SIZE
from bisimdist.faces.asked.program_source import program_model
from bisimdist.faces.asked.question import Content, Question
from bisimdist.faces.asked.skew import Skew, read_optional_skew

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.budgets.budget.program import ProgramBudget
    from bisimdist.faces.asked.option import Option
    from bisimdist.faces.shown.tables import Report
    from bisimdist.programs.chain import ProgramChain
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetOfProgram(Question["ProgramBudget"]):
    """What all neighbours among the inputs of a program give away at most."""

    command = "budget"

    model: ProgramChain
    skew: Skew
    gap: fmpq | None
    cluster: str | None = None

    @classmethod
    def read(cls, given: Given) -> BudgetOfProgram:
        skew, gap = read_optional_skew(given), given[options.GAP]
        from bisimdist.programs.chain import ProgramChain

        neighbours = given[options.NEIGHBOURS] or "one"
        model = program_model(given, inputs=_inputs(given), neighbours=neighbours, orders=True)
        if not isinstance(model, ProgramChain):
            raise UsageError("the program asks an analyst; expected 'bisimdist delta', for two inputs")
        if wants_theorem(given):
            if (skew.alpha, skew.epsilon) != (None, None):
                raise UsageError(
                    "--lean and --rocq state the ratio of outputs; expected neither --alpha nor --epsilon"
                )
            from bisimdist.models.io.theorem import laws_of_chain

            names = model.states
            laws_of_chain(model.whole(), [(names[s], names[t]) for s, t in model.pairs])
        return cls(model=model, skew=skew, gap=gap, cluster=given[options.CLUSTER])

    def ask(self, limits: Limits) -> ProgramBudget:
        from bisimdist.budgets.budget.program import program_budget

        return self.put(program_budget, limits, **self.skew.said)

    def content(self, option: Option[Any], path: str, answer: ProgramBudget) -> Content:
        return theorem(option, answer) or Question.content(self, option, path, answer)

    def report(self, answer: ProgramBudget) -> Report:
        return answer.report(self.skew.shown_epsilon)


def _inputs(given: Given) -> tuple[str, ...]:
    """Return the inputs that were named, or all of a size."""
    domain, size, named = given[DOMAIN], given[SIZE], given[options.INPUT]
    if named or domain is None or size is None:
        if domain is None and size is None and named:
            return named
        raise UsageError(
            "expected --domain and --size together, such as --domain 0,1 --size 4, or each input by --input"
        )
    from bisimdist.programs.inputs import inputs_of_size
    from bisimdist.programs.texts import literal

    try:
        values = literal(f"[{domain}]")
    except ValueError:
        raise UsageError(
            f"--domain {domain[:60]}: expected Python literals with commas between them"
        ) from None
    return tuple(map(repr, inputs_of_size(values, size)))
