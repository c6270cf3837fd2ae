"""Tables of bounds for pairs of states: which pairs are looked at, and how many there may be."""

from __future__ import annotations

from flint import fmpq

from bisimdist.models.pa import PA, Transition
from bisimdist.traces.engine.combination import combined_system
from bisimdist.traces.engine.system import WordSystem, point
from bisimdist.traces.engine.table import StateTable, find_table

THIRD = fmpq(1, 3)


def system(*, trap: bool) -> WordSystem:
    """Return states of two actions that all lead to both; with a trap, one of them leads elsewhere."""
    rows = [
        ("a", {0: fmpq(1, 2), 1: fmpq(1, 4), 3: fmpq(1, 4)}),
        ("a", {0: fmpq(1, 4), 1: fmpq(1, 4), 3: fmpq(1, 2)}),
        ("a", {2: THIRD, 4: 2 * THIRD} if trap else {0: THIRD, 1: THIRD, 3: THIRD}),
        ("b", {0: THIRD, 1: 2 * THIRD}),
        ("c", {4: fmpq(1)}),
    ]
    steps = tuple(Transition(s, action, tuple(row.items())) for s, (action, row) in enumerate(rows))
    return combined_system(PA(tuple("vwxyz"), steps))


def table(made: WordSystem, limit: int) -> StateTable:
    starts = [(point(made.class_of[0]), point(made.class_of[other])) for other in (1, 2)]
    return find_table(made, starts, limit=limit)


def test_pairs_without_any_bound_do_not_count() -> None:
    made = system(trap=True)
    v, w, x = (made.class_of[n] for n in range(3))
    found = table(made, 2)
    assert not found.refused
    assert set(found.entries) == {(v, w), (w, v)}
    assert found.ratio(v, x) is None
    assert set(table(system(trap=False), 6).entries) >= {(v, w), (w, v), (v, x), (x, v)}


def test_too_many_pairs_are_refused() -> None:
    assert table(system(trap=False), 2).refused
    assert table(system(trap=False), 2).entries == {}
