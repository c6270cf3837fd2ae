"""Hand-over of exact privacy losses to Google's dp_accounting, for composition with other mechanisms.

What it returns is an object of that library, in floating point; install it with ``pip install
bisimdist[accounting]``.
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq

from bisimdist.extras import needed
from bisimdist.privacy.engine.losses import LossDistribution


def to_dp_accounting(
    losses: LossDistribution, *, pessimistic: bool = True, discretisation: float = 1e-4
) -> Any:
    """Return the losses as a ``PrivacyLossDistribution`` of dp_accounting, both directions.

    losses: the exact losses.
    pessimistic: whether losses are rounded up to the grid, so that its deltas are upper bounds; otherwise
        they are rounded down, for lower bounds. Both only up to the accuracy of doubles.
    discretisation: the width of the grid of losses.
    Raises UsageError if dp_accounting is not installed.
    """
    privacy_loss_distribution = needed("dp_accounting.pld.privacy_loss_distribution", "accounting")
    upper = {str(k): _logarithm(p) for k, (p, _) in enumerate(losses.points) if p}
    lower = {str(k): _logarithm(q) for k, (_, q) in enumerate(losses.points) if q}
    return privacy_loss_distribution.from_two_probability_mass_functions(
        lower,
        upper,
        pessimistic_estimate=pessimistic,
        value_discretization_interval=discretisation,
        symmetric=False,
    )


def _logarithm(value: fmpq) -> float:
    return float(arb(value).log())
