"""Lists of mechanisms as dp_accounting's ``DpEvent`` says them, and what it estimates of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.exact.doubles import as_double
from bisimdist.exact.rational import to_fmpq
from bisimdist.privacy.compose.mechanisms import Mechanism

NOISE = {"gaussian": "sigma", "laplace": "scale"}  # kinds of noise that events have, too, by the parameter


def listed(mechanisms: Any, relation: str) -> list[Any]:
    """Return the entries of a list; an event becomes the entries that it stands for.

    Doubles in an event are read as the decimals that Python writes for them. The noise of an event is by what
    adding a record changes; replacing one changes twice as much.
    """
    if isinstance(mechanisms, Mapping | Mechanism):
        return [mechanisms]
    if isinstance(mechanisms, Sequence) and not isinstance(mechanisms, str):
        return [part for entry in mechanisms for part in listed(entry, relation)]
    if not type(mechanisms).__name__.endswith("DpEvent"):
        raise UsageError("expected a list of mechanisms, such as [{'gaussian': {'sigma': 1}}], or a DpEvent")
    return list(_entries(mechanisms, 1, 2 if relation == "replace" else 1))


def _entries(event: Any, times: int, moved: int = 1) -> Iterator[dict[str, Any]]:
    kind = type(event).__name__.removesuffix("DpEvent")
    if kind == "Composed":
        for part in event.events:
            yield from _entries(part, times, moved)
    elif kind == "SelfComposed":
        yield from _entries(event.event, times * int(event.count), moved)
    elif kind != "NoOp":
        yield {**_entry(event, kind, moved), "times": times}


def _entry(event: Any, kind: str, moved: int) -> dict[str, Any]:
    """Return the entry of a single mechanism; `moved` is the sensitivity of what is not sampled."""
    if kind.lower() in NOISE:
        return {kind.lower(): {NOISE[kind.lower()]: repr(event.noise_multiplier), "sensitivity": moved}}
    if kind == "RandomizedResponse":
        # with probability `share` any bucket is answered, the true one among them
        buckets, share = int(event.num_buckets), to_fmpq(repr(event.noise_parameter))
        return {"randomised-response": {"truth": 1 - share + share / buckets, "options": buckets}}
    if kind == "PoissonSampled":
        inner = list(_entries(event.event, 1))
        if len(inner) == 1 and inner[0].pop("times") == 1:
            return {"subsampled": {"q": repr(event.sampling_probability), "of": inner[0]}}
        raise UsageError("a Poisson-sampled event holds several mechanisms; expected one")
    raise UsageError(f"the event {kind}DpEvent is not read; expected Gaussian, RandomizedResponse, ...")


def estimates(mechanisms: Sequence[Mechanism], relation: str) -> Callable[[float], float] | None:
    """Return dp_accounting's delta at an epsilon, in doubles; None where it does not know the list."""
    import dp_accounting  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415  (an extra)
    from dp_accounting.pld import PLDAccountant  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415

    answers = ["randomised-response" in one.spec for one in mechanisms]
    neighbours = dp_accounting.NeighboringRelation
    made = PLDAccountant(neighbours.REPLACE_ONE if all(answers) else neighbours.ADD_OR_REMOVE_ONE)
    for one, answer in zip(mechanisms, answers, strict=True):
        event = _event(one.spec, dp_accounting)
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
