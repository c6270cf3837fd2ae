"""Steps that do not change what is seen, left out of an automaton where there is nothing to choose."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from flint import fmpq

from bisimdist.models.elimination import FOREVER, eliminated
from bisimdist.models.pa import PA, Transition, free_name, outgoing
from bisimdist.models.transform import reached_part

HALT = -2  # where the probability goes that is missing to one


def without_silent_choices(automaton: PA, starts: Collection[int] = ()) -> PA:
    """Return the automaton in which a run does not stop where nothing new is seen and nothing is chosen.

    A step is silent if it leaves a state with one transition and has the action of the step before. After a
    step a run goes on to the next state whose step is not silent, with the exact probability of that. Where
    runs may stay silent for ever, they go with the probability of that to a state ``(ACTION for ever)``. All
    choices stay, and so does a step that repeats an action after a choice: the sequence of actions without
    repetitions, which somebody who sees changes only observes, is a function of what is seen here. A
    scheduler does not see the steps that are left out, nor how many they were.

    ``starts``: states to keep beside those of the pairs; without any all states are kept.
    returns: the automaton; states that are no longer reached are left out.

    >>> steps = [("s", "wait", {"s": "1/2", "t": "1/2"}), ("t", "go", {"t": 1})]
    >>> without_silent_choices(PA.from_mappings("st", steps)).transitions[0]
    Transition(source=0, action='wait', row=((1, 1),))
    """
    count, steps = len(automaton.states), outgoing(automaton)
    only = [steps[state][0].action if len(steps[state]) == 1 else None for state in range(count)]
    rows: dict[int, dict[int, fmpq]] = {}
    # State t is passed through as count + t; step number k stands as 2 * count + k.
    for number, step in enumerate(automaton.transitions):
        row = {target + count * (only[target] == step.action): p for target, p in step.row}
        missing = 1 - sum(row.values(), fmpq(0))
        rows[2 * count + number] = {**row, HALT: missing} if missing else row
        if len(steps[step.source]) == 1:
            rows[count + step.source] = rows[2 * count + number]
    found = eliminated(rows, [node for node in rows if node < 2 * count])
    ends: dict[str, int] = {}
    made: list[Transition] = []
    for number, step in enumerate(automaton.transitions):
        row = {target: p for target, p in found[2 * count + number].items() if target != HALT}
        if FOREVER in row and only[step.source] is not None and row[FOREVER] == 1:
            row = {step.source: row.pop(FOREVER)}
        elif FOREVER in row:
            row[ends.setdefault(step.action, count + len(ends))] = row.pop(FOREVER)
        made.append(replace(step, row=tuple(sorted(row.items()))))
    made += [Transition(end, action, ((end, fmpq(1)),)) for action, end in ends.items()]
    names, taken = list(automaton.states), set(automaton.states)
    for action in ends:
        names.append(free_name(f"({action} for ever)", taken))
        taken.add(names[-1])
    whole = PA(tuple(names), tuple(made), automaton.pairs, program=automaton.program)
    wanted = {*starts, *(state for pair in automaton.pairs for state in pair)}
    return reached_part(whole, wanted) if wanted else whole
