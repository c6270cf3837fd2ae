"""The true delta of pairs of states: certified from below and from above, exact where that is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.asked import asked_states
from bisimdist.analysis.delta_answer import DeltaAnswer, DeltaBound, WitnessEvent
from bisimdist.analysis.members import of_members
from bisimdist.analysis.relaxation import between, relaxed
from bisimdist.certificates.delta import delta_certificate
from bisimdist.certificates.program import program_certificate
from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.fixpoint.question import checked_alpha
from bisimdist.interruption import OnInterrupt, deferred, interruptible
from bisimdist.linear import SingularSystemError
from bisimdist.models.interactive import Interactive, System
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.unrolling import Unrolled, unrolled
from bisimdist.models.worlds import EACH_STEP, Worlds, known_or_rough, natural, placed
from bisimdist.privacy.ceiling import ceiling_of
from bisimdist.privacy.closure import Closure
from bisimdist.privacy.directions import PairQuestion, TwoSided
from bisimdist.privacy.fixed import FixedSearch
from bisimdist.privacy.leaf_distances import leaf_distances
from bisimdist.programs.chain import ProgramChain, ProgramInteractive
from bisimdist.programs.cutting import ended_early, widened
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = [
    "CLOSING_SECONDS",
    "DEFAULT_GAP",
    "RESERVE",
    "DeltaAnswer",
    "DeltaBound",
    "WitnessEvent",
    "delta",
]

DEFAULT_GAP = fmpq(1, 10**9)
"""How narrow the interval of a cyclic chain has to be if nobody says otherwise."""

WITHOUT_DISTANCES = 1_000
"""So many nodes are expanded for each pair before distances are worked out to bound the leaves."""

SOON = 100
"""The same where analysts choose: every action that bounds leave aside is a whole part of the graph."""

ALMOST = fmpq(1, 10**12)
"""Where analysts choose, all that is worse than the best by this or more is left aside at first."""

CLOSING_SECONDS = 5.0
"""How long exact arithmetic may take after somebody stopped the work."""

FOR_DISTANCES = 0.9
"""The part of the time that is left for distances, when few nodes are there: they may say more than these."""

RESERVE = 0.6
"""The part of the time that goes into refinement; the rest is for exact bounds and the event at the end."""


@interruptible
def delta(  # noqa: PLR0913
    model: AnyModel,
    alpha: ExactNumber | None = None,
    *,
    epsilon: ExactNumber | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    gap: ExactNumber | None = None,
    worst: bool = False,
    threshold: ExactNumber | None = None,
    rounds: int | None = None,
    fixed: bool = False,
    nature: str = EACH_STEP,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    distances: bool = True,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> DeltaAnswer:
    """Bound the true delta of pairs of states from both sides.

    Parameters
    ----------
    model
        The chain; or a hidden Markov model, or an automaton without choices, by what is observed of it; or an
        interactive model: then delta is the most that any analyst gains; or a chain that is only known
        roughly: then it is the most that is gained in any of the chains in the intervals.
    alpha, epsilon
        One of the two. For epsilon, alpha = e^epsilon is rounded up for the lower bounds and down for the
        upper ones.
    pairs
        Pairs of names of states; by default those of the model.
    gap
        Stop as soon as upper - lower is at most this. By default 0 where all runs come to rest, so that delta
        is a finite sum, and ``DEFAULT_GAP`` otherwise. With 0 the work ends only where the interval closes.
    worst
        Refine only what the largest delta of all pairs depends on.
    threshold
        Stop at each pair as soon as the bounds tell on which side of this delta is; where neither this nor a
        gap ends the work, only equal bounds do.
    rounds
        How many actions an analyst may ask; None for any number.
    fixed
        Whether it has to fix the sequence of actions beforehand; it ends where the next one is not on offer.
    nature
        Of a chain that is only known roughly: ``"each-step"``, where nature picks a member at every step, in
        each world on its own, or ``"fixed"``, where it has picked one for good, the same in both worlds.
    deadline, memory
        When to give up, and how many bytes the process may hold. What is proved by then is returned with
        ``Status.LIMIT``.
    distances
        Whether bisimilarity distances may bound what is left open.
    progress
        Told how the interval closes.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    DeltaAnswer
        With an event for every lower bound; of an interactive model it says what is asked, too.

    Raises
    ------
    UsageError
        If not exactly one of alpha and epsilon is given, alpha is less than 1, the gap is negative, there
        is no pair, or there are rounds where nobody asks.
    ModelError
        If a pair names no state.

    Examples
    --------
    >>> from bisimdist.models.library.dining_cryptographers import dining_cryptographers
    >>> pair = delta(dining_cryptographers(2), "1.0002").pairs[0]
    >>> str(pair.lower), pair.exact
    ('7501/25000000', True)

    Notes
    -----
    The proofs are in ``docs/theory/delta.md`` and ``docs/theory/interactive.md``.
    """
    system = known_or_rough(model)
    _check_rounds(system, rounds, fixed=fixed)
    if (alpha is None) == (epsilon is None):
        raise UsageError("expected one of alpha and epsilon")
    wanted = None if gap is None else to_fmpq(gap)
    if wanted is not None and wanted < 0:
        raise UsageError(f"the gap is {format_rational(wanted)}; expected at least 0")
    if epsilon is not None:
        above, below = _enclosing(epsilon, wanted)
    else:
        above = below = checked_alpha(to_fmpq(alpha if alpha is not None else 1))
    limit = None if threshold is None or fixed else to_fmpq(threshold)
    asked = asked_states(system, pairs)
    limited = None
    if rounds is not None and isinstance(system, Interactive):
        limited = unrolled(system, rounds, (state for pair in asked for state in pair))
    loose = relaxed(system, nature)
    if loose is not None:
        names = [(system.states[s], system.states[t]) for s, t in asked]
        bounded = partial(
            delta,
            alpha=alpha,
            epsilon=epsilon,
            pairs=names,
            gap=gap,
            worst=worst,
            threshold=threshold,
            nature=nature,
            distances=distances,
            deadline=deadline,
            memory=memory,
            progress=progress,
        )
        return between(loose.model, bounded(loose.wide), bounded(loose.less))
    two = TwoSided(natural(system, nature) if limited is None else limited.model, above, below, memory)
    about = (asked, wanted, worst, deadline, distances, progress)
    work = _Work(system, two, *about, limited, rounds, threshold=limit)
    status = work.run()
    if fixed:
        status = work.fix()
    if work.cut:
        status = work.status_of_cut(status)
    answer = DeltaAnswer(
        model=system,
        alpha_lower=above,
        alpha_upper=below,
        pairs=work.bounds(),
        status=status,
        statistics=work.statistics(),
        _work=work,
    )
    if not isinstance(two.model, Worlds) or nature == EACH_STEP:
        return answer

    def ask(member: LMC, pair: tuple[str, str], deadline: Deadline) -> DeltaAnswer:
        return delta(member, alpha, epsilon=epsilon, pairs=[pair], gap=gap, deadline=deadline)

    return of_members(answer, two.model, ask, deadline)


def _check_rounds(system: System | IntervalChain, rounds: int | None, *, fixed: bool) -> None:
    if not isinstance(system, Interactive) and (rounds is not None or fixed):
        raise UsageError("rounds and sequences of actions are for interactive models: nobody asks this one")
    if rounds is not None and rounds < 0:
        raise UsageError(f"there are {rounds} rounds; expected at least 0")
    if fixed and rounds is None:
        raise UsageError("a sequence that is fixed beforehand has an end; say how many rounds there are")


def _enclosing(epsilon: ExactNumber, gap: fmpq | None) -> tuple[fmpq, fmpq]:
    """Return rationals above and below e**epsilon, so close that bounds at them may be as close as the gap.

    Delta has a slope of at most 1 in alpha: rounding takes no more than a quarter of the gap.
    """
    above, below = alpha_above(epsilon), alpha_below(epsilon)
    if gap and 4 * (above - below) > gap:
        bits = int((8 * above / gap).ceil()).bit_length()
        above, below = (f(epsilon, denominator_bits=bits) for f in (alpha_above, alpha_below))
    return fmpq(above), fmpq(below)


@dataclass(slots=True)
class _Work:
    model: System | IntervalChain
    two: TwoSided
    asked: Sequence[tuple[int, int]]
    gap: fmpq | None
    worst: bool
    deadline: Deadline
    distances: bool
    progress: Progress
    limited: Unrolled | None = None
    rounds: int | None = None
    questions: list[PairQuestion] = field(default_factory=list)
    closure: Closure | None = None
    closed_at: int = -1
    """How many nodes were expanded when the bounds were worked out exactly."""
    ceiling_pairs: int = 0
    cut: Mapping[int, fmpq] = field(default_factory=dict)
    inner_gap: fmpq | None = None
    """What is left of the gap when runs that are cut off have taken their part."""
    threshold: fmpq | None = None
    fixed: bool = False
    sequences: dict[int, FixedSearch] = field(default_factory=dict)
    """By root the best sequence that is fixed beforehand, where one was asked for."""

    def __post_init__(self) -> None:
        if isinstance(self.two.model, ProgramChain):
            self.cut = self.two.model.cut
        self.inner_gap = self.gap
        if self.cut:
            self.threshold = None  # bounds that allow for the cut decide less than these
        if self.cut and self.gap is not None:
            masses = [mass for pair in self.asked for mass in self._masses(*pair) or ()]
            left = self.gap - max(masses) * (2 + self.two.alpha_lower)
            self.inner_gap = left if left > 0 else self.gap

    def run(self) -> Status:
        """Refine until it is enough; whatever ends the work, exact bounds are worked out at the end."""
        with suppress(LimitError):
            self.two.use_ratios(self._inside(), deadline=self.deadline.part(RESERVE))
        self.questions = [self.two.question(pair) for pair in self._inside()]
        gap = self._gap()
        reached = False
        with suppress(*ENDINGS):
            reached = self._refine(gap)
        self.progress("exact bounds", self.two.refinement.expanded, None)
        with deferred():  # what was refined is worth its exact bounds
            if not (reached and self.closed_at == self.two.refinement.expanded):
                self.closure = self.two.close(self.questions, deadline=self._closing_deadline(reached))
        if all(low == high for low, high, _ in self._all()):
            return Status.EXACT
        return Status.BRACKET if reached else Status.LIMIT

    def _inside(self) -> Sequence[tuple[int, int]]:
        """Return the pairs as states of the model that is refined."""
        if self.limited is None:
            return placed(self.two.model, self.asked)
        starts = self.limited.starts
        return [(starts[s], starts[t]) for s, t in self.asked]

    def fix(self) -> Status:
        """Find the best sequences of actions, with what an adaptive analyst gains as a bound."""
        closure = self._closure()
        self.fixed = True
        for _, root in (part for q in self.questions for part in (*q.below, *q.above)):
            if root.node not in self.sequences:
                search = FixedSearch(self.two.measure, self.two.refinement, closure, root.node)
                self.sequences[root.node] = search
                self.progress("sequences of actions", len(self.sequences), None)
                search.run(self.deadline)
        if not all(search.complete for search in self.sequences.values()):
            return Status.LIMIT
        return Status.EXACT if all(low == high for low, high, _ in self._all()) else Status.BRACKET

    def _gap(self) -> fmpq:
        if self.inner_gap is not None:
            return self.inner_gap
        starts = tuple({state for question in self.questions for state in question.pair})
        return fmpq(0) if self.two.measure.chain.acyclic(starts) else DEFAULT_GAP

    def _refine(self, gap: fmpq) -> bool:
        deadline = self.deadline.part(RESERVE)
        rest = {"gap": gap, "worst": self.worst, "deadline": deadline, "progress": self.progress}
        near = self.threshold
        if gap == 0 and len(self.two.measure.chain.arms) > 1:
            # what is worse than the best for certain needs no refinement
            self.two.refine(self.questions, **{**rest, "gap": ALMOST})
            if self._narrow(gap):
                return True
        if self.distances:
            several = len(self.two.measure.chain.arms) > 1
            most = (SOON if several else WITHOUT_DISTANCES) * len(self.questions)
            if self.two.refine(self.questions, most=most, threshold=near, **rest) and self._narrow(gap):
                return True
            self._ask_distances(self.deadline.part(FOR_DISTANCES))
        while True:
            self.two.refine(self.questions, threshold=near, **{**rest, "gap": gap})
            near = None  # where doubles said that the threshold decides and it does not, the gap has to
            if self._narrow(self.inner_gap if self.inner_gap is not None else gap):
                return True
            if gap == 0:
                return True
            deadline.check()  # bounds that were iterated for lack of time do not become narrower
            gap /= 2

    def _narrow(self, gap: fmpq) -> bool:
        """Tell whether the exact bounds are as narrow as wanted (doubles only said that they are)."""
        self.closure = self.two.close(self.questions, deadline=self.deadline)
        self.closed_at = self.two.refinement.expanded
        found = self._all()
        most = max(low for low, _, _ in found)
        if self.threshold is not None and self.gap is None:
            gap = fmpq(0)
        return all(
            high - low <= gap
            or (self.worst and high - max(low, most) <= gap)
            or (self.threshold is not None and not low <= self.threshold < high)
            for low, high, _ in found
        )

    def _closing_deadline(self, reached: bool) -> Deadline:
        """Return when exact bounds have to be there: whoever stopped the work waits a little only."""
        if reached or self.deadline.moment is not None:
            return self.deadline
        return Deadline.after(CLOSING_SECONDS)

    def _ask_distances(self, deadline: Deadline) -> None:
        """Work out bounds on all pairs that leaves may ask for; without them the work goes on as before."""
        try:
            asked = [question.pair for question in self.questions if question.below]
            proof = leaf_distances(self.two.merged, self.two.alpha_upper, asked, deadline, self.progress)
        except (LimitError, SingularSystemError):
            deadline.check()
            return
        if proof is None:
            return
        self.ceiling_pairs = proof.question.functional.size
        refinement = self.two.refinement
        refinement.ceiling = ceiling_of(proof)
        for question in self.questions:
            for _, root in (*question.below, *question.above):
                refinement.bound(refinement.nodes[root.node])

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
        """Return the proved bounds."""
        states = self.model.states
        found = []
        for (s, t), question, (low, high, _) in zip(self.asked, self.questions, self._all(), strict=True):
            cut = self._masses(s, t)
            bounds = widened(low, high, self.two.alpha_lower, cut)
            found.append(DeltaBound(states[s], states[t], *bounds, self, question, cut=cut))
        return tuple(found)

    def _masses(self, s: int, t: int) -> tuple[fmpq, fmpq] | None:
        """Return how likely runs from two states are cut off; None of what is no program."""
        if not isinstance(self.two.model, ProgramChain):
            return None
        return self.cut.get(s, fmpq(0)), self.cut.get(t, fmpq(0))

    def status_of_cut(self, status: Status) -> Status:
        """Return how the work ended, now that the bounds allow for runs that are cut off."""
        if status is Status.LIMIT or ended_early(self.two.model):
            return Status.LIMIT
        wide = self.gap is not None and any(pair.upper - pair.lower > self.gap for pair in self.bounds())
        return Status.LIMIT if wide else Status.BRACKET

    def witness(self, bound: DeltaBound, *, plain: bool = True) -> WitnessEvent:
        """Return the event behind a lower bound, with its probabilities; `plain` in the labels as given."""
        question = bound._question
        direction = self.two.bounds(question, self._bounds_of_nodes())[2]
        event = self.two.event(question, self._proof_of(question, direction), direction)
        forward = direction == question.pair
        source, target = (bound.source, bound.target) if forward else (bound.target, bound.source)
        merged = self.two.merged
        probabilities = event.probabilities(merged, direction)
        if self.limited is not None and plain:
            event = event.renamed(self.limited.labels)
        spelt = merged.spelt if isinstance(merged, Worlds) else None
        first, second = probabilities
        return WitnessEvent(source, target, event, first, second, spelt=spelt)

    def _proof_of(self, question: PairQuestion, direction: tuple[int, int]) -> Closure:
        """Return the bounds that the lower bound of a pair rests on."""
        for pair, root in question.below:
            if pair == direction and root.node in self.sequences:
                return self.sequences[root.node].strategy()
        return self._closure()

    def certificate(self, answer: DeltaAnswer) -> dict[str, object]:
        """Return the proof of all bounds."""
        inner = [(low, high) for low, high, _ in self._all()]
        sequences = None
        closure = self._closure()
        if self.fixed:  # the search has looked behind nodes that an adaptive analyst leaves aside
            actions = self.two.merged.actions if isinstance(self.two.merged, Interactive) else ()
            sequences = {
                root: [actions[arm] for arm in search.sequence[: self.rounds]]
                for root, search in self.sequences.items()
            }
            closure = self.two.close(self.questions)
        proof = delta_certificate(
            self.model,
            self.two,
            self.asked,
            self.questions,
            closure,
            [
                (*bounds, self.witness(pair, plain=False))
                for bounds, pair in zip(inner, answer.pairs, strict=True)
            ],
            self.rounds,
            sequences,
        )
        model: object = self.two.model
        if self.rounds is None and not self.fixed and isinstance(self.model, ProgramInteractive):
            model = self.model
        if not isinstance(model, ProgramChain | ProgramInteractive):
            return proof
        claims = [(pair.source, pair.target, pair.lower, pair.upper) for pair in answer.pairs]
        return program_certificate(model, proof, self.cut, claims)

    def statistics(self) -> dict[str, int]:
        """Return counts of what was done."""
        refinement = self.two.refinement
        return {
            "states": len(self.two.merged),
            "nodes": len(refinement.nodes),
            "expanded": refinement.expanded,
            "programs": refinement.programs,
            "distances": self.ceiling_pairs,
        }
