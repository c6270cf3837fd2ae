"""Chains with parameters: what they are made of, their values, and what is refused with its place."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.conversions import convert
from bisimdist.models.hmm import HMM
from bisimdist.models.io import parse_model, write_dot, write_model
from bisimdist.models.io.svg import write_svg
from bisimdist.models.library.dining_cryptographers import dining_cryptographers, parametric_cryptographers
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.lmc import LMC
from bisimdist.models.model import WrongKindError
from bisimdist.models.parametric import ParametricChain
from bisimdist.models.polynomial import evaluate_entry
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)
from tests.strategies import parametric_chains

TEXT = """
kind: lmc
parameters: {p: [0, 1/2], q: [0, 1]}
states: {s: a, t: a, u: b}
transitions:
  s: {t: 2*p, u: 1-2*p}
  t: {t: q/(1+q), u: 1/(1+q)}
  u: {u: 1}
pairs: [[s, t]]
"""


@given(parametric_chains(cyclic=True))
def test_files_give_back_the_model(model: ParametricChain) -> None:
    for format_ in ("json", "yaml"):
        assert parse_model(write_model(model, format_), format=format_) == model


@given(parametric_chains(cyclic=True), st.fractions("1/20", "19/20", max_denominator=50))
def test_a_value_makes_the_chain_of_that_value(model: ParametricChain, value: Fraction) -> None:
    point = {"p": fmpq(*value.as_integer_ratio())}
    chain = model.at(point)
    assert isinstance(chain, LMC)
    assert chain.pairs == model.pairs
    for row, numbers in zip(model.rows, chain.rows, strict=True):
        assert {t: evaluate_entry(entry, point) for t, entry in row} == dict(numbers)


def test_some_values_leave_the_others_open() -> None:
    model = parse_model(TEXT)
    assert isinstance(model, ParametricChain)
    some = model.at({"p": "1/4"})
    assert isinstance(some, ParametricChain)
    assert some.parameter_names == ("q",)
    assert some.at({"q": "1/3"}) == model.at({"p": "1/4", "q": "1/3"})
    assert parse_model(TEXT, constants={"p": "1/4"}) == some
    assert some.digest() != model.digest()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"2*p,": "3*p,"}, "state 's': the probabilities sum to p + 1; expected 1"),
        ({"2*p, u: 1-2*p": "3*p, u: 1-3*p"}, "line 6: state 's' -> u: the expression -3*p + 1 is negative"),
        ({"q/(1+q)": "q/(1+r)"}, "the parameter 'r' is not declared"),
        ({"[0, 1/2]": "[1/2, 0]"}, "is empty; expected a lower end below the upper end"),
        ({"u: {u: 1}": "u: {w: 1}"}, "'w' is not a declared state"),
        ({"[0, 1]": "[-1, 1]"}, "the expression (q)/(q + 1) is negative"),
        ({"pairs:": "confidence: 1/2\npairs:"}, "confidence: it says how sure intervals are"),
        ({"t: q/": "t: [0, 1], s: q/"}, "found a list"),
    ],
)
def test_what_is_refused(changes: dict[str, str], said: str) -> None:
    text = TEXT
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(ModelError) as caught:
        parse_model(text)
    assert said in str(caught.value)


def test_values_that_are_refused() -> None:
    model = parse_model(TEXT)
    assert isinstance(model, ParametricChain)
    for values, said in (
        ({"r": 1}, "parameter 'r': the model has no such parameter; it has p"),
        ({"p": "1/2"}, "the value 1/2 is outside the open interval from 0 to 1/2"),
    ):
        with pytest.raises(ModelError, match=said):
            model.at(values)


def test_the_ring_with_a_parameter_is_the_ring() -> None:
    for n in (2, 3, 4):
        model = parametric_cryptographers(n)
        assert model.at({"p": "1/3"}) == dining_cryptographers(n, "1/3")
    assert build_any_example("dining-cryptographers,n=2,bias=q") == parametric_cryptographers(2, "q")
    with pytest.raises(UsageError, match="expected at least 2"):
        parametric_cryptographers(1)


def test_other_kinds_say_that_values_are_missing() -> None:
    model = parametric_cryptographers(2)
    for kind in ("pa", "hmm", "interactive"):
        with pytest.raises(ModelError, match=r"the model has the parameters p; .* --set p=1/3"):
            convert(model, kind)
    with pytest.raises(WrongKindError, match="this is a chain with parameters"):
        model.emissions  # type: ignore[attr-defined]  # noqa: B018
    assert '-> s2 [label="p"]' in write_dot(model)
    assert "-p + 1" in write_svg(model)


def test_values_on_the_command_line(command: Command, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "model.yaml"
    file.write_text(TEXT)
    ask = ("bound", str(file), "--alpha", "1")
    command(*ask).assert_refused("the model has the parameters p, q; expected values for them")
    command(*ask, "--set", "p=1/4").assert_refused("the model has the parameters q")
    command(*ask, "--set", "p=1/4,q=2").assert_refused("is outside the open interval")
    command(*ask, "--set", "p=1/4,q=true").assert_refused("True")
    assert command(*ask, "--set", "p=1/4,q=1/2", "--json").code == 0
    ring = ("delta", "example:dining-cryptographers,n=2,bias=p", "--alpha", "1", "--set", "p=1/3")
    assert '"upper": "1/9"' in command(*ring, "--json").out
    assert "p in (0, 1/2)" in command("show", str(file)).out
    command("show", "example:figure1", "--set", "p=1/3").assert_refused("leaves nothing open")
    hidden = tmp_path / "hidden.yaml"
    hidden.write_text(
        "kind: hmm\nobservations: [x, y]\nparameters: {p: [0, 1], q: [0, 1]}\n"
        "states: {s: {x: p, y: 1-p}, t: {x: q, y: 1-q}}\ntransitions: {}\ndistributions: {pi: {s: 1}}\n"
    )
    command("show", str(hidden), "--set", "p=[1/4,1/3],q=1/2").assert_refused("intervals", "expected values")
    more = {
        "crosscheck": ("--alpha", "1"),
        "classes": (),
        "metric": ("--kind", "amortised"),
        "leakage": ("--measure", "tv"),
        "profile": (),
        "verify": ("--ratio", "2", "--length", "1"),
    }
    for other, rest in more.items():
        command(other, str(file), *rest).assert_refused("the model has the parameters p, q")


def test_a_file_that_declares_no_parameter_is_a_chain() -> None:
    text = "{kind: lmc, parameters: {}, states: {s: a, t: b}, transitions: {s: {t: 1}, t: {t: 1}}}"
    assert isinstance(parse_model(text), LMC)


def test_values_of_hidden_markov_models() -> None:
    text = (
        "{kind: hmm, observations: [x, y], parameters: {p: [0, 1]}, states: {s: {x: p, y: 1-p}}, "
        "distributions: {d: {s: 1}}}"
    )
    model = parse_model(text, constants={"p": "1/3"})
    assert isinstance(model, HMM)
    assert not model.parameters
    assert model.emissions == (((0, fmpq(1, 3)), (1, fmpq(2, 3))),)
