"""Enclosures in arrays hold what single draws lead to, and what they decide is what single boxes decide."""

from __future__ import annotations

import math
import operator
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import LimitError
from bisimdist.programs.front import explore
from bisimdist.programs.replay import arrays
from bisimdist.programs.replay.catching import caught
from bisimdist.programs.replay.decision import Asked
from bisimdist.programs.replay.draws import Uniform
from bisimdist.programs.replay.fine import values_at_once
from bisimdist.programs.replay.lazy import _WAYS
from bisimdist.programs.replay.many import forget
from bisimdist.programs.replay.node import Node, NoValue, Plan, outcome_of
from bisimdist.programs.replay.region import WHOLE, Boxes, Factor, marginal
from bisimdist.programs.replay.released import Released
from bisimdist.programs.replay.rules import grid_of
from bisimdist.programs.replay.search import Search
from bisimdist.progress import Deadline
from tests.programs.replaying import law

UNIT = 2.0**-53
RUN: Any = None
ONE = [
    operator.neg,
    operator.abs,
    math.exp,
    math.log,
    math.log1p,
    math.sqrt,
    math.sin,
    math.cos,
    math.floor,
    math.ceil,
    math.trunc,
    round,
    int,
    float,
    np.exp,
    np.log,
    np.sqrt,
    np.cos,
    np.rint,
    np.floor,
]
TWO = [operator.add, operator.sub, operator.mul, operator.truediv, np.add, np.multiply]
CONSTANTS = st.sampled_from([0, 1, -1, 2, 3.5, -0.25, 1e-3, 1e6, 4.0, 1 / 3])


def unit_ends(low: Any, high: Any) -> tuple[Any, Any]:
    return low * UNIT, high * UNIT


def draw(number: int) -> Node:
    node = Node(unit_ends, None, (number,), RUN)
    node.scale = UNIT
    return node


def trees() -> Any:
    def larger(inner: Any) -> Any:
        return st.one_of(
            st.builds(lambda f, x: (f, x), st.sampled_from(ONE), inner),
            st.builds(lambda f, x, y: (f, x, y), st.sampled_from(TWO), inner, inner),
            st.builds(lambda f, x: (f, x, x), st.sampled_from(TWO), inner),
            st.builds(lambda x, k: (grid_of, x, 1, 2**k), inner, st.integers(0, 6)),
        )

    return st.recursive(st.one_of(st.just(draw(0)), st.just(draw(1)), CONSTANTS), larger, max_leaves=7)


def noded(tree: Any) -> Any:
    if not isinstance(tree, tuple):
        return tree
    parts = tuple(noded(part) for part in tree[1:])
    draws = {k for part in parts if isinstance(part, Node) for k in part.draws}
    return Node(tree[0], parts, tuple(sorted(draws)), RUN) if draws else 1.5


def boxes_of(chooser: random.Random, count: int) -> Boxes:
    sides = []
    for _ in range(count):
        size = 2 ** chooser.randint(0, 53)
        start = chooser.randrange(2**53 - size + 1)
        sides.append((start, start + size - 1))
    table = np.array(sides, dtype=np.int64).reshape(-1, 2, 2)
    return Boxes(table[:, :, 0], table[:, :, 1])


@settings(max_examples=75, deadline=None)
@given(trees(), st.integers(0, 1000))
def test_single_draws_lie_in_the_enclosures(tree: Any, seed: int) -> None:
    node = noded(tree)
    if not isinstance(node, Node) or not node.draws:
        return
    plan = Plan((node,))
    work = arrays.Arrays(plan)
    if not work.usable:
        return
    chooser = random.Random(seed)
    boxes = boxes_of(chooser, 40)
    with np.errstate(all="ignore"):
        (found,) = work.enclosures({0: 0, 1: 1}, boxes.lows, boxes.highs).ranges
        for row, (lows, highs) in enumerate(boxes):
            low, high = (float(np.broadcast_to(side, len(boxes))[row]) for side in found)
            if math.isnan(low):
                continue
            for _ in range(4):
                points = [
                    chooser.choice((a, b, chooser.randint(int(a), int(b))))
                    for a, b in zip(lows, highs, strict=True)
                ]
                try:
                    value = plan.enclosures(points, points)[0]
                except (ArithmeticError, ValueError, NoValue) as error:
                    pytest.fail(f"{error} in a box where a value is known")
                assert value is not None
                assert low <= value[0] <= high


def test_the_mass_of_boxes_is_exact() -> None:
    boxes = boxes_of(random.Random(1), 50)
    laws = (Uniform(1 << 53), Uniform(1 << 53))
    plain = Factor((0, 1), list(boxes), 0.5)
    assert Factor((0, 1), boxes, 0.5).mass(laws) == plain.mass(laws) > fmpq(0)


@pytest.mark.parametrize(
    "text",
    [
        "import random\ndef f(x):\n    return round(x + random.gauss(0, 1))\n",
        "import random\ndef f(x):\n    return round(x + random.normalvariate(0, 1))\n",
    ],
    ids=("gauss", "normalvariate"),
)
def test_normal_values_have_narrow_brackets(tmp_path: Path, text: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(text)
    chain = explore(f"{file}:f", [0], gap="1/10", replays=100)
    law = {chain.labels[k]: float(p.p) / float(p.q) for k, p in chain.rows[chain.index("0")]}
    start = chain.index("0")
    cut = float(chain.cut[start].p) / float(chain.cut[start].q)
    assert 0 < cut < 1 / 30
    for value in range(-2, 3):
        ends = ((value + side) / math.sqrt(2) for side in (-0.5, 0.5))
        low, high = (math.erf(end) / 2 for end in ends)
        assert law[str(value)] - 1e-9 <= high - low <= law[str(value)] + cut + 1e-9


def test_a_draw_alone_counts_as_often_as_the_others_leave_room() -> None:
    points = [(a, b) for a in range(12) for b in range(9) if a * b % 5 < 2 and a != 4]
    boxes = [((a, b), (a, b)) for a, b in points]
    factor = Factor((3, 7), boxes, len(boxes) / (12 * 9))
    laws: Any = {3: Uniform(12), 7: Uniform(9)}
    for k, draw_number in enumerate(factor.draws):
        law = marginal(laws, factor, draw_number)
        assert law is not None
        for low in range(law.low, law.high + 1):
            for high in range(low, law.high + 1):
                count = sum(low <= point[k] <= high for point in points)
                assert law.mass(low, high) == fmpq(count, 12 * 9)
                assert abs(law.weight(low, high) - count / (12 * 9)) < 1e-9
                assert (law.weight(low, high) == 0) == (count == 0)


def test_what_is_released_after_a_condition_on_two_draws_is_exact(tmp_path: Path) -> None:
    text = (
        "import math, random\n\ndef f(x):\n    x += int(math.log(1))\n    while True:\n"
        "        a, b = random.randrange(40), random.randrange(30)\n"
        "        c = random.randrange(50)\n        if a * b > 300 + x:\n            return a // 7, c // 20\n"
        "        if a + b < 60:\n            return -1\n"
    )
    found = law(tmp_path, text, 5)
    expected: dict[str, Fraction] = {}
    for a in range(40):
        for b in range(30):
            for c in range(50):
                end = f"({a // 7}, {c // 20})" if a * b > 305 else "-1" if a + b < 60 else ""
                expected[end] = expected.get(end, Fraction(0)) + Fraction(1, 40 * 30 * 50)
    ends = 1 - expected.pop("", Fraction(0))
    cut = found.pop("cut", Fraction(0))
    assert cut < Fraction(1, 10**9)
    for end, mass in expected.items():
        assert mass / ends - cut <= found[end] <= mass / ends


def _gamma(x: int) -> int:
    return math.floor(2 * random.gammavariate(2.0, 1.0)) + x


def test_a_loop_that_rejects_pairs_of_doubles_is_bracketed() -> None:
    with caught() as work:
        work.scan({__name__})
        search = Search(lambda: _gamma(0))
        search.work(6000)
        forget()
    missing = float(search.missing.p) / float(search.missing.q)
    assert missing < 0.2
    for end, mass in search.ends.items():
        k = int(end[-1][0])
        true = math.exp(-k / 2) * (1 + k / 2) - math.exp(-(k + 1) / 2) * (1 + (k + 1) / 2)
        assert float(mass.p) / float(mass.q) - 1e-9 < true < float(mass.p) / float(mass.q) + missing + 1e-9


@settings(max_examples=30, deadline=None)
@given(
    trees(),
    trees(),
    st.sampled_from([operator.lt, operator.le, operator.gt, operator.ge]),
    st.integers(0, 1000),
)
def test_what_an_order_decides_in_arrays_is_so_at_each_point(
    one: Any, two: Any, compare: Any, seed: int
) -> None:
    nodes = noded(one), noded(two)
    plan = Plan(nodes)
    work, decide = arrays.Arrays(plan), arrays.compared(compare)
    if not work.usable or not work.draws or decide is None:
        return
    chooser = random.Random(seed)
    boxes = boxes_of(chooser, 40)
    with np.errstate(all="ignore"):
        decided, keys = decide(work.enclosures({0: 0, 1: 1}, boxes.lows, boxes.highs))
        decided = np.broadcast_to(decided, len(boxes))
        keys = np.broadcast_to(keys, (len(boxes), 1))
        for row in np.flatnonzero(decided).tolist():
            lows, highs = boxes[row]
            for _ in range(4):
                points = [
                    chooser.choice((a, b, chooser.randint(a, b))) for a, b in zip(lows, highs, strict=True)
                ]
                first, second = (found[0] for found in plan.enclosures(points, points) if found is not None)
                assert compare(first, second) == (keys[row, 0] == 1.0)


@pytest.mark.parametrize("count", [1000, 4096])
@pytest.mark.parametrize("own", [math.log, math.log1p, math.exp, math.sqrt, math.expm1, np.log])
def test_all_values_of_one_draw_are_those_of_its_integers(own: Any, count: int) -> None:
    law = Uniform(count)
    u = Node(lambda low, high: (low / count, high / count), None, (0,), RUN)

    def made(function: Any, *parts: Any) -> Node:
        return Node(function, parts, (0,), RUN)

    shifted = made(operator.sub, u, 0.5)
    signed = made(math.copysign, 1.0, shifted)
    inner = made(own, made(operator.sub, 1, made(operator.mul, 2, made(operator.abs, shifted))))
    root = made(grid_of, made(operator.mul, signed, inner), 1, 64)
    plan = Plan((root,))
    found = values_at_once(plan, Released.known, law, 0, (0, count - 1))
    assert found is not None
    masses: dict[Any, int] = {}
    for outcome, size, _ in found:
        masses[outcome] = masses.get(outcome, 0) + size
    expected: dict[Any, int] = {}
    for k in range(count):
        outcome = outcome_of(plan, Released.known, {0: k}, {0: k})
        expected[outcome] = expected.get(outcome, 0) + 1
    assert masses == expected
    with pytest.raises(LimitError):
        values_at_once(plan, Released.known, law, 0, (0, count - 1), Deadline.after(0))


def test_a_fine_grid_of_released_doubles_is_exact(tmp_path: Path) -> None:
    text = (
        "import math\n\ndef f(x, rng):\n    u = rng.random() - 0.5\n"
        "    return math.floor(16 * (x - math.copysign(1.0, u) * math.log(1 - 2 * abs(u))) + 0.5)\n"
    )
    found = law(tmp_path, text, 0)
    assert "cut" not in found
    assert sum(found.values()) == 1
    for end, mass in found.items():
        value = Fraction(int(end), 16) if not end.startswith("raise") else None
        if value is not None and abs(value) < 3:
            low, high = float(abs(value)) - 1 / 32, float(abs(value)) + 1 / 32
            true = (math.exp(-low) - math.exp(-high)) / 2 if value else 1 - math.exp(-1 / 32)
            assert abs(float(mass) - true) < 1e-12


def test_what_was_divided_is_not_divided_again_for_other_draws() -> None:
    laws = [Uniform(1 << 53)] * 4

    def asked(bound: float, one: int, two: int) -> tuple[dict[Any, fmpq], int]:
        product = Node(operator.mul, (draw(one), draw(two)), (one, two), RUN)
        condition = Asked((product, bound), _WAYS[operator.lt], operator.lt)
        parts, _, work = condition.divide(laws, WHOLE, 50)
        return {outcome: region.mass(laws) for outcome, region in parts}, work

    forget()
    first, work = asked(0.3, 0, 1)
    again, little = asked(0.3, 2, 3)
    other, much = asked(0.6, 2, 3)
    forget()
    fresh, _ = asked(0.6, 0, 1)
    forget()
    assert first == again
    assert other == fresh != first
    assert little == 1 < min(work, much)
    assert sum(first.values(), fmpq(0)) < 1
