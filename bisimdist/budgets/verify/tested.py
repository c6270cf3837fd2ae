"""Testing and verification together: a tester finds where to look, verification finds the least budget there.

Source: LWZ22-conference Algorithm 4, LWZ22-long Algorithm 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

from flint import fmpq

from bisimdist.budgets.verify.answer import BudgetAnswer, PairBudget
from bisimdist.budgets.verify.ask import pair_budget
from bisimdist.budgets.verify.sampling import SampledVerdict, sample_and_verify
from bisimdist.errors import ENDINGS, UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.logarithm import alpha_below
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, format_rational
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_distributions
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.hmm import HMM
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent

ONE = fmpq(1)
REJECTED, HELD = fmpq(1, 20), fmpq(19, 20)
"""Below the first a p-value speaks against a budget; above the second it is taken to be 1."""

POINTS = 24  # into how many steps the epsilons of a curve are divided

BEYOND = 1.6  # how far a curve reaches, as a multiple of what the counts say


@dataclass(frozen=True, slots=True)
class PValue(Numbers):
    """What a published tester says of a budget e^epsilon."""

    epsilon: Exact
    value: Exact

    def data(self) -> dict[str, object]:
        """Return it as plain data, the p-value as decimals below and above it."""
        return {
            "epsilon": format_rational(self.epsilon),
            "p_value": [decimal_below(self.value, 6)[0], decimal_above(self.value, 6)[0]],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedPair(Numbers):
    """What the tester found for a pair, and what verification made of it."""

    __test__ = False  # no class of tests

    budget: PairBudget  # the least budget, by verification
    # the worst observations that the tester found, judged exactly; None where the time was over
    candidate: SampledVerdict | None = None
    curve: tuple[PValue, ...] = ()  # the p-values of the candidate by epsilon, of the worst pair
    asked: int = 0  # how many budgets were verified

    @property
    def rejected(self) -> Exact | None:
        """The largest epsilon up to which every p-value of the curve is below 0.05; None for none."""
        found = None
        for point in self.curve:
            if point.value >= REJECTED:
                break
            found = point.epsilon
        return found

    @property
    def held(self) -> Exact | None:
        """The smallest epsilon of the curve whose p-value is above 0.95; None where there is none."""
        return next((point.epsilon for point in self.curve if point.value > HELD), None)

    def data(self) -> dict[str, object]:
        data = self.budget.data()
        if self.candidate is not None:
            found = self.candidate.candidate
            data["tested"] = {
                "word": list(found.word),
                "counts": list(found.counts),
                "sampled": self.candidate.samples,
                "at_least": format_rational(found.lower),
                "ratio": "inf" if self.candidate.ratio is None else format_rational(self.candidate.ratio),
            }
        if self.curve:
            data["points"] = [point.data() for point in self.curve]
        return {**data, "asked": self.asked}

    def remarks(self) -> list[str]:
        """Say what the tester found."""
        who = f"({self.budget.source}, {self.budget.target})"
        if self.candidate is None:
            return [f"{who} was not tested: the time was over."]
        found, counts = self.candidate.candidate, " and ".join(map(str, self.candidate.candidate.counts))
        exact = "inf" if self.candidate.ratio is None else short_rational(self.candidate.ratio)
        runs, least = self.candidate.samples, decimal_below(found.lower, 4)[0]
        asked = "1 budget was" if self.asked == 1 else f"{self.asked} budgets were"
        lines = [
            f"{who}: testing saw [{' '.join(found.word)}] {counts} times in {runs} runs each, a ratio of at "
            f"least {least}; it is {exact}. {asked} verified."
        ]
        if self.curve:
            below, above = "no p-value is below 0.05", "no p-value is above 0.95"
            if self.rejected is not None:
                below = f"p-values are below 0.05 up to epsilon = {decimal_below(self.rejected, 4)[0]}"
            if self.held is not None:
                above = f"p-values are above 0.95 from epsilon = {decimal_above(self.held, 4)[0]}"
            lines.append(f"{who}: {below}; {above}.")
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedAnswer(Shown):
    """The least budget of each pair, found by testing and verification together, the worst pair first.

    Parameters
    ----------
    model, length
        The model, and the length of the sequences.
    pairs
        The pairs, the one with the largest budget first.
    samples, seed
        How often each side was run, twice, and the seed.
    status
        ``EXACT``, or ``LIMIT`` where some budgets are not known.

    Examples
    --------
    >>> import bisimdist
    >>> from bisimdist.budgets.verify.tested import tested_budget
    >>> sick = bisimdist.build_any_example("contagious-disease")
    >>> tested_budget(sick, length=1, samples=200).pairs[0].budget.ratio
    4
    """

    __test__ = False

    command = "epsilon"

    model: HMM
    length: int
    pairs: tuple[TestedPair, ...]
    samples: int
    seed: int
    status: Status = field(default=Status.EXACT)

    @property
    def budgets(self) -> BudgetAnswer:
        """The budgets alone."""
        pairs = tuple(pair.budget for pair in self.pairs)
        return BudgetAnswer(model=self.model, length=self.length, up_to=False, pairs=pairs)

    def data(self) -> dict[str, object]:
        return {"sampled": self.samples, "seed": self.seed, **Shown.data(self)}

    def report(self) -> Report:
        report = self.budgets.report()
        remarks = [line for pair in self.pairs[:SHOWN] for line in pair.remarks()]
        return Report(
            heading=f"{report.heading}, by testing and verification (seed {self.seed})",
            columns=report.columns,
            rows=report.rows,
            remarks=(*report.remarks, *remarks),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof of the budgets, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If a budget is not known.
        """
        return self.budgets.certificate()

    def curves(self) -> Any:
        """Draw the p-values of the worst pair, with its exact budget; needs matplotlib."""
        from bisimdist.budgets.verify.page import p_value_figure  # noqa: PLC0415  (most answers are not drawn)

        return p_value_figure(self)


SHOWN = 3  # of how many pairs a person is told what testing found


@interruptible
def tested_budget(  # noqa: PLR0913
    model: HMM,
    *,
    length: int,
    samples: int = 2000,
    seed: int = 0,
    confidence: ExactNumber = "99/100",
    pairs: Sequence[tuple[str, str]] | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> TestedAnswer:
    """Find the least budget of pairs by testing and verification together, the worst pair first.

    A tester runs both sides of every pair. What it finds is judged exactly, and the pairs are verified in the
    order of what it found: from the exact ratio of the candidate upwards.

    Source: LWZ22, long version, Section 7.

    Parameters
    ----------
    model
        A model without parameters.
    length
        How many observations.
    samples, seed, confidence
        As for `sample_and_verify`.
    pairs
        Names of distributions; by default the pairs of the model.
    deadline, progress, on_interrupt
        As everywhere. What was found by then is returned.

    Returns
    -------
    TestedAnswer
        The budgets with what the tester found, and the p-values of the worst pair.

    Raises
    ------
    UsageError
        If the model has parameters, or a number is out of range.

    Examples
    --------
    >>> from bisimdist.models.library.hidden_markov import geometric
    >>> [pair.budget.ratio for pair in tested_budget(geometric(), length=1, samples=100).pairs]
    [2, 2]
    """
    if model.parametric:
        raise UsageError("the model has parameters, which cannot be sampled; set them to numbers")
    asked = asked_distributions(model, pairs)
    tested: list[tuple[tuple[str, str], SampledVerdict | None]] = []
    options: dict[str, Any] = {"samples": samples, "confidence": confidence, "seed": seed}
    for place, pair in enumerate(asked):
        progress("pairs tested", place, len(asked))
        try:
            found = sample_and_verify(model, pair, 1, length, **options, deadline=deadline)
            full = [verdict for verdict in found if len(verdict.candidate.word) == length]
            tested.append((pair, full[0] if full else None))
        except ENDINGS:
            tested.append((pair, None))
    tested.sort(key=lambda entry: _worst(entry[1]))
    done: list[TestedPair] = []
    ends: list[Deadline] = []
    for place, (pair, candidate) in enumerate(tested):
        progress("pairs verified", place, len(asked))
        word = () if candidate is None else tuple(map(model.observation, candidate.candidate.word))
        budget = pair_budget(model, pair, length, False, Limits(deadline=deadline), ends, word)
        asked_of = 1 + budget.rounds - len(budget.proofs)  # both directions are asked about the last one
        done.append(TestedPair(budget=budget, candidate=candidate, asked=asked_of if budget.exact else 0))
    done.sort(key=lambda entry: _least(entry.budget))
    worst = done[0]
    if worst.candidate is not None:
        done[0] = TestedPair(
            budget=worst.budget,
            candidate=worst.candidate,
            curve=_curve(worst.candidate, deadline),
            asked=worst.asked,
        )
    known = all(pair.budget.exact or pair.budget.at_most is not None for pair in done)
    return TestedAnswer(
        model=model,
        length=length,
        pairs=tuple(done),
        samples=samples,
        seed=seed,
        status=Status.EXACT if known else Status.LIMIT,
    )


def _worst(candidate: SampledVerdict | None) -> tuple[bool, bool, fmpq]:
    if candidate is None:
        return True, True, fmpq(0)
    return False, candidate.ratio is not None, -(candidate.ratio or fmpq(0))


def _least(budget: PairBudget) -> tuple[bool, fmpq]:
    lower = budget.lower
    return lower is not None, -(lower or fmpq(0))


def _curve(candidate: SampledVerdict, deadline: Deadline) -> tuple[PValue, ...]:
    more, less = max(candidate.candidate.counts), min(candidate.candidate.counts)
    top = fmpq(max(10, round(10 * BEYOND * log(max(2.0, more / max(less, 1))))), 10)
    points: list[PValue] = []
    for k in range(POINTS + 1):
        if deadline.passed():
            break
        epsilon = top * k / POINTS
        ratio = fmpq(max(ONE, fmpq(alpha_below(epsilon)))) if epsilon else ONE
        points.append(PValue(epsilon, candidate.p_value(ratio)))
    return tuple(points)
