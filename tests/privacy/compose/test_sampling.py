"""Samples under both neighbouring relations, against their definitions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import pytest

import bisimdist
from bisimdist.errors import ModelError
from tests.privacy.compose.test_soundness import chain
from tests.reference.composition import delta, exponential

CLOSE = Fraction(1, 10**20)
Law = list[Fraction]

COIN: list[tuple[Fraction, Fraction]] = [(Fraction(0), Fraction(1, 2)), (Fraction(1), Fraction(1, 2))]
"""What the second state may show, the first one never does: both directions differ."""


def told(p: Law, q: Law, epsilon: Fraction) -> Fraction:
    """Return the larger delta of both directions."""
    return delta([(list(zip(p, q, strict=True)), 1)], epsilon)


def mean(laws: Sequence[Law]) -> Law:
    return [sum(masses, Fraction(0)) / len(laws) for masses in zip(*laws, strict=True)]


def held(entry: Any, relation: str, epsilon: Fraction, truth: Fraction) -> None:
    """Check bounds against the worst of what was looked at, which is to be the worst of all."""
    point = bisimdist.compose([entry], relation=relation).delta(epsilon)
    assert point.lower - CLOSE <= truth <= point.upper + CLOSE


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("first_of_both", [True, False])
def test_one_of_two_records_is_sampled_and_one_is_replaced(epsilon: Fraction, first_of_both: bool) -> None:
    masses = COIN if first_of_both else [(q, p) for p, q in COIN]
    rows = [[p for p, _ in masses], [q for _, q in masses]]
    worst = Fraction(0)
    for other in (0, 1):
        seen = [mean([rows[mine], rows[other]]) for mine in (0, 1)]
        worst = max(worst, told(seen[0], seen[1], epsilon))
    entry = {"subsampled": {"q": "1/2", "sampling": "without-replacement", "of": {"model": chain(masses)}}}
    held(entry, "replace", epsilon, worst)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("size", [1, 2])
def test_a_sample_of_fixed_size_where_a_record_is_added(size: int, epsilon: Fraction) -> None:
    """Sums of so many of two or three records from 0 to 2, with noise of a small range at the ends."""
    reach = 12
    powers = [exponential(Fraction(-abs(k), 2)) for k in range(-reach, reach + 1)]
    noise = [Fraction(int(power / sum(powers) * 10**14), 10**14) for power in powers]
    noise[reach] += 1 - sum(noise)

    def law(values: Sequence[int]) -> Law:
        laws = []
        for some in combinations(values, size):
            at = sum(some)
            laws.append([Fraction(0)] * at + noise + [Fraction(0)] * (4 - at))
        return mean(laws)

    worst = max(
        told(law((mine, *others)), law(others), epsilon)
        for mine in range(3)
        for others in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    )
    inner = {"discrete-laplace": {"scale": 2, "sensitivity": 2}}
    entry = {"subsampled": {"q": f"{size}/3", "sampling": "without-replacement", "of": inner}}
    point = bisimdist.compose([entry]).delta(epsilon)
    left_out = Fraction(1, 200)  # of the noise, by e^(epsilon)
    assert point.lower <= worst + left_out
    assert worst <= point.upper + left_out


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_a_sample_of_fixed_size_costs_as_much_as_one_by_poisson(direction: str) -> None:
    inner = {"gaussian": {"sigma": 2}}
    fixed, poisson = (
        bisimdist.compose(
            [{"subsampled": {"q": "1/5", "sampling": sampling, "of": inner}}], relation=direction
        )
        for sampling in ("without-replacement", "poisson")
    )
    assert fixed.delta("1/3") == poisson.delta("1/3")


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(2)])
def test_whatever_two_inputs_do_without_a_record(epsilon: Fraction) -> None:
    masses = [
        (Fraction(1, 5), Fraction(1, 2)),
        (Fraction(4, 5), Fraction(1, 3)),
        (Fraction(0), Fraction(1, 6)),
    ]
    p, q = ([one[side] for one in masses] for side in (0, 1))
    rate, worst = Fraction(1, 3), Fraction(0)
    generator = random.Random(5)
    for _ in range(60):
        weights = [generator.randint(0, 5) + Fraction(1, 9) for _ in range(4)]
        without = [weight / sum(weights) for weight in weights]
        sides = (
            [(1 - rate) * r + rate * x for r, x in zip(without, [*law, Fraction(0)], strict=True)]
            for law in (p, q)
        )
        worst = max(worst, told(next(sides), next(sides), epsilon))
    entry = {"subsampled": {"q": "1/3", "of": {"model": chain(masses)}}}
    point = bisimdist.compose([entry], relation="replace").delta(epsilon)
    assert worst <= point.upper + CLOSE
    # nothing at all is seen without the record
    seen = [[*(rate * x for x in law), 1 - rate] for law in (p, q)]
    held(entry, "replace", epsilon, told(seen[0], seen[1], epsilon))


def private(cost: Fraction, lost: Fraction) -> tuple[Law, Law, Law]:
    """Return a mechanism on the input with one record, without it, and with another one.

    Along a line P is as likely as it may be where it is likeliest, and P' at the other end of the line.
    """
    ratio = exponential(cost)
    end = (1 - lost) / (1 + ratio)
    cuts = sorted({Fraction(0), lost, end, 1 - end, 1 - lost, Fraction(1)})
    first, without, second = [lost, Fraction(0)], [Fraction(0)] * 2, [Fraction(0), lost]
    for low, high in pairwise(cuts):
        for law, at in ((first, high), (second, 1 - low)):
            law.append((high - low) * (ratio if at > 1 - end else 1 / ratio if at > lost else 0))
        without.append(high - low)
    return first, without, second


def others(cost: Fraction, lost: Fraction) -> Iterator[tuple[Law, Law, Law]]:
    """Yield mechanisms that are as private, found by chance."""
    generator = random.Random(7)
    for _ in range(40):
        laws = []
        for _ in range(3):
            weights = [Fraction(generator.choice([0, 1, 1, 2, 6, 20])) for _ in range(4)]
            weights[generator.randrange(4)] += 1
            laws.append([weight / sum(weights) for weight in weights])
        first, without, second = laws
        near = []
        for far in (first, second):
            part = Fraction(1)
            while True:
                law = [r + part * (x - r) for x, r in zip(far, without, strict=True)]
                if told(law, without, cost) <= lost:
                    break
                part *= Fraction(3, 4)
            near.append(law)
        yield near[0], without, near[1]


@pytest.mark.parametrize("lost", ["1/1000", "1/10", "1/4", "1/3", "3/5", "1"])
def test_whatever_is_approximately_private_where_a_record_is_added_or_removed(lost: str) -> None:
    cost, rate, share = Fraction(1), Fraction(1, 3), Fraction(lost)
    entry = {"subsampled": {"q": "1/3", "of": {"approximate": {"epsilon": 1, "delta": lost}}}}
    found = bisimdist.compose([entry], relation="replace")
    worst = private(cost, share)
    for law in worst:
        assert sum(law) == pytest.approx(1, abs=1e-12)
    for law in (worst[0], worst[2]):
        assert told(law, worst[1], cost) <= share + CLOSE

    def sampled(laws: tuple[Law, Law, Law], epsilon: Fraction) -> Fraction:
        first, without, second = laws
        p, q = (
            [(1 - rate) * r + rate * x for x, r in zip(law, without, strict=True)] for law in (first, second)
        )
        return told(p, q, epsilon)

    for epsilon in (Fraction(0), Fraction(1, 4), Fraction(3, 4), Fraction(3, 2)):
        point = found.delta(epsilon)
        assert point.lower - CLOSE <= sampled(worst, epsilon) <= point.upper + CLOSE
        assert all(sampled(laws, epsilon) <= point.upper + CLOSE for laws in others(cost, share))


@pytest.mark.parametrize(
    "inner",
    [
        {"gaussian": {"sigma": 2}},
        {"discrete-laplace": {"scale": 2}},
        {"randomised-response": {"truth": "3/4"}},
        {"approximate": {"epsilon": 1, "delta": "1/10"}},
    ],
)
def test_a_sample_of_a_sample_is_a_sample(inner: dict[str, Any]) -> None:
    twice = {"subsampled": {"q": "1/2", "of": {"subsampled": {"q": "2/3", "of": inner}}}}
    once = {"subsampled": {"q": "1/3", "of": inner}}
    points = [bisimdist.compose([entry], relation="replace").delta("1/4") for entry in (twice, once)]
    assert points[0].lower <= points[1].upper
    assert points[1].lower <= points[0].upper
    assert points[0].upper - points[0].lower < CLOSE


def test_what_is_not_known_without_a_record_is_refused() -> None:
    inner = {"subsampled": {"q": "1/2", "sampling": "without-replacement", "of": {"gaussian": {"sigma": 1}}}}
    with pytest.raises(ModelError, match="a sample of one record less"):
        bisimdist.compose([{"subsampled": {"q": "1/2", "of": inner}}], relation="replace")


def test_both_sides_meet_in_one_run_of_a_sample_without_replacement() -> None:
    inner = {"randomised-response": {"truth": "3/4"}}
    entry = {"subsampled": {"q": "1/3", "sampling": "without-replacement", "of": inner}}
    point = bisimdist.compose([entry], relation="replace").delta(0)
    assert abs(point.lower - Fraction(1, 6)) < CLOSE
    assert abs(point.upper - Fraction(1, 6)) < CLOSE
