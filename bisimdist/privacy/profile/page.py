"""Pictures of a privacy profile; they need matplotlib (``pip install bisimdist[plot]``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flint import fmpq

from bisimdist.exact.doubles import as_double, from_double
from bisimdist.extras import needed
from bisimdist.faces.shown.pictures import figure_class
from bisimdist.privacy.profile.answer import ProfileAnswer
from bisimdist.privacy.trade_off import ABOVE, BELOW, BESIDE, SAMPLES, show_errors, show_guaranteed

HAIRLINE = 0.002  # bounds that are no further apart than this share of the largest delta are one line
DEEPEST = 1e-12  # smaller deltas do not show in the logarithmic form


def profile_figure(
    answer: ProfileAnswer,
    *,
    logarithmic: bool = False,
    trade_off: bool = False,
    kinks: bool = False,
    named: str = "",
) -> Any:
    """Draw a profile, and beside it, where asked for, the trade-off curve. See `ProfileAnswer.plot`."""
    figure = figure_class()(figsize=(10.5 if trade_off else 6.4, 4.4), layout="constrained")
    axes = figure.subplots(1, 2 if trade_off else 1, squeeze=False)[0]
    (source, target) = answer.pairs[0]
    pairs = f"({source}, {target})" if len(answer.pairs) == 1 else f"{len(answer.pairs)} pairs"
    _profile_panel(axes[0], answer, logarithmic, kinks, named or pairs)
    if trade_off:
        _trade_off_panel(axes[1], answer)
    runs = f", {answer.runs} runs" if answer.runs > 1 else ""
    figure.suptitle(f"Privacy profile, {pairs}{runs}")
    return figure


def _samples(answer: ProfileAnswer, logarithmic: bool) -> list[fmpq]:
    first, last = answer.points[0].alpha, answer.points[-1].alpha
    low, high = math.log(as_double(first)), math.log(as_double(last))
    if logarithmic:
        smallest = min((math.log(as_double(p.alpha)) for p in answer.points if p.alpha > 1), default=high)
        start = math.log(max(smallest / 4, 1e-12))
        end = math.log(max(high, smallest))
        epsilons = [math.exp(start + (end - start) * k / SAMPLES) for k in range(SAMPLES + 1)]
    else:
        epsilons = [low + (high - low) * k / SAMPLES for k in range(SAMPLES + 1)]
    drawn = {from_double(math.exp(epsilon)) for epsilon in epsilons}
    drawn |= {point.alpha for point in answer.points}
    return sorted(alpha for alpha in drawn if first <= alpha <= last and (alpha > 1 or not logarithmic))


def _profile_panel(axis: Any, answer: ProfileAnswer, logarithmic: bool, kinks: bool, named: str) -> None:
    alphas = _samples(answer, logarithmic)
    epsilons = [_epsilon(alpha) for alpha in alphas]
    if answer.losses is not None:
        upper = [as_double(max(losses.delta(alpha) for losses in answer.losses)) for alpha in alphas]
        lower = upper
    else:
        upper = [as_double(answer.upper_at(alpha)) for alpha in alphas]
        lower = [as_double(answer.lower_at(alpha)) for alpha in alphas]
    hairline = HAIRLINE * max(upper)
    apart = [high - low > hairline for low, high in zip(lower, upper, strict=True)]
    what = f"δ of {named}" + (", at most" if any(apart) else "")
    axis.plot(epsilons, upper, color=ABOVE, linewidth=1.6, label=what)
    if any(apart):
        below = [low if gap else math.nan for low, gap in zip(lower, apart, strict=True)]
        axis.plot(epsilons, below, color=BELOW, linewidth=1.4, linestyle="--", label="at least")
        axis.fill_between(epsilons, lower, upper, color=ABOVE, alpha=0.18, linewidth=0)
    if answer.renyi is not None:
        follows = [as_double(answer.renyi.delta_upper(alpha) or fmpq(1)) for alpha in alphas]
        axis.plot(epsilons, follows, color=BESIDE, linewidth=1.2, linestyle="-.", label="from Rényi")
    shown = {point.alpha: point.upper for point in answer.points if point.alpha > 1 or not logarithmic}
    _marks(axis, shown, "o", "computed points")
    if kinks and answer.losses is not None:
        bends = {
            alpha for losses in answer.losses for alpha in losses.bends() if alphas[0] <= alpha <= alphas[-1]
        }
        _marks(axis, {a: max(losses.delta(a) for losses in answer.losses) for a in bends}, "|", "kinks")
    axis.set_xlabel("ε")
    axis.set_ylabel("δ")
    if logarithmic and max(upper) > 0:
        axis.set_xscale("log")
        axis.set_yscale("log")
        floor = max(DEEPEST, min((value for value in upper if value > 0), default=DEEPEST) / 2)
        axis.set_ylim(bottom=floor)
        for line in (axis.xaxis, axis.yaxis):
            _one_set_of_ticks(line)
    else:
        axis.set_ylim(bottom=0)
        axis.set_xlim(left=0)
        axis.locator_params(axis="x", nbins=6)
    axis.grid(visible=True, which="major", alpha=0.3)
    axis.legend(frameon=False)


def _epsilon(alpha: fmpq) -> float:
    return math.log1p(as_double(alpha - 1))


def _marks(axis: Any, values: Mapping[fmpq, fmpq], mark: str, label: str) -> None:
    places, heights = [_epsilon(alpha) for alpha in values], [as_double(value) for value in values.values()]
    size = 3 if mark == "o" else 12
    axis.plot(places, heights, linestyle="none", marker=mark, markersize=size, color=ABOVE, label=label)


def _one_set_of_ticks(line: Any) -> None:
    """Let the ticks of a logarithmic axis stand at 1, 2 and 5, or at powers of ten where it is long."""
    low, high = line.get_view_interval()
    steps = (1.0, 2.0, 5.0) if high < 1000 * low else (1.0,)
    line.set_major_locator(needed("matplotlib.ticker", "plot").LogLocator(subs=steps))
    line.set_major_formatter(lambda value, _: f"{value:g}")
    line.set_minor_locator(needed("matplotlib.ticker", "plot").NullLocator())


def _trade_off_panel(axis: Any, answer: ProfileAnswer) -> None:
    if answer.losses is not None:
        # of several pairs the one that is told apart best
        losses, (source, target) = max(
            zip(answer.losses, answer.pairs, strict=True), key=lambda entry: entry[0].delta(fmpq(1))
        )
        for distribution, first, second, style in (
            (losses, source, target, "-"),
            (losses.swapped(), target, source, "--"),
        ):
            vertices = distribution.trade_off()
            axis.plot(
                [as_double(a) for a, _ in vertices],
                [as_double(b) for _, b in vertices],
                linewidth=1.5,
                linestyle=style,
                color=ABOVE if style == "-" else BELOW,
                label=f"T({first}, {second})",
            )
    else:
        points = [(as_double(point.alpha), as_double(point.upper)) for point in answer.points]
        show_guaranteed(axis, points, "at least (from the upper bounds)")
    show_errors(axis)
