"""The numbers of pairs drawn one below the other: a dot where one is exact, else what it lies between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flint import fmpq

from bisimdist.exact.doubles import as_double
from bisimdist.faces.shown.pair_table import Row, is_ratio, largest, value_of
from bisimdist.faces.shown.pictures import figure_class

MOST = 60
EXACT, APART = "#1f4e9c", "#d2642a"


def draw_pairs(pairs: Sequence[Row], title: str = "") -> Any:
    """Draw the pairs in their order; of more than 60 the largest, and say so; of ratios the logarithm.

    ``pairs``: what the JSON object says of each.
    Raises UsageError if matplotlib is not installed, or there is no number for a pair.
    """
    shown = pairs if len(pairs) <= MOST else [pairs[k] for k in largest(pairs, MOST)]
    ratios = bool(shown) and is_ratio(shown[0])
    ends = [tuple(_double(value_of(pair, bound), ratios) for bound in ("lower", "upper")) for pair in shown]
    figure = figure_class()(figsize=(6.4, 1.7 + 0.25 * len(shown)), layout="constrained")
    axis = figure.subplots()
    finite = [end for both in ends for end in both if math.isfinite(end)]
    edge = 1.15 * max(finite, default=1.0) or 1.0
    drawn = [(place, min(low, edge), min(high, edge)) for place, (low, high) in enumerate(ends)]
    exact = [(place, low) for place, low, high in drawn if low == high < edge]
    apart = [(place, low, high) for place, low, high in drawn if low < high]
    infinite = [place for place, _, high in drawn if high == edge]
    if exact:
        axis.plot([low for _, low in exact], [k for k, _ in exact], "o", color=EXACT, label="exact")
    if apart:
        places, lows, highs = zip(*apart, strict=True)
        axis.hlines(places, lows, highs, color=APART, linewidth=2.5, alpha=0.5)
        axis.plot([*lows, *highs], places * 2, "|", color=APART, markersize=9, label="between two bounds")
    if infinite:
        axis.plot([edge] * len(infinite), infinite, ">", color=APART, label="no finite bound")
    axis.set_yticks(range(len(shown)), [f"{pair['from']}, {pair['to']}" for pair in shown])
    axis.invert_yaxis()
    axis.set_xlim(left=0, right=1.03 * edge)
    axis.margins(y=0.5 / max(1, len(shown)))
    axis.set_xlabel("ε" if ratios else "bound")
    axis.grid(visible=True, axis="x", alpha=0.3)
    more = f"the largest {MOST} of {len(pairs)} pairs" if len(pairs) > MOST else ""
    figure.suptitle(": ".join(filter(None, (title, more))))
    figure.legend(loc="outside lower right", ncols=3, frameon=False, fontsize="small")
    return figure


def _double(value: fmpq | None, ratios: bool) -> float:
    if value is None:
        return math.inf
    number = as_double(value)
    return math.log(number) if ratios else number
