"""Skewed problems for tests: strategies, and instances whose witnesses are known by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from flint import fmpq
from hypothesis import strategies as st

from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from tests.strategies import alphas

__all__ = ["EACH", "EVERY", "INSTANCES", "Instance", "make_problem", "metric_problems", "problems"]

EVERY = ("networkx", "pulp", "pulp:HiGHS", "scipy", "simplex", "transport", "z3")
EACH = [
    pytest.param(name, marks=[pytest.mark.extra("highs")] if name == "pulp:HiGHS" else []) for name in EVERY
]
"""The back-ends as parameters of a test."""

ZERO = fmpq(0)
ONE = fmpq(1)
ULP = fmpq(1, 2**60)  # far below the last place of a double near one half


def make_problem(
    alpha: ExactNumber,
    left: Sequence[ExactNumber],
    right: Sequence[ExactNumber],
    distance: Mapping[tuple[int, int], ExactNumber] | ExactNumber,
    *,
    symmetric: bool = True,
) -> SkewedProblem:
    """Make a problem of numbers as written; distances that are not given are one (off the diagonal)."""
    n = len(left)
    rows = [[ZERO if i == j else ONE for j in range(n)] for i in range(n)]
    if isinstance(distance, Mapping):
        for (i, j), value in distance.items():
            rows[i][j] = to_fmpq(value)
            if symmetric:
                rows[j][i] = to_fmpq(value)
    else:
        rows = [[ZERO if i == j else to_fmpq(distance) for j in range(n)] for i in range(n)]
    return SkewedProblem(
        to_fmpq(alpha),
        tuple(to_fmpq(x) for x in left),
        tuple(to_fmpq(x) for x in right),
        tuple(tuple(row) for row in rows),
    )


@dataclass(frozen=True, slots=True)
class Instance:
    """A problem with its value and one pair of optimal witnesses."""

    name: str
    problem: SkewedProblem
    optimum: SkewedOptimum


def instance(  # noqa: PLR0917
    name: str,
    problem: SkewedProblem,
    value: ExactNumber,
    potential: Sequence[ExactNumber],
    moves: Mapping[tuple[int, int], ExactNumber],
    given_up: Mapping[int, ExactNumber],
) -> Instance:
    return Instance(
        name,
        problem,
        SkewedOptimum(
            to_fmpq(value),
            tuple(to_fmpq(f) for f in potential),
            {arc: to_fmpq(w) for arc, w in moves.items()},
            {i: to_fmpq(w) for i, w in given_up.items()},
        ),
    )


_HUGE = 10**200 + 357
_HUGE_PART = fmpq(10**199 + 33, _HUGE)
_LONG = fmpq(2**64 + 13, 2**65 + 9)
_SHORT = 2 * _LONG - 1

INSTANCES = (
    instance("single node", make_problem(1, ["3/4"], ["1/2"], 0), "1/4", [1], {}, {0: "1/4"}),
    instance("single node, enough on the right", make_problem(2, ["3/4"], ["1/2"], 0), 0, [0], {}, {}),
    instance("no mass at all", make_problem("3/2", [0, 0, 0], [0, 0, 0], "1/2"), 0, [0, 0, 0], {}, {}),
    instance(
        "no mass on the right", make_problem(1, ["1/2", "1/4"], [0, 0], "1/3"), "3/4", [1, 1], {},
        {0: "1/2", 1: "1/4"},
    ),
    instance("no mass on the left", make_problem(1, [0, 0], ["1/2", "1/4"], "1/3"), 0, [0, 0], {}, {}),
    instance(
        "identical distributions, alpha 1", make_problem(1, ["1/3", "2/3"], ["1/3", "2/3"], "1/3"), 0, [0, 0],
        {}, {},
    ),
    instance(
        "identical distributions, alpha 3/2", make_problem("3/2", ["1/3", "2/3"], ["1/3", "2/3"], "1/3"), 0,
        [0, 0], {}, {},
    ),
    instance(
        "disjoint supports at distance 1",
        make_problem("3/2", ["1/4", "3/4", 0, 0], [0, 0, "1/2", "1/2"], 1),
        1, [1, 1, 0, 0], {}, {0: "1/4", 1: "3/4"},
    ),
    instance(
        "tied costs",
        make_problem(1, ["1/2", "1/2", 0, 0], [0, 0, "1/2", "1/2"], "1/2"),
        "1/2", ["1/2", "1/2", 0, 0], {(0, 2): "1/2", (1, 3): "1/2"}, {},
    ),
    instance(
        "degenerate: every served sink is full",
        make_problem(
            1, ["1/3", "1/3", "1/3", 0, 0, 0], [0, 0, 0, "1/3", "1/3", "1/3"],
            {(0, 3): 0, (1, 4): 0, (2, 5): 0},
        ),
        0, [0, 0, 0, 0, 0, 0], {(0, 3): "1/3", (1, 4): "1/3", (2, 5): "1/3"}, {},
    ),
    instance(
        "zero capacities: the near sinks hold nothing",
        make_problem(
            2, ["1/2", 0, 0, 0], [0, 0, 0, "1/2"], {(0, 1): "1/2", (0, 2): "1/2", (0, 3): "3/4"}
        ),
        "3/8", ["3/4", "1/8", "1/8", 0], {(0, 3): "1/2"}, {},
    ),
    instance(
        "alpha 1, transport",
        make_problem(
            1, ["2/3", "1/3", 0, 0], [0, 0, "1/2", "1/2"],
            {(0, 1): 1, (0, 2): "1/10", (0, 3): "2/5", (1, 2): "1/5", (1, 3): "4/5", (2, 3): "1/2"},
        ),
        "17/60", ["2/5", "1/2", "3/10", 0], {(0, 2): "1/6", (0, 3): "1/2", (1, 2): "1/3"}, {},
    ),
    instance(
        "numerators beyond 64 bits: room is short by less than a double can tell",
        make_problem("3/2", [_LONG, 0], [0, 1 - _LONG], {(0, 1): "1/3"}),
        (1 - _LONG) / 3 + _SHORT, [1, "4/9"], {(0, 1): 1 - _LONG}, {0: _SHORT},
    ),
    instance(
        "numerators of 200 digits",
        make_problem(1, [_HUGE_PART, 1 - _HUGE_PART, 0], [0, 0, 1], {(0, 2): _HUGE_PART, (1, 2): "1/2"}),
        _HUGE_PART**2 + (1 - _HUGE_PART) / 2,
        [_HUGE_PART, "1/2", 0], {(0, 2): _HUGE_PART, (1, 2): 1 - _HUGE_PART}, {},
    ),
    instance(
        "one unit below the last place of a double",
        make_problem(
            1, ["1/2", "1/2", 0, 0], [0, 0, "1/2", "1/2"],
            {(0, 2): fmpq(1, 2) + ULP, (0, 3): fmpq(1, 2), (1, 2): fmpq(1, 2), (1, 3): fmpq(1, 2) + ULP},
        ),
        "1/2", ["1/2", "1/2", 0, 0], {(0, 3): "1/2", (1, 2): "1/2"}, {},
    ),
    instance(
        "giving up is dearer by less than a double can tell",
        make_problem(1, [1, 0], [0, 1], {(0, 1): 1 - ULP}),
        1 - ULP, [1 - ULP, 0], {(0, 1): 1}, {},
    ),
    instance(
        "a detour wins",
        make_problem(2, ["1/2", 0, 0], [0, 0, 1], {(0, 2): "9/10", (0, 1): "1/10", (1, 2): "1/10"}),
        "3/20", ["3/10", "1/10", 0], {(0, 1): "1/2", (1, 2): 1}, {},
    ),
    instance(
        "a detour wins while there is room, for it uses alpha squared of it",
        make_problem(2, ["3/4", 0, 0], [0, 0, 1], {(0, 2): "9/10", (0, 1): "1/10", (1, 2): "1/10"}),
        "2/5", [1, "9/20", "7/40"], {(0, 1): "1/2", (1, 2): 1}, {0: "1/4"},
    ),
    instance(
        "a detour where alpha is 1",
        make_problem(1, [1, 0, 0], [0, 0, 1], {(0, 2): "9/10", (0, 1): "1/10", (1, 2): "1/10"}),
        "1/5", ["1/5", "1/10", 0], {(0, 1): 1, (1, 2): 1}, {},
    ),
    instance(
        "directed: the way back is dear",
        make_problem(1, [1, 0], [0, 1], {(0, 1): "1/4"}, symmetric=False),
        "1/4", ["1/4", 0], {(0, 1): 1}, {},
    ),
    instance(
        "alpha beyond the range of a double",
        make_problem(10**400, ["1/2", 0], [0, fmpq(1, 10**400)], {(0, 1): "1/3"}),
        fmpq(1, 2) - fmpq(2, 3 * 10**400), [1, fmpq(2, 3 * 10**400)], {(0, 1): fmpq(1, 10**400)},
        {0: fmpq(1, 2) - fmpq(1, 10**400)},
    ),
)  # fmt: skip


def _masses(draw: st.DrawFn, n: int) -> tuple[fmpq, ...]:
    weights = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    lost = draw(st.integers(0, 3))
    total = sum(weights) + lost
    return tuple(fmpq(weight, total or 1) for weight in weights)


@st.composite
def problems(
    draw: st.DrawFn, max_nodes: int = 5, *, alpha: st.SearchStrategy[fmpq] | None = None
) -> SkewedProblem:
    """Draw a problem with frequent ties, detours, nodes without mass, and distances that doubles confuse."""
    n = draw(st.integers(1, max_nodes))
    grain = draw(st.sampled_from([1, 2, 4, 30]))
    blur = draw(st.booleans())

    def distance() -> fmpq:
        value = fmpq(draw(st.integers(0, grain)), grain)
        if blur and value < 1:
            value += ULP * draw(st.integers(0, 3))
        return value

    rows = tuple(tuple(ZERO if i == j else distance() for j in range(n)) for i in range(n))
    return SkewedProblem(draw(alphas() if alpha is None else alpha), _masses(draw, n), _masses(draw, n), rows)


@st.composite
def metric_problems(draw: st.DrawFn, max_nodes: int = 5) -> SkewedProblem:
    """Draw a problem whose distances obey the triangle inequality: shortest distances of a graph."""
    problem = draw(problems(max_nodes))
    n = len(problem)
    d = [list(row) for row in problem.distance]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return replace(problem, distance=tuple(tuple(row) for row in d))
