"""What the check knows of masses only roughly is taken on the side that proves less."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bisimdist.checker.claims import composition
from bisimdist.checker.core.balls import Enclosure, Fixed
from bisimdist.checker.core.loss_atoms import Atom, Atoms
from bisimdist.checker.core.loss_laws import Law
from tests.reference.composition import exponential

DOUBT = Fraction(1, 50)  # of each mass
STEP = Fraction(1, 256)
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
def test_rough_masses_prove_less(epsilon: Fraction, lost: bool) -> None:
    law = Law(make=lambda fixed: atoms(fixed, lost))
    fixed = composition._Precisions()
    tape = cast("Any", SimpleNamespace(step=STEP, digits=30, above=False))
    cuts = list(range(-512, 513))
    known = composition._cells(tape, 0, (law, law, 1), 0, cuts, fixed)
    alpha = exponential(epsilon)
    most, least = gains(epsilon, 1), gains(epsilon, -1)
    if lost:
        most, least = most + LOST[0], max(Fraction(0), least - LOST[0] - alpha * LOST[1])
    low, high = composition._alone(law, epsilon, fixed.of(256))
    close = Fraction(1, 10**9)
    assert least - close <= low <= least
    assert most <= high <= most + close
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
            low, high = ends(cells[k][2:4][side])
            mass = tails[k][side] - tails[k + 1][side]
            assert abs(low - (mass - DOUBT)) < close
            assert abs(high - (mass + DOUBT)) < close
    before = ends(cells[2][2])
    assert before[0] == 0
    assert abs(before[1] - (1 - tails[0][0] + DOUBT / 2)) < close
    for side in range(2):
        assert abs(Fraction(rest.lost[side], fixed.one) - (tails[2][side] + DOUBT / 2)) < close
    low, high = composition._alone(law, Fraction(1), fixed)
    p, q = tails[1]
    alpha = exponential(Fraction(1))
    for found, sign in ((low, -1), (high, 1)):
        truth = max(Fraction(0), p + sign * DOUBT / 2 - alpha * (q - sign * DOUBT / 2))
        assert abs(found - truth) < close
