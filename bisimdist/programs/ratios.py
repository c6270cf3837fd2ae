"""The pure budget of programs of which an observer sees nothing but what they return."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from bisimdist.programs.chain import CUT, ProgramChain

__all__ = ["OutputRatio", "output_delta", "output_ratio"]


@dataclass(frozen=True, slots=True)
class OutputRatio:
    """The largest quotient of the probabilities of one output, in either direction.

    Parameters
    ----------
    ratio
        The quotient; None for infinity.
    output
        The output that attains it.
    exact
        Whether nothing was cut off; otherwise the quotient is at least this.
    """

    ratio: fmpq | None
    output: str
    exact: bool


def output_ratio(chain: ProgramChain, source: str, target: str) -> OutputRatio | None:
    """Return the ratio of a pair of starts; None where more is seen than an output.

    Parameters
    ----------
    chain
        The chain.
    source, target
        The starts.

    Notes
    -----
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


def _outputs(chain: ProgramChain, source: str, target: str) -> list[dict[str, fmpq]] | None:
    """Return how likely each output is from two starts; None where more is seen."""
    rows: list[dict[str, fmpq]] = [{}, {}]
    for name, row in zip((source, target), rows, strict=True):
        for state, p in chain.rows[chain.index(name)]:
            if chain.rows[state] != ((state, 1),):
                return None
            row[chain.labels[state]] = row.get(chain.labels[state], fmpq(0)) + p
    return rows
