"""The numbers of pairs drawn one below the other: a dot where one is exact, else what it lies between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flint import fmpq

from bisimdist.report.pair_table import Row, is_ratio, value_of
from bisimdist.report.pictures import figure_class

__all__ = ["draw_pairs"]

MOST = 60
COLOUR = "#1f4e9c"


def draw_pairs(pairs: Sequence[Row]) -> Any:
    """Draw the pairs in their order, at most 60 of them; of ratios the logarithm.

    Parameters
    ----------
    pairs
        What the JSON object says of each.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    UsageError
        If matplotlib is not installed, or there is no number for a pair.
    """
    shown = pairs[:MOST]
    ratios = bool(shown) and is_ratio(shown[0])
    ends = [tuple(_double(value_of(pair, bound), ratios) for bound in ("lower", "upper")) for pair in shown]
    figure = figure_class()(figsize=(6.4, 1.4 + 0.25 * len(shown)), layout="constrained")
    axis = figure.subplots()
    finite = [end for both in ends for end in both if math.isfinite(end)]
    edge = 1.15 * max(finite, default=1.0) or 1.0
    for place, (low, high) in enumerate(ends):
        drawn = [min(low, edge), min(high, edge)]
        axis.plot(drawn, [place, place], color=COLOUR, linewidth=2.5, alpha=0.5)
        for end, mark in zip(drawn, "|" * 2 if low != high else "oo", strict=True):
            axis.plot([end], [place], marker=mark if end < edge else ">", color=COLOUR)
    axis.set_yticks(range(len(shown)), [f"{pair['from']}, {pair['to']}" for pair in shown])
    axis.invert_yaxis()
    axis.set_xlim(left=0)
    axis.set_xlabel("epsilon" if ratios else "bounds (a dot is exact, an arrow infinite)")
    axis.grid(visible=True, axis="x", alpha=0.3)
    return figure


def _double(value: fmpq | None, ratios: bool) -> float:
    if value is None:
        return math.inf
    number = int(value.p) / int(value.q)
    return math.log(number) if ratios else number
