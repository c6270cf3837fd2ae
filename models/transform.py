"""Chains made from chains: disjoint union, restriction to reachable states, other labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.models.kinds import LMC, PA, System
from bisimdist.models.reach import all_reached


def disjoint_union(
    first: LMC, second: LMC, *, prefixes: tuple[str, str] = ("", ""), pairs: Iterable[tuple[str, str]] = ()
) -> LMC:
    """Put two chains beside each other, so that states of one can be compared with states of the other.

    ``first``, ``second``: the chains; equal labels mean the same observation in both.
    ``prefixes``: what to put before the names of the states of each, to tell them apart.
    ``pairs``: pairs (state of `first`, state of `second`), by their names there; they follow the chains' own
        pairs.
    returns: the states of `first`, then those of `second`.
    Raises ModelError if a name would occur twice, or a pair names a state that is not there.

    >>> one = LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})
    >>> disjoint_union(one, one, prefixes=("left_", "right_"), pairs=[("s", "s")]).states
    ('left_s', 'right_s')
    """
    shift = len(first)
    left = tuple(prefixes[0] + name for name in first.states)
    right = tuple(prefixes[1] + name for name in second.states)
    twice = set(left).intersection(right)
    if twice:
        raise ModelError(
            "both chains have a state of this name; expected prefixes that tell them apart",
            place=f"state {min(twice)!r}",
        )
    return LMC(
        left + right,
        first.labels + second.labels,
        first.rows + tuple(tuple((target + shift, p) for target, p in row) for row in second.rows),
        (
            *first.pairs,
            *((s + shift, t + shift) for s, t in second.pairs),
            *((first.index(s), second.index(t) + shift) for s, t in pairs),
        ),
    )


def reachable_states(model: System, starts: Iterable[int]) -> tuple[int, ...]:
    """Return the indices of the states that can be reached from `starts`, themselves included, ascending.

    >>> chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"t": 1}, "t": {"t": 1}})
    >>> reachable_states(chain, [1])
    (1,)
    """
    arms = model.arms
    return tuple(
        sorted(all_reached(starts, lambda state: (target for rows in arms for target, _ in rows[state])))
    )


def reached_states(automaton: PA, starts: Iterable[int]) -> list[int]:
    """Return the indices of the states of an automaton that are reached from `starts`, ascending.

    >>> from bisimdist.models.pa import Transition
    >>> reached_states(PA(("s", "t"), (Transition(0, "a", ()),)), [0])
    [0]
    """
    successors: dict[int, set[int]] = {}
    for step in automaton.transitions:
        successors.setdefault(step.source, set()).update(target for target, _ in step.row)
    return sorted(all_reached(starts, lambda state: successors.get(state, ())))


def reached_part(automaton: PA, starts: Iterable[int]) -> PA:
    """Return the automaton of the states that are reached from `starts`, which the states of its pairs are.

    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> part = reached_part(PA(("s", "t"), (Transition(1, "a", ((1, fmpq(1)),)),)), [1])
    >>> part.states, part.transitions[0].source
    (('t',), 0)
    """
    kept = reached_states(automaton, starts)
    place = {state: index for index, state in enumerate(kept)}
    steps = (
        replace(step, source=place[step.source], row=tuple((place[target], p) for target, p in step.row))
        for step in automaton.transitions
        if step.source in place
    )
    pairs = tuple((place[s], place[t]) for s, t in automaton.pairs)
    names = tuple(automaton.states[state] for state in kept)
    return replace(automaton, states=names, transitions=tuple(steps), pairs=pairs)


def reached_hidden_states(model: Any, starts: Iterable[int]) -> list[int]:
    """Return the states of a hidden Markov model that can be entered from some, these included, ascending."""
    return sorted(all_reached(starts, lambda state: (target for target, _ in model.rows[state])))


def restrict_to_reachable(lmc: LMC, starts: Iterable[str] | None = None) -> LMC:
    """Keep only what can be reached from some states, in the same order.

    The distribution on traces of what remains is unchanged, and so are the true delta and the classical
    distance (alpha = 1). The skewed distance for alpha > 1 can grow, never shrink: a state that is left out
    no longer constrains the functions f of which the distance is the supremum. It bounds delta all the same.

    ``starts``: names of states; by default all states of the chain's pairs.
    returns: the chain of the reachable states, with the pairs both states of which remain.

    >>> chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"t": 1}, "t": {"t": 1}})
    >>> restrict_to_reachable(chain, ["t"]).states
    ('t',)
    """
    indices = (
        {index for pair in lmc.pairs for index in pair}
        if starts is None
        else {lmc.index(name) for name in starts}
    )
    if not indices:
        raise ModelError("there is no state to start from; expected pairs in the chain or names of states")
    kept = reachable_states(lmc, indices)
    position = {index: new for new, index in enumerate(kept)}
    return LMC(
        tuple(lmc.states[index] for index in kept),
        tuple(lmc.labels[index] for index in kept),
        tuple(tuple((position[target], p) for target, p in lmc.rows[index]) for index in kept),
        tuple((position[s], position[t]) for s, t in lmc.pairs if s in position and t in position),
    )
