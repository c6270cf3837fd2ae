"""From mechanisms and a width to bounds: which way is taken, how fine the grid is, and when it is enough."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, frexp, inf, log10, sqrt

from flint import fmpq, fmpz

from bisimdist.errors import ENDINGS, LimitError
from bisimdist.exact.doubles import as_double
from bisimdist.privacy.compose.engine.direct import Caps, Loss, caps_of, once
from bisimdist.privacy.compose.engine.measures import Grid
from bisimdist.privacy.compose.engine.plan import MOST_ENTRIES, Work, lattice, variance_of
from bisimdist.privacy.compose.engine.rough import Factor, Saddle, chances, first, rough_law, saddle
from bisimdist.progress import Deadline, Progress

ATTEMPTS = 8
SLACK = 3  # digits beyond the width to which bounds are rounded outwards: another's rounding may differ

TIGHT = fmpq(98, 100)  # what bounds may be apart before they are rounded

ENOUGH = 1e-3  # delta need not be closer than that for an epsilon

LARGEST = fmpq(10**6)  # no larger epsilon is looked for

PILOT = 4.0  # how much coarser the first grid is: it tells how far bounds part, and costs little

AIM = 0.87  # which share of the width the next grid is chosen for

FAR = 4.0  # how much coarser still it is where another direction is worse

PARTS = 1e-2  # which share of the width cut tails may take

VAGUE = 1e6  # the variance where only a direction of little weight has to be seen

STEEP = 300.0  # no unit is less than about e to minus this, relative to others

FINE_DIGITS = 24  # how many digits bounds have that rest on no grid
CAP_DIGITS = 60
MOST_DIGITS = 705
LEAST = fmpq(1, 10**700)  # a smaller delta than this is only said to be at most this


Goals = Mapping[fmpq, Saddle]
"""By epsilon what is no closer to be known than this: another direction is worse."""

CLOSELY = Saddle(inf, -inf, VAGUE)


@dataclass(frozen=True, slots=True)
class Terms:
    """How the work is to be done."""

    width: fmpq  # how far apart bounds may be, relative to them
    deadline: Deadline  # deadline and progress: when to stop, and who is told
    progress: Progress
    memory: int | None = None  # how many bytes the process may hold; None for any number

    @property
    def relative(self) -> int:
        """How many digits bounds are rounded to."""
        return ceil(-log10(as_double(self.width))) + SLACK


@dataclass(slots=True)
class Direction:
    """All that is known of one direction: P is the law of the first of two neighbours."""

    losses: Sequence[Loss]  # the mechanisms
    terms: Terms
    tapes: list[Work] = field(default_factory=list)  # the computations on grids
    caps: Caps = field(init=False)
    _digits: int = field(default=60, init=False)
    _factors: list[Factor] = field(init=False)

    def __post_init__(self) -> None:
        self.caps = caps_of(self.losses, CAP_DIGITS)
        self._take(self._digits)

    def _take(self, digits: int) -> None:
        self._digits = digits
        self._factors = [
            Factor(law, below, runs, rough_law(law, digits), rough_law(below or law, digits))
            for law, below, runs in self.losses
        ]

    @property
    def alone(self) -> bool:
        """Whether there is one mechanism that runs once."""
        return len(self.losses) == 1 and self.losses[0][2] == 1

    def capped(self, epsilon: fmpq) -> bool:
        """Tell whether no finite loss is greater."""
        return self.caps.largest is not None and bool(epsilon >= self.caps.largest)

    def settled(self, epsilon: fmpq) -> bool:
        """Tell whether a grid would add nothing."""
        return self.alone or self.capped(epsilon)

    def bounds(self, epsilon: fmpq) -> tuple[fmpq, fmpq]:
        """Return the best bounds on delta so far."""
        found = [tape.found[-1].bounds(epsilon) for tape in self.tapes]
        found.append((self.caps.low, self.caps.high if self.capped(epsilon) else fmpq(1)))
        if self.alone:
            found.append(once(self.losses[0], epsilon, self.terms.relative + 4))
        return max(low for low, _ in found), min(high for _, high in found)

    def guess(self, epsilon: float, least: float = -inf) -> Saddle:
        """Return what delta is like near an epsilon; less than the least one need not be known well."""
        while True:
            found = saddle(self._factors, epsilon)
            wanted = max(found.delta, least)
            if wanted >= 25 - self._digits or self._digits >= MOST_DIGITS:
                return found
            self._take(min(MOST_DIGITS, int(-wanted * 1.1) + 40))

    def refine(self, goals: Goals, width: float, finer: float, smaller: float) -> None:
        """Compose on a grid that is fit for some goals.

        goals: near which losses the bounds are to be close, and what does not matter there.
        width: how far bounds on delta may be apart, relative to them.
        finer: a factor for the step.
        smaller: by how many powers of ten delta may be smaller than is guessed.
        """
        ends, guesses, deltas = list(map(as_double, goals)), list[Saddle](), list[float]()
        for epsilon, least in goals.items():
            guess, low = self.guess(as_double(epsilon), least.delta), self.bounds(epsilon)[0]
            if guess.delta < least.delta:
                guess = replace(least, tilt=min(guess.tilt, least.tilt))
            guesses.append(guess)
            # what is known by now is better than a guess
            deltas.append(min(guess.delta, log_of(low)) if low else guess.delta)
        vanishes = max(one.delta for one in guesses) <= -MOST_DIGITS
        width = 1.0 if vanishes else width  # that it is less than the least is enough
        bend = max(max(one.tilt * (one.tilt + 1), 1 / max(one.spread, width)) for one in guesses)
        delta = max(min(deltas) - smaller, float(-MOST_DIGITS))
        runs = [one.runs for one in self._factors]
        step = finer * sqrt(width / (bend * sum(map(variance_of, runs))))
        # an attempt that was not enough may have lacked digits
        spare = self.terms.relative + 3 + len(str(sum(runs))) + len(self.tapes)
        fine = ceil(-delta) + ceil(max(ends) * 0.4343) + spare
        more, tilt, scales = min(self._units(ends, guesses, one.tilt) for one in guesses)
        # not through the decimal of the double: the step is written in the proof
        exact = fmpq(int(frexp(step)[0] * 256)) * fmpq(2) ** (frexp(step)[1] - 8)
        common = lattice(self._factors, fine)
        # it costs no more than a fine grid, and no width
        flat = common is not None and as_double(common) * sqrt(max(runs)) > step
        memory, largest = self.terms.memory, self.caps.largest
        work = Work(
            factors=self._factors,
            grid=Grid(common if flat else exact, more + spare, fine, tilt, fmpq(0)),
            left=width * PARTS,
            right=delta + log10(width * PARTS),
            goals=[chances(self._factors, end, one.tilt) for end, one in zip(ends, guesses, strict=True)],
            scales=scales,
            below=CLOSELY in goals.values() and not vanishes,
            flat=flat,
            gap=inf if largest is None else as_double(largest) - min(ends),
            deadline=self.terms.deadline,
            # a grid holds some ten measures at a time, of three integers for each loss
            most=MOST_ENTRIES if memory is None else memory // (15 * (more + spare) + 2000),
        )
        self.terms.progress("grids", len(self.tapes), None)
        work.run()
        self.tapes.append(work)

    def _units(
        self, ends: Sequence[float], guesses: Sequence[Saddle], tilt: float
    ) -> tuple[int, fmpq, list[fmpq]]:
        """Return how many digits units need that fall about so fast, how fast, and their scales by factor.

        An error of a unit at a loss l grows to at most e^(scale - tilt epsilon) in delta, where the scale is
        that of all copies: by Chernoff's bound on all others at epsilon - l.
        """
        reach = max(ends) + sum(float(one.rough.losses[-1]) for one in self._factors)
        exact, scales, whole = fmpq(int(min(tilt, STEEP / max(reach, 1e-9)) * 64), 64), [], 0.0
        for one in self._factors:
            size = 2 ** (one.runs.bit_length() + 4)
            scales.append(fmpq(round(one.rough.moments(as_double(exact))[0] * size), size))
            whole += one.runs * as_double(scales[-1])
        lost = [whole - as_double(exact) * end for end in ends]
        needed = max(part * 0.4343 - one.delta for part, one in zip(lost, guesses, strict=True))
        return max(0, ceil(needed)), exact, scales


@dataclass(slots=True)
class Accountant:
    """Bounds on delta and epsilon of a list of mechanisms, by direction."""

    losses: Mapping[str, Sequence[Loss]]
    terms: Terms
    directions: Mapping[str, Direction] = field(init=False)
    sides: list[Direction] = field(init=False)
    stopped: bool = False

    def __post_init__(self) -> None:
        self.directions = {name: Direction(losses, self.terms) for name, losses in self.losses.items()}
        self.sides = list(self.directions.values())

    def repeated(self, times: int, width: fmpq) -> Accountant:
        """Return the same for so many runs of the whole list, of which nothing was asked."""
        more = {
            name: [(law, below, times * runs) for law, below, runs in losses]
            for name, losses in self.losses.items()
        }
        return Accountant(more, replace(self.terms, width=width))

    @property
    def digits(self) -> int:
        """To how many digits bounds are rounded."""
        return self.terms.relative if any(one.tapes for one in self.sides) else FINE_DIGITS

    def bounds(self, epsilon: fmpq) -> tuple[fmpq, fmpq]:
        """Return the bounds on delta that are known so far."""
        found = [one.bounds(epsilon) for one in self.sides]
        return max(low for low, _ in found), max(high for _, high in found)

    def _close(self, low: fmpq, high: fmpq) -> bool:
        return bool(high - low <= self.terms.width * low * TIGHT or high <= LEAST)

    def _settled(self, epsilon: fmpq) -> bool:
        return all(one.settled(epsilon) for one in self.sides)

    def _narrowed(self, wanting: Callable[[], list[fmpq]], *, of_epsilon: bool = False) -> None:
        """Refine until nothing is wanting: `wanting` returns near which epsilons more has to be known."""
        ends, width = list(map(as_double, wanting())), as_double(self.terms.width)
        worst = sorted(
            self.sides, key=lambda one: -max((one.guess(end, 0.0).delta for end in ends), default=0.0)
        )
        finer, smaller = PILOT, 0.0
        order, before = 2.0, (0.0, 0.0)  # by which power of the step bounds part; the attempt before
        # where both sides are about different laws they do not come together
        together = all(below is law for one in self.sides for law, below, _ in one.losses)
        attempts = ATTEMPTS if together else 1
        try:
            for attempt in range(attempts):
                gap, busy = 0.0, False
                for one in worst:
                    # where another direction is worse by as much as its doubt, a direction does not matter
                    goals = {
                        at: self._beside(at, one, worst[0])
                        for at in wanting()
                        if not (one.settled(at) or self._close(self.bounds(at)[0], one.bounds(at)[1]))
                    }
                    if not goals:
                        continue
                    if of_epsilon:
                        width = self._wanted(one, next(iter(goals)))
                    far = attempt == 0 < attempts - 1 and one is not worst[0]  # much less may be enough
                    one.refine(goals, width, FAR * finer if far else finer, smaller)
                    busy = True
                    for low, high in () if far else ((self.bounds(at)[0], one.bounds(at)[1]) for at in goals):
                        gap = max(gap, as_double(high / low) - 1 if low else inf)
                if not busy:
                    return
                if gap > 1:
                    finer, smaller = finer / 2, smaller + 10
                elif gap > 0:
                    if before[0] > 2 * finer and gap > 0.95 * before[1]:
                        break  # no grid brings the bounds closer: runs are cut off
                    if before[0]:
                        order = min(2.0, max(0.5, log10(before[1] / gap) / log10(before[0] / finer)))
                    before = finer, gap
                    finer *= min(0.9, (AIM * width / gap) ** (1 / order))
            self.stopped = attempts > 1 and bool(wanting())
        except (*ENDINGS, OverflowError):  # no double holds such a loss: no grid is chosen
            self.stopped = True

    def _beside(self, epsilon: fmpq, one: Direction, worst: Direction) -> Saddle:
        """Return what is no closer to be known of a direction."""
        low = self.bounds(epsilon)[0]
        # what was guessed to be less may turn out to be more
        if one is worst or not low or (one.tapes and one.bounds(epsilon)[1] > worst.bounds(epsilon)[1]):
            return CLOSELY
        least = log_of(low) + log10(as_double(self.terms.width)) - 1
        return Saddle(worst.guess(as_double(epsilon), least).tilt, least, VAGUE)

    def _wanted(self, one: Direction, epsilon: fmpq) -> float:
        """Return how closely delta has to be known for an epsilon that is as close as asked."""
        about, width = as_double(epsilon), as_double(self.terms.width)
        guess = one.guess(about)
        # by how much the logarithm of delta falls: not less about the mean of the loss, where no tilt is best
        slope = max(guess.tilt, 0.1 / sqrt(max(guess.spread, 1e-18)))
        return max(min(max(width, ENOUGH), 0.9 * width * about * slope), 1e-12)

    def deltas(self, epsilons: Sequence[fmpq]) -> list[tuple[fmpq, fmpq]]:
        """Return bounds on delta at each of some epsilons."""
        self._narrowed(
            lambda: [e for e in epsilons if not self._close(*self.bounds(e)) and not self._settled(e)]
        )
        return [self.bounds(epsilon) for epsilon in epsilons]

    def epsilon(self, delta: fmpq) -> tuple[fmpq, fmpq] | None:
        """Return bounds on the least epsilon at which delta is at most this; None is infinity."""
        caps = [one.caps for one in self.sides]
        if any(one.low > delta for one in caps):
            return None
        if not delta:
            ends = [one.largest for one in caps if one.largest is not None and not one.high]
            return (max(one.least for one in caps), max(ends)) if len(ends) == len(caps) else None

        start = inside = self.guess(delta)
        if all(one.largest is not None for one in caps):  # below the largest loss
            inside = min(start, max(one.least for one in caps) * (1 - self.terms.width / 2))

        def wanting() -> list[fmpq]:
            low, high = (self._end(side, delta, start) for side in (0, 1))
            close = high - low <= self.terms.width * high * TIGHT
            least, most = self.bounds(high)
            near = most - least <= max(self.terms.width, fmpq(1, 1000)) * least
            alone = all(one.alone for one in self.sides)
            if alone or not high or (close and (self._settled(high) or near)):
                return []
            return [inside] if 10 * high > 11 * low or self._settled(high) else [high]

        self._narrowed(wanting, of_epsilon=True)
        low, high = (self._end(side, delta, start) for side in (0, 1))
        if high >= LARGEST and self.bounds(high)[1] > delta:
            if self.stopped:
                raise LimitError("the work ended before an epsilon was known to be enough")
            raise LimitError(f"epsilon is not known to be at most {LARGEST}: no larger one is looked for")
        return low, high

    def guess(self, delta: fmpq) -> fmpq:
        """Return about where delta is that small."""
        aim = log_of(delta)
        found = first(lambda e: e > 0 and all(one.guess(e, aim).delta <= aim for one in self.sides))
        return min(LARGEST, fmpq(int(found * 10**15) + 1, 10**15))

    def _end(self, side: int, delta: fmpq, start: fmpq) -> fmpq:
        """Return an end: the last epsilon whose lower bound is more, or the first whose upper one is not."""

        def more(epsilon: fmpq) -> bool:
            return bool(self.bounds(epsilon)[side] > delta)

        if not more(fmpq(0)):
            return fmpq(0)
        low, high, part = start, start, start / 10**6
        while not more(low):
            low, high, part = max(fmpq(0), low - part), low, 8 * part
        while more(high):
            low, high, part = high, high + part, 8 * part
            if high > LARGEST:
                return LARGEST if side else low
        unit = fmpz(10) ** max(0, self.terms.relative - int(log_of(high)))
        bottom, top = int((low * unit).floor()), int((high * unit).ceil())
        place = bisect_left(range(bottom + 1, top), True, key=lambda k: not more(fmpq(k, unit)))
        return fmpq(bottom + place + side, unit)


def log_of(value: fmpq) -> float:
    """Return the logarithm of a number to the base of ten, however small it is."""
    return log10(int(value.p)) - log10(int(value.q))
