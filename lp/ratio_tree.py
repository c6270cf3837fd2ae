"""The multiplicative transportation problem on a complete component: ascent from tree to tree, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import LinearProgramError
from bisimdist.progress import NEVER, Deadline

_ZERO = fmpq(0)
_ONE = fmpq(1)
_PATIENCE = 2  # after so many pivots a node that gain nothing, Bland's rule takes over, which cannot cycle


@dataclass(frozen=True, slots=True)
class RatioPart:
    """The optimum of one component, in the local numbers of its sources and sinks."""

    ratio: fmpq
    moves: tuple[tuple[int, int, fmpq], ...]  # triples (source, sink, mass) with a positive mass
    # sources and sinks: the potentials u and v, not scaled: ``u_i <= R_ij v_j`` and ``sum m u = C sum m' v``
    sources: tuple[fmpq, ...]
    sinks: tuple[fmpq, ...]


def solve_complete(
    supply: Sequence[fmpq],
    demand: Sequence[fmpq],
    ratio: Sequence[Sequence[fmpq]],
    *,
    guess: Iterable[tuple[int, int]] = (),
    deadline: Deadline = NEVER,
) -> RatioPart:
    """Solve a component in which every source reaches every sink at a finite ratio.

    A tree of arcs that joins all sources and sinks fixes the potentials up to a factor, by
    ``u_i = R_ij v_j`` along its arcs, hence C, hence the flows on its arcs. Where the flow of an arc is
    negative, the tree is cut there, and one half is scaled until another arc becomes tight: C does not
    fall. This is the dual simplex method, whose bases are trees throughout.

    ``supply``, ``demand``: the positive masses m of the sources and m' of the sinks; neither may be empty.
    ``ratio``: for each source a row of numbers of at least one, one for each sink.
    ``guess``: arcs of an optimal tree, as far as they are believed in; any arcs are allowed.
    """
    ascent = _Ascent(supply, demand, ratio, deadline)
    ascent.start(list(guess))
    return ascent.climb()


class _Ascent:
    """Nodes are numbered: the n sources first, then the sinks; the tree hangs from the first sink."""

    def __init__(
        self,
        supply: Sequence[fmpq],
        demand: Sequence[fmpq],
        ratio: Sequence[Sequence[fmpq]],
        deadline: Deadline,
    ) -> None:
        self.supply = supply
        self.demand = demand
        self.ratio = ratio
        self.deadline = deadline
        self.n = len(supply)
        self.size = len(supply) + len(demand)
        self.value = [_ONE] * self.size  # u of the sources, v of the sinks
        self.adjacent: list[set[int]] = [set() for _ in range(self.size)]

    def _reach(self, start: int) -> list[tuple[int, int]]:
        """Return what the arcs reach from a node: pairs (node, its parent), nearest first."""
        found = [(start, -1)]
        for node, above in found:
            found += [(other, node) for other in self.adjacent[node] if other != above]
        return found

    def _join(self, source: int, sink: int) -> None:
        self.adjacent[source].add(sink)
        self.adjacent[sink].add(source)

    # -- the first tree -----------------------------------------------------------------------------------

    def start(self, guess: Sequence[tuple[int, int]]) -> None:
        """Make a tree of tight arcs with feasible potentials, near the guess."""
        group = list(range(self.size))
        for i, j in guess:
            self._unite(group, i, self.n + j)
        for member in set(group):
            for node, above in self._reach(member)[1:]:
                here = self.value[above]
                if node < self.n:
                    self.value[node] = here * self.ratio[node][above - self.n]
                else:
                    self.value[node] = here / self.ratio[above][node - self.n]
        self._tighten([(i, self.n + j) for i, j in guess])
        for j in range(self.n, self.size):  # an idle sink falls until an arc holds it
            if not self.adjacent[j]:
                column = [(self.value[i] / self.ratio[i][j - self.n], i) for i in range(self.n)]
                self.value[j] = max(column)[0]
                self._join(min(i for value, i in column if value == self.value[j]), j)
        while True:
            self.deadline.check()
            inside = {node for node, _ in self._reach(self.n)}
            if len(inside) == self.size:
                return
            outside = next(node for node in range(self.size) if node not in inside)
            self._attach({node for node, _ in self._reach(outside)})

    def _unite(self, group: list[int], i: int, j: int) -> None:
        """Join two nodes unless the arcs connect them already."""
        mine, other = group[i], group[j]
        if mine != other:
            self._join(i, j)
            group[:] = [mine if number == other else number for number in group]

    def _tighten(self, preferred: Sequence[tuple[int, int]]) -> None:
        """Give every source the largest feasible potential, and keep a forest of tight arcs."""
        n = self.n
        sinks = self.value[n:]
        tight: list[tuple[int, int]] = []
        for i, row in enumerate(self.ratio):
            costs = [r * v for r, v in zip(row, sinks, strict=True)]
            least = min(costs)
            self.value[i] = least
            tight += [(i, n + j) for j, cost in enumerate(costs) if cost == least]
        holds = set(tight)
        for arcs in self.adjacent:
            arcs.clear()
        group = list(range(self.size))
        for i, j in preferred:
            if (i, j) in holds:
                self._unite(group, i, j)
        for i, j in tight:
            self._unite(group, i, j)

    def _attach(self, part: set[int]) -> None:
        """Scale a connected part towards the greater C until an arc joins it to the rest."""
        gained, paid = self._totals(part)
        all_gained, all_paid = self._totals(range(self.size))
        self._scale(part, up=gained * all_paid >= all_gained * paid)

    def _totals(self, nodes: Iterable[int]) -> tuple[fmpq, fmpq]:
        gained = paid = _ZERO
        for node in nodes:
            if node < self.n:
                gained += self.supply[node] * self.value[node]
            else:
                paid += self.demand[node - self.n] * self.value[node]
        return gained, paid

    def _scale(self, part: set[int], *, up: bool) -> bool:
        """Scale a part, up or down, until an arc between it and the rest is tight; tell whether it moved."""
        sources = [i for i in range(self.n) if (i in part) == up]
        sinks = [j for j in range(self.n, self.size) if (j in part) != up]
        prices = [(j, j - self.n, self.value[j]) for j in sinks]
        best: fmpq | None = None
        arc = (-1, -1)
        for i in sources:
            row = self.ratio[i]
            inverse = 1 / self.value[i]
            for j, place, price in prices:
                step = row[place] * price * inverse
                if best is None or step < best:
                    best = step
                    arc = (i, j)
        if best is None:
            raise LinearProgramError("no arc joins the two parts of a component, which is not complete")
        if best != 1:
            factor = best if up else 1 / best
            for node in part:
                self.value[node] *= factor
        self._join(*arc)
        return bool(best != 1)

    # -- from tree to tree --------------------------------------------------------------------------------

    def climb(self) -> RatioPart:
        """Exchange arcs while one has a negative flow, and return the optimum."""
        idle = 0
        while True:
            self.deadline.check()
            gained, paid = self._totals(range(self.size))
            order = self._reach(self.n)
            surplus = self._surplus(order, gained, paid)
            careful = idle > _PATIENCE * self.size
            leaving = self._leaving(order, surplus, careful=careful)
            if leaving is None:
                return self._optimum(order, surplus, gained, paid)
            node, above = leaving
            self.adjacent[node].discard(above)
            self.adjacent[above].discard(node)
            part = {inner for inner, _ in self._reach(node)}
            idle = 0 if self._scale(part, up=node >= self.n) else idle + 1

    def _surplus(self, order: Sequence[tuple[int, int]], gained: fmpq, paid: fmpq) -> list[fmpq]:
        """Return for each node the sum over its branch of m u - C m' v, times the sum of m' v."""
        n = self.n
        amounts = [paid * m * u for m, u in zip(self.supply, self.value, strict=False)]
        amounts += [-gained * m * v for m, v in zip(self.demand, self.value[n:], strict=True)]
        for node, above in reversed(order):
            if above >= 0:
                amounts[above] += amounts[node]
        return amounts

    def _leaving(
        self, order: Sequence[tuple[int, int]], surplus: Sequence[fmpq], *, careful: bool
    ) -> tuple[int, int] | None:
        """Return an arc of negative flow as (node, its parent): the worst, or the first by number."""
        worst = _ZERO
        found: tuple[int, int] | None = None
        for node, above in order[1:]:
            # What a branch has left over flows along the arc above: out of a source, into a sink.
            flow = surplus[node] if node < self.n else -surplus[node]
            if flow >= 0:
                continue
            if careful:
                if found is None or _arc(node, above) < _arc(*found):
                    found = (node, above)
            elif flow < worst:
                worst = flow
                found = (node, above)
        return found

    def _optimum(
        self, order: Sequence[tuple[int, int]], surplus: Sequence[fmpq], gained: fmpq, paid: fmpq
    ) -> RatioPart:
        return RatioPart(
            gained / paid,
            tuple(sorted(self._moves(order, surplus, paid))),
            tuple(self.value[: self.n]),
            tuple(self.value[self.n :]),
        )

    def _moves(
        self, order: Sequence[tuple[int, int]], surplus: Sequence[fmpq], paid: fmpq
    ) -> Iterator[tuple[int, int, fmpq]]:
        for node, above in order[1:]:
            source, sink = _arc(node, above)
            if surplus[node]:
                yield source, sink - self.n, abs(surplus[node]) / (paid * self.value[source])


def _arc(node: int, other: int) -> tuple[int, int]:
    """Return the source and the sink of an arc, which is given by its two ends."""
    return (node, other) if node < other else (other, node)
