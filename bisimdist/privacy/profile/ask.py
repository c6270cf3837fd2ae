"""The privacy profile: delta as a function of epsilon, certified from above and from below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.logarithm import alpha_below, log_enclosure
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.exact.simplest import simplest_between
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import EACH_STEP, known_or_rough
from bisimdist.parallel import Pool
from bisimdist.privacy.delta.jobs import DeltaAt, DeltaTask, delta_at
from bisimdist.privacy.engine.losses import LossDistribution, exact_losses
from bisimdist.privacy.profile.answer import ProfileAnswer, ProfilePoint
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.reductions.chain import returned, straight
from bisimdist.reductions.claim import Claim
from bisimdist.reductions.step import Step

GRID_BITS = 20  # points of a grid in epsilon become alphas with about so many bits below

DEFAULT_POINTS = 33
COARSE = 9  # how many points are spread evenly before the rest goes where the curve bends

BATCH = 4  # so many points are chosen at a time where each of them is a long computation

SMALL = fmpq(1, 1000)
"""By default the curve ends where delta has fallen to this part of its value at epsilon = 0."""

LARGEST_EPSILON = fmpq(16)
LOSS_POINTS = 5000  # with more losses than this delta is computed at each point alone

RELATIVE_GAP = fmpq(1, 1000)
"""How narrow the intervals of a cyclic chain have to be, relative to delta at epsilon = 0."""


@interruptible
def profile(  # noqa: PLR0913
    model: AnyModel,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    alphas: Sequence[ExactNumber] | None = None,
    epsilons: Sequence[ExactNumber] | None = None,
    points: int = DEFAULT_POINTS,
    largest: ExactNumber | None = None,
    gap: ExactNumber | None = None,
    runs: int = 1,
    rounds: int | None = None,
    nature: str = EACH_STEP,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> ProfileAnswer:
    """Compute the privacy profile: the largest delta of all pairs as a function of alpha = e^epsilon.

    Parameters
    ----------
    model
        The chain; or a hidden Markov model, or an automaton without choices, by what is observed of it; or an
        interactive model; or a chain in intervals: then the curve is the largest delta of all chains in them.
    pairs
        Pairs of names of states; by default those of the model.
    alphas, epsilons
        Where to compute delta. An epsilon stands for a short rational just below e^epsilon, which the answer
        names. By default the function chooses points: some evenly in epsilon, the others where the curve
        bends.
    points
        How many points to choose.
    largest
        The largest epsilon; by default one at which delta is small or stops falling.
    gap
        How narrow intervals have to be where the curve is not exact.
    runs
        Compute the profile of so many independent runs; needs finitely many losses.
    rounds
        For an interactive model: how many actions an analyst may ask; None for any number.
    nature
        For a chain in intervals: what nature may do, as for `delta`.
    deadline, memory, progress
        As for `delta`. The points that are known when a limit comes are returned with ``Status.LIMIT``. The
        memory is that of each process.
    jobs
        How many processes compute points where the losses are not finitely many; the answer does not depend
        on it.
    cluster
        The workers that do this instead, as for `bisimdist.bound`.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    ProfileAnswer
        The points, and the whole curve if it is known.

    Raises
    ------
    UsageError
        If there is no pair, a number is out of range, or several runs are asked for although the losses are
        not finitely many.
    LimitError
        If a limit comes before the first point.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> [str(point.upper) for point in profile(figure1(), alphas=[1, "5/4", "3/2"]).points]
    ['1/5', '1/10', '0']
    """
    if points < 2:
        raise UsageError(f"{points} points were asked for; expected at least 2")
    if runs < 1:
        raise UsageError(f"{runs} runs were asked for; expected at least 1")
    if jobs < 1:
        raise UsageError(f"{jobs} processes were asked for; expected at least 1")
    system = known_or_rough(model)
    asked = asked_states(system, pairs)
    names = tuple((system.states[s], system.states[t]) for s, t in asked)
    losses = None
    inner, steps = straight(system)
    if isinstance(inner, LMC):  # losses are of one way to ask
        losses = all_losses(inner, asked, runs, deadline)
    if losses is None and runs > 1:
        raise UsageError("several runs need finitely many losses, which this chain does not have")
    whole = all(step.trivial for step in steps)
    if not whole and runs > 1:
        raise UsageError("several runs need a program of which no run is cut off")
    end = None if largest is None else to_fmpq(largest)
    task = DeltaTask(system, names, memory, rounds, nature)
    pool = Pool(delta_at, task, jobs=jobs, cluster=cluster, deadline=deadline, progress=progress)
    curve = _Curve(losses, names, steps, None if gap is None else to_fmpq(gap), pool, progress)
    try:
        with pool:
            _fill(curve, alphas, epsilons, points, end)
        stopped = False
    except ENDINGS:
        if not curve.known:
            raise
        stopped = True
    found = tuple(curve.known[alpha] for alpha in sorted(curve.known))
    exact = all(point.exact for point in found)
    status = Status.EXACT if exact else Status.BRACKET
    if stopped or curve.limited or any(step.unfinished for step in steps):
        status = Status.LIMIT
    return ProfileAnswer(
        model=system,
        pairs=names,
        points=found,
        status=status,
        losses=losses if whole else None,
        runs=runs,
    )


def all_losses(
    model: LMC, asked: Sequence[tuple[int, int]], runs: int, deadline: Deadline
) -> tuple[LossDistribution, ...] | None:
    """Return the loss distribution of each pair for so many runs; None where the losses are too many."""
    found = []
    for s, t in asked:
        try:
            losses = exact_losses(model, s, t, deadline=deadline)
        except LimitError:
            deadline.check()
            return None
        if len(losses.points) > LOSS_POINTS:
            return None
        found.append(losses.repeated(runs))
    return tuple(found)


@dataclass(slots=True)
class _Curve:
    losses: tuple[LossDistribution, ...] | None
    names: Sequence[tuple[str, str]]
    steps: Sequence[Step]
    gap: fmpq | None
    pool: Pool[DeltaTask, tuple[fmpq, fmpq | None], DeltaAt]
    progress: Progress
    known: dict[fmpq, ProfilePoint] = field(default_factory=dict)
    limited: bool = False

    def at(self, alpha: fmpq) -> ProfilePoint:
        self.add([alpha])
        return self.known[alpha]

    def add(self, alphas: Sequence[fmpq]) -> None:
        """Work out the bounds at several alphas."""
        fresh = [alpha for alpha in dict.fromkeys(alphas) if alpha not in self.known]
        if self.losses is not None:
            for alpha in fresh:
                self.pool.deadline.check()
                self.progress("points of the profile", len(self.known), None)
                values = [losses.delta(alpha) for losses in self.losses]
                ends = zip(
                    *(self._returned(*one, alpha) for one in zip(self.names, values, strict=True)),
                    strict=True,
                )
                lower, upper = map(max, ends)
                self.known[alpha] = ProfilePoint(alpha, lower, upper)
            return
        if fresh and not self.known:
            self._compute(fresh[:1])  # it says how narrow the others have to be
            del fresh[0]
        self._compute(fresh)

    def _returned(self, states: tuple[str, str], value: fmpq, alpha: fmpq) -> tuple[fmpq, fmpq]:
        """Return bounds on the delta of a pair whose losses give so much."""
        return returned(self.steps, Claim.between("delta", states, (value, value), (alpha, alpha))).sides

    def _compute(self, alphas: Sequence[fmpq]) -> None:
        self.progress("points of the profile", len(self.known), None)
        gap = self._gap()
        for found in self.pool.map([(alpha, gap) for alpha in alphas]):
            self.limited |= found.limited
            self.known[found.alpha] = ProfilePoint(found.alpha, found.lower, found.upper)
            self.progress("points of the profile", len(self.known), None)

    def _gap(self) -> fmpq | None:
        if self.gap is not None or not self.known:
            return self.gap
        first = self.known[min(self.known)]
        return min(first.upper * RELATIVE_GAP, fmpq(1, 10**6)) if first.upper else None


def _fill(
    curve: _Curve,
    alphas: Sequence[ExactNumber] | None,
    epsilons: Sequence[ExactNumber] | None,
    points: int,
    largest: fmpq | None,
) -> None:
    if alphas is not None or epsilons is not None:
        wanted = [to_fmpq(alpha) for alpha in alphas or ()]
        wanted += [to_fmpq(alpha_below(epsilon)) for epsilon in epsilons or ()]
        for alpha in wanted:
            if alpha < 1:
                raise UsageError(f"alpha is {format_rational(alpha)}; expected at least 1")
        curve.add(sorted(wanted))
        return
    end = _end(curve) if largest is None else largest
    if end <= 0:
        raise UsageError(f"the largest epsilon is {format_rational(end)}; expected a number above 0")
    coarse = min(points, COARSE)
    curve.add([_grid(end * k / (coarse - 1)) for k in range(coarse)])
    curve.add(_kinks(curve, points - coarse))
    _bisect(curve, points)


def _kinks(curve: _Curve, most: int) -> list[fmpq]:
    """Return the likelihood ratios at which an exact curve bends, if they are few."""
    end = max(curve.known)
    ratios = {ratio for losses in curve.losses or () for ratio in losses.ratios() if ratio <= end}
    return sorted(ratios) if len(ratios) <= most else []


def _grid(epsilon: fmpq) -> fmpq:
    if epsilon == 0:
        return fmpq(1)
    size = max(0, int(epsilon.q.bit_length()) - int(epsilon.p.bit_length()))
    return to_fmpq(alpha_below(epsilon, denominator_bits=GRID_BITS + size))


def _end(curve: _Curve) -> fmpq:
    """Return an epsilon by which delta has become small, or has stopped to fall."""
    start = curve.at(fmpq(1)).upper
    if start == 0:
        return fmpq(1)
    largest = max((ratio for losses in curve.losses or () for ratio in losses.ratios()), default=None)
    epsilon = fmpq(1, 4096)
    before = None
    while epsilon < LARGEST_EPSILON:
        alpha = _grid(epsilon)
        if (largest is not None and alpha >= largest) or curve.at(alpha).upper <= start * SMALL:
            break
        now = curve.at(alpha)
        if before is not None and epsilon >= 1 and now.lower >= before.upper * (1 - SMALL):
            break
        before = now
        epsilon *= 2
    # what was only tried does not belong to the picture
    for alpha in [alpha for alpha in curve.known if alpha != 1]:
        del curve.known[alpha]
    if largest is not None and largest > 1:
        # beyond the largest likelihood ratio delta is constant
        epsilon = min(epsilon, to_fmpq(log_enclosure(largest)[1]) * fmpq(21, 20))
    return epsilon


def _bisect(curve: _Curve, points: int) -> None:
    """Halve, again and again, the pieces on which the curve may differ most from its chord.

    Every other time that is measured relative to delta, as the logarithmic form shows it. Where points are
    expensive several are chosen at a time, as many whatever the number of processes.
    """
    done: set[tuple[fmpq, fmpq]] = set()
    most = BATCH if curve.losses is None else 1
    while len(curve.known) < points:
        chosen = _pieces(curve, done, min(most, points - len(curve.known)))
        if not chosen:
            return
        done.update(chosen)
        curve.add([_about_half(low, high) for low, high in chosen])


def _about_half(low: fmpq, high: fmpq) -> fmpq:
    eighth = (high - low) / 8
    return simplest_between((low + high) / 2 - eighth, (low + high) / 2 + eighth)


def _pieces(curve: _Curve, done: set[tuple[fmpq, fmpq]], most: int) -> list[tuple[fmpq, fmpq]]:
    """Return pieces to halve, in turns by the absolute and the relative distance of curve and chord."""
    order = sorted(curve.known)
    small = curve.known[order[0]].upper * SMALL
    pieces = []
    for k in range(len(order) - 1):
        left, right = curve.known[order[k]], curve.known[order[k + 1]]
        if (left.alpha, right.alpha) in done:
            continue
        middle = (left.alpha + right.alpha) / 2
        below = [right.lower]
        if k > 0:
            below.append(_extended(curve.known[order[k - 1]], left, middle))
        if k + 2 < len(order):
            below.append(_extended(curve.known[order[k + 2]], right, middle))
        chord = (left.upper + right.upper) / 2
        bend = chord - max(below)
        if bend > 0:
            pieces.append((bend, bend / max(chord, small), left.alpha, right.alpha))
    chosen: list[tuple[fmpq, fmpq]] = []
    while pieces and len(chosen) < most:
        relative = (len(curve.known) + len(chosen)) % 2
        best = max(pieces, key=lambda piece: (piece[relative], piece[2]))
        pieces.remove(best)
        chosen.append(best[2:])
    return chosen


def _extended(far: ProfilePoint, near: ProfilePoint, alpha: fmpq) -> fmpq:
    slope = (near.lower - far.upper) / (near.alpha - far.alpha)
    return near.lower + slope * (alpha - near.alpha)
