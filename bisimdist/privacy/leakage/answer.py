"""Answers about leakages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from flint import fmpq

from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import at_least, at_most
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Proved, Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.privacy.leakage.bounds import LeakageBound
from bisimdist.privacy.leakage.measures import LeakageMeasure

MAX_ROWS = 12  # how many rows of a chain are shown

NAMES = {
    "tv": "total variation",
    "chi2": "chi-squared divergence",
    "kl": "divergence of Kullback and Leibler",
    "hellinger": "squared Hellinger distance",
    "bayes": "Bayes vulnerability",
    "min-entropy": "min-entropy leakage",
    "g": "g-vulnerability",
}
MEANINGS = {
    "tv": "The best event is likelier from the first state than from the second by this much.",
    "chi2": "The sum of p^2/q over the traces, minus 1.",
    "kl": "The mean of ln(p/q) over the traces from the first state, in nats.",
    "hellinger": "The sum of (sqrt p - sqrt q)^2 over the traces: between 0 and 2.",
    "renyi": "The bounds are those of the sum of p^b q^(1-b) over the traces; the divergence is ln of that, "
    "divided by b - 1.",
    "bayes": "An adversary who sees the trace guesses the secret with this probability at best.",
    "min-entropy": "The bounds are those of the ratio of the vulnerabilities after and before the trace was "
    "seen; the leakage is ln of that.",
    "g": "An adversary who sees the trace gains this much by the best guess, on average.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakageAnswer(Proved, Shown):
    """Two-sided bounds on a measure for each pair, or for the secrets in question.

    Parameters
    ----------
    model
        The chain.
    measure
        The measure.
    pairs
        The bounds, in the order in which they were asked.
    status
        How the work ended.
    statistics
        Counts of what was done.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.leakage(chain, "tv").pairs[0].upper
    1/5
    """

    command = "leakage"

    symmetric: ClassVar = False

    model: Any
    measure: LeakageMeasure
    pairs: tuple[LeakageBound, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)
    picked: Callable[[], Sequence[str]] = field(default=tuple, repr=False, compare=False)
    """Which actions the lower bounds rest on, where somebody asks."""

    @property
    def worst(self) -> LeakageBound:
        """The one with the largest upper bound."""
        return max(self.pairs, key=lambda pair: (pair.upper is None, pair.upper or fmpq(0)))

    def data(self) -> dict[str, object]:
        """Return the bounds as plain data."""
        return {"measure": self.measure.shown, **said(self, "pairs status statistics")}

    def report(self) -> Report:
        """Return the answer for a person."""
        measure = self.measure
        wide = any(len(bound.states) > 2 for bound in self.pairs)
        columns = ("secrets",) if wide else ("secret", "secret") if measure.of_secrets else ("from", "to")
        rows = []
        for bound in self.pairs:
            names = (", ".join(bound.states),) if wide else bound.states
            rows.append((*names, *_numbers(bound)))
        heads = ["lower bound", "upper bound"]
        if measure.of_secrets:
            heads.insert(0, "before")
        if measure.logarithmic:
            heads.append("ln" if measure.name == "min-entropy" else "divergence")
        worst = self.worst
        remarks = [MEANINGS[measure.name], *_why_infinite(worst), *_cut_off(worst), *_member(worst)]
        if self.status is Status.LIMIT:
            remarks.append(
                "A limit ended the work before the interval was as narrow as asked; it is certified."
            )
        return Report(
            heading=f"{NAMES.get(measure.name, f'divergence of Rényi of order {measure.order}')} of traces",
            columns=(*columns, *heads),
            rows=tuple(rows),
            remarks=tuple(remarks),
        )


def _numbers(bound: LeakageBound) -> list[str]:
    cells = [
        "inf" if bound.lower is None else at_least(bound.lower),
        "inf" if bound.upper is None else at_most(bound.upper),
    ]
    if bound.before is not None:
        cells.insert(0, format_rational(bound.before))
    if bound.enclosure is not None:
        low, high = bound.enclosure
        cells.append(low if low == high else f"{low} to {high}")
    return cells


def _why_infinite(bound: LeakageBound) -> list[str]:
    if bound.unending is None:
        return []
    trace = " ".join(bound.unending.trace)
    if not bound.unending.cycle:
        return [f"It is infinite for ({bound.source}, {bound.target}): only {bound.source} may show {trace}."]
    return [
        f"It is infinite for ({bound.source}, {bound.target}): after {trace} the sums grow without end with "
        f"every round of {' '.join(bound.unending.cycle)}."
    ]


def _member(bound: LeakageBound) -> list[str]:
    """Say in which chain of those in the intervals so much leaks."""
    if bound.member is None:
        return []
    rows = [
        f"{name} to {', '.join(f'{t} {p}' for t, p in row.items())}" for name, row in bound.member.items()
    ]
    more = ["... --json gives the rest"] if len(rows) > MAX_ROWS else []
    return [f"The lower bound is that of a chain with the rows {'; '.join([*rows[:MAX_ROWS], *more])}."]


def _cut_off(bound: LeakageBound) -> list[str]:
    """Say what runs that were cut off weigh, and what holds without them."""
    if not bound.cut or not any(bound.cut):
        return []
    said = [
        f"Runs are cut off with probabilities {' and '.join(map(at_most, bound.cut))}; the bounds allow for "
        "whatever they would do."
    ]
    found = bound.coarser
    if found is not None and found.upper is not None:
        text = " to ".join(found.enclosure) if found.enclosure else at_most(found.upper)
        said.append(
            "They may show an output that is impossible from the other start, so no upper bound is known. An "
            f"observer who tells apart only the {len(found.outputs or ())} likeliest outputs learns {text}."
        )
    return said
