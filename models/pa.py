"""Probabilistic automata: actions on transitions, exact sub-distributions, nondeterminism allowed.

Source: CCP18 Definition 1.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.exact.rational import ExactNumber, format_rational, shorten_rational
from bisimdist.models.labelled import Named, check_pairs, check_states, hashed, quoted, rows_to_check
from bisimdist.models.lmc import LMC, Row, check_names, indexed_pairs, row_from_names, row_total


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition of a probabilistic automaton.

    Parameters
    ----------
    source
        The index of the state that it leaves.
    action
        Its action.
    row
        The successors with their probabilities, which sum to at most one; what is missing to one is the
        probability that the run halts.
    tag
        What a scheduler sees of it; None where that is the action. Nothing but schedulers looks at it.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> survey.transitions[0]
    Transition(source=0, action='tau', row=((2, 1/2), (4, 1/2)))
    """

    source: int
    action: str
    row: Row
    tag: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class PA(Named):
    """A probabilistic automaton, validated when it is made.

    Parameters
    ----------
    states
        The names of the states, all different; a state's position is its index.
    transitions
        The transitions; a state may have none, one or several.
    pairs
        Pairs of indices: the neighbouring states; may be empty.
    program
        What identifies the program that it was made of, where it was.

    Raises
    ------
    ModelError
        Naming the state, or the transition by its number (counted from one) and its source.

    Examples
    --------
    >>> step = Transition(0, "a", ((1, fmpq(1, 2)),))
    >>> PA(("s", "t"), (step,)).fully_probabilistic
    True
    >>> PA(("s", "t"), (step, step)).fully_probabilistic
    False
    """

    states: tuple[str, ...]
    transitions: tuple[Transition, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    program: Mapping[str, object] = field(default_factory=dict, kw_only=True, repr=False, compare=False)
    _position: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        position = check_states("automaton", self.states)
        check_names((transition.action for transition in self.transitions), "action")
        check_names((step.tag for step in self.transitions if step.tag is not None), "tag")
        for number, step in enumerate(self.transitions, start=1):
            if not 0 <= step.source < len(self.states):
                raise ModelError(
                    f"the transition leaves index {step.source}, which is no state",
                    place=f"transition number {number}",
                )
        for place in rows_to_check((step.row for step in self.transitions), len(self.states)):
            self._check_row(place + 1, self.transitions[place])
        check_pairs(self.pairs, len(self.states))
        object.__setattr__(self, "_position", position)

    @classmethod
    def from_mappings(
        cls,
        states: Iterable[str],
        transitions: Iterable[tuple[str, str, Mapping[str, ExactNumber]]],
        pairs: Iterable[tuple[str, str]] = (),
    ) -> PA:
        """Make an automaton from names: states, ``(source, action, {state: probability})``, and pairs.

        Entries of probability zero are dropped.

        Raises
        ------
        ModelError
            If a name is unknown or occurs twice, a number is not exact or negative, or a row sums to more
            than one.

        Examples
        --------
        >>> automaton = PA.from_mappings(["s", "t"], [("s", "a", {"s": "1/2", "t": "0.25"})], [("s", "t")])
        >>> automaton.transitions
        (Transition(source=0, action='a', row=((0, 1/2), (1, 1/4))),)
        """
        names = tuple(states)
        position = {name: index for index, name in enumerate(names)}
        steps = []
        for number, (source, action, row) in enumerate(transitions, start=1):
            place = transition_place(number, source)
            if source not in position:
                raise ModelError(f"the source {source!r} is not a declared state", place=place)
            steps.append(Transition(position[source], action, row_from_names(row, position, place)))
        return cls(names, tuple(steps), indexed_pairs(pairs, position))

    def _check_row(self, number: int, transition: Transition) -> None:
        place = transition_place(number, self.states[transition.source])
        total = row_total(transition.row, self.states, place, place)
        if total > 1:
            raise ModelError(
                f"the probabilities sum to {shorten_rational(total)}; expected at most 1", place=place
            )

    @property
    def fully_probabilistic(self) -> bool:
        """Whether no state has more than one transition."""
        return len({transition.source for transition in self.transitions}) == len(self.transitions)

    def canonical(self) -> dict[str, object]:
        """Return the automaton as plain data without its pairs and tags; all else keeps its order."""
        return {
            "kind": "pa",
            "states": list(self.states),
            "transitions": [
                {
                    "from": self.states[step.source],
                    "action": step.action,
                    "to": {self.states[target]: format_rational(p) for target, p in step.row},
                }
                for step in self.transitions
            ],
        }

    def provenance(self) -> dict[str, object]:
        """Return what identifies the program that it was made of, as plain data; empty if none."""
        return dict(self.program)

    def digest(self) -> str:
        """Return the SHA-256 of the canonical form with its lists sorted: their order does not matter."""
        states = json.dumps(sorted(self.states), separators=(",", ":"))
        name = list(map(json.dumps, self.states))
        actions = quoted(step.action for step in self.transitions)

        def row(entries: Row) -> str:
            by_name = sorted(entries, key=lambda entry: self.states[entry[0]])
            return ",".join([f'{name[target]}:"{p}"' for target, p in by_name])

        steps = sorted(
            f"[{name[step.source]},{actions[step.action]},{{{row(step.row)}}}]" for step in self.transitions
        )
        text = f'{{"kind":"pa","states":{states},"transitions":[{",".join(steps)}]}}'
        return hashed([text])


def outgoing(automaton: PA) -> list[list[Transition]]:
    """Return the transitions of each state, in the order of the automaton."""
    result: list[list[Transition]] = [[] for _ in automaton.states]
    for step in automaton.transitions:
        result[step.source].append(step)
    return result


def transition_place(number: int, source: str) -> str:
    """Return what an error calls a transition, by its number counted from one and its source."""
    return f"transition number {number} of the automaton, from state {source!r}"


def action_labelled_lmc(automaton: PA) -> LMC:
    """Translate a fully probabilistic automaton into a labelled Markov chain with the same states.

    The label of a state is the action of its transition. A state without transition gets the reserved label
    ``(stop)`` and stays where it is. Where probabilities sum to less than one, the missing mass goes to one
    added state ``(halt)`` with the reserved label ``(halt)``, which is not left again. A reserved name that
    the automaton uses itself is primed until it is free. Pairs are kept.

    The trace of the chain shows the actions in their order and how the run ended. So from every state a
    sequence of actions has the same probability in both, whether performing an action or also surviving it
    is counted (the latter is the event that ``(halt)`` does not follow), and every event over the sequences
    of actions is an event over the traces of the chain. Hence delta of the chain bounds delta of the
    automaton, and the two are equal where all distributions sum to one. Where mass is missing they are also
    equal if the end of a run is observed as the chain shows it: halted after an action, or stopped in a
    state without transition.

    Parameters
    ----------
    automaton
        The automaton, with at most one transition a state.

    Returns
    -------
    LMC
        The chain, with the states of the automaton first and in the same order.

    Raises
    ------
    ModelError
        Naming a state with several transitions.

    Examples
    --------
    >>> chain = action_labelled_lmc(PA(("s", "t"), (Transition(0, "a", ((1, fmpq(1, 2)),)),)))
    >>> dict(zip(chain.states, chain.labels))
    {'s': 'a', 't': '(stop)', '(halt)': '(halt)'}
    """
    by_source: dict[int, Transition] = {}
    for transition in automaton.transitions:
        if transition.source in by_source:
            raise ModelError(
                "the state has several transitions; expected at most one (a fully probabilistic automaton)",
                place=f"state {automaton.states[transition.source]!r}",
            )
        by_source[transition.source] = transition
    actions = {transition.action for transition in automaton.transitions}
    stop_label, halt_label = free_name("(stop)", actions), free_name("(halt)", actions)
    halt = len(automaton)
    labels: list[str] = []
    rows: list[Row] = []
    halts = False
    for state in range(len(automaton)):
        step = by_source.get(state)
        if step is None:
            labels.append(stop_label)
            rows.append(((state, fmpq(1)),))
            continue
        missing = 1 - sum((probability for _, probability in step.row), fmpq(0))
        halts = halts or missing != 0
        labels.append(step.action)
        rows.append((*step.row, (halt, missing)) if missing != 0 else step.row)
    states = automaton.states
    if halts:
        states = (*states, free_name("(halt)", frozenset(states)))
        labels.append(halt_label)
        rows.append(((halt, fmpq(1)),))
    return LMC(states, tuple(labels), tuple(rows), automaton.pairs)


def chain_as_automaton(lmc: LMC) -> PA:
    """Return a chain as the fully probabilistic automaton whose actions are the labels of the states.

    >>> chain = LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})
    >>> chain_as_automaton(chain).transitions
    (Transition(source=0, action='a', row=((0, 1),)),)
    """
    steps = (
        Transition(s, label, row)
        for s, (label, row) in enumerate(zip(lmc.labels, lmc.whole().rows, strict=True))
    )
    return PA(lmc.states, tuple(steps), lmc.pairs, program=lmc.provenance())


def automaton_of(model: PA | LMC) -> PA:
    """Return an automaton as it is, a chain as the automaton with its labels as actions.

    >>> automaton_of(LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})).transitions[0].action
    'a'
    """
    return chain_as_automaton(model) if isinstance(model, LMC) else model


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name, primed until it is none of those that are taken."""
    while name in taken:
        name += "'"
    return name
