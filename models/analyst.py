"""What an analyst who has fixed what to ask sees of an interactive model: a chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.contested import Contested
from bisimdist.models.kinds import LMC, Interactive
from bisimdist.models.labelled import Row
from bisimdist.models.pa import free_name
from bisimdist.models.reach import all_reached


@dataclass(frozen=True, slots=True)
class Step:
    """What is asked, and where the labels lead that may answer.

    ``ask``: the action; None where nothing is asked, as before the first label.
    ``then``: by label the number of the step that follows; the analyst stops at labels that are not named.
    ``otherwise``: the step that follows at all other labels; None for none.
    """

    ask: str | None
    then: Mapping[str, int] = field(default_factory=dict)
    otherwise: int | None = None

    def after(self, label: str) -> int | None:
        """Return the step after a label; None where the analyst stops."""
        return self.then.get(label, self.otherwise)


@dataclass(frozen=True, slots=True)
class Strategy:
    """What an analyst asks after each sequence of labels: a small automaton, without lots."""

    steps: tuple[Step, ...]
    root: int = 0

    @classmethod
    def in_turn(cls, actions: Sequence[str]) -> Strategy:
        """Return the strategy that asks some actions one after another, whatever it sees.

        >>> [step.ask for step in Strategy.in_turn(["X", "Y"]).steps]
        [None, 'X', 'Y']
        """
        steps: list[str | None] = [None, *actions]
        last = len(actions)
        return cls(tuple(Step(ask, {}, k + 1 if k < last else None) for k, ask in enumerate(steps)))


Place = tuple[int, int | None]
"""A state, and the step that is asked there; None where the analyst has stopped."""


def check_known(model: object, why: str) -> None:
    """Refuse a model where nature picks while somebody asks: what the analyst asks is not all of it."""
    if isinstance(model, Contested):
        raise UsageError(f"in this model nature picks from intervals at every step: {why}")


def asked_chain(model: Interactive, strategy: Strategy, starts: Iterable[str] = ()) -> LMC:
    """Return the chain of what an analyst sees who has fixed a strategy.

    Where an action is not on offer, and where the strategy says no more, the analyst stops: the last label
    is repeated for ever. When that is so follows from the labels before, so nothing is learnt by it, and the
    traces of the chain leak what the analyst sees.

    ``starts``: names of states where runs begin; by default those of the pairs. They keep their names.
    Raises UsageError if the strategy names an action or a label that the model does not have.

    >>> model = Interactive.from_mappings(
    ...     {"s": "q", "y": "yes", "n": "no"}, {"s": {"X": {"y": "1/2", "n": "1/2"}}}, [("s", "s")]
    ... )
    >>> chain = asked_chain(model, Strategy.in_turn(["X"]))
    >>> chain.states, chain.labels
    (('s', 'y@', 'n@'), ('q', 'yes', 'no'))
    """
    check_known(model, "what is asked does not make a chain; expected known probabilities")
    _check(model, strategy)
    chosen = [model.index(name) for name in starts] or [state for pair in model.pairs for state in pair]

    def place(state: int, step: Step) -> Place:
        number = step.after(model.labels[state])
        return state, None if number is None or _row(number, state) is None else number

    def _row(number: int, state: int) -> Row | None:
        ask = strategy.steps[number].ask
        return None if ask is None else model.row(state, ask)

    def follow(here: Place) -> list[tuple[Place, fmpq]]:
        state, number = here
        row = None if number is None else _row(number, state)
        if number is None or row is None:
            return []
        return [(place(target, strategy.steps[number]), p) for target, p in row]

    first = {state: place(state, strategy.steps[strategy.root]) for state in chosen}
    found = all_reached(first.values(), lambda here: [there for there, _ in follow(here)])
    names = {there: model.states[state] for state, there in first.items()}
    taken = set(names.values())
    for state, number in found:
        if (state, number) not in names:
            name = free_name(f"{model.states[state]}@{'' if number is None else number}", taken)
            names[state, number] = name
            taken.add(name)
    rows = {names[here]: {names[there]: p for there, p in follow(here)} or {names[here]: 1} for here in found}
    pairs = [(model.states[s], model.states[t]) for s, t in model.pairs if s in first and t in first]
    return LMC.from_mappings({names[here]: model.labels[here[0]] for here in found}, rows, pairs)


def _check(model: Interactive, strategy: Strategy) -> None:
    labels = set(model.labels)
    for number, step in enumerate(strategy.steps):
        if step.ask is not None and step.ask not in model.actions:
            known = ", ".join(map(repr, model.actions))
            raise UsageError(f"the strategy asks {step.ask!r}; expected an action of the model ({known})")
        for label in step.then:
            if label not in labels:
                raise UsageError(f"step {number} of the strategy has the label {label!r}, which no state has")
