"""The linear program behind the distance of one pair, for other solvers."""

from __future__ import annotations

from dataclasses import dataclass

from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine.question import checked_skew
from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, format_rational
from bisimdist.lp.problem import SkewedProblem, blocks_of
from bisimdist.lp.solve import solve
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.lmc import LMC
from bisimdist.progress import NEVER, Deadline, Progress, silent


@dataclass(frozen=True, slots=True, kw_only=True)
class PairProgram(Numbers):
    """A linear program whose optimum is the distance of a pair.

    Parameters
    ----------
    alpha
        The skew.
    source, target
        The pair, in the direction in which the distance is attained.
    states
        The nodes of the problem.
    problem
        Its costs are the exact distances of successors.
    optimum
        The distance.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.distances.pair_program(chain, 1, "s0", "s1").optimum
    1/5
    """

    alpha: Exact
    source: str
    target: str
    states: tuple[str, ...]
    problem: SkewedProblem
    optimum: Exact

    def written(self, format: str) -> str:
        """Return the program as a text that other solvers read, its numbers rounded to doubles.

        Parameters
        ----------
        format
            ``"lp"`` or ``"mps"``.
        """
        from bisimdist.lp.backends.pulp_backend import program_text  # noqa: PLC0415 - slow to load

        what = (
            f"bd of ({self.source}, {self.target}) at alpha = {format_rational(self.alpha)}",
            f"the optimum is {format_rational(self.optimum)}; numbers below are rounded to doubles",
            "w_i_j is the mass that moves from state i to state j, eta_i what state i gives up at cost 1",
            *(f"state {i} is {name}" for i, name in enumerate(self.states)),
        )
        return program_text(self.problem, format, what)


def pair_program(  # noqa: PLR0913
    model: LMC,
    alpha: ExactNumber,
    source: str,
    target: str,
    *,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> PairProgram:
    """Return the linear program whose optimum is the bisimilarity distance of a pair.

    It is the lifting at the exact distances of the successors, in the direction that is worth more.

    Source: CMP18, Section 5.

    Parameters
    ----------
    model
        The chain.
    alpha
        The skew, at least 1.
    source, target
        The pair.
    deadline, memory, jobs, progress
        As for `bisimdist.bound`.

    Returns
    -------
    PairProgram
        The program, with its optimum.

    Raises
    ------
    UsageError
        If no program is behind the distance: of a state and itself, or of states with different labels.
    LimitError
        If the distances are not known exactly by then.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> found = pair_program(figure1(), 1, "s0", "s1")
    >>> found.optimum, found.states
    (1/5, ('s2', 's3'))
    """
    skew = checked_skew(alpha, None)
    s, t = model.index(source), model.index(target)
    classes = distinguishable_classes(model)
    if s == t or classes[s] != classes[t]:
        raise UsageError(f"({source}, {target}) is at distance {int(s != t)} without any linear program")
    touched = {classes[i] for row in (model.rows[s], model.rows[t]) for i, _ in row}
    support = {i for row in (model.rows[s], model.rows[t]) for i, _ in row}
    nodes = [i for i in range(len(model)) if (i in support if skew == 1 else classes[i] in touched)]
    asked = [(s, t)] + [(i, j) for i in nodes for j in nodes if i < j]
    answer = bound(
        model,
        skew,
        pairs=[(model.states[i], model.states[j]) for i, j in asked],
        deadline=deadline,
        memory=memory,
        jobs=jobs,
        progress=progress,
    )
    if not all(pair.exact for pair in answer.pairs):
        raise LimitError("the distances of the successors are not known exactly")
    known = {pair: found.upper for pair, found in zip(asked, answer.pairs, strict=True)}
    one_class = [0] * len(model)
    ways = [
        blocks_of(model, one_class, *way, lambda i, j: known[min(i, j), max(i, j)], skew, nodes=nodes)[0]
        for way in ((s, t), (t, s))
    ]
    values = [solve(block.problem, deadline=deadline).value for block in ways]
    best = values.index(max(values))
    return PairProgram(
        alpha=skew,
        source=(source, target)[best],
        target=(target, source)[best],
        states=tuple(model.states[i] for i in ways[best].nodes),
        problem=ways[best].problem,
        optimum=known[s, t],
    )
