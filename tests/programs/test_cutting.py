"""Where a draw parts that is compared with a number: at once, as by division in halves."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.programs.replay.cutting import cut
from bisimdist.programs.replay.decision import segments
from bisimdist.programs.replay.draws import Uniform
from bisimdist.programs.replay.lazy import _WAYS, drawn
from bisimdist.programs.replay.node import Plan
from bisimdist.programs.replay.region import WHOLE, Factor, Region
from bisimdist.programs.replay.tape import Place, Run, current

MAKERS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "unit": (lambda k: k * 2.0**-53, 2.0**-53),
    "next": (lambda k: (k + 1) * 2.0**-53, 2.0**-53),
    "int": (int, 1.0),
}
COMPARES = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@given(
    kind=st.sampled_from(sorted(MAKERS)),
    compare=st.sampled_from(COMPARES),
    place=st.integers(-3, 1003),
    between=st.sampled_from([0.0, 0.5]),
    ends=st.none() | st.tuples(st.integers(0, 500), st.integers(500, 999)),
)
def test_the_same_parts_as_by_division(
    kind: str, compare: Any, place: int, between: float, ends: tuple[int, int] | None
) -> None:
    make, scale = MAKERS[kind]
    law = Uniform(1000)
    run = Run(Place())
    current.run = run
    try:
        node = drawn(law, make, scale)
    finally:
        current.run = None
    other = (place + between) * scale
    region = WHOLE if ends is None else Region((Factor((0,), [((ends[0],), (ends[1],))], 0.5),))
    low, high = ends or (0, 999)
    found = cut((node, other), _WAYS[compare], [law], region)
    slow, _ = segments([law], {0: low}, {0: high}, 0, Plan((node, other)), _WAYS[compare])
    assert found is not None
    made = sorted(
        (int(lows[0]), int(highs[0]), outcome)
        for outcome, part in found
        for lows, highs in part.factors[0].boxes
    )
    assert made == [(first, last, outcome) for outcome, first, last in slow]
    assert sum(part.mass([law]) for _, part in found) == region.mass([law])


@pytest.mark.parametrize("other", [float("nan"), float("inf"), 1e300])
def test_what_is_no_place_is_left_to_the_general_way(other: float) -> None:
    run = Run(Place())
    current.run = run
    try:
        node = drawn(Uniform(1000), int, 1.0)
    finally:
        current.run = None
    assert cut((node, other), _WAYS[operator.lt], [Uniform(1000)], WHOLE) is None
