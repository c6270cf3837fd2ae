"""Laws of the privacy loss: a pair of distributions (P, Q), by how their likelihood ratio is distributed.

The loss is L = ln(dP/dQ). A law is either smooth, and says how much of P and of Q lies above a loss, or it is
a list of atoms. All values are balls at the precision of the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from flint import arb, ctx, fmpq

Tails = tuple[arb, arb]
Number: TypeAlias = "arb | fmpq"
Ends: TypeAlias = "Callable[[], tuple[Number, Number]]"
"""Returns the least and the largest loss, which are not finite where there is none."""
Atom = tuple[Number, Number, Number]
"""The loss, the mass under P and the mass under Q; both masses are positive."""

NOTHING = fmpq(0)
ENDLESS = arb("inf")


@dataclass(frozen=True, slots=True)
class Smooth:
    """A law by how much of P and of Q has a greater loss."""

    above: Callable[[arb], Tails]
    ends: Ends
    variance: fmpq = NOTHING  # of Gaussian noise that of the loss: it adds up

    def swapped(self) -> Smooth:
        """Return the law of the other direction."""
        return Smooth(lambda loss: _opposite(self.above(-loss)), lambda: (-self.ends()[1], -self.ends()[0]))

    def mixed(self, rate: fmpq) -> Smooth:
        """Return the law of (1 - q) Q + q P against Q: the record is present in one input."""
        rest = 1 - rate

        def beyond(lacking: arb) -> Tails:
            p, q = self.above((-lacking if lacking < 0 else arb((-lacking).upper())).log())
            return q + (p - q) * rate, q

        def above(loss: arb) -> Tails:
            return _split((rest - loss.exp()) / rate, NOTHING, beyond, lambda _: (arb(1), arb(1)))

        def ends() -> tuple[Number, Number]:  # where there is no least loss, the ratio falls to 0
            low, high = self.ends()
            return _between(rate, low, NOTHING), _between(rate, high, NOTHING)

        return Smooth(above, ends)

    def replaced(self, rate: fmpq) -> Smooth:
        """Return a law that dominates sampling without replacement where one record is replaced."""
        more, less = self.mixed(rate), self.swapped().mixed(rate).swapped()

        def above(loss: arb) -> Tails:
            return (more if loss >= 0 else less).above(loss)

        return Smooth(above, lambda: (less.ends()[0], more.ends()[1]))


def gaussian(variance: fmpq, rate: fmpq | None = None) -> Smooth:
    """Return the law of N(mu, 1) against N(0, 1), where the variance is mu squared.

    rate: where it is given, the law of (1 - q) R + q P against (1 - q) R + q P'. That is Poisson subsampling
    where one record is replaced. R is the noise around 0, P around mu, P' around -mu.
    """

    def beyond(loss: arb) -> list[arb]:
        mu, root, half = arb(variance).sqrt(), arb(2).sqrt(), arb(variance) / 2
        if rate is None:
            place = loss / mu + mu / 2
        else:  # where x = e^(mu z): x^2 - 2 c x - e^loss = 0
            c = (1 - rate) * loss.expm1() / rate * half.exp() / 2
            place = (c + (c * c + loss.exp()).sqrt()).log() / mu
        return [((place - mean) / root).erfc() / 2 for mean in (0, mu, -mu)[: 2 if rate is None else 3]]

    law = _mirrored(beyond, rate, lambda: (-ENDLESS, ENDLESS))
    return replace(law, variance=NOTHING if rate else variance)


def laplace(largest: fmpq, rate: fmpq | None = None) -> Smooth:
    """Return the law of Laplace noise, whose largest loss is the sensitivity divided by the scale.

    rate: as for Gaussian noise.
    """

    def ends() -> tuple[Number, Number]:
        high = largest if rate is None else _between(rate, largest, -largest)
        return -high, high

    def beyond(loss: arb) -> list[arb]:
        least, ratio = (-arb(largest)).exp(), loss.exp()
        if rate is not None:  # the likelihood ratio of P and R, where that of P' and R is the least
            ratio = (1 - rate) * (ratio - 1) / rate + least * ratio
        middle = (least / ratio).sqrt() / 2
        return [middle, 1 - (ratio * least).sqrt() / 2, *([] if rate is None else [middle * least])]

    return _mirrored(beyond, rate, ends)


def _mirrored(beyond: Callable[[arb], list[arb]], rate: fmpq | None, ends: Ends) -> Smooth:
    """Return the law of `gaussian` and `laplace`: the loss grows with the place, a mirror swaps both sides.

    beyond: how much of R, P and P' has more than a loss that is not negative, up to the largest; R is P'
    where it is not among them.
    """

    def inside(loss: arb) -> Tails:
        middle, first, *others = beyond(loss)
        share = 1 if rate is None else rate
        p, q = (middle + (side - middle) * share for side in (first, *(others or [middle])))
        return p, q

    def half(loss: arb) -> Tails:
        known = loss.max(arb(0))
        p, q = _split(known, ends()[1], inside, lambda _: (arb(0), arb(0)))
        if (p.is_finite() and q.is_finite()) or known.is_exact():
            return p, q
        # what has hardly any noise is known at the ends of a ball alone
        (p, q), (less_p, less_q) = half(known.lower().max(arb(0))), half(known.upper())
        return p.union(less_p), q.union(less_q)

    return Smooth(lambda loss: _split(loss, NOTHING, lambda other: _opposite(half(-other)), half), ends)


def _opposite(tails: Tails) -> Tails:
    return 1 - tails[1], 1 - tails[0]


Place: TypeAlias = "tuple[Number, Number, Number, Number, Number]"
"""A place of noise: the losses of P and of P' against R, ``-ENDLESS`` where they have no mass; then the
masses of P, R and P' there."""


@dataclass(frozen=True, slots=True)
class Atoms:
    """A law of finitely many losses."""

    points: tuple[Atom, ...]  # the atoms
    # the mass of P where Q has none, and the mass of Q where P has none
    sure: tuple[Number, Number] = (NOTHING, NOTHING)
    # at most how much mass of P, and of Q, is in no atom; it may lie anywhere
    lost: tuple[Number, Number] = (NOTHING, NOTHING)

    def swapped(self) -> Atoms:
        """Return the law of the other direction."""
        points = tuple((-loss, q, p) for loss, p, q in reversed(self.points))
        return Atoms(points, self.sure[::-1], self.lost[::-1])

    def mixed(self, rate: fmpq) -> Atoms:
        """Return the law of (1 - q) Q + q P against Q."""
        (p, q), (lost_p, lost_q) = self.sure, self.lost
        alone: list[Place] = [(NOTHING, NOTHING, p, NOTHING, NOTHING), (-ENDLESS, NOTHING, NOTHING, q, q)]
        shared = ((loss, NOTHING, p, q, q) for loss, p, q in self.points)
        return sampled([*alone, *shared], rate, (lost_p, lost_q, lost_q))

    def thinned(self, rate: fmpq) -> Atoms:
        """Return the law where with probability 1 - q something else is seen, the same on both sides."""
        other = [(NOTHING, 1 - rate, 1 - rate)] if rate < 1 else []
        sure, lost = ((p * rate, q * rate) for p, q in (self.sure, self.lost))
        return Atoms((*((loss, p * rate, q * rate) for loss, p, q in self.points), *other), sure, lost)

    def replaced(self, rate: fmpq) -> Atoms:
        """Return a law that dominates sampling without replacement where one record is replaced."""
        more, less = self.mixed(rate), self.swapped().mixed(rate).swapped()
        points = [atom for atom in less.points if atom[0] < 0]
        points += [atom for atom in more.points if not atom[0] <= 0]
        rest = arb(0).union(1 - sum((arb(p) for _, p, _ in points), arb(more.sure[0])) - more.lost[0])
        lost = more.lost[0] + less.lost[0], more.lost[1] + less.lost[1]
        return Atoms((*points, (NOTHING, rest, rest)), (more.sure[0], less.sure[1]), lost)


def sampled(
    places: Iterable[Place], rate: fmpq, lost: tuple[Number, Number, Number] = (NOTHING, NOTHING, NOTHING)
) -> Atoms:
    """Return the law of (1 - q) R + q P against (1 - q) R + q P'.

    That is sampling by Poisson's law. Where a record is removed, P' is R; where one is replaced, R is the
    noise around 0, P and P' around the sensitivity on both sides of it.

    lost: at most how much mass of P, R and P' is at no place.
    """
    rest, points, sure = 1 - rate, list[Atom](), [NOTHING, NOTHING]
    for one, other, first, middle, second in places:
        p, q = rest * middle + rate * first, rest * middle + rate * second
        if p == 0 or q == 0:
            sure = [sure[0] + p, sure[1] + q]
        else:
            loss = NOTHING if one == other else one - other if rate == 1 else _between(rate, one, other)
            points.append((loss, p, q))
    p, q = rest * lost[1] + rate * lost[0], rest * lost[1] + rate * lost[2]
    return Atoms(tuple(points), (sure[0], sure[1]), (p, q))


def _between(rate: fmpq, one: Number, other: Number) -> arb:
    """Return ln((1 - q + q e^one) / (1 - q + q e^other))."""
    above, below = (1 - rate + rate * arb(loss).exp() for loss in (one, other))
    return (above / below).log()


class AtomsAt:
    """Atoms that are made as finely as so many decimal digits need.

    make: makes them, with a loss of less than ``10**-digits`` of the masses.
    finite: whether no mass is lost whatever the digits, so that the largest loss is that of an atom.
    """

    variance = NOTHING

    def __init__(self, make: Callable[[int], Atoms], finite: bool = True) -> None:
        self.finite = finite
        self._make = lru_cache(8)(lambda digits, _: make(digits))

    def make(self, digits: int) -> Atoms:
        """Return the atoms, as balls at the precision of the caller."""
        return self._make(digits, ctx.prec)

    def swapped(self) -> AtomsAt:
        """Return the law of the other direction."""
        return self.through(Atoms.swapped)

    def mixed(self, rate: fmpq) -> AtomsAt:
        """Return the law of (1 - q) Q + q P against Q: the record is present in one input."""
        return self.through(lambda atoms: atoms.mixed(rate))

    def replaced(self, rate: fmpq) -> AtomsAt:
        """Return a law that dominates sampling without replacement where one record is replaced."""
        return self.through(lambda atoms: atoms.replaced(rate))

    def through(self, change: Callable[[Atoms], Atoms]) -> AtomsAt:
        """Return what becomes of the law."""
        return AtomsAt(lambda digits: change(self.make(digits)), self.finite)


Law = Smooth | AtomsAt

UNKNOWN = AtomsAt(lambda _: Atoms(((NOTHING, fmpq(1), fmpq(1)),)))
"""What a mechanism dominates of which nothing is known: an answer without meaning."""


def thinned(rate: fmpq, law: Law) -> Law:
    """Return the law where at a rate the law is that, and else something else is seen that tells nothing."""
    assert isinstance(law, AtomsAt)
    return law.through(lambda atoms: atoms.thinned(rate))


def rational(value: Number, rounded: Callable[[arb], arb]) -> fmpq:
    """Return a number as it is if it is exact, and else the end of its ball."""
    return value if isinstance(value, fmpq) else rounded(value).fmpq()


def _split(place: arb, cut: Number, before: Callable[[arb], Tails], behind: Callable[[arb], Tails]) -> Tails:
    """Return what holds before or behind a cut, and both where it is not known on which side a place is."""
    if place >= cut:
        return behind(place)
    if place < cut:
        return before(place)
    (p, q), (more_p, more_q) = before(place), behind(place)
    return p.union(more_p), q.union(more_q)
