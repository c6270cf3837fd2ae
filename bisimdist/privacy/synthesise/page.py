"""Pictures of delta as a function of a parameter; they need matplotlib (``pip install bisimdist[plot]``)."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from bisimdist.exact.doubles import as_double
from bisimdist.exact.rational import shorten_rational
from bisimdist.faces.shown.pictures import figure_class
from bisimdist.privacy.synthesise.answer import PiecesAnswer

SAMPLES = 400
WIDTH = 44  # how many characters names of a pair have at most

SHOWN = 8  # how many pairs have a line of the legend each


def pieces_figure(answer: PiecesAnswer) -> Any:
    """Draw delta of all pairs, with a point wherever one piece ends and another begins."""
    figure = figure_class()(figsize=(6.4, 4.4), layout="constrained")
    axis = figure.subplots()
    low, high = answer.interval
    points = [low + (high - low) * fmpq(k, SAMPLES) for k in range(1, SAMPLES)]
    for number, pair in enumerate(answer.pairs):
        merged = pair.pieces.merged()
        name = _short(f"({pair.source}, {pair.target})") if number < SHOWN else None
        values = [as_double(merged.at(point)) for point in points]
        (line,) = axis.plot([as_double(point) for point in points], values, linewidth=1.6, label=name)
        breaks = [(root.low + root.high) / 2 for root in merged.breaks]
        axis.plot(
            [as_double(x) for x in breaks],
            [as_double(merged.at(x)) for x in breaks],
            linestyle="none",
            marker="o",
            markersize=4,
            color=line.get_color(),
        )
    axis.set_xlabel(answer.model.parameter_names[0])
    axis.set_ylabel("delta")
    axis.set_xlim(as_double(low), as_double(high))
    axis.set_ylim(bottom=0)
    axis.grid(visible=True, alpha=0.3)
    if len(answer.pairs) > 1:
        axis.legend(frameon=False, fontsize="small")
    pairs = _short(f"({answer.pairs[0].source}, {answer.pairs[0].target})")
    who = f"pair {pairs}" if len(answer.pairs) == 1 else f"{len(answer.pairs)} pairs"
    figure.suptitle(f"delta at alpha = {shorten_rational(answer.alpha)}, {who}")
    return figure


def _short(name: str) -> str:
    """Return a name that fits the width of the picture."""
    return name if len(name) <= WIDTH else f"{name[: WIDTH // 2]}…{name[-WIDTH // 2 :]}"
