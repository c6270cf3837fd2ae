"""Mimicking formulae: what a state can do for k steps, and for ever, as a formula.

CGT16 has the first formulae of this kind.

Source: CCP18 Definition 21, CCP18 Example 5, CCP18 Theorem 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bisimdist.errors import UsageError
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula import (
    TOP,
    StateFormula,
    conjunction,
    diamond,
    enabled,
    mixture,
    negation,
    variable,
)
from bisimdist.logic.engine.formula_printer import KEYWORDS, NAME
from bisimdist.logic.engine.levels import Levels
from bisimdist.models.pa import PA, Transition, outgoing
from bisimdist.models.reach import all_reached
from bisimdist.progress import NEVER, UNBOUNDED, Deadline, Limits


def reachable_states(automaton: PA, states: Iterable[int]) -> list[int]:
    """Return the states that some states lead to, themselves included, nearest first."""
    steps = outgoing(automaton)
    return all_reached(states, lambda state: (target for step in steps[state] for target, _ in step.row))


def _actions(automaton: PA) -> list[str]:
    return sorted({step.action for step in automaton.transitions})


def _mimicking(
    steps: Sequence[Transition], successors: Mapping[int, StateFormula], absent: Sequence[StateFormula]
) -> StateFormula:
    """Return the formula of a state, from those of its successors and what says which actions are absent."""
    parts: list[StateFormula] = [
        diamond(step.action, mixture([(p, successors[target]) for target, p in step.row])) for step in steps
    ]
    return conjunction([*parts, *absent])


def mimicking_formulae(
    automaton: PA, depth: int, *, states: Iterable[int] | None = None, limits: Limits = UNBOUNDED
) -> dict[int, StateFormula]:
    """Return what states can do for some steps, as formulae that share their parts.

    ``phi_s^0 = T``, and ``phi_s^k`` is the conjunction of ``<a>(+) pi(s') phi_s'^(k-1)`` for all transitions
    ``s --a--> pi`` and of ``!<b>T`` for all actions b of the automaton that s does not enable.

    Two states have the same formula, as an object, exactly if k steps do not tell them apart, and for all k
    exactly if they are bisimilar. What it means that a state *satisfies* the formula of another one, and why
    that is less if there is nondeterminism, is in docs/theory/logic.md.

    ``states``: whose formulae are wanted, by index; all by default.
    Raises UsageError if the depth is negative.

    >>> from flint import fmpq
    >>> half = fmpq(1, 2)
    >>> steps = (Transition(0, "a", ((1, half), (2, half))), Transition(1, "b", ((2, fmpq(1)),)))
    >>> print(mimicking_formulae(PA(("s", "t", "u"), steps), 2)[0])
    <a>(1/2 (<b>(1 T) & !<a>T) + 1/2 (!<a>T & !<b>T)) & !<b>T
    """
    if depth < 0:
        raise UsageError(f"the depth is {depth}; expected a natural number")
    wanted = list(range(len(automaton))) if states is None else list(states)
    steps = outgoing(automaton)
    actions = _actions(automaton)
    lacks = {action: negation(enabled(action)) for action in actions}
    needed = reachable_states(automaton, wanted)
    absent = {
        state: [lacks[action] for action in actions if action not in {step.action for step in steps[state]}]
        for state in needed
    }
    layers = _layers(steps, wanted, needed, depth)
    current: dict[int, StateFormula] = dict.fromkeys(needed, TOP)
    for level in range(1, depth + 1):
        limits.deadline.check()
        limits.progress("mimicking formulae", level, depth)
        here = layers[depth - level] if depth - level < len(layers) else needed
        following = {state: _mimicking(steps[state], current, absent[state]) for state in here}
        if len(here) == len(needed) and following == current:
            break  # nothing further can be said
        current = following
    return {state: current[state] for state in wanted}


def _layers(
    steps: Sequence[Sequence[Transition]], wanted: Sequence[int], needed: Sequence[int], depth: int
) -> list[list[int]]:
    """Return by k the states within k steps of the wanted ones, as long as these are not yet all."""
    layers = [list(dict.fromkeys(wanted))]
    known = set(layers[0])
    while len(known) < len(needed) and len(layers) <= depth:
        fresh = {t for state in layers[-1] for step in steps[state] for t, _ in step.row} - known
        known |= fresh
        layers.append([*layers[-1], *sorted(fresh)])
    return layers


def mimicking_formula(automaton: PA, state: int, depth: int, *, deadline: Deadline = NEVER) -> StateFormula:
    """Return what one state can do for some steps; see `mimicking_formulae`."""
    return mimicking_formulae(automaton, depth, states=[state], limits=Limits(deadline=deadline))[state]


def longest_run(automaton: PA, state: int) -> int | None:
    """Return how many steps a state can lead on at most, None if it can go on for ever.

    >>> from flint import fmpq
    >>> step, loop = Transition(0, "a", ((1, fmpq(1)),)), Transition(2, "a", ((2, fmpq(1)),))
    >>> [longest_run(PA(("s", "t", "u"), (step, loop)), state) for state in range(3)]
    [1, 0, None]
    """
    steps = outgoing(automaton)
    length: dict[int, int] = {}
    active: set[int] = set()
    stack = [state]
    while stack:
        here = stack[-1]
        targets = [target for step in steps[here] for target, _ in step.row]
        if here not in active:
            active.add(here)
            if any(target in active and target not in length for target in targets):
                return None
            stack += dict.fromkeys(target for target in targets if target not in length)
            continue
        stack.pop()
        if here not in length:
            length[here] = max(
                (1 + max((length[target] for target, _ in step.row), default=0) for step in steps[here]),
                default=0,
            )
    return length[state]


def mimicking_system(
    automaton: PA, state: int, *, deadline: Deadline = NEVER
) -> tuple[EquationSystem, dict[int, str]]:
    """Return what a state can do for ever, as a recursive formula with one equation for each class.

    ``system``: one equation for each class of bisimilar states that the state leads to.
    ``names``: by state that it leads to the variable of its class.

    >>> from flint import fmpq
    >>> steps = (Transition(0, "a", ((0, fmpq(1, 2)), (1, fmpq(1, 2)))),)
    >>> print(mimicking_system(PA(("s", "t"), steps), 0)[0])
    rec
      X_s = <a>(1/2 X_s + 1/2 X_t);
      X_t = !<a>T
    in X_s
    """
    levels = Levels(automaton, deadline)
    actions = _actions(automaton)
    first: dict[int, int] = {}
    needed = reachable_states(automaton, [state])
    for reached in needed:
        first.setdefault(levels.block(reached, levels.last), reached)
    by_class = _variable_names({block: automaton.states[reached] for block, reached in first.items()})
    names = {reached: by_class[levels.block(reached, levels.last)] for reached in needed}
    variables: dict[int, StateFormula] = {reached: variable(name) for reached, name in names.items()}
    equations = []
    for block, reached in first.items():
        deadline.check()
        steps = levels.steps[reached]
        here = {step.action for step in steps}
        absent = [negation(enabled(action)) for action in actions if action not in here]
        equations.append((by_class[block], _mimicking(steps, variables, absent)))
    return EquationSystem(variables[state], tuple(equations)), names


def _variable_names(states: Mapping[int, str]) -> dict[int, str]:
    """Return a variable for each class, after the name of a state where that makes one."""
    result: dict[int, str] = {}
    used: set[str] = set(KEYWORDS)
    for number, (block, state) in enumerate(states.items()):
        name = f"X_{state}" if re.fullmatch(NAME, f"X_{state}") else f"X{number}"
        while name in used:
            name += "'"
        used.add(name)
        result[block] = name
    return result
