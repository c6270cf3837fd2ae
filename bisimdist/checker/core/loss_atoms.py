"""Atoms of the privacy loss, with their masses in enclosures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from bisimdist.checker.core.balls import Enclosure, Fixed
from bisimdist.checker.core.counting import all_of, counted, kept

Loss = Fraction | Enclosure | Callable[[], Enclosure]
"""Exact, enclosed, or yet to be worked out where somebody needs it."""

Atom = tuple[Loss, Enclosure, Enclosure]
NOTHING = (0, 0)


@dataclass
class Atoms:
    """Atoms (loss, mass of P, mass of Q); what one side alone has; what may lie anywhere, at most."""

    points: list[Atom] = field(default_factory=list)
    sure: tuple[Enclosure, Enclosure] = (NOTHING, NOTHING)
    lost: tuple[int, int] = (0, 0)

    def swapped(self, fixed: Fixed) -> Atoms:
        """Return the law of the other direction."""
        points = [(opposite(loss), q, p) for loss, p, q in kept(self.points, 2 * fixed.room)]
        return Atoms(points, self.sure[::-1], self.lost[::-1])

    def mixed(self, rate: Fraction, fixed: Fixed) -> Atoms:
        """Return the law of (1 - q) Q + q P against Q."""
        if rate == 1:  # what Q alone has stays its own
            return self
        share, rest = fixed.of(rate), fixed.of(1 - rate)
        points: list[Atom] = []
        if self.sure[1] != NOTHING:
            points.append((fixed.log(rest), fixed.times(rest, self.sure[1]), self.sure[1]))
        for loss, p, q in kept(self.points, 2 * fixed.room):
            mass = add(fixed.times(rest, q), fixed.times(share, p))
            if loss == Fraction(0):
                points.append((Fraction(0), mass, q))
                continue
            points.append((mixed_loss(enclosed(loss, fixed), rate, fixed), mass, q))
        return Atoms(
            points,
            (fixed.times(share, self.sure[0]), NOTHING),
            (max(self.lost[0], self.lost[1]), self.lost[1]),
        )

    def thinned(self, rate: Fraction, fixed: Fixed) -> Atoms:
        """Return the law where with probability 1 - q something else is seen, the same on both sides."""
        share, rest = fixed.of(rate), fixed.of(1 - rate)
        points: list[Atom] = [(Fraction(0), rest, rest)] if rate < 1 else []
        for loss, p, q in kept(self.points, 2 * fixed.room):
            points.append((loss, fixed.times(share, p), fixed.times(share, q)))
        sure = fixed.times(share, self.sure[0]), fixed.times(share, self.sure[1])
        lost = fixed.times(share, (0, self.lost[0]))[1], fixed.times(share, (0, self.lost[1]))[1]
        return Atoms(points, sure, lost)

    def replaced(self, rate: Fraction, fixed: Fixed) -> Atoms:
        """Return a law that dominates sampling without replacement."""
        more, less = self.mixed(rate, fixed), self.swapped(fixed).mixed(rate, fixed).swapped(fixed)
        zero = Fraction(0)
        points = [atom for atom in counted(less.points) if enclosed(atom[0], fixed)[1] < 0]
        points += [
            atom for atom in counted(more.points) if atom[0] != zero and enclosed(atom[0], fixed)[1] >= 0
        ]
        found = sum(all_of([p[0] for _, p, _ in counted(points)]), more.sure[0][0])
        rest = (0, max(0, fixed.one - found))
        lost = more.lost[0] + less.lost[0], more.lost[1] + less.lost[1]
        return Atoms([*points, (zero, rest, rest)], (more.sure[0], less.sure[1]), lost)


def enclosed(loss: Loss, fixed: Fixed) -> Enclosure:
    """Enclose a loss."""
    if isinstance(loss, Fraction):
        return fixed.of(loss)
    return loss() if callable(loss) else loss


def mixed_loss(loss: Enclosure, rate: Fraction, fixed: Fixed) -> Enclosure:
    """Enclose ln(1 - q + q e^loss); a large loss is taken out, since its exponential has no room."""
    share, rest = fixed.of(rate), fixed.of(1 - rate)
    if loss[0] <= fixed.one:
        return fixed.log(add(rest, fixed.times(share, fixed.exp(loss))))
    return add(loss, fixed.log(add(share, fixed.times(rest, fixed.exp((-loss[1], -loss[0]))))))


def opposite(loss: Loss) -> Loss:
    """Return a loss with the other sign."""
    if callable(loss):
        later = loss
        return lambda: (-later()[1], -later()[0])
    return -loss if isinstance(loss, Fraction) else (-loss[1], -loss[0])


def add(one: Enclosure, other: Enclosure) -> Enclosure:
    """Enclose a sum."""
    return one[0] + other[0], one[1] + other[1]
