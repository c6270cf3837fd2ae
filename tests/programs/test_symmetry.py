"""Loops over elements of inputs are looked at in one order for all where that is proved, and only there."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.front import explored
from bisimdist.programs.request import Request
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)


def summed(xs: Any, rng: Any) -> int:
    return sum(x if rng.randrange(4) else 1 - x for x in xs)


def counted(xs: Any, rng: Any) -> dict[int, int]:
    """A dictionary is kept from draw to draw."""
    counts = {0: 0, 1: 0}
    for x in xs:
        counts[x if rng.flip("3/4") else rng.randrange(2)] += 1
    return counts


def noisy(x: int, rng: Any) -> int:
    return x + rng.randrange(2)  # type: ignore[no-any-return]


def deep(xs: Any, rng: Any) -> int:
    """The loop waits below another function."""
    best = 0
    for x in xs:
        best = max(best, noisy(x, rng) + noisy(0, rng))
    return best


def stopped(xs: Any, rng: Any) -> bool:
    """Whether somebody said yes does not depend on whom one stops at."""
    for x in xs:
        if x and rng.randrange(2):
            return True
        rng.randrange(2)
    return False


def any_of_large_noise(xs: Any, rng: Any) -> bool:
    """Draws from a large range are divided while the loop goes on."""
    found = False
    for x in xs:
        if rng.randrange(1000) < 10 * x:
            found = True
    return found


def weighed(xs: Any, rng: Any) -> int:
    """Later elements weigh more."""
    total = 0
    for x in xs:
        total = 2 * total + (x if rng.randrange(2) else 0)
    return total


def first_two(xs: Any, rng: Any) -> int:
    """Only the last two of four could be exchanged."""
    total = place = 0
    for x in xs:
        total += x * (rng.randrange(2) + (place < 2))
        place += 1  # noqa: SIM113
    return total


def skipped(xs: Any, rng: Any) -> int:
    """Two elements may be read without a draw between them, which the proof does not allow for."""
    total = 0
    for x in xs:
        if x:
            total += rng.randrange(2)
    return total


def hidden_order(xs: Any, rng: Any) -> tuple[int, int]:
    """A draw, then the rest is read at once: what is left of the loop says nothing about its order."""
    seen: list[int] = []
    for x in xs:
        if not seen:
            rng.randrange(2)
        seen.append(x)
    return sum(seen) + rng.randrange(2), 4 * seen[-1] + seen[1]


def two_loops(xs: Any, rng: Any) -> int:
    """One loop inside the other over the same elements."""
    total = 0
    for x in xs:
        for y in xs[1:]:
            total += x * y * rng.randrange(2)
    return total


def two_rests(xs: Any, rng: Any) -> int:
    """Two loops are at work, and what is left of the inner one could be of an input, too."""
    total = 0
    for x in xs:
        for y in (1, 0, 1):
            total += x * y * rng.randrange(2)
    return total


def generated(xs: Any, rng: Any) -> int:
    """The loop is inside a generator, where nobody looks for it."""

    def responses() -> Any:
        for x in xs:
            yield x if rng.randrange(2) else 0

    total = 0
    for y in responses():
        total = 2 * total + y
    return total


CASES: list[tuple[Callable[..., Any], bool]] = [
    *((f, True) for f in (summed, counted, deep, stopped, any_of_large_noise)),
    *((f, False) for f in (weighed, first_two, skipped, hidden_order, two_loops, two_rests, generated)),
]


@functools.cache
def made(function: Callable[..., Any], size: int, kind: type, *, orders: bool) -> ProgramChain:
    inputs = [kind(values) for values in product((0, 1), repeat=size)]
    found = explored(function, inputs, Request("output", replays=1, orders=orders))
    assert isinstance(found, ProgramChain)
    return found


@pytest.mark.parametrize("kind", [tuple, list])
@pytest.mark.parametrize(("function", "any_order"), CASES)
def test_the_chain_is_the_same(function: Callable[..., Any], any_order: bool, kind: type) -> None:
    folded, plain = (made(function, 4, kind, orders=orders) for orders in (True, False))
    if function is not two_loops or kind is tuple:  # the inner loop over a new list has any order
        assert folded.origin.any_order == any_order
    for name in (plain.states[s] for s, label in enumerate(plain.labels) if label == "start"):
        rows = ({c.labels[k]: p for k, p in c.rows[c.index(name)]} for c in (folded, plain))
        assert next(rows) == next(rows)


def test_fewer_places_are_explored() -> None:
    folded, plain = (made(summed, 9, list, orders=orders).origin.explored for orders in (True, False))
    assert 3 * folded < plain


def test_the_command_says_so(command: Command, tmp_path: Any) -> None:  # noqa: F811
    file = tmp_path / "survey.py"
    text = "def survey(xs, rng):\n    return sum(x if rng.randrange(4) else 1 - x for x in xs)\n"
    file.write_text(text + "def last(xs, rng):\n    return [rng.randrange(2) + x for x in xs][-1]\n")
    for name, any_order in (("survey", True), ("last", False)):
        ended = command("budget", f"{file}:{name}", "--domain", "0,1", "--size", "4", "--json")
        assert json.loads(ended.out)["any_order"] == any_order
    said = command("budget", f"{file}:survey", "--domain", "0,1", "--size", "4").out
    assert "only one order was explored" in said
