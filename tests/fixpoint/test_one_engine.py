"""bd_alpha is an instance of the engine of the generalised metrics: the same numbers by another way."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.automata.generalised.ask import generalised_metric
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine.generalised_engine import least_fixed_point
from bisimdist.distances.engine.hausdorff import Arena
from bisimdist.distances.engine.liftings import Lifting
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import chain_as_automaton
from tests.fixpoint.skewed_lifting import SkewedLifting
from tests.strategies import alphas, lmcs

ONE = fmpq(1)
Bounds = dict[tuple[int, int], tuple[fmpq, fmpq]]


def by_the_general_engine(chain: LMC, lifting: Lifting) -> Bounds:
    pairs = [(s, t) for s in range(len(chain)) for t in range(s)]
    solution = least_fixed_point(Arena.of(chain_as_automaton(chain), lifting, pairs))
    result = {}
    for pair in pairs:
        lower, upper = solution.bounds(*pair)
        assert lower is not None
        assert upper is not None
        result[pair] = lower, upper
    return result


def by_the_engine_of_chains(chain: LMC, alpha: fmpq) -> Bounds:
    pairs = [(s, t) for s in range(len(chain)) for t in range(s)]
    names = [(chain.states[s], chain.states[t]) for s, t in pairs]
    answer = bound(chain, alpha, pairs=names)
    return {pair: (found.lower, found.upper) for pair, found in zip(pairs, answer.pairs, strict=True)}


def skewed(chain: LMC, alpha: fmpq) -> SkewedLifting:
    return SkewedLifting(alpha, range(len(chain)))


@settings(max_examples=25, deadline=None)
@given(lmcs(5), alphas())
def test_both_engines_bracket_the_same_skewed_distance(chain: LMC, alpha: fmpq) -> None:
    general = by_the_general_engine(chain, skewed(chain, alpha))
    for pair, (lower, upper) in by_the_engine_of_chains(chain, alpha).items():
        assert general[pair][0] <= upper
        assert lower <= general[pair][1]


@settings(max_examples=25, deadline=None)
@given(lmcs(5))
def test_at_alpha_one_skewed_and_additive_are_the_classical_distance(chain: LMC) -> None:
    expected = by_the_engine_of_chains(chain, ONE)
    for pair, value in expected.items():
        found = generalised_metric(
            chain, "additive", pairs=[(chain.states[pair[0]], chain.states[pair[1]])]
        ).pairs[0]
        assert (found.lower, found.upper) == value
    for pair, (lower, upper) in by_the_general_engine(chain, skewed(chain, ONE)).items():
        assert lower <= expected[pair][0] <= upper


@pytest.mark.parametrize("example", ["figure1", "leaky-retry", "random,states=6"])
@pytest.mark.parametrize("alpha", [ONE, fmpq(11, 10), fmpq(3, 2)])
def test_case_studies_come_out_the_same_either_way(example: str, alpha: fmpq) -> None:
    chain = build_example(example)
    expected = by_the_engine_of_chains(chain, alpha)
    general = by_the_general_engine(chain, skewed(chain, alpha))
    for pair, (lower, upper) in general.items():
        assert expected[pair][0] == expected[pair][1]
        assert lower <= expected[pair][0] <= upper <= lower + fmpq(1, 10**9)
    if not example.startswith("random"):
        assert general == expected
