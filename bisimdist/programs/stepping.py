"""Chains of step functions, for those who think in states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bisimdist.errors import LimitError, Located, ModelError, UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.lmc import Row
from bisimdist.programs.chain import Origin, ProgramChain
from bisimdist.programs.inputs import pairs_of
from bisimdist.progress import NEVER, Deadline


def explore_steps(  # noqa: PLR0913
    start: Any,
    step: Callable[[Any], Mapping[Any, ExactNumber] | None],
    label: Callable[[Any], object],
    *,
    pairs: Sequence[tuple[str, str]] | None,
    states: int,
    deadline: Deadline = NEVER,
) -> ProgramChain:
    """Return the chain of all states that are reached from the starts.

    start: a state, a list of states, or a mapping from names to states.
    step: returns the distribution over next states; None or an empty one where a run ends.
    label: returns what is seen of a state.
    pairs: pairs of names of starts; by default the first two.
    states: how many states there may be.
    Raises LimitError if there are more states. Raises ModelError if a distribution is none.
    """
    if isinstance(start, Mapping):
        named = {str(name): state for name, state in start.items()}
    else:
        named = {str(state): state for state in (start if isinstance(start, list) else [start])}
    if not named:
        raise UsageError("there is no start; expected a state, a list of them, or a mapping from names")
    names: dict[Any, str] = {}
    for name, state in named.items():
        if state in names:
            raise UsageError(f"the starts {names[state]} and {name} are the same state")
        names[state] = name
    place: dict[Any, int] = {state: k for k, state in enumerate(names)}
    order = list(place)
    rows: list[Row] = []
    for k, state in enumerate(order):
        if k % 256 == 0:
            deadline.check()
        rows.append(_row(state, step(state), place, order))
        if len(order) > states:
            raise LimitError(f"more than {states} states are reached; allow more with states=")
    taken = set(named)
    for state in order[len(names) :]:
        name = str(state)
        while name in taken:
            name += "'"
        taken.add(name)
        names[state] = name
    first = list(named)
    chosen = pairs_of(first, pairs, "start")
    return ProgramChain(
        tuple(names[state] for state in order),
        tuple(str(label(state)) for state in order),
        tuple(rows),
        tuple((place[named[s]], place[named[t]]) for s, t in chosen),
        Origin(getattr(step, "__qualname__", "step"), "label", {}, len(order)),
    )


def _row(
    state: Any, chances: Mapping[Any, ExactNumber] | None, place: dict[Any, int], order: list[Any]
) -> Row:
    if not chances:
        return ((place[state], to_fmpq(1)),)
    row = []
    for target, value in chances.items():
        with Located(place=f"transition {state} -> {target}"):
            p = to_fmpq(value)
        if p == 0:
            continue
        if target not in place:
            place[target] = len(order)
            order.append(target)
        row.append((place[target], p))
    total = sum(p for _, p in row)
    if total != 1:
        raise ModelError(f"the probabilities sum to {total}; expected 1", place=f"state {state}")
    return tuple(sorted(row))
