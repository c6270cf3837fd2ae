"""The picture of a design curve; it needs matplotlib (``pip install bisimdist[plot]``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq

from bisimdist.exact.doubles import as_double
from bisimdist.exact.rational import shorten_rational
from bisimdist.faces.shown.pictures import figure_class
from bisimdist.privacy.delta.answer import DeltaAnswer


def curve_figure(grids: Sequence[fmpq], answers: Sequence[DeltaAnswer], claimed: fmpq | None) -> Any:
    """Draw bounds on delta by grid, and the delta that is claimed."""
    figure = figure_class()(figsize=(6.4, 4.4), layout="constrained")
    axis = figure.subplots()
    points = sorted(zip(map(as_double, grids), answers, strict=True), key=lambda point: point[0])
    widths = [width for width, _ in points]
    lower, upper = ([as_double(getattr(a, side)) for _, a in points] for side in ("lower", "upper"))
    axis.set_xscale("log", base=2)
    if min(upper) > 0:
        axis.set_yscale("log")
    (line,) = axis.plot(widths, upper, marker="o", linewidth=1.6, label="true delta")
    if lower != upper:
        axis.fill_between(widths, lower, upper, alpha=0.3, color=line.get_color())
    if claimed is not None:
        axis.axhline(as_double(claimed), color="0.5", linestyle="--", label="claimed")
    axis.set_xlabel("grid")
    axis.set_ylabel("delta")
    axis.grid(visible=True, alpha=0.3)
    axis.legend(frameon=False, fontsize="small")
    figure.suptitle(f"delta at alpha = {shorten_rational(answers[0].alpha_upper)}, rounded to a grid")
    return figure
