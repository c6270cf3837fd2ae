"""The multiplicative trace metric: the largest quotient of the probabilities of one trace from two states.

The graph of beliefs is explored within limits. Where it closes, the value is a longest path and exact. Where
it does not, bounds for all traces at once (`bisimdist.traces.engine.table`) close what is left open, and
loops that multiply the quotient prove that there is no finite value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from flint import fmpq

from bisimdist.errors import Interruption, LimitError
from bisimdist.exact.number import Exact
from bisimdist.exact.scale import Bounds
from bisimdist.progress import UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.drift import find_drift_trace
from bisimdist.traces.engine.graph import BeliefGraph, Effort, one_sided_trace
from bisimdist.traces.engine.paths import LoopTrace, Reach, find_loop, longest_paths
from bisimdist.traces.engine.pump import Repeated, Rounds, candidate_loops, find_pump_trace
from bisimdist.traces.engine.system import WordSystem, point
from bisimdist.traces.engine.table import MAX_PAIRS, StateTable, find_table

Word = tuple[str, ...]
ONE = fmpq(1)
FIRST = Effort(nodes=1_500, work=1_000_000)
TABLES = (MAX_PAIRS, 6_000)
"""How many pairs a table may have, at first and where nothing else gives a bound: a minute for the most."""
REFINEMENTS = 600
FOLLOWED = 60
BEAM = 24
WIDTH = 100_000  # how many transitions the beliefs of one layer of the narrow search may have, together
CLOSE = 1 + fmpq(1, 10**9)  # bounds that are no more apart than this are not brought closer


@dataclass(frozen=True, slots=True)
class RatioProof:
    """Why no quotient is larger: a graph of beliefs, and a bound on what follows each of them."""

    graph: BeliefGraph  # explored as far as the proof needs it
    # the largest and least quotients by node: what is left to a node is the bound divided by them
    reach: Reach
    table: StateTable | None  # bounds for all traces, where nodes are left open


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRatio(Bounds):
    """Bounds on the largest quotient of the probabilities of one trace, of whichever side over the other.

    ``lower``, ``upper``: proved bounds of at least 1; None is infinity.
    ``word``: a trace whose quotient is `lower`; where that is infinite and `infinite` is None, a trace that
        is possible from one side only.
    ``infinite``: traces whose quotients have no bound, where that is so and each quotient is finite.
    ``interrupted``: whether the work was broken off from outside: who asked should start nothing more.
    """

    word: Word
    probabilities: tuple[Exact, Exact]
    infinite: LoopTrace | Repeated | None = None
    proof: RatioProof | None = field(default=None, repr=False)  # what proves a finite upper bound
    nodes: int = 0  # how many pairs of beliefs were met
    interrupted: bool = False


def largest_ratio(  # noqa: PLR0913
    system: WordSystem,
    first: int,
    second: int,
    *,
    length: int | None = None,
    effort: Effort | None = None,
    limits: Limits = UNBOUNDED,
) -> TraceRatio:
    """Return bounds on e to sup_w |ln Pr(first, w) - ln Pr(second, w)|, exact where the graph closes.

    ``length``: the longest trace that counts; None for all.
    ``limits``: as everywhere; a passing deadline leaves bounds that are not equal.

    >>> from bisimdist.models.pa import PA, Transition
    >>> halves = Transition(0, "a", ((2, fmpq(1, 2)),)), Transition(1, "a", ((2, fmpq(1, 3)),))
    >>> going_on = Transition(2, "b", ((2, fmpq(1)),))
    >>> largest_ratio(WordSystem.of(PA(("s", "t", "u"), (*halves, going_on))), 0, 1).upper
    3/2
    """
    work = _Work(system, first, second, length, limits)
    try:
        return work.run(effort or Effort())
    except Interruption:
        work.limits = Limits(
            deadline=Deadline.after(0)
        )  # what is known is put together without computing anything new
        return replace(work.known(), interrupted=True)
    except LimitError:
        return work.known()


def unexamined_ratio(system: WordSystem, first: int, second: int) -> TraceRatio:
    """Return what is known of two classes without looking: classes with equal futures are not apart."""
    if system.key(point(first)) == system.key(point(second)):
        return largest_ratio(system, first, second)
    return TraceRatio(lower=ONE, upper=None, word=(), probabilities=(ONE, ONE))


@dataclass(frozen=True, slots=True)
class _Seen:
    """A trace with its probabilities from the two states, and the larger one of their two quotients."""

    value: fmpq
    word: Word
    probabilities: tuple[fmpq, fmpq]


class _Work:
    """The search for one pair."""

    def __init__(
        self, system: WordSystem, first: int, second: int, length: int | None, limits: Limits
    ) -> None:
        self.system = system
        self.pair = first, second
        self.length = length
        self.limits = limits
        self.graph = BeliefGraph(system, first, second, length=length)
        self.table: StateTable | None = None
        self.far = _Seen(ONE, (), (ONE, ONE))

    def run(self, effort: Effort) -> TraceRatio:
        small = Effort(min(effort.nodes, FIRST.nodes), min(effort.work, FIRST.work))
        self._explore(small)
        decided = self._decided()
        if decided is not None:
            return decided
        complete, word = one_sided_trace(
            self.system, *self.pair, length=self.length, limit=effort.nodes, deadline=self.limits.deadline
        )
        if word is not None:
            return self._impossible(word)
        words = self._look_far()
        pump = self._pump(words) if self.length is None else None
        if pump is not None:
            return pump
        for pairs in TABLES if complete else ():
            if self.table is not None and not self.table.refused:
                break
            table = self._found_table(pairs)
            if self.table is None or table.entries:
                self.table = table
                self._refine(effort)
                answer = self.known()
                if answer.upper is not None:
                    return answer
        self._explore(effort)
        return self._decided() or self.known()

    def _found_table(self, pairs: int) -> StateTable:
        """Return the table of bounds, empty where it would take more than some number of pairs."""
        root = self.graph.nodes[0]
        starts = [(root.first, root.second)]
        return find_table(self.system, starts, limit=pairs, limits=self.limits)

    def _explore(self, effort: Effort) -> None:
        self.graph.explore(effort, limits=self.limits)

    def _decided(self) -> TraceRatio | None:
        """Return the answer if the graph has one: a trace of one side only, a loop, or nothing left."""
        if self.graph.one_sided is not None:
            return self._impossible(self.graph.one_sided)
        loop = find_loop(self.graph) if self.length is None else None
        if loop is not None:
            return self._infinite(loop, (*loop.prefix, *loop.cycle))
        return self.known() if self.graph.closed else None

    def _impossible(self, word: Word) -> TraceRatio:
        return TraceRatio(
            lower=None,
            upper=None,
            word=word,
            probabilities=self._probabilities(word),
            nodes=len(self.graph.nodes),
        )

    def _infinite(self, infinite: LoopTrace | Repeated, word: Word) -> TraceRatio:
        return TraceRatio(
            lower=None,
            upper=None,
            word=word,
            probabilities=self._probabilities(word),
            infinite=infinite,
            nodes=len(self.graph.nodes),
        )

    def _probabilities(self, word: Word) -> tuple[fmpq, fmpq]:
        first, second = (self.system.probability(state, word) for state in self.pair)
        return first, second

    # ------------------------------------------------------------------------------------ far traces

    def _followed(self) -> Iterator[_Seen]:
        """Yield traces with the largest quotients that a narrow search meets, ever longer ones."""
        longest = FOLLOWED if self.length is None else self.length
        width = max(1, min(BEAM, WIDTH // sum(map(len, self.system.rows))))
        for upward in (True, False):
            layer = [0]
            along = {0: ONE}
            chance = {0: ONE}
            graph = BeliefGraph(self.system, *self.pair, length=longest)
            for _ in range(longest):
                self.limits.deadline.check()
                after: list[int] = []
                for number in layer:
                    if graph.nodes[number].equal or self.limits.deadline.passed():
                        continue
                    graph.expand(number)
                    if graph.one_sided is not None:
                        return
                    for edge in graph.nodes[number].edges:
                        if edge.target not in along:
                            along[edge.target] = along[number] * edge.ratio
                            chance[edge.target] = chance[number] * edge.share
                            after.append(edge.target)
                if not after:
                    break
                layer = sorted(after, key=lambda n: along[n], reverse=upward)[:width]
                best, one = along[layer[0]], chance[layer[0]]
                yield _Seen(max(best, 1 / best), graph.word(layer[0]), (one, one / best))

    def _look_far(self) -> list[Word]:
        """Return the traces that a narrow search meets, and keep the best one of them."""
        words: list[Word] = []
        for seen in self._followed():
            if seen.value > self.far.value:
                self.far = seen
            words.append(seen.word)
        return words

    def _pump(self, words: list[Word]) -> TraceRatio | None:
        """Look for a pump after some of these traces."""
        chosen = [word for word in words if len(word) in (2, 4, 7, 12)]
        tries = [step for word in chosen for step in candidate_loops(word, self.system.symbols)]
        rounds = Rounds(self.system, *self.pair, deadline=self.limits.deadline)
        pump = find_pump_trace(rounds, tries) or find_drift_trace(rounds, tries)
        if pump is None:
            return None
        return self._infinite(pump, (*pump.prefix, *pump.cycle, *pump.suffix))

    # ---------------------------------------------------------------------------------------- bounds

    def _refine(self, effort: Effort) -> None:
        """Expand the nodes that the table leaves the most room, until that is not more than is reached.

        Nodes without any bound come first.
        """
        self.graph = BeliefGraph(self.system, *self.pair, length=self.length)
        heap: list[tuple[int, fmpq, int]] = []
        along: dict[int, fmpq] = {0: ONE}
        best = self.far.value
        self._push(heap, 0, ONE)
        for number in range(REFINEMENTS):
            if not heap or self.limits.deadline.passed() or self.graph.spent > effort.work:
                return
            bounded, room, node = heappop(heap)
            if bounded and -room <= best * CLOSE:
                return
            self.limits.progress("refinements", number, None)
            known = len(self.graph.nodes)
            self.graph.expand(node)
            for edge in self.graph.nodes[node].edges:
                value = along[node] * edge.ratio
                best = max(best, value, 1 / value)
                if edge.target >= known and edge.target not in along:
                    along[edge.target] = value
                    self._push(heap, edge.target, value)

    def _push(self, heap: list[tuple[int, fmpq, int]], number: int, value: fmpq) -> None:
        if not self.graph.nodes[number].equal and not self._at_end(number):
            room = self._left(number, value, value)
            heappush(heap, (0, fmpq(number), number) if room is None else (1, -room, number))

    def _at_end(self, number: int) -> bool:
        return self.length is not None and self.graph.nodes[number].depth >= self.length

    def _left(self, number: int, largest: fmpq, least: fmpq) -> fmpq | None:
        """Return a bound on all quotients of traces through an open node."""
        node = self.graph.nodes[number]
        if self.table is None or (self.limits.deadline.passed() and not self.table.knows(node)):
            return None
        grow, shrink = self.table.bounds(node)
        if grow is None or shrink is None:
            return None
        return max(largest * grow, shrink / least)

    def known(self) -> TraceRatio:
        """Return what the explored graph and the table prove."""
        loop = find_loop(self.graph) if self.length is None else None
        if loop is not None:
            return self._infinite(loop, (*loop.prefix, *loop.cycle))
        reach = longest_paths(self.graph)
        seen = max(self._best(reach), self.far, key=lambda trace: trace.value)
        upper: fmpq | None = seen.value
        for number, node in enumerate(self.graph.nodes):
            if node.expanded or node.equal or self._at_end(number):
                continue
            room = self._left(number, reach.values[0][number], reach.values[1][number])
            upper = None if room is None else max(upper, room)
            if upper is None:
                break
        return TraceRatio(
            lower=seen.value,
            upper=upper,
            word=seen.word,
            probabilities=seen.probabilities,
            proof=None if upper is None else RatioProof(self.graph, reach, self.table),
            nodes=len(self.graph.nodes),
        )

    def _best(self, reach: Reach) -> _Seen:
        largest, least = reach.values
        up = max(largest, key=lambda n: largest[n])
        down = min(least, key=lambda n: least[n])
        side, node = (0, up) if largest[up] * least[down] >= 1 else (1, down)
        quotient, one = reach.values[side][node], ONE
        steps = reach.steps(side, node)
        for number, action in steps:
            one *= next(edge.share for edge in self.graph.nodes[number].edges if edge.action == action)
        word = tuple(action for _, action in steps)
        return _Seen(max(quotient, 1 / quotient), word, (one, one / quotient))
