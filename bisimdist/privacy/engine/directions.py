"""Both directions of all pairs in one refinement graph: delta from below and from above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.models.interactive import Interactive, System
from bisimdist.models.worlds import Worlds
from bisimdist.privacy.engine.closure import Closure, close
from bisimdist.privacy.engine.domination import Domination, find_ratios
from bisimdist.privacy.engine.event import Event, event_of_labels, find_event
from bisimdist.privacy.engine.gain import Gain, GainNode
from bisimdist.privacy.engine.refinement import Refinement, Root
from bisimdist.privacy.engine.signed import SignedChain, SignedWorlds, pair_vector
from bisimdist.progress import NEVER, Deadline, Progress, silent

Pair = tuple[int, int]

NEARLY = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Found:
    """Proved bounds on delta of a pair."""

    lower: fmpq  # lower and upper: the bounds
    upper: fmpq
    direction: Pair  # the ordered pair whose event gives `lower`
    event: Event  # that event


@dataclass(frozen=True, slots=True)
class Interval:
    """What doubles say about a pair."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """A pair with the roots of its directions: those that bound delta from below, and from above.

    The two are the same unless alpha is known only from both sides. A pair of states with different labels,
    or of one and the same state, has none.
    """

    pair: Pair
    below: tuple[tuple[Pair, Root], ...] = ()
    above: tuple[tuple[Pair, Root], ...] = ()


@dataclass(slots=True)
class TwoSided:
    """Delta of pairs of one chain, refined for as long as somebody wants."""

    model: System  # the chain, or interactive model
    # alpha_lower and alpha_upper: the alpha of the lower and of the upper bounds; the same unless alpha =
    # e**epsilon had to be rounded
    alpha_lower: fmpq
    alpha_upper: fmpq
    memory: int | None = None  # how many bytes the process may hold
    measure: Gain = field(init=False)
    refinement: Refinement[GainNode] = field(init=False)

    def __post_init__(self) -> None:
        natural = isinstance(self.model, Worlds)
        self.measure = Gain(SignedWorlds.of(self.model) if natural else SignedChain.of(self.model))
        self.refinement = Refinement(self.measure, memory=self.memory)

    def use_ratios(self, pairs: Sequence[Pair], *, deadline: Deadline = NEVER) -> None:
        """Let bounds on likelihood ratios settle nodes, if the chain is cyclic; call it before `question`."""
        starts = {state for pair in pairs for state in pair}
        if self.measure.chain.acyclic(tuple(starts)):
            return
        ratios = find_ratios(self.model, starts, deadline=deadline)
        if ratios:
            self.measure.domination = Domination(ratios)

    def question(self, pair: Pair) -> PairQuestion:
        """Return the roots of a pair of states."""
        s, t = pair
        if s == t or self.model.labels[s] != self.model.labels[t]:
            return PairQuestion((s, t))
        return PairQuestion(
            (s, t), self._roots((s, t), self.alpha_lower), self._roots((s, t), self.alpha_upper)
        )

    def _roots(self, pair: Pair, alpha: fmpq) -> tuple[tuple[Pair, Root], ...]:
        # At alpha = 1 the complement of an event gains in one direction what the event gains in the other.
        directions = (pair, pair[::-1]) if alpha != 1 and not self._mirrored(pair) else (pair,)
        return tuple(
            ((s, t), Root(self.refinement.node_of(pair_vector(alpha, s, t)), int(alpha.q)))
            for s, t in directions
        )

    def above(self, question: PairQuestion) -> tuple[tuple[Pair, Root], ...]:
        """Return the roots that bound a pair from above.

        At alpha = 1 one direction is asked. The other is a root where it became a node on the way: whoever
        reads the nodes finds its bound there.
        """
        found = question.above
        if len(found) == 1 and not self._mirrored(question.pair):
            ((s, t), root) = found[0]
            number = self.refinement.numbers.get(pair_vector(self.alpha_upper, t, s))
            if number is not None:
                found = (*found, ((t, s), Root(number, root.divisor)))
        return found

    def _mirrored(self, pair: Pair) -> bool:
        """Tell whether a pair is one state in two worlds: then both directions are worth the same."""
        return isinstance(self.model, Worlds) and self.model.origin[pair[0]] == self.model.origin[pair[1]]

    def interval(self, question: PairQuestion) -> Interval:
        """Return what doubles say about a pair."""
        if not question.below:
            value = 0.0 if question.pair[0] == question.pair[1] else 1.0
            return Interval(value, value)
        return Interval(
            max(self._part(root) * self._node(root).low for _, root in question.below),
            max(self._part(root) * self._node(root).high for _, root in question.above),
        )

    def _node(self, root: Root) -> GainNode:
        return self.refinement.nodes[root.node]

    def _part(self, root: Root) -> float:
        return self._node(root).mass / root.divisor

    def _active(
        self, questions: Sequence[PairQuestion], gap: float, worst: bool, threshold: float | None
    ) -> list[Root]:
        """Return the roots that may still change an interval that is wider than the gap and undecided."""
        roots = []
        least = max(self.interval(question).low for question in questions) if worst else 0.0
        for question in questions:
            interval = self.interval(question)
            if not question.below or (gap > 0 and interval.high - max(interval.low, least) <= gap * NEARLY):
                continue
            if interval.high < least * NEARLY:
                continue
            if threshold is not None and not interval.low <= threshold < interval.high:
                continue
            for _, root in (*question.below, *question.above):
                if self._part(root) * self._node(root).high >= interval.low * NEARLY:
                    roots.append(root)
        return roots

    def refine(  # noqa: PLR0913
        self,
        questions: Sequence[PairQuestion],
        *,
        gap: fmpq,
        most: int | None = None,
        worst: bool = False,
        threshold: fmpq | None = None,
        deadline: Deadline = NEVER,
        progress: Progress = silent,
    ) -> bool:
        """Refine until the intervals are as narrow as the gap, closed, or `most` nodes are expanded.

        With `worst`, only the largest delta of all pairs counts; with a threshold, intervals that contain it.

        Returns whether the intervals are as narrow, to the accuracy of doubles, or closed.
        Raises LimitError if a limit ends the work; what has been found stays.
        """
        wide = float(gap)
        limit = None if threshold is None else float(threshold)

        def choose() -> Sequence[Root]:
            # before the first sweep nothing is known of the roots: all of them matter
            return self._active(questions, wide, worst, limit)

        reached = False

        def enough(closed: bool) -> bool:
            nonlocal reached
            self._report(questions, progress)
            reached = closed or not self._active(questions, wide, worst, limit)
            return reached or (most is not None and self.refinement.expanded >= most)

        self.refinement.refine(choose, enough=enough, deadline=deadline)
        return reached

    def _report(self, questions: Sequence[PairQuestion], progress: Progress) -> None:
        widest = max((self.interval(question) for question in questions), key=lambda x: x.high - x.low)
        progress(
            f"delta between {widest.low:.8g} and {widest.high:.8g}",
            self.refinement.expanded,
            None,
        )

    def close(self, questions: Sequence[PairQuestion], *, deadline: Deadline = NEVER) -> Closure:
        """Return the exact bounds on all nodes of the pairs."""
        roots = [root.node for q in questions for _, root in (*q.below, *self.above(q))]
        return close(self.refinement, roots, deadline=deadline)

    def bounds(self, question: PairQuestion, closure: Closure) -> tuple[fmpq, fmpq, Pair]:
        """Return the proved bounds of a pair, and the direction that gives the lower one."""
        if not question.below:
            value = fmpq(0 if question.pair[0] == question.pair[1] else 1)
            return value, value, question.pair
        below = [(closure.lower[root.node] / root.divisor, pair) for pair, root in question.below]
        lower, direction = below[0] if below[0][0] >= below[-1][0] else below[-1]
        upper = max(
            closure.upper[root.node] / root.divisor
            for _, root in self.above(question)
            if root.node in closure.upper
        )
        return lower, min(upper, fmpq(1)), direction

    def event(self, question: PairQuestion, closure: Closure, direction: Pair) -> Event:
        """Return the event behind the lower bound of a pair."""
        first = self.model.labels[direction[0]]
        for pair, root in question.below:
            if pair == direction:
                return find_event(self.measure, self.refinement.nodes, root.node, first, closure)
        if question.pair[0] == question.pair[1]:
            return Event((), -2)
        return event_of_labels(first, asked=isinstance(self.model, Interactive))

    def found(self, question: PairQuestion, closure: Closure) -> Found:
        """Return the proved bounds of a pair with the event."""
        lower, upper, direction = self.bounds(question, closure)
        return Found(lower, upper, direction, self.event(question, closure, direction))
