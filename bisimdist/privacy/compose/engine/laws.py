"""Laws of the privacy loss: a pair of distributions (P, Q), by how their likelihood ratio is distributed.

The loss is L = ln(dP/dQ). A law is either smooth, and says how much of P and of Q lies above a loss, or it is
a list of atoms. All values are balls at the precision of the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from flint import arb, ctx, fmpq

HALF = fmpq(1, 2)
Tails = tuple[arb, arb]
Ends = tuple["arb | None", "arb | None"]
Atom = tuple["arb | fmpq", "arb | fmpq", "arb | fmpq"]
"""The loss, the mass under P and the mass under Q; both masses are positive."""


@dataclass(frozen=True, slots=True)
class Gaussian:
    """The law of N(mu, 1) against N(0, 1)."""

    variance: fmpq  # the square of mu, which is the variance of the loss

    def above(self, loss: arb) -> Tails:
        """Return how much of P and of Q has a greater loss."""
        mu, root = arb(self.variance).sqrt(), arb(2).sqrt()
        at = loss / mu
        return ((at - mu / 2) / root).erfc() / 2, ((at + mu / 2) / root).erfc() / 2

    def ends(self) -> Ends:
        """Return the least and the largest loss; None where there is none."""
        return None, None


@dataclass(frozen=True, slots=True)
class Laplace:
    """The law of Laplace noise around 1 against the same around 0."""

    largest: fmpq  # the sensitivity divided by the scale: the largest loss

    def above(self, loss: arb) -> Tails:
        """Return how much of P and of Q has a greater loss."""
        largest = arb(self.largest)
        inner = 1 - (-(largest - loss) / 2).exp() / 2, (-(largest + loss) / 2).exp() / 2
        found = [
            tails
            for tails, no in (
                ((arb(0), arb(0)), loss < largest),
                (inner, loss >= largest or loss < -largest),
                ((arb(1), arb(1)), loss >= -largest),
            )
            if not no
        ]
        return _either(found)

    def ends(self) -> Ends:
        """Return the least and the largest loss."""
        return -arb(self.largest), arb(self.largest)


@dataclass(frozen=True, slots=True)
class Mixed:
    """The law of (1 - q) Q + q P against Q: Poisson subsampling where the record is present in one input."""

    rate: fmpq  # the probability q that the record is sampled
    inner: Smooth  # the law of the mechanism on the sample

    def above(self, loss: arb) -> Tails:
        """Return how much of P and of Q has a greater loss."""
        ratio = (loss.exp() - arb(1 - self.rate)) / arb(self.rate)
        if not ratio > 0:
            whole = arb(1), arb(1)
            if ratio <= 0:
                return whole
            return _either([whole, self._of(self.inner.above(arb(ratio.upper()).log()))])
        return self._of(self.inner.above(ratio.log()))

    def _of(self, tails: Tails) -> Tails:
        p, q = tails
        return q + (p - q) * arb(self.rate), q

    def ends(self) -> Ends:
        """Return the least and the largest loss; None where there is none."""
        low, high = self.inner.ends()
        rest, rate = arb(1 - self.rate), arb(self.rate)
        if low is None:
            return None if self.rate == 1 else rest.log(), high if high is None else (
                rest + rate * high.exp()
            ).log()
        return (rest + rate * low.exp()).log(), None if high is None else (rest + rate * high.exp()).log()


@dataclass(frozen=True, slots=True)
class Swapped:
    """The law of the other direction: Q against P."""

    inner: Smooth

    def above(self, loss: arb) -> Tails:
        """Return how much of P and of Q has a greater loss."""
        p, q = self.inner.above(-loss)
        return 1 - q, 1 - p

    def ends(self) -> Ends:
        """Return the least and the largest loss; None where there is none."""
        low, high = self.inner.ends()
        return None if high is None else -high, None if low is None else -low


@dataclass(frozen=True, slots=True)
class Replaced:
    """A law that dominates sampling without replacement where one record is replaced, in both directions."""

    rate: fmpq  # the share q of the records that is sampled
    inner: Smooth  # the law of the mechanism on the sample

    def above(self, loss: arb) -> Tails:
        """Return how much of P and of Q has a greater loss."""
        if loss >= 0:
            return Mixed(self.rate, self.inner).above(loss)
        other = swapped(self.inner)
        assert not isinstance(other, AtomsAt)
        return Swapped(Mixed(self.rate, other)).above(loss)

    def ends(self) -> Ends:
        """Return the least and the largest loss; None where there is none."""
        other = swapped(self.inner)
        assert not isinstance(other, AtomsAt)
        return Swapped(Mixed(self.rate, other)).ends()[0], Mixed(self.rate, self.inner).ends()[1]


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The law of (1 - q) R + q P against (1 - q) R + q P': Poisson subsampling where one record is replaced.

    R is the noise around 0, P around 1, P' around -1.
    """

    rate: fmpq  # the probability q that the record is sampled
    inner: Gaussian | Laplace  # the law of P against R

    def above(self, loss: arb) -> Tails:
        """Return how much of P and of Q has a greater loss."""
        found: list[Tails] = []
        if not loss < 0:
            found.append(self._beyond(loss.max(arb(0))))
        if not loss >= 0:  # the mirror image exchanges both sides
            p, q = self._beyond((-loss).max(arb(0)))
            found.append((1 - q, 1 - p))
        return _either(found)

    def _beyond(self, loss: arb) -> Tails:
        """Return the same of a loss that is not negative: it grows with the place."""
        rest, power = 1 - arb(self.rate), loss.exp()
        bend = rest * (power - 1) / self.rate
        if isinstance(self.inner, Gaussian):
            # where x = e^(mu z): x^2 - 2 c x - power = 0
            mu, root = arb(self.inner.variance).sqrt(), arb(2).sqrt()
            c = bend * (arb(self.inner.variance) / 2).exp() / 2
            place = (c + (c * c + power).sqrt()).log() / mu
            masses = [((place - mean) / root).erfc() / 2 for mean in (0, mu, -mu)]
            return self._of(*masses)
        least, largest = (-arb(self.inner.largest)).exp(), self.ends()[1]
        found: list[Tails] = []
        assert largest is not None
        if not loss < largest:
            found.append((arb(0), arb(0)))
        if not loss >= largest:
            ratio = bend + least * power  # the likelihood ratio of P and R
            middle = (least / ratio).sqrt() / 2
            found.append(self._of(middle, 1 - (ratio * least).sqrt() / 2, middle * least))
        return _either(found)

    def _of(self, middle: arb, first: arb, second: arb) -> Tails:
        return middle + (first - middle) * self.rate, middle + (second - middle) * self.rate

    def ends(self) -> Ends:
        """Return the least and the largest loss; None where there is none."""
        if isinstance(self.inner, Gaussian):
            return None, None
        rest, rate, largest = arb(1 - self.rate), arb(self.rate), arb(self.inner.largest)
        high = ((rest + rate * largest.exp()) / (rest + rate * (-largest).exp())).log()
        return -high, high


Smooth = Gaussian | Laplace | Mixed | Swapped | Replaced | Exchanged


@dataclass(frozen=True, slots=True)
class Atoms:
    """A law of finitely many losses."""

    points: tuple[Atom, ...]  # the atoms
    # the mass of P where Q has none, and the mass of Q where P has none
    sure: tuple[arb | fmpq, arb | fmpq] = (fmpq(0), fmpq(0))
    # at most how much mass of P, and of Q, is in no atom; it may lie anywhere
    lost: tuple[arb | fmpq, arb | fmpq] = (fmpq(0), fmpq(0))

    def swapped(self) -> Atoms:
        """Return the law of the other direction."""
        points = tuple((-loss, q, p) for loss, p, q in reversed(self.points))
        return Atoms(points, self.sure[::-1], self.lost[::-1])

    def mixed(self, rate: fmpq) -> Atoms:
        """Return the law of (1 - q) Q + q P against Q."""
        if rate == 1:  # what Q alone has stays its own
            return self
        points: list[Atom] = []
        if self.sure[1]:
            points.append((arb(1 - rate).log(), self.sure[1] * (1 - rate), self.sure[1]))
        for loss, p, q in self.points:
            ratio = arb(1 - rate) + arb(rate) * arb(loss).exp()
            points.append((fmpq(0) if loss == 0 else ratio.log(), q * (1 - rate) + p * rate, q))
        lost = self.lost[1] * (1 - rate) + self.lost[0] * rate
        return Atoms(tuple(points), (self.sure[0] * rate, fmpq(0)), (lost, self.lost[1]))

    def thinned(self, rate: fmpq) -> Atoms:
        """Return the law where with probability 1 - q something else is seen, the same on both sides."""
        points = [(loss, p * rate, q * rate) for loss, p, q in self.points]
        if rate < 1:
            points.append((fmpq(0), 1 - rate, 1 - rate))
        (sure_p, sure_q), (lost_p, lost_q) = self.sure, self.lost
        return Atoms(tuple(points), (sure_p * rate, sure_q * rate), (lost_p * rate, lost_q * rate))

    def replaced(self, rate: fmpq) -> Atoms:
        """Return a law that dominates sampling without replacement where one record is replaced."""
        more, less = self.mixed(rate), self.swapped().mixed(rate).swapped()
        points = [atom for atom in less.points if atom[0] < 0] + [
            atom for atom in more.points if not atom[0] <= 0
        ]
        p = 1 - sum((arb(atom[1]) for atom in points), arb(more.sure[0])) - more.lost[0]
        rest = arb(0).union(p)
        lost = arb(more.lost[0]) + less.lost[0], arb(more.lost[1]) + less.lost[1]
        return Atoms((*points, (fmpq(0), rest, rest)), (more.sure[0], less.sure[1]), lost)


class AtomsAt:
    """Atoms that are made as finely as so many decimal digits need.

    make: makes them, with a loss of less than ``10**-digits`` of the masses.
    finite: whether no mass is lost whatever the digits, so that the largest loss is that of an atom.
    """

    def __init__(self, make: Callable[[int], Atoms], finite: bool = True) -> None:
        self.finite = finite
        self._make = lru_cache(8)(lambda digits, _: make(digits))

    def make(self, digits: int) -> Atoms:
        """Return the atoms, as balls at the precision of the caller."""
        return self._make(digits, ctx.prec)

    def through(self, change: Callable[[Atoms], Atoms]) -> AtomsAt:
        """Return what becomes of the law."""
        return AtomsAt(lambda digits: change(self.make(digits)), self.finite)


Law = Smooth | AtomsAt


def swapped(law: Law) -> Law:
    """Return the law of the other direction; symmetric ones are their own."""
    if isinstance(law, Gaussian | Laplace | Exchanged):
        return law
    if isinstance(law, Swapped):
        return law.inner
    if isinstance(law, AtomsAt):
        return law.through(Atoms.swapped)
    return Swapped(law)


def thinned(rate: fmpq, law: Law) -> Law:
    """Return the law where at a rate the law is that, and else something else is seen that tells nothing."""
    assert isinstance(law, AtomsAt)
    return law.through(lambda atoms: atoms.thinned(rate))


def mixed(rate: fmpq, law: Law) -> Law:
    """Return the law of (1 - q) Q + q P against Q."""
    return law.through(lambda atoms: atoms.mixed(rate)) if isinstance(law, AtomsAt) else Mixed(rate, law)


def replaced(rate: fmpq, law: Law) -> Law:
    """Return a law that dominates sampling without replacement where one record is replaced."""
    return (
        law.through(lambda atoms: atoms.replaced(rate)) if isinstance(law, AtomsAt) else Replaced(rate, law)
    )


def _either(found: list[Tails]) -> Tails:
    p, q = found[0]
    for more_p, more_q in found[1:]:
        p, q = p.union(more_p), q.union(more_q)
    return p, q
