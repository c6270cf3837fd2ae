"""What the check says of a loss that it knows roughly holds for every loss that it may be."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import comb

import pytest
from flint import arb, ctx, fmpq, fmpz

from bisimdist.checker.core import loss_atoms, loss_exchanged, loss_laws
from bisimdist.checker.core.balls import DOUBT, Enclosure, Fixed
from bisimdist.checker.core.loss_laws import Law, gaussian, laplace

FIXED = Fixed(128)
APART = Fraction(1, 1 << 20)
CLOSE = arb(2) ** -9

Tails = Callable[[arb], tuple[arb, arb]]
"""How much of P and of Q has a greater loss."""


@pytest.fixture(autouse=True)
def _precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctx, "prec", 300)


def real(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def ends(enclosure: Enclosure) -> tuple[arb, arb]:
    low, high = (arb(fmpz(end)) / arb(fmpz(FIXED.one)) for end in enclosure)
    return low, high


def around(value: Fraction, apart: Fraction = APART) -> Enclosure:
    return FIXED.of(value - apart)[0], FIXED.of(value + apart)[1]


def normal(place: arb) -> arb:
    return (place / arb(2).sqrt()).erfc() / 2


def exponential(place: arb) -> arb:
    """Return the mass of Laplace noise above a place."""
    return (-place).exp() / 2 if place >= 0 else 1 - place.exp() / 2


def found_place(loss: Callable[[arb], arb], value: arb, far: int) -> arb:
    """Return the last place at which an increasing loss is at most a value."""
    low, high = arb(-far), arb(far)
    for _ in range(200):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if loss(middle) > value else (middle, high)
    return high


def gaussian_tails(mu: Fraction) -> Tails:
    mean = real(mu)
    return lambda loss: (normal(loss / mean - mean / 2), normal(loss / mean + mean / 2))


def laplace_tails(largest: Fraction) -> Tails:
    def tails(loss: arb) -> tuple[arb, arb]:
        end = real(largest)
        if loss >= end:
            return arb(0), arb(0)
        if loss < -end:
            return arb(1), arb(1)
        place = (loss + end) / 2
        return exponential(place - end), exponential(place)

    return tails


def mixed_tails(inner: Tails, rate: Fraction) -> Tails:
    share, rest = real(rate), real(1 - rate)

    def tails(loss: arb) -> tuple[arb, arb]:
        ratio = (loss.exp() - rest) / share
        p, q = inner(ratio.log()) if ratio > 0 else (arb(1), arb(1))
        return rest * q + share * p, q

    return tails


def swapped_tails(inner: Tails) -> Tails:
    def tails(loss: arb) -> tuple[arb, arb]:
        p, q = inner(-loss)
        return 1 - q, 1 - p

    return tails


def replaced_tails(inner: Tails, rate: Fraction) -> Tails:
    more, less = mixed_tails(inner, rate), swapped_tails(mixed_tails(swapped_tails(inner), rate))
    return lambda loss: (more if loss >= 0 else less)(loss)


def exchanged_tails(
    centre: Fraction, rate: Fraction, above: Callable[[arb], arb], against: Callable[[arb, arb], arb]
) -> Tails:
    share, rest, mean = real(rate), real(1 - rate), real(centre)

    def loss(place: arb) -> arb:
        one, other = (
            rest + share * (against(place, arb(0)) - against(place, side * mean)).exp() for side in (1, -1)
        )
        return one.log() - other.log()

    def tails(value: arb) -> tuple[arb, arb]:
        place = found_place(loss, value, 60)
        p, r, q = (above(place - side * mean) for side in (1, 0, -1))
        return rest * r + share * p, rest * r + share * q

    return tails


def laplace_exchanged(largest: Fraction, rate: Fraction) -> Tails:
    inner = exchanged_tails(largest, rate, exponential, lambda place, centre: abs(place - centre))
    end = real(largest)
    share, rest = real(rate), real(1 - rate)
    cap = 2 * end if rate == 1 else (rest + share * end.exp()).log() - (rest + share * (-end).exp()).log()

    def tails(loss: arb) -> tuple[arb, arb]:
        if loss >= cap:
            return arb(0), arb(0)
        return inner(loss) if loss >= -cap else (arb(1), arb(1))

    return tails


def gaussian_exchanged(mu: Fraction, rate: Fraction) -> Tails:
    return exchanged_tails(mu, rate, normal, lambda place, centre: (place - centre) ** 2 / 2)


HALF, THIRD, ONE = Fraction(1, 2), Fraction(1, 3), Fraction(1)


def laws() -> dict[str, tuple[Law, Tails]]:
    """Return laws of the check, with the tails that they have."""
    found = {
        "gaussian": (gaussian(HALF**2), gaussian_tails(HALF)),
        "laplace": (laplace(THIRD), laplace_tails(THIRD)),
    }
    for name, (law, tails) in list(found.items()):
        found[f"{name}-swapped"] = law.swapped(), swapped_tails(tails)
        found[f"{name}-mixed"] = law.mixed(THIRD), mixed_tails(tails, THIRD)
        found[f"{name}-replaced"] = law.replaced(THIRD), replaced_tails(tails, THIRD)
    # a place that is found by a logarithm of a large number is doubtful
    found["gaussian-exchanged-half"] = gaussian(Fraction(16), HALF), gaussian_exchanged(Fraction(4), HALF)
    for rate in (THIRD, ONE):
        found[f"gaussian-exchanged-{rate}"] = gaussian(ONE, rate), gaussian_exchanged(ONE, rate)
        found[f"laplace-exchanged-{rate}"] = laplace(ONE, rate), laplace_exchanged(ONE, rate)
    return found


LOSSES = (
    [Fraction(k, 16) for k in range(-40, 41, 3)]
    + [Fraction(20), Fraction(-20)]
    + [Fraction(k) for k in (-1, 0, 1, 2)]
)


def jump(tails: Tails, low: int, high: int) -> int:
    """Return the first unit from which on tails are those of the greater loss."""
    first, last = (tails(ends((end, end))[0])[0] for end in (low, high))
    while high - low > 1:
        middle = (low + high) // 2
        tail = tails(ends((middle, middle))[0])[0]
        low, high = (middle, high) if first - tail < tail - last else (low, middle)
    return high


@pytest.mark.parametrize("name", laws())
def test_tails_enclose_those_of_all_losses_that_are_meant(name: str) -> None:
    law, tails = laws()[name]
    assert law.above is not None
    losses = [around(loss, apart) for loss in LOSSES for apart in (Fraction(0), APART, 2 * APART)]
    for end in (law.cap, law.floor):
        if end and "gaussian" not in name:
            for low, high in ((known := loss_atoms.enclosed(end(FIXED), FIXED)), (-known[1], -known[0])):
                losses += [(low - (1 << 110), high + (1 << 110))]
                first, last = (tails(side)[0] for side in ends(losses[-1]))
                # of mass at a loss that is a number of units it may be said that it is greater, too
                if first - last > CLOSE and not name.endswith("-1"):
                    at = jump(tails, low - DOUBT, high + DOUBT)
                    losses += [(at - 1, at - 1), (at, at), (at - 1, at)]
    for known in losses:
        if "replaced" in name and known[0] <= 0 <= known[1]:
            continue  # of mass at a loss of 0 it may be said that it is greater, or that it is not
        first, last = (tails(end) for end in ends(known))  # tails fall
        for enclosure, high_tail, low_tail in zip(law.above(known, FIXED), first, last, strict=True):
            shown = ends(enclosure)
            assert not shown[0] > low_tail
            assert not shown[1] < high_tail
            assert known[1] - known[0] < 1 << 100 or shown[0] > low_tail - CLOSE
            assert known[1] - known[0] < 1 << 100 or shown[1] < high_tail + CLOSE


@pytest.mark.parametrize(
    "inner", [(laplace(ONE), ONE, laplace_tails), (gaussian(64 * ONE), 8 * ONE, gaussian_tails)]
)
def test_mass_of_a_record_that_is_seldom_sampled_lies_close_to_the_least_loss(
    inner: tuple[Law, Fraction, Callable[[Fraction], Tails]],
) -> None:
    rate = Fraction(1, 1 << 60)
    law, tails = inner[0].mixed(rate), mixed_tails(inner[2](inner[1]), rate)
    assert law.above is not None
    least = -rate
    for loss in (least - rate / 1000, least, least + rate / 1000, least + rate):
        known = around(loss, rate / 500)
        first, last = (tails(end) for end in ends(known))
        for enclosure, high, low in zip(law.above(known, FIXED), first, last, strict=True):
            shown = ends(enclosure)
            assert not shown[0] > low
            assert not shown[1] < high


@pytest.mark.parametrize("loss", [Fraction(-3), Fraction(0), Fraction(1), Fraction(3)])
def test_a_loss_that_is_mixed_is_enclosed(loss: Fraction) -> None:
    for apart in (APART, HALF):
        known = around(loss, apart)
        low, high = ends(loss_atoms.mixed_loss(known, THIRD, FIXED))
        first, last = ((real(1 - THIRD) + real(THIRD) * end.exp()).log() for end in ends(known))
        assert low <= first
        assert last <= high
        assert apart == HALF or high - low < CLOSE


def test_what_is_done_with_enclosures_encloses() -> None:
    assert loss_atoms.add((1, 2), (10, 30)) == (11, 32)
    assert loss_atoms.opposite((1, 3)) == (-3, -1)
    assert partial(loss_atoms.opposite, lambda: (1, 3))()() == (-3, -1)  # type: ignore[operator]
    assert loss_exchanged.hull([((2, 3), (6, 7)), ((1, 4), (5, 8)), ((2, 3), (6, 7))]) == ((1, 4), (5, 8))
    assert loss_exchanged.hull([((1, 4), (5, 8)), ((2, 3), (6, 7))]) == ((1, 4), (5, 8))
    assert loss_exchanged._least((1, 5), (2, 3)) == loss_exchanged._least((2, 3), (1, 5)) == (1, 3)
    assert loss_exchanged._beyond((5, 9), (2, 3)) == (2, 7)
    assert loss_exchanged._beyond((0, 5), (2, 3)) == (0, 3)
    assert loss_exchanged._beyond((0, 1), (2, 3)) == (0, 0)
    low, high = loss_exchanged._root((3 << FIXED.bits, 5 << FIXED.bits), FIXED)
    assert low**2 <= 3 << 2 * FIXED.bits < (low + 1) ** 2
    assert (high - 1) ** 2 <= 5 << 2 * FIXED.bits < high**2


def held(enclosure: Enclosure, truth: arb) -> None:
    low, high = ends(enclosure)
    assert not low > truth
    assert not high < truth
    assert high - low < CLOSE


def test_where_sampling_is_rare_the_place_of_a_loss_is_as_doubtful_as_a_logarithm() -> None:
    rate = Fraction(1, 1 << 10)
    law, tails = gaussian(Fraction(36), rate), gaussian_exchanged(Fraction(6), rate)
    assert law.above is not None
    known = FIXED.of(Fraction(20))
    for enclosure, truth in zip(law.above(known, FIXED), tails(ends(known)[0]), strict=True):
        held(enclosure, truth)


def weight(place: int, variance: Fraction) -> arb:
    return (real(-place * place / (2 * variance))).exp()


def two_sided(place: int, scale: Fraction, far: int) -> arb:
    """Return the mass of discrete Laplace noise at a place; an end stands for all that is beyond it."""
    ratio = real(-1 / scale).exp()
    return ratio ** abs(place) / (1 + ratio) * (1 if far else 1 - ratio)


@pytest.mark.parametrize("rate", [None, THIRD, ONE])
@pytest.mark.parametrize("size", [1, 3])
def test_masses_and_losses_of_noise_on_integers_are_enclosed(rate: Fraction | None, size: int) -> None:
    for scale in (Fraction(2, 3), Fraction(3)):
        variance = scale**2
        lists = {
            "laplace": loss_laws._discrete_laplace(scale, size, rate).atoms(FIXED),
            "gaussian": loss_laws._discrete_gaussian(variance, size, rate).atoms(FIXED),
        }
        total = 1 + 2 * sum((weight(k, variance) for k in range(1, 200)), arb(0))
        for name, atoms in lists.items():
            count = len(atoms.points)
            if name == "gaussian":
                first = (size + 1 - count) // 2 if rate is None else (1 - count) // 2
            else:
                first = 0 if rate is None else -size
            places = range(first, first + count)

            def mass(k: int, centre: int, name: str = name, places: range = places) -> arb:
                if name == "laplace":
                    return two_sided(k - centre, scale, k in {places[0], places[-1]})  # noqa: B023
                return weight(k - centre, variance) / total  # noqa: B023

            for k, (loss, p, q) in zip(places, atoms.points, strict=True):
                one, none, other = mass(k, size), mass(k, 0), mass(k, -size)
                if rate is not None:
                    one, none = (real(rate) * side + real(1 - rate) * none for side in (one, other))
                held(p, one)
                held(q, none)
                held(loss_atoms.enclosed(loss, FIXED), (one / none).log())
            assert atoms.sure == (loss_atoms.NOTHING, loss_atoms.NOTHING)
            assert atoms.lost == (0, 0) or (name == "gaussian" and min(atoms.lost) > DOUBT >> 4)
            for side in range(2):  # and nothing is left out
                most = sum((p, q)[side][1] for _, p, q in atoms.points)
                assert most + atoms.lost[side] >= FIXED.one


@pytest.mark.parametrize("bits", [12, 96])
@pytest.mark.parametrize("chance", [Fraction(1, 10), HALF, Fraction(9, 10), ONE])
def test_binomial_masses_are_enclosed(chance: Fraction, bits: int) -> None:
    fixed = Fixed(bits)
    for trials in (0, 1, 2, 3, 40, 200):
        masses = loss_laws._binomial(trials, chance, fixed)
        for k, (low, high) in masses.items():
            truth = comb(trials, k) * chance**k * (1 - chance) ** (trials - k) * fixed.one
            assert low <= truth <= high
            assert high - low < 2 * truth / bits + 2 * trials + 10
        left = [k for k in range(trials + 1) if k not in masses and chance < 1]
        assert all(abs(k - trials * chance) ** 2 * 2 > trials * bits * Fraction(2, 3) for k in left)


def test_answers_of_users_are_enclosed_with_their_losses() -> None:
    truth, trials, chance = Fraction(3, 5), 3, Fraction(2, 5)
    ones = [comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]
    found = loss_laws._answers(trials, chance, truth, FIXED.of(HALF), FIXED)
    assert len(found) == trials + 2
    for k, (loss, p, q) in enumerate(found):
        one, none = (ones[j] if 0 <= j <= trials else Fraction(0) for j in (k - 1, k))
        first, second = one * truth + none * (1 - truth), one * (1 - truth) + none * truth
        held(p, real(first / 2))
        held(q, real(second / 2))
        held(loss_atoms.enclosed(loss, FIXED), real(first / second).log())
    whole = loss_laws._complete(found, FIXED)
    for side in range(2):
        low = sum((p, q)[side][0] for _, p, q in found)
        assert low + whole.lost[side] == FIXED.one
    assert whole.points == found


def test_masses_that_are_exact_are_enclosed() -> None:
    atoms = loss_atoms.rationals(
        [(THIRD, THIRD / 2), (THIRD, THIRD), (THIRD, Fraction(0))], (THIRD / 5, THIRD / 7), FIXED
    )
    assert [atom[1] for atom in atoms.points] == [FIXED.of(THIRD)] * 2
    assert [atom[0] for atom in atoms.points][1] == 0
    assert atoms.sure == (FIXED.of(THIRD), (0, 0))
    assert atoms.lost == (FIXED.of(THIRD / 5)[1], FIXED.of(THIRD / 7)[1])
    low, high = loss_laws._log(1, 3, FIXED)
    assert arb(fmpz(low)) / arb(fmpz(FIXED.one)) < -arb(3).log() < arb(fmpz(high)) / arb(fmpz(FIXED.one))


def atoms_of_thirds() -> loss_atoms.Atoms:
    return loss_atoms.Atoms(
        [(Fraction(0), around(THIRD), around(THIRD)), (around(HALF), around(THIRD), around(THIRD / 2))],
        (around(THIRD / 4), around(THIRD / 5)),
        (around(THIRD / 6)[1], around(THIRD / 7)[1]),
    )


def test_atoms_that_are_sampled_keep_their_doubt() -> None:
    atoms, share, rest = atoms_of_thirds(), FIXED.of(THIRD), FIXED.of(1 - THIRD)
    thin = atoms.thinned(THIRD, FIXED)
    (zero, *masses), (loss, p, q), (other, r, s) = thin.points
    assert (zero, masses, loss, other) == (0, [rest, rest], *(atom[0] for atom in atoms.points))
    exact = [THIRD, THIRD, THIRD, THIRD / 2, THIRD / 4, THIRD / 5]
    for found, mass in zip((p, q, r, s, *thin.sure), exact, strict=True):
        low, high = ends(found)
        assert abs(low - real(mass - APART) / 3) < CLOSE**3
        assert abs(high - real(mass + APART) / 3) < CLOSE**3
        assert not low > real(mass - APART) / 3
        assert not high < real(mass + APART) / 3
    for lost, mass in zip(thin.lost, (THIRD / 6, THIRD / 7), strict=True):
        assert FIXED.times(share, around(mass))[1] == lost
    mixed = atoms.mixed(THIRD, FIXED)
    for (_, p, q), (one, other) in zip(
        mixed.points, ((Fraction(0), THIRD / 5), (THIRD, THIRD), (THIRD, THIRD / 2)), strict=True
    ):
        low, high = ends(p)
        truth = real((other + APART) * (1 - THIRD) + (one + APART * bool(one)) * THIRD)
        assert truth <= high < truth + CLOSE**3
        truth = real((other - APART) * (1 - THIRD) + (one - APART * bool(one)) * THIRD)
        assert truth >= low > truth - CLOSE**3
        held(q, real(other))
    assert mixed.sure == (FIXED.times(share, atoms.sure[0]), loss_atoms.NOTHING)
    assert mixed.lost == (max(atoms.lost), atoms.lost[1])
    replaced = atoms.replaced(THIRD, FIXED)
    *others, (zero, left, _) = replaced.points
    assert zero == 0
    assert sum(p[0] for _, p, _ in others) + replaced.sure[0][0] + left[1] == FIXED.one
    back = replaced.swapped(FIXED)
    assert (back.sure, back.lost) == (replaced.sure[::-1], replaced.lost[::-1])


def test_what_is_out_of_reach_of_a_binomial_law_is_less_than_a_unit_by_the_inequality_of_hoeffding() -> None:
    bits, trials = 2880, 20_000
    masses = loss_laws._binomial(trials, HALF, Fixed(bits))
    far = trials // 2 - min(masses) + 1
    assert 2 * far**2 / arb(trials) > bits * arb(2).log()


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10), THIRD, Fraction(3, 5), Fraction(9, 10)])
@pytest.mark.parametrize("epsilon", [HALF, Fraction(3)])
def test_a_private_mechanism_where_a_record_is_replaced_is_enclosed(
    epsilon: Fraction, delta: Fraction
) -> None:
    rate, far, power = THIRD, real(delta), real(-epsilon).exp()
    more, end = (1 - far) / (1 + power), power * (1 - far) / (1 + power)

    def least(one: arb, other: arb) -> arb:
        return one if one < other else other

    def beyond(one: arb, other: arb) -> arb:
        return one - other if one > other else arb(0)

    high, half = far / power, arb(1) / 2
    rise, fall = beyond(end, far), beyond(least(far, 1 - far), end)
    middle, nowhere = beyond(half, end if end > far else far), beyond(far, half)
    places = [  # losses against R of P and of P', and the masses of P, R and P'
        (None, None, arb(0), arb(0), far),
        (None, epsilon, arb(0), least(end, far), least(more, high)),
        (-epsilon, epsilon, rise * power, rise, beyond(more, high)),
        (None, -epsilon, arb(0), fall, fall * power),
        (-epsilon, -epsilon, middle * power, middle, middle * power),
        (None, None, arb(0), nowhere, arb(0)),
    ]
    places += [(other, one, second, some, first) for one, other, first, some, second in places]
    share, rest = real(rate), real(1 - rate)
    found = loss_exchanged.exchanged_private(epsilon, delta, rate, FIXED)
    atoms = iter(found.points)
    sure = [arb(0), arb(0)]
    for one, other, *masses in places:
        p, q = (rest * masses[1] + share * mass for mass in (masses[0], masses[2]))
        if p == 0 or q == 0:
            sure = [sure[0] + p, sure[1] + q]
            continue
        loss, *enclosures = next(atoms)
        held(enclosures[0], p)
        held(enclosures[1], q)
        first, second = (
            (rest if side is None else rest + share * real(side).exp()).log() for side in (one, other)
        )
        held(loss_atoms.enclosed(loss, FIXED), first - second)
    for enclosure, mass in zip(found.sure, sure, strict=True):
        held(enclosure, mass)
