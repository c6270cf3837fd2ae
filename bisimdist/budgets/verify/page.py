"""The picture of p-values beside an exact budget; it needs matplotlib (``pip install bisimdist[plot]``).

Source: LWZ22-long Figure 4.
"""

from __future__ import annotations

from textwrap import shorten
from typing import Any

from bisimdist.budgets.verify.tested import TestedAnswer
from bisimdist.errors import UsageError
from bisimdist.exact.doubles import as_double
from bisimdist.faces.shown.pictures import figure_class

TESTED, EXACT = "#3f7fe0", "#d2642a"


def p_value_figure(answer: TestedAnswer) -> Any:
    """Draw the p-values of the worst pair by epsilon, with a line at its exact budget.

    Raises UsageError if matplotlib is not installed, or nothing was tested.
    """
    worst = answer.pairs[0]
    if not worst.curve:
        raise UsageError("no p-values are there to draw: the work ended before the tests did")
    word = " ".join(worst.candidate.candidate.word) if worst.candidate else ""
    figure = figure_class()(figsize=(6.4, 4.0), layout="constrained")
    axis = figure.subplots()
    axis.plot(
        [as_double(point.epsilon) for point in worst.curve],
        [as_double(point.value) for point in worst.curve],
        color=TESTED,
        marker="o",
        markersize=3.5,
        label=f"p-value of the sequence [{shorten(word, 24, placeholder=' ...')}]",
    )
    known = worst.budget.epsilon
    if known is not None:
        axis.axvline(float(known[0]), color=EXACT, linestyle="--", label=f"exact: epsilon = {known[0]}...")
    axis.set_xlabel("epsilon")
    axis.set_ylabel("p-value")
    axis.set_ylim(-0.03, 1.05)
    axis.legend(loc="best", frameon=False)
    figure.suptitle(f"Testing ({worst.budget.source}) against ({worst.budget.target})")
    return figure
