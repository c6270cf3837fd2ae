"""What bd_alpha is, by its definition, on random chains: every answer against slow and obvious references."""

from __future__ import annotations

import json
from random import Random

from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.lmc import LMC
from bisimdist.models.transform import disjoint_union
from tests.integration.certified import all_pairs, certified, exact_distance, upper_bounds
from tests.reference.acyclic_bd import acyclic_bd
from tests.reference.bd_oracle import is_fixed_point
from tests.reference.fig5_formula import bd_at_most
from tests.reference.kleene import iterate_below
from tests.reference.traces import true_delta
from tests.strategies import alphas, lmcs

ONE = fmpq(1)
TINY = fmpq(1, 10**12)


@settings(max_examples=30)
@given(lmcs(6), alphas())
def test_a_fixed_point_on_all_states(lmc: LMC, alpha: fmpq) -> None:
    """Gamma(d) = d, by one program a direction on all states, each with both witnesses (primal = dual)."""
    assert is_fixed_point(lmc, alpha, exact_distance(lmc, alpha))


@settings(max_examples=12)
@given(lmcs(4), alphas())
def test_a_fixed_point_by_another_solver(lmc: LMC, alpha: fmpq) -> None:
    assert is_fixed_point(lmc, alpha, exact_distance(lmc, alpha), "z3")


@settings(max_examples=25)
@given(lmcs(5), alphas())
def test_the_limit_of_the_iteration_from_below(lmc: LMC, alpha: fmpq) -> None:
    """Iterates from 0 never exceed the distance; long iteration comes close to it: it is the least one."""
    d = exact_distance(lmc, alpha)
    below = iterate_below(lmc, alpha, 120)
    states = range(len(lmc))
    assert all(below[i][j] <= d[i][j] for i in states for j in states)
    gap = max(d[i][j] - below[i][j] for i in states for j in states)
    further = iterate_below(lmc, alpha, 240)
    rest = max(d[i][j] - further[i][j] for i in states for j in states)
    assert rest <= TINY or rest < gap * (1 - fmpq(1, 10**6))  # of another fixed point it would stay


@settings(max_examples=30)
@given(lmcs(7, False), alphas())
def test_the_end_of_the_iteration_on_chains_without_cycles(lmc: LMC, alpha: fmpq) -> None:
    d = exact_distance(lmc, alpha)
    assert all(d[i][j] == value for (i, j), value in acyclic_bd(lmc, alpha).items())


@settings(max_examples=6)
@given(lmcs(4, min_states=3), alphas())
def test_the_formula_of_figure_5(lmc: LMC, alpha: fmpq) -> None:
    """ATVA 2018, Figure 5: the threshold lies exactly at the distance; Z3 may give up."""
    d = exact_distance(lmc, alpha)
    interesting = [(i, j) for i in range(len(lmc)) for j in range(i) if 0 < d[i][j] < 1]
    assume(interesting)
    i, j = interesting[0]
    assert bd_at_most(lmc, alpha, i, j, d[i][j], seconds=0.5) is not False
    assert bd_at_most(lmc, alpha, i, j, d[i][j] - TINY, seconds=0.5) is not True


@settings(max_examples=25)
@given(lmcs(6), alphas())
def test_symmetric(lmc: LMC, alpha: fmpq) -> None:
    pairs = [(s, t) for s in lmc.states for t in lmc.states]
    found = upper_bounds(certified(lmc, alpha, pairs))
    assert all(found[s, t] == found[t, s] for s, t in pairs)
    assert all(found[s, s] == 0 for s in lmc.states)


@settings(max_examples=20)
@given(lmcs(6), alphas(), st.randoms(use_true_random=False))
def test_the_names_and_the_order_of_states_do_not_matter(lmc: LMC, alpha: fmpq, random: Random) -> None:
    order = list(range(len(lmc)))
    random.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    shuffled = LMC(
        tuple(f"other {lmc.states[old]}" for old in order),
        tuple(lmc.labels[old] for old in order),
        tuple(tuple(sorted((place[t], p) for t, p in lmc.rows[old])) for old in order),
    )
    d, other = exact_distance(lmc, alpha), exact_distance(shuffled, alpha)
    assert all(d[i][j] == other[place[i]][place[j]] for i in place for j in place)


@settings(max_examples=30)
@given(lmcs(6), alphas())
def test_one_pair_asked_alone_is_one_of_all(lmc: LMC, alpha: fmpq) -> None:
    """On the fly: only what a pair depends on is looked at, with the same result."""
    together = upper_bounds(certified(lmc, alpha))
    for pair in all_pairs(lmc):
        (alone,) = certified(lmc, alpha, [pair]).pairs
        assert alone.exact
        assert alone.upper == together[pair]


@settings(max_examples=20)
@given(lmcs(4), lmcs(3), alphas())
def test_a_chain_beside_another_that_it_never_meets(lmc: LMC, other: LMC, alpha: fmpq) -> None:
    """Other labels: no potential of one part limits the other, so nothing changes."""
    relabelled = LMC(other.states, tuple(f"other {label}" for label in other.labels), other.rows)
    union = disjoint_union(lmc, relabelled, prefixes=("", "other "))
    wide = exact_distance(union, alpha)
    alone, beside = exact_distance(lmc, alpha), exact_distance(relabelled, alpha)
    n = len(lmc)
    assert all(wide[i][j] == alone[i][j] for i in range(n) for j in range(n))
    assert all(wide[n + i][n + j] == beside[i][j] for i in range(len(other)) for j in range(len(other)))


@given(lmcs(7), alphas())
def test_bisimilar_states_are_at_distance_0_for_every_alpha(lmc: LMC, alpha: fmpq) -> None:
    classes = bisimilarity_classes(lmc)
    d = exact_distance(lmc, alpha)
    states = range(len(lmc))
    assert all(d[i][j] == 0 for i in states for j in states if classes[i] == classes[j])


@given(lmcs(7, max_labels=3))
def test_at_alpha_1_it_is_the_classical_pseudometric(lmc: LMC) -> None:
    """Zero exactly on bisimilar pairs, and the triangle inequality."""
    classes = bisimilarity_classes(lmc)
    d = exact_distance(lmc, 1)
    states = range(len(lmc))
    assert all((d[i][j] == 0) == (classes[i] == classes[j]) for i in states for j in states)
    assert all(d[i][j] <= d[i][k] + d[k][j] for i in states for j in states for k in states)


@settings(max_examples=30)
@given(lmcs(5, max_labels=3), lmcs(3), st.sampled_from([None, fmpq(1, 1000)]), st.sampled_from(["bd", "lbd"]))
def test_at_alpha_1_twins_change_nothing(lmc: LMC, other: LMC, precision: fmpq | None, distance: str) -> None:
    """Every state has a twin, with which it is merged; the certificate is one of the whole chain."""
    twins = disjoint_union(disjoint_union(lmc, lmc, prefixes=("", "twin ")), other, prefixes=("", "other "))
    pairs = [(s, f"twin {t}") for s in lmc.states for t in lmc.states]
    found = bound(twins, 1, pairs=pairs, precision=precision, distance=distance)
    verdict = check_certificate(json.dumps(found.certificate()), json.dumps(twins.canonical()))
    assert verdict.valid, verdict.reason
    d = exact_distance(lmc, 1)
    for pair in found.pairs:
        value = d[lmc.index(pair.source)][lmc.index(pair.target.removeprefix("twin "))]
        assert pair.lower <= value <= pair.upper
        assert pair.exact or precision is not None


@given(lmcs(6, cyclic=False), alphas(), alphas())
def test_bounds_the_true_delta_which_falls_as_alpha_grows(lmc: LMC, alpha: fmpq, other: fmpq) -> None:
    """Theorem 1. The distance itself may grow with alpha; delta never does."""
    low, high = min(alpha, other), max(alpha, other)
    d, d_high = exact_distance(lmc, low), exact_distance(lmc, high)
    length = len(lmc) + 1
    for s in range(len(lmc)):
        for t in range(s):
            delta = true_delta(lmc, s, t, high, length)
            assert delta <= true_delta(lmc, s, t, low, length) <= d[s][t]
            assert delta <= d_high[s][t]


@settings(max_examples=20)
@given(lmcs(6), alphas())
def test_the_model_names_its_pairs(lmc: LMC, alpha: fmpq) -> None:
    """Without pairs of its own a question is about those of the model, in their order."""
    pairs = ((1, 0), (0, 1), (1, 1))
    named = LMC(lmc.states, lmc.labels, lmc.rows, pairs)
    asked = [(lmc.states[s], lmc.states[t]) for s, t in pairs]
    answer = bound(named, alpha)
    assert [(pair.source, pair.target) for pair in answer.pairs] == asked
    assert answer.pairs == bound(lmc, alpha, pairs=asked).pairs
