"""Pufferfish scenarios, and the reduction from satisfiability."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.budgets.engine.smt import decide_by_smt
from bisimdist.errors import ModelError, UsageError
from bisimdist.models.mechanisms import geometric_mechanism
from bisimdist.models.pufferfish import Clause, Scenario, product_prior, satisfiable, unsatisfiability_model
from bisimdist.models.pufferfish.scenario import DataSet
from bisimdist.traces.engine.search import Violation, decide_ratio


def scenario(prior: dict[DataSet, object], **more: object) -> Scenario:
    arguments: dict[str, object] = {
        "priors": {"prior": prior},
        "secrets": {"sick": lambda d: d[0] == 1, "healthy": lambda d: d[0] == 0},
        "pairs": (("sick", "healthy"),),
        "query": sum,
        "mechanism": geometric_mechanism("1/2", 3),
    }
    return Scenario(**{**arguments, **more})  # type: ignore[arg-type]


def test_priors_are_conditioned_on_the_secrets() -> None:
    model = scenario({(0, 0): "1/2", (0, 1): "1/4", (1, 1): "1/4"}).model()
    assert model.states == ("0", "1", "2")
    assert model.distribution("prior|healthy") == ((0, fmpq(2, 3)), (1, fmpq(1, 3)))
    assert model.distribution("prior|sick") == ((2, fmpq(1)),)
    assert model.pairs == (("prior|sick", "prior|healthy"),)


def test_parameters_cancel_in_the_condition() -> None:
    prior = product_prior([{0: "1-p", 1: "p"}, {0: "1-q", 1: "q"}], ["p", "q"])
    model = scenario(dict(prior), parameters={"p": (0, 1), "q": (0, 1)}).model()
    assert [str(entry) for _, entry in model.distribution("prior|sick")] == ["-q + 1", "q"]


def test_a_secret_that_is_impossible_leaves_the_prior_out() -> None:
    both = {"never": {(0, 0): 1}, "often": {(0, 0): "1/2", (1, 0): "1/2"}}
    model = scenario({}, priors=both).model()
    assert model.pairs == (("often|sick", "often|healthy"),)
    with pytest.raises(UsageError, match="nothing is to compare"):
        scenario({(0, 0): 1}).model()


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({(0, 0): "1/2", (1, 0): "1/4"}, "prior 'prior': the probabilities sum to 3/4; expected 1"),
        ({(0, 0): "0"}, "sum to 0"),
        ({(0, 0): "3/2", (1, 0): "-1/2"}, r"data set \(1, 0\): the probability is -1/2"),
        ({(0, 0): "1-p", (1, 0): "p"}, "parameter 'p' is not declared"),
        ({(0, 0): 0.5, (1, 0): "1/2"}, "a float"),
    ],
)
def test_what_is_no_prior_is_refused(prior: dict[DataSet, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        scenario(prior).model()


def test_unknown_secrets_are_refused() -> None:
    with pytest.raises(UsageError, match="names the secret 'rich'"):
        scenario({(0, 0): 1}, pairs=(("rich", "sick"),)).model()


@st.composite
def formulae(draw: st.DrawFn) -> tuple[list[Clause], int]:
    variables = draw(st.integers(3, 5))
    literal = st.integers(1, variables).flatmap(lambda v: st.sampled_from([v, -v]))
    clause = st.lists(literal, min_size=3, max_size=3).map(tuple)
    return draw(st.lists(clause, min_size=1, max_size=14)), variables


@given(formulae())
@settings(max_examples=30)
def test_the_reduction_agrees_with_satisfiability(formula: tuple[list[Clause], int]) -> None:
    clauses, variables = formula
    model, ratio = unsatisfiability_model(clauses, variables)
    found = decide_ratio(model, ("pi", "tau"), ratio, variables + 1)
    assert isinstance(found, Violation) == satisfiable(clauses, variables)
    if isinstance(found, Violation):
        values = [symbol == 1 for symbol in found.word[:-1]]
        assert all(any(values[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses)


def test_the_solver_agrees_on_the_reduction() -> None:
    every = [(a, b, c) for a in (1, -1) for b in (2, -2) for c in (3, -3)]
    for clauses, holds in ((every, True), (every[1:], False)):
        model, ratio = unsatisfiability_model(clauses, 3)
        assert decide_by_smt(model, ("pi", "tau"), ratio, 4).holds is holds


@pytest.mark.parametrize(
    ("clauses", "variables"), [([], 1), ([(1,)], 0), ([(2,)], 1), ([(0,)], 1), ([()], 1)]
)
def test_what_is_no_formula_is_refused(clauses: list[Clause], variables: int) -> None:
    with pytest.raises(UsageError):
        unsatisfiability_model(clauses, variables)
