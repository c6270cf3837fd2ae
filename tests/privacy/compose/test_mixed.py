"""Random mixed lists: bounds and proofs against a sum of closed forms, and against dp_accounting."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

import bisimdist
from bisimdist.checker import check_certificate
from bisimdist.privacy.compose.ask import checked
from bisimdist.privacy.engine.accounting import estimates

DIGITS = 60
LISTS = 20

Curve = Callable[[Decimal], Decimal]  # from alpha, above 0, to delta
Pairs = list[tuple[Decimal, Decimal]]


def decimal(value: object) -> Decimal:
    number = Fraction(str(value))
    return Decimal(number.numerator) / Decimal(number.denominator)


def normal(value: Decimal) -> Decimal:
    """Return the mass of the normal law below a value: 1/2 + density * (x + x^3/3 + x^5/15 + ...)."""
    if abs(value) > 16:  # there is less than 10^-56 beyond
        return Decimal(value > 0)
    total = term = abs(value)
    number = 1
    while term > Decimal(10) ** -DIGITS:
        number += 2
        term *= value * value / number
        total += term
    pi = Decimal(
        "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
    )
    share = total * (-value * value / 2).exp() / (2 * pi).sqrt()
    return Decimal("0.5") + (share if value > 0 else -share)


def gaussian(mu: Decimal) -> Curve:
    return lambda a: normal(mu / 2 - a.ln() / mu) - a * normal(-mu / 2 - a.ln() / mu)


def laplace(largest: Decimal) -> Curve:
    def curve(alpha: Decimal) -> Decimal:
        if alpha.ln() >= largest:
            return Decimal(0)
        return 1 - alpha if alpha.ln() <= -largest else 1 - ((alpha.ln() - largest) / 2).exp()

    return curve


def sampled(curve: Curve, rate: Decimal) -> Curve:
    """Return the curve of (1 - q) Q + q P against Q."""
    return lambda a: rate * curve((a - 1 + rate) / rate) if a > 1 - rate else 1 - a


def swapped(curve: Curve) -> Curve:
    return lambda a: 1 - a + a * curve(1 / a)


def gathered(pairs: Iterable[tuple[Decimal, Decimal]]) -> Pairs:
    """Put outputs of equal ratios together."""
    found: dict[object, tuple[Decimal, Decimal]] = {}
    for p, q in pairs:
        ratio = round(p / q, 40) if q else None
        more = found.get(ratio, (Decimal(0), Decimal(0)))
        found[ratio] = more[0] + p, more[1] + q
    return list(found.values())


def together(one: Pairs, other: Pairs) -> Pairs:
    return gathered((p * x, q * y) for p, q in one for x, y in other if p * x or q * y)


def noise(law: Callable[[int], Decimal], reach: int, shift: int) -> Pairs:
    """Return the masses of integer noise moved by a shift, and of the noise."""
    total = sum(law(k) for k in range(-reach, reach + 1))
    return gathered((law(k - shift) / total, law(k) / total) for k in range(-reach, reach + shift + 1))


def drawn(generator: random.Random) -> tuple[list[Any], list[Curve], list[list[Pairs]]]:
    """Return a list; the curves of its continuous part and the masses of all others, by direction."""
    pick = generator.choice
    curves: list[Curve] = []
    entries: list[Any] = []
    kind = pick(["gaussian", "laplace", "sampled", "none"])
    if kind == "laplace":
        scale = pick(["1", "3", "10/3"])
        entries.append({"laplace": {"scale": scale}})
        curves = [laplace(1 / decimal(scale))] * 2
    elif kind == "gaussian":
        sigma, times = pick(["1", "5/2", "7"]), generator.randint(1, 9)
        entries += [
            {"gaussian": {"sigma": sigma}, "times": times},
            {"gaussian": {"sigma": 4, "sensitivity": 2}},
        ]
        curves = [gaussian((times / decimal(sigma) ** 2 + decimal("1/4")).sqrt())] * 2
    elif kind == "sampled":
        sigma, rate = pick(["1", "2"]), pick(["1/100", "1/3"])
        entries.append({"subsampled": {"q": rate, "of": {"gaussian": {"sigma": sigma}}}})
        one = sampled(gaussian(1 / decimal(sigma)), decimal(rate))
        curves = [one, swapped(one)]
    else:
        curves = [lambda a: max(Decimal(0), 1 - a)] * 2
    parts: list[list[Pairs]] = []
    for _ in range(generator.randint(1, 3)):
        pairs, entry, runs = others(pick, generator)
        if generator.random() < 0.4:
            rate = pick(["1/50", "1/2"])
            q = decimal(rate)
            entry = {"subsampled": {"q": rate, "of": entry}}
            pairs = [((1 - q) * b + q * a, b) for a, b in pairs]
        entries.append(entry | {"times": runs})
        several: Pairs = [(Decimal(1), Decimal(1))]
        for _ in range(runs):
            several = together(several, pairs)
        parts.append([several, [(b, a) for a, b in several]])
    return entries, curves, parts


def others(pick: Callable[[Sequence[Any]], Any], generator: random.Random) -> tuple[Pairs, Any, int]:
    """Return the masses of a mechanism with finitely many outputs, its entry, and how often it runs."""
    kind = pick(["randomised-response", "pure", "approximate", "discrete-laplace", "discrete-gaussian"])
    runs = generator.randint(1, 4)
    if kind == "randomised-response":
        truth, options = pick(["3/4", "3/5"]), pick([2, 3])
        lie = (1 - decimal(truth)) / (options - 1)
        rest = 1 - decimal(truth) - lie
        pairs = [(decimal(truth), lie), (lie, decimal(truth))] + [(rest, rest)] * (options > 2)
        return pairs, {kind: {"truth": truth, "options": options}}, runs
    if kind in {"pure", "approximate"}:
        epsilon, delta = pick(["1/10", "1/2"]), "1/1000" if kind == "approximate" else "0"
        more = (1 - decimal(delta)) / (1 + (-decimal(epsilon)).exp())
        less = 1 - decimal(delta) - more
        pairs = [(more, less), (less, more)]
        if kind == "pure":
            return pairs, {kind: {"epsilon": epsilon}}, runs
        sure = decimal(delta)
        pairs += [(sure, Decimal(0)), (Decimal(0), sure)]
        return pairs, {kind: {"epsilon": epsilon, "delta": delta}}, min(runs, 2)
    if kind == "discrete-laplace":
        scale, shift = pick(["1/2", "3/2"]), pick([1, 2])
        pairs = noise(lambda k: (-abs(k) / decimal(scale)).exp(), 150, shift)
        return pairs, {kind: {"scale": scale, "sensitivity": shift}}, runs
    sigma = pick(["1", "3/2"])
    pairs = noise(lambda k: (-k * k / (2 * decimal(sigma) ** 2)).exp(), 22, 1)
    return pairs, {kind: {"sigma": sigma}}, 1


def truth(epsilon: Fraction, curves: Sequence[Curve], parts: Sequence[list[Pairs]]) -> Decimal:
    """Return the larger delta of both directions: the continuous part, averaged over all other outputs."""
    found = []
    for side, curve in enumerate(curves):
        joint: Pairs = [(Decimal(1), decimal(epsilon).exp())]
        for part in parts:
            joint = together(joint, part[side])
        found.append(sum((p * curve(q / p) if q else p for p, q in joint if p), Decimal(0)))
    return max(found)


@pytest.mark.parametrize("seed", range(LISTS))
def test_random_mixed_lists(seed: int) -> None:
    generator = random.Random(seed)
    with localcontext() as context:
        context.prec = DIGITS
        entries, curves, parts = drawn(generator)
        answer = bisimdist.compose(entries)
        epsilon = Fraction(generator.randint(0, 30), 10)
        expected = Fraction(truth(epsilon, curves, parts))
        least = Fraction(truth(epsilon + 20, curves, parts))
    found = answer.delta(epsilon)
    doubt = Fraction(1, 10**30)
    assert found.lower - doubt <= expected <= found.upper + doubt
    assert found.upper - found.lower <= found.upper / 999 + doubt
    if (
        expected > least * (1 + Fraction(1, 1000)) + doubt
    ):  # where no smaller delta exists, epsilon may be any
        inside = answer.epsilon(expected)
        assert inside.lower <= epsilon <= inside.upper
    report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid, report.reason


@pytest.mark.extra("accounting")
def test_random_lists_against_dp_accounting() -> None:
    compared = 0
    for seed in range(8):
        generator = random.Random(seed)
        entries: list[Any] = [{"gaussian": {"sigma": generator.choice(["2", "9/2"])}, "times": 2}]
        entries.append(
            {"laplace": {"scale": generator.choice(["2", "11/3"])}, "times": generator.randint(1, 4)}
        )
        rate = generator.choice(["1/20", "1/4"])
        entries.append({"subsampled": {"q": rate, "of": {"gaussian": {"sigma": 1}}}, "times": 3})
        chosen = generator.sample(entries, generator.randint(1, 3))
        theirs = estimates(checked(chosen), "add-remove")
        assert theirs is not None
        epsilon = Fraction(generator.randint(0, 12), 8)
        estimate = Fraction(theirs(float(epsilon)))
        found = bisimdist.compose(chosen).delta(epsilon)
        # it takes the worse side of a grid of 1e-4, and leaves out a mass of 1e-12 or so
        assert found.lower <= estimate * (1 + Fraction(1, 10**6)) + Fraction(1, 10**12), chosen
        assert estimate <= found.upper * (1 + Fraction(1, 1000)) + Fraction(1, 10**9), chosen
        compared += found.lower > 0
    assert compared > 4
