"""Divergences by a second way: as integrals over the privacy profile, in both directions.

For a convex f with f(1) = 0 the divergence of P and Q is the integral over gamma >= 1 of
``f''(gamma) E_gamma(P|Q) + gamma^-3 f''(1/gamma) E_gamma(Q|P)``, where E_gamma is the most that an event
gains: delta in one direction. It shares the graph of delta, and nothing of the other measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.faces.shown.standing import Bounds
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.lmc import LMC
from bisimdist.privacy.engine.directions import TwoSided
from bisimdist.privacy.engine.divergence import logarithm
from bisimdist.privacy.engine.losses import exact_losses
from bisimdist.progress import NEVER, Deadline

GRID = (*(fmpq(k, 8) for k in range(8, 16)), fmpq(2), fmpq(5, 2), fmpq(3), fmpq(4), fmpq(8), fmpq(32))
"""Where the profile is computed if the losses are not finitely many."""

FINE = fmpq(1, 10**4)
NODES = 5_000
_ZERO = fmpq(0)

Ends = tuple[fmpq, fmpq]
Primitive = Callable[[fmpq, fmpq, fmpq], Ends]
"""Bounds on the integral up to a place of a weight times A - B gamma, called with the place, A and B."""


@dataclass(frozen=True, slots=True)
class Integrand:
    """The integrals of both weights of a divergence."""

    forward: Primitive
    backward: Primitive


def _chi2_forward(place: fmpq, a: fmpq, b: fmpq) -> Ends:
    value = 2 * a * place - b * place**2
    return value, value


def _chi2_backward(place: fmpq, a: fmpq, b: fmpq) -> Ends:
    value = -a / place**2 + 2 * b / place
    return value, value


def _kl_forward(place: fmpq, a: fmpq, b: fmpq) -> Ends:
    low, high = sorted(a * end for end in logarithm(place))
    return low - b * place, high - b * place


def _kl_backward(place: fmpq, a: fmpq, b: fmpq) -> Ends:
    low, high = sorted(-b * end for end in logarithm(place))
    return low - a / place, high - a / place


CHI2 = Integrand(_chi2_forward, _chi2_backward)
KL = Integrand(_kl_forward, _kl_backward)

Point = tuple[fmpq, fmpq, fmpq]  # gamma, and bounds on E_gamma


def by_profile(
    model: LMC, s: int, t: int, *, deadline: Deadline = NEVER
) -> tuple[tuple[Bounds, Bounds], tuple[Bounds, Bounds]]:
    """Return bounds on the chi-squared and on the KL divergence, each from s to t and from t to s."""
    there, back, exact = _profiles(model, s, t, deadline)
    chi2, kl = (
        (_integral(kind, there, back, exact), _integral(kind, back, there, exact)) for kind in (CHI2, KL)
    )
    return chi2, kl


def _profiles(
    model: LMC, s: int, t: int, deadline: Deadline
) -> tuple[Sequence[Point], Sequence[Point], bool]:
    """Return the profiles in both directions, and whether they are linear between the points."""
    try:
        losses = exact_losses(model, s, t, deadline=deadline)
    except LimitError:
        deadline.check()
        grid = [_at(model, (s, t), gamma, deadline) for gamma in GRID]
        return [there for there, _ in grid], [back for _, back in grid], False
    ways = []
    for way in (losses, losses.swapped()):
        values = [(gamma, way.one_way(gamma)) for gamma in losses.ratios()]
        ways.append([(gamma, value, value) for gamma, value in values])
    return ways[0], ways[1], True


def _at(model: LMC, pair: tuple[int, int], gamma: fmpq, deadline: Deadline) -> tuple[Point, Point]:
    """Return bounds on what an event gains in either direction."""
    model, classes = quotient(model)
    pair = classes[pair[0]], classes[pair[1]]
    two = TwoSided(model, gamma, gamma)
    two.use_ratios([pair], deadline=deadline)
    question = two.question(pair)
    if not question.below:
        value = fmpq(int(question.pair[0] != question.pair[1]))
        return (gamma, value, value), (gamma, value, value)
    two.refine([question], gap=FINE, most=NODES, deadline=deadline)
    closure = two.close([question], deadline=deadline)
    found = {
        way: (closure.lower[root.node] / root.divisor, closure.upper[root.node] / root.divisor)
        for way, root in question.below
    }
    there = found[question.pair]
    back = found.get(question.pair[::-1], there)  # at gamma = 1 both directions are one
    return (gamma, *there), (gamma, *back)


def _integral(kind: Integrand, there: Sequence[Point], back: Sequence[Point], exact: bool) -> Bounds:
    lower, upper = _ZERO, _ZERO
    for primitive, points in ((kind.forward, there), (kind.backward, back)):
        for (left, low_left, high_left), (right, low_right, high_right) in pairwise(points):
            # it is convex and falls: the chord is above it, the value at the right end is below
            line = _line(left, low_left, right, low_right) if exact else (low_right, _ZERO)
            lower += primitive(right, *line)[0] - primitive(left, *line)[1]
            chord = _line(left, high_left, right, high_right)
            upper += primitive(right, *chord)[1] - primitive(left, *chord)[0]
    tails = there[-1][2], back[-1][2]
    if exact and tails[0]:
        return None, None  # one world alone has traces, whatever the ratio
    if tails[1]:  # E_gamma(Q|P) does not rise, and its weight has a finite integral
        last = back[-1][0]
        rest = kind.backward(last, tails[1], _ZERO)
        upper -= rest[0]
        if exact:
            lower -= rest[1]
    return max(lower, _ZERO), None if tails[0] else upper


def _line(left: fmpq, at_left: fmpq, right: fmpq, at_right: fmpq) -> tuple[fmpq, fmpq]:
    """Return (A, B) of the line A - B gamma through two points."""
    slope = (at_left - at_right) / (right - left)
    return at_left + slope * left, slope
