"""The pure budget of programs of which an observer sees nothing but what they return."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from bisimdist.programs.chain import CUT, ProgramChain

__all__ = ["OutputRatio", "output_ratio"]


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
    rows = [dict(chain.rows[chain.index(name)]) for name in (source, target)]
    states = set(rows[0]) | set(rows[1])
    if any(chain.rows[state] != ((state, 1),) for state in states):
        return None
    cut = [chain.cut_from(name) for name in (source, target)]
    best, output = fmpq(1), ""
    for one, other in ((0, 1), (1, 0)):
        for state, p in rows[one].items():
            if chain.labels[state] == CUT and any(cut):
                continue
            most = rows[other].get(state, fmpq(0)) + cut[other]
            if most == 0:
                return OutputRatio(None, chain.labels[state], True)
            if p / most > best:
                best, output = p / most, chain.labels[state]
    return OutputRatio(best, output, not any(cut))
