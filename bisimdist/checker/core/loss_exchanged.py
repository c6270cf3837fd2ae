"""Poisson subsampling where one record is replaced: (1 - q) R + q P against (1 - q) R + q P'.

R is noise around 0, P and P' are the same around the sensitivity on both sides of it. The loss grows with the
place, and the mirror image exchanges both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from math import isqrt

from bisimdist.checker.core.balls import Enclosure, Fixed
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.loss_atoms import NOTHING, Atoms, Loss, add, enclosed, mixed_loss

Tails = tuple[Enclosure, Enclosure]
Above = Callable[[Enclosure, Fixed], Tails]
Place = tuple[Fraction | None, Fraction | None, Enclosure, Enclosure, Enclosure]
"""The losses against R of P and of P', None where they have no mass; then the masses of P, R and P'."""


def hull(tails: list[Tails]) -> Tails:
    """Enclose what one of some encloses."""
    (p, q), *others = tails
    for x, y in counted(others):
        p, q = (min(p[0], x[0]), max(p[1], x[1])), (min(q[0], y[0]), max(q[1], y[1]))
    return p, q


def exchanged_atoms(places: Iterable[Place], rate: Fraction, lost: int, fixed: Fixed) -> Atoms:
    """Return the law of noise with few places, or where so much mass is in none of them."""
    found = Atoms(lost=(lost, lost))
    for one, other, first, middle, second in counted(places):
        p, q = _mixed(rate, (middle, first, second), fixed)
        if NOTHING in {p, q}:
            found.sure = add(found.sure[0], p), add(found.sure[1], q)
            continue
        loss: Loss = partial(_loss, one, other, rate, fixed)
        if one == other:
            loss = Fraction(0)
        elif rate == 1 and one is not None and other is not None:
            loss = one - other
        found.points.append((loss, p, q))
    return found


def _mixed(rate: Fraction, masses: tuple[Enclosure, Enclosure, Enclosure], fixed: Fixed) -> Tails:
    share, kept = fixed.of(rate), fixed.times(fixed.of(1 - rate), masses[0])
    return add(kept, fixed.times(share, masses[1])), add(kept, fixed.times(share, masses[2]))


def _loss(one: Fraction | None, other: Fraction | None, rate: Fraction, fixed: Fixed) -> Enclosure:
    """Enclose ln(1 - q + q e^one) - ln(1 - q + q e^other), where None is an infinite loss below all."""
    above, (low, high) = (
        fixed.log(fixed.of(1 - rate)) if loss is None else mixed_loss(fixed.of(loss), rate, fixed)
        for loss in counted((one, other))
    )
    return add(above, (-high, -low))


def largest_loss(largest: Fraction, rate: Fraction, fixed: Fixed) -> Loss:
    """Return the largest loss of Laplace noise, by that of the noise alone."""
    return 2 * largest if rate == 1 else _loss(largest, -largest, rate, fixed)


def mirrored(beyond: Above) -> Above:
    """Return how much of P and of Q has a greater loss, by how much if the loss is not negative."""

    def above(loss: Enclosure, fixed: Fixed) -> Tails:
        found: list[Tails] = []
        if loss[1] >= 0:
            found.append(beyond((max(0, loss[0]), loss[1]), fixed))
        if loss[0] < 0:
            p, q = beyond((max(0, -loss[1]), -loss[0]), fixed)
            found.append(((fixed.one - q[1], fixed.one - q[0]), (fixed.one - p[1], fixed.one - p[0])))
        return hull(found)

    return above


def _bend(loss: Enclosure, rate: Fraction, fixed: Fixed) -> tuple[Enclosure, Enclosure]:
    """Enclose (1 - q) (e^loss - 1) / q, and e^loss."""
    power = fixed.exp(loss)
    return fixed.times(fixed.of((1 - rate) / rate), (power[0] - fixed.one, power[1] - fixed.one)), power


def _root(value: Enclosure, fixed: Fixed) -> Enclosure:
    return isqrt(max(0, value[0]) << fixed.bits), isqrt(max(0, value[1]) << fixed.bits) + 1


def _half(value: Enclosure) -> Enclosure:
    return value[0] // 2, -(-value[1] // 2)


def exchanged_gaussian(variance: Fraction, rate: Fraction) -> Above:
    """Return `above` of N(mu, 1) and N(-mu, 1), where the variance is mu squared."""

    def beyond(loss: Enclosure, fixed: Fixed) -> Tails:
        mu = fixed.root(variance)
        if rate == 1 or not loss[1]:
            place = fixed.over(_half(loss), mu)
        else:
            # e^(mu z - mu^2 / 2) is c + (c^2 + e^(loss - mu^2))^(1/2), and z is not negative
            bend, power = _bend(loss, rate, fixed)
            c, last = _half(bend), fixed.times(power, fixed.exp(fixed.of(-variance)))
            ratio = add(c, _root(add(fixed.times(c, c), last), fixed))
            high = fixed.over(add(fixed.log((max(1, ratio[1]),) * 2), fixed.of(variance / 2)), mu)[1]
            low = 0
            if ratio[0] > 0:
                low = fixed.over(add(fixed.log((ratio[0],) * 2), fixed.of(variance / 2)), mu)[0]
            place = (max(0, low), max(0, high))
        first, second = (place[0] - mu[1], place[1] - mu[0]), add(place, mu)
        return _mixed(rate, (fixed.tail(place), fixed.tail(first), fixed.tail(second)), fixed)

    return mirrored(beyond)


def exchanged_laplace(largest: Fraction, rate: Fraction) -> Above:
    """Return `above` of Laplace noise, whose largest loss alone is the sensitivity by the scale."""

    def beyond(loss: Enclosure, fixed: Fixed) -> Tails:
        end = enclosed(largest_loss(largest, rate, fixed), fixed)
        found: list[Tails] = [(NOTHING, NOTHING)] * (loss[1] >= end[0])
        if loss[0] < end[1]:
            bend, power = _bend(loss, rate, fixed)
            least = fixed.exp(fixed.of(-largest))
            ratio = add(bend, fixed.times(least, power))  # that of P and R
            middle = _half(_root(fixed.over(least, ratio), fixed))
            less = _half(_root(fixed.times(ratio, least), fixed))
            first = (fixed.one - less[1], fixed.one - less[0])
            found.append(_mixed(rate, (middle, first, fixed.times(middle, least)), fixed))
        return hull(found)

    return mirrored(beyond)


def exchanged_private(epsilon: Fraction, delta: Fraction, rate: Fraction, fixed: Fixed) -> Atoms:
    """Return the law of anything that is (epsilon, delta)-private where a record is added or removed."""
    power, one, far = fixed.exp(fixed.of(-epsilon)), (fixed.one, fixed.one), fixed.of(delta)
    more = fixed.over(fixed.of(1 - delta), add(one, power))
    end, half = fixed.times(power, more), (fixed.one >> 1, fixed.one >> 1)
    # what a share delta of R becomes where P is likelier by e^epsilon: some of `more`, or more than that
    # where the lower end of the power is 0, a quotient by one unit is more than all there is
    high = (far[0] << fixed.bits) // power[1], -((-far[1] << fixed.bits) // max(1, power[0]))
    # how much of R there is where one loss is epsilon and the other is not, and in the middle
    rise, fall = _beyond(end, far), _beyond(_least(far, _beyond(one, far)), end)
    middle, nowhere = _beyond(half, (max(end[0], far[0]), max(end[1], far[1]))), _beyond(far, half)
    places: list[Place] = [
        (None, None, NOTHING, NOTHING, far),
        (None, epsilon, NOTHING, _least(end, far), _least(more, high)),
        (-epsilon, epsilon, fixed.times(rise, power), rise, _beyond(more, high)),
        (None, -epsilon, NOTHING, fall, fixed.times(fall, power)),
        (-epsilon, -epsilon, fixed.times(middle, power), middle, fixed.times(middle, power)),
        (None, None, NOTHING, nowhere, NOTHING),
    ]
    places += [(other, one, second, some, first) for one, other, first, some, second in counted(places)]
    return exchanged_atoms(places, rate, 0, fixed)


def _least(one: Enclosure, other: Enclosure) -> Enclosure:
    return min(one[0], other[0]), min(one[1], other[1])


def _beyond(one: Enclosure, other: Enclosure) -> Enclosure:
    """Enclose by how much one is more than the other; 0 where it is less."""
    return max(0, one[0] - other[1]), max(0, one[1] - other[0])
