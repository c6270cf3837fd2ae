"""Pufferfish scenarios in files."""

from __future__ import annotations

import pytest

from bisimdist import ModelError, parse_model
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import independent_disease

TEXT = """kind: scenario
parameters: {p: [0, 1]}
priors:
  independent: {none: (1-p)^2, first: p*(1-p), second: p*(1-p), both: p^2}
secrets: {present: [first, second, both], absent: [none, first, second, both]}
pairs: [[present, absent]]
query: {none: 0, first: 1, second: 1, both: 2}
mechanism:
  0: {0: 2/3, 1: 1/6, 2: 1/6}
  1: {0: 1/3, 1: 1/3, 2: 1/3}
  2: {0: 1/6, 1: 1/6, 2: 2/3}
"""


def test_a_file_makes_the_built_in_scenario() -> None:
    model = parse_model(TEXT)
    assert isinstance(model, HMM)
    assert model.digest() == independent_disease().digest()


def test_without_a_query_a_data_set_is_its_own_result() -> None:
    model = parse_model(
        "{kind: scenario, priors: {any: {x: 1/2, y: 1/2}}, secrets: {x: [x], y: [y]}, pairs: [[x, y]],"
        " mechanism: {x: {a: 1}, y: {a: 1/2, b: 1/2}}}"
    )
    assert isinstance(model, HMM)
    assert model.pairs == (("any|x", "any|y"),)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("both: p^2}", "both: p}", r"the probabilities sum to .*; expected 1"),
        ("present: [first,", "present: [frist,", r"s.yaml:5:.*'frist' is a data set of no prior"),
        ("[[present, absent]]", "[[present, gone]]", r"s.yaml:6:.*'gone' is not a declared secret"),
        ("second: 1, both: 2}", "both: 2}", r"s.yaml:7:.*no result for the data set 'second'"),
        ("  2: {0: 1/6, 1: 1/6, 2: 2/3}\n", "", r"no row for the result '2'"),
        ("  2: {0: 1/6,", "  2: {0: 1/7,", r"s.yaml:11:.*sums to .*; expected 1"),
        ("present: [first, second, both]", "present: []", r"under every prior one secret .* is impossible"),
        ("p*(1-p), second", "p*(1-q), second", r"prior 'independent' -> first"),
        ("query:", "answer:", r"'answer'"),
    ],
)
def test_what_makes_no_scenario_is_refused_with_its_place(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(ModelError, match=said):
        parse_model(TEXT.replace(old, new), source="s.yaml")
