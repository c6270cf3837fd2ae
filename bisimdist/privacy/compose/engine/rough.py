"""In doubles: how large delta will be about, and how fine a grid it needs; nothing rests on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, isfinite, sinh
from typing import Any

import numpy as np
from flint import arb

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.laws import AtomsAt, Law, Smooth

DIGITS = 60
POINTS = 400
STEEPEST = 1e7
MOST_DIGITS = 705  # of the least delta that counts


@dataclass(frozen=True, slots=True)
class Rough:
    """A law in doubles."""

    losses: np.ndarray  # ascending
    masses: np.ndarray  # the logarithms of the masses of P there
    sure: float  # the mass at an infinite loss
    atoms: bool = False  # whether the losses are all there are, or places in between of which a law is dense

    def moments(self, tilt: float) -> np.ndarray:
        """Return the cumulant function at a tilt, its slope and its curvature."""
        weights = self.masses + tilt * self.losses
        top = weights.max()
        shares = np.exp(weights - top)
        whole = shares.sum()
        mean = (shares * self.losses).sum() / whole
        return np.array([top + np.log(whole), mean, (shares * (self.losses - mean) ** 2).sum() / whole])

    def ends(self, left: float, right: float, tilt: float = 0.0) -> tuple[float, float]:
        """Return two losses: less mass than `left` is below, as it counts there, than 10**`right` above."""
        tails = np.logaddexp.accumulate(self.masses[::-1])[::-1] / np.log(10)
        # what is below a loss is moved to it
        heads = np.logaddexp.accumulate(self.masses)[:-1] + tilt * self.losses[1:] - self.moments(tilt)[0]
        first = int(np.searchsorted(heads, np.log(left))) - (not self.atoms)
        last = min(max(int((tails > right).sum()) - 1, 0) + (not self.atoms), len(self.losses) - 1)
        return float(self.losses[max(min(first, last), 0)]), float(self.losses[last])


@dataclass(frozen=True)
class Factor:
    """A mechanism in one direction, so many times."""

    law: Law  # what dominates it
    below: Law  # what it dominates
    runs: int  # how often
    digits: int = DIGITS  # what is rarer than 10^-digits may be left out in doubles

    @cached_property
    def rough(self) -> Rough:
        """The law in doubles."""
        return rough_law(self.law, self.digits)


@dataclass(frozen=True, slots=True)
class Saddle:
    """What a composition looks like near a loss."""

    at: float  # the loss
    tilt: float  # the exponent of the best Chernoff bound
    delta: float  # the logarithm of delta to the base of ten, about
    spread: float  # the variance of the loss under that tilt


@lru_cache(64)
def rough_law(law: Law, digits: int) -> Rough:
    """Return a law in doubles; what is rarer than ``10**-digits`` may be left out."""
    with working_precision(64 + digits * 10 // 3):
        if isinstance(law, AtomsAt):
            atoms = law.make(digits)
            found = sorted((float(arb(loss)), _log(arb(p).abs_upper())) for loss, p, _ in atoms.points)
            points = np.array(found or [(0.0, -1e9)])
            return Rough(points[:, 0], points[:, 1], float(arb(atoms.sure[0])), atoms=True)
        return _smooth(law, digits)


def _smooth(law: Smooth, digits: int) -> Rough:
    def end(level: str) -> float:
        return first(lambda loss: not law.above(arb(loss))[0] > arb(level))

    def start(level: str) -> float:
        return -first(lambda loss: not 1 - law.above(arb(-loss))[0] > arb(level))

    low, middle, high = start("1e-25"), end("0.5"), end(f"1e-{digits}")
    scale = max(end("0.16") - middle, middle - start("0.16"), (high - low) / 1e9, 1e-18)
    cap = float(arb(law.ends()[1]))
    high = min(high, cap - 1e-9 * scale)  # much mass may sit at the largest loss
    ends = np.arcsinh((np.array([low, high]) - middle) / scale)
    losses = middle + scale * np.sinh(np.linspace(ends[0] - 1e-9, ends[1] + 1e-12, POINTS + 1))
    tails = [law.above(arb(float(loss)))[0] for loss in losses]
    masses = [_log(one - other) for one, other in zip([arb(1), *tails], [*tails, arb(0)], strict=True)]
    places = [losses[0], *(losses[:-1] + losses[1:]) / 2, cap if isfinite(cap) else losses[-1]]
    return Rough(np.array(places), np.array(masses), 0.0)


def first(holds: Callable[[float], bool]) -> float:
    """Return about the least number, of either sign, for which something holds."""
    low, high = -56.0, 56.0  # which stand for 1e12 in size
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(1e-12 * sinh(middle)) else (middle, high)
    return 1e-12 * sinh(high)


def _log(value: arb) -> float:
    return float(value.log()) if value > 0 else -1e9


def saddle(factors: Sequence[Factor], epsilon: float, least: float = -inf) -> Saddle:
    """Return what the composition of laws, each so many times, looks like near a loss.

    least: the power of ten of a delta of which nobody has to know how much less it is.
    """
    sure = 1 - np.prod([(1 - one.rough.sure) ** one.runs for one in factors])
    infinite = np.log10(sure) if sure > 0 else -np.inf
    floor = max(-MOST_DIGITS, least, infinite) * np.log(10)

    def sums(tilt: float) -> Any:
        return np.sum([one.runs * one.rough.moments(tilt) for one in factors], axis=0)

    def steep(tilt: float) -> bool:
        # a steeper one tells apart what is far below the chance of an infinite loss, or below the least
        value, mean, _ = sums(tilt)
        return bool(mean >= epsilon or value - tilt * epsilon <= floor)

    tilt = first(lambda tilt: tilt > 0 and (tilt > STEEPEST or steep(tilt)))
    value, _, spread = sums(tilt)
    width = max(tilt * (tilt + 1) * np.sqrt(2 * np.pi * spread), 1.0)
    delta = (value - tilt * epsilon - np.log(width)) / np.log(10)
    return Saddle(epsilon, tilt, float(max(min(delta, 0.0), infinite)), float(spread))
