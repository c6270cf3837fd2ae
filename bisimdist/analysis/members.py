"""The delta of chains in given intervals where nature has picked one for good: from above and from below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from flint import fmpq

from bisimdist.analysis.delta_answer import DeltaAnswer, DeltaBound, WitnessEvent
from bisimdist.errors import ENDINGS
from bisimdist.exact.rational import format_rational
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import Worlds
from bisimdist.progress import Deadline

__all__ = ["best_member", "both_directions", "of_members", "open_rows"]

T = TypeVar("T")

TRIALS = 200
"""How many chains are looked at for a pair."""

Asked = Callable[[LMC, tuple[str, str], Deadline], DeltaAnswer]
"""Bounds the delta of a pair in one chain."""


def of_members(above: DeltaAnswer, worlds: Worlds, ask: Asked, deadline: Deadline) -> DeltaAnswer:
    """Return bounds on the largest delta of a chain in the intervals.

    Parameters
    ----------
    above
        What is gained where nature, in one world, picks anew after every trace: at least as much.
    worlds
        The model that it asks.
    ask
        Bounds delta of one chain.
    deadline
        When to stop; one chain is looked at anyway.
    """
    work = _Fixed(worlds.chain, above, [_worst(worlds, pair, ask, deadline) for pair in above.pairs])
    pairs = tuple(
        replace(pair, lower=member.bound.lower, _work=work, _question=number)
        for number, (pair, member) in enumerate(zip(above.pairs, work.members, strict=True))
    )
    status = above.status.of_bounds(exact=all(pair.exact for pair in pairs))
    return replace(above, pairs=pairs, status=status, _work=work)


@dataclass(frozen=True, slots=True)
class _Member:
    """A chain in the intervals, and what is gained from it."""

    chain: LMC
    bound: DeltaBound


@dataclass(frozen=True, slots=True)
class _Fixed:
    """What the answer rests on: one for the upper bounds, a chain for every lower one."""

    model: IntervalChain
    above: DeltaAnswer
    members: Sequence[_Member]

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        """Return the event behind a lower bound, with the chain that it is about."""
        member = self.members[bound._question]
        witness: WitnessEvent = member.bound.witness
        return replace(witness, member=open_rows(self.model, member.chain))

    def directions(self, bound: DeltaBound) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        """Return bounds on what is gained in each direction."""
        return both_directions(self.members[bound._question].bound, self.above.pairs[bound._question])

    def certificate(self, answer: DeltaAnswer) -> dict[str, object]:
        """Return the proof: of an event with cycles that of the upper bound alone."""
        document = self.above.certificate()
        claims = []
        for pair in answer.pairs:
            claim: dict[str, object] = {
                "from": pair.source,
                "to": pair.target,
                "lower": "0",
                "upper": format_rational(pair.upper),
            }
            found = pair.witness
            if pair.lower > 0 and found.event.order is not None:
                claim |= {"lower": format_rational(pair.lower), "direction": [found.source, found.target]}
                claim |= {key: found.data()[key] for key in ("event", "probabilities", "member")}
            claims.append(claim)
        return {**document, "claims": claims}


def both_directions(below: DeltaBound, above: DeltaBound) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
    """Return bounds on what is gained in each direction: lower and upper ones of two answers."""
    (one, _), (other, _) = below.directions
    (_, most), (_, most_back) = above.directions
    return (one, most), (other, most_back)


def open_rows(model: IntervalChain, chain: LMC) -> dict[str, dict[str, str]]:
    """Return the rows of a chain that the intervals leave open."""
    return {
        chain.states[s]: {chain.states[t]: format_rational(p) for t, p in chain.rows[s]}
        for s, row in enumerate(model.rows)
        if any(low != high for _, low, high in row)
    }


def _worst(worlds: Worlds, pair: DeltaBound, ask: Asked, deadline: Deadline) -> _Member:
    """Look for a chain from which much is gained, beginning with what nature picks in the event."""
    found = best_member(
        worlds,
        pair.witness.event.asks,
        lambda chain: ask(chain, (pair.source, pair.target), deadline).pairs[0],
        lambda best, other: other.lower > best.lower,
        lambda best: best.lower >= pair.upper,
        deadline,
    )
    return _Member(*found)


def best_member(  # noqa: PLR0913, PLR0917
    worlds: Worlds,
    actions: Iterable[str | None],
    ask: Callable[[LMC], T],
    better: Callable[[T, T], bool],
    enough: Callable[[T], bool],
    deadline: Deadline,
) -> tuple[LMC, T]:
    """Look for a chain in the intervals from which much is learned: what nature picks, mended state by state.

    Parameters
    ----------
    worlds
        The model that nature asks.
    actions
        What it picks; where that is several vertices of one state, the first counts.
    ask
        Bounds what is learned from one chain.
    better
        Whether the second of two is more.
    enough
        Whether no other chain can be better.
    deadline
        When to stop; one chain is looked at anyway.
    """

    def made(chosen: Mapping[int, int]) -> tuple[LMC, T]:
        rows = [moves[chosen.get(state, 0)][1] for state, moves in enumerate(worlds.moves)]
        chain = worlds.chain.member(rows)
        return chain, ask(chain)

    chosen: dict[int, int] = {}
    for action in actions:
        for state, number in worlds.numbers(action).items():
            chosen.setdefault(state, number)
    best = made(chosen)
    turns = [
        (state, k) for state, moves in enumerate(worlds.moves) if len(moves) > 1 for k in range(len(moves))
    ]
    left, idle, turn = TRIALS, 0, 0
    try:
        while left and idle < len(turns) and not enough(best[1]):
            state, number = turns[turn % len(turns)]
            turn, idle = turn + 1, idle + 1
            if chosen.get(state, 0) == number:
                continue
            deadline.check()
            left -= 1
            other = made({**chosen, state: number})
            if better(best[1], other[1]):
                best, chosen[state], idle = other, number, 0
    except ENDINGS:
        pass
    return best
