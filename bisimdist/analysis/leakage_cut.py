"""Leakages of programs some runs of which are cut off: what holds whatever those runs would show.

Of the distributions P and Q of what is seen, P' and Q' are known, and how much is missing of each. See
docs/theory/leakage.md, "Runs that are cut off".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf, log

from flint import fmpq

from bisimdist.analysis.leakage_bounds import LeakageBound
from bisimdist.analysis.leakage_measures import LeakageMeasure
from bisimdist.errors import UsageError
from bisimdist.privacy.divergence import logarithm, root
from bisimdist.privacy.measure import double
from bisimdist.programs.chain import ProgramChain

__all__ = ["of_outputs", "widened"]

CANDIDATES = 200
"""So many clips of the likelihood ratios are tried, at most."""

_ZERO, _ONE = fmpq(0), fmpq(1)


def widened(bound: LeakageBound, masses: Sequence[fmpq]) -> LeakageBound:
    """Return bounds on a measure that has a largest value, given those of the chain where runs are cut off.

    Parameters
    ----------
    bound
        Bounds for the chain: runs that are cut off end in a state of their own in it.
    masses
        By world the probability that a run is cut off.
    """
    below, above = _lost(bound, masses)
    measure = bound.measure
    lower = None if bound.lower is None else bound.lower - below
    upper = None if bound.upper is None else bound.upper + above
    if lower is not None and measure.least is not None:
        lower = max(lower, measure.least)
    if upper is not None and measure.most is not None:
        upper = min(upper, measure.most)
    return replace(bound, lower=lower, upper=upper, cut=tuple(masses))


def _lost(bound: LeakageBound, masses: Sequence[fmpq]) -> tuple[fmpq, fmpq]:
    """Return how much less, and how much more, the whole may be than the chain with its cut."""
    measure = bound.measure
    if measure.name == "tv":
        return sum(masses, _ZERO), masses[0]
    if measure.name == "hellinger":
        both = root(masses[0] * masses[1], up=True)
        return 2 * (both + root(masses[0], up=True) + root(masses[1], up=True)), 2 * both
    weighted = [p * mass for p, mass in zip(bound.prior or (), masses, strict=True)]
    if measure.gains is None:
        lost = sum(weighted, _ZERO)
    else:  # gains may be negative: the part that is cut off counts on either side
        rows = measure.gains.values()
        most = [max(abs(row.get(name, _ZERO)) for row in rows) for name in bound.states]
        lost = 2 * sum((x * mass for x, mass in zip(most, weighted, strict=True)), _ZERO)
    if measure.name == "min-entropy" and bound.before is not None:
        lost /= bound.before
    return lost, lost


class _Function(ABC):
    """A convex, positively homogeneous function that falls with its second argument, and its planes."""

    @abstractmethod
    def value(self, x: fmpq, y: fmpq) -> fmpq:
        """Return the function, rounded up; y is not 0."""

    @abstractmethod
    def slopes(self, ratio: fmpq) -> tuple[fmpq, fmpq]:
        """Return (a, b), rounded down: a x + b y is nowhere above the function but for `offset`."""

    @abstractmethod
    def rough_slopes(self, ratio: float) -> tuple[float, float]:
        """Return the same in doubles."""


class _Relative(_Function):
    """x ln(x/y); planes are those of x ln(x/y) - x + y, which has the same sum where both sums are 1."""

    def value(self, x: fmpq, y: fmpq) -> fmpq:
        return x * logarithm(x / y)[1] if x else _ZERO

    def slopes(self, ratio: fmpq) -> tuple[fmpq, fmpq]:
        return logarithm(ratio)[0], 1 - ratio

    def rough_slopes(self, ratio: float) -> tuple[float, float]:
        return log(ratio), 1 - ratio


@dataclass(frozen=True)
class _Power(_Function):
    """x^b y^(1-b)."""

    order: int

    def value(self, x: fmpq, y: fmpq) -> fmpq:
        return x**self.order / y ** (self.order - 1)

    def slopes(self, ratio: fmpq) -> tuple[fmpq, fmpq]:
        power = ratio ** (self.order - 1)
        return self.order * power, (1 - self.order) * power * ratio

    def rough_slopes(self, ratio: float) -> tuple[float, float]:
        try:
            power = ratio ** (self.order - 1)
        except OverflowError:
            power = inf
        return self.order * power, (1 - self.order) * power * ratio


Outputs = Sequence[tuple[fmpq, fmpq]]
"""The probabilities of what is seen, as far as they are known, from both starts."""


def of_outputs(model: ProgramChain, measure: LeakageMeasure, s: int, t: int) -> LeakageBound:
    """Return what is known of a divergence without a largest value: it is about the outputs of a program.

    No exploration bounds it from above, but what an observer learns who tells finitely many outputs apart.

    Raises
    ------
    UsageError
        If more is observed than outputs.
    """
    if model.origin.observe != "output":
        raise UsageError(
            f"{measure.shown}: runs of this program are cut off; of those only outputs can be observed, or "
            "ask for tv, hellinger, bayes, min-entropy or g"
        )
    known: dict[str, list[fmpq]] = {}
    for way, start in enumerate((s, t)):
        for state, p in model.rows[start]:
            if model.cut.get(state) != 1:
                known.setdefault(model.labels[state], [_ZERO, _ZERO])[way] += p
    cut = model.cut.get(s, _ZERO), model.cut.get(t, _ZERO)
    function = _Relative() if measure.name == "kl" else _Power(measure.order or 2)
    offset = _ONE if measure.name == "chi2" else _ZERO
    names = sorted(known, key=lambda name: known[name][1], reverse=True)
    outputs = [(known[name][0], known[name][1]) for name in names]

    def bound(lower: fmpq | None, upper: fmpq | None) -> LeakageBound:
        return LeakageBound(
            measure=measure,
            states=(model.states[s], model.states[t]),
            prior=None,
            before=None,
            lower=None if lower is None else max(lower - offset, measure.least or _ZERO),
            upper=None if upper is None else upper - offset,
        )

    count = _told_apart(function, outputs, cut[0])
    rest = tuple(sum((output[way] for output in outputs[count:]), _ZERO) for way in (0, 1))
    merged = [*outputs[:count], (rest[0], rest[1])]
    coarser = bound(_least(function, merged, cut), _most(function, merged, cut[0]))
    whole = bound(_least(function, outputs, cut), None if any(cut) else _most(function, outputs, _ZERO))
    if whole.lower is not None and coarser.lower is not None and whole.lower < coarser.lower:
        whole = replace(whole, lower=coarser.lower)  # who tells more apart learns no less
    coarser = replace(coarser, outputs=tuple(names[:count]))
    return replace(whole, cut=cut, coarser=coarser)


def _least(function: _Function, outputs: Outputs, cut: tuple[fmpq, fmpq]) -> fmpq | None:
    """Return a bound from below: planes below the function, at ratios that are clipped; None for infinity."""
    if not cut[1] and any(x and not y for x, y in outputs):
        return None  # nothing is missing of what the second shows
    ratios = sorted({max(x / y, y / x) for x, y in outputs if x and y})
    chosen = {ratios[k * len(ratios) // CANDIDATES] for k in range(CANDIDATES)} if ratios else set()
    clips = sorted({*chosen, *ratios[-1:], *(fmpq(4) ** k for k in range(CANDIDATES // 2))})
    known = [(double(x), double(y)) for x, y in outputs]
    lost = double(cut[0]), double(cut[1])
    # what the upper clip changes and what the lower one does add up: each is the best by itself
    high = max(clips, key=lambda clip: _roughly(function, known, lost, (1.0, double(clip))))
    low = max(clips, key=lambda clip: _roughly(function, known, lost, (1 / double(clip), 1.0)))
    slopes = [(x, y, *function.slopes(_clipped(x, y, 1 / low, high))) for x, y in outputs]
    total = sum((a * x + b * y for x, y, a, b in slopes), _ZERO)
    return total + cut[0] * function.slopes(1 / low)[0] + cut[1] * function.slopes(high)[1]


def _clipped(x: fmpq, y: fmpq, low: fmpq, high: fmpq) -> fmpq:
    """Return the ratio of two masses within bounds; 1 where both are 0."""
    if not y:
        return high if x else _ONE
    return min(max(x / y, low), high)


def _roughly(
    function: _Function,
    outputs: Sequence[tuple[float, float]],
    cut: tuple[float, float],
    clip: tuple[float, float],
) -> float:
    total = 0.0
    for x, y in outputs:
        a, b = function.rough_slopes(min(max(x / y if y else inf, clip[0]), clip[1]))
        total += a * x + b * y
    found = total + cut[0] * function.rough_slopes(clip[0])[0] + cut[1] * function.rough_slopes(clip[1])[1]
    return found if found == found else -inf  # noqa: PLR0124  (no number)


def _most(function: _Function, outputs: Outputs, missing: fmpq) -> fmpq | None:
    """Return a bound from above where these are all outputs; None for infinity.

    The function falls with y, and its sum is convex: it is largest where all that is missing of the first is
    at one output.
    """
    if any(not y and (x or missing) for x, y in outputs):
        return None
    values = [function.value(x, y) if y else _ZERO for x, y in outputs]
    more = max(function.value(x + missing, y) - value for (x, y), value in zip(outputs, values, strict=True))
    return sum(values, _ZERO) + more


def _told_apart(function: _Function, outputs: Outputs, missing: fmpq) -> int:
    """Return how many of the likeliest outputs to tell apart: what that shows, less what it leaves open."""

    def rough(x: float, y: float) -> float:
        if not y:
            return inf if x else 0.0
        if not x:
            return 0.0
        a, b = function.rough_slopes(x / y)
        return a * x + b * y + (x - y if isinstance(function, _Relative) else 0.0)

    lost = double(missing)

    def open_at(x: float, y: float) -> float:
        return rough(x + lost, y) - rough(x, y) if y else inf

    known = [(double(x), double(y)) for x, y in outputs]
    shown = list(accumulate((rough(x, y) for x, y in known), initial=0.0))
    opened = list(accumulate((open_at(x, y) for x, y in known), max, initial=0.0))
    best, chosen = -inf, 0
    x_rest = y_rest = 0.0
    for count in range(len(known) - 1, -1, -1):
        x_rest, y_rest = x_rest + known[count][0], y_rest + known[count][1]
        value = shown[count] + rough(x_rest, y_rest) - max(opened[count], open_at(x_rest, y_rest))
        if value > best:
            best, chosen = value, count
    return chosen
