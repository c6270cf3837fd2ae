"""Laws of the privacy loss of mechanisms, by what a certificate of a composition says of them.

A law is smooth, and encloses how much of P and of Q has a greater loss; or it is a list of atoms. All is
worked out anew from the parameters, in enclosures (`bisimdist.checker.core.balls`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from math import isqrt
from typing import Any

from bisimdist.checker.core.balls import Enclosure, Fixed
from bisimdist.checker.core.chain_losses import chain_losses
from bisimdist.checker.core.counting import all_of, counted, kept
from bisimdist.checker.core.loss_atoms import (
    NOTHING,
    Atom,
    Atoms,
    Loss,
    add,
    enclosed,
    mixed_loss,
    opposite,
    rationals,
)
from bisimdist.checker.core.loss_exchanged import (
    Above,
    Tails,
    exchanged_atoms,
    exchanged_gaussian,
    exchanged_laplace,
    exchanged_private,
    hull,
    largest_loss,
)
from bisimdist.checker.core.reading import (
    ENTRY,
    MalformedCertificate,
    RuleViolation,
    integer,
    item,
    items,
    mapping,
    rational,
    record,
    shown,
)


@dataclass(frozen=True)
class Law:
    """A law: `above` of a smooth one, or what makes `atoms`; its largest and its least loss, if there is one.

    `finite` says of atoms that no mass is left out of them.
    """

    above: Above | None = None
    make: Callable[[Fixed], Atoms] | None = None
    cap: Callable[[Fixed], Loss] | None = None
    floor: Callable[[Fixed], Loss] | None = None
    finite: bool = True
    made: dict[int, Atoms] = field(default_factory=dict, compare=False)

    def atoms(self, fixed: Fixed) -> Atoms:
        """Return the atoms, made once for each precision."""
        assert self.make is not None
        if fixed.bits not in self.made:
            self.made[fixed.bits] = self.make(fixed)
        return self.made[fixed.bits]

    def swapped(self) -> Law:
        """Return the law of the other direction."""
        if self.above is None:
            return Law(make=lambda fixed: self.atoms(fixed).swapped(fixed), finite=self.finite)
        smooth = self.above

        def other(loss: Enclosure, fixed: Fixed) -> Tails:
            p, q = smooth((-loss[1], -loss[0]), fixed)
            return (fixed.one - q[1], fixed.one - q[0]), (fixed.one - p[1], fixed.one - p[0])

        cap, floor = self.cap, self.floor
        return Law(
            above=other,
            cap=None if floor is None else lambda fixed: opposite(floor(fixed)),
            floor=None if cap is None else lambda fixed: opposite(cap(fixed)),
        )

    def mixed(self, rate: Fraction) -> Law:
        """Return the law of (1 - q) Q + q P against Q."""
        if self.above is None:
            return Law(make=lambda fixed: self.atoms(fixed).mixed(rate, fixed), finite=self.finite)
        if rate == 1:  # through logarithms a large loss would be known too badly
            return self
        smooth, inner_cap, inner_floor = self.above, self.cap, self.floor
        shares = cache(lambda fixed: (fixed.of(rate), fixed.of(1 - rate)))

        def above(loss: Enclosure, fixed: Fixed) -> Tails:
            share, rest = shares(fixed)
            power = fixed.exp(loss)
            low, high = power[0] - rest[1], power[1] - rest[0]
            whole = (fixed.one, fixed.one)
            if high <= 0:
                return whole, whole
            ratio = fixed.over((max(low, 1), high), share)
            p, q = smooth(fixed.log(ratio), fixed)
            p = add(fixed.times(rest, q), fixed.times(share, p))
            return (p, q) if low > 0 else hull([(whole, whole), (p, q)])

        def end(inner: Callable[[Fixed], Loss] | None) -> Callable[[Fixed], Loss]:
            def found(fixed: Fixed) -> Loss:
                if inner is None:
                    return fixed.log(fixed.of(1 - rate))
                return mixed_loss(enclosed(inner(fixed), fixed), rate, fixed)

            return found

        return Law(above=above, cap=None if inner_cap is None else end(inner_cap), floor=end(inner_floor))

    def thinned(self, rate: Fraction) -> Law:
        """Return the law where with probability 1 - q something else is seen, the same on both sides."""
        return Law(make=lambda fixed: self.atoms(fixed).thinned(rate, fixed), finite=self.finite)

    def replaced(self, rate: Fraction) -> Law:
        """Return a law that dominates sampling without replacement."""
        if self.above is None:
            return Law(make=lambda fixed: self.atoms(fixed).replaced(rate, fixed), finite=self.finite)
        more, less = self.mixed(rate), self.swapped().mixed(rate).swapped()

        def above(loss: Enclosure, fixed: Fixed) -> Tails:
            assert more.above is not None and less.above is not None
            return (more if loss[0] >= 0 else less).above(loss, fixed)  # type: ignore[misc]

        return Law(above=above, cap=more.cap, floor=less.floor)


@dataclass(frozen=True)
class Mechanism:
    """A mechanism: what dominates it, what it dominates, and both in the other direction if that differs."""

    upper: Law
    lower: Law
    back: tuple[Law, Law] | None = None
    variance: Fraction | None = None
    # by a law of the mechanism and the rate of a Poisson sample: the law where one record is replaced
    exchanged: Callable[[Law, Fraction], Law] | None = Law.thinned

    def laws(self, direction: str) -> tuple[Law, Law]:
        if self.back is None or direction in {"remove", "replace"}:
            return self.upper, self.lower
        return self.back


def _each(made: Callable[[Law], Law], laws: tuple[Law, Law]) -> tuple[Law, Law]:
    """Return what becomes of two laws, which stay one where they are one."""
    upper = made(laws[0])
    return upper, upper if laws[1] is laws[0] else made(laws[1])


def _directed(laws: tuple[Law, Law]) -> Mechanism:
    """Return a mechanism of which the other direction differs."""
    return Mechanism(*laws, _each(Law.swapped, laws))


def gaussian(variance: Fraction, rate: Fraction | None = None) -> Law:
    """Return the law of N(mu, 1) against N(0, 1), where the variance is mu squared.

    rate: where it is given, one record is replaced, and each is sampled at this rate.
    """
    if rate is not None:
        return Law(above=exchanged_gaussian(variance, rate))

    root = cache(lambda fixed: fixed.root(variance))

    def above(loss: Enclosure, fixed: Fixed) -> Tails:
        mu = root(fixed)
        at, half = fixed.over(loss, mu), (mu[0] >> 1, (mu[1] >> 1) + 1)
        return fixed.tail((at[0] - half[1], at[1] - half[0])), fixed.tail(add(at, half))

    return Law(above=above)


def laplace(largest: Fraction, rate: Fraction | None = None) -> Law:
    """Return the law of Laplace noise, whose largest loss is the sensitivity by the scale.

    rate: where it is given, one record is replaced, and each is sampled at this rate.
    """
    if rate is not None:
        return Law(
            above=exchanged_laplace(largest, rate), cap=lambda fixed: largest_loss(largest, rate, fixed)
        )

    def above(loss: Enclosure, fixed: Fixed) -> Tails:
        cap, one = fixed.of(largest), fixed.one
        found: list[Tails] = []
        if loss[1] >= cap[0]:
            found.append((NOTHING, NOTHING))
        if loss[0] < -cap[0]:
            found.append(((one, one), (one, one)))
        if loss[0] < cap[1] and loss[1] >= -cap[1]:
            p = fixed.exp(((loss[0] - cap[1]) // 2, min(0, -((cap[0] - loss[1]) // 2))))
            q = fixed.exp((-((loss[1] + cap[1]) // 2 + 1), min(0, -((loss[0] + cap[0]) // 2))))
            found.append(((one - (p[1] + 1) // 2, one - p[0] // 2), (q[0] // 2, (q[1] + 1) // 2)))
        return hull(found)

    return Law(above=above, cap=lambda _: largest, floor=lambda _: -largest)


def _exact(
    points: list[tuple[Fraction, Fraction]], lost: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
) -> Law:
    return Law(make=lambda fixed: rationals(points, lost, fixed))


def _randomised_response(truth: Fraction, options: int) -> Law:
    lie = (1 - truth) / (options - 1)
    same = 1 - truth - lie
    return _exact([(truth, lie), (same, same), (lie, truth)] if same else [(truth, lie), (lie, truth)])


def _approximate(epsilon: Fraction, delta: Fraction) -> Law:
    def atoms(fixed: Fixed) -> Atoms:
        rest, one = fixed.of(1 - delta), fixed.one
        power = fixed.exp(fixed.of(-epsilon))
        more = fixed.over(rest, add((one, one), power))
        less = fixed.times(more, power)
        points: list[Atom] = [(-epsilon, less, more), (epsilon, more, less)] if delta < 1 else []
        return Atoms(points, (fixed.of(delta), fixed.of(delta)))

    return Law(make=atoms)


def _private(epsilon: Fraction, delta: Fraction, rate: Fraction) -> Law:
    return Law(make=lambda fixed: exchanged_private(epsilon, delta, rate, fixed))


def _discrete_laplace(scale: Fraction, sensitivity: int, rate: Fraction | None = None) -> Law:
    def atoms(fixed: Fixed) -> Atoms:
        one = (fixed.one, fixed.one)
        ratio = fixed.exp(fixed.of(-1 / scale))
        end = fixed.over(one, add(one, ratio))
        middle = fixed.times((fixed.one - ratio[1], fixed.one - ratio[0]), end)
        far = sensitivity if rate is None else 2 * sensitivity
        powers = [fixed.exp(fixed.of(-k / scale)) for k in kept(range(far + 1), fixed.room)]

        def mass(place: int, centre: int, ends: tuple[int, int]) -> Enclosure:
            # an end stands for all that is beyond it
            return fixed.times(end if place in ends else middle, powers[abs(place - centre)])

        if rate is None:
            ends = 0, sensitivity
            return Atoms(
                [
                    ((2 * k - sensitivity) / scale, mass(k, sensitivity, ends), mass(k, 0, ends))
                    for k in kept(range(sensitivity + 1), 3 * fixed.room)
                ]
            )
        ends = -sensitivity, sensitivity
        places = [
            (
                (abs(k) - abs(k - sensitivity)) / scale,
                (abs(k) - abs(k + sensitivity)) / scale,
                mass(k, sensitivity, ends),
                mass(k, 0, ends),
                mass(k, -sensitivity, ends),
            )
            for k in kept(range(-sensitivity, sensitivity + 1), 5 * fixed.room)
        ]
        return exchanged_atoms(places, rate, 0, fixed)

    return Law(make=atoms)


def _discrete_gaussian(variance: Fraction, sensitivity: int, rate: Fraction | None = None) -> Law:
    def atoms(fixed: Fixed) -> Atoms:
        far = sensitivity if rate is None else 2 * sensitivity  # how far apart two centres are
        # e^-(k^2 / 2 variance) is less than a unit beyond the reach
        reach = far + 2 + isqrt(int(2 * variance * fixed.bits * Fraction(70, 100)) + 1)
        weights = [fixed.exp(fixed.of(-k * k / (2 * variance))) for k in kept(range(reach + 1), fixed.room)]
        ratio = fixed.exp(fixed.of(Fraction(-(2 * reach + 1)) / (2 * variance)))
        beyond = fixed.over(fixed.times((0, weights[reach][1]), ratio), (fixed.one - ratio[1], fixed.one))[1]
        whole = tuple(weights[0][k] + 2 * sum(all_of([w[k] for w in counted(weights[1:])])) for k in range(2))
        total = (whole[0], whole[1] + 2 * beyond)
        masses = [fixed.over(weight, total) for weight in kept(weights, fixed.room)]
        ends = sum(all_of([mass[1] for mass in counted(masses[reach + 1 - far :])]))
        outside = 2 * fixed.over((0, beyond), total)[1] + ends
        part = sensitivity / (2 * variance)
        if rate is None:
            points: list[Atom] = [
                (part * (2 * k - sensitivity), masses[abs(k - sensitivity)], masses[abs(k)])
                for k in kept(range(sensitivity - reach, reach + 1), 2 * ENTRY)
            ]
            return Atoms(points, lost=(outside, outside))
        places = [
            (
                part * (2 * k - sensitivity),
                -part * (2 * k + sensitivity),
                masses[abs(k - sensitivity)],
                masses[abs(k)],
                masses[abs(k + sensitivity)],
            )
            for k in kept(range(sensitivity - reach, reach - sensitivity + 1), 3 * ENTRY)
        ]
        return exchanged_atoms(places, rate, outside, fixed)

    return Law(make=atoms, finite=False)


def _binomial(trials: int, chance: Fraction, fixed: Fixed) -> dict[int, Enclosure]:
    """Return the masses of a binomial law, but for tails that are negligible."""
    if not trials or chance == 1:
        return {trials: (fixed.one, fixed.one)}
    middle = trials * chance.numerator // chance.denominator
    reach = 2 + isqrt(trials * fixed.bits * 35 // 100 + 1)
    # weights against that in the middle; by Hoeffding less than 4 units of mass are out of reach
    odds = chance.numerator, chance.denominator - chance.numerator
    weights = {middle: (fixed.one, fixed.one)}
    low = high = fixed.one
    for k in kept(range(middle, min(trials, middle + reach)), ENTRY + fixed.room):
        up, down = (trials - k) * odds[0], (k + 1) * odds[1]
        low, high = low * up // down, -(-high * up // down)
        weights[k + 1] = low, high
    low = high = fixed.one
    for k in kept(range(middle, max(0, middle - reach), -1), ENTRY + fixed.room):
        up, down = k * odds[1], (trials - k + 1) * odds[0]
        low, high = low * up // down, -(-high * up // down)
        weights[k - 1] = low, high
    least = sum(all_of([weight[0] for weight in counted(weights.values())]))
    most = sum(all_of([weight[1] for weight in counted(weights.values())]))
    return {
        k: (weight[0] * (fixed.one - 4) // most, weight[1] * fixed.one // least + 1)
        for k, weight in kept(weights.items(), ENTRY + fixed.room)
    }


def _answers(trials: int, chance: Fraction, truth: Fraction, weight: Enclosure, fixed: Fixed) -> list[Atom]:
    """Return atoms of a binomial number of ones, to which a user adds one answer."""
    masses = _binomial(trials, chance, fixed)
    found: list[Atom] = []
    say, lie = fixed.of(truth), fixed.of(1 - truth)
    # as integers: the ratio of neighbouring masses, and that of the two answers
    odds = chance.denominator - chance.numerator, chance.numerator
    yes, no = truth.numerator, truth.denominator - truth.numerator
    for ones in kept(range(min(all_of(masses)), max(all_of(masses)) + 2), 3 * fixed.room):
        one, none = masses.get(ones - 1, NOTHING), masses.get(ones, NOTHING)
        p = add(fixed.times(one, say), fixed.times(none, lie))
        q = add(fixed.times(one, lie), fixed.times(none, say))
        shares = ones * odds[0], (trials - ones + 1) * odds[1]
        above, below = shares[0] * yes + shares[1] * no, shares[0] * no + shares[1] * yes
        loss: Loss = Fraction(0) if above == below else partial(_log, above, below, fixed)
        found.append((loss, fixed.times(weight, p), fixed.times(weight, q)))
    return found


def _log(above: int, below: int, fixed: Fixed) -> Enclosure:
    low = (above << fixed.bits) // below
    return fixed.log((low, low + 1))


def _complete(points: list[Atom], fixed: Fixed) -> Atoms:
    first = sum(all_of([p[0] for _, p, _ in counted(points)]))
    second = sum(all_of([q[0] for _, _, q in counted(points)]))
    return Atoms(points, lost=(max(0, fixed.one - first), max(0, fixed.one - second)))


def _shuffled(users: int, truth: Fraction) -> tuple[Law, Law]:
    def above(fixed: Fixed) -> Atoms:
        size = max(1, isqrt(users) // 2)
        weights: dict[int, Enclosure] = {}
        for clones, mass in kept(_binomial(users - 1, 2 * (1 - truth), fixed).items(), fixed.room):
            least = clones - clones % size
            weights[least] = add(weights.get(least, NOTHING), mass)
        points: list[Atom] = []
        for least, weight in counted(weights.items()):
            points += _answers(least, Fraction(1, 2), truth, weight, fixed)
        return _complete(points, fixed)

    def below(fixed: Fixed) -> Atoms:
        return _complete(_answers(users - 1, 1 - truth, truth, (fixed.one, fixed.one), fixed), fixed)

    return Law(make=above, finite=False), Law(make=below, finite=False)


def _noise(law: Law, exchanged: Callable[[Fraction], Law], variance: Fraction | None = None) -> Mechanism:
    return Mechanism(law, law, variance=variance, exchanged=lambda _, rate: exchanged(rate))


def _positive(value: Any, where: str) -> Fraction:
    found = rational(value, where)
    if found <= 0:
        raise RuleViolation(f"O1: {where} is not above 0")
    return found


def _chance(value: Any, where: str, least: Fraction = Fraction(0)) -> Fraction:
    found = rational(value, where)
    if not least <= found <= 1:
        raise RuleViolation(f"O1: {where} is no probability from {least} to 1")
    return found


def _whole(value: Any, where: str, most: int, least: int = 1) -> int:
    found = integer(value, where)
    if not least <= found <= most:
        raise RuleViolation(f"O1: {where} is not from {least} to {most}")
    return found


def read_mechanism(  # noqa: PLR0911
    entry: object, where: str, relation: str, depth: int = 0
) -> Mechanism:
    """Return the mechanism that an entry of a list names (rule O1)."""
    found = mapping(entry, where)
    if len(found) != 1 or depth > 8:
        raise MalformedCertificate(f"{where} names no one mechanism")
    ((kind, given),) = found.items()
    at = f"{kind} of {where}"

    def fields(*names: str) -> list[Any]:
        data = record(given, at, names)
        return [data[name] for name in counted(names)]

    if kind in {"gaussian", "laplace"}:
        name, say = fields("sigma" if kind == "gaussian" else "scale", "sensitivity")
        width, sensitivity = _positive(name, at), _positive(say, at)
        if kind == "laplace":
            return _noise(laplace(sensitivity / width), partial(laplace, sensitivity / width))
        variance = (sensitivity / width) ** 2
        return _noise(gaussian(variance), partial(gaussian, variance), variance)
    if kind in {"discrete-gaussian", "discrete-laplace"}:
        name, say = fields("sigma" if kind == "discrete-gaussian" else "scale", "sensitivity")
        width, steps = _positive(name, at), _whole(say, at, 10**5)
        made = (
            partial(_discrete_gaussian, width**2, steps)
            if kind == "discrete-gaussian"
            else partial(_discrete_laplace, width, steps)
        )
        return _noise(made(), made)
    if kind == "randomised-response":
        say, count = fields("truth", "options")
        options = _whole(count, at, 10**6, 2)
        law = _randomised_response(_chance(say, at, Fraction(1, options)), options)
        return Mechanism(law, law)
    if kind in {"pure", "approximate"}:
        epsilon = rational(fields("epsilon")[0] if kind == "pure" else fields("epsilon", "delta")[0], at)
        if epsilon < 0:
            raise RuleViolation(f"O1: {at} has a negative epsilon")
        delta = Fraction(0) if kind == "pure" else _chance(given["delta"], at)
        return _noise(_approximate(epsilon, delta), partial(_private, epsilon, delta))
    if kind == "subsampled":
        return _subsampled(fields("q", "sampling", "of"), at, relation, depth)
    if kind == "shuffled":
        users, inner = fields("n", "of")
        answer = record(record(inner, at, ("randomised-response",))["randomised-response"], at, ("truth",))
        truth = _chance(answer["truth"], at, Fraction(1, 2))
        if truth == 1:
            raise RuleViolation(f"O1: {at} is not random")
        return Mechanism(*_shuffled(_whole(users, at, 10**7), truth))
    if kind in {"model", "program"}:
        data = record(given, at, ("chain", "pair"), ("cut",))
        cut = [rational(mass, at) for mass in counted(items(data.get("cut", ["0", "0"]), at))]
        pair = [item(name, at) for name in counted(items(data["pair"], at))]
        if len(pair) != 2 or len(cut) != 2 or cut[0] < 0 or cut[1] < 0:
            raise MalformedCertificate(f"{at} has no pair of states, or no masses that are cut off")
        law = _exact(chain_losses(data["chain"], (pair[0], pair[1]), at), (cut[0], cut[1]))
        return _directed((law, law))
    raise MalformedCertificate(f"{where} is {shown(kind)}, which is no mechanism")


def _subsampled(given: list[Any], at: str, relation: str, depth: int) -> Mechanism:
    rate, sampling = _chance(given[0], at), item(given[1], at)
    if not rate:
        raise RuleViolation(f"O1: {at} samples nothing")
    if sampling not in {"poisson", "without-replacement"}:
        raise MalformedCertificate(f"{at} has another sampling than poisson or without-replacement")
    # in a sample of a fixed size a record takes the place of another one
    within = relation if sampling == "poisson" else "replace"
    inner = read_mechanism(given[2], f"'of' of {at}", within, depth + 1)
    if relation != "replace":
        return _directed(_each(lambda law: law.mixed(rate), (inner.upper, inner.lower)))
    again = inner.exchanged
    if sampling == "poisson" and again is None:
        raise RuleViolation(f"O1: {at} is of what nothing is known without a record")

    def made(laws: tuple[Law, Law]) -> tuple[Law, Law]:
        if again is None or sampling != "poisson":
            return laws[0].replaced(rate), laws[1].mixed(rate)
        return _each(lambda law: again(law, rate), laws)

    back = None if inner.back is None else made(inner.back)
    # a sample of a sample: what is thinned is thinned again
    twice = again if again in {None, Law.thinned} else lambda law, share: again(law, share * rate)
    return Mechanism(
        *made((inner.upper, inner.lower)), back, exchanged=twice if sampling == "poisson" else None
    )
