"""The exact budget of a mechanism that is given as a table, over the inputs that it calls neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.budgets.budget.command import wants_theorem
from bisimdist.budgets.epsilon.command import Epsilon
from bisimdist.errors import UsageError
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import CLUSTER
from bisimdist.faces.asked.question import Plain, identity, nothing_known

if TYPE_CHECKING:
    from bisimdist.budgets.verify.answer import BudgetAnswer, PairBudget
    from bisimdist.faces.shown.tables import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBudget(Epsilon):
    """The least budget for one observation of all pairs of a hidden Markov model, as that of a mechanism."""

    command = "budget"
    name: str

    @classmethod
    def read(cls, given: Given) -> TableBudget:
        model = given.hmm()
        if wants_theorem(given):
            raise UsageError(
                "--lean and --rocq are for programs and mechanisms with settings; expected one of them"
            )
        if not model.pairs:
            raise UsageError(f"{given.source}: no inputs are neighbours; expected some under 'adjacency'")
        return cls(
            model=model,
            pairs=model.pairs,
            length=1,
            up_to=False,
            cluster=given[CLUSTER],
            name=given.source,
        )

    def frame(self) -> dict[str, object]:
        return {
            "command": self.command,
            "mechanism": self.name,
            "model": identity(self.model),
            "adjacency": "table",
        }

    def unknown(self, reason: str) -> Plain:
        return nothing_known({**self.frame(), "ratio": None, "epsilon": None, "exact": False}, self.pairs, {})

    def data(self, answer: BudgetAnswer) -> dict[str, object]:
        worst = _worst(answer)
        found = worst.data()
        inputs, probabilities = [worst.source, worst.target], found["probabilities"]
        shown = {key: found[key] for key in ("ratio", "epsilon")} if answer.exact else {}
        return {
            **self.frame(),
            "ratio": None,
            "epsilon": None,
            **shown,
            "exact": answer.exact,
            "inputs": inputs,
            "answer": worst.witness[0] if worst.witness else None,
            "probabilities": probabilities,
            "neighbours": len(answer.pairs),
        }

    def report(self, answer: BudgetAnswer) -> Report:
        from bisimdist.faces.shown.tables import Report

        table = answer.report()
        worst = _worst(answer)
        about = f"The largest budget is that of {worst.source} and {worst.target}"
        said = f"{about}: " + ("infinite." if worst.infinite else f"{worst.ratio}.")
        remarks = (said,) if answer.exact else ()
        return Report(heading=self.name, columns=table.columns, rows=table.rows, remarks=remarks)


def _worst(answer: BudgetAnswer) -> PairBudget:
    """Return the pair with the largest budget, as far as it is known."""
    return max(answer.pairs, key=lambda pair: (pair.infinite, pair.ratio or pair.at_least or 0))
