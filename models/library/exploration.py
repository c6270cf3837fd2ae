"""From rules that say what a state does to the automaton of all states that can be reached."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.pa import PA, Transition


class Named(Hashable, Protocol):
    """A state that knows its name."""

    def name(self) -> str:
        """Return the name, another for every state."""


State = TypeVar("State", bound=Named)
Step: TypeAlias = tuple[str, Sequence[tuple[State, fmpq]]]
"""An action, and the successors, each once, with their probabilities."""


def explored(
    starts: Iterable[State],
    steps: Callable[[State], Iterable[Step[State]]],
    pairs: Iterable[tuple[int, int]] = (),
    *,
    limit: int,
) -> PA:
    """Return the automaton of everything that can be reached, states in the order in which that happens.

    ``steps``: what a state does; its transitions keep the order.
    ``pairs``: pairs of indices of starts.
    ``limit``: how many states there may be.
    Raises UsageError if there are more.
    """
    position: dict[State, int] = {}
    states: list[State] = []

    def index(state: State) -> int:
        found = position.setdefault(state, len(states))
        if found == len(states):
            if found >= limit:
                raise UsageError(f"the automaton has more than the {limit} states allowed")
            states.append(state)
        return found

    for start in starts:
        index(start)
    transitions = []
    done = 0
    while done < len(states):
        for action, successors in steps(states[done]):
            row = tuple(sorted([(index(target), probability) for target, probability in successors]))
            transitions.append(Transition(done, action, row))
        done += 1
    return PA(tuple(state.name() for state in states), tuple(transitions), tuple(pairs))
