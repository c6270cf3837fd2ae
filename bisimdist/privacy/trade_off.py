"""The trade-off function in pictures: its axes, and what bounds on delta say of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def show_errors(axis: Any) -> None:
    """Give a picture of the trade-off function its axes."""
    axis.set_xlabel("type I error")
    axis.set_ylabel("type II error")
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)
    axis.set_aspect("equal")
    axis.grid(visible=True, alpha=0.3)
    axis.legend(frameon=False, fontsize="small")


def guaranteed(points: Iterable[tuple[float, float]], error: float) -> float:
    """Return what alphas with upper bounds on delta say of the type II error, the best of them."""
    best = 0.0
    for alpha, upper in points:
        rest = 1 - upper
        best = max(best, rest - alpha * error, (rest - error) / alpha)
    return best
