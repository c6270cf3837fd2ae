"""Steps that do not change what is seen, left out of a chain exactly."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, TypeVar, cast

from flint import fmpq

from bisimdist.models.elimination import FOREVER, eliminated
from bisimdist.models.kinds import LMC, ParametricChain
from bisimdist.models.pa import free_name
from bisimdist.models.polynomial import simplified
from bisimdist.models.reach import all_reached

ONE = fmpq(1)

C = TypeVar("C", bound=LMC | ParametricChain)


def without_silent_steps(chain: C, starts: Collection[int] = ()) -> C:
    """Return the chain in which a step is a change of what is seen.

    An observer of it sees the labels that a run passes through, each once in a row, and that nothing changes
    any more; not for how many steps a label stayed.

    The sequence of labels without repetitions has the same probability in both, finite ones included: one
    that ends with the label a is the trace of the result that goes on with a, a, and so on, and no other
    trace has a label twice in a row. So delta of the result is that of an observer who sees changes only.

    ``starts``: states to keep beside those of the pairs; without any all states are kept.
    returns: a state goes on to the states in which a run from it first shows another label, with the exact
        probabilities of that. Where runs may show the same label for ever, they go with the probability of
        that to a state ``(LABEL for ever)``, which has this label and is not left. States that are no longer
        reached are left out.

    >>> coin = {"s": {"s": "1/2", "h": "1/4", "t": "1/4"}, "h": {"h": 1}, "t": {"t": 1}}
    >>> chain = LMC.from_mappings({"s": "toss", "h": "heads", "t": "tails"}, coin)
    >>> without_silent_steps(chain).rows[0]
    ((1, 1/2), (2, 1/2))
    """
    count = len(chain)
    wanted = {*starts, *(state for pair in chain.pairs for state in pair)} or set(range(count))
    seen = all_reached(wanted, lambda state: (target for target, _ in chain.rows[state]))
    entered = {
        target
        for state in seen
        for target, _ in chain.rows[state]
        if chain.labels[target] != chain.labels[state]
    }
    # State s is itself as it is entered, and count + s as it is passed through without anything to be seen.
    rows: dict[int, dict[int, Any]] = {}
    for state in seen:
        row = {
            target + (count if chain.labels[target] == chain.labels[state] else 0): p
            for target, p in chain.rows[state]
        }
        rows[count + state] = row
        if state in wanted or state in entered:
            rows[state] = row
    found = eliminated(rows, [state for state in rows if state >= count])
    return cast(C, _Shown(chain, wanted).of(found))


class _Shown:
    """Numbers the states that stay, and adds those in which nothing changes any more."""

    def __init__(self, chain: LMC | ParametricChain, wanted: Collection[int]) -> None:
        self.chain = chain
        self.wanted = wanted
        self.ends: dict[str, int] = {}

    def of(self, found: dict[int, dict[int, Any]]) -> LMC | ParametricChain:
        chain = self.chain
        reached = all_reached(self.wanted, lambda state: (t for t in found[state] if t != FOREVER))
        kept = sorted(reached)
        position = {state: index for index, state in enumerate(kept)}
        names = [chain.states[state] for state in kept]
        labels = [chain.labels[state] for state in kept]
        rows: list[Any] = []
        for index, state in enumerate(kept):
            row = {t: simplified(p) for t, p in found[state].items()}
            if row.get(FOREVER) == ONE:
                rows.append(((index, ONE),))
                continue
            moved = {position[t]: p for t, p in row.items() if t != FOREVER}
            if FOREVER in row:
                moved[self._end(chain.labels[state], len(kept))] = row[FOREVER]
            rows.append(tuple(sorted(moved.items())))
        taken = set(names)
        for label, index in self.ends.items():
            names.append(free_name(f"({label} for ever)", taken))
            taken.add(names[-1])
            labels.append(label)
            rows.append(((index, ONE),))
        pairs = tuple((position[s], position[t]) for s, t in chain.pairs)
        return replace(chain, states=tuple(names), labels=tuple(labels), rows=tuple(rows), pairs=pairs)

    def _end(self, label: str, count: int) -> int:
        return self.ends.setdefault(label, count + len(self.ends))
