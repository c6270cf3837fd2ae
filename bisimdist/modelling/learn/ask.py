"""Chains learned from runs whose states are seen: intervals in which the true chain lies, with confidence."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence

from flint import fmpq

from bisimdist.errors import ModelError, UsageError
from bisimdist.exact.binomial import binomial_interval
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.intervals import IntervalChain

END = "(end)"  # the state, and the label, after the last one of a run
Run = Sequence[tuple[str, str]]  # what was seen of a run: state and label, step by step


def learn(runs: Iterable[Run], confidence: ExactNumber = "0.99", *, seen_only: bool = False) -> IntervalChain:
    """Return a chain in intervals that contains the true chain, with the confidence.

    The number of times that a run leaves a state is itself random. An interval therefore has the risk r / (n
    (n + 1)) for the count n, and the risk r over all n. The risks r of all intervals add up to 1 -
    confidence. See docs/theory/intervals.md.

    ``runs``: independent runs of a chain, each whole: after its last state a run has ended.
    ``confidence``: with what probability, at least, the true chain is inside; in (0, 1).
    ``seen_only``: whether only transitions that were seen are possible; else those between all states are.
    returns: with an interval of Clopper and Pearson for every transition that may be possible.
    Raises UsageError if nothing was seen, a state was seen with two labels, or the confidence is out of
    range.

    >>> chain = learn([[("s", "a")], [("s", "a"), ("t", "b")]], "0.9", seen_only=True)
    >>> chain.states, [target for target, _, _ in chain.rows[0]]
    (('s', 't', '(end)'), [1, 2])
    """
    sure = to_fmpq(confidence)
    if not 0 < sure < 1:
        raise UsageError(f"the confidence is {sure}; expected a number between 0 and 1")
    labels: dict[str, str] = {}
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        for state, label in run:
            if state == END or labels.setdefault(state, label) != label:
                raise UsageError(
                    f"the state {state!r} is seen with the labels {labels.get(state, END)!r} and {label!r}; "
                    "a state has one label"
                )
        for (state, _), (target, _) in zip(run, [*run[1:], (END, END)], strict=True):
            counts.setdefault(state, Counter())[target] += 1
    if not labels:
        raise UsageError("there is no run; expected at least one")
    names = [*labels, END]
    possible = {
        state: [name for name in names if not seen_only or name in seen] for state, seen in counts.items()
    }
    unknown = sum(_unknown(targets) for targets in possible.values())
    rows = []
    for state in labels:
        seen, targets = counts[state], possible[state]
        total = sum(seen.values())
        risk = (1 - sure) / (unknown * total * (total + 1)) if unknown else fmpq(0)
        ends = [(names.index(name), *_interval(seen[name], total, risk, targets)) for name in targets]
        rows.append(tuple(ends))
    rows.append(((len(labels), fmpq(1), fmpq(1)),))
    return IntervalChain(tuple(names), (*labels.values(), END), tuple(rows), confidence=sure)


def _unknown(targets: Sequence[str]) -> int:
    """Return how many intervals a row needs: one of two successors says all of the other."""
    return len(targets) if len(targets) > 2 else len(targets) - 1


def _interval(count: int, total: int, risk: fmpq, targets: Sequence[str]) -> tuple[fmpq, fmpq]:
    return binomial_interval(count, total, risk) if len(targets) > 1 else (fmpq(1), fmpq(1))


def runs_of_csv(text: str, state: str, label: str | None = None, run: str | None = None) -> list[Run]:
    """Return the runs of a table with a line for each step, in their order.

    ``text``: the table, with the names of its columns in the first line.
    ``state``, ``label``: the columns of the states, and of what an observer sees of them: by default the
        state itself.
    ``run``: the column that says to which run a step belongs; None if all are one.
    Raises ModelError if a column is missing, with the columns that are there; or a line has no value in one.
    """
    reader = csv.DictReader(io.StringIO(text), strict=True)
    runs: dict[str, list[tuple[str, str]]] = {}
    try:
        columns = reader.fieldnames or ()
        for column in (state, label, run):
            if column is not None and column not in columns:
                known = ", ".join(columns) or "none"
                raise ModelError(f"there is no column {column!r}; expected one of {known}", line=1)
        for row in reader:
            values = [row[column] if column else "" for column in (state, label or state, run)]
            if None in values:
                raise ModelError("the line is too short", line=reader.line_num)
            runs.setdefault(values[2], []).append((values[0], values[1]))
    except csv.Error as error:
        raise ModelError(f"no table: {error}", line=reader.line_num) from None
    return list(runs.values())
