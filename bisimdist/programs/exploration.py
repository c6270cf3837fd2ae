"""The graph of a program: which draw follows which, found by descending probability of a path."""

from __future__ import annotations

import gc
import heapq
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf, log2
from typing import Any

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.programs.code import Segment
from bisimdist.programs.control import ListValues, Outside, SplitInterval
from bisimdist.programs.interval import plain
from bisimdist.programs.laws import Law
from bisimdist.programs.machine import Drawing, Ended, Machine, Outcome, State
from bisimdist.programs.machine_source import Request
from bisimdist.programs.noise import Choices, Drawn, Noise, Undecided
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["AtDraw", "AtEnd", "AtObservation", "Edge", "Exploration", "answers", "cost_of"]

FEW = 8
"""A draw of at most so many values is looked at value by value."""

MOST_LISTED = 1 << 16
"""So many values of one draw are told apart at most."""

_ROUNDING = 1e-9
_ONE = fmpq(1)
_CURRENT = -1

Bounds = dict[int, tuple[int, int]]
_Branch = tuple[Any, Bounds, int | fmpq, tuple[int, ...]]
"""What the source answers, the bounds of remembered intervals, the weight, and what is chosen about noise."""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Do without the search for cycles: what is made here stays."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def cost_of(cut: float) -> float:
    """Return how many bits a path of a probability costs."""
    return inf if cut <= 0 else -log2(cut) + _ROUNDING


@dataclass(frozen=True, slots=True)
class AtDraw:
    """A node of the graph: the source is asked."""

    state: State
    request: Request


@dataclass(frozen=True, slots=True)
class AtObservation:
    """A node of the graph: a value is announced."""

    state: State
    value: Any


@dataclass(frozen=True, slots=True)
class AtEnd:
    """A node of the graph: the program has ended."""

    value: Any
    raised: bool


@dataclass(slots=True)
class Edge:
    """What may come next.

    Parameters
    ----------
    target
        The next node.
    steps
        How many steps were executed on the way.
    probability
        How likely that is.
    choice
        Which of the values an analyst has to choose for that, where one does.
    """

    target: int
    steps: int
    probability: fmpq
    choice: int | None = None


@dataclass(slots=True)
class Exploration:
    """A graph that grows as it is asked to.

    Parameters
    ----------
    machine
        Runs the program.
    """

    machine: Machine
    nodes: list[AtDraw | AtObservation | AtEnd] = field(default_factory=list)
    edges: list[tuple[Edge, ...] | None] = field(default_factory=list)
    lines: list[tuple[str, int | None]] = field(default_factory=list)
    starts: dict[str, Edge] = field(default_factory=dict)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _costs: list[float] = field(default_factory=list)
    _queue: list[tuple[float, int]] = field(default_factory=list)
    _work: int = 0
    _cuts: dict[tuple[Segment, Hashable], list[int]] = field(default_factory=dict)
    """Where values of a draw began to lead elsewhere the last time that it was met: a guess for the next."""

    def start(
        self, name: str, function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> None:
        """Add a start."""
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

        Parameters
        ----------
        cut
            Paths of less probability are not followed.
        states
            Stop with so many nodes.
        work
            Stop when the states that were expanded hold so many objects that can be changed and their parts.
        deadline, progress
            When to give up, and who is told.

        Raises
        ------
        LimitError
            If the deadline passes.
        """
        most = inf if cut is None else cost_of(cut)
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
            self._expand(number, cost)
        raise LimitError("unreachable")

    @property
    def closed(self) -> bool:
        """Whether every node has been expanded."""
        return all(edges is not None for edges in self.edges)

    def mend(self) -> None:
        """Forget a node that an interruption left unfinished."""
        whole = min(len(self.nodes), len(self.edges), len(self.lines), len(self._costs))
        for part in (self.nodes, self.edges, self.lines, self._costs):
            del part[whole:]
        self._numbers = {key: number for key, number in self._numbers.items() if number < whole}

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
        freezer = self.machine.freezer
        if isinstance(outcome, Drawing):
            request = outcome.request
            if request.key[0] != "pick":
                return outcome.state, request.key, request.start, request.step
            return outcome.state, "pick", freezer.freeze(request.values, None), request.weights
        if isinstance(outcome, Ended):
            return "end", outcome.raised, self.machine.value_of(outcome.value, ends=not outcome.raised)
        return "seen", outcome.state, self.machine.value_of(outcome.value)

    def number_of(self, outcome: Outcome) -> int | None:
        """Return the node of an outcome, if there is one yet."""
        return self._numbers.get(self._key(outcome))

    def _node(self, outcome: Outcome) -> int:
        key = self._key(outcome)
        number = self._numbers.get(key)
        if number is not None:
            return number
        node: AtDraw | AtObservation | AtEnd
        if isinstance(outcome, Drawing):
            node = AtDraw(outcome.state, outcome.request)
        elif isinstance(outcome, Ended):
            node = AtEnd(outcome.value, outcome.raised)
        else:
            node = AtObservation(outcome.state, outcome.value)
        number = self._numbers[key] = len(self.nodes)
        self.nodes.append(node)
        self.edges.append(() if isinstance(node, AtEnd) else None)
        self.lines.append(self._place(node, outcome))
        self._costs.append(inf)
        return number

    def _place(self, node: AtDraw | AtObservation | AtEnd, outcome: Outcome) -> tuple[str, int | None]:
        if isinstance(node, AtEnd):
            return "", outcome.line if isinstance(outcome, Ended) else None
        state = node.state
        segment = state.segment
        digests = self.machine.sources.digests
        stack = state.stack
        while segment.code.file not in digests:
            if isinstance(stack, int):
                if stack < 0:
                    return "", None
                segment, _, stack = self.machine.frames[stack]
            elif stack:
                segment, stack = stack[-1][0], stack[:-1]
            else:
                return "", None
        return segment.code.file, segment.line

    def _reach(self, number: int, cost: float) -> None:
        if cost < self._costs[number]:
            self._costs[number] = cost
            if self.edges[number] is None:
                heapq.heappush(self._queue, (cost, number))

    def _expand(self, number: int, cost: float) -> None:
        node = self.nodes[number]
        if not isinstance(node, AtEnd) and node.state.contents:
            self._work += sum(map(len, node.state.contents))
        gathered: dict[tuple[int, int, int | None], Any] = {}
        total = node.request.count if isinstance(node, AtDraw) else 1
        parts: list[tuple[int, tuple[int, int, int | None]]] = []
        choices: Mapping[Any, int] = {}
        if isinstance(node, AtDraw) and node.request.chosen:
            choices = {value: k for k, value in enumerate(node.request.values or ())}
        for answer, _, weight, target, steps in self.branches(node):
            key = (target, steps, choices[answer.value] if choices else None)
            gathered[key] = gathered.get(key, 0) + weight
            if type(answer) is tuple:
                parts.append((answer[0], key))
        if parts and isinstance(node, AtDraw):
            parts.sort()
            self._cuts[node.state.segment, node.request.key] = [
                low for (_, before), (low, key) in itertools.pairwise(parts) if key != before
            ]
        edges = []
        for (target, steps, choice), weight in gathered.items():
            if weight == total:
                edges.append(Edge(target, steps, _ONE, choice))
                self._reach(target, cost)
            else:
                p = _share(weight, total)
                edges.append(Edge(target, steps, p, choice))
                self._reach(target, cost - log2(int(p.p) / int(p.q)))
        self.edges[number] = tuple(edges)

    def branches(
        self, node: AtDraw | AtObservation | AtEnd
    ) -> Iterator[tuple[Any, Bounds, int | fmpq, int, int]]:
        """Yield the answer, the bounds of remembered intervals, the weight, the next node and the steps."""
        if isinstance(node, AtEnd):
            return
        machine = self.machine
        work: list[_Branch]
        state = node.state
        work = [(None, {}, 1, ())]
        if isinstance(node, AtDraw):
            cuts = self._cuts.get((state.segment, node.request.key), ())
            work = [(answer, {}, weight, ()) for answer, weight in answers(node.request, cuts)]
        work.reverse()
        while work:
            answer, bounds, weight, made = work.pop()
            choices = Choices(made)
            value = answer
            if type(answer) is tuple:
                value = plain(_CURRENT, *answer)
            elif type(answer) is _Value:
                value = answer.value
            elif type(answer) is _Part:
                value = Noise(Drawn(*answer.known, choices))
            try:
                outcome = machine.resume(state, value, bounds, choices)
                target = self._node(outcome)
            except Undecided as open_choice:
                work += [
                    (answer, bounds, fmpq(weight) * chance, (*made, number))
                    for number, chance in enumerate(open_choice.chances)
                    if chance
                ]
                continue
            except SplitInterval as split:
                work.extend(_divided(split.index, split.cuts, (answer, bounds, weight, made), state))
                continue
            except ListValues as wanted:
                low, high = _range_of(wanted.index, answer, bounds, state)
                if high - low > MOST_LISTED:
                    raise Outside(
                        f"a draw has {high - low} values that the program tells apart",
                        f"at most {MOST_LISTED} are looked at: compare it with constants, or draw from fewer",
                    ) from wanted
                values = tuple(range(low + 1, high))
                work.extend(_divided(wanted.index, values, (answer, bounds, weight, made), state))
                continue
            yield answer, bounds, weight, target, machine.ticker.steps


class _Value:
    """A value that is drawn as it is."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Part:
    """Noise with what is known of it."""

    __slots__ = ("known",)

    def __init__(self, low: float, high: float, law: Law) -> None:
        self.known = (low, high, law)


def answers(request: Request, cuts: Iterable[int] = ()) -> Iterator[tuple[Any, int | fmpq]]:
    """Yield what the source may answer: values or intervals of them between cuts, with their weights."""
    if request.values is not None:
        for value, weight in zip(request.values, request.weights, strict=True):
            yield _Value(value), weight
    elif request.noise:
        for chance, low, high, law in request.noise:
            yield _Part(low, high, law), chance
    elif request.step != 1 or request.count <= FEW:
        if request.count > MOST_LISTED:
            raise Outside(
                f"a draw has {request.count} values in steps of {request.step}", "draw k, and compute with it"
            )
        for k in range(request.count):
            yield _Value(request.start + k * request.step), 1
    else:
        low, high = request.start, request.start + request.count
        marks = sorted({low, high, *(cut for cut in cuts if low < cut < high)})
        for lower, upper in itertools.pairwise(marks):
            yield (lower, upper), upper - lower


def _share(weight: int | fmpq, total: int | fmpq) -> fmpq:
    return fmpq(weight, total) if isinstance(weight, int) and isinstance(total, int) else weight / fmpq(total)


def _range_of(index: int, answer: Any, bounds: Bounds, state: State) -> tuple[int, int]:
    if index == _CURRENT:
        return answer  # type: ignore[no-any-return]
    return bounds.get(index) or state.contents[index][1:]


def _divided(index: int, cuts: Sequence[int], branch: _Branch, state: State) -> list[_Branch]:
    """Divide an interval; the parts come in descending order."""
    answer, bounds, weight, made = branch
    low, high = _range_of(index, answer, bounds, state)
    marks = sorted({low, high, *(cut for cut in cuts if low < cut < high)}, reverse=True)
    parts: list[_Branch] = []
    for upper, lower in itertools.pairwise(marks):
        share: int | fmpq
        if index == _CURRENT:
            share = (
                weight * (upper - lower) // (high - low)
                if isinstance(weight, int)
                else weight * fmpq(upper - lower, high - low)
            )
            parts.append(((lower, upper), bounds, share, made))
        else:
            share = fmpq(weight) * fmpq(upper - lower, high - low)
            parts.append((answer, {**bounds, index: (lower, upper)}, share, made))
    return parts
