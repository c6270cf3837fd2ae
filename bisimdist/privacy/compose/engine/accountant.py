"""From mechanisms and a width to bounds: which way is taken, how fine the grid is, and when it is enough."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, frexp, inf, log10, sqrt

from flint import fmpq, fmpz

from bisimdist.errors import ENDINGS, LimitError
from bisimdist.exact.doubles import as_double
from bisimdist.privacy.compose.engine.direct import Caps, caps_of, once
from bisimdist.privacy.compose.engine.measures import Grid
from bisimdist.privacy.compose.engine.plan import Work, lattice, variance_of
from bisimdist.privacy.compose.engine.rough import MOST_DIGITS, Factor, Saddle, first, saddle
from bisimdist.progress import Limits

ATTEMPTS = 8
SLACK = 3  # digits beyond the width to which bounds are rounded outwards: another's rounding may differ

TIGHT = fmpq(98, 100)  # what bounds may be apart before they are rounded

ENOUGH = 1e-3  # delta need not be closer than that for an epsilon; less where it falls steeply

LARGEST = fmpq(10**6)  # no larger epsilon is looked for

PILOT = 4.0
"""How much coarser the first grid is: it tells how far bounds part, and costs little. Where another direction
is worse it is as much coarser again."""

AIM = 0.87  # which share of the width the next grid is chosen for

PARTS = 1e-2  # which share of the width cut tails may take

STEEP = 300.0  # no unit is less than about e to minus this, relative to others

FINE_DIGITS = 24  # how many digits bounds have that rest on no grid
LEAST = fmpq(1, 10**700)  # a smaller delta than this is only said to be at most this


Goals = Mapping[fmpq, float]
"""By epsilon the power of ten below which delta need not be known, since another direction is worse."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How the work is to be done."""

    width: fmpq  # how far apart bounds may be, relative to them
    limits: Limits

    @property
    def relative(self) -> int:
        """How many digits bounds are rounded to."""
        return ceil(-log10(as_double(self.width))) + SLACK


@dataclass(slots=True)
class Direction:
    """All that is known of one direction: P is the law of the first of two neighbours."""

    name: str
    factors: Sequence[Factor]
    terms: Terms
    tapes: list[Work] = field(default_factory=list)  # the computations on grids
    caps: Caps = field(init=False)
    alone: bool = field(init=False)  # whether there is one mechanism that runs once

    def __post_init__(self) -> None:
        self.caps, self.alone = caps_of(self.factors), sum(one.runs for one in self.factors) == 1

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
            found.append(once(self.factors[0], epsilon, self.terms.relative + 4))
        return max(low for low, _ in found), min(high for _, high in found)

    def guess(self, epsilon: float, least: float = -inf) -> Saddle:
        """Return what delta is like near an epsilon; less than the least one need not be known well."""
        while True:
            found = saddle(self.factors, epsilon, least)
            wanted, digits = max(found.delta, least), self.factors[0].digits
            if wanted >= 25 - digits or digits >= MOST_DIGITS:
                return found
            digits = min(MOST_DIGITS, int(-wanted * 1.1) + 40)
            self.factors = [replace(one, digits=digits) for one in self.factors]

    def refine(self, goals: Goals, width: float, finer: float, smaller: float) -> None:
        """Compose on a grid that is fit for some goals.

        goals: near which losses the bounds are to be close, and what does not matter there.
        width: how far bounds on delta may be apart, relative to them.
        finer: a factor for the step.
        smaller: by how many powers of ten delta may be smaller than is guessed.
        """
        guesses = [self._seen(epsilon, least) for epsilon, least in goals.items()]
        vanishes = max(one.delta for one in guesses) <= -MOST_DIGITS
        width = 1.0 if vanishes else width  # that it is less than the least is enough
        bend = max(max(one.tilt * (one.tilt + 1), 1 / max(one.spread, width)) for one in guesses)
        delta = max(min(one.delta for one in guesses) - smaller, float(-MOST_DIGITS))
        runs, largest = [one.runs for one in self.factors], self.caps.largest
        step = finer * sqrt(width / (bend * sum(map(variance_of, runs))))
        # an attempt that was not enough may have lacked digits
        spare = self.terms.relative + 3 + len(str(sum(runs))) + len(self.tapes)
        fine = ceil(-delta) + ceil(max(one.at for one in guesses) * 0.4343) + spare
        more, tilt, scales = min(self._units(guesses, one.tilt) for one in guesses)
        # not through the decimal of the double: the step is written in the proof
        exact = fmpq(int(frexp(step)[0] * 256)) * fmpq(2) ** (frexp(step)[1] - 8)
        common = lattice(self.factors, fine)
        # it costs no more than a fine grid, and no width
        flat = common is not None and as_double(common) * sqrt(max(runs)) > step
        work = Work(
            factors=self.factors,
            grid=Grid(common if flat else exact, more + spare, fine, tilt, fmpq(0)),
            left=min(1.0, width) * PARTS,
            right=delta + log10(min(1.0, width) * PARTS),
            goals=guesses,
            scales=scales,
            below=-inf in goals.values() and not vanishes,
            flat=flat,
            gap=inf if largest is None else as_double(largest) - min(one.at for one in guesses),
            limits=self.terms.limits,
        )
        self.terms.limits.progress("grids", len(self.tapes), None)
        work.run()
        self.tapes.append(work)

    def _seen(self, epsilon: fmpq, least: float) -> Saddle:
        """Return what delta is like near an epsilon, as far as it has to be known."""
        guess, low = self.guess(as_double(epsilon), least), self.bounds(epsilon)[0]
        # what is known by now is better than a guess
        return replace(guess, delta=min(guess.delta, log_of(low))) if low else guess

    def _units(self, guesses: Sequence[Saddle], tilt: float) -> tuple[int, fmpq, list[fmpq]]:
        """Return how many digits units need that fall about so fast, how fast, and their scales by factor.

        An error of a unit at a loss l grows to at most e^(scale - tilt epsilon) in delta, where the scale is
        that of all copies: by Chernoff's bound on all others at epsilon - l.
        """
        reach = max(one.at for one in guesses) + sum(float(one.rough.losses[-1]) for one in self.factors)
        exact, scales, whole = fmpq(int(min(tilt, STEEP / max(reach, 1e-9)) * 64), 64), [], 0.0
        for one in self.factors:
            size = 2 ** (one.runs.bit_length() + 4)
            scales.append(fmpq(round(one.rough.moments(as_double(exact))[0] * size), size))
            whole += one.runs * as_double(scales[-1])
        needed = max((whole - as_double(exact) * one.at) * 0.4343 - one.delta for one in guesses)
        return max(0, ceil(needed)), exact, scales


@dataclass(slots=True)
class Accountant:
    """Bounds on delta and epsilon of a list of mechanisms, by direction."""

    sides: Sequence[Direction]
    terms: Terms
    stopped: bool = False

    def bounds(self, epsilon: fmpq) -> tuple[fmpq, fmpq]:
        """Return the bounds on delta that are known so far."""
        found = [one.bounds(epsilon) for one in self.sides]
        return max(low for low, _ in found), max(high for _, high in found)

    def _open(self, epsilon: fmpq, one: Direction) -> bool:
        if one.settled(epsilon):
            return False
        # where another direction is worse by as much as its doubt, a direction does not matter
        low, high = self.bounds(epsilon)[0], one.bounds(epsilon)[1]
        return bool(high > max(LEAST, low * (1 + self.terms.width * TIGHT)))

    def _narrowed(self, wanting: Callable[[], list[fmpq]], *, of_epsilon: bool = False) -> None:
        """Refine until nothing is wanting: `wanting` returns near which epsilons more has to be known."""
        ends, width = list(map(as_double, wanting())), as_double(self.terms.width)
        worst = sorted(self.sides, key=lambda one: [-saddle(one.factors, end).delta for end in ends])
        finer, smaller = PILOT, 0.0
        order, before = 2.0, (0.0, 0.0)  # by which power of the step bounds part; the attempt before
        # where both sides are about different laws they do not come together
        attempts = ATTEMPTS if all(one.below is one.law for side in self.sides for one in side.factors) else 1
        try:
            for attempt in range(attempts):
                gaps: list[float] = []
                for one in worst:
                    goals = {at: self._beside(at, one, worst[0]) for at in wanting() if self._open(at, one)}
                    if not goals:
                        continue
                    width = self._wanted(one, next(iter(goals))) if of_epsilon else width
                    far = attempt == 0 < attempts - 1 and one is not worst[0]  # much less may be enough
                    one.refine(goals, width, PILOT * finer if far else finer, smaller)
                    found = [(self.bounds(at)[0], one.bounds(at)[1]) for at in goals]
                    gaps += [0.0 if far else as_double(high / low) - 1 if low else inf for low, high in found]
                if not gaps:
                    return
                gap = max(gaps)
                if gap > 1:
                    finer, smaller = finer / 2, smaller + 10 * (gap == inf)
                elif gap > 0:
                    if before[0] > 2 * finer and gap > 0.95 * before[1]:
                        break  # no grid brings the bounds closer: runs are cut off
                    if before[0]:
                        order = min(2.0, max(0.5, log10(before[1] / gap) / log10(before[0] / finer)))
                    before = finer, gap
                    finer *= min(0.9, max(0.1, (AIM * width / gap) ** (1 / order)))
            self.stopped = attempts > 1 and bool(wanting())
        except (*ENDINGS, OverflowError):  # no double holds such a loss: no grid is chosen
            self.stopped = True

    def _beside(self, epsilon: fmpq, one: Direction, worst: Direction) -> float:
        """Return the power of ten below which delta of a direction need not be known."""
        low = self.bounds(epsilon)[0]
        # what was guessed to be less may turn out to be more
        if one is worst or not low or (one.tapes and one.bounds(epsilon)[1] > worst.bounds(epsilon)[1]):
            return -inf
        return log_of(low) + log10(as_double(self.terms.width)) - 1

    def _wanted(self, one: Direction, epsilon: fmpq) -> float:
        """Return how closely delta has to be known for an epsilon that is as close as asked."""
        about, width = as_double(epsilon), as_double(self.terms.width)
        guess = one.guess(about)
        # by how much the logarithm of delta falls: not less about the mean of the loss, where no tilt is best
        slope = max(guess.tilt, 0.1 / sqrt(max(guess.spread, 1e-18)))
        wanted = 0.9 * width * about * slope
        return max(min(max(width, ENOUGH * max(1.0, wanted**2)), wanted), 1e-12)

    def deltas(self, epsilons: Sequence[fmpq]) -> list[tuple[fmpq, fmpq]]:
        """Return bounds on delta at each of some epsilons."""
        self._narrowed(lambda: [at for at in epsilons if any(self._open(at, one) for one in self.sides)])
        return [self.bounds(epsilon) for epsilon in epsilons]

    def epsilon(self, delta: fmpq) -> tuple[fmpq, fmpq] | None:
        """Return bounds on the least epsilon at which delta is at most this; None is infinity."""
        caps = [one.caps for one in self.sides]
        if any(one.low > delta for one in caps):
            return None
        if not delta:
            last = [one.largest for one in caps if one.largest is not None and not one.high]
            return (max(one.least for one in caps), max(last)) if len(last) == len(caps) else None

        start = inside = self.guess(delta)
        if all(one.largest is not None for one in caps):  # below the largest loss
            inside = min(start, max(one.least for one in caps) * (1 - self.terms.width / 2))

        def ends() -> list[fmpq]:
            return [self._end(side, delta, start) for side in (0, 1)]

        def wanting() -> list[fmpq]:
            low, high = ends()
            least, most = self.bounds(high)
            settled = all(one.settled(high) for one in self.sides)
            near = settled or most - least <= max(self.terms.width, fmpq(1, 1000)) * least
            gap = (high - low) / self.terms.width
            if gap <= high * TIGHT and (near or 10 * gap <= high):
                return []
            # far above delta's place nothing has to be known
            far = 2 * least < delta and any(self._open(inside, one) for one in self.sides)
            return [inside] if settled or far else [high]

        self._narrowed(wanting, of_epsilon=True)
        low, high = ends()
        if high >= LARGEST and self.bounds(high)[1] > delta:
            why = "the work ended before that" if self.stopped else "no larger one is looked for"
            raise LimitError(f"delta {delta}: epsilon is not known to be at most {LARGEST}: {why}")
        return low, high

    def guess(self, delta: fmpq) -> fmpq:
        """Return about where delta is that small."""
        aim = log_of(delta)
        found = first(lambda e: e > 0 and all(one.guess(e, aim).delta <= aim for one in self.sides))
        return min(LARGEST, fmpq(int(found * 10**15) + 1, 10**15))

    def _end(self, side: int, delta: fmpq, start: fmpq) -> fmpq:
        """Return an end: the last epsilon whose lower bound is more, or the first whose upper one is not."""

        def enough(epsilon: fmpq) -> bool:
            return bool(self.bounds(epsilon)[side] <= delta)

        near = [start + sign * start * 8**k / 10**6 for k in range(40) for sign in (-1, 1)]
        places = sorted({fmpq(0), LARGEST, start, *(one for one in near if 0 < one < LARGEST)})
        place = bisect_left(places, True, key=enough)
        if place in {0, len(places)}:
            return places[max(0, place - 1)]
        low, high = places[place - 1 : place + 1]
        unit = fmpz(10) ** max(0, self.terms.relative - int(log_of(high)))
        bottom, top = int((low * unit).floor()), int((high * unit).ceil())
        place = bisect_left(range(bottom + 1, top), True, key=lambda k: enough(fmpq(k, unit)))
        return fmpq(bottom + place + side, unit)


def log_of(value: fmpq) -> float:
    """Return the logarithm of a number to the base of ten, however small it is."""
    return log10(int(value.p)) - log10(int(value.q))
