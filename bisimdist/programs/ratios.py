"""The pure budget of programs of which an observer sees nothing but what they return."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from bisimdist.exact.rational import format_rational
from bisimdist.programs.chain import CUT, ProgramChain


@dataclass(frozen=True, slots=True)
class OutputRatio:
    """The largest quotient of the probabilities of one output, in either direction."""

    ratio: fmpq | None  # the quotient; None for infinity
    output: str  # the output that attains it
    exact: bool  # whether nothing was cut off; otherwise the quotient is at least this


def output_ratio(chain: ProgramChain, source: str, target: str) -> OutputRatio | None:
    """Return the ratio of a pair of starts; None where more is seen than an output.

    Where runs are cut off, what is cut off from the one counts against the quotient: any output may have it.
    """
    rows = _outputs(chain, source, target)
    if rows is None:
        return None
    cut = [chain.cut_from(name) for name in (source, target)]
    best, output = fmpq(1), ""
    for one, other in ((0, 1), (1, 0)):
        for label, p in rows[one].items():
            if label == CUT and any(cut):
                continue
            most = rows[other].get(label, fmpq(0)) + cut[other]
            if most == 0:
                return OutputRatio(None, label, True)
            if p / most > best:
                best, output = p / most, label
    return OutputRatio(best, output, not any(cut))


def output_delta(chain: ProgramChain, source: str, target: str, alpha: fmpq) -> fmpq | None:
    """Return delta of a pair of starts of a whole program; None where more is seen than an output."""
    rows = _outputs(chain, source, target)
    if rows is None or chain.cut:
        return None
    zero = fmpq(0)
    return max(
        sum((max(zero, p - alpha * two.get(label, zero)) for label, p in one.items()), zero)
        for one, two in (rows, rows[::-1])
    )


def least_alpha(chain: ProgramChain, source: str, target: str, delta: fmpq) -> fmpq | None:
    """Return an alpha at which delta of a pair is at most this; the least one where nothing is cut.

    chain, source, target: the chain, and the starts.
    delta: the delta that may be.
    returns: None where there is none, or more is seen than an output.
    """
    rows = _outputs(chain, source, target)
    if rows is None:
        return None
    zero, found = fmpq(0), fmpq(1)
    allowed = delta - max(chain.cut_from(source), chain.cut_from(target))
    for one, other in (rows, rows[::-1]):
        terms = [(p, other.get(label, zero)) for label, p in one.items()]
        left = sum((p for p, q in terms if not q), zero) - allowed
        if left > 0:
            return None
        shared = sorted(((p, q) for p, q in terms if q), key=lambda term: term[0] / term[1], reverse=True)
        weight = zero
        for k, (p, q) in enumerate(shared):  # delta is left + weight * alpha between two ratios
            left, weight = left + p, weight + q
            below = shared[k + 1][0] / shared[k + 1][1] if k + 1 < len(shared) else zero
            if left > weight * below:
                found = max(found, left / weight)
                break
    return found


MOST_LISTED = 20  # so many outputs that come from one side only are listed


def output_facts(chain: ProgramChain, source: str, target: str, *, law: bool = False) -> dict[str, object]:
    """Return what is known of the outputs of a pair as plain data; nothing where more is seen than an output.

    An output comes from one side only where runs of the other are cut off with probability 0.

    law: whether every output is listed with its probability.
    """
    rows = _outputs(chain, source, target)
    if rows is None:
        return {}
    names, sides = (source, target), ("from", "to")
    for row in rows:
        row.pop(CUT, None) if chain.cut else None
    cut = [chain.cut_from(name) for name in names]
    only = [
        [label for label in one if label not in other] if not cut[1 - k] else []
        for k, (one, other) in enumerate((rows, rows[::-1]))
    ]
    replayed = chain.origin.replayed
    counted = {} if replayed is None else replayed.counted
    if counted and replayed is not None:
        only = [list(replayed.only.get(pair, ())) for pair in (names, names[::-1])]
    found: dict[str, object] = {
        "only": {
            side: sorted(labels, key=_by_number)[:MOST_LISTED]
            for side, labels in zip(sides, only, strict=True)
        },
        "outcomes": {
            side: counted.get(name, len(row)) for side, name, row in zip(sides, names, rows, strict=True)
        },
    }
    if law:
        found["law"] = {
            side: {label: format_rational(row[label]) for label in sorted(row, key=_by_number)}
            for side, row in zip(sides, rows, strict=True)
        }
    return found


def _by_number(label: str) -> tuple[int, float, str]:
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label


def _outputs(chain: ProgramChain, source: str, target: str) -> list[dict[str, fmpq]] | None:
    """Return how likely each output is from two starts; None where more is seen."""
    rows: list[dict[str, fmpq]] = [{}, {}]
    for name, row in zip((source, target), rows, strict=True):
        for state, p in chain.rows[chain.index(name)]:
            if chain.rows[state] != ((state, 1),):
                return None
            row[chain.labels[state]] = row.get(chain.labels[state], fmpq(0)) + p
    return rows
