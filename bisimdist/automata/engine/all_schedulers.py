"""How likely an action is ever performed, over all schedulers: the least and largest probability, exactly.

A scheduler here sees the state, and so the secret; it stops only where no transition is left. Policy
iteration: the exact value of a memoryless scheduler is improved until it solves the equation of Bellman.
From below it is the value of that scheduler, from above the least solution of the equation.

The book is Puterman, "Markov Decision Processes", Wiley 1994, section 7.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from bisimdist.models.pa import PA, Transition
from bisimdist.models.transform import reached_states
from bisimdist.progress import NEVER, Deadline

Policy = tuple[int | None, ...]
"""For each state its transition, by number; None where it has none."""

ZERO, ONE = fmpq(0), fmpq(1)

SMALL = 40  # so many unknowns are solved at once


@dataclass(frozen=True, slots=True)
class Extreme:
    """The least or the largest probability of each state, and the memoryless scheduler that attains it."""

    values: tuple[fmpq, ...]
    policy: Policy


@dataclass(frozen=True, slots=True)
class Widest:
    """The action whose probabilities of ever being performed differ most between two states.

    ``ends``: the least and the largest probability from each of the two states.
    ``most``, ``least``: what the two schedulers do where there is a choice: state, successors.
    """

    action: str
    ends: tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]
    ratio: fmpq | None  # the largest from one state over the least from the other; None for infinity
    most: tuple[tuple[int, int], ...]
    least: tuple[tuple[int, int], ...]


def widest_ratios(
    automaton: PA, pairs: Sequence[tuple[int, int]], *, deadline: Deadline = NEVER
) -> list[Widest | None]:
    """Return for each pair of states which action schedulers may make the most unlike, over all schedulers.

    None where nothing is ever chosen.

    >>> fork = [Transition(s, "a", ((t, ONE),)) for s, t in ((0, 2), (0, 3), (1, 2))]
    >>> ends = [Transition(2, "b", ()), Transition(3, "c", ())]
    >>> (found,) = widest_ratios(PA(tuple("stuv"), (*fork, *ends)), [(0, 1)])
    >>> found.action, found.ratio, found.ends
    ('b', None, ((0, 1), (1, 1)))
    """
    several = {
        state for state, count in Counter(step.source for step in automaton.transitions).items() if count > 1
    }
    chosen = [not several.isdisjoint(reached_states(automaton, pair)) for pair in pairs]
    asked = [pair for pair, choice in zip(pairs, chosen, strict=True) if choice]
    found = iter(_widest(automaton, asked, deadline))
    return [next(found) if choice else None for choice in chosen]


def _widest(automaton: PA, pairs: Sequence[tuple[int, int]], deadline: Deadline) -> list[Widest]:
    reached = set(reached_states(automaton, {state for pair in pairs for state in pair}))
    actions = {step.action for step in automaton.transitions if step.source in reached and step.action}
    best: list[Widest | None] = [None] * len(pairs)
    for action in sorted(actions):
        least, most = (extreme(automaton, action, largest, deadline=deadline) for largest in (False, True))
        for n, (s, t) in enumerate(pairs):
            ends = tuple((least.values[state], most.values[state]) for state in (s, t))
            ratio, up, down = max(
                ((_over(ends[0][1], ends[1][0]), s, t), (_over(ends[1][1], ends[0][0]), t, s)),
                key=lambda found: _order(found[0]),
            )
            known = best[n]
            if known is None or _order(ratio) > _order(known.ratio):
                moves = _moves(automaton, most, up), _moves(automaton, least, down)
                best[n] = Widest(action, (ends[0], ends[1]), ratio, *moves)
    nothing = ((ZERO, ZERO), (ZERO, ZERO))
    return [Widest("", nothing, ONE, (), ()) if found is None else found for found in best]


def _over(most: fmpq, least: fmpq) -> fmpq | None:
    return ONE if most == 0 else None if least == 0 else most / least


def _order(ratio: fmpq | None) -> tuple[bool, fmpq]:
    return ratio is None, ratio or ZERO


def _moves(automaton: PA, found: Extreme, start: int) -> tuple[tuple[int, int], ...]:
    """Return the transitions that a scheduler takes from a state on, where there are several."""
    last = {step.source: number for number, step in enumerate(automaton.transitions)}
    first: dict[int, int] = {}
    for number, step in enumerate(automaton.transitions):
        first.setdefault(step.source, number)
    seen, todo, moves = {start}, [start], []
    while todo:
        state = todo.pop()
        chosen = found.policy[state]
        if chosen is None:
            continue
        if last[state] != first[state]:
            moves.append((state, chosen))
        for target, _ in automaton.transitions[chosen].row:
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return tuple(sorted(moves))


def extreme(automaton: PA, action: str, largest: bool, *, deadline: Deadline = NEVER) -> Extreme:
    """Return the largest, or the least, probability that an action is ever performed, over all schedulers."""
    steps = automaton.transitions
    leaving: list[list[int]] = [[] for _ in automaton.states]
    for number, step in enumerate(steps):
        leaving[step.source].append(number)
    policy = (_towards if largest else _away)(automaton, action, leaving)
    while True:
        deadline.check()
        values = _values(automaton, action, policy, deadline)

        def worth(number: int, values: Sequence[fmpq] = values) -> fmpq:
            step = steps[number]
            return ONE if step.action == action else sum((p * values[t] for t, p in step.row), ZERO)

        better = tuple(
            _improved(choices, policy[state], values[state], worth, largest)
            for state, choices in enumerate(leaving)
        )
        if better == policy:
            return Extreme(values, policy)
        policy = better


def _improved(
    choices: Iterable[int],
    chosen: int | None,
    value: fmpq,
    worth: Callable[[int], fmpq],
    largest: bool,
) -> int | None:
    """Return the best transition of a state; the one that is chosen already where none is better."""
    for number in choices:
        found = worth(number)
        if found > value if largest else found < value:
            chosen, value = number, found
    return chosen


def _towards(automaton: PA, action: str, leaving: Sequence[Sequence[int]]) -> Policy:
    """Return a scheduler by which every state that can perform the action does so with some probability."""
    policy: list[int | None] = [choices[0] if choices else None for choices in leaving]
    before: list[list[int]] = [[] for _ in leaving]
    todo: list[int] = []
    for number, step in enumerate(automaton.transitions):
        for target, _ in step.row:
            before[target].append(number)
        if step.action == action:
            policy[step.source] = number
            todo.append(step.source)
    done = set(todo)
    for state in todo:  # it grows
        for number in before[state]:
            source = automaton.transitions[number].source
            if source not in done:
                done.add(source)
                policy[source] = number
                todo.append(source)
    return tuple(policy)


def _away(automaton: PA, action: str, leaving: Sequence[Sequence[int]]) -> Policy:
    """Return a scheduler by which every state that can avoid the action for ever does so."""
    steps = automaton.transitions

    def safe(number: int, among: set[int]) -> bool:
        return steps[number].action != action and all(target in among for target, _ in steps[number].row)

    avoiding = set(range(len(leaving)))
    while True:
        lost = {
            s for s in avoiding if leaving[s] and not any(safe(number, avoiding) for number in leaving[s])
        }
        if not lost:
            break
        avoiding -= lost
    return tuple(
        next((n for n in choices if state in avoiding and safe(n, avoiding)), choices[0] if choices else None)
        for state, choices in enumerate(leaving)
    )


def _values(automaton: PA, action: str, policy: Policy, deadline: Deadline) -> tuple[fmpq, ...]:
    """Return how likely each state performs an action under a memoryless scheduler."""
    chosen: list[Transition | None] = [
        None if number is None else automaton.transitions[number] for number in policy
    ]
    before: list[list[int]] = [[] for _ in chosen]
    todo = []
    for state, step in enumerate(chosen):
        if step is not None and step.action == action:
            todo.append(state)
        elif step is not None:
            for target, _ in step.row:
                before[target].append(state)
    able = set(todo)
    for state in todo:  # it grows
        fresh = [source for source in before[state] if source not in able]
        able.update(fresh)
        todo.extend(dict.fromkeys(fresh))
    place = {state: number for number, state in enumerate(sorted(able))}
    rows = []
    for state in place:
        step = chosen[state]
        sure = step is None or step.action == action
        row = () if step is None or sure else step.row
        rows.append((ONE if sure else ZERO, [(place[t], p) for t, p in row if t in place]))
    found = _solved(rows, deadline)
    return tuple(found[place[s]] if s in place else ZERO for s in range(len(chosen)))


def _solved(rows: Sequence[tuple[fmpq, Sequence[tuple[int, fmpq]]]], deadline: Deadline) -> list[fmpq]:
    """Return the solution of x = constant + row x."""
    size = len(rows)
    if size > SMALL:
        from bisimdist.linear import SparseSystem, solve_exact  # noqa: PLC0415 - numpy takes longer to load

        solution = solve_exact(SparseSystem.from_rationals(rows), deadline=deadline)
        return [solution.entry(number) for number in range(size)]
    matrix, right = fmpq_mat(size, size), fmpq_mat(size, 1)
    for number, (constant, row) in enumerate(rows):
        matrix[number, number] = ONE
        right[number, 0] = constant
        for target, p in row:
            matrix[number, target] -= p
    return list(matrix.solve(right).entries()) if size else []
