"""The reference itself, against another solver and on what can be worked out by hand."""

from __future__ import annotations

import pytest
import z3
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.models.lmc import LMC
from tests.reference.acyclic_bd import acyclic_bd, skewed_kantorovich
from tests.reference.traces import true_delta
from tests.strategies import alphas, lmcs, rows

SIXTHS = st.integers(0, 6).map(lambda k: fmpq(k, 6))


def by_z3(alpha: fmpq, m: dict[int, fmpq], m_prime: dict[int, fmpq], d: dict[tuple[int, int], fmpq]) -> fmpq:
    optimizer = z3.Optimize()
    f = [z3.Real(f"f{i}") for i in range(4)]
    optimizer.add(*(z3.And(x >= 0, x <= 1) for x in f))
    optimizer.add(
        *(
            f[i] - z3.Q(int(alpha.p), int(alpha.q)) * f[j] <= z3.Q(int(v.p), int(v.q))
            for (i, j), v in d.items()
        )
    )
    gain = [m.get(i, fmpq(0)) - alpha * m_prime.get(i, fmpq(0)) for i in range(4)]
    best = optimizer.maximize(z3.Sum([z3.Q(int(g.p), int(g.q)) * x for g, x in zip(gain, f, strict=True)]))
    assert optimizer.check() == z3.sat
    numerator, _, denominator = str(optimizer.upper(best)).partition("/")
    return fmpq(int(numerator), int(denominator or 1))


@settings(max_examples=30, deadline=None)
@given(rows(range(4)), rows(range(4)), alphas(), st.lists(SIXTHS, min_size=6, max_size=6))
def test_the_simplex_agrees_with_another_solver(
    m: tuple[tuple[int, fmpq], ...], m_prime: tuple[tuple[int, fmpq], ...], alpha: fmpq, costs: list[fmpq]
) -> None:
    drawn = dict(zip([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], costs, strict=True))
    d = {(i, j): drawn[min(i, j), max(i, j)] for i in range(4) for j in range(4) if i != j}
    value = skewed_kantorovich(alpha, m, m_prime, range(4), lambda i, j: d.get((i, j), fmpq(0)))
    assert value == by_z3(alpha, dict(m), dict(m_prime), d)


@given(lmcs(max_states=6, cyclic=False), alphas())
def test_bounds_the_true_delta(lmc: LMC, alpha: fmpq) -> None:
    for (s, t), value in acyclic_bd(lmc, alpha).items():
        assert true_delta(lmc, s, t, alpha, len(lmc) + 1) <= value <= 1


@given(lmcs(max_states=6, cyclic=False))
def test_falls_as_alpha_grows(lmc: LMC) -> None:
    tight, loose = acyclic_bd(lmc, fmpq(11, 10)), acyclic_bd(lmc, fmpq(3, 2))
    assert all(loose[pair] <= value for pair, value in tight.items())


def test_says_when_cycles_keep_it_moving() -> None:
    half = fmpq(1, 2)
    lmc = LMC(
        ("s", "t", "u"),
        ("a", "a", "b"),
        (((0, half), (2, half)), ((1, fmpq(2, 5)), (2, fmpq(3, 5))), ((2, fmpq(1)),)),
    )
    with pytest.raises(RuntimeError, match="still moves after 5 rounds"):
        acyclic_bd(lmc, fmpq(1), rounds=5)
