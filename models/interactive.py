"""Interactive models: labelled Markov chains whose next step somebody chooses who sees the labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bisimdist.errors import ModelError
from bisimdist.exact.rational import ExactNumber, format_rational
from bisimdist.models.labelled import (
    Labelled,
    Row,
    check_labels,
    check_names,
    check_pairs,
    check_states,
    full_row,
    row_from_names,
)
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition

Moves = tuple[tuple[str, Row], ...]
"""What may be asked in a state: (action, successors with their probabilities)."""


@dataclass(frozen=True, slots=True, repr=False)
class Interactive(Labelled):
    """A labelled chain whose rows carry an action, validated when it is made.

    An analyst sees the labels of the states that a run passes through, and chooses after each of them an
    action, or stops. Which actions there are is a function of the label: otherwise the analyst would learn
    from what is on offer. A state without actions ends the run.

    Parameters
    ----------
    states
        The names of the states, all different; a state's position is its index.
    labels
        The label of each state.
    moves
        For each state its actions with their rows, each of which sums to one exactly.
    pairs
        Pairs of indices: the neighbouring states; may be empty.

    Raises
    ------
    ModelError
        Naming the state, action or transition that is at fault.

    Examples
    --------
    >>> import bisimdist
    >>> model = bisimdist.Interactive.from_mappings(
    ...     {"s": "q", "y": "yes"}, {"s": {"X": {"y": 1}}, "y": {}}
    ... )
    >>> model.states
    ('s', 'y')
    """

    states: tuple[str, ...]
    labels: tuple[str, ...]
    moves: tuple[Moves, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    actions: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """All actions, in the order in which they first occur."""
    arms: tuple[tuple[Row, ...], ...] = field(init=False, repr=False, compare=False)
    """By action the row of every state; empty where the state does not offer the action. Where there is no
    action at all, there is one arm in which nothing is offered."""
    _position: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_position", check_states("model", self.states))
        check_labels(self.states, self.labels, self.moves)
        for name, moves in zip(self.states, self.moves, strict=True):
            self._check_moves(name, moves)
        self._check_offers()
        check_pairs(self.pairs, len(self.states))
        rows = [dict(moves) for moves in self.moves]
        actions = tuple(dict.fromkeys(action for moves in self.moves for action, _ in moves))
        object.__setattr__(self, "actions", actions)
        arms = tuple(tuple(row.get(action, ()) for row in rows) for action in actions or ("",))
        object.__setattr__(self, "arms", arms)

    def _check_moves(self, name: str, moves: Moves) -> None:
        check_names((action for action, _ in moves), "action")
        seen: set[str] = set()
        for action, row in moves:
            place = action_place(name, action)
            if action in seen:
                raise ModelError("the action is given twice", place=place)
            seen.add(action)
            full_row(row, self.states, place, place)

    def _check_offers(self) -> None:
        """Refuse states of one label that do not offer the same actions."""
        first: dict[str, int] = {}
        for state, label in enumerate(self.labels):
            other = first.setdefault(label, state)
            here, there = ({action for action, _ in self.moves[k]} for k in (state, other))
            if here != there:
                raise ModelError(
                    f"the label {label!r} comes with the actions {_listed(here)} here and {_listed(there)} "
                    f"in state {self.states[other]!r}; expected the same actions for one label",
                    place=f"state {self.states[state]!r}",
                )

    @classmethod
    def from_mappings(
        cls,
        states: Mapping[str, str],
        transitions: Mapping[str, Mapping[str, Mapping[str, ExactNumber]]],
        pairs: Iterable[tuple[str, str]] = (),
    ) -> Interactive:
        """Make a model from names: ``{state: label}``, ``{state: {action: {state: probability}}}`` and pairs.

        Entries of probability zero are dropped.

        Raises
        ------
        ModelError
            If a name is unknown, a number is not exact or negative, or a row does not sum to one.

        Examples
        --------
        >>> model = Interactive.from_mappings({"s": "a", "t": "b"}, {"s": {"X": {"s": "1/2", "t": "0.5"}}})
        >>> model.actions
        ('X',)
        """

        def read(name: str, moves: Mapping[str, Mapping[str, ExactNumber]], at: Mapping[str, int]) -> Moves:
            places = {action: action_place(name, action) for action in moves}
            return tuple(
                (action, row_from_names(moves[action], at, place)) for action, place in places.items()
            )

        return cls._from_rows(states, transitions, pairs, read)

    def row(self, state: int, action: str) -> Row | None:
        """Return where an action leads from a state, or None where the state does not offer it."""
        return dict(self.moves[state]).get(action)

    def facing(self, s: int, t: int) -> tuple[tuple[int, int], ...]:  # noqa: ARG002
        """Return for everything that may be asked in two states the numbers of the arms of both."""
        return tuple((arm, arm) for arm in range(len(self.arms)))

    def facing_name(self, s: int, t: int, arm: int) -> str:  # noqa: ARG002
        """Return what is asked by one of `facing`."""
        return self.actions[arm]

    def rows_by(self, action: str | None) -> Sequence[Row] | Mapping[int, Row]:
        """Return the rows of an action by state; None stands for the first."""
        return self.arms[0 if action is None else self.actions.index(action)]

    def canonical(self) -> dict[str, object]:
        """Return the model as plain data in canonical form, without its pairs: what `digest` hashes."""
        rows = (
            {action: {self.states[t]: format_rational(p) for t, p in row} for action, row in moves}
            for moves in self.moves
        )
        return {**self._canonical_form(rows), "kind": "interactive"}


System = LMC | Interactive
"""What an analyst looks at: a chain, where there is nothing to choose, or an interactive model."""


def action_place(state: str, action: str) -> str:
    """Return what an error calls an action of a state."""
    return f"state {state!r}, action {action!r}"


def _listed(actions: set[str]) -> str:
    return ", ".join(sorted(actions)) or "(none)"


def chain_as_interactive(chain: LMC, action: str = "step") -> Interactive:
    """Return a chain as the model in which one action is all there is to ask.

    Its delta and its distances are those of the chain.

    >>> chain_as_interactive(LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})).moves
    ((('step', ((0, 1),)),),)
    """
    whole = chain.whole()
    return Interactive(whole.states, whole.labels, tuple(((action, row),) for row in whole.rows), whole.pairs)


def interactive_as_automaton(model: Interactive) -> PA:
    """Return the automaton whose actions say label and action, as a JSON array of the two.

    A state without actions has one transition, whose action is the array of its label and whose run halts.
    The additive metric of the automaton is the distance of the model at alpha = 1; and where its
    multiplicative metric is at most epsilon, no analyst gains anything at alpha = e^epsilon.

    >>> model = Interactive.from_mappings({"s": "a", "t": "b"}, {"s": {"X": {"t": 1}}})
    >>> [step.action for step in interactive_as_automaton(model).transitions]
    ['["a", "X"]', '["b"]']
    """
    steps = []
    for state, (label, moves) in enumerate(zip(model.labels, model.moves, strict=True)):
        steps += [Transition(state, json.dumps([label, action]), row) for action, row in moves]
        if not moves:
            steps.append(Transition(state, json.dumps([label]), ()))
    return PA(model.states, tuple(steps), model.pairs)
