"""What the bijections of supports are searched with."""

from __future__ import annotations

from bisimdist.bisimulation.assignment import least_feasible


def test_least_feasible() -> None:
    assert least_feasible([1, 2, 3], lambda value: value > 3) is None
    assert least_feasible([], lambda value: True) is None
    for bound in range(1, 8):
        assert least_feasible(range(1, 8), lambda value, bound=bound: value >= bound) == bound - 1  # type: ignore[misc]
