"""Liftings: their witnesses, agreement with the definition, and one engine for bd_alpha too."""

from __future__ import annotations

import math

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine.hausdorff import Arena
from bisimdist.distances.engine.lifting_values import Masses
from bisimdist.distances.engine.liftings import AdditiveLifting, Lifting, MultiplicativeLifting
from bisimdist.errors import UsageError
from bisimdist.exact.scale import Value, at_most, larger, smaller
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, chain_as_automaton
from tests.fixpoint.kleene import kleene
from tests.fixpoint.skewed_lifting import SkewedLifting
from tests.reference.generalised_kleene import lifted
from tests.strategies import alphas, lmcs, weights

ONE = fmpq(1)
STATES = 4


def number(value: Value) -> float:
    return math.inf if value is None else int(value.p) / int(value.q)


@st.composite
def masses(draw: st.DrawFn) -> dict[int, fmpq]:
    chosen = draw(st.lists(st.integers(0, STATES - 1), max_size=3, unique=True))
    scale = draw(st.sampled_from((ONE, ONE, fmpq(1, 2))))
    if not chosen:
        return {}
    return {i: p * scale for i, p in zip(chosen, draw(weights(len(chosen))), strict=True)}


@st.composite
def pseudometrics(draw: st.DrawFn, lifting: Lifting) -> dict[tuple[int, int], Value]:
    additive = lifting.name == "additive"
    values: list[Value] = (
        [fmpq(0), fmpq(1, 4), fmpq(1, 2), ONE] if additive else [ONE, fmpq(2), fmpq(3), None]
    )
    table = {(i, j): lifting.zero if i == j else None for i in range(STATES) for j in range(STATES)}
    for i in range(STATES):
        for j in range(i):
            table[i, j] = table[j, i] = draw(st.sampled_from(values))
    for k in range(STATES):
        for i in range(STATES):
            for j in range(STATES):
                first, second = table[i, k], table[k, j]
                if first is None or second is None:
                    continue
                through = min(ONE, first + second) if additive else first * second
                table[i, j] = smaller(table[i, j], through)
    return table


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from([AdditiveLifting(), MultiplicativeLifting()]))
def test_liftings_agree_with_the_definition(data: st.DataObject, lifting: Lifting) -> None:
    table = data.draw(pseudometrics(lifting))
    first, second = data.draw(masses()), data.draw(masses())
    found = lifting.lift(first, second, lambda i, j: table[i, j])
    dense = [[number(row.get(i, fmpq(0))) for i in range(STATES)] for row in (first, second)]
    floats = [[number(table[i, j]) for j in range(STATES)] for i in range(STATES)]
    wanted = lifted(dense[0], dense[1], floats, additive=lifting.name == "additive")
    assert number(found) == pytest.approx(wanted, abs=1e-7)
    assert found == lifting.lift(second, first, lambda i, j: table[i, j])


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from([AdditiveLifting(), MultiplicativeLifting()]))
def test_prices_prove_the_value_from_below(data: st.DataObject, lifting: Lifting) -> None:
    table = data.draw(pseudometrics(lifting))
    first, second = data.draw(masses()), data.draw(masses())
    result = lifting.lifted(first, second, lambda i, j: table[i, j])
    direction = result.best
    here, there = (second, first) if direction.swapped else (first, second)
    if direction.value is None or direction.value == lifting.zero or not direction.prices:
        return
    assert proved(lifting, here, there, table, dict(direction.prices)) == result.value


def proved(
    lifting: Lifting,
    here: Masses,
    there: Masses,
    table: dict[tuple[int, int], Value],
    prices: dict[int, fmpq],
) -> fmpq:
    zero = fmpq(0)
    if lifting.name == "additive":
        more = {i: p - there.get(i, zero) for i, p in here.items() if p > there.get(i, zero)}
        less = {j: p - here.get(j, zero) for j, p in there.items() if p > here.get(j, zero)}
        gain = zero
        for i, p in more.items():
            gain += p * min([ONE, *((table[i, j] or zero) + prices.get(j, zero) for j in less)])
        return gain - sum((p * prices.get(j, zero) for j, p in less.items()), zero)
    gain = zero
    for i, p in here.items():
        ratios = [(j, table[i, j]) for j in there]
        gain += p * min(r * prices.get(j, zero) for j, r in ratios if r is not None)
    return gain / sum((p * prices.get(j, zero) for j, p in there.items()), zero)


@settings(max_examples=25, deadline=None)
@given(lmcs(5, cyclic=False), alphas())
def test_the_skewed_lifting_makes_the_same_iteration_compute_bd(chain: LMC, alpha: fmpq) -> None:
    pairs = [(s, t) for s in range(len(chain)) for t in range(s)]
    arena = Arena.of(chain_as_automaton(chain), SkewedLifting(alpha, range(len(chain))), pairs)
    distance = arena.distance(kleene(arena, 50))
    names = [(chain.states[s], chain.states[t]) for s, t in pairs]
    for (s, t), answer in zip(pairs, bound(chain, alpha, pairs=names).pairs, strict=True):
        assert answer.exact
        assert distance(s, t) == answer.upper


def test_discounted_ratios_are_exact_where_they_are_rational_and_rounded_the_right_way_elsewhere() -> None:
    lifting = MultiplicativeLifting(fmpq(1, 2))
    assert lifting.discounted(fmpq(9, 4), up=True) == lifting.discounted(fmpq(9, 4), up=False) == fmpq(3, 2)
    low, high = (lifting.discounted(fmpq(2), up=up) for up in (False, True))
    assert low is not None and high is not None
    assert low * low < 2 < high * high
    assert high - low < fmpq(1, 1 << 60)
    assert (lifting.compare(fmpq(2), low), lifting.compare(fmpq(2), high)) == (1, -1)
    assert lifting.compare(fmpq(4), fmpq(2)) == 0
    assert lifting.discounted(None, up=False) is None
    assert lifting.compare(None, fmpq(2)) == 1


def test_infinity_is_the_largest_value() -> None:
    assert larger(None, ONE) is None
    assert smaller(None, ONE) == ONE
    assert at_most(ONE, None)
    assert not at_most(None, ONE)


@pytest.mark.parametrize("discount", [fmpq(0), fmpq(-1), fmpq(3, 2)])
def test_discounts_outside_their_range_are_refused(discount: fmpq) -> None:
    for lifting in (AdditiveLifting, MultiplicativeLifting):
        with pytest.raises(UsageError, match="the discount is"):
            lifting(discount)


def test_ratios_are_not_raised_to_absurd_powers() -> None:
    with pytest.raises(UsageError, match="numerator and denominator"):
        MultiplicativeLifting(fmpq(1, 10**6))
    AdditiveLifting(fmpq(1, 10**6))


def test_empty_sub_distributions_are_infinitely_far_from_others_by_ratio_alone() -> None:
    some = {0: fmpq(1, 2)}
    assert MultiplicativeLifting().lift({}, some, lambda i, j: ONE) is None
    assert MultiplicativeLifting().lift({}, {}, lambda i, j: ONE) == 1
    assert AdditiveLifting().lift({}, some, lambda i, j: ONE) == fmpq(1, 2)
    assert AdditiveLifting().lift({}, {}, lambda i, j: ONE) == 0


def test_prices_are_found_where_the_distances_are_no_pseudometric() -> None:
    table = {(0, 1): fmpq(2), (1, 0): fmpq(2), (0, 2): fmpq(9), (2, 0): fmpq(9), (1, 2): ONE, (2, 1): ONE}
    half, third = fmpq(1, 2), fmpq(1, 3)
    found = MultiplicativeLifting().lifted({0: half, 1: half}, {0: third, 2: third}, lambda i, j: table[i, j])
    assert all(direction.prices for direction in found.directions if direction.value is not None)


def test_an_arena_keeps_to_the_pairs_that_matter() -> None:
    automaton = chain_as_automaton(
        LMC.from_mappings({"s": "a", "t": "a", "u": "b"}, {n: {"u": 1} for n in "stu"})
    )
    arena = Arena.of(automaton, AdditiveLifting(), [(0, 1), (0, 2)])
    assert arena.positions == [(0, 1)]
    assert arena.distance(kleene(arena, 3))(0, 2) == 1
    assert isinstance(arena.automaton, PA)
