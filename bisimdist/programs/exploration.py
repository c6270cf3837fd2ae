"""The graph of a program: which draw follows which, found by descending probability of a path."""

from __future__ import annotations

import gc
import heapq
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf, log2
from typing import Any, cast

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.exact.doubles import as_double
from bisimdist.programs.answers import Branch, Listed, Value, divided, parts_of, value_of, values_of
from bisimdist.programs.code import NOWHERE, Place, Segment
from bisimdist.programs.control import ListValues, SplitInterval
from bisimdist.programs.machine import Announced, Ended, Machine, Outcome
from bisimdist.programs.machine_source import Request
from bisimdist.programs.noise import Choices, Undecided
from bisimdist.programs.states import Drawing, State
from bisimdist.programs.symmetry import Folding, alike
from bisimdist.progress import NEVER, Deadline, Progress, silent

_ROUNDING = 1e-9
_ONE = fmpq(1)
_Step = tuple[int, int, int | None]
"""The next node, the steps, and what an analyst has chosen for that, where one does."""
_NOTHING: tuple[tuple[None, int, int], ...] = ((None, 1, 0),)
_Reached = tuple[int, int, int | fmpq, int, bool]
"""The next node, the steps, the weight, which answer it was, and whether a part of many begins there."""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Do without the search for cycles: what is made here stays, and counts as old at the end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def cost_of(cut: float) -> float:
    """Return how many bits a path of a probability costs."""
    return inf if cut <= 0 else -log2(cut) + _ROUNDING


@dataclass(slots=True)
class Edge:
    """What may come next."""

    target: int  # the next node
    steps: int  # how many steps were executed on the way
    probability: fmpq  # how likely that is
    choice: int | None = None  # which of the values an analyst has to choose for that, where one does


@dataclass(slots=True)
class Exploration:
    """A graph that grows as it is asked to."""

    machine: Machine  # runs the program
    # puts loops over elements of inputs into one order; what else might come first is in `orders`, by node
    folding: Folding | None = None
    nodes: list[Outcome] = field(default_factory=list)
    edges: list[tuple[Edge, ...] | None] = field(default_factory=list)
    starts: dict[str, Edge] = field(default_factory=dict)
    orders: dict[int, list[int]] = field(default_factory=dict)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _last: dict[State, tuple[Request, int]] = field(default_factory=dict)
    """By state what was asked there last, and the node of that."""
    _costs: list[float] = field(default_factory=list)
    _queue: list[tuple[float, int]] = field(default_factory=list)
    _work: int = 0
    _deadline: Deadline = NEVER  # of the exploration that is under way, for nodes that take long
    _cuts: dict[tuple[Segment, Hashable], list[int]] = field(default_factory=dict)
    """Where values of a draw began to lead elsewhere the last time that it was met: a guess for the next."""

    def start(
        self, name: str, function: Callable[..., Any], arguments: list[Any], keywords: Mapping[str, Any]
    ) -> None:
        outcome = self.machine.start(function, arguments, dict(keywords))
        target = self._node(outcome)
        self.starts[name] = Edge(target, self.machine.ticker.steps, fmpq(1))
        self._reach(target, 0.0)

    def explore(
        self,
        *,
        cut: float | None = None,
        states: int | None = None,
        work: int | None = None,
        deadline: Deadline = NEVER,
        progress: Progress = silent,
    ) -> bool:
        """Expand nodes; tell whether no node is left that may be expanded.

        cut: paths of less probability are not followed.
        states: stop with so many nodes.
        work: stop when the states that were expanded hold so many objects that can be changed and their
            parts.
        """
        most = inf if cut is None else cost_of(cut)
        self._deadline = deadline
        with _no_collection():
            return self._explore(most, states, work, deadline, progress)

    def _explore(
        self, most: float, states: int | None, work: int | None, deadline: Deadline, progress: Progress
    ) -> bool:
        for turn in itertools.count():
            while self._queue and self.edges[self._queue[0][1]] is not None:
                heapq.heappop(self._queue)
            if not self._queue or self._queue[0][0] > most:
                return True
            if (states is not None and len(self.nodes) >= states) or (
                work is not None and self._work >= work
            ):
                return False
            if turn % 16 == 0:
                deadline.check()
                progress("states", len(self.nodes), None)
            cost, number = heapq.heappop(self._queue)
            if not self._expanded(number, cost):
                return False
        raise LimitError("unreachable")

    @property
    def closed(self) -> bool:
        """Whether every node has been expanded."""
        return all(edges is not None for edges in self.edges)

    def mend(self) -> None:
        """Forget a node that an interruption left unfinished."""
        whole = min(len(self.nodes), len(self.edges), len(self._costs))
        for part in (self.nodes, self.edges, self._costs):
            del part[whole:]
        self._numbers = {key: number for key, number in self._numbers.items() if number < whole}
        self._last.clear()

    def known(self, most: float = inf) -> list[tuple[Edge, ...] | None]:
        """Return the edges of each node, as far as paths to it cost at most so many bits."""
        return [
            edges if not edges or cost <= most else None
            for cost, edges in zip(self._costs, self.edges, strict=True)
        ]

    def forget(self, most: float | None = None) -> None:
        """Forget what follows on paths that cost more bits, or half of those that were followed."""
        if most is None:
            costs = sorted(cost for cost, edges in zip(self._costs, self.edges, strict=True) if edges)
            most = costs[len(costs) // 2] - 1 if costs else 0.0
        self.edges = self.known(most)

    # nodes

    def _key(self, outcome: Outcome) -> Hashable:
        freezer, value_of = self.machine.freezer, self.machine.states.value_of
        if isinstance(outcome, Drawing):
            request = outcome.request
            if request.key[0] != "pick":
                return outcome.state, request.key, request.start, request.step
            return outcome.state, "pick", freezer.freeze(request.values, None), request.weights
        if isinstance(outcome, Ended):
            return "end", outcome.raised, value_of(outcome.value, ends=not outcome.raised)
        return "seen", outcome.state, value_of(outcome.value)

    def number_of(self, outcome: Outcome) -> int | None:
        """Return the node of an outcome, if there is one yet."""
        return self._numbers.get(self._key(outcome))

    def _node(self, outcome: Outcome) -> int:
        if self.folding is None or isinstance(outcome, Ended):
            return self._number(outcome)
        first, others = self.folding.folded(outcome.state)
        number = self._number(outcome if first is outcome.state else replace(outcome, state=first))
        if others and number not in self.orders:
            self.orders[number] = [self._number(replace(outcome, state=other)) for other in others]
        return number

    def _number(self, outcome: Outcome) -> int:
        if type(outcome) is Drawing:
            known = self._last.get(outcome.state)
            if known is not None and known[0] is outcome.request:
                return known[1]
        key = self._key(outcome)
        number = self._numbers.get(key)
        if number is None:
            number = self._new(key, outcome)
        if type(outcome) is Drawing:
            self._last[outcome.state] = outcome.request, number
        return number

    def _new(self, key: Hashable, outcome: Outcome) -> int:
        number = self._numbers[key] = len(self.nodes)
        self.nodes.append(outcome)
        self.edges.append(() if isinstance(outcome, Ended) else None)
        self._costs.append(inf)
        return number

    def place(self, number: int) -> Place:
        """Return the file and the line that a node is about."""
        node = self.nodes[number]
        if isinstance(node, Ended):
            return "", node.line
        segment, stack = node.state.segment, node.state.stack
        digests = self.machine.sources.digests
        while (found := segment.place(digests)) == NOWHERE:
            if isinstance(stack, int):
                if stack < 0:
                    return NOWHERE
                segment, _, stack = self.machine.states.frames[stack]
            elif stack:
                segment, stack = stack[-1][0], stack[:-1]
            else:
                return NOWHERE
        return found

    def where(self, number: int) -> str:
        """Return the place that a node is about, for people; empty where it has none."""
        line = self.place(number)[1]
        return f"in line {line}" if line else ""

    def answers(self, number: int, most: int) -> Sequence[Any]:
        """Return some of what may be drawn at a node."""
        request = cast("Drawing", self.nodes[number]).request
        if request.values is not None:
            return request.values[:most]
        if request.noise:
            return range(-most // 2, most // 2) if len(request.noise) > 1 else range(most)
        return [request.start + k * request.step for k in range(min(request.count, most))]

    def places(self) -> Iterator[tuple[str, int]]:
        """Yield the files and lines of nodes that have them."""
        for file, line in map(self.place, range(len(self.nodes))):
            if file and line:
                yield file, line

    def _reach(self, number: int, cost: float) -> None:
        if cost < self._costs[number]:
            self._costs[number] = cost
            if self.edges[number] is None:
                heapq.heappush(self._queue, (cost, number))
            for other in self.orders.get(number, ()):
                self._reach(other, cost)

    def _expanded(self, number: int, cost: float) -> bool:
        """Expand a node; with loops in order, tell whether it looks at one more element at most."""
        node = self.nodes[number]
        if self.folding is None or isinstance(node, Ended):
            self._expand(number, cost)
            return True
        rest = self.folding.rest(node.state)
        second = None if rest is None else rest.rest
        if second is not None:
            second.read = False
        self._expand(number, cost)
        return not self.folding.failed and (second is None or not second.read)

    def orders_agree(self, deadline: Deadline = NEVER) -> bool:
        """Tell whether the orders that were looked at stand for all, now that all is explored."""
        if not self.closed:
            return False
        rows = rows_of(self.edges)
        return alike(rows, ((number, *others) for number, others in self.orders.items()), deadline=deadline)

    def _expand(self, number: int, cost: float) -> None:
        node = self.nodes[number]
        if isinstance(node, Ended):
            return
        if node.state.contents:
            self._work += sum(map(len, node.state.contents))
        gathered: dict[_Step, Any] = {}
        total: int = 1
        if isinstance(node, Drawing):
            total = node.request.count
            listed = values_of(node.request)
            if listed is None:
                self._gather_parts(node, gathered)
            else:
                self._gather(node, listed, gathered)
        else:
            self._gather(node, _NOTHING, gathered)
        self.edges[number] = self._led(gathered, total, cost)

    def _led(self, gathered: dict[_Step, Any], total: int, cost: float) -> tuple[Edge, ...]:
        """Return the edges to what was found, and note what it costs to come there."""
        edges = []
        costs = self._costs
        for (target, steps, choice), weight in gathered.items():
            if weight == total:
                p, reached = _ONE, cost
            else:
                p, bits = _share(weight, total)
                reached = cost + bits
            edges.append(Edge(target, steps, p, choice))
            if reached < costs[target]:
                self._reach(target, reached)
        return tuple(edges)

    def _gather(self, node: Drawing | Announced, listed: Listed, gathered: dict[_Step, Any]) -> None:
        """Add up where each of the values leads."""
        machine, state = self.machine, node.state
        chosen = isinstance(node, Drawing) and node.request.chosen
        resume, ticker = machine.resume, machine.ticker
        numbered = self._number if self.folding is None else self._node
        for value, weight, place in listed:
            try:
                target = numbered(resume(state, value))
            except (Undecided, SplitInterval, ListValues):
                for target, steps, part, *_ in self._divided(state, Value(value), weight, place):
                    key = target, steps, place if chosen else None
                    gathered[key] = gathered.get(key, 0) + part
                continue
            key = target, ticker.steps, place if chosen else None
            gathered[key] = gathered.get(key, 0) + weight

    def _gather_parts(self, node: Drawing, gathered: dict[_Step, Any]) -> None:
        """Add up where parts of very many values lead."""
        state, at = node.state, (node.state.segment, node.request.key)
        parts: list[tuple[int, _Step]] = []
        for answer, whole in parts_of(node.request, self._cuts.get(at, ())):
            for target, steps, weight, place, cut in self._divided(state, answer, whole, 0):
                key = target, steps, place if node.request.chosen else None
                gathered[key] = gathered.get(key, 0) + weight
                if cut:
                    parts.append((place, key))
        if parts:
            parts.sort()
            self._cuts[at] = [low for (_, before), (low, key) in itertools.pairwise(parts) if key != before]

    def _divided(self, state: State, answer: Any, weight: int | fmpq, place: int) -> Iterator[_Reached]:
        """Yield where parts of an answer lead, which the program tells apart."""
        machine = self.machine
        work: list[Branch] = [(answer, {}, weight, ())]
        while work:
            answer, bounds, weight, made = branch = work.pop()
            cut = type(answer) is tuple
            if cut:
                place = answer[0]
            choices = Choices(made)
            try:
                target = self._node(machine.resume(state, value_of(answer, choices), bounds, choices))
            except (Undecided, SplitInterval, ListValues) as asked:
                work += divided(asked, branch, state)
            else:
                yield target, machine.ticker.steps, weight, place, cut


def rows_of(known: Iterable[tuple[Edge, ...] | None]) -> dict[int, dict[int, fmpq]]:
    """Return by node how likely each next one is, where edges are known and there are any."""
    rows: dict[int, dict[int, fmpq]] = {}
    for number, edges in enumerate(known):
        if edges:
            row = rows[number] = {}
            for edge in edges:
                row[edge.target] = row.get(edge.target, fmpq(0)) + edge.probability
    return rows


@lru_cache(4096, typed=True)
def _share(weight: int | fmpq, total: int | fmpq) -> tuple[fmpq, float]:
    """Return a part of a whole, and how many bits a path costs that goes through it."""
    p = fmpq(weight) / fmpq(total)
    return p, -log2(as_double(p))
