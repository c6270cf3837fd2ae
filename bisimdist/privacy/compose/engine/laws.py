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
Ends = tuple["arb | fmpq | None", "arb | fmpq | None"]
Atom = tuple["arb | fmpq", "arb | fmpq", "arb | fmpq"]
"""The loss, the mass under P and the mass under Q; both masses are positive."""


@dataclass(frozen=True, slots=True)
class Smooth:
    """A law by how much of P and of Q has a greater loss."""

    above: Callable[[arb], Tails]
    # the least and the largest loss; None where there is none
    ends: Callable[[], Ends] = lambda: (None, None)
    symmetric: bool = False  # whether the law of the other direction is the same
    variance: fmpq | None = None  # of Gaussian noise that of the loss: it adds up


def gaussian(variance: fmpq, rate: fmpq | None = None) -> Smooth:
    """Return the law of N(mu, 1) against N(0, 1), where the variance is mu squared.

    rate: where it is given, the law of (1 - q) R + q P against (1 - q) R + q P'. That is Poisson subsampling
    where one record is replaced. R is the noise around 0, P around mu, P' around -mu.
    """

    def above(loss: arb) -> Tails:
        mu, root = arb(variance).sqrt(), arb(2).sqrt()
        at = loss / mu
        return ((at - mu / 2) / root).erfc() / 2, ((at + mu / 2) / root).erfc() / 2

    def beyond(_: arb, bend: arb, power: arb) -> list[tuple[arb, ...]]:
        # where x = e^(mu z): x^2 - 2 c x - power = 0
        mu, root = arb(variance).sqrt(), arb(2).sqrt()
        c = bend * (arb(variance) / 2).exp() / 2
        place = (c + (c * c + power).sqrt()).log() / mu
        return [tuple(((place - mean) / root).erfc() / 2 for mean in (0, mu, -mu))]

    if rate is None:
        return Smooth(above, symmetric=True, variance=variance)
    return Smooth(_exchanged(rate, beyond), symmetric=True)


def laplace(largest: fmpq, rate: fmpq | None = None) -> Smooth:
    """Return the law of Laplace noise, whose largest loss is the sensitivity divided by the scale.

    rate: as for Gaussian noise.
    """

    def above(loss: arb) -> Tails:
        end = arb(largest)
        inner = 1 - (-(end - loss) / 2).exp() / 2, (-(end + loss) / 2).exp() / 2
        found = [
            tails
            for tails, no in (
                ((arb(0), arb(0)), loss < end),
                (inner, loss >= end or loss < -end),
                ((arb(1), arb(1)), loss >= -end),
            )
            if not no
        ]
        return _either(found)

    if rate is None:
        return Smooth(above, lambda: (-largest, largest), symmetric=True)
    rest, share = 1 - rate, rate

    def ends() -> Ends:
        high = ((rest + share * arb(largest).exp()) / (rest + share * (-arb(largest)).exp())).log()
        return -high, high

    def beyond(loss: arb, bend: arb, power: arb) -> list[tuple[arb, ...]]:
        least, end = (-arb(largest)).exp(), ends()[1]
        found = [(arb(0), arb(0), arb(0))] if not loss < end else []
        if not loss >= end:
            ratio = bend + least * power  # the likelihood ratio of P and R
            middle = (least / ratio).sqrt() / 2
            found.append((middle, 1 - (ratio * least).sqrt() / 2, middle * least))
        return found

    return Smooth(_exchanged(rate, beyond), ends, symmetric=True)


def _exchanged(
    rate: fmpq, beyond: Callable[[arb, arb, arb], list[tuple[arb, ...]]]
) -> Callable[[arb], Tails]:
    """Return the tails of `gaussian` and `laplace` with a rate; the loss grows with the place.

    beyond: how much of R, P and P' has more than a loss that is not negative; one of some is right.
    """

    def half(loss: arb) -> Tails:
        power = loss.exp()
        return _either(
            [
                (middle + (first - middle) * rate, middle + (second - middle) * rate)
                for middle, first, second in beyond(loss, (1 - rate) * (power - 1) / rate, power)
            ]
        )

    def above(loss: arb) -> Tails:
        found: list[Tails] = []
        if not loss < 0:
            found.append(half(loss.max(arb(0))))
        if not loss >= 0:  # the mirror image exchanges both sides
            p, q = half((-loss).max(arb(0)))
            found.append((1 - q, 1 - p))
        return _either(found)

    return above


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
    """Return the law of the other direction."""
    if isinstance(law, AtomsAt):
        return law.through(Atoms.swapped)
    if law.symmetric:
        return law
    inner = law

    def above(loss: arb) -> Tails:
        p, q = inner.above(-loss)
        return 1 - q, 1 - p

    def ends() -> Ends:
        low, high = inner.ends()
        return None if high is None else -high, None if low is None else -low

    return Smooth(above, ends)


def thinned(rate: fmpq, law: Law) -> Law:
    """Return the law where at a rate the law is that, and else something else is seen that tells nothing."""
    assert isinstance(law, AtomsAt)
    return law.through(lambda atoms: atoms.thinned(rate))


def mixed(rate: fmpq, law: Law) -> Law:
    """Return the law of (1 - q) Q + q P against Q: the record is present in one input."""
    if isinstance(law, AtomsAt):
        return law.through(lambda atoms: atoms.mixed(rate))
    inner, rest = law, 1 - rate

    def of(ratio: arb) -> Tails:
        p, q = inner.above(ratio.log())
        return q + (p - q) * rate, q

    def above(loss: arb) -> Tails:
        ratio = (loss.exp() - rest) / rate
        if ratio > 0:
            return of(ratio)
        whole = arb(1), arb(1)
        return whole if ratio <= 0 else _either([whole, of(arb(ratio.upper()))])

    def ends() -> Ends:
        # where there is no least loss, the ratio of P and Q falls to 0
        ratios = [None if end is None else arb(end).exp() for end in inner.ends()]
        low = arb(0) if ratios[0] is None and rest else ratios[0]
        return tuple(None if end is None else (rest + rate * end).log() for end in (low, ratios[1]))  # type: ignore[return-value]

    return Smooth(above, ends)


def replaced(rate: fmpq, law: Law) -> Law:
    """Return a law that dominates sampling without replacement where one record is replaced."""
    if isinstance(law, AtomsAt):
        return law.through(lambda atoms: atoms.replaced(rate))
    more, less = mixed(rate, law), swapped(mixed(rate, swapped(law)))
    assert isinstance(more, Smooth) and isinstance(less, Smooth)
    return Smooth(
        lambda loss: (more if loss >= 0 else less).above(loss), lambda: (less.ends()[0], more.ends()[1])
    )


def _either(found: list[Tails]) -> Tails:
    p, q = found[0]
    for more_p, more_q in found[1:]:
        p, q = p.union(more_p), q.union(more_q)
    return p, q
