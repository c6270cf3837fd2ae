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
    actions = sorted({step.action for step in automaton.transitions if step.source in reached} - {""})
    by = Schedulers(automaton)
    # One action with an infinite ratio is enough, and the graph alone says which has one.
    endless: dict[str, list[int]] = {}
    finite = set(range(len(pairs)))
    for action in actions:
        deadline.check()
        if unlike := by.told_apart(action, pairs, finite):
            endless[action] = unlike
            finite.difference_update(unlike)
        if not finite:
            break
    best: list[Widest | None] = [None] * len(pairs)
    for action in actions if finite else endless:
        least, most = (by.extreme(action, largest, deadline) for largest in (False, True))
        for n in sorted({*finite, *endless.get(action, ())}):
            s, t = pairs[n]
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


class Schedulers:
    """All schedulers of an automaton, by the transitions that leave states and lead to them."""

    def __init__(self, automaton: PA) -> None:
        self.automaton = automaton
        self.leaving: list[list[int]] = [[] for _ in automaton.states]
        self.before: list[list[int]] = [[] for _ in automaton.states]
        self.performing: dict[str, list[int]] = {}
        for number, step in enumerate(automaton.transitions):
            self.leaving[step.source].append(number)
            self.performing.setdefault(step.action, []).append(number)
            for target, _ in step.row:
                self.before[target].append(number)

    def told_apart(self, action: str, pairs: Sequence[tuple[int, int]], numbers: Iterable[int]) -> list[int]:
        """Return of which pairs one state can perform an action that the other one can avoid for ever."""
        able = self._towards(action)
        forced, _ = self._forced(action)
        ways = ((n, s, t) for n in numbers for s, t in (pairs[n], pairs[n][::-1]))
        return sorted({n for n, s, t in ways if s in able and t not in forced})

    def extreme(self, action: str, largest: bool, deadline: Deadline = NEVER) -> Extreme:
        """Return the largest, or the least, probability that an action is ever performed."""
        steps = self.automaton.transitions
        policy = self._policy_towards(action) if largest else self._policy_away(action)
        while True:
            deadline.check()
            values = _values(self.automaton, action, policy, deadline)

            def worth(number: int, values: Sequence[fmpq] = values) -> fmpq:
                step = steps[number]
                return ONE if step.action == action else sum((p * values[t] for t, p in step.row), ZERO)

            better = tuple(
                _improved(choices, policy[state], values[state], worth, largest)
                for state, choices in enumerate(self.leaving)
            )
            if better == policy:
                return Extreme(values, policy)
            policy = better

    def _towards(self, action: str) -> dict[int, int]:
        """Return the states that can perform an action, each with a transition that leads there."""
        steps = self.automaton.transitions
        found = {steps[number].source: number for number in self.performing.get(action, ())}
        todo = list(found)
        for state in todo:  # it grows
            for number in self.before[state]:
                source = steps[number].source
                if source not in found:
                    found[source] = number
                    todo.append(source)
        return found

    def _forced(self, action: str) -> tuple[set[int], set[int]]:
        """Return the states that cannot avoid an action for ever, and the transitions that do not."""
        steps = self.automaton.transitions
        lost = set(self.performing.get(action, ()))
        left: dict[int, int] = {}
        forced: list[int] = []

        def lose(number: int) -> None:
            source = steps[number].source
            left[source] = left.get(source, len(self.leaving[source])) - 1
            if not left[source]:
                forced.append(source)

        for number in self.performing.get(action, ()):
            lose(number)
        for state in forced:  # it grows
            for number in self.before[state]:
                if number not in lost:
                    lost.add(number)
                    lose(number)
        return set(forced), lost

    def _policy_towards(self, action: str) -> Policy:
        """Return a scheduler by which every state that can perform an action does so at times."""
        towards = self._towards(action)
        return tuple(
            towards.get(state, choices[0] if choices else None) for state, choices in enumerate(self.leaving)
        )

    def _policy_away(self, action: str) -> Policy:
        """Return a scheduler by which every state that can avoid an action for ever does so."""
        _, lost = self._forced(action)
        return tuple(
            next((n for n in choices if n not in lost), choices[0] if choices else None)
            for choices in self.leaving
        )


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
