"""Silent states eliminated exactly, in the order that makes the fewest new transitions."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping

from flint import fmpq

from bisimdist.models.reach import all_reached
from bisimdist.progress import NEVER, Deadline, Progress, silent

FOREVER = -1  # where runs end up that show nothing any more

Row = dict[int, fmpq]


def eliminated(
    rows: Mapping[int, Mapping[int, fmpq]],
    hidden: Collection[int],
    *,
    removed: list[tuple[int, Row]] | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> dict[int, Row]:
    """Return the rows of the states that are not hidden, over states that are not hidden.

    The proof is in ``docs/theory/programs.md``.

    ``rows``: for each state its successors and their probabilities; a state without a row stays where it is.
    ``removed``: where to write down each hidden state when it goes, with its row then: over states that are
        not hidden, and hidden ones that go later.
    returns: for each state with a row that is not hidden the probabilities of the next one that is not
        hidden, and of `FOREVER`.
    """
    hidden = set(hidden)
    seen = _leading_out(rows, hidden)
    work: dict[int, Row] = {}
    before: dict[int, set[int]] = {state: set() for state in hidden}
    for state, row in rows.items():
        if state in hidden and state not in seen:
            continue
        made: Row = {}
        for target, p in row.items():
            goal = FOREVER if target in hidden and target not in seen else target
            made[goal] = made.get(goal, fmpq(0)) + p
            if goal in before:
                before[goal].add(state)
        work[state] = made
    queue = [(_cost(work, before, state), state) for state in hidden if state in seen]
    heapq.heapify(queue)
    done = 0
    while queue:
        cost, state = heapq.heappop(queue)
        if state not in before:
            continue
        now = _cost(work, before, state)
        if now > cost:
            heapq.heappush(queue, (now, state))
            continue
        if done % 64 == 0:
            deadline.check()
            progress("silent states", done, len(seen))
        done += 1
        row, neighbours = _remove(work, before, state)
        if removed is not None:
            removed.append((state, row))
        for neighbour in neighbours:
            heapq.heappush(queue, (_cost(work, before, neighbour), neighbour))
    return {state: row for state, row in work.items() if state not in hidden}


def _cost(work: Mapping[int, Row], before: Mapping[int, set[int]], state: int) -> int:
    loops = state in work[state]
    return (len(before[state]) - loops) * (len(work[state]) - loops)


def _remove(work: dict[int, Row], before: dict[int, set[int]], state: int) -> tuple[Row, list[int]]:
    """Let every transition to a state go to its successors; return those, and hidden states around it."""
    row = work.pop(state)
    sources = before.pop(state)
    loop = row.pop(state, None)
    if loop is not None:
        sources.discard(state)
        rest = 1 - loop
        row = {target: p / rest for target, p in row.items()}
    for target in row:
        if target in before:
            before[target].discard(state)
    for source in sources:
        into = work[source]
        share = into.pop(state)
        for target, p in row.items():
            old = into.get(target)
            if old is None:
                into[target] = share * p
                if target in before:
                    before[target].add(source)
            else:
                into[target] = old + share * p
    return row, [other for other in (*row, *sources) if other in before]


def _leading_out(rows: Mapping[int, Mapping[int, fmpq]], hidden: set[int]) -> set[int]:
    """Return the hidden states from which a state can be reached that is not hidden."""
    back: dict[int, list[int]] = {}
    found: set[int] = set()
    for state in hidden:
        for target in rows[state]:
            if target in hidden:
                back.setdefault(target, []).append(state)
            else:
                found.add(state)
    return set(all_reached(found, lambda state: back.get(state, ())))
