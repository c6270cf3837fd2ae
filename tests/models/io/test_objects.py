"""Models that stormpy and stormvogel hold in memory are taken as their files are, exactly."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq

from bisimdist import (
    LMC,
    PA,
    Interactive,
    IntervalChain,
    ModelError,
    ParametricChain,
    UsageError,
    from_stormpy,
    from_stormvogel,
    load_model,
)

CHAIN = """dtmc
const double p;
module m
  s : [0..2] init 0;
  [] s=0 -> p : (s'=1) + 1-p : (s'=2);
  [] s>0 -> true;
endmodule
label "heads" = s=1;
rewards "cost" s=1 : 5/2; endrewards
"""
CTMC = "ctmc\nmodule m\n s : [0..2] init 0;\n [] s=0 -> 2 : (s'=1) + 1 : (s'=2);\nendmodule\n"
POMDP = """pomdp
observables s endobservables
module m
  s : [0..1] init 0;
  t : [0..1] init 0;
  [go] s=0 -> 1/3 : (s'=1) + 2/3 : (t'=1);
  [stay] true -> true;
endmodule
"""
ROUGH = """dtmc
module m
  s : [0..2] init 0;
  [] s=0 -> [0.1,1/3] : (s'=1) + [1/3,0.9] : (s'=2);
  [] s>0 -> true;
endmodule
"""


def built(text: str, folder: Path, number: Any = None, constants: dict[str, Any] | None = None) -> Any:
    """Return the model that stormpy builds of a text, with valuations and actions."""
    import stormpy  # noqa: PLC0415

    path = folder / "model.prism"
    path.write_text(text)
    program = stormpy.parse_prism_program(str(path), prism_compatibility=True)
    if constants:
        program, _ = stormpy.instantiate_constants(program, constants)
    options = stormpy.BuilderOptions()
    options.set_build_all_labels()
    options.set_build_state_valuations()
    options.set_build_choice_labels()
    options.set_build_all_reward_models()
    return stormpy.build_model[number or stormpy.Rational](program, options=options)


@pytest.mark.extra("storm")
class TestStormpy:
    def test_a_model_is_that_of_its_file(self, tmp_path: Path) -> None:
        import stormpy  # noqa: PLC0415

        third = {"p": stormpy.Rational("1/3")}
        for text, constants, how in (
            (CHAIN, third, {"observe_rewards": ["cost"], "observe_variables": ["s"]}),
            (CTMC, {}, {"observe_time": True}),
            (POMDP, {}, {"observe_variables": ["s"]}),
            (POMDP, {}, {"observe_variables": ["s"], "choices": "interactive"}),
        ):
            found = from_stormpy(built(text, tmp_path, None, constants), **how)
            given = {"p": "1/3"} if constants else {}
            assert found == load_model(tmp_path / "model.prism", constants=given, **how)

    def test_observations_are_seen(self, tmp_path: Path) -> None:
        notes: list[str] = []
        found = from_stormpy(built(POMDP, tmp_path), note=notes.append)
        assert isinstance(found, PA)
        assert {step.action.partition(" ")[0] for step in found.transitions} == {
            "observation=0",
            "observation=1",
        }
        assert notes == ["this is a POMDP: an observer sees its observables"]

    def test_doubles_need_a_word(self, tmp_path: Path) -> None:
        text = CHAIN.replace("const double p;", "").replace("1-p", "2/3").replace("> p", "> 1/3")
        model = built(text, tmp_path, float)
        with pytest.raises(ModelError, match="the probabilities are doubles; expected rationals"):
            from_stormpy(model)
        found = from_stormpy(model, rationalise=True)
        assert isinstance(found, LMC)
        assert dict(found.rows[0])[1] == fmpq(1, 3)
        rough = from_stormpy(model, enclose=True)
        assert isinstance(rough, IntervalChain)
        assert any(low < fmpq(1, 3) < high for _, low, high in rough.rows[0])

    def test_parameters(self, tmp_path: Path) -> None:
        import stormpy  # noqa: PLC0415

        model = built(CHAIN, tmp_path, stormpy.RationalFunction)
        found = from_stormpy(model)
        assert isinstance(found, ParametricChain)
        assert found.parameter_names == ("p",)
        settled = from_stormpy(model, constants={"p": "1/3"})
        assert isinstance(settled, LMC)
        assert dict(settled.rows[0]) == {1: fmpq(1, 3), 2: fmpq(2, 3)}
        assert isinstance(from_stormpy(model, constants={"p": ("1/3", "1/2")}), IntervalChain)
        with pytest.raises(ModelError, match="no such parameter"):
            from_stormpy(model, constants={"q": 1})

    def test_intervals(self, tmp_path: Path) -> None:
        import stormpy  # noqa: PLC0415

        found = from_stormpy(built(ROUGH, tmp_path, stormpy.RationalInterval))
        assert isinstance(found, IntervalChain)
        assert found.rows[0] == ((1, fmpq(1, 10), fmpq(1, 3)), (2, fmpq(2, 3), fmpq(9, 10)))
        with pytest.raises(ModelError, match=r"ends of intervals are doubles; expected stormpy\.RationalInt"):
            from_stormpy(built(ROUGH, tmp_path, stormpy.Interval))

    def test_what_is_refused(self, tmp_path: Path) -> None:
        model = built(CTMC, tmp_path)
        with pytest.raises(ModelError, match="this is an object of type str; expected a sparse model of st"):
            from_stormpy("model.prism")
        with pytest.raises(ModelError, match=r"the model has 3 states; allowed are 2"):
            from_stormpy(model, state_limit=2)
        with pytest.raises(UsageError, match="no parameters, and leaves nothing open"):
            from_stormpy(model, constants={"p": 1})
        with pytest.raises(ModelError, match="there are no rewards 'time'"):
            from_stormpy(model, observe_rewards=["time"])


class Expression:
    """What is written as an expression of sympy is, and is no number of Python."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


NAMED, OTHER = Expression("p**2"), Expression("1 - p**2")


@dataclass(eq=False)
class Named:
    """What stands for a state, an action, a variable or an observation of stormvogel."""

    label: str | None = None
    observation_id: int = 0


@dataclass
class Interval:
    lower: Any
    upper: Any

    def __str__(self) -> str:
        return f"[{self.lower},{self.upper}]"


def vogel(kind: str, rows: Sequence[Mapping[str, Sequence[tuple[Any, int]]]], **more: Any) -> Any:
    """Return what has the attributes of a model of stormvogel 0.13, which needs a younger Python.

    ``rows``: by state and action the probabilities and the numbers of successors.
    ``more``: ``labels`` by states, ``names`` and ``valuations`` of states, ``aliases`` of observations.
    """
    states = [Named() for _ in rows]
    variables = {name: Named(name) for one in more.get("valuations", ()) for name in one}
    observations = [Named() for _ in more.get("aliases", ())]
    return SimpleNamespace(
        model_type=SimpleNamespace(name=kind),
        states=states,
        transitions={
            state: [
                (Named(action), [(p, states[target]) for p, target in row]) for action, row in one.items()
            ]
            for state, one in zip(states, rows, strict=True)
            if one
        },
        state_labels={
            name: {states[number] for number in found} for name, found in more.get("labels", {}).items()
        },
        friendly_names=dict(zip(states, more.get("names", ()), strict=False)),
        state_valuations={state: {} for state in states}
        | {
            state: {variables[name]: value for name, value in one.items()}
            for state, one in zip(states, more.get("valuations", ()), strict=False)
        },
        state_observations=dict(zip(states, observations, strict=False)),
        observation_aliases=dict(zip(observations, more.get("aliases", ()), strict=True)),
        rewards=[],
    )


class TestStormvogel:
    @pytest.fixture(autouse=True)
    def installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("bisimdist.models.io.objects.find_spec", lambda _: True)

    def test_a_chain(self) -> None:
        made = vogel(
            "DTMC",
            [{"": [(Fraction(1, 3), 1), (Fraction(2, 3), 2), (0, 0)]}, {}, {"": [(1, 2)]}],
            labels={"init": [0], "heads": [1], "tails": [2]},
            names=[None, "h", "t"],
            valuations=[{"x": True}, {"x": 1}, {"x": 2}],
        )
        made.rewards.append(SimpleNamespace(name="cost", transition_rewards={}))
        made.rewards[0].rewards = {made.states[1]: Fraction(5, 2)}
        notes: list[str] = []
        found = from_stormvogel(made, note=notes.append, pairs=[("h", "x=2")])
        assert isinstance(found, LMC)
        assert (found.states, found.pairs) == (("0", "h", "t"), ((1, 2),))
        assert found.labels == ("", "heads", "tails")
        assert found.rows == (((1, fmpq(1, 3)), (2, fmpq(2, 3))), ((1, 1),), ((2, 1),))
        assert notes == ["1 states have no transition: each stays where it is"]
        seen = from_stormvogel(made, observe_rewards=["cost"], observe_variables=["x"])
        assert isinstance(seen, LMC)
        assert seen.labels == ("x=true,reward cost=0", "x=1,reward cost=5/2", "x=2,reward cost=0")
        with pytest.raises(ModelError, match="there are no rewards 'time'; expected some of cost"):
            from_stormvogel(made, observe_rewards=["time"])
        made.rewards[0].transition_rewards = {(made.states[0], None, made.states[1]): 1}
        with pytest.raises(ModelError, match="'cost' depend on transitions"):
            from_stormvogel(made, observe_rewards=["cost"])
        made.state_valuations[made.states[1]] = {}
        with pytest.raises(ModelError, match="state 'h': the variable 'x' has no value; expected one"):
            from_stormvogel(made)

    def test_choices(self) -> None:
        rows: list[dict[str, list[tuple[Any, int]]]] = [
            {"left": [(0.25, 0), (0.75, 1)], "right": [(1, 1)]},
            {},
        ]
        made = vogel("MDP", rows, labels={"init": [0], "end": [1]}, names=["s", "s"])
        with pytest.raises(ModelError, match="the probabilities are doubles"):
            from_stormvogel(made)
        found = from_stormvogel(made, rationalise=True)
        assert isinstance(found, PA)
        assert found.states == ("0", "1")
        assert [(step.source, step.action, step.row) for step in found.transitions] == [
            (0, "left", ((0, fmpq(1, 4)), (1, fmpq(3, 4)))),
            (0, "right", ((1, fmpq(1)),)),
            (1, "end", ((1, fmpq(1)),)),
        ]
        assert isinstance(from_stormvogel(made, rationalise=True, choices="interactive"), Interactive)

    def test_observations(self) -> None:
        for kind in ("POMDP", "HMM"):
            for aliases in (["red", "blue"], ["red", "red"]):
                found = from_stormvogel(vogel(kind, [{"": [(1, 1)]}, {}], aliases=aliases))
                assert isinstance(found, LMC)
                seen = aliases if len({*aliases}) == 2 else ["0", "1"]
                assert found.labels == tuple(f"observation={one}" for one in seen)
        drawn = vogel("POMDP", [{}], aliases=["red"])
        drawn.state_observations[drawn.states[0]] = {}
        with pytest.raises(ModelError, match="some observations are drawn at random"):
            from_stormvogel(drawn)

    def test_rates(self) -> None:
        found = from_stormvogel(
            vogel("CTMC", [{"": [(3, 1), (1, 0)]}, {"": [(0.0, 1)]}], labels={"end": [1]}),
            observe_time=True,
            rationalise=True,
        )
        assert isinstance(found, LMC)
        assert found.rows == (((0, fmpq(1, 4)), (1, fmpq(3, 4))), ((1, 1),))
        assert found.labels == ("exit rate=4", "end,exit rate=1")

    def test_parameters(self) -> None:
        made = vogel("DTMC", [{"": [(NAMED, 1), (OTHER, 2)]}, {}, {}])
        found = from_stormvogel(made)
        assert isinstance(found, ParametricChain)
        settled = from_stormvogel(made, constants={"p": "1/3"})
        assert isinstance(settled, LMC)
        assert dict(settled.rows[0]) == {1: fmpq(1, 9), 2: fmpq(8, 9)}
        made.model_type.name = "MDP"
        with pytest.raises(ModelError, match=r"expressions in Markov chains \(DTMC\) only"):
            from_stormvogel(made)

    def test_intervals(self) -> None:
        third = Fraction(1, 3)
        found = from_stormvogel(vogel("DTMC", [{"": [(Interval(0, third), 0), (Interval(third, 1), 1)]}, {}]))
        assert isinstance(found, IntervalChain)
        assert found.rows[0] == ((0, 0, fmpq(1, 3)), (1, fmpq(2, 3), 1))
        with pytest.raises(ModelError, match=r"the number '\[0,0.5\]' holds doubles; expected fractions"):
            from_stormvogel(vogel("DTMC", [{"": [(Interval(0, 0.5), 0), (Interval(third, 1), 1)]}, {}]))

    def test_what_is_refused(self) -> None:
        with pytest.raises(
            ModelError, match="this is a MA; expected a DTMC, a CTMC, an HMM, an MDP or a POM"
        ):
            from_stormvogel(vogel("MA", [{}]))
        with pytest.raises(ModelError, match="this is an object of type int; expected a model of stormvogel"):
            from_stormvogel(3)
        with pytest.raises(ModelError, match="the model has 3 states; allowed are 2"):
            from_stormvogel(vogel("DTMC", [{}, {}, {}]), state_limit=2)


@pytest.mark.extra("stormvogel")
@pytest.mark.skipif(sys.version_info < (3, 12), reason="stormvogel needs a younger Python")
def test_the_package_itself() -> None:
    from stormvogel import Variable, new_pomdp  # noqa: PLC0415

    made = new_pomdp()
    end = made.new_state("end", {Variable("x"): 1}, made.new_observation("red"), "e")
    made.initial_state.add_valuation(Variable("x"), 0)
    made.initial_state.set_choices([(Fraction(1, 3), end), (Fraction(2, 3), made.initial_state)])
    found = from_stormvogel(made)
    assert isinstance(found, LMC)
    assert (found.states, found.labels) == (("0", "e"), ("observation=init", "observation=red"))
    assert found.rows == (((0, fmpq(2, 3)), (1, fmpq(1, 3))), ((1, 1),))


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for package, extra, door in (
        ("stormpy", "storm", from_stormpy),
        ("stormvogel", "stormvogel", from_stormvogel),
    ):
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setattr("bisimdist.models.io.objects.find_spec", lambda _: None)
        with pytest.raises(
            UsageError, match=rf"{package} is not installed.*pip install 'bisimdist\[{extra}\]'"
        ):
            door(SimpleNamespace())
