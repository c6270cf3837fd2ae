"""The laws of mechanisms with finitely many losses, and of those on the integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import isqrt
from operator import mul

from flint import arb, fmpq, fmpz

from bisimdist.errors import LimitError
from bisimdist.privacy.compose.engine.laws import ENDLESS, NOTHING, Atom, Atoms, Place, sampled

MOST_PLACES = 4_000_000  # of noise on the integers, on one side


def finite(points: Iterable[tuple[fmpq, fmpq]], lost: tuple[fmpq, fmpq] = (NOTHING, NOTHING)) -> Atoms:
    """Return the law of exact masses (p, q)."""
    places = ((arb(p / q).log() if p and q else -ENDLESS, NOTHING, p, q, q) for p, q in points)
    return sampled(places, fmpq(1), (lost[0], NOTHING, lost[1]))


def dominating(corners: Sequence[tuple[fmpq, fmpq]]) -> Atoms:
    """Return a law whose delta is nowhere less than the chords of a curve that holds in both directions.

    corners: values of alpha, from 1 on, and bounds on delta there.
    """
    # below alpha = 1 delta is 1 - alpha + alpha times that of the other direction at 1 / alpha
    curve = [(fmpq(0), fmpq(1))]
    curve += [(1 / a, 1 - 1 / a + d / a) for a, d in reversed(corners) if a > 1]
    curve += corners
    # delta is convex: it lies below every chord, so below the lower hull of the points
    last = curve[-1][1]
    hull: list[tuple[fmpq, fmpq]] = []
    for a, d in curve:
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) > _slope(hull[-1], (a, d)):
            hull.pop()
        hull.append((a, d))
    slopes = [_slope(one, other) for one, other in pairwise(hull)] + [fmpq(0)]
    masses = [(a, after - before) for (a, _), (before, after) in zip(hull[1:], pairwise(slopes), strict=True)]
    return finite([*((a * mass, mass) for a, mass in masses if mass > 0), (last, fmpq(0))])


def _slope(one: tuple[fmpq, fmpq], other: tuple[fmpq, fmpq]) -> fmpq:
    return (other[1] - one[1]) / (other[0] - one[0])


def randomised_response(truth: fmpq, options: fmpq | int = 2) -> Atoms:
    """Return the law of an answer that is true with this probability, and else one of the others."""
    lie = (1 - truth) / (options - 1)
    same = 1 - truth - lie
    return finite([(truth, lie), *([(same, same)] if same else []), (lie, truth)])


def private(_: int, rate: fmpq | None, epsilon: fmpq, delta: fmpq = NOTHING) -> Atoms:
    """Return the law that dominates everything that is (epsilon, delta)-private, and is so itself.

    rate: where it is given, the law of `sampled` where one record is replaced.
    """
    if rate is None:
        rest = arb(1 - delta)
        more, less = rest / (1 + (-arb(epsilon)).exp()), rest / (1 + arb(epsilon).exp())
        atoms = ((-epsilon, less, more), (epsilon, more, less)) if epsilon else ((NOTHING, rest, rest),)
        return Atoms(atoms if delta < 1 else (), (delta, delta))
    never, none, far, less = -ENDLESS, arb(0), arb(delta), (-arb(epsilon)).exp()
    more = (1 - far) / (1 + less)
    end, high = more * less, far / less
    # how much of R there is where one loss is epsilon and the other is not, and in the middle
    rise, fall = none.max(end - far), none.max(far.min(1 - far) - end)
    middle, nowhere = none.max(fmpq(1, 2) - end.max(far)), none.max(far - fmpq(1, 2))
    half: list[Place] = [
        (never, never, none, none, far),
        (never, epsilon, none, end.min(far), more.min(high)),
        (-epsilon, epsilon, rise * less, rise, none.max(more - high)),
        (never, -epsilon, none, fall, fall * less),
        (-epsilon, -epsilon, middle * less, middle, middle * less),
        (never, never, none, nowhere, none),
    ]
    mirrored = ((other, one, second, some, first) for one, other, first, some, second in half)
    return sampled([*half, *mirrored], rate)


def discrete_laplace(_: int, rate: fmpq | None, scale: fmpq, moved: fmpq) -> Atoms:
    """Return the law of P(k) ~ exp(-|k|/scale) around the sensitivity against the same around 0.

    rate: where it is given, the law of `sampled` where one record is replaced.
    """
    sensitivity = int(moved.p)
    least = 0 if rate is None else -sensitivity  # the centre of what P is held against
    ratio = (-1 / arb(scale)).exp()
    end, middle = 1 / (1 + ratio), (1 - ratio) / (1 + ratio)
    powers = [ratio**k for k in range(2 * sensitivity + 1)]
    places = []
    for k in range(least, sensitivity + 1):
        # an end stands for all that is beyond it; that around the near centre has its own centre in it
        part = middle if least < k < sensitivity else end
        masses = [powers[abs(k - c)] * part for c in (sensitivity, 0, least)]
        losses = [fmpq(abs(k) - abs(k - c)) / scale for c in (sensitivity, least)]
        places.append((losses[0], losses[1], *masses))
    return sampled(places, rate or fmpq(1))


def discrete_gaussian(digits: int, rate: fmpq | None, sigma: fmpq, moved: fmpq) -> Atoms:
    """Return the law of P(k) ~ exp(-k^2 / 2 variance) around the sensitivity against the same around 0.

    rate: as for `discrete_laplace`.
    """
    variance, sensitivity = sigma**2, int(moved.p)
    least = 0 if rate is None else -sensitivity
    reach = sensitivity - least + 3 + isqrt(int((2 * variance * ((digits + 4) * fmpq(2303, 1000))).ceil()))
    if reach > MOST_PLACES:
        raise LimitError(f"discrete noise on more than {MOST_PLACES} integers is not worked out")
    weights = [(-arb(k * k / (2 * variance))).exp() for k in range(reach + 1)]
    # beyond the reach the weights fall faster than a geometric series does
    ratio = (-arb(fmpq(2 * reach + 1) / (2 * variance))).exp()
    whole = weights[0] + 2 * sum(weights[1:], arb(0).union(weights[reach] * ratio / (1 - ratio)))
    masses = [weight / whole for weight in weights]
    # one end of the range is nearer to the middle by how far two centres are apart
    outside = 2 * masses[reach] * ratio / (1 - ratio) + sum(masses[reach + 1 - sensitivity + least :], arb(0))
    places = []
    for k in range(sensitivity - reach, reach + least + 1):
        first, middle, second = (masses[abs(k - c)] for c in (sensitivity, 0, least))
        losses = [c * (2 * k - c) / (2 * variance) for c in (sensitivity, least)]
        places.append((losses[0], losses[1], first, middle, second))
    return sampled(places, rate or fmpq(1), (outside, outside, outside))


def shuffled(users: int, truth: fmpq, digits: int, *, above: bool) -> Atoms:
    """Return a law that dominates shuffled randomised response, or that of all other users with the same bit.

    From above all see how many clones there are: each other user answers at random with probability
    2 (1 - truth). Numbers of such clones are taken in groups, and the fewest clones stand for a group.
    """
    size, weights, chance = max(1, isqrt(users) // 2), {users - 1: arb(1)}, 1 - truth
    if above:
        chance, weights = fmpq(1, 2), {}
        for clones, mass in _binomial(users - 1, 2 * (1 - truth), digits):
            least = clones - clones % size
            weights[least] = weights.get(least, arb(0)) + mass
    some = [one for clones, weight in weights.items() for one in _ones(clones, chance, truth, weight, digits)]
    p, q = (arb((1 - sum((arb(one[side]) for one in some), arb(0))).abs_upper()) for side in (1, 2))
    return Atoms(tuple(some), lost=(p, q))


def _ones(trials: int, chance: fmpq, truth: fmpq, weight: arb, digits: int) -> Iterator[Atom]:
    """Yield the law of how many ones there are among others, each at a chance, and a user's answer."""
    answers = dict(_binomial(trials, chance, digits))
    for ones in range(min(answers), max(answers) + 2):
        one, none = answers.get(ones - 1, arb(0)), answers.get(ones, arb(0))
        p, q = (weight * (one * a + none * (1 - a)) for a in (truth, 1 - truth))
        # the ratio of neighbouring binomial masses is rational, whatever is left out of them:
        # g(ones - 1) : g(ones) = ones (1 - chance) : (trials - ones + 1) chance
        one, none = ones * (1 - chance), (trials - ones + 1) * chance
        ratio = (one * truth + none * (1 - truth)) / (one * (1 - truth) + none * truth)
        yield (NOTHING if ratio == 1 else arb(ratio).log(), p, q)


def _binomial(trials: int, chance: fmpq, digits: int) -> list[tuple[int, arb]]:
    """Return the masses of a binomial law, but for tails of less than ``10**-digits``."""
    if not trials or chance == 1:
        return [(trials, arb(1))]
    middle = int((trials * chance).floor())
    reach = 2 + isqrt(int((trials * ((digits + 4) * fmpq(1152, 1000))).ceil()))  # by Hoeffding
    low, high = max(0, middle - reach), min(trials, middle + reach)
    value = arb(fmpz.bin_uiui(trials, low)) * arb(chance) ** low * arb(1 - chance) ** (trials - low)
    ratios = (fmpq(trials - k, k + 1) * chance / (1 - chance) for k in range(low, high))
    return list(enumerate(accumulate(ratios, mul, initial=value), low))
