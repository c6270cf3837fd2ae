"""Programs over integers as flowcharts: trees of steps between places, with noise of known laws.

A step is plain data: an object with one key that says what it does, and ``then`` for what follows.

========================  ==============================================================================
``set``                   variables get the values of forms, all at once
``draw``                  a variable gets noise: ``law``, ``base`` and ``weight`` (its ratio is base**weight;
                          a coin is 1 with that ratio to 0)
``tell``                  the observer sees a form, or a text
``if``                    goes to ``then`` where a form is at least 0, and to ``else`` otherwise
``choose``                goes to ``then`` or ``else`` as something decides that two runs have in common
``read``                  a variable gets the next element of the input; ``first`` where the list begins
``go``                    goes on at a place
``return``                the observer sees forms and texts, and the run ends
========================  ==============================================================================

A form is an object: by variable its factor, an integer, and the constant under the empty name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bisimdist.models.labelled import digest_of

Step = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flowchart:
    """A program over integers, for all its inputs.

    ``low``, ``high``: between what the elements lie, where that is known.
    ``lines``: where in the source a place stands.
    """

    parameters: tuple[str, ...]  # integers that two runs have in common
    neighbours: str  # ``one`` element of the input differs by at most 1, or ``all`` may
    low: int | None
    high: int | None
    places: Mapping[str, Step]  # by name the steps from there; runs begin at ``start``
    variables: Mapping[str, tuple[str, ...]]  # by place the variables that have a value there
    origin: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return len(self.places)

    def canonical(self) -> dict[str, object]:
        """Return the program as certificates hold it."""
        bounds = {k: str(v) for k, v in (("low", self.low), ("high", self.high)) if v is not None}
        return {
            "kind": "flowchart",
            "parameters": list(self.parameters),
            "neighbours": self.neighbours,
            **bounds,
            "places": {name: written(step) for name, step in self.places.items()},
        }

    def digest(self) -> str:
        """Return the SHA-256 of the program as canonical JSON."""
        return digest_of(self.canonical())

    def provenance(self) -> dict[str, object]:
        """Return of which program it was made."""
        return dict(self.origin)


def written(value: Any) -> Any:
    """Return steps with their integers as texts."""
    if isinstance(value, Mapping):
        return {key: written(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [written(part) for part in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
