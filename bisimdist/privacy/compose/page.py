"""Pictures of a composition; they need matplotlib (``pip install bisimdist[plot]``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from flint import fmpq, fmpz

from bisimdist.exact.doubles import as_double
from bisimdist.exact.rational import ExactNumber
from bisimdist.faces.shown.pictures import figure_class
from bisimdist.privacy.compose.answer import Composition, DeltaPoint
from bisimdist.privacy.engine.accounting import estimates
from bisimdist.privacy.trade_off import ABOVE, BELOW, BESIDE, show_errors, show_guaranteed

MOST_TESTS = 400
REPEATED = (1, 2, 4, 8, 16, 32)
COARSE = "1/50"  # how far apart bounds may be that are only drawn


def composition_figure(answer: Composition, *, points: int, largest: ExactNumber | None) -> Any:
    """Draw delta over epsilon, the trade-off function, and delta by runs. See `Composition.plot`."""
    curve = answer.curve(largest, points=points)
    figure = figure_class()(figsize=(15, 4.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    estimate = estimates(answer.entries, answer.relation) if find_spec("dp_accounting") else None
    _curve_panel(left, curve, estimate)
    _trade_off_panel(middle, answer, curve)
    _runs_panel(right, answer, curve)
    figure.suptitle(answer.report().heading.capitalize())
    return figure


def _band(axis: Any, places: Sequence[float], points: Sequence[DeltaPoint]) -> None:
    """Draw bounds on delta: the band between its two sides, on a logarithmic scale."""
    upper = [as_double(point.upper) or math.nan for point in points]
    lower = [as_double(point.lower) or math.nan for point in points]
    axis.fill_between(places, lower, upper, color=ABOVE, alpha=0.25, linewidth=0)
    axis.plot(places, upper, color=ABOVE, linewidth=1.4, label="δ, at most")
    axis.plot(places, lower, color=BELOW, linewidth=1.4, linestyle="--", label="δ, at least")
    axis.set(yscale="log", ylabel="δ")
    axis.grid(visible=True, alpha=0.3)


def _curve_panel(axis: Any, curve: Sequence[DeltaPoint], estimate: Callable[[float], float] | None) -> None:
    epsilons = [as_double(point.epsilon) for point in curve]
    _band(axis, epsilons, curve)
    if estimate is not None:
        theirs = [estimate(epsilon) or math.nan for epsilon in epsilons]
        label = "dp_accounting (doubles)"
        axis.plot(epsilons, theirs, color=BESIDE, linestyle=":", linewidth=1.8, label=label)
    axis.set(title="δ at each ε", xlabel="ε")
    axis.legend(frameon=False)


def _trade_off_panel(axis: Any, answer: Composition, curve: Sequence[DeltaPoint]) -> None:
    points = [(math.exp(as_double(point.epsilon)), as_double(point.upper)) for point in curve]
    show_guaranteed(axis, points, "any test: at least")
    for one in answer.accountant.sides:
        known = next((tape.found[-1] for tape in reversed(one.tapes) if tape.found[-1].p), None)
        if known is not None:
            unit = fmpz(10) ** known.grid.fine
            sums = list(zip(*(masses for masses, _ in known.tests), strict=True))
            some = [*sums[:: max(1, len(sums) // MOST_TESTS)], sums[-1]]
            reached = [(min(1.0, as_double(fmpq(q, unit))), as_double(1 - fmpq(p, unit))) for p, q in some]
            label, dashes = f"a known test ({one.name}): at most", "-." if one.name == "add" else "--"
            places = zip((0.0, 1.0), *reached, strict=True)
            axis.plot(*places, color=BELOW, linewidth=1.2, linestyle=dashes, label=label)
    axis.set_title("trade-off function f")
    show_errors(axis)


def _runs_panel(axis: Any, answer: Composition, curve: Sequence[DeltaPoint]) -> None:
    """Draw delta where the whole list runs so many times, at the middle of the curve."""
    epsilon = curve[len(curve) // 2].epsilon
    found = [answer.repeated(times, width=COARSE).delta(epsilon) for times in REPEATED]
    _band(axis, REPEATED, found)
    axis.set(title=f"δ at ε = {as_double(epsilon):.3g}, by runs of the list", xlabel="runs of the list")
    axis.set_xscale("log", base=2)
    axis.set_xticks(REPEATED, [str(times) for times in REPEATED])
    axis.legend(frameon=False)
