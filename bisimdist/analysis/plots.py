"""Pictures of a privacy profile; they need matplotlib (``pip install bisimdist[plot]``)."""

from __future__ import annotations

import math
from typing import Any

from flint import fmpq

from bisimdist.analysis.profile import ProfileAnswer
from bisimdist.report.pictures import figure_class

__all__ = ["profile_figure"]

SAMPLES = 300
DEEPEST = 1e-12
"""Smaller deltas do not show in the logarithmic form."""


def profile_figure(answer: ProfileAnswer, *, logarithmic: bool = False, trade_off: bool = False) -> Any:
    """Draw a profile, and beside it, where asked for, the trade-off curve.

    Parameters
    ----------
    answer
        The profile.
    logarithmic
        Whether both axes are logarithmic.
    trade_off
        Whether the trade-off (f-DP) curve is drawn too.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    """
    figure = figure_class()(figsize=(10.5 if trade_off else 6.4, 4.4), layout="constrained")
    axes = figure.subplots(1, 2 if trade_off else 1, squeeze=False)[0]
    _profile_panel(axes[0], answer, logarithmic)
    if trade_off:
        _trade_off_panel(axes[1], answer)
    whole = answer.pairs[0]
    title = f"pair ({whole[0]}, {whole[1]})" if len(answer.pairs) == 1 else f"{len(answer.pairs)} pairs"
    if answer.runs > 1:
        title += f", {answer.runs} runs"
    figure.suptitle(f"Privacy profile, {title}")
    return figure


def _float(value: fmpq) -> float:
    return int(value.p) / int(value.q)


def _samples(answer: ProfileAnswer, logarithmic: bool) -> list[fmpq]:
    first, last = answer.points[0].alpha, answer.points[-1].alpha
    low, high = math.log(_float(first)), math.log(_float(last))
    if logarithmic:
        smallest = min((math.log(_float(p.alpha)) for p in answer.points if p.alpha > 1), default=high)
        start = math.log(max(smallest / 4, 1e-12))
        end = math.log(max(high, smallest))
        epsilons = [math.exp(start + (end - start) * k / SAMPLES) for k in range(SAMPLES + 1)]
    else:
        epsilons = [low + (high - low) * k / SAMPLES for k in range(SAMPLES + 1)]
    drawn = {fmpq(*(math.exp(epsilon)).as_integer_ratio()) for epsilon in epsilons}
    drawn |= {point.alpha for point in answer.points}
    return sorted(alpha for alpha in drawn if first <= alpha <= last and (alpha > 1 or not logarithmic))


def _profile_panel(axis: Any, answer: ProfileAnswer, logarithmic: bool) -> None:
    alphas = _samples(answer, logarithmic)
    epsilons = [math.log1p(_float(alpha - 1)) for alpha in alphas]
    if answer.losses is not None:
        upper = [_float(max(losses.delta(alpha) for losses in answer.losses)) for alpha in alphas]
        lower = upper
    else:
        upper = [_float(answer.upper_at(alpha)) for alpha in alphas]
        lower = [_float(answer.lower_at(alpha)) for alpha in alphas]
    exact = lower == upper
    axis.plot(epsilons, upper, color="#1f4e9c", linewidth=1.6, label="delta" if exact else "upper bound")
    if not exact:
        axis.plot(epsilons, lower, color="#c0562b", linewidth=1.2, linestyle="--", label="lower bound")
        axis.fill_between(epsilons, lower, upper, color="#1f4e9c", alpha=0.15, linewidth=0)
    if answer.renyi is not None:
        follows = [_float(answer.renyi.delta_upper(alpha) or fmpq(1)) for alpha in alphas]
        axis.plot(epsilons, follows, color="0.4", linewidth=1.2, linestyle="-.", label="from Rényi")
    shown = [point for point in answer.points if point.alpha > 1 or not logarithmic]
    axis.plot(
        [math.log1p(_float(point.alpha - 1)) for point in shown],
        [_float(point.upper) for point in shown],
        linestyle="none",
        marker="o",
        markersize=3,
        color="#1f4e9c",
        label="computed points",
    )
    axis.set_xlabel("epsilon")
    axis.set_ylabel("delta")
    if logarithmic and max(upper) > 0:
        axis.set_xscale("log")
        axis.set_yscale("log")
        if max(epsilons) < 100 * min(epsilons):
            # over few decades matplotlib labels the minor ticks too, one over the other
            axis.xaxis.set_minor_formatter(_short_ticks)
        floor = max(DEEPEST, min((value for value in upper if value > 0), default=DEEPEST) / 2)
        axis.set_ylim(bottom=floor)
    else:
        axis.set_ylim(bottom=0)
        axis.set_xlim(left=0)
    axis.grid(visible=True, which="major", alpha=0.3)
    axis.legend(frameon=False)


def _short_ticks(value: float, _: int) -> str:
    """Label the ticks at 2 and 5 only."""
    return f"{value:.0e}".replace("e-0", "e-") if f"{value:e}"[0] in "25" else ""


def _trade_off_panel(axis: Any, answer: ProfileAnswer) -> None:
    axis.plot([0, 1], [1, 0], color="0.6", linewidth=1, linestyle=":", label="no information")
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
                [_float(a) for a, _ in vertices],
                [_float(b) for _, b in vertices],
                linewidth=1.5,
                linestyle=style,
                color="#1f4e9c" if style == "-" else "#c0562b",
                label=f"T({first}, {second})",
            )
    else:
        errors = [k / SAMPLES for k in range(SAMPLES + 1)]
        axis.plot(
            errors,
            [_guaranteed(answer, a) for a in errors],
            color="#1f4e9c",
            linewidth=1.5,
            label="at least (from the upper bounds)",
        )
    axis.set_xlabel("type I error")
    axis.set_ylabel("type II error")
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)
    axis.set_aspect("equal")
    axis.grid(visible=True, alpha=0.3)
    axis.legend(frameon=False, fontsize="small")


def _guaranteed(answer: ProfileAnswer, a: float) -> float:
    """Return what all points of the profile say of the trade-off function at a, the best of them."""
    best = 0.0
    for point in answer.points:
        alpha, rest = _float(point.alpha), 1 - _float(point.upper)
        best = max(best, rest - alpha * a, (rest - a) / alpha)
    return best
