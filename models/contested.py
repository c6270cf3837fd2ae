"""Interactive models that are only known roughly, written out: an analyst asks, and nature picks, at once.

An action says what is asked and which vertex nature picks of every row, in each of two worlds on its own.
See docs/theory/intervals.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from bisimdist.errors import ModelError
from bisimdist.models.interactive import Interactive, action_place
from bisimdist.models.intervals import IntervalRow, narrowed, vertices
from bisimdist.models.labelled import Row
from bisimdist.models.second_world import SecondWorld

MAX_ACTIONS = 10_000  # how many ways there may be to ask and pick after one label


@dataclass(frozen=True, slots=True, repr=False)
class Contested(Interactive):
    """An interactive model whose probabilities are known roughly: nature picks when somebody asks.

    Its actions say what the analyst asks, and which vertices nature picks, in two worlds.
    """

    second: tuple[int, ...] = field(kw_only=True)

    def placed(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return where two states are: the first as it is, the second in the other world."""
        return pair[0], self.second[pair[1]]


def contested(
    states: Sequence[str],
    labels: Sequence[str],
    offered: Sequence[Sequence[tuple[str, IntervalRow]]],
    pairs: Sequence[tuple[int, int]],
) -> Contested | Interactive:
    r"""Return the model that an analyst and nature ask together; without any choice of nature, the analyst.

    Raises ModelError if a row is none, or there are more than `MAX_ACTIONS` ways to ask and pick.

    >>> from flint import fmpq
    >>> open_row = ("X", ((1, fmpq(1, 4), fmpq(1, 2)), (2, fmpq(1, 2), fmpq(3, 4))))
    >>> model = contested("stu", "abc", [[open_row], [], []], [(0, 0)])
    >>> model.states, model.pairs, model.actions[3]
    (('s', 't', 'u', "s'"), ((0, 3),), 'X {"s":1,"s\'":1}')
    """
    found: list[dict[str, tuple[Row, ...]]] = []
    for name, rows in zip(states, offered, strict=True):
        places = [action_place(name, action) for action, _ in rows]
        found.append(
            {
                action: vertices(narrowed(row, states, place, place), place)
                for place, (action, row) in zip(places, rows, strict=True)
            }
        )
    both = SecondWorld.of(
        states,
        ({target for _, row in rows for target, _, _ in row} for rows in offered),
        [s for s, rows in enumerate(found) if any(len(several) > 1 for several in rows.values())],
    )
    names, origin = both.names, both.origin
    moves: list[list[tuple[str, Row]]] = [[] for _ in origin]
    for label in dict.fromkeys(labels):
        here = [k for k, state in enumerate(origin) if labels[state] == label]
        asks = dict.fromkeys(action for k in here for action in found[origin[k]])
        if any(found[origin[k]].keys() != asks.keys() for k in here):
            return Interactive(  # says what is wrong
                tuple(states),
                tuple(labels),
                tuple(tuple((a, v[0]) for a, v in rows.items()) for rows in found),
            )
        for action in asks:
            sizes = [len(found[origin[k]][action]) for k in here]
            if prod(sizes) > MAX_ACTIONS:
                raise ModelError(
                    f"nature may pick in more than {MAX_ACTIONS} ways after the label {label!r}; expected "
                    "fewer states of one label with intervals",
                    place=action_place(states[origin[here[0]]], action),
                )
            for choice in product(*map(range, sizes)):
                picks = {
                    names[k]: n for k, n, several in zip(here, choice, sizes, strict=True) if several > 1
                }
                said = json.dumps(picks, sort_keys=True, separators=(",", ":"))
                for k, n in zip(here, choice, strict=True):
                    row = both.row(k, found[origin[k]][action][n])
                    moves[k].append((f"{action} {said}" if picks else action, row))
    made = names, tuple(labels[s] for s in origin), tuple(map(tuple, moves))
    if len(names) == len(states):
        return Interactive(*made, tuple(pairs))
    return Contested(*made, tuple((s, both.second[t]) for s, t in pairs), second=both.second)
