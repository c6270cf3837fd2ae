"""The benchmarks of the logics: the alternatives compute what we compute, and the tables are printed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq

from benchmarks.formulae import splitter_rounds, tree_nodes
from benchmarks.generalised import kleene_by_highs, layered, question_arena, random_automaton
from benchmarks.lifting import FAMILIES, make_problem, ratio_solvers
from benchmarks.timing import timed
from benchmarks.traces import (
    NUMBERS,
    deferred_pairs,
    enumerate_traces,
    mixed_copies,
    tzeng,
)
from bisimdist.automata.engine.strong import bisimilarity_classes
from bisimdist.automata.generalised.ask import generalised_metric
from bisimdist.logic.engine.formula import children, formula_size
from bisimdist.logic.engine.mimicking import mimicking_formulae
from bisimdist.lp.multiplicative import lift_ratio
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.pa import PA, Transition, chain_as_automaton
from bisimdist.traces.engine.equivalence import distinguishing_trace
from bisimdist.traces.trace.ask import trace_metric


@pytest.mark.parametrize("family", FAMILIES)
def test_every_solver_finds_the_ratio_of_the_kernel(family: str) -> None:
    problem = make_problem(family, 4, 1)
    assert problem == make_problem(family, 4, 1)
    known = lift_ratio(*problem.arguments()).ratio
    assert known is not None
    wanted = Fraction(int(known.p), int(known.q))
    solvers = ratio_solvers()
    assert {"Z3 Optimize", "scipy HiGHS"} <= {solver.name for solver in solvers}
    for solver in solvers:
        if not solver.installed:
            continue
        value = solver.solve(problem)
        if solver.exact:
            assert value == wanted
        else:
            assert float(str(value)) == pytest.approx(float(wanted), abs=1e-6)


@pytest.mark.extra("highs")
@pytest.mark.parametrize(
    ("automaton", "kind", "discount"),
    [
        (random_automaton(6), "additive", "1"),
        (random_automaton(6), "additive", "1/2"),
        (layered(3, 2), "additive", "1"),
        (layered(3, 2), "multiplicative", "1"),
        (layered(3, 2), "multiplicative", "1/2"),
    ],
    ids=str,
)
def test_the_baseline_comes_close_to_our_distances(automaton: PA, kind: str, discount: str) -> None:
    arena, classes = question_arena(automaton, kind, discount)
    values = kleene_by_highs(arena, 100)
    answer = generalised_metric(automaton, kind, discount=discount)
    for (s, t), pair in zip(automaton.pairs, answer.pairs, strict=True):
        position = arena.position(classes[s], classes[t])
        if position is not None and pair.upper is not None:
            wanted = int(pair.upper.p) / int(pair.upper.q)
            assert values[position] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("automaton", [deferred_pairs(20, 2), mixed_copies(12, 3)], ids=["deferred", "mixed"])
@pytest.mark.parametrize("numbers", NUMBERS)
def test_pairs_are_equivalent_and_not_bisimilar(automaton: PA, numbers: str) -> None:
    classes = bisimilarity_classes(automaton)
    assert any(classes[s] != classes[t] for s, t in automaton.pairs)
    for s, t in automaton.pairs:
        assert tzeng(automaton, s, t, NUMBERS[numbers]) is None
        assert distinguishing_trace(automaton, s, t) is None


def test_tzeng_finds_the_trace_that_we_find() -> None:
    automaton = deferred_pairs(20, 0)
    for s in range(1, 20):
        assert tzeng(automaton, 0, s, NUMBERS["fmpq"]) == distinguishing_trace(automaton, 0, s)


def test_enumeration_agrees_with_the_trace_metric() -> None:
    chain = randomised_response(3, "1/2", 3)
    largest, difference, count = enumerate_traces(chain_as_automaton(chain), 4)
    assert largest == trace_metric(chain).pairs[0].ratio
    assert difference == trace_metric(chain, "additive").pairs[0].upper
    assert count == 1 + 1 + 3 + 9 + 27


def test_trees_are_counted_and_refinement_finds_the_classes_of_formulae() -> None:
    one = fmpq(1)
    automaton = PA(("s", "t"), (Transition(0, "a", ((0, one / 2), (1, one / 2))),))
    formulae = mimicking_formulae(automaton, 3)
    (nodes,) = tree_nodes(formulae[0])
    assert nodes == 1 + sum(tree_nodes(*children(formulae[0])))  # type: ignore[arg-type]
    assert nodes > formula_size(formulae[0])
    for depth in (1, 2, 5):
        blocks = splitter_rounds(random_automaton(9), depth)
        made = mimicking_formulae(random_automaton(9), depth)
        for s in made:
            assert [blocks[s] == block for block in blocks] == [made[s] is other for other in made.values()]


def test_timed_returns_what_it_measured() -> None:
    result, spent = timed(lambda: 3)
    assert result == 3
    assert spent >= 0
