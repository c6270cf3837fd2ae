"""The exact budget of a mechanism over all neighbouring inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.program_source import is_program, refuse_program_options
from bisimdist.faces.asked.question import Content, Group, Question

if TYPE_CHECKING:
    from bisimdist.budgets.budget.ask import MechanismBudget
    from bisimdist.budgets.budget.program import ProgramBudget
    from bisimdist.budgets.engine.budget import QueryFamily
    from bisimdist.models.library.parameters import Choice, Integer, Rational
    from bisimdist.progress import Limits

    Parameter = Choice | Integer | Rational

OF_PROGRAMS: tuple[Option[Any], ...] = (
    options.DOMAIN,
    options.SIZE,
    options.ALL_INPUTS,
    options.ANY_LENGTH,
    options.INPUT.but(help="Programs: an input, instead of all inputs of a size; repeatable."),
    options.NEIGHBOURS.but(
        help="Programs: the neighbouring inputs: one (the default), all, or FILE.py:NAME."
    ),
    options.OBSERVE,
    options.COST,
    *options.COMPILED_OPTIONS,
    options.ALPHA.but(help="Programs: bound delta at this alpha, instead of the ratio of outputs."),
    options.EPSILON,
    options.CUT,
    options.GAP.but(help="Programs: cut finely enough for bounds at most G apart."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Question["MechanismBudget"]):
    """Compute the exact privacy budget of a mechanism over all neighbouring inputs.

    MECHANISM is noisy-max or geometric with settings, such as noisy-max,n=5,variant=naive,adjacency=one; or
    the file of a table (kind: mechanism); or FILE.py:FUNCTION, a Python function; or FILE.wasm:FUNCTION,
    compiled code. The inputs of a function are all lists of --size elements of --domain; with
    --all-inputs all integers, with --any-length lists of any length.
    """

    command = "budget"
    group = Group.HIDDEN
    example = "noisy-max,n=2"
    argument = "MECHANISM"
    options = (
        *OF_PROGRAMS,
        options.CLUSTER.but(help="Share the neighbours among Dask workers: local:N or tcp://HOST:PORT."),
        options.MEMORY,
        options.TIMEOUT.but(help="Stop after so many seconds."),
        options.CERTIFICATE.but(help="Write the claim; 'bisimdist check' proves it pair by pair."),
        options.LEAN,
        options.ROCQ,
        options.JSON,
    )

    family: QueryFamily
    adjacency: str
    cluster: str | None = None

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        from bisimdist.faces.asked.source import is_model_file

        if is_program(given.argument) and (given[options.ALL_INPUTS] or given[options.ANY_LENGTH]):
            from bisimdist.budgets.budget.all_inputs_command import BudgetForAllInputs

            return BudgetForAllInputs.read(given)
        if is_program(given.argument):
            from bisimdist.budgets.budget.program_command import BudgetOfProgram

            return BudgetOfProgram.read(given)
        refuse_program_options(given, OF_PROGRAMS)
        if is_model_file(given.argument):
            from bisimdist.budgets.budget.table import TableBudget

            return TableBudget.read(given)
        family, adjacency = _read(given.argument.removeprefix("example:"))
        if wants_theorem(given):
            from bisimdist.models.io.theorem import check_size

            check_size(family.levels**family.count, len(family.answers))
        return cls(family=family, adjacency=adjacency, cluster=given[options.CLUSTER])

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        return {"command": self.command}

    def ask(self, limits: Limits) -> MechanismBudget:
        from bisimdist.budgets.budget.ask import mechanism_budget

        return self.put(mechanism_budget, limits)

    def content(self, option: Option[Any], path: str, answer: MechanismBudget) -> Content:
        return theorem(option, answer) or Question.content(self, option, path, answer)


def wants_theorem(given: Given) -> bool:
    """Tell whether the budget is to be written as a theorem."""
    return given[options.LEAN] is not None or given[options.ROCQ] is not None


def theorem(option: Option[Any], answer: MechanismBudget | ProgramBudget) -> str | None:
    """Return the budget as a theorem, where that is what belongs into the file of an option."""
    if option.name not in {options.LEAN.name, options.ROCQ.name}:
        return None
    from bisimdist.models.io.theorem_writers import WRITERS

    return WRITERS[option.name](answer.laws())


def _noisy_max(values: dict[str, Any]) -> QueryFamily:
    from bisimdist.budgets.engine.budget import noisy_max_family

    ties = "first" if values["variant"] == "naive" else "uniform"
    return noisy_max_family(values["n"], alpha=values["alpha"], levels=values["levels"], ties=ties)


def _geometric(values: dict[str, Any]) -> QueryFamily:
    from bisimdist.budgets.engine.budget import geometric_family

    return geometric_family(alpha=values["alpha"], levels=values["levels"])


def _mechanisms() -> dict[str, tuple[tuple[Parameter, ...], Callable[[dict[str, Any]], QueryFamily]]]:
    """Return the mechanisms: what their settings are, and what makes them."""
    from bisimdist.models.library.parameters import Choice, Integer, Rational

    noise, adjacency = Rational("alpha", "1/2"), Choice("adjacency", "all", ("all", "one"))
    variant = Choice("variant", "improved", ("naive", "improved"))
    noisy_max = (variant, Integer("n", 3, 1, 12), Integer("levels", 3, 2, 10), noise, adjacency)
    return {
        "noisy-max": (noisy_max, _noisy_max),
        "geometric": ((Integer("levels", 3, 2, 200), noise, adjacency), _geometric),
    }


def _read(text: str) -> tuple[QueryFamily, str]:
    """Return the mechanism and the adjacency that a text asks for."""
    mechanisms = _mechanisms()
    name, *settings = (part.strip() for part in text.split(","))
    if name not in mechanisms:
        raise UsageError(f"there is no mechanism {name[:40]!r}; there are {', '.join(mechanisms)}")
    parameters, build = mechanisms[name]
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {parameter.name: parameter.default for parameter in parameters}
    given: set[str] = set()
    for setting in settings:
        key, _, value = (part.strip() for part in setting.partition("="))
        if key not in known or key in given:
            raise UsageError(
                f"{name}: {setting[:40]!r} is not usable; expected each once: {', '.join(known)}"
            )
        given.add(key)
        try:
            values[key] = known[key].read(value)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from error
    return build(values), values["adjacency"]
