"""Interactive models in which only so many actions may be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bisimdist.models.interactive import Interactive, Moves
from bisimdist.models.reach import all_reached

Place = tuple[int, int | None]
"""A state, and how many actions may still be asked; None where nothing is on offer anyway."""


@dataclass(frozen=True, slots=True)
class Unrolled:
    """A model whose states say how many actions are left, and what they were before."""

    # the unrolled model, of what the starts reach. A state i with k actions left is called ``i@k``, one that
    # offers nothing anyway ``i@``, and so are the labels.
    model: Interactive
    origin: tuple[int, ...]  # by state of the unrolled model the state that it was
    starts: Mapping[int, int]  # by state of the model that was given the state where its runs begin
    labels: Mapping[str, str]  # by label of the unrolled model the label that it was


def unrolled(model: Interactive, rounds: int, starts: Iterable[int] | None = None) -> Unrolled:
    """Return a model in which from the starts at most so many actions may be asked.

    Without starts every state is there with any number of actions left.

    >>> model = Interactive.from_mappings({"s": "a"}, {"s": {"X": {"s": 1}}})
    >>> unrolled(model, 1, [0]).model.canonical()["transitions"]
    {'s@1': {'X': {'s@0': '1'}}, 's@0': {}}
    """

    def place(state: int, left: int) -> Place:
        return state, left if model.moves[state] else None

    def follow(here: Place) -> list[Place]:
        state, left = here
        return [place(t, left - 1) for _, row in model.moves[state] for t, _ in row] if left else []

    if starts is None:
        first = {state: place(state, rounds) for state in range(len(model))}
        every = (place(state, left) for left in range(rounds, -1, -1) for state in first)
        found = list(dict.fromkeys(every))
    else:
        first = {start: place(start, rounds) for start in starts}
        found = all_reached(first.values(), follow)
    number = {here: k for k, here in enumerate(found)}

    def named(name: str, left: int | None) -> str:
        return f"{name}@{'' if left is None else left}"

    def moves(state: int, left: int) -> Moves:
        return tuple(
            (action, tuple(sorted((number[place(t, left - 1)], p) for t, p in row)))
            for action, row in model.moves[state]
        )

    labels = {named(model.labels[state], left): model.labels[state] for state, left in found}
    return Unrolled(
        Interactive(
            tuple(named(model.states[state], left) for state, left in found),
            tuple(named(model.labels[state], left) for state, left in found),
            tuple(moves(state, left) if left else () for state, left in found),
        ),
        tuple(state for state, _ in found),
        {start: number[here] for start, here in first.items()},
        labels,
    )
