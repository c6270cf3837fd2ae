"""Published values: Castiglioni, Chatzikokolakis, Palamidessi, "A Logical Characterization of Differential
Privacy via Behavioral Metrics", FACS 2018.
"""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist import list_examples
from bisimdist.automata import generalised_metric
from bisimdist.logic.engine.formula_parser import parse_formula
from bisimdist.logic.engine.mimicking import mimicking_formula
from bisimdist.logic.traces.ask import logical_distances, satisfies_trace_formula
from bisimdist.modelling.paper.rows import papers
from bisimdist.models.library.figure2 import figure2
from bisimdist.models.library.randomised_response_pa import randomised_response_automaton
from tests.cli.conftest import Command, command

__all__ = ["command"]


def test_example_5() -> None:
    nil = "(!<a>T & !<b>T & !<c>T)"
    of_s1 = f"(<b>{nil} & !<a>T & !<c>T)"
    of_s2 = f"(<b>{nil} & <c>{nil} & !<a>T)"
    of_s3 = f"(<c>{nil} & !<a>T & !<b>T)"
    expected = f"<a>{of_s1} & <a>(1/2 {of_s2} + 1/2 {of_s3}) & <a>{of_s3} & !<b>T & !<c>T"
    automaton = figure2()
    assert mimicking_formula(automaton, automaton.index("s"), 3) is parse_formula(expected)


@pytest.mark.parametrize("discount", ["1", "1/3"])
def test_figure_2_is_at_half_the_discount(discount: str) -> None:
    (pair,) = generalised_metric(figure2(), "additive", discount=discount).pairs
    assert pair.exact
    assert str(pair.upper) == str(fmpq(*map(int, f"{discount}/1".split("/")[:2])) / 2)


def test_proposition_4_on_figure_1() -> None:
    """The total variation is the largest difference of values of linear formulae."""
    automaton = randomised_response_automaton()
    for formula in ("<tau><tau><yes>T", "1 <tau><tau><yes>T"):
        values = [satisfies_trace_formula(automaton, state, formula).value for state in ("s_y", "s_n")]
        assert values == [fmpq(3, 4), fmpq(1, 4)]
    assert logical_distances(automaton, ("s_y", "s_n"), 3).total_variation == values[0] - values[1]


def test_what_examples_say_of_the_papers_stands_in_the_list() -> None:
    """Every number that a case study says it is has a row."""
    rows = {f"{row.key} {row.number}" for paper in papers() for row in paper.rows}
    for info in list_examples():
        assert rows.issuperset(info.papers), info.name


def test_case_studies_are_listed_with_the_parameters_of_the_papers(command: Command) -> None:
    listed = [line.split() for line in command("example", "--papers").out.splitlines()]
    models = {(line[0], line[1], line[2]): line[3] for line in listed[1:-1]}
    assert models["CMP18", "Figure", "3"] == "example:dining-cryptographers,n=2"
    assert models["LWZ22-conference", "Algorithm", "3"] == "example:above-threshold"
    assert models["LWZ22-long", "Algorithm", "3"] == "example:noisy-max"
    for info in list_examples():
        for paper in info.papers:
            assert models[tuple(paper.split())].startswith("example:"), paper  # type: ignore[index]
