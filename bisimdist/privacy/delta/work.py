"""How the bounds on delta of several pairs become narrow: refinement, distances, exact bounds at the end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flint import fmpq

from bisimdist.distances.engine.lockstep import SAID, large, lockstep_bounds
from bisimdist.errors import ENDINGS, Interruption, LimitError, StoppedError
from bisimdist.faces.shown.answer import Status
from bisimdist.interruption import deferred
from bisimdist.models.interactive import Interactive, System
from bisimdist.privacy.delta.answer import DeltaAnswer, DeltaBound, WitnessEvent
from bisimdist.privacy.delta.certificate import delta_certificate
from bisimdist.privacy.engine.capping import cap_leaves, sharpen
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.directions import PairQuestion, TwoSided
from bisimdist.privacy.engine.fixed import FixedSearch
from bisimdist.progress import NEVER, Deadline

if TYPE_CHECKING:
    from bisimdist.privacy.delta.ask import DeltaProblem

DEFAULT_GAP = fmpq(1, 10**9)  # how narrow the interval of a cyclic chain has to be if nobody says otherwise

WITHOUT_DISTANCES = 1_000
"""So many nodes are expanded for each pair before distances are worked out to bound the leaves."""

SOON = 100
"""The same where analysts choose: every action that bounds leave aside is a whole part of the graph."""

ALMOST = fmpq(1, 10**12)
"""Where analysts choose, all that is worse than the best by this or more is left aside at first."""

CLOSING_SECONDS = 5.0  # how long exact arithmetic may take after somebody stopped the work
SPARE_SECONDS = 2.0  # how long the probabilities of events may take in all when the time is over

BEFORE_DISTANCES = 0.3  # the part of the time for refinement that may go by before distances are asked

FOR_DISTANCES = 0.9
"""The part of the time that is left for distances, when few nodes are there: they may say more than these."""

RESERVE = 0.6
"""The part of the time that goes into refinement; the rest is for exact bounds and the event at the end."""

IDLE = 64  # how often the width is halved while nothing is left to refine; then the least one is tried

LEAST_GAP = fmpq(1, 2**1100)  # a width that is 0 as a double


@dataclass(slots=True)
class Work:
    """The work on a question about delta."""

    two: TwoSided
    question: DeltaProblem
    asked: Sequence[tuple[int, int]] = field(init=False)
    questions: list[PairQuestion] = field(default_factory=list)
    closure: Closure | None = None
    reason: str = ""  # which limit ended the work
    stopped: bool = False  # whether somebody asked to stop
    spare: float = SPARE_SECONDS
    closed_at: int = -1  # how many nodes were expanded when the bounds were worked out exactly
    ceiling_pairs: int = 0
    sequences: dict[int, FixedSearch] = field(default_factory=dict)
    """By root the best sequence that is fixed beforehand, where one was asked for."""
    lockstep: Mapping[tuple[int, int], fmpq] = field(default_factory=dict)

    def __post_init__(self) -> None:
        model = self.two.model
        self.asked = [(model.index(s), model.index(t)) for s, t in self.question.pairs]

    @property
    def model(self) -> System:
        """The model that the engine is asked about."""
        return self.two.model

    def run(self) -> Status:
        """Refine until it is enough; whatever ends the work, exact bounds are worked out at the end."""
        begun = time.monotonic()
        with suppress(LimitError):
            self.two.use_ratios(self.asked, deadline=self.question.deadline.part(RESERVE))
        self.questions = [self.two.question(pair) for pair in self.asked]
        gap = self._gap()
        reached, ended = False, None
        try:
            reached = self._refine(gap)
        except ENDINGS as error:
            ended, self.reason = error, str(error)
        self.question.progress("exact bounds", self.two.refinement.expanded, None)
        with deferred():  # what was refined is worth its exact bounds
            if not (reached and self.closed_at == self.two.refinement.expanded):
                self.closure = self.two.close(self.questions, deadline=self._closing_deadline(reached))
            self.stopped = isinstance(ended, Interruption | StoppedError)
            if not self.stopped:  # whoever stopped the work waits
                self._couple(reached)
                self._sharpen(begun, reached)
        if all(low == high for low, high, _ in self._all()):
            return Status.EXACT
        return Status.BRACKET if reached else Status.LIMIT

    def _couple(self, reached: bool) -> None:
        """Bound pairs that are open by runs that are coupled step by step, which is cheap."""
        if not reached and large(self.model):
            soon = self.question.deadline.part(0.5)
            self.lockstep = lockstep_bounds(self.model, self.asked, deadline=soon)
            known = self._closure()
            if any(self.lockstep.get(q.pair, 1) < self.two.bounds(q, known)[1] for q in self.questions):
                said = f"{SAID}, which certificates of bound hold, and none of delta"
                self.reason = "; ".join(filter(None, (self.reason, said)))

    def _sharpen(self, begun: float, reached: bool) -> None:
        """Let no upper bound be above a distance that could be had by now."""
        found, asked = self._closure(), self.question
        if asked.distances and sharpen(
            self.two, self.questions, found, begun=begun, deadline=asked.deadline, progress=asked.progress
        ):
            self.closure = self.two.close(self.questions, deadline=self._closing_deadline(reached))

    def fix(self) -> Status:
        """Find the best sequences of actions, with what an adaptive analyst gains as a bound."""
        closure = self._closure()
        for _, root in (part for q in self.questions for part in (*q.below, *q.above)):
            if root.node not in self.sequences:
                search = FixedSearch(self.two.measure, self.two.refinement, closure, root.node)
                self.sequences[root.node] = search
                self.question.progress("sequences of actions", len(self.sequences), None)
                search.run(self.question.deadline)
        if not all(search.complete for search in self.sequences.values()):
            return Status.LIMIT
        return Status.EXACT if all(low == high for low, high, _ in self._all()) else Status.BRACKET

    def _gap(self) -> fmpq:
        if self.question.gap is not None:
            return self.question.gap
        if self.question.relative is not None:
            return max(self.question.relative, DEFAULT_GAP)
        starts = tuple({state for question in self.questions for state in question.pair})
        return fmpq(0) if self.two.measure.chain.acyclic(starts) else DEFAULT_GAP

    def _refine(self, gap: fmpq) -> bool:
        deadline = self.question.deadline.part(RESERVE)
        rest = {
            "gap": gap,
            "worst": self.question.worst,
            "deadline": deadline,
            "progress": self.question.progress,
        }
        near = self.question.threshold
        if gap == 0 and len(self.two.measure.chain.arms) > 1:
            # what is worse than the best for certain needs no refinement
            self.two.refine(self.questions, **{**rest, "gap": ALMOST})
            if self._narrow(gap):
                return True
        if self.question.distances:
            several = len(self.two.measure.chain.arms) > 1
            most = (SOON if several else WITHOUT_DISTANCES) * len(self.questions)
            soon = {**rest, "deadline": deadline.part(BEFORE_DISTANCES)}
            try:
                if self.two.refine(self.questions, most=most, threshold=near, **soon) and self._narrow(gap):
                    return True
            except LimitError:
                deadline.check()
            spare = self.question.deadline.part(FOR_DISTANCES)
            self.ceiling_pairs = cap_leaves(self.two, self.questions, spare, self.question.progress)
        idle, refinement = 0, self.two.refinement
        while True:
            expanded = refinement.expanded
            self.two.refine(self.questions, threshold=near, **{**rest, "gap": gap})
            near = None  # where doubles said that the threshold decides and it does not, the gap has to
            if self._narrow(self.question.gap if self.question.gap is not None else gap):
                return True
            if gap == 0:
                return True
            if self.question.relative:
                gap = min(gap, self.question.relative * self._least())
            deadline.check()  # bounds that were iterated for lack of time do not become narrower
            refinement.check_memory()
            idle = idle + 1 if refinement.expanded == expanded else 0
            if idle > IDLE:
                raise LimitError("no leaf is open in doubles: more work would not narrow the bounds")
            gap = LEAST_GAP if idle == IDLE else gap / 2

    def _narrow(self, gap: fmpq) -> bool:
        """Tell whether the exact bounds are as narrow as wanted (doubles only said that they are)."""
        self.closure = self.two.close(self.questions, deadline=self.question.deadline)
        self.closed_at = self.two.refinement.expanded
        found = self._all()
        most = max(low for low, _, _ in found)
        if self.question.gap is None and (self.question.threshold, self.question.relative) != (None, None):
            gap = fmpq(0)
        return all(
            high - low <= max(gap, high * (self.question.relative or 0))
            or (self.question.worst and high - max(low, most) <= gap)
            or (self.question.threshold is not None and not low <= self.question.threshold < high)
            for low, high, _ in found
        )

    def _least(self) -> fmpq:
        """Return the least upper bound of a pair whose interval is too wide a part of it."""
        part = self.question.relative or fmpq(0)
        return min((high for low, high, _ in self._all() if high - low > part * high), default=fmpq(1))

    def _closing_deadline(self, reached: bool) -> Deadline:
        """Return when exact bounds have to be there: whoever stopped the work waits a little only."""
        if reached or self.question.deadline.moment is not None:
            return self.question.deadline
        return Deadline.after(CLOSING_SECONDS)

    def _all(self) -> list[tuple[fmpq, fmpq, tuple[int, int]]]:
        closure = self._bounds_of_nodes()
        return [self.two.bounds(question, closure) for question in self.questions]

    def _bounds_of_nodes(self) -> Closure:
        """Return the bounds on the nodes of the pairs; on what sequences gain, where these are asked for."""
        if not self.sequences:
            return self._closure()
        lower = {node: search.best for node, search in self.sequences.items()}
        upper = {node: search.most for node, search in self.sequences.items()}
        return replace(self._closure(), lower=lower, upper=upper)

    def directions(self, bound: DeltaBound) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        """Return bounds on what is gained in each direction; at alpha = 1 both are worth the same."""
        question, closure = bound._question, self._bounds_of_nodes()
        if not question.below:
            return ((bound.lower, bound.upper),) * 2
        ways = [
            (closure.lower[low.node] / low.divisor, closure.upper[high.node] / high.divisor)
            for (_, low), (_, high) in zip(question.below, question.above, strict=False)
        ]
        return ways[0], ways[-1]

    def _closure(self) -> Closure:
        if self.closure is None:
            self.closure = self.two.close(self.questions)
        return self.closure

    def bounds(self) -> tuple[DeltaBound, ...]:
        found = zip(self.question.pairs, self.questions, self._all(), strict=True)
        most = self.lockstep
        return tuple(
            DeltaBound(s, t, low, min(high, most.get(q.pair, high)), self, q)
            for (s, t), q, (low, high, _) in found
        )

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        """Return the event behind a lower bound; raise LimitError when the time for that is over."""
        question = bound._question
        direction = self.two.bounds(question, self._bounds_of_nodes())[2]
        event = self.two.event(question, self._proof_of(question, direction), direction)
        forward = direction == question.pair
        source, target = (bound.source, bound.target) if forward else (bound.target, bound.source)
        begun, left = time.monotonic(), 0.0 if self.stopped else self.question.deadline.left()
        try:
            deadline = NEVER if left is None else Deadline.after(max(left, self.spare))
            both = event.probabilities(self.two.model, direction, deadline=deadline)
        finally:
            if left is not None:
                self.spare -= max(0.0, time.monotonic() - begun - left)
        return WitnessEvent(source, target, event, *both)

    def _proof_of(self, question: PairQuestion, direction: tuple[int, int]) -> Closure:
        """Return the bounds that the lower bound of a pair rests on."""
        for pair, root in question.below:
            if pair == direction and root.node in self.sequences:
                return self.sequences[root.node].strategy()
        return self._closure()

    def certificate(self, answer: DeltaAnswer) -> dict[str, object]:
        sequences = None
        closure = self._closure()
        if self.question.fixed:  # the search has looked behind nodes that an adaptive analyst leaves aside
            actions = self.two.model.actions if isinstance(self.two.model, Interactive) else ()
            sequences = {
                root: [actions[arm] for arm in search.sequence if arm < len(actions)]
                for root, search in self.sequences.items()
            }
            closure = self.two.close(self.questions)
        bounds = [
            (low, high, pair.witness) for (low, high, _), pair in zip(self._all(), answer.pairs, strict=True)
        ]
        return delta_certificate(self.two, self.asked, self.questions, closure, bounds, sequences)

    def statistics(self) -> dict[str, int]:
        """Return counts of what was done."""
        refinement = self.two.refinement
        return {
            "states": len(self.two.model),
            "nodes": len(refinement.nodes),
            "expanded": refinement.expanded,
            "programs": refinement.programs,
            "distances": self.ceiling_pairs,
        }
