"""The greatest solution of the equations of the asymmetric distance, from above by strategies of couplings.

Fix a set Z of ordered pairs that count as 0. The lifting K(d) is the least cost of a coupling, so that
d <= K(d) is one linear inequality for every coupling, and the greatest d <= 1 that obeys all of them and is
0 on Z is the solution of one linear program: maximise the sum of d. It is solved here exactly, by generating
inequalities: one for every pair is in hold, and these are solved as equations. Every solution on the way is
a pre-fixed point, hence an upper bound of lv_alpha by itself. See docs/theory/delta.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from flint import fmpq

from bisimdist.distances.engine.pairs import PairSpace, reached_by_classes
from bisimdist.distances.engine.programs import build_functional
from bisimdist.distances.engine.zeros import positivity
from bisimdist.errors import LimitError
from bisimdist.linear import SparseSystem, solve_exact
from bisimdist.lp.problem import blocks_of
from bisimdist.lp.solve import solve
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.lmc import LMC
from bisimdist.progress import NEVER, Deadline, Progress, silent

Pair = tuple[int, int]

MAX_PAIRS = 20_000
"""More ordered pairs than this are refused: every round solves an exact system of so many unknowns."""

_ZERO, _ONE = fmpq(0), fmpq(1)


@dataclass(frozen=True, slots=True)
class Greatest:
    """The greatest solution, or an upper bound of it where a limit ended the work."""

    classes: tuple[int, ...]  # the class of every state: pairs of different classes are at 1
    # by ordered pair of different states of one class, as far as the question depends on it
    values: Mapping[Pair, fmpq]
    # whether the values are the greatest solution; otherwise they are a pre-fixed point above it
    closed: bool
    rounds: int  # how many linear systems were solved

    def value(self, s: int, t: int) -> fmpq:
        """Return the bound on lv_alpha of an ordered pair."""
        if s == t:
            return _ZERO
        return _ONE if self.classes[s] != self.classes[t] else self.values[s, t]


def greatest_solution(  # noqa: PLR0913
    model: LMC,
    alpha: fmpq,
    pairs: Collection[Pair],
    *,
    max_pairs: int = MAX_PAIRS,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Greatest:
    """Return the greatest d <= K(d) that is 0 at the pairs at distance 0.

    alpha: the skew, at least 1.
    deadline: when to stop with the upper bounds that are known by then.
    Raises LimitError if there are too many pairs, or the deadline passes before the first round.

    >>> from bisimdist.models.library.figure1 import figure1
    >>> greatest_solution(figure1(), fmpq(1), [(0, 1)]).value(0, 1)
    1/5
    """
    classes = distinguishable_classes(model)
    space = PairSpace.of_classes(classes, reached_by_classes(model, classes, tuple(pairs)), ordered=True)
    if len(space) > max_pairs:
        raise LimitError(f"the question depends on {len(space)} ordered pairs; at most {max_pairs} are taken")
    signs = positivity(build_functional(model, space, alpha), deadline=deadline)
    zero = {pair for pair, positive in zip(space.pairs, signs.positive, strict=True) if not positive}
    work = _Work(model, alpha, space, tuple(pair for pair in space.pairs if pair not in zero))
    work.start()
    rounds, closed = 0, False
    while not closed:
        try:
            deadline.check()
            progress("linear systems of couplings", rounds, None)
            closed = not work.improve(deadline)
            if not closed:
                work.solve(deadline)
                rounds += 1
        except LimitError:
            if not rounds:
                raise
            break
    return Greatest(tuple(classes), work.values, closed, rounds)


@dataclass(frozen=True, slots=True)
class _Coupling:
    """A coupling of a pair as an inequality: d is at most `constant` plus the sum of weight times d."""

    constant: fmpq
    entries: tuple[tuple[Pair, fmpq], ...]


class _Work:
    """One coupling for every pair that is not set to 0, and the solution of their equations."""

    def __init__(self, model: LMC, alpha: fmpq, space: PairSpace, unknown: tuple[Pair, ...]) -> None:
        self.model = model
        self.alpha = alpha
        self.space = space
        self.unknown = unknown
        self.place = {pair: k for k, pair in enumerate(unknown)}
        self.couplings: list[_Coupling] = []
        self.values: dict[Pair, fmpq] = {}

    def start(self) -> None:
        """Give all mass up, everywhere."""
        self.couplings = [_Coupling(_ONE, ()) for _ in self.unknown]
        self.values = dict.fromkeys(self.space.pairs, _ZERO) | dict.fromkeys(self.unknown, _ONE)

    def improve(self, deadline: Deadline) -> bool:
        """Look for a cheaper coupling at every pair; tell whether there was one."""
        found = False
        for k, pair in enumerate(self.unknown):
            if k % 64 == 0:
                deadline.check()
            cost, coupling = self._cheapest(pair, self._distance())
            if cost < self.values[pair]:
                self.couplings[k] = coupling
                found = True
        return found

    def _distance(self) -> Callable[[int, int], fmpq]:
        values = self.values
        return lambda i, j: values[i, j]

    def _cheapest(self, pair: Pair, distance: Callable[[int, int], fmpq]) -> tuple[fmpq, _Coupling]:
        cost, constant = _ZERO, _ZERO
        entries: list[tuple[Pair, fmpq]] = []
        for block in blocks_of(self.model, self.space.classes, *pair, distance, self.alpha):
            optimum = solve(block.problem)
            cost += optimum.value
            constant += sum(optimum.given_up.values(), _ZERO)
            entries.extend(((block.nodes[i], block.nodes[j]), w) for (i, j), w in optimum.moves.items())
        return cost, _Coupling(constant, tuple(entries))

    def solve(self, deadline: Deadline) -> None:
        """Solve the equations of the couplings that are held."""
        rows = [
            (
                coupling.constant,
                [(self.place[pair], weight) for pair, weight in coupling.entries if pair in self.place],
            )
            for coupling in self.couplings
        ]
        solution = solve_exact(SparseSystem.from_rationals(rows), deadline=deadline)
        for k, pair in enumerate(self.unknown):
            self.values[pair] = solution.entry(k)
