"""Hidden Markov models: what is accepted, what is refused, what is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given

from bisimdist.errors import ModelError, NumberTypeError
from bisimdist.models.entries import Parameter
from bisimdist.models.hmm import HMM
from bisimdist.models.io import load_model, parse_model, write_model
from bisimdist.models.library.registry import build_any_example
from tests.strategies import hmms

FOLDER = Path(__file__).parent / "malformed_hmm"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".expect")

TEXT = """\
kind: hmm
observations: [x, y]
parameters: {p: [0, 1]}
states:
  s: {x: 2/3, y: 1/3}
  t: {x: 1/3, y: 2/3}
transitions:
  s: {s: 1/2, t: 1/2}
distributions:
  pi:  {s: (1-p)^2, t: 1-(1-p)^2}
  tau: {t: 1}
pairs: [[pi, tau]]
"""


def example() -> HMM:
    model = parse_model(TEXT)
    assert isinstance(model, HMM)
    return model


def test_the_documented_file_is_read() -> None:
    model = example()
    assert model.states == ("s", "t")
    assert model.rows == (((0, fmpq(1, 2)), (1, fmpq(1, 2))), ())
    assert model.pairs == (("pi", "tau"),)
    assert model.parameters == (Parameter("p", fmpq(0), fmpq(1)),)
    assert model.parametric
    fixed = model.at({"p": "1/3"})
    assert not fixed.parametric
    assert fixed.distribution("pi") == ((0, fmpq(4, 9)), (1, fmpq(5, 9)))


def test_the_digest_depends_on_what_is_said_and_not_on_the_order() -> None:
    other = TEXT.replace(
        "  s: {x: 2/3, y: 1/3}\n  t: {x: 1/3, y: 2/3}", "  t: {y: 2/3, x: 1/3}\n  s: {x: 2/3, y: 1/3}"
    )
    found = parse_model(other.replace("[x, y]", "[y, x]").replace("(1-p)^2,", "1-2*p+p*p,"))
    assert isinstance(found, HMM)
    assert found.digest() == example().digest()
    changed = parse_model(TEXT.replace("p: [0, 1]", "p: [0, 1/2]"))
    assert isinstance(changed, HMM)
    assert changed.digest() != example().digest()


@pytest.mark.parametrize("format_", ["json", "yaml"])
@pytest.mark.parametrize(
    "name",
    [
        "geometric",
        "contagious-disease",
        "independent-disease",
        "noisy-max,n=2",
        "noisy-max-diseases",
        "above-threshold",
    ],
)
def test_every_example_reads_back_as_it_was_written(name: str, format_: str) -> None:
    model = build_any_example(name)
    assert isinstance(model, HMM)
    assert parse_model(write_model(model, format_), format=format_) == model


@given(hmms())
def test_random_models_read_back(model: HMM) -> None:
    for format_ in ("json", "yaml"):
        assert parse_model(write_model(model, format_), format=format_) == model


def test_strange_names_read_back() -> None:
    name = 'a: "{}\n☃ 😀' + "x" * 1100
    model = HMM.from_mappings(
        {name: {"yes": 1}}, {name: {name: 1}}, {"null": {name: 1}}, pairs=[("null", "null")]
    )
    for format_ in ("json", "yaml"):
        assert parse_model(write_model(model, format_), format=format_) == model


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_malformed_files_are_refused_with_one_line(path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.isprintable(), message
    assert len(message) < 1500
    assert path.name in message
    expected = path.with_name(path.name + ".expect").read_text(encoding="utf-8").strip()
    assert re.search(expected, message), message


def test_the_corpus_is_there() -> None:
    assert len(FILES) >= 25


def test_values_outside_the_box_are_refused() -> None:
    model = example()
    for value in ("0", "1", "2"):
        with pytest.raises(ModelError, match=r"parameter 'p': the value .* is outside the open interval"):
            model.at({"p": value})
    with pytest.raises(ModelError, match="no value is given"):
        model.at({})
    with pytest.raises(ModelError, match="no such parameter"):
        model.at({"p": "1/2", "q": "1/2"})
    with pytest.raises(NumberTypeError):
        model.at({"p": 0.5})


def test_entries_that_are_squares_are_known_to_be_probabilities() -> None:
    HMM.from_mappings(
        {"s": {"x": "(2*p-1)^2", "y": "4*p*(1-p)"}}, {}, {"d": {"s": 1}}, parameters={"p": (0, 1)}
    )


def test_unknown_names_are_refused() -> None:
    model = example()
    with pytest.raises(ModelError, match="distribution 'rho': there is no such distribution"):
        model.distribution("rho")
    with pytest.raises(ModelError, match="observation 'z': there is no such observation"):
        model.observation("z")
