"""Labels that a reading adds: expressions over variables, and the atoms of property files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import LMC, PA, ModelError, UsageError, delta, load_model
from bisimdist.models.io.predicates import Parser, Scope, parse_predicate
from bisimdist.models.io.properties import declared, properties_beside, read_properties

VARIABLES = {
    "x": ["0", "1", "2", "3"],
    "b": ["true", "false", "true", "false"],
    "h": ["1/2", "0.5", "1", "2"],
}
SCOPE = Scope(VARIABLES, {"won": frozenset({2})}, {"N": "2", "full": "x=N", "loop": "loop+1"})


def values(text: str) -> list[object]:
    return list(SCOPE.column(parse_predicate(text), 4))


class TestExpressions:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("x=1", [False, True, False, False]),
            ("!x=1", [True, False, True, True]),  # "!" binds less than "="
            ("x=1 | b & x>1", [False, True, True, False]),
            ("b => x>1", [False, True, True, True]),
            ("x<2 <=> b", [True, False, False, True]),
            ("full", [False, False, True, False]),
            ('"won" & full', [False, False, True, False]),
            ("b ? x : -x", [0, -1, 2, -3]),
            ("h=1/2", [True, True, False, False]),
            ("x/2", [fmpq(0), fmpq(1, 2), fmpq(1), fmpq(3, 2)]),
            ("2-1-1+x*2", [0, 2, 4, 6]),
            ("mod(x,2)+pow(x,2)+min(x,1,5)+max(0,x)", [0, 4, 7, 14]),
            ("floor(x/2)+ceil(x/2)", [0, 1, 2, 3]),
            ("pow(2,-x)", [1, fmpq(1, 2), fmpq(1, 4), fmpq(1, 8)]),
            ("pow(x*x/4,0.5)", [0, fmpq(1, 2), 1, fmpq(3, 2)]),
            ("pow(8,x/3)", [1, 2, 4, 8]),
            ("min(x)+max(1)", [1, 2, 3, 4]),
            ("x<.5", [True, False, False, False]),
            ("!!b", [True, False, True, False]),
            ("pow(x,0.5)>=1.41421356", [False, False, True, True]),
            ("pow(x,0.5)<=1.7320508", [True, True, True, False]),
            ("1.5>pow(x,0.5)", [True, True, True, False]),
            ("pow(x,0.5)>-1", [True, True, True, True]),
            ("max(pow(4*x*x,1/4),1)=pow(2*x,0.5)", [False, True, True, True]),
            ("pow(x,3/2)=pow(x*x*x,1/2) & pow(x,1/2)!=x", [False, False, True, True]),
            ("b = (x=0 | x=2)", [True, True, True, True]),
        ],
    )
    def test_values(self, text: str, expected: list[object]) -> None:
        assert values(text) == expected

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("x=", "found 'the end'"),
            ("x=1 x", "expected the end"),
            ("y=1", "no variable, formula or constant 'y'"),
            ("loop", "no variable, formula or constant 'loop'"),
            ('"lost"', "no label 'lost'"),
            ("x & b", "expected true or false"),
            ("b+1", "expected a number"),
            ("b=1", "compares a truth value with a number"),
            ("1/x", "divides by zero"),
            ("pow(2,100000)", "too large"),
            ("1+pow(x,0.5)", "pow.2, 1/2. is not rational, and can only be compared"),
            ("-pow(x,0.5)<0", "pow.2, 1/2. is not rational"),
            ("!pow(2,0.5)", "expected true or false, not pow.2, 1/2."),
            ("pow(-x,0.5)", "pow.-1, 1/2. is not real"),
            ("pow(2,1/100000)", "too large"),
            ("pow(pow(pow(10,10000),10000),10000)", "too large"),
            ("x<1e99999", "the number 1e99999 is too large"),
            ("!pow(10,9999)", "expected true or false, not 1000"),
            ("mod(x/2,2)", "mod is of integers"),
            ("sin(x)", "no function sin"),
            ("floor(x,x)", "no function floor of 2"),
            ("x # 1", "found '#'"),
            ("(" * 100 + "x" + ")" * 100, "nested too deeply"),
            ("x" + "+x" * 5000, "nested too deeply"),
            ("F x=1", "expected the end"),
        ],
    )
    def test_what_has_no_value_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(ModelError, match=message):
            values(text)

    def test_values_of_variables(self) -> None:
        scope = Scope({"long": ["9" * 5000, "1"], "strange": ["--5", "1"]}, {})
        assert list(scope.column(parse_predicate("long>1"), 2)) == [True, False]
        with pytest.raises(ModelError, match="the variable strange has the value '--5'"):
            scope.column(parse_predicate("strange=1"), 2)

    @given(
        st.recursive(
            st.sampled_from(["x=1", "b", "x>2", "true"]),
            lambda inner: st.tuples(inner, st.sampled_from(["&", "|", "=>", "<=>"]), inner).map(
                lambda p: f"({p[0]} {p[1]} {p[2]})"
            ),
            max_leaves=6,
        )
    )
    def test_logic_is_that_of_python(self, text: str) -> None:
        words = {
            "<=>": "==",
            "=>": "<=",
            "&": " and ",
            "|": " or ",
            "x=1": "(x == 1)",
            "x>2": "(x > 2)",
            "true": "True",
        }
        written = text
        for one, other in words.items():
            written = written.replace(one, other)
        expected = [eval(written, {"x": x, "b": x % 2 == 0}) for x in range(4)]
        assert values(text) == expected


class TestPropertyFiles:
    @pytest.mark.parametrize(
        ("text", "atoms"),
        [
            ("P=? [ F x=1 ]", ["x=1"]),
            ("P>=0.5 [ x=1 U<=5 x=2 & b ]", ["x=1", "x=2 & b"]),
            ("P=? [ G (x=1 => F b) ]", ["x=1", "b"]),
            ("P=? [ (F x=1) & (G !b) ]", ["x=1", "!b"]),
            ('R{"time"}max=? [ F "won" ]', ["won"]),
            ("Pmaxmin=? [ F b ]; Rminmax=? [ F x=1 ]", ["b", "x=1"]),
            ("R=? [ C<=k+1 ]; R=? [ I=5 ]; S=? [ x=1 ]", ["x=1"]),
            ('P=? [ F<=k (x=1) ]\nR{"a"}=? [ F b ]\nP=? [ F{"a"}<=5 x=3 ]', ["x=1", "b", "x=3"]),
            ("filter(max, P=? [ X x=2 ], x=0)", ["x=2", "x=0"]),
            ("multi(Pmax=? [ F b ], P>0.1 [ G x<2 ])", ["b", "x<2"]),
            ('"name": 1-P=? [ F b ]; x=1 => P>=1 [ F true ]', ["b", "x=1"]),
            ('P=? [ F x=1 {"won"}{max} ]', ["x=1"]),
            ("E [ F b ] // F x=1", ["b"]),
            ('const int k = 2; label "lost" = x=k; P=? [ F !"lost" ]', ["lost", '!"lost"']),
        ],
    )
    def test_atoms(self, text: str, atoms: list[str]) -> None:
        found = read_properties(text)
        assert (list(found.expressions), found.left_out) == (atoms, ())

    def test_what_is_not_understood_is_said(self) -> None:
        found = read_properties("P=? [ F b ];\n<<1>> R@ [ x ]\nP=? [ F x=1 ]")
        assert list(found.expressions) == ["b", "x=1"]
        assert found.left_out == ("line 2 was left out: found '<'; expected a variable, a number or a label",)

    @given(st.text(alphabet='PRXFGU()[]{}=?<>&|!"ab1;:, \n', max_size=40))
    def test_any_text_is_read(self, text: str) -> None:
        read_properties(text)

    def test_parser_ends(self) -> None:
        assert Parser("").kind == ""
        assert declared("const double p; const K = 2; formula f = K+1; formula g=f;") == {
            "K": "2",
            "f": "K+1",
            "g": "f",
        }


TRA = "4 6\n0 2 1/2\n0 3 1/2\n1 2 1/3\n1 3 2/3\n2 2 1\n3 3 1\n"
LAB = '0="init" 1="deadlock" 2="won"\n0: 0\n1: 0\n2: 2\n'
STA = "(s,x)\n0:(0,1)\n1:(1,1)\n2:(2,0)\n3:(3,0)\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    for suffix, text in (("tra", TRA), ("lab", LAB), ("sta", STA)):
        (tmp_path / f"game.{suffix}").write_text(text)
    return tmp_path / "game.tra"


def labels(model: Path, **reading: Any) -> tuple[str, ...]:
    return load_model(model, kind=LMC, **reading).labels


class TestModels:
    def test_labels_are_added(self, model: Path) -> None:
        assert labels(model, labels={"low": "x=0"}) == ("", "", "low,won", "low")
        assert labels(model, labels={"low": "x=0", "sum": "s+x"}) == (
            "sum=1",
            "sum=2",
            "low,won,sum=2",
            "low,sum=3",
        )
        assert labels(model, labels={"low": "x=0"}, observe_variables=["s"])[3] == "low,s=3"
        assert labels(model, labels={"low": "x=0"}, observe_labels=["won"]) == ("", "", "low,won", "low")
        assert load_model(model, kind=LMC, labels={"one": "s=1"}, pairs=[("one", "#0")]).pairs == ((1, 0),)

    def test_labels_keep_their_meaning(self, model: Path) -> None:
        assert labels(model, labels={"won": "s=2"}) == labels(model)
        with pytest.raises(UsageError, match="'won' has another meaning"):
            labels(model, labels={"won": "s=3"})
        with pytest.raises(UsageError, match="has a variable 'x' of another value"):
            labels(model, labels={"x": "x+1"})
        assert labels(model, labels={"x": "x"}) == ("x=1", "x=1", "won,x=0", "x=0")

    def test_properties(self, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "game.pctl"
        said: list[str] = []
        path.write_text('P=? [ F s=3 & "low" ]; P=? [ F "init" ]; P=? [ F y=1 ]; label "low" = x=0;')
        seen = labels(model, properties=[str(path)], note=said.append)
        assert seen == ("", "", "low,won", 'low,s=3 & "low"')
        assert len(said) == 1
        assert "'y=1' was left out" in said[0]
        assert properties_beside(model) == (path, ['s=3 & "low"', "init", "y=1", "low"])
        path.write_text("P=? [ F y=1 ]")
        with pytest.raises(ModelError, match="nothing in it is seen in this model"):
            labels(model, properties=[str(path)])
        path.write_text("R=? [ C<=5 ]")
        with pytest.raises(ModelError, match="no label and no atom"):
            labels(model, properties=[str(path)])


@pytest.mark.extra("storm")
def test_formulas_and_constants(tmp_path: Path) -> None:
    path = tmp_path / "coin.pm"
    path.write_text(
        "dtmc\nconst int K;\nconst int L = K-1;\nformula hit = x=L;\nmodule m\n x : [0..3];\n"
        " [] x=0 -> 1/3:(x'=1)+2/3:(x'=2);\n [] x>0 -> true;\nendmodule\n"
    )
    found = load_model(path, kind=LMC, constants={"K": 2}, labels={"a": "hit", "b": "x>=K"})
    assert dict(zip(found.states, found.labels, strict=True)) == {"0": "", "1": "a", "2": "b"}
    assert load_model(path, kind=LMC, constants={"K": 2}, labels={"x": "x"}).labels == ("x=0", "x=1", "x=2")


POMDP = """pomdp
const int K = 2;
observables
  seen
endobservables
module m
  x : [0..3];
  seen : bool;
  [] x<2 & !seen -> 1/3+x/6 : (seen'=true) + 2/3-x/6 : (x'=3);
  [] x=3 & !seen -> true;
  [] seen -> true;
endmodule
observable "high" = x>K;
label "secret" = x=1;
init x<2 & !seen endinit
"""


@pytest.mark.extra("storm")
class TestPomdps:
    def test_observables_are_what_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "coin.prism"
        path.write_text(POMDP)
        said: list[str] = []
        found = load_model(path, kind=LMC, note=said.append)
        seen = dict(zip(found.states, found.labels, strict=True))
        assert seen["0,false"] == seen["1,false"] == "seen=false"
        assert (seen["3,false"], seen["0,true"]) == ("high,seen=false", "seen=true")
        assert said == ["this is a POMDP: an observer sees its observables"]
        (pair,) = delta(found, 1).pairs
        assert (pair.lower, pair.upper) == (fmpq(1, 6), fmpq(1, 6))
        told = load_model(path, kind=LMC, observe_labels=["secret"])
        assert set(told.labels) == {"", "secret"}

    def test_choices_make_an_automaton(self, tmp_path: Path) -> None:
        path = tmp_path / "coin.prism"
        path.write_text(POMDP.replace("[] seen ->", "[a] seen -> (x'=0);\n  [b] seen ->"))
        found = load_model(path, kind=PA)
        assert "seen=true [a]" in {step.action for step in found.transitions}

    def test_observations_of_drn_are_numbers(self, tmp_path: Path) -> None:
        path = tmp_path / "two.drn"
        path.write_text(
            "@type: POMDP\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@nr_choices\n2\n@model\n"
            "state 0 {3} init\n\taction 0\n\t\t0 : 1/2\n\t\t1 : 1/2\nstate 1 {5}\n\taction 0\n\t\t1 : 1\n"
        )
        found = load_model(path, kind=LMC)
        assert found.labels == ("observation=3", "observation=5")


def test_transitions_without_labels(tmp_path: Path) -> None:
    path = tmp_path / "bare.tra"
    path.write_text(TRA)
    said: list[str] = []
    found = load_model(path, kind=LMC, note=said.append, prism_labels=True)
    assert found.labels == ("init", "", "", "")
    assert "no state has a label" in said[0]
