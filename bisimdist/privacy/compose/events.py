"""Lists of mechanisms as dp_accounting's ``DpEvent`` says them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.exact.rational import to_fmpq
from bisimdist.privacy.compose.mechanisms import Mechanism
from bisimdist.privacy.engine.accounting import NOISE


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
