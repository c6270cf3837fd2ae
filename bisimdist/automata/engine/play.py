"""One play of the challenger, step by step: what a person reads as the reason for a distance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.automata.engine.accumulative import Accumulated
from bisimdist.automata.engine.amortised import Amortised
from bisimdist.automata.engine.escape import Escape, signed
from bisimdist.automata.engine.game import SAME, Arena, Challenge, Duel, Edge
from bisimdist.automata.engine.witness import Loss
from bisimdist.models.pa import PA, outgoing
from bisimdist.models.partition import canonical_numbering

ONE = fmpq(1)
MAX_STEPS = 200


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a play: from a pair of states by an action to another pair."""

    before: tuple[int, int]
    action: str
    factor: fmpq
    after: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Play:
    """A play that shows why a distance is what it is, against one way of answering."""

    steps: tuple[Step, ...]  # the steps; at most `MAX_STEPS` are kept
    # where the play comes back to: the number of the step from which it repeats for ever; None where it ends
    cycle: int | None = None
    obstacle: str = ""  # why there is no answer where it ends, in words; empty where there is one


def _action(arena: Arena, challenge: Challenge) -> str:
    return arena.automaton.transitions[challenge.transition].action


def _pair(arena: Arena, challenge: Challenge, to: int, edge: Edge) -> tuple[int, int]:
    """Return the two states behind an edge: real successors of the two transitions of a duel."""
    if edge.position != SAME:
        return arena.states_of(edge.position)
    steps = arena.automaton.transitions
    ours = steps[challenge.transition if challenge.side == 0 else to]
    theirs = steps[to if challenge.side == 0 else challenge.transition]
    blocks = {arena.classes[target] for target, _ in ours.row} & {
        arena.classes[target] for target, _ in theirs.row
    }
    for target, probability in ours.row:
        for other, answer in theirs.row:
            block = arena.classes[target]
            if block == arena.classes[other] and block in blocks and probability / answer == edge.ratio:
                return target, other
    return ours.row[0][0], theirs.row[0][0]


def _flow_edges(duel: Duel, edges: Sequence[Edge]) -> list[Edge] | None:
    flow = duel.flow(edges)
    if flow is None:
        return None
    return [edge for edge in edges if (edge.left, edge.right) in flow]


def _cheapest(duel: Duel) -> tuple[fmpq, list[Edge]] | None:
    for size in duel.sizes():
        edges = _flow_edges(duel, [edge for edge in duel.edges if edge.size <= size])
        if edges is not None:
            return size, edges
    return None


def accumulative_play(accumulated: Accumulated, start: int) -> Play:
    """Return a play in which the cheapest bijections answer the challenger's strategy."""
    arena = accumulated.arena
    steps: list[Step] = []
    seen: dict[int, int] = {}
    position = start
    while position != SAME and len(steps) < MAX_STEPS:
        if position in seen:
            return Play(tuple(steps), seen[position])
        seen[position] = len(steps)
        value = accumulated.values[position]
        challenge = accumulated.challenges[position]
        options = [
            (found[0], to, duel, found[1])
            for number, to in challenge.answers
            if (found := _cheapest(duel := arena.duels[number])) is not None
        ]
        if not options:
            break
        cost, to, duel, edges = min(options, key=lambda option: option[0])
        hit = next(edge for edge in edges if _hits(accumulated, position, value, cost, edge))
        after = _pair(arena, challenge, to, hit)
        steps.append(Step(arena.states_of(position), _action(arena, challenge), cost, after))
        position = hit.position
    return Play(tuple(steps))


def _hits(accumulated: Accumulated, position: int, value: fmpq | None, cost: fmpq, edge: Edge) -> bool:
    after = accumulated.value(edge.position)
    if after is not None and (value is None or after * cost < value):
        return False
    return cost > 1 or after != value or accumulated.ranks[edge.position] < accumulated.ranks[position]


def amortised_play(
    amortised: Amortised, losses: Mapping[tuple[int, fmpq], Loss], start: int, window: fmpq | None
) -> Play:
    """Return a play of the challenger against some answers.

    ``amortised``: the arena with its infinite positions.
    ``losses``: the challenger's strategy for a finite window.
    ``window``: the lower bound that is forced; None for infinity.
    """
    arena = amortised.arena
    steps: list[Step] = []
    seen: dict[int, int] = {}
    position, credit = start, ONE
    while position != SAME and len(steps) < MAX_STEPS:
        escape = amortised.escapes.get(position)
        if escape is not None:
            if position in seen:
                return Play(tuple(steps), seen[position])
            seen[position] = len(steps)
        elif window is None or (position, credit) not in losses:
            break
        challenge = escape.challenge if escape else losses[position, credit].challenge
        found = None
        for number, to in challenge.answers:
            edges = _flow_edges(arena.duels[number], arena.duels[number].edges)
            if edges is not None:
                found = arena.duels[number], to, edges
                break
        if found is None:
            break
        _, to, edges = found
        if escape is not None:
            hit = next(edge for edge in edges if _drives(amortised, escape, edge))
        else:
            rank = losses[position, credit].rank
            hit = next(edge for edge in edges if _pushes(amortised, losses, window, rank, credit, edge))
        after = _pair(arena, challenge, to, hit)
        steps.append(Step(arena.states_of(position), _action(arena, challenge), hit.ratio, after))
        position, credit = hit.position, credit * hit.ratio
    return Play(tuple(steps))


def _drives(amortised: Amortised, escape: Escape, edge: Edge) -> bool:
    after = amortised.escapes.get(edge.position)
    if after is None or after.rank > escape.rank:
        return False
    moved = signed(edge.ratio, up=escape.up) * after.potential
    return (
        after.rank < escape.rank
        or moved > escape.potential
        or (moved == escape.potential and after.depth < escape.depth)
    )


def _pushes(  # noqa: PLR0913, PLR0917
    amortised: Amortised,
    losses: Mapping[tuple[int, fmpq], Loss],
    window: fmpq | None,
    rank: int,
    credit: fmpq,
    edge: Edge,
) -> bool:
    after = credit * edge.ratio
    if window is None or after >= window or after * window <= 1 or edge.position in amortised.escapes:
        return True
    loss = losses.get((edge.position, after))
    return loss is not None and loss.rank < rank


def shape_play(automaton: PA, s: int, t: int) -> Play:
    """Return a play to a place where no bijection exists, for states of different shape."""
    rounds = _rounds(automaton, s, t)
    steps: list[Step] = []
    for block_of in reversed(rounds):
        action, ours, theirs, obstacle = _unanswered(automaton, block_of, s, t)
        if obstacle:
            return Play(tuple(steps), None, obstacle)
        # as many successors, but not as many of each block: some successor has no counterpart
        counts = Counter(block_of[target] for target in ours)
        counts.subtract(block_of[target] for target in theirs)
        u = next(target for target in ours if counts[block_of[target]] > 0)
        v = next(target for target in theirs if counts[block_of[target]] < 0)
        steps.append(Step((s, t), action, ONE, (u, v)))
        s, t = u, v
    raise ValueError("the states are of equal shape")


def _rounds(automaton: PA, s: int, t: int) -> list[tuple[int, ...]]:
    """Return the partitions of a naive refinement by shape up to the one before s and t are separated."""
    leaving = outgoing(automaton)
    rounds: list[tuple[int, ...]] = []
    block_of: tuple[int, ...] = (0,) * len(automaton)
    while block_of[s] == block_of[t]:
        rounds.append(block_of)
        refined = canonical_numbering(
            frozenset(
                (step.action, frozenset(Counter(block_of[target] for target, _ in step.row).items()))
                for step in steps
            )
            for steps in leaving
        )
        if refined == block_of:
            raise ValueError("the states are of equal shape")
        block_of = refined
    return rounds


def _unanswered(
    automaton: PA, block_of: Sequence[int], s: int, t: int
) -> tuple[str, list[int], list[int], str]:
    """Return a transition of s or t that the other one cannot answer inside the blocks, and why."""
    for action, ours, answers, names in _moves(automaton, s, t):
        kind = Counter(block_of[target] for target in ours)
        if any(Counter(block_of[target] for target in theirs) == kind for theirs in answers):
            continue
        if not answers:
            return action, ours, [], f"{names[0]} can do {action} and {names[1]} cannot"
        sizes = sorted({len(theirs) for theirs in answers})
        same = [theirs for theirs in answers if len(theirs) == len(ours)]
        if not same:
            listed = " or ".join(map(str, sizes))
            return (
                action,
                ours,
                [],
                f"{names[0]} does {action} to {len(ours)} states and {names[1]} only to {listed}: "
                "supports of different sizes have no bijection",
            )
        # the successors keep their sides: ours of s, theirs of t
        left, right = (ours, same[0]) if names[0] == automaton.states[s] else (same[0], ours)
        return action, left, right, ""
    raise ValueError("every transition has an answer")


def _moves(
    automaton: PA, s: int, t: int
) -> Iterator[tuple[str, list[int], list[list[int]], tuple[str, str]]]:
    steps = outgoing(automaton)
    for mine, other in ((s, t), (t, s)):
        names = automaton.states[mine], automaton.states[other]
        for step in steps[mine]:
            answers = [[t for t, _ in answer.row] for answer in steps[other] if answer.action == step.action]
            yield step.action, [t for t, _ in step.row], answers, names
