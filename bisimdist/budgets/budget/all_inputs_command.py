"""The budget of a program for all inputs, of a length or of any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import ANY_LENGTH, DOMAIN, SIZE
from bisimdist.faces.asked.question import Question, Settled
from bisimdist.faces.asked.skew import Skew, read_optional_skew

if TYPE_CHECKING:
    from bisimdist.budgets.budget.all_inputs import AllInputsBudget
    from bisimdist.progress import Limits

_REFUSED = (
    options.INPUT,
    options.COST,
    options.CUT,
    options.GAP,
    options.CLUSTER,
    *options.COMPILED_OPTIONS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetForAllInputs(Question["AllInputsBudget"]):
    """What a program gives away at most, whatever its input is."""

    command = "budget"

    function: str
    neighbours: str
    length: int | None
    domain: tuple[int, ...] | None
    skew: Skew

    @classmethod
    def read(cls, given: Given) -> BudgetForAllInputs:
        for option in _REFUSED:
            if given.values.get(option.name):
                raise UsageError(f"{option.flag} is for inputs that are named; leave it out for all inputs")
        if (given[options.OBSERVE] or "output") != "output":
            raise UsageError("for all inputs the observer sees the output; leave --observe out")
        if given.argument.endswith(".wasm") or ".wasm:" in given.argument:
            raise UsageError("--all-inputs is for FILE.py:FUNCTION")
        size = given[SIZE]
        if given[ANY_LENGTH] == (size is not None):
            raise UsageError("expected --any-length, or the length of the lists with --all-inputs --size N")
        return cls(
            function=given.argument,
            neighbours=given[options.NEIGHBOURS] or "one",
            length=size,
            domain=_integers(given[DOMAIN]),
            skew=read_optional_skew(given),
        )

    def frame(self) -> dict[str, object]:
        return {"command": self.command}

    def ask(self, limits: Limits) -> AllInputsBudget:
        from bisimdist.budgets.budget.all_inputs import all_inputs_budget

        return self.put(all_inputs_budget, limits, **self.skew.said)

    def settled(self, answer: AllInputsBudget) -> Settled:
        return answer.holds


def _integers(text: str | None) -> tuple[int, ...] | None:
    """Return the integers between which elements lie."""
    if text is None:
        return None
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--domain {text[:60]}: for all inputs it is integers with commas between") from None
    if sorted(found) != list(range(min(found), max(found) + 1)):
        raise UsageError(f"--domain {text[:60]}: for all inputs it is integers without a gap")
    return found
