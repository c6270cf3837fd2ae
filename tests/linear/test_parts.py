from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from flint import fmpq, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.linear import SparseSystem, floats
from bisimdist.linear.components import strongly_connected_components
from bisimdist.linear.continued_fraction import reconstruct_denominator
from bisimdist.linear.digits import digits_of, integer_of, integers_of


@given(st.lists(st.lists(st.integers(0, 11), max_size=3), min_size=12, max_size=12))
def test_components_are_those_of_networkx_and_in_order(successors: list[list[int]]) -> None:
    components = strongly_connected_components(successors)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(12))
    graph.add_edges_from((i, j) for i, around in enumerate(successors) for j in around)
    assert {frozenset(c) for c in components} == {
        frozenset(c) for c in nx.strongly_connected_components(graph)
    }
    number = {node: place for place, component in enumerate(components) for node in component}
    assert all(number[j] <= number[i] for i, around in enumerate(successors) for j in around)


def test_components_of_a_long_path_need_no_recursion() -> None:
    size = 20_000
    components = strongly_connected_components([[i + 1] if i + 1 < size else [] for i in range(size)])
    assert components == [[i] for i in reversed(range(size))]


@given(
    st.lists(st.integers(-(2**300), 2**300), min_size=1, max_size=70),
    st.integers(3, 56),
)
def test_digits_and_back(values: list[int], width: int) -> None:
    digits = digits_of([fmpz(value) for value in values], width, -(-301 // width))
    assert np.abs(digits).max() < 2**width
    assert integers_of(list(digits), width) == values
    assert [integer_of(column.tolist(), width) for column in digits.T] == values


@given(
    st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=90),
    st.integers(3, 56),
)
def test_digits_of_any_size_and_sign(digits: list[int], width: int) -> None:
    expected = sum(digit << (width * place) for place, digit in enumerate(reversed(digits)))
    assert integers_of(list(np.array(digits)[:, np.newaxis]), width) == [expected]
    assert integer_of(digits, width) == expected


@pytest.mark.parametrize("bits", [1, 10, 100, 500, 2000, 9000])
@pytest.mark.parametrize("seed", range(4))
def test_denominators_are_reconstructed(bits: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    numerator = fmpz(int.from_bytes(generator.bytes(bits // 8 + 1), "little"))
    denominator = fmpz(int.from_bytes(generator.bytes(bits // 8 + 1), "little") | 1)
    expected = fmpq(numerator, denominator).q
    precision = 2 * denominator.bit_length() + 10 + 44
    value = (numerator << precision) // denominator + int(generator.integers(-1000, 1000))
    assert reconstruct_denominator(value, precision, 10) == expected


@pytest.mark.parametrize("precision", [300, 5000, 20_000])
def test_noise_has_no_denominator(precision: int) -> None:
    noise = fmpz(int.from_bytes(np.random.default_rng(7).bytes(precision // 8), "little"))
    assert reconstruct_denominator(noise, precision, 10) is None


@settings(max_examples=30)
@given(st.lists(st.integers(1, 5), min_size=400, max_size=700), st.integers(0, 3))
def test_runs_of_small_quotients(quotients: list[int], nudge: int) -> None:
    # Quotients of one, as in Fibonacci numbers, are where two expansions of a number are confused.
    value = fmpq(0)
    for quotient in quotients:
        value = 1 / (value + quotient)
    precision = 2 * value.q.bit_length() + 60
    approximation = (value.p << precision) // value.q + nudge
    assert reconstruct_denominator(approximation, precision, 4) == value.q


def test_rationals_are_cleared() -> None:
    system = SparseSystem.from_rationals([(fmpq(1, 6), [(1, fmpq(1, 4))]), (fmpq(0), [])])
    assert system.rows == ((12, 2, ((1, 3),)), (1, 0, ()))


def test_sweeps_go_component_by_component() -> None:
    generator = np.random.default_rng(3)
    size = 300
    matrix = np.eye(size)
    for row in range(size):  # a long path through small cycles, in an order that is of no help
        matrix[row, (row * 7 + 1) % size] -= 0.4
        matrix[row, generator.integers(row, size)] -= 0.3
    target = generator.random(size)
    solver = floats.swept(matrix)
    assert solver is not None
    assert np.abs(matrix @ solver(target) - target).max() < 1e-13


def test_an_acyclic_system_takes_one_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floats, "QUICK", 1)
    path = np.eye(50) - np.eye(50, k=1)
    solver = floats.swept(path)
    assert solver is not None
    assert solver(np.ones(50)).tolist() == list(range(50, 0, -1))
    assert floats.swept(path - 0.5 * np.eye(50, k=-1)) is None


@pytest.mark.parametrize("own", [0.0, 5e-324])
def test_a_diagonal_that_has_no_inverse_is_not_swept(own: float) -> None:
    assert floats.swept(np.diag([1.0, own])) is None
