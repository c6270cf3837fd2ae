"""What questions can do with kinds of models follows from the reductions; commands do the same."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq

import bisimdist
from bisimdist import UsageError
from bisimdist.distances.bound.ask import BoundProblem
from bisimdist.faces.asked.registry import question_of
from bisimdist.privacy.delta.ask import DeltaProblem
from bisimdist.privacy.leakage.ask import LeakageProblem
from bisimdist.reductions.chain import REDUCTIONS, straight
from bisimdist.reductions.routes import kind_of, offered, refuse_unanswered, refuse_unfit, routes
from bisimdist.reductions.step import Kind, Problem
from tests.crossings.features import FEATURES as CROSSED
from tests.crossings.page import cells
from tests.reductions.test_steps import asked, intervals, program

PROBLEMS: dict[str, tuple[type[Problem[Any]], str]] = {
    "bound": (BoundProblem, "bd"),
    "delta": (DeltaProblem, "delta"),
    "profile": (DeltaProblem, "delta"),
    "leakage": (LeakageProblem, "tv"),
}
"""By command its problem, and the quantity that the table of crossings asks for."""

FEATURES = {
    "nothing else": Kind.CHAIN,
    "intervals, each step": Kind.INTERVALS,
    "intervals, fixed": Kind.INTERVALS,
    "parameters, given": Kind.CHAIN,
    "interactive": Kind.INTERACTIVE,
    "rounds": Kind.INTERACTIVE,
    "program that asks": Kind.INTERACTIVE,
    "cut program": Kind.PROGRAM,
    "bent coins": Kind.INTERVALS,
    "automaton": Kind.CHAIN,
    "missing mass": Kind.CHAIN,
}
"""By feature of the table of crossings the kind of the model."""

OPEN = (
    "{kind: lmc, parameters: {p: [0, 1]}, states: {s: a, t: b}, transitions: {s: {s: 1-p, t: p}, t: {t: 1}}}"
)
NO_NEED = {"bound": {"rounds"}}
"""Options that commands leave out: the distance bounds delta for any number of actions."""

OPTIONS = {"intervals, each step": "nature", "intervals, fixed": "nature", "rounds": "rounds"}


@pytest.mark.parametrize("command", PROBLEMS)
@pytest.mark.parametrize("feature", FEATURES)
def test_the_table_of_crossings_follows(command: str, feature: str) -> None:
    (problem, quantity), kind = PROBLEMS[command], FEATURES[feature]
    flags = {one.name for one in question_of(command).options}
    if "--ask" in CROSSED[feature].asks.get(command, ()):  # a door makes the chain of an analyst's actions
        kind = Kind.CHAIN
    there = any(routes(problem, kind)) and (kind is not Kind.PROGRAM or provable(quantity))
    option = OPTIONS.get(feature)
    if option is not None:
        there = option in offered(problem, FEATURES[feature]) and option in flags
    assert (cells()[command][feature] == "answered") == there


def provable(quantity: str) -> bool:
    """Tell whether the table's certificate of a program that is cut off comes back through its steps."""
    steps = straight(program(fmpq(1, 2)))[1]
    return all(step.quantities is None or quantity in step.quantities for step in steps)


def test_models_have_kinds() -> None:
    assert kind_of(bisimdist.build_example("figure1")) is Kind.CHAIN
    assert kind_of(asked()) is Kind.INTERACTIVE
    assert kind_of(intervals()) is Kind.INTERVALS
    assert kind_of(program(fmpq(1, 2))) is Kind.PROGRAM


def test_what_a_reduction_accepts_is_of_its_kinds() -> None:
    models = [bisimdist.build_example("figure1"), asked(), intervals()]
    for reduction in REDUCTIONS:
        for model in models:
            question = BoundProblem(pairs=(("s", "t"),), alpha=fmpq(1), distance="bd")
            if reduction.accepts(model, question):
                assert kind_of(model) in reduction.makes


def test_a_model_without_a_route_is_refused() -> None:
    with pytest.raises(UsageError, match="the model is interactive: say what is asked"):
        bisimdist.leakage(asked(), "tv")
    with pytest.raises(UsageError, match="the model is parametric: this question takes no such model"):
        refuse_unanswered(BoundProblem, bisimdist.parse_model(OPEN))
    refuse_unanswered(LeakageProblem, intervals())


@pytest.mark.parametrize("command", PROBLEMS)
def test_a_command_has_the_options_that_its_reductions_read(command: str) -> None:
    problem = PROBLEMS[command][0]
    read = frozenset[str]().union(*(offered(problem, kind) for kind in Kind))
    known = {reduction.option for reduction in REDUCTIONS if reduction.option}
    assert known & {one.name for one in question_of(command).options} == read - NO_NEED.get(command, set())


def test_an_option_that_cannot_apply_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="--rounds: this model has no analyst"):
        refuse_unfit(bisimdist.build_example("figure1"), {"rounds"})
    with pytest.raises(UsageError, match="--nature: the probabilities of this model are known"):
        refuse_unfit(asked(), {"nature"})
    refuse_unfit(intervals(), {"nature", "gap"})
