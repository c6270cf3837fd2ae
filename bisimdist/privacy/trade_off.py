"""The trade-off function in pictures: its axes, and what bounds on delta say of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

ABOVE, BELOW, BESIDE = "#3f7fe0", "#d2642a", "#808890"
"""Colours that can be told from each other and from white as well as dark paper."""
SAMPLES = 300


def show_guaranteed(axis: Any, points: Sequence[tuple[float, float]], label: str) -> None:
    """Draw what alphas with upper bounds on delta say of the type II error."""
    errors = [k / SAMPLES for k in range(SAMPLES + 1)]
    axis.plot(
        errors, [guaranteed(points, error) for error in errors], color=ABOVE, linewidth=1.5, label=label
    )


def show_errors(axis: Any) -> None:
    """Give a picture of the trade-off function its axes, and the line of a test that knows nothing."""
    axis.plot([0, 1], [1, 0], color=BESIDE, linewidth=1, linestyle=":", label="no information")
    axis.set(xlabel="type I error", ylabel="type II error", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axis.grid(visible=True, alpha=0.3)
    axis.legend(frameon=False, fontsize="small")


def guaranteed(points: Iterable[tuple[float, float]], error: float) -> float:
    """Return what alphas with upper bounds on delta say of the type II error, the best of them."""
    best = 0.0
    for alpha, upper in points:
        rest = 1 - upper
        best = max(best, rest - alpha * error, (rest - error) / alpha)
    return best
