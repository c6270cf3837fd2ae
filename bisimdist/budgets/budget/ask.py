"""The exact budget of a mechanism over all neighbouring inputs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

from bisimdist.budgets.engine.budget import (
    Adjacency,
    BudgetResult,
    QueryFamily,
    privacy_budget,
    worst_of_part,
)
from bisimdist.budgets.prove.certificate import (
    mechanism_certificate,
)
from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.number import Exact
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.numbers import exact_value, short_rational
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.models.io.theorem import Laws, check_size, laws
from bisimdist.parallel import Pool
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent

NEIGHBOURS = {
    "all": "every query result may differ by at most one",
    "one": "one query result differs by one",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismBudget(Shown):
    """The exact budget of a mechanism over all neighbouring inputs.

    Parameters
    ----------
    result
        The value, with the pair and the answer that attain it, and the adjacency.

    Examples
    --------
    >>> import bisimdist
    >>> from bisimdist.budgets.engine.budget import noisy_max_family
    >>> bisimdist.mechanism_budget(noisy_max_family(2), "all").ratio
    12/5
    """

    command = "budget"

    result: BudgetResult

    @property
    def ratio(self) -> Exact | None:
        """The value; None where no budget holds."""
        return self.result.ratio

    @property
    def epsilon(self) -> tuple[str, str] | None:
        """Decimals below and above the logarithm of the value, where it is finite."""
        return None if self.result.ratio is None else log_enclosure(self.result.ratio)

    def data(self) -> dict[str, object]:
        result = self.result
        return {
            "mechanism": result.family.name,
            "adjacency": result.adjacency.value,
            "ratio": exact_value(result.ratio),
            "epsilon": "inf" if self.epsilon is None else list(self.epsilon),
            "exact": True,
            "inputs": [list(results) for results in result.pair],
            "answer": result.answer,
            "probabilities": [format_rational(p) for p in result.probabilities],
            "neighbours": result.pairs,
        }

    def report(self) -> Report:
        result, family = self.result, self.result.family
        one, two = (format_rational(p) for p in result.probabilities)
        first, second = (", ".join(map(str, results)) for results in result.pair)
        value = "infinite" if result.ratio is None else short_rational(result.ratio)
        logarithm = "" if self.epsilon is None else f"; epsilon is between {' and '.join(self.epsilon)}"
        return Report(
            heading=f"{family.name}: {family.count} results from 0 to {family.levels - 1}",
            remarks=(
                f"The exact budget is {value}{logarithm}.",
                f"Neighbours: {NEIGHBOURS[result.adjacency.value]}; {result.pairs} ordered pairs.",
                f"Attained by the inputs ({first}) and ({second}) with the answer {result.answer}: "
                f"probabilities {one} and {two}.",
            ),
        )

    def laws(self) -> Laws:
        """Return the laws of all inputs, and the ratio, for a theorem.

        Raises
        ------
        UsageError
            If no ratio bounds the answers, or the laws are too long.
        """
        family, moved = self.result.family, self.result.adjacency is Adjacency.ONE
        if self.result.ratio is None:
            raise UsageError("a theorem states a finite budget; there is none")
        check_size(family.levels**family.count, len(family.answers))
        inputs = list(product(range(family.levels), repeat=family.count))
        rows = {
            str(results): {name: family.chance(k, results) for k, name in enumerate(family.answers)}
            for results in inputs
        }
        steps = (
            (one, other, [abs(a - b) for a, b in zip(one, other, strict=True)])
            for one, other in combinations(inputs, 2)
        )
        near = [(str(s), str(t)) for s, t, by in steps if max(by) <= 1 and (not moved or sum(by) == 1)]
        return laws(family.name, rows, near, self.result.ratio)

    def certificate(self) -> dict[str, object]:
        """Return what the checker needs to look at all pairs again, as plain data.

        Raises
        ------
        UsageError
            If the mechanism is none that the checker knows.
        """
        return mechanism_certificate(self.result)


def mechanism_budget(
    family: QueryFamily,
    adjacency: Adjacency | str,
    *,
    cluster: str | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> MechanismBudget:
    """Return the exact budget of a mechanism over all neighbouring inputs.

    Parameters
    ----------
    family
        The mechanism, such as `noisy_max_family(5)`.
    adjacency
        ``"one"``: one query result differs, by one; ``"all"``: every result may differ by one.
    cluster
        The workers that share the neighbours, as for `bisimdist.bound`; by default none.
    deadline, progress
        As everywhere.

    Returns
    -------
    MechanismBudget
        The budget, with the inputs and the answer that attain it.

    Raises
    ------
    LimitError
        If the deadline passes.
    UsageError
        If there is no such adjacency.

    Examples
    --------
    >>> from bisimdist.budgets.engine.budget import noisy_max_family
    >>> mechanism_budget(noisy_max_family(5), "all").ratio
    288/73
    """
    try:
        chosen = Adjacency(adjacency)
    except ValueError:
        raise UsageError(f"the adjacency is {adjacency!r}; expected 'one' or 'all'") from None
    limits = Limits(deadline=deadline, progress=progress)
    about = family, chosen
    with Pool(worst_of_part, about, cluster=cluster, deadline=deadline, progress=progress) as pool:
        return MechanismBudget(result=privacy_budget(*about, limits=limits, spread=pool.map))
