"""The least fixed point, and not another: mass that circulates among undecided pairs proves nothing."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq

from bisimdist.exact.rational import to_fmpq
from bisimdist.models.lmc import LMC
from tests.fixpoint.chains import HALF, ONE, copies, hypercube, make_chain, swap, uniform
from tests.integration.certified import certified, exact_distance, refusal
from tests.reference.bd_oracle import gamma, is_fixed_point, make_distance
from tests.reference.kleene import iterate_above, iterate_below

THIRD = fmpq(1, 3)
ALPHAS = ["1", "5001/5000", "4/3", "3/2", "7"]

CIRCULATING = {
    "two states for ever": make_chain("aa", [[(1, ONE)], [(0, ONE)]]),
    "two self-loops": make_chain("aa", [[(0, ONE)], [(1, ONE)]]),
    "a symmetric cycle": make_chain("aaaa", [[((i + 1) % 4, HALF), ((i + 3) % 4, HALF)] for i in range(4)]),
    "a cycle with an end that is never entered": make_chain("aab", [[(1, ONE)], [(0, ONE)], [(2, ONE)]]),
    "the same way out": make_chain("aab", [[(1, HALF), (2, HALF)], [(0, HALF), (2, HALF)], [(2, ONE)]]),
    "a product of two cycles": make_chain(
        "a" * 6, [[(2 * ((k // 2 + 1) % 3) + (k + 1) % 2, ONE)] for k in range(6)]
    ),
    "one label everywhere": make_chain(
        "aaa", [[(0, THIRD), (1, 2 * THIRD)], [(2, ONE)], [(0, HALF), (1, HALF)]]
    ),
}


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("chain", CIRCULATING.values(), ids=CIRCULATING.keys())
def test_where_nothing_is_ever_seen_the_distance_is_0(chain: LMC, alpha: str) -> None:
    d = exact_distance(chain, alpha)
    same = [
        (i, j) for i in range(len(chain)) for j in range(len(chain)) if chain.labels[i] == chain.labels[j]
    ]
    assert all(d[i][j] == 0 for i, j in same)


def test_a_larger_fixed_point_is_not_reported() -> None:
    """Distance 1 for ever is a fixed point of two states that change places; 0 is the least one."""
    chain = CIRCULATING["two states for ever"]
    ones = make_distance(chain, lambda i, j: ONE)
    assert is_fixed_point(chain, ONE, ones)
    assert iterate_above(chain, ONE, 20) == ones
    assert exact_distance(chain, 1)[0][1] == 0


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("stay", [HALF, fmpq(9, 10), fmpq(999, 1000)])
def test_a_swap_that_leaks(stay: fmpq, alpha: str) -> None:
    """Equal distances that feed on each other; the iteration from below says which fixed point it is."""
    chain = swap(2, stay)
    d = exact_distance(chain, alpha)
    below = iterate_below(chain, to_fmpq(alpha), 60)
    size = range(len(chain))
    assert is_fixed_point(chain, to_fmpq(alpha), d)
    assert all(below[i][j] <= d[i][j] for i in size for j in size)
    if stay == HALF:
        assert all(d[i][j] - below[i][j] < fmpq(1, 10**6) for i in size for j in size)


def test_iterating_from_0_is_no_upper_bound() -> None:
    """Iterates from below stay below for ever; what is published is a pre-fixed point."""
    chain = make_chain("aab", [[(0, HALF), (2, HALF)], [(1, fmpq(2, 5)), (2, fmpq(3, 5))], [(2, ONE)]])
    alpha = fmpq(1)
    d = exact_distance(chain, alpha)
    assert d[0][1] == fmpq(1, 6)  # d = 1/10 + 2/5 d: the mass that is out of step, or still in step
    for rounds in (1, 10, 40):
        below = iterate_below(chain, alpha, rounds, bits=None)
        assert below[0][1] < d[0][1]
        assert gamma(chain, alpha, below)[0][1] > below[0][1]


@pytest.mark.parametrize("precision", ["1/10", "1e-3", "1e-9", "1e-12"])
def test_published_upper_bounds_are_pre_fixed_points(precision: str) -> None:
    """In a bracket too, Gamma(upper) <= upper and Gamma(lower) >= lower, on all states."""
    for chain, alpha in ((swap(2), fmpq(4, 3)), (swap(2), fmpq(1)), (hypercube(2), fmpq(3, 2))):
        answer = certified(chain, alpha, precision=precision)
        upper = {(chain.index(p.source), chain.index(p.target)): p.upper for p in answer.pairs}
        lower = {(chain.index(p.source), chain.index(p.target)): p.lower for p in answer.pairs}
        above = make_distance(chain, lambda i, j: upper[min(i, j), max(i, j)])  # noqa: B023
        below = make_distance(chain, lambda i, j: lower[min(i, j), max(i, j)])  # noqa: B023
        image_above, image_below = gamma(chain, alpha, above), gamma(chain, alpha, below)
        d = exact_distance(chain, alpha)
        for i in range(len(chain)):
            for j in range(len(chain)):
                assert image_above[i][j] <= above[i][j]
                assert image_below[i][j] >= below[i][j]
                assert below[i][j] <= d[i][j] <= above[i][j] <= below[i][j] + fmpq(1, 10)


@pytest.mark.parametrize("alpha", ["1", "3/2"])
def test_a_proof_without_ranks_is_refused(alpha: str) -> None:
    """Equality must not rest on itself: a certificate says why mass gets away."""
    certificate: Any = certified(swap(2), alpha).certificate()
    proof = certificate["reduced"][0]["proof"] if "reduced" in certificate else certificate
    for entry in proof["lower"]["pairs"]:
        entry.pop("rank", None)
        entry.pop("progress", None)
    assert "L7" in refusal(certificate)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_every_state_has_bisimilar_copies(alpha: str) -> None:
    base = swap(1)
    many = copies(base, 4)
    d, wide = exact_distance(base, alpha), exact_distance(many, alpha)
    for i in range(len(base)):
        for copy in range(4):
            assert wide[i][copy * len(base) + i] == 0
    if alpha == "1":
        assert all(wide[i][3 * len(base) + j] == d[i][j] for i in range(len(base)) for j in range(len(base)))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_thousands_of_ties(alpha: str) -> None:
    """Uniform rows: every coupling costs the same and every pair of one label is at distance 0."""
    chain = uniform(12, 2)
    d = exact_distance(chain, alpha)
    assert all(d[i][j] == int(chain.labels[i] != chain.labels[j]) for i in range(12) for j in range(12))
