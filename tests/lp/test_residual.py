"""Pivots on residuals: the optimum of the plain simplex, whatever the size and closeness of the costs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from bisimdist.lp import residual, transport
from bisimdist.lp.program import Program
from bisimdist.lp.transport import TransportBasis, improve

ONE = 1 << 200
KINDS: dict[str, Callable[[Random], int]] = {
    "random": lambda source: source.randint(0, ONE),
    "close": lambda source: (ONE >> 1) + source.randint(0, 1 << 30),
    "tied": lambda source: source.randint(0, 3) * (ONE >> 2),
    "tied and close": lambda source: source.randint(0, 3) * (ONE >> 2) + source.randint(0, 1 << 90),
    "all equal": lambda source: ONE >> 1,
}


def instance(kind: str, size: int, seed: int) -> tuple[Program, list[int]]:
    source = Random(f"{kind} {size} {seed}")
    sinks = source.randint(size // 2, size)
    supply = tuple(source.randint(1, 1000) for _ in range(size))
    capacity = tuple(source.randint(1, 1000) for _ in range(sinks))
    cells = range(size * sinks)
    program = Program(tuple(range(size)), tuple(range(sinks)), supply, capacity, tuple(cells), 1000)
    return program, [KINDS[kind](source) for _ in cells]


def plain(program: Program, costs: list[int]) -> TransportBasis:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "worth_approaching", lambda *_: False)
        return improve(program, costs, ONE)


@pytest.mark.parametrize(("kind", "size"), list(product(KINDS, (11, 20))))
def test_the_optimum_is_that_of_the_plain_simplex(kind: str, size: int) -> None:
    for seed in range(5):
        program, costs = instance(kind, size, seed)
        expected = plain(program, costs).cost(program, costs, ONE)
        cold = improve(program, costs, ONE)
        assert cold.cost(program, costs, ONE) == expected
        rounded = improve(program, [cost >> 150 for cost in costs], ONE >> 150).parent
        warm = improve(program, costs, ONE, rounded)
        assert warm.cost(program, costs, ONE) == expected
        assert warm.feasible
        again = improve(program, costs, ONE, warm.parent)
        assert (again.parent, again.pivots) == (warm.parent, 0)


@pytest.mark.parametrize("kind", list(KINDS))
def test_compiled_and_interpreted_end_at_the_same_basis(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, costs = instance(kind, 14, 1)
    monkeypatch.setattr(residual, "_seen", -(10**12))
    monkeypatch.setattr(residual, "_loaded", lambda: False)
    interpreted = improve(program, costs, ONE)
    monkeypatch.setattr(residual, "_seen", 10**12)
    assert improve(program, costs, ONE) == interpreted


def test_potentials_prove_the_optimum() -> None:
    program, costs = instance("tied and close", 20, 3)
    basis = improve(program, costs, ONE)
    sources, sinks = len(program.sources), len(program.sinks)
    above, below = basis.potential[:sources], basis.potential[sources:]
    assert all(0 <= f <= ONE for f in above)
    assert all(f >= 0 for f in below)
    for i, j in product(range(sources), range(sinks)):
        assert above[i] - below[j] <= costs[i * sinks + j]
    gain = sum(f * amount for f, amount in zip(above, program.supply, strict=True))
    gain -= sum(f * amount for f, amount in zip(below, program.capacity, strict=True))
    assert gain == basis.cost(program, costs, ONE)


def test_amounts_beyond_64_bits_are_left_to_the_plain_simplex() -> None:
    program, costs = instance("random", 12, 5)
    large = tuple(amount << 70 for amount in program.supply)
    wide = Program(program.sources, program.sinks, large, program.capacity, program.cells, program.whole)
    assert not residual.worth_approaching(len(costs), sum(large))
    assert improve(wide, costs, ONE) == plain(wide, costs)
