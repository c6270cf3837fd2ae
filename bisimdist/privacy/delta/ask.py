"""The true delta of pairs of states: certified from below and from above, exact where that is possible.

Source: CMP18 Definition 5, CMP18 Definition 7, CMP18 Fact 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flint import fmpq

from bisimdist.distances.engine.question import checked_alpha
from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.analyst import check_known
from bisimdist.models.interactive import Interactive, System
from bisimdist.models.kinds import AnyModel, StateModel
from bisimdist.models.worlds import EACH_STEP, known_or_rough
from bisimdist.privacy.delta.answer import DeltaAnswer
from bisimdist.privacy.delta.returned import joined, returned
from bisimdist.privacy.delta.work import Work
from bisimdist.privacy.engine.directions import TwoSided
from bisimdist.privacy.engine.refinement import bytes_held
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.reductions.chain import solved
from bisimdist.reductions.claim import Claim
from bisimdist.reductions.step import Kind, Problem

DEFAULT_MEMORY = 4 << 30  # how many more bytes the process may hold if nobody says otherwise
FINE = fmpq(1, 1 << 160)  # how near e**epsilon decides what rounding left open


@interruptible
def delta(  # noqa: PLR0913
    model: AnyModel,
    alpha: ExactNumber | None = None,
    *,
    epsilon: ExactNumber | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    gap: ExactNumber | None = None,
    relative: ExactNumber | None = None,
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
        interactive model: then delta is the largest gain of any analyst; or a chain in intervals: then it is
        the largest delta of all chains in the intervals.
    alpha, epsilon
        One of the two. For epsilon, alpha = e^epsilon is rounded up for the lower bounds and down for the
        upper ones.
    pairs
        Pairs of names of states; by default those of the model.
    gap
        Stop as soon as upper - lower is at most this. By default 0 if all runs come to rest, because delta is
        then a finite sum, and ``DEFAULT_GAP`` otherwise. With 0 the work ends only when the interval closes.
    relative
        Stop also as soon as upper - lower is at most this part of upper; then there is no default gap.
    worst
        Refine only what the largest delta of all pairs depends on.
    threshold
        For each pair, stop as soon as the bounds tell whether delta is at most this. Without a gap, bounds
        that do not decide it have to meet.
    rounds
        How many actions an analyst may ask; None for any number.
    fixed
        Whether the analyst has to fix the sequence of actions beforehand. It stops if the next action is not
        on offer.
    nature
        For a chain in intervals: ``"each-step"``, where nature picks a member at every step, in each world on
        its own, or ``"fixed"``, where it has picked one for good, the same in both worlds.
    deadline, memory
        When to give up, and how many bytes the process may hold, by default ``DEFAULT_MEMORY`` more. What is
        proved by then is returned with ``Status.LIMIT``.
    distances
        Whether bisimilarity distances may narrow the upper bounds.
    progress, on_interrupt
        As for `bisimdist.bound`.

    Returns
    -------
    DeltaAnswer
        Bounds with an event for every lower bound. For an interactive model the event also says what to ask.

    Raises
    ------
    UsageError
        If not exactly one of alpha and epsilon is given, alpha is less than 1, the gap or its part is
        negative, there is no pair, or rounds are given for a model without an analyst.
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
    part = None if relative is None else to_fmpq(relative)
    for name, value in (("gap", wanted), ("relative gap", part)):
        if value is not None and value < 0:
            raise UsageError(f"the {name} is {format_rational(value)}; expected at least 0")
    if epsilon is not None:
        above, below = _enclosing(epsilon, wanted)
    else:
        above = below = checked_alpha(to_fmpq(alpha if alpha is not None else 1))
    names = [(system.states[s], system.states[t]) for s, t in asked_states(system, pairs)]
    asked = DeltaProblem(
        pairs=tuple(names),
        nature=nature,
        rounds=rounds,
        deadline=deadline,
        alpha_lower=above,
        alpha_upper=below,
        gap=wanted,
        relative=part,
        worst=worst,
        threshold=None if threshold is None or fixed else to_fmpq(threshold),
        fixed=fixed,
        memory=memory,
        distances=distances,
        progress=progress,
    )
    found = solved(asked, system)
    if epsilon is not None and _left_open_by_rounding(found, asked.threshold, above - below):
        above, below = _enclosing(epsilon, FINE)
        found = solved(replace(asked, alpha_lower=above, alpha_upper=below), system)
    return found


def _left_open_by_rounding(found: DeltaAnswer, threshold: fmpq | None, rounded: fmpq) -> bool:
    """Say whether a pair is undecided whose bounds are as close as the rounding of e**epsilon allows."""
    return threshold is not None and any(
        pair.lower <= threshold < pair.upper and pair.upper - pair.lower <= rounded for pair in found.pairs
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaProblem(Problem[DeltaAnswer]):
    """What is asked of delta; see `delta`."""

    kinds = frozenset({Kind.CHAIN, Kind.INTERACTIVE, Kind.WORLDS})

    alpha_lower: fmpq
    alpha_upper: fmpq
    gap: fmpq | None = None
    relative: fmpq | None = None
    worst: bool = False
    threshold: fmpq | None = None
    fixed: bool = False
    memory: int | None = None
    distances: bool = True
    progress: Progress = silent

    @property
    def merges(self) -> bool:
        return True

    @property
    def quantity(self) -> str:
        return "delta of fixed sequences" if self.fixed else "delta"

    def engine(self, model: System) -> DeltaAnswer:
        memory = bytes_held() + DEFAULT_MEMORY if self.memory is None else self.memory
        work = Work(TwoSided(model, self.alpha_lower, self.alpha_upper, memory), self)
        status = work.run()
        if self.fixed:
            status = work.fix()
        return DeltaAnswer(
            model=model,
            alpha_lower=self.alpha_lower,
            alpha_upper=self.alpha_upper,
            pairs=work.bounds(),
            status=status,
            statistics=work.statistics(),
            reason=work.reason,
            _work=work,
        )

    back = returned
    joined = staticmethod(joined)

    def picked(self, found: DeltaAnswer, number: int) -> Sequence[str | None]:
        witness = found.pairs[number].witness_in_time()
        return () if witness is None else witness.event.asks

    def sides(self, found: DeltaAnswer, number: int) -> Claim:
        pair = found.pairs[number]
        alphas = self.alpha_lower, self.alpha_upper
        return Claim.between(self.quantity, self.pairs[number], (pair.lower, pair.upper), alphas)

    def tighter(self, lost: Sequence[Sequence[fmpq]]) -> DeltaProblem:
        gap = self.gap
        if gap is not None:
            left = gap - max((max(masses) for masses in lost), default=fmpq(0)) * (2 + self.alpha_lower)
            gap = left if left > 0 else gap
        return replace(self, gap=gap, threshold=None)  # bounds that are wider decide less


def _check_rounds(system: StateModel, rounds: int | None, *, fixed: bool) -> None:
    """Refuse rounds where nobody asks, and sequences that are fixed beforehand without rounds."""
    if fixed and not isinstance(system, Interactive):
        raise UsageError("rounds and sequences of actions need an interactive model; this one has no analyst")
    if fixed:
        check_known(system, "a sequence that is fixed beforehand would fix its picks, too")
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
