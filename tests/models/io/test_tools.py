"""PRISM's language, JANI and DRN: read exactly where Storm is installed, and refused in one line."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

from bisimdist import (
    LMC,
    PA,
    Interactive,
    IntervalChain,
    LimitError,
    ModelError,
    ParametricChain,
    UsageError,
    bound,
    delta,
    load_model,
    parse_model,
)
from bisimdist.models.against import side_by_side
from bisimdist.models.io.formats import format_of_content
from bisimdist.models.io.tools import looks_like_prism_language
from bisimdist.privacy import delta_over
from tests.speed import leeway

INTERVAL_MDP = """mdp module m x : [0..1];
[a] x=0 -> [0.6,0.75] : true + [1/4,0.4] : (x'=1);
[b] x=0 -> 1/2 : true + 1/2 : (x'=1);
[] x=1 -> true; endmodule label "one" = x=1;
"""

INTERVAL_DRN = """@type: MDP
@value_type: rational-interval
@parameters

@reward_models

@nr_states
2
@nr_choices
3
@model
state 0 init
\taction a
\t\t0 : [0.6, 0.75]
\t\t1 : [1/4, 0.4]
\taction b
\t\t0 : [1/2, 1/2]
\t\t1 : [1/2, 1/2]
state 1 one
\taction 0
\t\t1 : [1, 1]
"""

COIN = """// a coin, thrown until it shows heads
dtmc
const double p;
const int N = 3;
module coin
  s : [0..N] init 0;
  done : bool init false;
  [] s=0 -> p : (s'=1)&(done'=true) + 1-p : (s'=0);
  [] s=1 -> true;
endmodule
label "heads" = s=1;
"""
MDP = """mdp
module m
  s : [0..2] init 0;
  [left] s=0 -> 1/3 : (s'=1) + 2/3 : (s'=2);
  [right] s=0 -> (s'=2);
  [] s>0 -> true;
endmodule
"""
CTMC = "ctmc\nmodule m\n s : [0..2] init 0;\n [] s=0 -> 2 : (s'=1) + 1 : (s'=2);\nendmodule\n"
DRN = """@type: DTMC
@parameters

@reward_models

@nr_states
2
@nr_choices
2
@model
state 0 init
\taction 0
\t\t0 : 1/3
\t\t1 : 2/3
state 1 done
\taction 0
\t\t1 : 1
"""
JANI = {
    "jani-version": 1,
    "name": "coin",
    "type": "dtmc",
    "constants": [{"name": "p", "type": "real"}],
    "variables": [
        {
            "name": "x",
            "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 1},
            "initial-value": 0,
        }
    ],
    "properties": [],
    "automata": [
        {
            "name": "a",
            "locations": [{"name": "l"}],
            "initial-locations": ["l"],
            "edges": [
                {
                    "location": "l",
                    "destinations": [
                        {
                            "location": "l",
                            "probability": {"exp": "p"},
                            "assignments": [{"ref": "x", "value": 1}],
                        },
                        {"location": "l", "probability": {"exp": {"op": "-", "left": 1, "right": "p"}}},
                    ],
                }
            ],
        }
    ],
    "system": {"elements": [{"automaton": "a"}]},
}
DATA = Path(__file__).parents[4] / "shared" / "data" / "prism"


@pytest.mark.extra("storm")
class TestWithStorm:
    def test_a_chain(self) -> None:
        model = parse_model(COIN, constants={"p": "1/3"})
        assert isinstance(model, LMC)
        assert (model.states, model.labels) == (("0,false", "1,true"), ("", "heads"))
        assert model.rows == (((0, fmpq(2, 3)), (1, fmpq(1, 3))), ((1, 1),))

    def test_decimals_are_exact(self) -> None:
        model = parse_model(COIN, constants={"p": "0.1"}, observe_variables=["s"])
        assert isinstance(model, LMC)
        assert model.labels == ("s=0", "s=1")
        assert dict(model.rows[0])[1] == fmpq(1, 10)

    def test_parameters_are_no_doubles(self) -> None:
        refused = "parameters p are no doubles.* --set p=1/3"
        with pytest.raises(UsageError, match=f"rationalise: .*{refused}"):
            parse_model(COIN, rationalise=True)
        with pytest.raises(UsageError, match=f"enclose: .*{refused}"):
            parse_model(COIN, constants={"p": ("1/4", "1/2")}, enclose=True)

    def test_rates_are_seen(self) -> None:
        text = "ctmc\nmodule m\n s: [0..2];\n [] s=0 -> 2: (s'=2);\n [] s=1 -> 3: (s'=2);\n"
        text += " [] s=2 -> 1: (s'=2);\nendmodule\ninit s<2 endinit\n"
        jumps, timed = (
            parse_model(text, format="prism-language", observe_time=seen) for seen in (False, True)
        )
        assert isinstance(jumps, LMC)
        assert isinstance(timed, LMC)
        assert jumps.labels == ("", "", "")
        assert [timed.labels[timed.index(str(s))] for s in range(3)] == [f"exit rate={r}" for r in (2, 3, 1)]
        with pytest.raises(UsageError, match="no --hide-silent"):
            parse_model(text, format="prism-language", observe_time=True, hide_silent=True)

    def test_ticks_are_seen(self) -> None:
        text = "ctmc\nmodule m\n s: [0..2];\n [] s=0 -> 2: (s'=2);\n [] s=1 -> 3: (s'=2);\n"
        text += ' [] s=2 -> 1: (s\'=2);\nendmodule\ninit s<2 endinit\nlabel "end" = s=2;'
        ticks = parse_model(text, format="prism-language", observe_ticks=True)
        assert isinstance(ticks, LMC)
        assert set(ticks.labels) == {"exit rate=3", "end,exit rate=3"}
        first, second = (ticks.rows[ticks.index(name)] for name in "01")
        assert sorted(p for _, p in first) == [fmpq(1, 3), fmpq(2, 3)]
        assert [p for _, p in second] == [1]
        assert delta(ticks, 1).pairs[0].upper == fmpq(1, 3)

    def test_rewards_are_seen(self) -> None:
        text = COIN + '\nrewards "cost" s=0: 1/3; [] true: 1; endrewards\n'
        if "s=0" not in COIN:
            text = COIN + '\nrewards "cost" true: 1/3; endrewards\n'
        chain = parse_model(text, format="prism-language", constants={"p": "1/2"}, observe_rewards=["cost"])
        assert isinstance(chain, LMC)
        assert any("reward cost=" in label for label in chain.labels)
        with pytest.raises(ModelError, match="there are no rewards 'time'; expected some of cost"):
            parse_model(text, format="prism-language", constants={"p": "1/2"}, observe_rewards=["time"])

    def test_a_real_constant_may_be_a_whole_number(self) -> None:
        for value in (0, 1, "1.0", "2/2"):
            chain = parse_model(COIN, format="prism-language", constants={"p": value})
            assert isinstance(chain, LMC)

    def test_deadlocks_that_are_mended_are_said(self) -> None:
        notes: list[str] = []
        text = "dtmc\nmodule m\n s: [0..1];\n [] s=0 -> (s'=1);\nendmodule\n"
        parse_model(text, format="prism-language", note=notes.append)
        assert notes == ["1 states have no transition: each stays where it is, as in PRISM"]

    def test_an_mdp(self) -> None:
        model = parse_model(MDP, pairs=[("s=1", "s=2")])
        assert isinstance(model, PA)
        assert [step.action for step in model.transitions if step.source == 0] == ["left", "right"]
        assert model.pairs == ((1, 2),)

    def test_a_missing_type_is_mdp(self) -> None:
        said: list[str] = []
        body = "module m\n s : [0..1];\n [a] s=0 -> (s'=1);\n [b] s=0 -> true;\n [] s=1 -> true;\nendmodule"
        model = parse_model(f"// dtmc\n{body}", format="prism-language", note=said.append)
        assert model == parse_model(f"mdp {body}")
        assert said == ["the model names no type: it is an mdp, as PRISM takes it"]

    def test_a_ctmc_is_the_chain_of_its_jumps(self) -> None:
        said: list[str] = []
        model = parse_model(CTMC, observe_variables=["s"], note=said.append)
        assert isinstance(model, LMC)
        assert model.rows[0] == ((1, fmpq(2, 3)), (2, fmpq(1, 3)))
        assert "chain of its jumps" in said[0]

    def test_drn(self) -> None:
        model = parse_model(DRN)
        assert isinstance(model, LMC)
        assert (model.labels, model.rows[0]) == (("", "done"), ((0, fmpq(1, 3)), (1, fmpq(2, 3))))
        third = DRN.replace("1/3", "0.3333333333333333").replace("2/3", "0.6666666666666666")
        with pytest.raises(ModelError, match="sum to"):
            parse_model(third)
        assert parse_model(third, rationalise=True) == model

    def test_drn_in_intervals(self) -> None:
        text = re.sub("@type: DTMC", "@type: DTMC\n@value_type: rational-interval", DRN)
        text = text.replace("1/3\n", "[1/4, 1/3]\n").replace("2/3\n", "[2/3, 3/4]\n")
        model = parse_model(text.replace("1 : 1\n", "1 : [1, 1]\n"))
        assert isinstance(model, IntervalChain)
        assert model.rows[0] == ((0, fmpq(1, 4), fmpq(1, 3)), (1, fmpq(2, 3), fmpq(3, 4)))

    def test_jani(self, tmp_path: Path) -> None:
        path = tmp_path / "coin.jani"
        path.write_text(json.dumps(JANI))
        model = load_model(path, constants={"p": "1/3"}, observe_variables=["x"])
        assert isinstance(model, LMC)
        assert model.rows[0] == ((0, fmpq(2, 3)), (1, fmpq(1, 3)))
        assert model == parse_model(path.read_bytes(), constants={"p": "1/3"}, observe_variables=["x"])

    @pytest.mark.parametrize(
        ("text", "options", "expected"),
        [
            (
                COIN.replace("N = 3", "N"),
                {},
                "the constants N have no value; give one, such as --constants N=5",
            ),
            (COIN.replace("dtmc", "mdp"), {}, "left open in Markov chains .* give values to p "),
            (COIN.replace("dtmc", "pta"), {"constants": {"p": "1/2"}}, "this is a timed automaton or a game"),
            (COIN, {"constants": {"p": ("1/2", 2)}}, "expected an interval from 0 to 1"),
            (
                COIN,
                {"constants": {"p": 1, "q": 2}},
                "there is no constant 'q' to give a value to; open are p",
            ),
            (COIN.replace("endmodule", ""), {"constants": {"p": 1}}, "said by Storm"),
            (COIN, {"constants": {"p": "3/2"}}, "."),
            (MDP.replace("mdp", "pomdp"), {}, "."),
            (MDP, {"state_limit": 2}, "the model has 3 states; allowed are 2"),
            ("dtmc\nmodule m\n s:[0..1];\n [] " + "(" * 100_000 + "s=0", {}, "."),
            (DRN.replace("1 : 2/3", "7 : 2/3"), {}, "."),
            (DRN.replace("1 : 2/3", "1 : 1/3"), {}, "the probabilities sum to 2/3"),
            ('{"jani-version": 1, "name": ' + "[" * 100_000, {}, "."),
        ],
        ids=range(13),
    )
    def test_what_is_refused(self, text: str, options: dict[str, Any], expected: str) -> None:
        begun = time.monotonic()
        with pytest.raises(ModelError, match=expected) as caught:
            parse_model(text, **options)
        assert time.monotonic() - begun < 60
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1500

    def test_real_constants_left_open_are_parameters(self) -> None:
        model = parse_model(COIN, pairs=[("s=0", "s=1")])
        assert isinstance(model, ParametricChain)
        assert model.parameter_names == ("p",)
        assert model.at({"p": "1/3"}) == parse_model(COIN, constants={"p": "1/3"}, pairs=[("s=0", "s=1")])

    def test_silent_steps_are_left_out_with_parameters(self) -> None:
        text = COIN.replace("N = 3", "N = 3;\nconst double q").replace(
            "1-p : (s'=0)", "(1-p)*q : (s'=0) + (1-p)*(1-q) : (s'=2)"
        )
        options: dict[str, Any] = {"observe_variables": ["done"], "hide_silent": True}
        opened = parse_model(text.replace("[] s=1", "[] s>0"), **options)
        assert isinstance(opened, ParametricChain)
        for p, q in (("1/3", "1/5"), ("2/3", "6/7")):
            known = parse_model(text.replace("[] s=1", "[] s>0"), constants={"p": p, "q": q}, **options)
            assert opened.at({"p": p, "q": q}) == known

    def test_constants_have_intervals(self) -> None:
        rough = parse_model(COIN, constants={"p": ("1/4", "1/3")})
        assert isinstance(rough, IntervalChain)
        assert rough.rows[0] == ((0, fmpq(2, 3), fmpq(3, 4)), (1, fmpq(1, 4), fmpq(1, 3)))
        assert parse_model(COIN, constants={"p": ("1/4", "1/4")}) == parse_model(COIN, constants={"p": "1/4"})
        with pytest.raises(UsageError, match="it has none"):
            parse_model(CTMC, constants={"p": ("1/4", "1/4")})

    def test_intervals_of_the_language(self) -> None:
        text = COIN.replace("1-p :", "[0.6,0.75] :").replace("-> p :", "-> [1/4,1/3] :")
        rough = parse_model(text.replace("const double p;", ""))
        assert isinstance(rough, IntervalChain)
        assert rough.rows[0] == ((0, fmpq(2, 3), fmpq(3, 4)), (1, fmpq(1, 4), fmpq(1, 3)))

    def test_other_kinds_are_refused_before_they_are_built(self, tmp_path: Path) -> None:
        path = tmp_path / "m.prism"
        path.write_text(COIN.replace("dtmc", "ma").replace("[] s=0", "<> s=0"))
        with pytest.raises(ModelError, match="this is a MA; expected a DTMC"):
            load_model(path, constants={"p": "1/2"})

    def test_decision_processes_in_intervals(self) -> None:
        for text in (INTERVAL_MDP, INTERVAL_DRN):
            asked = parse_model(text, choices="interactive")
            assert isinstance(asked, Interactive)
            assert [len(asked.moves[state]) for state in range(3)] == [5, 1, 5]
            drawn = parse_model(text, resolve="uniform", observe_actions=True)
            assert isinstance(drawn, IntervalChain)
            assert drawn.labels == ("", "one", f"[{'a' if text is INTERVAL_MDP else 0}]", *drawn.labels[3:])
            assert drawn.rows[2] == ((0, fmpq(3, 5), fmpq(3, 4)), (1, fmpq(1, 4), fmpq(2, 5)))
            with pytest.raises(UsageError, match="expected --choices interactive"):
                parse_model(text)

    @pytest.mark.slow
    @pytest.mark.skipif(not DATA.exists(), reason="needs models of PRISM")
    def test_retransmission_over_its_reliability(self) -> None:
        """One chunk more is seen by more errors: delta at alpha = 1 is what their probabilities differ by."""
        options: dict[str, Any] = {"observe_labels": ["error"], "hide_silent": True, "initial_pairs": "self"}
        sizes = ({"N": 4, "MAX": 2}, {"N": 5, "MAX": 2})
        both = side_by_side(*(load_model(DATA / "brpp.pm", constants=size, **options) for size in sizes))
        assert isinstance(both, ParametricChain)
        pieces = delta_over(both, 1).pairs[0].pieces

        def errors(size: dict[str, int], pk: str) -> fmpq:
            model = load_model(DATA / "brpp.pm", constants={**size, "pk": pk}, **options)
            assert isinstance(model, LMC)
            return sum((p for t, p in model.rows[0] if model.labels[t] == "error"), fmpq(0))

        for pk in ("0.9", "0.98"):
            assert pieces.at(fmpq(int(float(pk) * 100), 100)) == errors(sizes[1], pk) - errors(sizes[0], pk)
        ends = [
            load_model(DATA / "brpp.pm", constants={**size, "pk": ("0.9", "0.98")}, **options)
            for size in sizes
        ]
        rough = side_by_side(*ends)
        assert isinstance(rough, IntervalChain)
        assert delta(rough, 1).pairs[0].upper >= max(pieces.at(fmpq(9, 10)), pieces.at(fmpq(49, 50)))

    def test_a_tool_that_takes_too_long(self) -> None:
        with pytest.raises(LimitError, match=r"the model was not built within 0.01 s"):
            parse_model(MDP, seconds=0.01)

    def test_limits_of_the_machine_hold_too(self, tmp_path: Path) -> None:
        file = tmp_path / "model.prism"
        file.write_text(MDP)
        show = shlex.join([sys.executable, "-m", "bisimdist", "show", str(file)])
        done = subprocess.run(["sh", "-c", f"ulimit -t 100; exec {show}"], capture_output=True, check=True)
        assert b"states" in done.stdout

    def test_two_models_against_each_other(self) -> None:
        one = parse_model(COIN, constants={"p": "1/3"}, initial_pairs="self")
        two = parse_model(COIN, constants={"p": "1/2"}, initial_pairs="self")
        both = side_by_side(one, two)
        assert both.pairs == ((0, 2),)
        assert delta(both, 1).pairs[0].lower >= fmpq(1, 6)

    @pytest.mark.slow
    @pytest.mark.skipif(not DATA.exists(), reason="needs models of PRISM")
    def test_storm_builds_what_prism_wrote(self) -> None:
        constants = {"N": 16, "MAX": 2, "pk": "0.98"}
        built = load_model(DATA / "brpp.pm", constants=constants, initial_pairs="self")
        both = side_by_side(built, load_model(DATA / "brp16_2.tra", initial_pairs="self"))
        assert isinstance(both, LMC)
        assert bound(both, 1).pairs[0].upper == 0

    @pytest.mark.slow
    @pytest.mark.skipif(not DATA.exists(), reason="needs models of PRISM")
    def test_dining_cryptographers_as_published(self) -> None:
        seen = ["agree1", "agree2", "agree3"]
        options: dict[str, Any] = {"observe_variables": seen, "hide_silent": True}
        model = load_model(DATA / "dc3.pm", pairs=[("pay=1", "pay=2"), ("pay=0", "pay=1")], **options)
        assert isinstance(model, LMC)
        assert [pair.upper for pair in delta(model, 1).pairs] == [0, 1]

    @pytest.mark.slow
    @pytest.mark.skipif(not DATA.exists(), reason="needs models of PRISM")
    @pytest.mark.parametrize(("n", "most", "published"), [(16, 2, 4.23333443e-4), (64, 5, 4.48205879e-8)])
    def test_errors_of_retransmission_as_published(self, n: int, most: int, published: float) -> None:
        constants = {"N": n, "MAX": most, "pk": "0.98"}
        options: dict[str, Any] = {"observe_labels": ["error"], "hide_silent": True}
        model = load_model(DATA / "brpp.pm", constants=constants, **options)
        assert isinstance(model, LMC)
        error = sum((p for t, p in model.rows[0] if model.labels[t] == "error"), fmpq(0))
        assert float(int(error.p) / int(error.q)) == pytest.approx(published, rel=1e-8)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="needs models of PRISM")
def test_contracts_are_as_unfair_as_published() -> None:
    """Norman, Shmatikov, "Analysis of Probabilistic Contract Signing", with 5 pairs of 2 bits."""
    model = load_model(DATA / "egl5_2.tra", hide_silent=True)
    assert isinstance(model, LMC)
    first = sum((p for t, p in model.rows[0] if model.labels[t] == "knowB"), fmpq(0))
    assert first == fmpq(33, 64)  # 0.515625


def test_a_missing_storm_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisimdist.models.io.tools.find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "stormpy", None)
    with pytest.raises(UsageError, match=r"pip install 'bisimdist\[storm\]'"):
        parse_model(MDP)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (COIN, "prism-language"),
        (MDP, "prism-language"),
        (DRN, "drn"),
        (json.dumps(JANI), "jani"),
        ("kind: lmc", "yaml"),
        ('{"kind": "lmc"}', "json"),
        ("mdp: x", "yaml"),
        ("# dtmc\nkind: lmc", "yaml"),
        ("", "yaml"),
    ],
)
def test_contents_are_recognised(content: str, name: str) -> None:
    assert format_of_content(content.encode()).name == name


def test_recognising_takes_no_time() -> None:
    begun = time.process_time()
    assert not looks_like_prism_language(b"//\n" * 200_000 + b" " * 200_000 + b"x")
    assert time.process_time() - begun < 2 * leeway()
