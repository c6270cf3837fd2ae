"""Bounds at leaves against exact values, and couplings against their bounds."""

from __future__ import annotations

from itertools import permutations

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.distances.engine.exact_engine import approximate, prove_exactly
from bisimdist.distances.engine.question import prepare
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.lmc import LMC
from bisimdist.privacy.engine.ceiling import Ceiling, ceiling_of
from bisimdist.privacy.engine.closure import close
from bisimdist.privacy.engine.domination import Domination, find_ratios
from bisimdist.privacy.engine.gain import Gain
from bisimdist.privacy.engine.refinement import Refinement, Root
from bisimdist.privacy.engine.signed import SignedChain, Vector, pair_vector, primitive
from tests.strategies import alphas, lmcs


def some_ceiling(chain: LMC, alpha: fmpq, *, ordered: bool) -> Ceiling | None:
    classes = distinguishable_classes(chain)
    pairs = tuple((i, j) for i, j in permutations(range(len(chain)), 2) if classes[i] == classes[j])
    if not pairs:
        return None
    question = prepare(chain, alpha, pairs, ordered=ordered)
    return ceiling_of(prove_exactly(question, approximate(question)))


def exact_value(chain: LMC, vector: Vector) -> fmpq:
    refinement = Refinement(Gain(SignedChain.of(chain)))
    root = Root(refinement.node_of(vector), 1)
    assert refinement.refine(lambda: [root], enough=lambda closed: closed)
    return close(refinement, [root.node]).upper[root.node]


@settings(max_examples=20)
@given(
    chain=lmcs(6, cyclic=False, max_labels=1),
    alpha=alphas(),
    weights=st.lists(st.integers(-6, 6), min_size=6, max_size=6),
    ordered=st.booleans(),
)
def test_bounds_lie_above_the_value(chain: LMC, alpha: fmpq, weights: list[int], ordered: bool) -> None:
    merged, _ = quotient(chain)
    _, vector = primitive(dict(zip(range(len(merged)), weights, strict=False)))
    assume(vector)
    ceiling = some_ceiling(merged, alpha, ordered=ordered and alpha != 1)
    if ceiling is None:
        return
    value = exact_value(merged, vector)
    bound = fmpq(ceiling.value(vector), ceiling.scale)
    assert value <= bound
    # the coupling costs what the bound says, and carries all that it has to
    found = ceiling.coupling(vector)
    sign = -1 if found.complement else 1
    total = sum(weight for _, weight in vector) if found.complement else 0
    rest = {state: fmpq(sign * weight) for state, weight in vector}
    cost = fmpq(0)
    for (i, j), amount in found.moves.items():
        assert amount > 0
        rest[i] -= amount
        rest[j] += alpha * amount
        cost += amount * fmpq(ceiling.bound(i, j), ceiling.one)
    for i, amount in found.given_up.items():
        rest[i] -= amount
        cost += amount
    assert max(rest.values()) <= 0
    assert total + cost == bound


@settings(max_examples=20)
@given(
    chain=lmcs(6, cyclic=False, max_labels=1),
    weights=st.lists(st.integers(-6, 6), min_size=6, max_size=6),
)
def test_what_ratios_settle_is_settled(chain: LMC, weights: list[int]) -> None:
    merged, _ = quotient(chain)
    _, vector = primitive(dict(zip(range(len(merged)), weights, strict=False)))
    assume(vector)
    ratios = find_ratios(merged, set(range(len(merged))))
    assert ratios is not None
    if Domination(ratios).settles(vector):
        assert exact_value(merged, vector) == max(0, sum(weight for _, weight in vector))


@pytest.mark.parametrize(("alpha", "vector"), [("2", ((0, 1), (1, -2))), ("5/4", ((0, 4), (1, -5)))])
def test_the_vector_of_a_pair(alpha: str, vector: Vector) -> None:
    numerator, _, denominator = alpha.partition("/")
    skew = fmpq(int(numerator), int(denominator or 1))
    assert pair_vector(skew, 0, 1) == vector
    assert pair_vector(fmpq(1), 0, 0) == ()
