"""Google's dp_accounting: hand-over of exact privacy losses, and what it estimates of a list of mechanisms.

What is returned is in floating point; install it with ``pip install
bisimdist[accounting]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flint import arb, fmpq

from bisimdist.exact.doubles import as_double
from bisimdist.exact.rational import to_fmpq
from bisimdist.extras import needed
from bisimdist.privacy.engine.losses import LossDistribution

NOISE = {"gaussian": "sigma", "laplace": "scale"}  # kinds of noise that its events have, by the parameter


def to_dp_accounting(
    losses: LossDistribution, *, pessimistic: bool = True, discretisation: float = 1e-4
) -> Any:
    """Return the losses as a ``PrivacyLossDistribution`` of dp_accounting, both directions.

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


def estimates(mechanisms: Sequence[Any], relation: str) -> Callable[[float], float] | None:
    """Return dp_accounting's delta of a composition at an epsilon; None if it knows no such composition."""
    events = needed("dp_accounting", "accounting")
    answers = ["randomised-response" in one.spec for one in mechanisms]
    neighbours = events.NeighboringRelation
    made = needed("dp_accounting.pld", "accounting").PLDAccountant(
        neighbours.REPLACE_ONE if all(answers) else neighbours.ADD_OR_REMOVE_ONE
    )
    for one, answer in zip(mechanisms, answers, strict=True):
        event = _event(one.spec, events)
        if relation != "add-remove" or event is None or not made.supports(event):
            return None
        # version 0.6 counts a randomised response once, however often it is said to run
        for _ in range(one.runs if answer else 1):
            made.compose(event, 1 if answer else one.runs)
    return lambda epsilon: float(made.get_delta(epsilon))


def _event(spec: Mapping[str, Any], events: Any) -> Any:
    """Return the event of a mechanism, where there is one."""
    ((kind, said),) = spec.items()
    if kind in NOISE:
        noise = to_fmpq(said[NOISE[kind]]) / to_fmpq(said["sensitivity"])
        return getattr(events, f"{kind.title()}DpEvent")(as_double(noise))
    if kind == "randomised-response":
        options = int(said["options"])
        noise = (1 - to_fmpq(said["truth"])) * options / (options - 1)
        return events.RandomizedResponseDpEvent(as_double(noise), options)
    if kind == "subsampled" and said["sampling"] == "poisson":
        inner = _event(said["of"], events)
        return inner and events.PoissonSampledDpEvent(as_double(to_fmpq(said["q"])), inner)
    return None
