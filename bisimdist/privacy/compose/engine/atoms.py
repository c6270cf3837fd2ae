"""The laws of mechanisms with finitely many losses, and of those on the integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import isqrt

from flint import arb, fmpq, fmpz

from bisimdist.privacy.compose.engine.laws import HALF, Atom, Atoms


def finite(points: Iterable[tuple[fmpq, fmpq]], lost: tuple[fmpq, fmpq] = (fmpq(0), fmpq(0))) -> Atoms:
    """Return the law of exact masses (p, q)."""
    atoms: list[Atom] = []
    sure_p = sure_q = fmpq(0)
    for p, q in points:
        if p and q:
            atoms.append((fmpq(0) if p == q else arb(p / q).log(), p, q))
        else:
            sure_p, sure_q = sure_p + p, sure_q + q
    return Atoms(tuple(atoms), (sure_p, sure_q), lost)


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
    points = []
    slopes = [_slope(one, other) for one, other in pairwise(hull)] + [fmpq(0)]
    for (a, _), before, after in zip(hull[1:], slopes[:-1], slopes[1:], strict=True):
        if after > before:
            points.append((a * (after - before), after - before))
    return finite([*points, (last, fmpq(0))])


def _slope(one: tuple[fmpq, fmpq], other: tuple[fmpq, fmpq]) -> fmpq:
    return (other[1] - one[1]) / (other[0] - one[0])


def randomised_response(truth: fmpq, options: int = 2) -> Atoms:
    """Return the law of an answer that is true with this probability, and else one of the others."""
    lie = (1 - truth) / (options - 1)
    same = 1 - truth - lie
    return finite([(truth, lie), *([(same, same)] if same else []), (lie, truth)])


def approximate(epsilon: fmpq, delta: fmpq) -> Atoms:
    """Return the law that dominates everything that is (epsilon, delta)-private, and is so itself."""
    rest = arb(1 - delta)
    more, less = rest / (1 + (-arb(epsilon)).exp()), rest / (1 + arb(epsilon).exp())
    atoms = ((-epsilon, less, more), (epsilon, more, less)) if epsilon else ((fmpq(0), rest, rest),)
    return Atoms(atoms if delta < 1 else (), (delta, delta))


Place = tuple["fmpq | None", "fmpq | None", "arb | fmpq", "arb | fmpq", "arb | fmpq"]
"""A place of noise: the losses of P and of P' against R, None where they have no mass; then the masses of P,
R and P' there."""


def exchanged(places: Iterable[Place], rate: fmpq, lost: arb | None = None) -> Atoms:
    """Return the law of (1 - q) R + q P against (1 - q) R + q P'.

    That is sampling by Poisson's law where one record is replaced. R is the noise around 0, P and P' around
    the sensitivity on both sides of it.
    """
    rest, atoms = arb(1 - rate), list[Atom]()
    sure_p = sure_q = arb(0)
    for one, other, first, middle, second in places:
        p, q = rest * middle + rate * first, rest * middle + rate * second
        if p == 0 or q == 0:
            sure_p, sure_q = sure_p + p, sure_q + q
        elif one == other:
            atoms.append((fmpq(0), p, q))
        elif rate == 1 and one is not None and other is not None:
            atoms.append((one - other, p, q))
        else:
            above, below = (rest + (0 if k is None else rate * arb(k).exp()) for k in (one, other))
            atoms.append(((above / below).log(), p, q))
    return Atoms(tuple(atoms), (sure_p, sure_q), lost=(lost or fmpq(0), lost or fmpq(0)))


def exchanged_private(epsilon: fmpq, delta: fmpq, rate: fmpq) -> Atoms:
    """Return the law of `exchanged` of what is (epsilon, delta)-private if a record is added or removed."""
    none, far, less = arb(0), arb(delta), (-arb(epsilon)).exp()
    more = (1 - far) / (1 + less)
    end, high = more * less, far / less
    # how much of R there is where one loss is epsilon and the other is not, and in the middle
    rise, fall = none.max(end - far), none.max(far.min(1 - far) - end)
    middle, nowhere = none.max(HALF - end.max(far)), none.max(far - HALF)
    half: list[Place] = [
        (None, None, none, none, far),
        (None, epsilon, none, end.min(far), more.min(high)),
        (-epsilon, epsilon, rise * less, rise, none.max(more - high)),
        (None, -epsilon, none, fall, fall * less),
        (-epsilon, -epsilon, middle * less, middle, middle * less),
        (None, None, none, nowhere, none),
    ]
    mirrored = ((other, one, second, some, first) for one, other, first, some, second in half)
    return exchanged([*half, *mirrored], rate)


def discrete_laplace(scale: fmpq, sensitivity: int, rate: fmpq | None = None) -> Atoms:
    """Return the law of P(k) ~ exp(-|k|/scale) around the sensitivity against the same around 0.

    rate: where it is given, the law of `exchanged`.
    """
    ratio = (-1 / arb(scale)).exp()
    end, middle = 1 / (1 + ratio), (1 - ratio) / (1 + ratio)
    powers = [ratio**k for k in range(2 * sensitivity + 1)]
    if rate is not None:
        places = []
        for k in range(-sensitivity, sensitivity + 1):
            part = middle if abs(k) < sensitivity else end
            # an end stands for all that is beyond it; that around the near centre has its own centre in it
            masses = [powers[abs(k - c)] * part for c in (sensitivity, 0, -sensitivity)]
            losses = [fmpq(abs(k) - abs(k - c)) / scale for c in (sensitivity, -sensitivity)]
            places.append((losses[0], losses[1], *masses))
        return exchanged(places, rate)
    atoms: list[Atom] = [(-sensitivity / scale, end * powers[sensitivity], end)]
    atoms += [
        ((2 * k - sensitivity) / scale, middle * powers[sensitivity - k], middle * powers[k])
        for k in range(1, sensitivity)
    ]
    atoms.append((sensitivity / scale, end, end * powers[sensitivity]))
    return Atoms(tuple(atoms))


def discrete_gaussian(variance: fmpq, sensitivity: int, digits: int, rate: fmpq | None = None) -> Atoms:
    """Return the law of P(k) ~ exp(-k^2 / 2 variance) around the sensitivity against the same around 0.

    rate: where it is given, the law of `exchanged`.
    """
    shift = sensitivity if rate is None else 2 * sensitivity  # the farthest of two centres
    reach = shift + 3 + isqrt(int((2 * variance * ((digits + 4) * fmpq(2303, 1000))).ceil()))
    weights = _bells(variance, reach)
    # beyond the reach the weights fall faster than a geometric series does
    ratio = (-arb(fmpq(2 * reach + 1) / (2 * variance))).exp()
    whole = weights[0] + 2 * sum(weights[1:], arb(0).union(weights[reach] * ratio / (1 - ratio)))
    masses = [weight / whole for weight in weights]
    # one end of the range is nearer to the middle by that shift
    outside = 2 * masses[reach] * ratio / (1 - ratio) + sum(masses[reach + 1 - shift :], arb(0))
    part = fmpq(sensitivity) / (2 * variance)
    if rate is not None:
        places = (
            (
                part * (2 * k - sensitivity),
                -part * (2 * k + sensitivity),
                masses[abs(k - sensitivity)],
                masses[abs(k)],
                masses[abs(k + sensitivity)],
            )
            for k in range(sensitivity - reach, reach - sensitivity + 1)
        )
        return exchanged(places, rate, outside)
    atoms: list[Atom] = [
        (part * (2 * k - sensitivity), masses[abs(k - sensitivity)], masses[abs(k)])
        for k in range(sensitivity - reach, reach + 1)
    ]
    return Atoms(tuple(atoms), lost=(outside, outside))


def _bells(variance: fmpq, reach: int) -> list[arb]:
    """Return exp(-k^2 / 2 variance) for k up to the reach: each is the one before times a power."""
    step = (-arb(1 / (2 * variance))).exp()
    square, factor, value, found = step * step, step, arb(1), [arb(1)]
    for _ in range(reach):
        value *= factor
        factor *= square
        found.append(value)
    return found


def shuffled_above(users: int, truth: fmpq, digits: int) -> Atoms:
    """Return a law that dominates shuffled randomised response: all see how many clones there are.

    Each other user answers at random with probability 2 (1 - truth). Numbers of such clones are taken in
    groups, and the fewest clones stand for a group.
    """
    size = max(1, isqrt(users) // 2)
    weights: dict[int, arb] = {}
    for clones, mass in _binomial(users - 1, 2 * (1 - truth), digits):
        least = clones - clones % size
        weights[least] = weights.get(least, arb(0)) + mass
    return _complete(
        [
            atom
            for clones, weight in weights.items()
            for atom in _ones(clones, fmpq(1, 2), truth, weight, digits)
        ]
    )


def shuffled_below(users: int, truth: fmpq, digits: int) -> Atoms:
    """Return the law of shuffled randomised response where all other users have the same bit."""
    return _complete(list(_ones(users - 1, 1 - truth, truth, arb(1), digits)))


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
        yield (fmpq(0) if ratio == 1 else arb(ratio).log(), p, q)


def _complete(atoms: list[Atom]) -> Atoms:
    rest = tuple(arb((1 - sum((arb(atom[side]) for atom in atoms), arb(0))).abs_upper()) for side in (1, 2))
    return Atoms(tuple(atoms), lost=(rest[0], rest[1]))


def _binomial(trials: int, chance: fmpq, digits: int) -> list[tuple[int, arb]]:
    """Return the masses of a binomial law, but for tails of less than ``10**-digits``."""
    if not trials or chance == 1:
        return [(trials, arb(1))]
    middle = int((trials * chance).floor())
    reach = 2 + isqrt(int((trials * ((digits + 4) * fmpq(1152, 1000))).ceil()))  # by Hoeffding
    odds = chance / (1 - chance)
    start = arb(fmpz.bin_uiui(trials, middle)) * arb(chance) ** middle * arb(1 - chance) ** (trials - middle)
    up, down = [], []
    value = start
    for k in range(middle, min(trials, middle + reach)):
        value = value * arb(fmpq(trials - k, k + 1) * odds)
        up.append((k + 1, value))
    value = start
    for k in range(middle, max(0, middle - reach), -1):
        value = value * arb(fmpq(k, trials - k + 1) / odds)
        down.append((k - 1, value))
    return [*reversed(down), (middle, start), *up]
