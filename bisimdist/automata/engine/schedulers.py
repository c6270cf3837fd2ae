"""Traces under admissible schedulers: their probabilities, and the worst ratio between two states, exactly.

A scheduler sees the screens of the run: at each state the tags of its transitions, and which of them was
taken. Admissible means that it decides by these alone: the same choice for the same history. Nothing here
uses bisimulations, so that what the metrics promise can be checked against it on small systems.

Source: XCL14 Definition 1, XCL14 Lemma 1, XCL14 Example 1, XCL14 Lemma 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.pa import PA, Transition, outgoing
from bisimdist.progress import NEVER, Deadline

ZERO = fmpq(0)
ONE = fmpq(1)

Screen = tuple[str, ...]  # the tags of the transitions of a state, in alphabetical order

History = tuple[tuple[Screen, str | None], ...]
"""The screens so far with the tag that was taken at each; None at the last one, where the choice is due."""

Scheduler = Callable[[History], str | None]  # chooses one of the tags of the last screen, or None to stop
Weights = dict[int, fmpq]  # by state the probability of the runs that are there now


@dataclass(frozen=True, slots=True)
class WorstTrace:
    """The largest ratio of the probabilities of a trace from two states."""

    ratio: fmpq | None  # the ratio; None where a trace is possible from one state only
    trace: tuple[str, ...]
    # the probabilities of the trace from the two states, under the scheduler that attains the ratio
    probabilities: tuple[fmpq, fmpq]
    # what that scheduler chooses after each history along the trace; it stops after all others
    scheduler: Mapping[History, str] = field(default_factory=dict)


class _Tagged:
    """An automaton whose transitions carry tags, different ones at every state."""

    def __init__(self, automaton: PA, tags: Sequence[str] | None) -> None:
        if tags is not None and len(tags) != len(automaton.transitions):
            raise UsageError(
                f"{len(tags)} tags for {len(automaton.transitions)} transitions; expected as many"
            )
        number = {id(step): index for index, step in enumerate(automaton.transitions)}
        self.moves: list[dict[str, Transition]] = []
        for state, steps in enumerate(outgoing(automaton)):
            moves: dict[str, Transition] = {}
            for step in steps:
                tag = (step.tag or step.action) if tags is None else tags[number[id(step)]]
                if tag in moves:
                    raise ModelError(
                        f"two transitions carry the tag {tag!r}; expected different tags, "
                        "so that a scheduler can choose (give tags where actions are not enough)",
                        place=f"state {automaton.states[state]!r}",
                    )
                moves[tag] = step
            self.moves.append(moves)
        self.screens: list[Screen] = [tuple(sorted(moves)) for moves in self.moves]

    def split(self, *weights: Weights) -> Iterator[tuple[Screen, tuple[Weights, ...]]]:
        """Sort runs by what the scheduler sees now."""
        parts: dict[Screen, tuple[Weights, ...]] = {}
        for index, each in enumerate(weights):
            for state, weight in each.items():
                part = parts.setdefault(self.screens[state], tuple({} for _ in weights))
                part[index][state] = weight
        yield from sorted(parts.items())

    def moved(self, weights: Weights, tag: str, action: str) -> Weights:
        """Let runs of one screen take the transition of a tag; those with another action are dropped."""
        result: Weights = {}
        for state, weight in weights.items():
            step = self.moves[state][tag]
            if step.action == action:
                for target, probability in step.row:
                    result[target] = result.get(target, ZERO) + weight * probability
        return result

    def acting(self, weights: Weights, tag: str, action: str) -> fmpq:
        """Return the probability that the transition of a tag performs an action."""
        return sum(
            (weight for state, weight in weights.items() if self.moves[state][tag].action == action), ZERO
        )


def trace_probability(
    automaton: PA,
    state: str,
    trace: Sequence[str],
    scheduler: Scheduler,
    *,
    tags: Sequence[str] | None = None,
) -> fmpq:
    """Return the probability that a run performs a sequence of actions first, under a scheduler.

    ``scheduler``: the choice for each history.
    ``tags``: the tag of each transition; by default that of the automaton, or its action.
    Raises UsageError if the scheduler chooses a tag that is not on the screen.

    >>> half = fmpq(1, 2)
    >>> coin = PA(("s", "t"), (Transition(0, "a", ((0, half), (1, half))),))
    >>> trace_probability(coin, "s", ["a", "a"], lambda history: "a" if history[-1][0] else None)
    1/2
    """
    tagged = _Tagged(automaton, tags)

    def probability(weights: Weights, at: int, history: History) -> fmpq:
        if at == len(trace):
            return sum(weights.values(), ZERO)
        total = ZERO
        for screen, (part,) in tagged.split(weights):
            if not screen:
                continue  # these runs have stopped
            tag = scheduler((*history, (screen, None)))
            if tag is None:
                continue
            if tag not in screen:
                raise UsageError(f"the scheduler chose {tag!r}, which is not on the screen {screen}")
            if at == len(trace) - 1:
                total += tagged.acting(part, tag, trace[at])
            else:
                after = tagged.moved(part, tag, trace[at])
                total += probability(after, at + 1, (*history, (screen, tag)))
        return total

    return probability({automaton.index(state): ONE}, 0, ())


def worst_trace_ratio(  # noqa: PLR0913
    automaton: PA,
    source: str,
    target: str,
    length: int,
    *,
    tags: Sequence[str] | None = None,
    deadline: Deadline = NEVER,
) -> WorstTrace:
    """Return the worst ratio of the probabilities of a trace of up to `length` actions, either way round.

    The worst over all traces and all admissible schedulers, exactly. A scheduler may stop, and it may choose
    by tags that differ where the actions are the same.

    For one trace and one number r the largest value of ``Pr(source) - r Pr(target)`` over schedulers is a
    sum over histories, each of which chooses for itself. Newton's method on r (Dinkelbach's) ends after
    finitely many steps with the ratio, since there are finitely many schedulers.

    ``length``: how long traces may be; the work grows with the number of traces.
    ``tags``: the tag of each transition; by default that of the automaton, or its action.

    >>> half, third = fmpq(1, 2), fmpq(1, 3)
    >>> coins = PA(("s", "t", "u"), (
    ...     Transition(0, "a", ((2, half),)), Transition(1, "a", ((2, third),)), Transition(2, "b", ())))
    >>> worst_trace_ratio(coins, "s", "t", 2).ratio
    3/2
    """
    tagged = _Tagged(automaton, tags)
    starts = automaton.index(source), automaton.index(target)
    worst = WorstTrace(ONE, (), (ONE, ONE))
    for swapped, (s, t) in enumerate((starts, starts[::-1])):
        for trace in _traces(tagged, s, length):
            deadline.check()
            found = _worst_of(tagged, s, t, trace, worst.ratio)
            if found is None:
                continue
            first, second = found.masses
            probabilities = (second, first) if swapped else (first, second)
            worst = WorstTrace(first / second if second else None, trace, probabilities, found.choices)
            if worst.ratio is None:
                return worst
    return worst


def _traces(tagged: _Tagged, start: int, length: int) -> Iterator[tuple[str, ...]]:
    """Yield the traces that are possible from a state, not only the empty one."""
    waiting: list[tuple[tuple[str, ...], frozenset[int]]] = [((), frozenset({start}))]
    while waiting:
        trace, states = waiting.pop()
        if len(trace) == length:
            continue
        after: dict[str, set[int]] = {}
        for state in states:
            for step in tagged.moves[state].values():
                after.setdefault(step.action, set()).update(successor for successor, _ in step.row)
        for action, targets in sorted(after.items()):
            yield (*trace, action)
            waiting.append(((*trace, action), frozenset(targets)))


@dataclass(frozen=True, slots=True)
class _Scheduled:
    """The probabilities of a trace from two states under a scheduler, and its choices along the trace."""

    masses: tuple[fmpq, fmpq]
    choices: dict[History, str]

    def excess(self, ratio: fmpq) -> fmpq:
        return self.masses[0] - ratio * self.masses[1]


_STOPPED = _Scheduled((ZERO, ZERO), {})


def _worst_of(
    tagged: _Tagged, s: int, t: int, trace: tuple[str, ...], known: fmpq | None
) -> _Scheduled | None:
    """Return a scheduler under which the ratio of a trace exceeds the one that is known, or None."""
    if known is None:
        return None
    ratio, best = known, None
    while True:
        found = _extreme(tagged, ({s: ONE}, {t: ONE}), trace, ratio)
        if found.excess(ratio) <= 0:
            return best
        best = found
        if found.masses[1] == 0:
            return best
        ratio = found.masses[0] / found.masses[1]


def _extreme(
    tagged: _Tagged, both: tuple[Weights, Weights], trace: tuple[str, ...], ratio: fmpq, history: History = ()
) -> _Scheduled:
    """Return the scheduler for which ``first - ratio second`` is largest."""
    sums = (ZERO, ZERO)
    choices: dict[History, str] = {}
    for screen, (ours, theirs) in tagged.split(*both):
        best, chosen = _STOPPED, None
        for tag in screen:
            if len(trace) == 1:
                masses = tagged.acting(ours, tag, trace[0]), tagged.acting(theirs, tag, trace[0])
                found = _Scheduled(masses, {})
            else:
                moved = tagged.moved(ours, tag, trace[0]), tagged.moved(theirs, tag, trace[0])
                found = _extreme(tagged, moved, trace[1:], ratio, (*history, (screen, tag)))
            if found.excess(ratio) > best.excess(ratio):
                best, chosen = found, tag
        sums = sums[0] + best.masses[0], sums[1] + best.masses[1]
        if chosen is not None:
            choices |= {(*history, (screen, None)): chosen, **best.choices}
    return _Scheduled(sums, choices)
