"""What the check knows of masses only roughly is taken on the side that proves less."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bisimdist.checker.claims import composition
from bisimdist.checker.core.balls import Enclosure, Fixed
from bisimdist.checker.core.loss_atoms import Atom, Atoms
from bisimdist.checker.core.loss_grid import Known, Precisions, Units
from bisimdist.checker.core.loss_laws import Law
from tests.reference.composition import exponential

DOUBT = Fraction(1, 50)  # of each mass
STEP = Fraction(1, 256)
UNIT = 10**30
PAIRS = [
    (Fraction(5, 100), Fraction(20, 100)),
    (Fraction(30, 100), Fraction(35, 100)),
    (Fraction(40, 100), Fraction(15, 100)),
]
SURE = (Fraction(12, 100), Fraction(9, 100))
LOST = (Fraction(1, 100), Fraction(2, 100))


def around(value: Fraction, fixed: Fixed) -> Enclosure:
    return fixed.of(value - DOUBT / 2)[0], fixed.of(value + DOUBT / 2)[1]


def atoms(fixed: Fixed, lost: bool) -> Atoms:
    points: list[Atom] = [(fixed.log(fixed.of(p / q)), around(p, fixed), around(q, fixed)) for p, q in PAIRS]
    sure = around(SURE[0], fixed), around(SURE[1], fixed)
    return Atoms(points, sure, (fixed.of(LOST[0])[1], fixed.of(LOST[1])[1]) if lost else (0, 0))


def gains(epsilon: Fraction, sign: int) -> Fraction:
    """Return delta where all masses are as far as they may be: more of P and less of Q, or the reverse."""
    apart, alpha = sign * DOUBT / 2, exponential(epsilon)
    # a loss is what it is, so a pair counts where the loss is larger than epsilon
    found = sum(
        (
            p + apart - alpha * (q - apart)
            for p, q in PAIRS
            if p > alpha * q and p + apart > alpha * (q - apart)
        ),
        Fraction(0),
    )
    return found + SURE[0] + apart


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 4), Fraction(3, 4), Fraction(2)])
@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("tilt", [Fraction(0), Fraction(2)])
def test_rough_masses_prove_less(epsilon: Fraction, lost: bool, tilt: Fraction) -> None:
    law = Law(make=lambda fixed: atoms(fixed, lost))
    fixed = Precisions()
    cuts = list(range(-512, 513))
    units = Units(STEP, 30, tilt, (tilt / 3,))
    known = composition._cells(units, 0, (law, law, 1), 0, cuts)
    alpha = exponential(epsilon)
    most, least = gains(epsilon, 1), gains(epsilon, -1)
    if lost:
        most, least = most + LOST[0], max(Fraction(0), least - LOST[0] - alpha * LOST[1])
    low, high = composition._alone(law, epsilon, fixed.of(256))
    close = Fraction(1, 10**9)
    assert least - close <= low <= least
    assert most <= high <= most + close
    side = composition._Side([(law, law, 1)], [], fixed)
    assert side.lower(epsilon, Fraction(0)) <= least
    assert side.upper(epsilon, Fraction(0)) >= most
    # a grid adds a little, in the same direction
    assert known.lower(epsilon) <= least
    assert known.upper(epsilon) >= most
    # at a loss of 2 nothing is left but what is sure
    if epsilon == 2 and not lost:
        assert abs(known.lower(epsilon) - least) < close
        assert abs(known.upper(epsilon) - most) < close
        certain = composition._certain([(law, law, 1)], fixed.of(256))
        assert certain[0] <= least <= certain[0] + close
        assert certain[1] - close <= most <= certain[1]
    assert known.lower(epsilon) > least - Fraction(1, 10)


def test_rough_tails_prove_less() -> None:
    tails = [
        (Fraction(9, 10), Fraction(8, 10)),
        (Fraction(1, 2), Fraction(3, 10)),
        (Fraction(1, 5), Fraction(1, 10)),
    ]
    fixed = Fixed(256)

    def above(loss: Enclosure, fixed: Fixed) -> tuple[Enclosure, Enclosure]:
        p, q = tails[loss[0] >> fixed.bits]
        return around(p, fixed), around(q, fixed)

    def ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
        return Fraction(enclosure[0], fixed.one), Fraction(enclosure[1], fixed.one)

    law, close = Law(above=above), Fraction(1, 10**9)
    cells, rest = composition._law_cells(law, Fraction(1), [0, 1, 2], fixed)
    assert [(start, end) for start, end, *_ in cells] == [(0, 1), (1, 2), (0, 0)]
    for k in range(2):
        for side in range(2):
            low, high = ends(cells[k][2:][side])
            mass = tails[k][side] - tails[k + 1][side]
            assert abs(low - (mass - DOUBT)) < close
            assert abs(high - (mass + DOUBT)) < close
    before = ends(cells[2][2])
    assert before[0] == 0
    assert abs(before[1] - (1 - tails[0][0] + DOUBT / 2)) < close
    for side in range(2):
        assert abs(Fraction(rest.lost[side], fixed.one) - (tails[2][side] + DOUBT / 2)) < close
    for place, (p, q) in enumerate(tails[:2]):
        low, high = composition._alone(law, Fraction(place), fixed)
        alpha = exponential(Fraction(place))
        for found, sign in ((low, -1), (high, 1)):
            truth = max(Fraction(0), p + sign * DOUBT / 2 - alpha * (q - sign * DOUBT / 2))
            assert abs(found - truth) < close


def test_a_chord_dominates_whatever_the_masses_of_its_cell_are() -> None:
    """Two atoms of one cell, of which masses and losses are known roughly."""
    fixed, grid = Fixed(256), Fraction(1)

    def made(fixed: Fixed) -> Atoms:
        half = fixed.one // 2
        loss = half, half + fixed.one // 10
        return Atoms([(loss, around(p, fixed), around(q, fixed)) for p, q in PAIRS[1:]])

    law = Law(make=made)
    cells, _ = composition._law_cells(law, grid, [-1, 0, 1], fixed)
    ((start, end, *masses),) = cells
    assert (start, end) == (0, 1)
    for side, mass in enumerate(masses):
        exact = sum(pair[side] for pair in PAIRS[1:])
        for found, sign in zip(mass, (-1, 1), strict=True):
            assert abs(Fraction(found, fixed.one) - exact - sign * DOUBT) < Fraction(1, 10**9)
    units = Units(grid, 30, scales=(Fraction(0),))
    known = composition._cells(units, 0, (law, law, 1), 0, [-1, 0, 1])
    p, q = (sum((pair[side] for pair in PAIRS[1:]), Fraction(0)) for side in (0, 1))
    for k in range(40):
        alpha, shown = Fraction(k, 20), Fraction(0)
        for at, share in enumerate(known.above):
            shown += Fraction(share, UNIT) * max(Fraction(0), 1 - alpha * exponential(Fraction(1 - at)))
        assert shown >= p + DOUBT - alpha * (q - DOUBT)


def test_a_loss_that_is_known_roughly_takes_all_cells_that_it_may_be_in() -> None:
    fixed = Fixed(256)
    near = fixed.of(Fraction(9, 10))[0], fixed.of(Fraction(11, 10))[1]
    law = Law(make=lambda fixed: Atoms([(near, (1, 1), (1, 1))]))
    cells, _ = composition._law_cells(law, Fraction(1), [0, 1, 2], fixed)
    assert [(start, end) for start, end, *_ in cells] == [(0, 2)]


@pytest.mark.parametrize("everywhere", [False, True])
def test_mass_that_may_lie_anywhere_is_taken_from_the_largest_labels(everywhere: bool) -> None:
    lost, close = Fraction(1, 20), Fraction(1, 10**9)
    missing = Fraction(1) if everywhere else PAIRS[2][0] + SURE[0] + lost

    def made(fixed: Fixed) -> Atoms:
        points: list[Atom] = [(Fraction(k), fixed.of(p), fixed.of(q)) for k, (p, q) in enumerate(PAIRS)]
        return Atoms(points, (fixed.of(SURE[0]), (0, 0)), (fixed.of(missing)[1], fixed.of(lost)[1]))

    known = composed_once(Law(make=made))
    assert abs(known.excess - SURE[0] - missing) < close
    # mass of Q may lie at an infinite loss, too: what P alone has becomes the last label
    assert known.sure == 0
    nothing = Fraction(0)
    p_labels = [nothing] * 3 if everywhere else [PAIRS[0][0], PAIRS[1][0] - lost, nothing]
    for found, expected in zip(known.p, p_labels, strict=True):
        assert abs(Fraction(found, UNIT) - expected) < close
    for k, (found, (_, q), more) in enumerate(zip(known.q, PAIRS, (nothing, nothing, lost), strict=True)):
        # an entry of Q at a loss counts e^-loss
        assert abs(Fraction(found, UNIT) * exponential(Fraction(-k)) - q - more) < close


def test_mass_of_one_side_that_may_lie_anywhere_is_enough_to_doubt_an_infinite_loss() -> None:
    def made(fixed: Fixed) -> Atoms:
        points: list[Atom] = [(Fraction(1), fixed.of(SURE[0]), fixed.of(SURE[1]))]
        return Atoms(points, (fixed.of(SURE[0]), (0, 0)), (0, fixed.of(Fraction(1, 20))[1]))

    assert composed_once(Law(make=made)).sure == 0


def composed_once(law: Law) -> Known:
    return composition._cells(Units(Fraction(1), 30, scales=(Fraction(0),)), 0, (law, law, 1), 0, [0, 1, 2])


@pytest.mark.parametrize("lost", [(Fraction(1, 20), Fraction(0)), (Fraction(0), Fraction(1, 20))])
def test_an_infinite_loss_is_less_likely_by_all_that_is_not_known(lost: tuple[Fraction, Fraction]) -> None:
    def made(fixed: Fixed) -> Atoms:
        return Atoms([], (around(SURE[0], fixed), (0, 0)), (fixed.of(lost[0])[1], fixed.of(lost[1])[1]))

    law = Law(make=made)
    low, high = composition._certain([(law, law, 1)], Fixed(256))
    assert low == 0
    assert abs(high - SURE[0] - DOUBT / 2 - lost[0]) < Fraction(1, 10**9)
