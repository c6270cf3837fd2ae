"""A flowchart does what its function does in plain Python, or there is none."""
# ruff: noqa: E501 - programs on one line

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bisimdist.budgets import all_inputs_budget
from bisimdist.errors import LimitError, ModelError
from bisimdist.programs import flowchart_guard, flowcharts
from bisimdist.programs.flowcharts import flowchart
from tests.programs.random_flowcharts import program

TWO = Fraction(2)


@pytest.fixture(scope="module", name="followed")
def _followed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bool]:
    """Tell whether a program is followed; the guard compares many runs with plain Python."""
    folder = tmp_path_factory.mktemp("flowcharts")
    made = iter(range(1_000_000))

    def followed(text: str) -> bool:
        file = Path(folder) / f"program{next(made)}.py"
        file.write_text(text)
        try:
            flowchart(f"{file}:f")
        except LimitError:
            return False
        return True

    return followed


def _right(text: str, followed: Callable[[str], bool]) -> None:
    try:
        compile(text, "program", "exec")
    except SyntaxError:
        return
    followed(text)  # raises ModelError if plain Python does something else


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False))
def test_a_random_function_does_what_its_flowchart_does(
    chance: random.Random, followed: Callable[[str], bool]
) -> None:
    _right(program(chance), followed)


@pytest.mark.slow
@pytest.mark.timeout(0)
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**40))
def test_many_random_functions_do_what_their_flowcharts_do(
    seed: int, followed: Callable[[str], bool]
) -> None:
    _right(program(random.Random(seed)), followed)


REFUSED = {
    "a function of the input in a test": "if xs[0] > 0:\n        return 1\n    return 0",
    "a float is equal to a number": "for x in xs:\n        if x == 1.0:\n            return 1\n    return 0",
    "a fraction is equal to a number": "for x in xs:\n        if x == TWO:\n            return 1\n    return 0",
    "a number is no one object": "n = 300\n    for x in xs:\n        if x is n:\n            return 1\n    return 0",
    "a complement": "return ~sum(xs)",
    "a list with two names": "l = m = []\n    l.append(sum(xs))\n    return m",
    "a list with two names in a tuple": "l = []\n    t = (l, l)\n    l.append(1)\n    return t",
    "a list that is made anew": "a = []\n    p = (a, 0)\n    a.append(1)\n    a = []\n    return p if sum(xs) > 0 else (a, 0)",
    "an unnamed list in a tuple": "t = ([], 1)\n    a, n = t\n    b, n = t\n    a.append(1)\n    return b",
    "a copy that grows": "l = []\n    t = tuple(l)\n    l.append(1)\n    return t",
    "a range of what changes": "n = 2\n    r = range(n)\n    n = 5\n    for i in r:\n        n += 1\n    return n",
    "the number instead of the place": "for i, x in enumerate(xs, 1):\n        return xs[i]\n    return 0",
    "a message with the input": "for x in xs:\n        raise ValueError(x)\n    return 0",
    "an assertion with the input": "for x in xs:\n        assert x > 5, x\n    return 0",
    "a lazy generator": "g = (rng.flip('1/2') for x in xs)\n    return 0",
    "noise with another word": "return sum(xs) + rng.two_sided_geometric(most='1/2')",
    "a ratio that is an integer, too": "return sum(xs) + p + rng.two_sided_geometric(p)",
    "a ratio that depends on the input": "for x in xs:\n        return rng.two_sided_geometric(Fraction(1, 2) ** x)\n    return 0",
    "an element in place of another": "ys = xs\n    ys.append(1)\n    return sum(xs)",
    "a changed input": "xs += [1]\n    return sum(xs)",
    "a name that is set later": "k = N\n    N = 3\n    return k",
    "a builtin that is set later": "k = max(1, 2)\n    max = 3\n    return k",
    "a dictionary of arguments": "w = 1\n    return helper(1, **w)",
    "one argument twice": "return helper(1, x=2)",
    "a name that a sum hides": "a = 1\n    s = sum(a for a in xs)\n    return s + a",
    "a sum of two loops": "return sum(x + y for x in xs for y in range(2))",
    "a sum of texts": "return sum('a' for x in xs)",
    "the last element of what may be empty": "l = []\n    for x in xs:\n        l.append(True)\n    return l[-1]",
    "the last element after a number": "l = []\n    l.append(True)\n    l.append(sum(xs))\n    return l[-1]",
    "the last element of a new list": "l = []\n    l.append(True)\n    l = []\n    return l[-1]",
    "the last element after a helper": "l = []\n    l.append(True)\n    add(l, 1)\n    return l[-1]",
    "the last element but one": "l = []\n    l.append(True)\n    l.append(False)\n    return l[-2]",
    "other chains with remainders": "return sum(xs) < 3 < p % 2",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_easily_misread_is_refused(body: str, followed: Callable[[str], bool]) -> None:
    assert not followed(_function(body))


FOLLOWED = {
    "or of numbers": "for x in xs:\n        return x or 5\n    return 0 and 1",
    "and of numbers": "for x in xs:\n        return x and rng.flip('1/2') and 7\n    return True and None",
    "a range is read once": "n = 2\n    for i in range(n):\n        n += 1\n    return n",
    "a tuple stays as it is": "a = 1\n    t = (a, a + 1)\n    a = 5\n    b, c = t\n    return b, c, a, t",
    "a tuple is no list": "return (1, 2) if sum(xs) > 0 else [1, 2]",
    "a tuple of a list": "l = [x > 1 for x in xs]\n    return tuple(l) if sum(xs) > 0 else l",
    "a copy of a list": "l = []\n    m = []\n    for x in xs:\n        l.append(1)\n        m.append(list(l))\n        m.append(l)\n    return m",
    "the remainder of constants": "b = even(4) if sum(xs) > 0 else even(3)\n    return b",
    "the remainder by zero": "if rng.two_sided_geometric('1/2') > 0:\n        if 3 % p == 0:\n            return 2\n    return 1",
    "what is known beside a loop": "return (1 if rng.flip('1/2') else 0) + sum(xs)",
    "two lists of one line": "return [x for x in xs], [x > 0 for x in xs]",
    "two sums of one line": "return sum(xs) - 2 * sum(xs)",
    "a sum with conditions": "return sum(x for x in xs if x > 0), sum(1 for x in xs if x > 0 if x < 3)",
    "a sum of what is clipped": "return sum(min(max(x, 0), 2) for x in xs) - sum(xs)",
    "a sum of noise": "return sum(rng.flip('1/3') + x for x in xs)",
    "a sum of truth values": "return sum(x > 0 for i, x in enumerate(xs) if i > 1) + sum(i for i in range(p))",
    "a condition before noise": "b = 0\n    if sum(xs) > 0:\n        b = 1\n    n = b + rng.two_sided_geometric('1/2')\n    while b < 3:\n        b += 1\n    return b, n, rng.flip('1/3')",
    "the last element": "l = []\n    m = []\n    l.append(False)\n    for x in xs:\n        m.append(x)\n        l.append(x > l[-1])\n    return l[-1], m",
    "the length of nothing": "return len([]) + sum(xs)",
    "an exception": "if sum(xs) > 3:\n        raise ValueError('high')\n    assert sum(xs) > -3, 'low'\n    return 0",
    "numbers that a helper appends": "l = []\n    add(l, 1)\n    add(l, 5)\n    l.append(True)\n    return l",
    "a parameter that is changed": "p = p + 1\n    return p + sum(xs)",
    "truth values as numbers": "return (sum(xs) > 0) + max(True, 0) + -True + int(p > 1)",
    "the ratio of another file's name": "return sum(xs) + rng.two_sided_geometric(HALF) + rng.geometric(a=HALF)",
    "a loop variable hides another one": "a = 7\n    for i in range(2):\n        for i in range(3):\n            a += i\n    return a",
    "a loop that is entered in two ways": "flag = sum(xs) > 0\n    k = spin(p)\n    return flag, k",
}  # fmt: skip


@pytest.mark.parametrize("body", FOLLOWED.values(), ids=FOLLOWED.keys())
def test_what_is_easily_misread_is_read_well(body: str, followed: Callable[[str], bool]) -> None:
    assert followed(_function(body))


def test_a_counted_list_that_a_helper_changes_is_not_counted(followed: Callable[[str], bool]) -> None:
    assert not followed(_function("l = []\n    add(l, 1)\n    return l.count(True)"))


def _function(body: str) -> str:
    head = program(random.Random(0)).partition("def f(")[0]
    return f"{head}def f(xs, rng, p):\n    {body}\n"


def truth(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    total = 0
    for x in xs:
        total += x
    return total + rng.two_sided_geometric("1/4"), p


def other_ratio(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    return sum(xs) + rng.two_sided_geometric("1/3"), p


def other_law(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    return sum(xs) + rng.geometric("1/4"), p


def other_sign(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    return sum(xs) - rng.two_sided_geometric("1/4"), p


def once_more(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    noisy = sum(xs) + rng.two_sided_geometric("1/4")
    rng.two_sided_geometric("1/4")
    return noisy, p


def never(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    return sum(xs) + 0 * p, p


def other_kind(xs: list[int], rng: Any, p: int) -> list[int]:
    return [sum(xs) + rng.two_sided_geometric("1/4"), p]


def at_one_place(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    noise = rng.two_sided_geometric("1/4")
    return sum(xs) + noise + (1 if len(xs) == 3 and xs[0] == -1 else 0), p


def refuses(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    assert p >= 0
    return sum(xs) + rng.two_sided_geometric("1/4"), p


def for_ever(xs: list[int], rng: Any, p: int) -> tuple[int, int]:
    while sum(xs) > 6:
        p += 1
    return sum(xs) + rng.two_sided_geometric("1/4"), p


def turned(xs: list[int], rng: Any) -> bool:
    return rng.flip("1/3") if sum(xs) > 0 else rng.flip("2/3")  # type: ignore[no-any-return]


def turned_back(xs: list[int], rng: Any) -> bool:
    return rng.flip("1/3") if sum(xs) > 0 else not rng.flip("2/3")


def test_coins_of_opposite_probabilities_are_two_laws() -> None:
    found = all_inputs_budget(turned, examples=False)
    assert found.found is None or found.exponents == {"1/2": "1"}
    assert all_inputs_budget(turned_back, examples=False).exponents == {}


NO_BUDGET = {
    "noise that is used twice": "n = rng.two_sided_geometric('1/2')\n    s = sum(xs)\n    return s + n, s - n",
    "noise that depends on the input": "if sum(xs) > 0:\n        return sum(xs) + rng.two_sided_geometric('1/2')\n    return sum(xs) + rng.two_sided_geometric('1/4')",
    "a length that depends on the input": "l = []\n    for x in xs:\n        if x > 0:\n            break\n        l.append(rng.flip('1/2'))\n    return l",
    "a counter beside the input": "c = 0\n    for x in xs:\n        c += 1\n        if x >= c:\n            return c\n    return 0",
    "no end that depends on the input": "s = sum(xs)\n    while s != 0:\n        s = s\n    return 0",
    "an exception that depends on the input": "assert sum(xs) > 0\n    return 0",
    "a division that depends on the input": "if sum(xs) > 0:\n        if 3 % p == 1:\n            return 1\n    return 1",
    "two constants on the way of the input": "if sum(xs) > 0:\n        k = even(4)\n    else:\n        k = even(3)\n    return k",
    "a range that the input ends": "c = 0\n    for i in range(sum(xs)):\n        c += 1\n    return c + rng.two_sided_geometric('1/2')",
}  # fmt: skip


@pytest.mark.parametrize("body", NO_BUDGET.values(), ids=NO_BUDGET.keys())
def test_what_has_no_budget_gets_none(body: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(_function(body))
    assert all_inputs_budget(f"{file}:f", examples=False).found is None


@pytest.mark.parametrize(
    "real",
    [other_ratio, other_law, other_sign, once_more, never, other_kind, at_one_place, refuses, for_ever],
)
def test_the_guard_notices_a_flowchart_of_another_function(
    real: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compare: Any = flowchart_guard.guard
    flowchart(truth)
    monkeypatch.setattr(
        flowcharts, "guard", lambda chart, _, *rest, **named: compare(chart, real, *rest, **named)
    )
    with pytest.raises(ModelError, match="no answer is given"):
        flowchart(truth)
