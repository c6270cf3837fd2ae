"""The exact budget of a program over all neighbours among its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, format_rational
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.models.io.theorem import Laws, laws_of_chain
from bisimdist.models.lmc import Row
from bisimdist.parallel import Pool
from bisimdist.privacy.delta.answer import DeltaAnswer
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.delta.jobs import delta_of_each
from bisimdist.programs.chain import CUT, ProgramChain
from bisimdist.programs.program.answer import raised_remarks, ratio_data, ratio_remarks
from bisimdist.programs.ratios import OutputRatio, output_ratio
from bisimdist.progress import NEVER, Deadline, Progress, silent

MOST_ROWS = 20
MOST_DIGITS = 80

PART = 256  # pairs are compared so many at a time


@dataclass(frozen=True, kw_only=True)
class ProgramBudget(Shown):
    """The budget of a program: the most that neighbouring inputs give away.

    Parameters
    ----------
    model
        The program, with a start for each input.
    classes
        How many inputs are left when those with the same distribution of what is seen are one.
    compared
        How many pairs of those there are.
    pair
        The names of the worst pair of inputs.
    ratio
        The largest ratio of the probabilities of an output, where that was asked.
    delta
        The bounds on delta, where an alpha was given.

    Examples
    --------
    >>> import bisimdist
    >>> from bisimdist.models.library.programs.responses import rappor
    >>> inputs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> model = bisimdist.explore(rappor, inputs, neighbours="one")
    >>> bisimdist.budgets.program_budget(model).ratio.ratio
    21/19
    """

    command = "budget"

    model: ProgramChain
    classes: int
    compared: int
    pair: tuple[str, str]
    ratio: OutputRatio | None
    delta: DeltaAnswer | None

    def probabilities(self) -> tuple[fmpq, fmpq]:
        """Return how likely the output that attains the ratio is from the worst pair."""
        model, output = self.model, "" if self.ratio is None else self.ratio.output
        rows = (model.rows[model.index(name)] for name in self.pair)
        one, two = (sum((p for state, p in row if model.labels[state] == output), fmpq(0)) for row in rows)
        return one, two

    def certificate(self) -> dict[str, object]:
        """Return the proof: of the bounds on delta, or that it is 0 at the ratio.

        Raises
        ------
        UsageError
            If no ratio bounds the outputs, or it is not known exactly.
        """
        if self.delta is not None:
            return self.delta.certificate()
        found = self.ratio
        if found is None or found.ratio is None or not found.exact:
            raise UsageError("there is no exact ratio to prove; give --alpha")
        return delta(self.model, found.ratio, pairs=_merged(self.model)[1]).certificate()

    def laws(self) -> Laws:
        """Return the laws of all inputs, and the ratio, for a theorem.

        Raises
        ------
        UsageError
            If no ratio bounds the outputs, it is not known exactly, or the laws are too long.
        """
        found = self.ratio
        if found is None or found.ratio is None or not found.exact:
            raise UsageError("a theorem states a finite and exact ratio of outputs; there is none")
        names = self.model.states
        return laws_of_chain(self.model, [(names[s], names[t]) for s, t in self.model.pairs], found.ratio)

    @property
    def status(self) -> Status:
        """How the work ended."""
        if self.delta is not None:
            return self.delta.status
        found = self.ratio
        return Status.EXACT if found is not None and (found.exact or found.ratio is None) else Status.LIMIT

    def data(self) -> dict[str, object]:
        model = self.model
        data: dict[str, object] = {
            "program": {**model.origin.data(), "places": model.origin.explored},
            "inputs": list(self.pair),
            "neighbours": len(model.pairs),
            "classes": self.classes,
            "compared": self.compared,
            "any_order": model.origin.any_order,
        }
        if self.delta is not None:
            shown = self.delta.data()
            return {**data, **{key: shown[key] for key in ("pairs", "worst", "status")}}
        return {
            **data,
            **ratio_data(self.ratio),
            "exact": self.status is Status.EXACT,
            "probabilities": [format_rational(p) for p in self.probabilities()],
        }

    def report(self, epsilon: str | None = None) -> Report:
        """Return the answer for a person.

        Parameters
        ----------
        epsilon
            What was asked instead of alpha, where it was.
        """
        model = self.model
        remarks = [
            f"Pairs of neighbours: {len(model.pairs)}. Inputs whose outputs have the same probabilities "
            "count as one, and so do pairs that differ only in the names of outputs. "
            f"Different inputs: {self.classes}; different pairs: {self.compared}."
        ]
        starts = {state for pair in model.pairs for state in pair}
        remarks += raised_remarks(model, (model.states[state] for state in starts))
        if model.origin.any_order:
            remarks.append(
                "The order of the elements of an input makes no difference: whichever element comes "
                "next, the outputs have the same probabilities. So only one order was explored."
            )
        source, target = self.pair
        if self.delta is not None:
            report = self.delta.report(epsilon)
            return replace(
                report,
                rows=report.rows[:MOST_ROWS],
                remarks=(*remarks, *report.remarks, f"The worst pair is {source} and {target}."),
            )
        one, two = (format_rational(p) for p in self.probabilities())
        attained = f": probabilities {one} and {two}" if len(one + two) < MOST_DIGITS else ""
        return Report(
            heading=f"{model.origin.function} over all neighbours",
            remarks=(
                *ratio_remarks(self.ratio),
                f"The worst pair is {source} and {target}{attained}.",
                *remarks,
            ),
        )


def program_budget(  # noqa: PLR0913
    model: ProgramChain,
    alpha: ExactNumber | None = None,
    *,
    epsilon: ExactNumber | None = None,
    gap: ExactNumber | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    cluster: str | None = None,
    progress: Progress = silent,
) -> ProgramBudget:
    """Return the budget of a program over its pairs of inputs.

    Parameters
    ----------
    model
        The program, explored with all its inputs and neighbours.
    alpha, epsilon
        Where one of them is given, delta is bounded there; otherwise the ratio of outputs is found.
    gap, deadline, memory, progress
        As for `bisimdist.delta`.
    cluster
        Where workers are that share the pairs, as for `bisimdist.bound`; each is then looked at by itself.

    Returns
    -------
    ProgramBudget
        The budget with the inputs that attain it, or bounds on delta.

    Raises
    ------
    UsageError
        If more is seen of the program than its outputs, and neither alpha nor epsilon is given.

    Examples
    --------
    >>> from bisimdist.models.library.programs.responses import rappor
    >>> from bisimdist.programs.front import explore
    >>> inputs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> program_budget(explore(rappor, inputs, neighbours="one")).ratio.ratio
    21/19
    """
    classes, pairs = _merged(model)
    if alpha is not None or epsilon is not None:
        asked: dict[str, Any] = {
            "alpha": alpha,
            "epsilon": epsilon,
            "gap": gap,
            "worst": True,
            "memory": memory,
        }
        if cluster is None:
            found = delta(model, pairs=pairs, deadline=deadline, progress=progress, **asked)
        else:
            found = delta_of_each(
                model, pairs, cluster=cluster, asked=asked, deadline=deadline, progress=progress
            )
        worst = (found.worst.source, found.worst.target)
        return ProgramBudget(
            model=model, classes=classes, compared=len(pairs), pair=worst, ratio=None, delta=found
        )
    parts = [pairs[k : k + PART] for k in range(0, len(pairs), PART)]
    best, largest = pairs[0], None
    with Pool(_largest, model, cluster=cluster, deadline=deadline, progress=progress) as pool:
        for done, (pair, ratio) in enumerate(pool.map(parts)):
            progress("pairs", done * PART, len(pairs))
            if largest is None or _larger(ratio, largest):
                best, largest = pair, ratio
    return ProgramBudget(
        model=model, classes=classes, compared=len(pairs), pair=best, ratio=largest, delta=None
    )


def _largest(
    model: ProgramChain, pairs: Sequence[tuple[str, str]], deadline: Deadline
) -> tuple[tuple[str, str], OutputRatio]:
    deadline.check()
    found: tuple[tuple[str, str], OutputRatio] | None = None
    for pair in pairs:
        ratio = output_ratio(model, *pair)
        if ratio is None:
            raise UsageError("more is seen than what is returned; give --alpha or --epsilon")
        if found is None or _larger(ratio, found[1]):
            found = pair, ratio
    if found is None:
        raise UsageError("there is no pair")
    return found


def _larger(one: OutputRatio, other: OutputRatio) -> bool:
    if one.ratio is None or other.ratio is None:
        return other.ratio is not None
    return bool(one.ratio > other.ratio)


def _merged(model: ProgramChain) -> tuple[int, Sequence[tuple[str, str]]]:
    """Return how many starts differ in what follows, and the pairs of those that differ; one in any case."""
    kinds: dict[Row, int] = {}
    kind = {
        state: kinds.setdefault(model.rows[state], len(kinds))
        for state in dict.fromkeys(state for pair in model.pairs for state in pair)
    }
    kept: dict[tuple[int, ...], tuple[int, int]] = {}
    for pair in model.pairs:
        one, other = sorted(kind[state] for state in pair)
        if one != other:
            kept.setdefault((one, other), pair)
    unlike: dict[Hashable, tuple[int, int]] = {}
    for pair in kept.values() or model.pairs[:1]:
        unlike.setdefault(_symmetric(model, pair), pair)
    return len(kinds), [(model.states[s], model.states[t]) for s, t in unlike.values()]


def _symmetric(model: ProgramChain, pair: tuple[int, int]) -> Hashable:
    """Return what pairs have in common that differ in the names of outputs, or in their order, only.

    Delta and the ratio are functions of how often each two probabilities come together.
    """
    rows = [dict(model.rows[state]) for state in pair]
    outputs = rows[0].keys() | rows[1].keys()
    if any(model.rows[state] != ((state, 1),) for state in outputs):
        return pair
    both = Counter(
        (rows[0].get(state, 0), rows[1].get(state, 0), model.labels[state] == CUT) for state in outputs
    )
    swapped = Counter({(q, p, cut): n for (p, q, cut), n in both.items()})
    return frozenset((frozenset(both.items()), frozenset(swapped.items())))
