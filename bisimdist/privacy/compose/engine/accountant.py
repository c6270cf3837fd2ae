"""From mechanisms and a width to bounds: which way is taken, how fine the grid is, and when it is enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, log10, sqrt

from flint import fmpq, fmpz

from bisimdist.errors import ENDINGS, LimitError
from bisimdist.privacy.compose.engine.bounds import Known
from bisimdist.privacy.compose.engine.direct import Capped, Direct, capped, infinite
from bisimdist.privacy.compose.engine.laws import Law
from bisimdist.privacy.compose.engine.plan import MOST_ENTRIES, Factor, Need, Work, lattice, variance_of
from bisimdist.privacy.compose.engine.rough import Saddle, chances, rough_law, saddle
from bisimdist.progress import Deadline, Progress

ATTEMPTS = 8
SLACK = 3  # digits beyond the width to which bounds are rounded outwards: another's rounding may differ

TIGHT = fmpq(98, 100)  # what bounds may be apart before they are rounded

ENOUGH = 1e-3  # delta need not be closer than that for an epsilon

LARGEST = fmpq(10**6)  # no larger epsilon is looked for

WIDE = 20.0  # how many standard deviations all runs together reach, about, beside the longest tail

PILOT = 4.0  # how much coarser the first grid is: it tells how far bounds part, and costs little

AIM = 0.87  # which share of the width the next grid is chosen for

WIDEST = 0.5  # how far apart they may be planned where another direction is worse

PARTS = 1e-2  # which share of the width cut tails may take

VAGUE = 1e6  # the variance where only a direction of little weight has to be seen

STEEP = 300.0  # no unit is less than about e to minus this, relative to others

CAP_DIGITS = 60
MOST_DIGITS = 705
LEAST = fmpq(1, 10**700)  # a smaller delta than this is only said to be at most this


Loss = tuple[Law, "Law | None", int]  # what dominates a mechanism, what it dominates, how often it runs


@dataclass(frozen=True, slots=True)
class Goal:
    """Where bounds are to be close."""

    epsilon: fmpq  # where
    # the power of ten below which delta does not matter there: another direction is worse
    least: float = -inf
    tilt: float = inf  # the exponent near which the losses of that direction count

    def of(self, guess: Saddle) -> Saddle:
        """Return a guess that goes no further than the goal."""
        if guess.delta >= self.least:
            return guess
        return Saddle(min(guess.tilt, self.tilt), self.least, VAGUE)


@dataclass(frozen=True, slots=True)
class Bracket:
    """Bounds, and whether they are as close as asked."""

    lower: fmpq | None  # lower and upper: the bounds; None is infinity
    upper: fmpq | None
    close: bool  # whether they are


@dataclass(slots=True)
class Direction:
    """All that is known of one direction: P is the law of the first of two neighbours."""

    losses: Sequence[Loss]  # the mechanisms
    width: float  # how far apart bounds may be, relative to them
    deadline: Deadline  # deadline and progress: when to stop, and who is told
    progress: Progress
    memory: int | None = None  # how many bytes the process may hold; None for any number
    tapes: list[Work] = field(default_factory=list)  # the computations on grids
    _digits: int = field(default=60, init=False)
    _factors: list[Factor] = field(default_factory=list, init=False)
    cap: Capped | None = field(default=None, init=False)
    infinite: fmpq = field(default_factory=lambda: fmpq(0), init=False)  # at most the mass of infinite losses

    def __post_init__(self) -> None:
        self._take(self._digits)
        self.cap = capped(self._factors, CAP_DIGITS)
        self.infinite = infinite(self._factors, CAP_DIGITS) if self.cap is None else self.cap.low

    def _take(self, digits: int) -> None:
        self._digits = digits
        self._factors = []
        for law, below, runs in self.losses:
            rough = rough_law(law, digits)
            seen = rough if below is None or below is law else rough_law(below, digits)
            self._factors.append(Factor(law, below, runs, rough, seen))

    @property
    def relative(self) -> int:
        """How many digits bounds are rounded to."""
        return ceil(-log10(self.width)) + SLACK

    @property
    def alone(self) -> bool:
        """Whether there is one mechanism that runs once."""
        return len(self.losses) == 1 and self.losses[0][2] == 1

    @property
    def two_sided(self) -> bool:
        """Whether both sides are about the same laws, so that they come together."""
        return all(below is law for law, below, _ in self.losses)

    def ways(self) -> list[Direct | Capped | Known]:
        """Return all that gives bounds."""
        found: list[Direct | Capped | Known] = [tape.known for tape in self.tapes]
        if self.cap is not None:
            found.append(self.cap)
        if self.alone:
            found.append(Direct(self._factors[0], self.relative + 4))
        return found

    def upper(self, epsilon: fmpq) -> fmpq:
        """Return the best upper bound on delta so far."""
        return min((way.upper(epsilon) for way in self.ways()), default=fmpq(1))

    def lower(self, epsilon: fmpq) -> fmpq:
        """Return the best lower bound on delta so far."""
        return max((way.lower(epsilon) for way in self.ways()), default=fmpq(0))

    def settled(self, epsilon: fmpq) -> bool:
        """Tell whether a grid would add nothing."""
        return self.alone or (self.cap is not None and epsilon >= self.cap.largest)

    def guess(self, epsilon: float, least: float = -inf) -> Saddle:
        """Return what delta is like near an epsilon; less than the least one need not be known well."""
        found = saddle([(factor.rough, factor.runs) for factor in self._factors], epsilon)
        while max(found.delta, least) < 25 - self._digits and self._digits < MOST_DIGITS:
            self._take(min(MOST_DIGITS, int(-max(found.delta, least) * 1.1) + 40))
            found = saddle([(factor.rough, factor.runs) for factor in self._factors], epsilon)
        return found

    def _reaches(self, delta: float) -> list[float]:
        """Return how far one run of each mechanism reaches, relative to all together."""
        ends = [factor.rough.ends(self.width, delta - 6) for factor in self._factors]
        spans = [max(0.0, end - start) for start, end in ends]
        whole = max(spans) + WIDE * sqrt(sum(one.runs * one.rough.moments(0.0)[2] for one in self._factors))
        return [span / whole if whole else 0.0 for span in spans]

    def refine(self, goals: Sequence[Goal], width: float, finer: float, smaller: float) -> None:
        """Compose on a grid that is fit for some goals.

        goals: near which losses the bounds are to be close, and what does not matter there.
        width: how far bounds on delta may be apart, relative to them.
        finer: a factor for the step.
        smaller: by how many powers of ten delta may be smaller than is guessed.
        """
        guesses = [goal.of(self.guess(_float(goal.epsilon), goal.least)) for goal in goals]
        vanishes = max(one.delta for one in guesses) <= -MOST_DIGITS
        width = 1.0 if vanishes else width  # that it is less than the least is enough
        gap = inf
        if self.cap is not None:
            gap = _float(self.cap.largest - min(goal.epsilon for goal in goals))
        bend = max(max(one.tilt * (one.tilt + 1), 1 / max(one.spread, width)) for one in guesses)
        about = [(one.delta, self.lower(g.epsilon)) for g, one in zip(goals, guesses, strict=True)]
        # what is known by now is better than a guess
        deltas = [min(guess, _log10(low)) if low else guess for guess, low in about]
        delta = max(min(deltas) - smaller, float(-MOST_DIGITS))
        largest = max(goal.epsilon for goal in goals)
        runs = [n for *_, n in self.losses]
        reaches = self._reaches(delta)
        apart = sum(variance_of(n, reach) for n, reach in zip(runs, reaches, strict=True))
        laws = [(factor.rough, factor.runs) for factor in self._factors]
        aims = [chances(laws, _float(g.epsilon), one.tilt) for g, one in zip(goals, guesses, strict=True)]
        step = finer * sqrt(width / (bend * apart))
        # an attempt that was not enough may have lacked digits
        spare = self.relative + 3 + len(str(sum(runs))) + len(self.tapes)
        fine = ceil(-delta) + ceil(int(largest.ceil()) * 0.4343) + spare
        tilt, scales, more = self._units(goals, guesses)
        digits = more + spare
        part = width * PARTS
        # a grid holds some ten measures at a time, of three integers for each loss
        most = MOST_ENTRIES if self.memory is None else self.memory // (15 * digits + 2000)
        # not through the decimal of the double: the step is written in the proof
        size = max(0, 8 - int(log10(step) / log10(2)))
        exact = fmpq(max(1, int(step * 2**size)), 2**size)
        common = lattice(self._factors, fine)
        if common is not None and _float(common) * sqrt(max(runs)) > step:
            exact, reaches = common, [inf] * len(runs)  # it costs no more than a fine grid, and no width
        below = any(goal.least == -inf for goal in goals) and not vanishes
        need = Need(exact, digits, fine, part, delta + log10(part), aims, tilt, scales, below, reaches, gap)
        work = Work(self._factors, need, self.deadline, most)
        self.progress("grids", len(self.tapes), None)
        work.run()
        self.tapes.append(work)

    def _units(self, goals: Sequence[Goal], guesses: Sequence[Saddle]) -> tuple[fmpq, list[fmpq], int]:
        """Return how fast units fall, their logarithms by factor, and how many digits they need.

        An error of a unit at a loss l grows to at most e^(scale - tilt epsilon) in delta, where the scale is
        that of all copies: by Chernoff's bound on all others at epsilon - l.
        """
        reach = _float(max(goal.epsilon for goal in goals)) + sum(one.rough.largest for one in self._factors)
        found = []
        for guess in guesses:
            tilt = fmpq(int(min(guess.tilt, STEEP / max(reach, 1e-9)) * 64), 64)
            scales = []
            for one in self._factors:
                size = 2 ** (one.runs.bit_length() + 4)
                scales.append(fmpq(round(one.rough.moments(_float(tilt))[0] * size), size))
            whole = sum((one.runs * k for one, k in zip(self._factors, scales, strict=True)), fmpq(0))
            needed = max(
                _float(whole - tilt * goal.epsilon) * 0.4343 - one.delta
                for goal, one in zip(goals, guesses, strict=True)
            )
            found.append((max(0, ceil(needed)), tilt, scales))
        digits, tilt, scales = min(found)
        return tilt, scales, digits


@dataclass(slots=True)
class Accountant:
    """Bounds on delta and epsilon of a list of mechanisms, by direction."""

    directions: Mapping[str, Direction]
    width: fmpq
    stopped: bool = False

    def bounds(self, epsilon: fmpq) -> tuple[fmpq, fmpq]:
        """Return the bounds on delta that are known so far."""
        found = self.directions.values()
        return max(one.lower(epsilon) for one in found), max(one.upper(epsilon) for one in found)

    def _close(self, low: fmpq, high: fmpq) -> bool:
        return bool(high - low <= self.width * low * TIGHT or high <= LEAST)

    def _narrowed(self, wanting: Callable[[], list[fmpq]], *, of_epsilon: bool = False) -> None:
        """Refine until nothing is wanting: `wanting` returns near which epsilons more has to be known."""
        finer, smaller, width = PILOT, 0.0, self.width_float
        order, before = 2.0, (0.0, 0.0)  # by which power of the step bounds part; the attempt before
        for _ in range(ATTEMPTS):
            epsilons = wanting()
            if not epsilons:
                return
            gap = 0.0
            goals = {epsilon: Goal(epsilon) for epsilon in epsilons}
            for one in self._worst_first(epsilons):
                some = [e for e in epsilons if not one.settled(e) and not self._done(one, e)]
                if not some:
                    continue
                try:
                    width = self._wanted(one, some[0]) if of_epsilon else self.width_float
                    wide = max(width, min(self._spare(one, [goals[e] for e in some]), WIDEST))
                    # where another direction is worse, the width is no reason for a trial
                    one.refine(
                        [goals[e] for e in some], wide, finer if wide == width else min(finer, 1.0), smaller
                    )
                except ENDINGS:
                    self.stopped = True
                    wanting()  # what is known by now is looked at once more
                    return
                for epsilon in some:
                    low, high = self.bounds(epsilon)[0], one.upper(epsilon)
                    gap = max(gap, _float((high - low) / low) if low else inf)
                    if low:
                        least = _log10(low) + log10(self.width_float) - 1
                        goals[epsilon] = Goal(epsilon, least, one.guess(_float(epsilon), least).tilt)
            if gap == 0.0 or not all(one.two_sided for one in self.directions.values()):
                wanting()
                return
            if gap > 1:
                finer, smaller = finer / 2, smaller + 10
                continue
            if before[0]:
                order = min(2.0, max(0.5, log10(before[1] / gap) / log10(before[0] / finer)))
            before = finer, gap
            finer *= min(0.9, (AIM * width / gap) ** (1 / order))
        self.stopped = bool(wanting())

    def _spare(self, one: Direction, goals: Sequence[Goal]) -> float:
        """Return how far apart, relatively, bounds of a direction may be because another one is worse."""
        spare = inf
        for goal in goals:
            low = self.bounds(goal.epsilon)[0]
            if goal.least == -inf or not low:
                return 0.0
            about = max(one.guess(_float(goal.epsilon), goal.least).delta, goal.least)
            spare = min(spare, (10 ** min(_log10(low) - about, 1.0) - 1) / 3)
        return spare

    def _wanted(self, one: Direction, epsilon: fmpq) -> float:
        """Return how closely delta has to be known for an epsilon that is as close as asked."""
        about = _float(epsilon)
        needed = 0.9 * self.width_float * about * one.guess(about).tilt
        return max(min(max(self.width_float, ENOUGH), needed), 1e-12)

    def _worst_first(self, epsilons: Sequence[fmpq]) -> list[Direction]:
        """Return the directions, the one of the largest delta first."""
        found = self.directions.values()
        if len(found) == 1:
            return list(found)
        return sorted(found, key=lambda one: -max(one.guess(_float(e), 0.0).delta for e in epsilons))

    @property
    def digits(self) -> int:
        """To how many digits bounds that rest on a grid are rounded."""
        return next(iter(self.directions.values())).relative

    @property
    def width_float(self) -> float:
        """The width in doubles."""
        return _float(self.width)

    def _done(self, one: Direction, epsilon: fmpq) -> bool:
        """Tell whether a direction does not matter any more: another one is worse by as much as its doubt."""
        low, _ = self.bounds(epsilon)
        return bool(one.tapes) and self._close(low, one.upper(epsilon))

    def deltas(self, epsilons: Sequence[fmpq]) -> list[Bracket]:
        """Return bounds on delta at each of some epsilons."""

        def wanting() -> list[fmpq]:
            return [e for e in epsilons if not self._close(*self.bounds(e)) and not self._settled(e)]

        self._narrowed(wanting)
        found = []
        for epsilon in epsilons:
            low, high = self.bounds(epsilon)
            found.append(Bracket(low, high, self._close(low, high)))
        return found

    def epsilon(self, delta: fmpq) -> Bracket:
        """Return bounds on the least epsilon at which delta is at most this; None is infinity."""
        caps = [one.cap for one in self.directions.values()]
        if any(one.infinite > delta for one in self.directions.values()):
            return Bracket(None, None, True)
        if not delta:
            ends = [(cap.least, cap.largest) for cap in caps if cap is not None and not cap.high]
            if len(ends) < len(caps):
                return Bracket(None, None, True)
            return Bracket(max(low for low, _ in ends), max(high for _, high in ends), True)
        found: list[tuple[fmpq, fmpq]] = [(fmpq(0), fmpq(0))]

        def wanting() -> list[fmpq]:
            low = self._last(lambda e: self.bounds(e)[0] > delta, delta)
            high = self._last(lambda e: not self.bounds(e)[1] <= delta, delta, upward=True)
            found[0] = low, high
            close = high - low <= self.width * high * TIGHT
            alone = all(one.alone for one in self.directions.values())
            least, most = self.bounds(high)
            near = most - least <= max(self.width, fmpq(1, 1000)) * least
            if alone or (close and (self._settled(high) or near)):
                return []
            return [high] if low and not self._settled(high) and high < LARGEST else [self._inside(delta)]

        self._narrowed(wanting, of_epsilon=True)
        low, high = found[0]
        if high >= LARGEST and self.bounds(high)[1] > delta:
            if self.stopped:
                raise LimitError("the work ended before an epsilon was known to be enough")
            raise LimitError(f"epsilon is not known to be at most {LARGEST}: no larger one is looked for")
        return Bracket(low, high, high - low <= self.width * high)

    def _inside(self, delta: fmpq) -> fmpq:
        """Return about where delta is that small, below the largest loss."""
        caps = [one.cap.least for one in self.directions.values() if one.cap is not None]
        found = self.guess(delta)
        return min(found, max(caps) * (1 - self.width / 2)) if len(caps) == len(self.directions) else found

    def guess(self, delta: fmpq) -> fmpq:
        """Return about where delta is that small."""
        aim, low, high = _log10(delta), 0.0, 1.0

        def above(epsilon: float) -> bool:
            return max(one.guess(epsilon, aim).delta for one in self.directions.values()) > aim

        while high < 1e6 and above(high):
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) else (low, middle)
        return fmpq(int(high * 10**15) + 1, 10**15)

    def _last(self, holds: Callable[[fmpq], bool], delta: fmpq, *, upward: bool = False) -> fmpq:
        """Return about the last epsilon where something holds; one where it does not, if `upward`."""
        if not holds(fmpq(0)):
            return fmpq(0)
        start = self.guess(delta)
        low, high, part = start, start, fmpq(1, 10**6)
        while not holds(low):
            high, low = low, max(fmpq(0), low - start * part)
            part *= 8
        while high <= low or holds(high):
            low, high = high, high + start * part
            part *= 8
            if high > LARGEST:
                return LARGEST if upward else low
        unit = fmpz(10) ** max(0, self.digits - int(_log10(high)))
        bottom, top = int((low * unit).floor()), int((high * unit).ceil())
        while top - bottom > 1:
            middle = (top + bottom) // 2
            if holds(fmpq(middle, unit)):
                bottom = middle
            else:
                top = middle
        return fmpq(top if upward else bottom, unit)

    def _settled(self, epsilon: fmpq) -> bool:
        return all(one.settled(epsilon) for one in self.directions.values())


def _float(value: fmpq) -> float:
    return int(value.p) / int(value.q)


def _log10(value: fmpq) -> float:
    return log10(int(value.p)) - log10(int(value.q))
