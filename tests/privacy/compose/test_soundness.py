"""Bounds on compositions are never on the wrong side of brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bisimdist
from bisimdist.models.lmc import LMC
from tests.reference.composition import Masses, delta, exponential, sampled_sums

DOUBT = Fraction(1, 10**180)


def chain(masses: Masses) -> LMC:
    """Return a chain whose pair (s, t) shows outcomes with these masses."""
    ends = [f"o{k}" for k in range(len(masses))]
    rows: dict[str, dict[str, Any]] = {end: {end: 1} for end in ends}
    for state, side in (("s", 0), ("t", 1)):
        rows[state] = {end: str(both[side]) for end, both in zip(ends, masses, strict=True) if both[side]}
    labels = {"s": "start", "t": "start", **{end: end for end in ends}}
    return LMC.from_mappings(labels, rows, pairs=[("s", "t")])


def held_against(mechanisms: list[tuple[Masses, int]], epsilon: Fraction) -> None:
    entries = [{"model": chain(masses), "pair": ["s", "t"], "times": runs} for masses, runs in mechanisms]
    found = bisimdist.compose(entries, width="1/100").delta(epsilon)
    truth = delta(mechanisms, epsilon)
    assert found.lower <= truth + DOUBT
    assert truth - DOUBT <= found.upper
    assert found.upper - found.lower <= found.upper / 50 + DOUBT


def drawn(generator: random.Random, most: int) -> tuple[Masses, int]:
    """Return a random mechanism, and how often it runs; some outcomes come from one side only."""
    size = generator.randint(2, 4)
    sides = []
    for _ in range(2):
        weights = [generator.choice([0, 1, 1, 2, 5, 9, 50]) for _ in range(size)]
        weights[generator.randrange(size)] += 1
        sides.append([Fraction(weight, sum(weights)) for weight in weights])
    return list(zip(*sides, strict=True)), generator.randint(1, {2: most, 3: most, 4: most // 2}[size])


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**9))
@example(1)  # both directions have a delta near 1, and the other one than is guessed is worse
@example(21)
def test_random_mechanisms(seed: int) -> None:
    generator = random.Random(seed)
    held_against([drawn(generator, 16)], Fraction(generator.randint(0, 60), 10))


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**9))
def test_random_lists(seed: int) -> None:
    generator = random.Random(seed)
    held_against([drawn(generator, 3), drawn(generator, 4)], Fraction(generator.randint(0, 40), 10))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_thousand_mechanisms() -> None:
    for seed in range(1000):
        generator = random.Random(seed)
        held_against([drawn(generator, 50)], Fraction(generator.randint(0, 100), 10))


@pytest.mark.parametrize("kind", ["discrete-laplace", "discrete-gaussian"])
def test_no_two_inputs_that_differ_in_one_record_tell_more_than_the_worst_pair(kind: str) -> None:
    """Sums of Poisson samples by their definition: every record, and every one in its place."""
    most, reach, rate = 2, 25, Fraction(1, 3)
    weights = [
        exponential(Fraction(-abs(k)) if kind == "discrete-laplace" else Fraction(-k * k * 25, 98))
        for k in range(-reach, reach + 1)
    ]
    noise = [Fraction(int(weight / sum(weights) * 10**14), 10**14) for weight in weights]
    parameters = {"scale": 1} if kind == "discrete-laplace" else {"sigma": "7/5"}
    inner = {kind: {**parameters, "sensitivity": most}}
    found = bisimdist.compose([{"subsampled": {"q": "1/3", "of": inner}}], relation="replace")
    twice = found.repeated(2)
    left_out = Fraction(1, 10**8)  # of the noise
    for epsilon in (Fraction(0), Fraction(1, 2)):
        worst = Fraction(0)
        for mine in range(most + 1):  # the mirror image tells the same
            for other in range(-most, mine):
                for others in ((), (1,)):
                    laws = [sampled_sums(noise, rate, (value, *others)) for value in (mine, other)]
                    both = [(law_p, laws[1].get(k, Fraction(0))) for k, law_p in laws[0].items()]
                    worst = max(worst, delta([(both, 1)], epsilon))
        bounds = found.delta(epsilon)
        assert bounds.lower <= worst + left_out
        assert worst <= bounds.upper + left_out
        ends = [sampled_sums(noise, rate, (value,)) for value in (most, -most)]
        both = [(law_p, ends[1].get(k, Fraction(0))) for k, law_p in ends[0].items()]
        pair = twice.delta(epsilon)
        alpha = exponential(epsilon)
        several = [(p * x, q * y) for p, q in both for x, y in both]
        truth = sum((max(p - alpha * q, Fraction(0)) for p, q in several), Fraction(0))
        assert pair.lower <= truth + left_out
        assert truth <= pair.upper + left_out


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3, 2)])
def test_whatever_is_private_where_a_record_is_added_or_removed(epsilon: Fraction) -> None:
    """Random mechanisms with three outputs on one input without the record and two with it; the worst."""
    cost, rate = Fraction(1), Fraction(1, 3)
    ratio, alpha = exponential(cost), exponential(epsilon)
    found = bisimdist.compose(
        [{"subsampled": {"q": "1/3", "of": {"pure": {"epsilon": 1}}}}], relation="replace"
    )
    bounds = found.delta(epsilon)
    low, middle = 1 / (1 + ratio), (ratio - 1) / (1 + ratio)
    worst = Fraction(0)
    generator = random.Random(3)
    for trial in range(300):
        share = low if not trial else Fraction(generator.randint(1, 60), 121)
        without = [share, 1 - 2 * share, share] if trial else [low, middle, low]
        laws = []
        for side in (1, -1):
            if not trial:
                law = [low * ratio, middle / ratio, low / ratio][::side]
            else:
                law = [
                    mass * (1 / ratio + (ratio - 1 / ratio) * Fraction(generator.randint(0, 20), 20))
                    for mass in without
                ]
                law[1] = 1 - law[0] - law[2]
                if not without[1] / ratio <= law[1] <= without[1] * ratio:
                    break
            laws.append(law)
        if len(laws) == 2:
            p, q = ([(1 - rate) * r + rate * x for r, x in zip(without, law, strict=True)] for law in laws)
            gains = [max(a - alpha * b, Fraction(0)) for a, b in zip(p, q, strict=True)]
            worst = max(worst, sum(gains, Fraction(0)))
    assert worst <= bounds.upper + Fraction(1, 10**20)
    assert bounds.lower <= worst + Fraction(1, 10**20)


def late(x: int, rng: Any) -> int:
    """Answer; one of 50 runs on the input 0 is long, and gives the likely answer in the end."""
    if x == 0 and not rng.randrange(50):
        while rng.randrange(4):
            pass
        return 0
    return 0 if rng.randrange(10) < 9 - (x == 0) else 1


@pytest.mark.parametrize("runs", [1, 3])
def test_runs_that_are_cut_off_show_nothing(runs: int) -> None:
    """A cut run has a label that only one input may have: that tells the inputs apart only in the chain."""
    entry = {"program": late, "inputs": [0, 1], "times": runs, "cut": "1/40"}
    found = bisimdist.compose([entry], width="9/10")
    masses = [Fraction(1, 50) + Fraction(49, 50) * Fraction(8, 10), Fraction(9, 10)]
    law = [(masses[0], masses[1]), (1 - masses[0], 1 - masses[1])]
    for epsilon in (Fraction(1, 2), Fraction(2)):
        bounds = found.delta(epsilon)
        assert bounds.lower <= delta([(law, runs)], epsilon) + DOUBT
        assert delta([(law, runs)], epsilon) - DOUBT <= bounds.upper


def endless(x: int, rng: Any) -> int:
    """Count: one of two runs counts with a sign that tells the inputs apart, the other draws on and on."""
    if rng.randrange(2):
        k = 0
        while rng.randrange(2):
            k += 1
        return -k if x else k
    while rng.randrange(3 + x):
        pass
    return 0


def test_an_upper_bound_alone_allows_for_runs_that_are_cut_off() -> None:
    """Infinitely many losses: the bound is a curve, and cut runs look the same in the chain."""
    entry = {"program": endless, "inputs": [0, 1], "observe": "draws", "cut": "1/8"}
    bounds = bisimdist.compose([entry]).delta(5)
    assert Fraction(str(bounds.upper)) >= Fraction(1, 4)  # the mass of all counts but 0


def test_no_grid_is_fine_enough_for_runs_that_are_cut_off() -> None:
    """Grids that do not help end the work at once; a third one took minutes."""
    entry = {"subsampled": {"q": "1/2", "of": {"program": late, "inputs": [0, 1], "cut": "1/40"}}, "times": 3}
    found = bisimdist.compose([entry, {"randomised-response": {"truth": "9/10"}}, {"laplace": {"scale": 2}}])
    bounds = found.delta(1)
    assert bounds.upper > bounds.lower * fmpq(101, 100)
    assert "cut off with probabilities" in found.notes[0]
    assert max(len(side.tapes) for side in found.accountant.sides) <= 3
