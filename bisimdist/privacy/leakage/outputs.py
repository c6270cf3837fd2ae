"""Leakages of outputs of which some mass is missing: what holds whatever it would show.

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

from bisimdist.privacy.engine.divergence import logarithm
from bisimdist.privacy.engine.measure import double
from bisimdist.privacy.leakage.bounds import LeakageBound
from bisimdist.privacy.leakage.measures import LeakageMeasure
from bisimdist.reductions.outputs import Outputs

CANDIDATES = 200  # so many clips of the likelihood ratios are tried, at most

_ZERO, _ONE = fmpq(0), fmpq(1)


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


Masses = Sequence[tuple[fmpq, fmpq]]
"""The probabilities of what is seen, as far as they are known, from both starts."""


def of_outputs(model: Outputs, measure: LeakageMeasure, source: str, target: str) -> LeakageBound:
    """Return what is known of a divergence without a largest value.

    Nothing bounds it from above, but what an observer learns who tells finitely many outputs apart.
    """
    known: dict[str, list[fmpq]] = {}
    for way, start in enumerate((source, target)):
        for label, p in model.known[start].items():
            known.setdefault(label, [_ZERO, _ZERO])[way] += p
    missing = model.missing[source], model.missing[target]
    function = _Relative() if measure.name == "kl" else _Power(measure.order or 2)
    offset = _ONE if measure.name == "chi2" else _ZERO
    names = sorted(known, key=lambda name: known[name][1], reverse=True)
    outputs = [(known[name][0], known[name][1]) for name in names]

    def bound(lower: fmpq | None, upper: fmpq | None) -> LeakageBound:
        return LeakageBound(
            measure=measure,
            states=(source, target),
            prior=None,
            before=None,
            lower=None if lower is None else max(lower - offset, measure.least or _ZERO),
            upper=None if upper is None else upper - offset,
        )

    count = _told_apart(function, outputs, missing[0])
    rest = tuple(sum((output[way] for output in outputs[count:]), _ZERO) for way in (0, 1))
    merged = [*outputs[:count], (rest[0], rest[1])]
    coarser = bound(_least(function, merged, missing), _most(function, merged, missing[0]))
    whole = bound(
        _least(function, outputs, missing), None if any(missing) else _most(function, outputs, _ZERO)
    )
    if whole.lower is not None and coarser.lower is not None and whole.lower < coarser.lower:
        whole = replace(whole, lower=coarser.lower)  # who tells more apart learns no less
    coarser = replace(coarser, outputs=tuple(names[:count]))
    return replace(whole, coarser=coarser)


def _least(function: _Function, outputs: Masses, missing: tuple[fmpq, fmpq]) -> fmpq | None:
    """Return a bound from below: planes below the function, at ratios that are clipped; None for infinity."""
    if not missing[1] and any(x and not y for x, y in outputs):
        return None  # nothing is missing of what the second shows
    ratios = sorted({max(x / y, y / x) for x, y in outputs if x and y})
    chosen = {ratios[k * len(ratios) // CANDIDATES] for k in range(CANDIDATES)} if ratios else set()
    clips = sorted({*chosen, *ratios[-1:], *(fmpq(4) ** k for k in range(CANDIDATES // 2))})
    known = [(double(x), double(y)) for x, y in outputs]
    lost = double(missing[0]), double(missing[1])
    # what the upper clip changes and what the lower one does add up: each is the best by itself
    high = max(clips, key=lambda clip: _roughly(function, known, lost, (1.0, double(clip))))
    low = max(clips, key=lambda clip: _roughly(function, known, lost, (1 / double(clip), 1.0)))
    slopes = [(x, y, *function.slopes(_clipped(x, y, 1 / low, high))) for x, y in outputs]
    total = sum((a * x + b * y for x, y, a, b in slopes), _ZERO)
    return total + missing[0] * function.slopes(1 / low)[0] + missing[1] * function.slopes(high)[1]


def _clipped(x: fmpq, y: fmpq, low: fmpq, high: fmpq) -> fmpq:
    """Return the ratio of two masses within bounds; 1 where both are 0."""
    if not y:
        return high if x else _ONE
    return min(max(x / y, low), high)


def _roughly(
    function: _Function,
    outputs: Sequence[tuple[float, float]],
    missing: tuple[float, float],
    clip: tuple[float, float],
) -> float:
    total = 0.0
    for x, y in outputs:
        a, b = function.rough_slopes(min(max(x / y if y else inf, clip[0]), clip[1]))
        total += a * x + b * y
    found = (
        total
        + missing[0] * function.rough_slopes(clip[0])[0]
        + missing[1] * function.rough_slopes(clip[1])[1]
    )
    return found if found == found else -inf  # noqa: PLR0124  (no number)


def _most(function: _Function, outputs: Masses, missing: fmpq) -> fmpq | None:
    """Return a bound from above where these are all outputs; None for infinity.

    The function falls with y, and its sum is convex: it is largest where all that is missing of the first is
    at one output.
    """
    if any(not y and (x or missing) for x, y in outputs):
        return None
    values = [function.value(x, y) if y else _ZERO for x, y in outputs]
    more = max(function.value(x + missing, y) - value for (x, y), value in zip(outputs, values, strict=True))
    return sum(values, _ZERO) + more


def _told_apart(function: _Function, outputs: Masses, missing: fmpq) -> int:
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
