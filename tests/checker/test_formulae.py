"""Certificates of distinguishing formulae: what is computed is accepted, what is false is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.automata.engine.strong import bisimilarity_classes
from bisimdist.checker.claims.formulae import check_document
from bisimdist.checker.core.automaton import read_automaton
from bisimdist.checker.core.formula_states import FormulaReader
from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.logic.engine.formula import StateFormula
from bisimdist.logic.engine.formula_printer import formula_text
from bisimdist.logic.engine.satisfaction import ModelChecker
from bisimdist.logic.explanation.ask import explain
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition, chain_as_automaton
from tests.logic.formula_reference import formulae, k_step_classes
from tests.logic.test_formula import chain_of
from tests.strategies import automata, lmcs

Document = dict[str, Any]
DIFFERENT = {"from": "s1", "to": "t1", "bisimilar": False}


def certificate(automaton: PA, pairs: list[tuple[str, str]]) -> Document:
    result: Document = json.loads(json.dumps(explain(automaton, pairs).certificate()))
    return result


def all_pairs(automaton: PA) -> list[tuple[str, str]]:
    return [(s, t) for s in automaton.states for t in automaton.states]


@settings(max_examples=30)
@given(automata())
def test_what_is_computed_is_accepted(automaton: PA) -> None:
    document = certificate(automaton, all_pairs(automaton))
    report = check_document(document, json.loads(json.dumps(automaton.canonical())))
    assert report.valid, report.reason
    assert len(report.other_claims) == len(automaton) ** 2


@settings(max_examples=20)
@given(lmcs())
def test_chains_are_taken_with_their_labels_as_actions(chain: Any) -> None:
    document = certificate(chain_as_automaton(chain), [("s0", "s1")])
    assert check_document(document, json.loads(json.dumps(chain.canonical()))).valid


@given(automata(), formulae())
def test_the_checker_reads_as_the_model_checker_does(automaton: PA, formula: StateFormula) -> None:
    reader = FormulaReader(read_automaton(automaton.canonical()))
    found = reader.read(formula_text(formula))
    assert found.members == ModelChecker(automaton).states(formula)
    assert found.depth == formula.depth


@settings(max_examples=150)
@given(automata(4), st.data())
def test_no_change_makes_it_prove_something_false(automaton: PA, data: st.DataObject) -> None:
    """Change claims, formulae and classes: whatever is accepted must be true."""
    document = certificate(automaton, all_pairs(automaton)[: data.draw(st.integers(1, 8))])
    texts = [claim["formula"] for claim in document["claims"] if "formula" in claim]
    texts += ["<a>T", "!<a>T", "<a>(1 T)", "<a><a>T", "T", "<b>T & <a>T", "<a>(1/2 <a>T + 1/2 T)"]
    for _ in range(data.draw(st.integers(1, 3))):
        claim = data.draw(st.sampled_from(document["claims"]))
        match data.draw(st.integers(0, 4)):
            case 0:
                claim[data.draw(st.sampled_from(("from", "to")))] = data.draw(
                    st.sampled_from(automaton.states)
                )
            case 1:
                claim["bisimilar"] = True
                claim.pop("formula", None)
                claim.pop("depth", None)
            case 2:
                depth = str(data.draw(st.integers(0, 3)))
                claim.update(bisimilar=False, formula=data.draw(st.sampled_from(texts)), depth=depth)
            case 3 if "depth" in claim:
                claim["depth"] = str(data.draw(st.integers(0, 4)))
            case 4:
                numbers = [data.draw(st.integers(0, 2)) for _ in automaton.states]
                document["classes"] = [
                    [s for s, n in zip(automaton.states, numbers, strict=True) if n == k] for k in range(3)
                ]
    report = check_document(document, None)
    if not report.valid:
        return
    classes = bisimilarity_classes(automaton)
    for claim in document["claims"]:
        s, t = automaton.index(claim["from"]), automaton.index(claim["to"])
        assert (classes[s] == classes[t]) == claim["bisimilar"]
        if not claim["bisimilar"]:
            before, after = (k_step_classes(automaton, int(claim["depth"]) - k) for k in (1, 0))
            assert before[s] == before[t]
            assert after[s] != after[t]


def simple() -> Document:
    return certificate(pin_checking(), [("s1", "t1"), ("s5", "t5")])


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        (("digest",), "sha256:0", "F2"),
        (("claims", 0, "from"), "x", "F4"),
        (("claims", 0, "formula"), "<a1>(4/5 <ok>T + 1/5 T)", "F5: claim 1: 's1' does not satisfy"),
        (("claims", 0, "formula"), "<a1>(2/5 <ok>T + 3/5 T)", "F5: claim 1: 't1' satisfies"),
        (("claims", 0, "depth"), "1", "F6: claim 1: the depth of the formula is 2, not 1"),
        (("claims", 1, "to"), "t4", "F7: claim 2: the states are in different classes"),
        (("classes", 0), [], "F7: the classes do not have exactly"),
        (("classes", 0, 0), "s2", "F7: 's2' is in two classes"),
    ],
)
def test_each_rule(path: tuple[str | int, ...], value: object, rule: str) -> None:
    document = simple()
    place: Any = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    report = check_document(document, None)
    assert not report.valid
    assert rule in report.reason


@pytest.mark.parametrize("depth", [2, 3, 9])
def test_a_depth_that_is_not_least_is_refused(depth: int) -> None:
    steps = (Transition(0, "a", ((2, fmpq(1)),)), Transition(1, "b", ((2, fmpq(1)),)))
    document = certificate(PA(("s", "t", "u"), steps), [("s", "t")])
    assert check_document(document, None).valid
    formula = "<a>T & !<b>" + "<b>" * (depth - 1) + "T"
    document["claims"][0].update(formula=formula, depth=str(depth))
    report = check_document(document, None)
    assert not report.valid
    assert "F6: claim 1: " in report.reason
    assert "steps tell the states apart already" in report.reason


def test_missing_classes_and_wrong_ones() -> None:
    document = simple()
    document["classes"] = [[name for members in document["classes"] for name in members]]
    assert "share a class, but not their transitions" in check_document(document, None).reason
    del document["classes"]
    assert "there are no classes" in check_document(document, None).reason


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"extra": 1}, "unknown key"),
        ({"claims": [{"from": "s1", "to": "t1"}]}, "has no 'bisimilar'"),
        ({"claims": [{"from": "s1", "to": "t1", "bisimilar": "no"}]}, "expected true or false"),
        ({"claims": [{"from": "s1", "to": "t1", "bisimilar": True, "depth": "1"}]}, "unknown key"),
        (
            {"claims": [{"from": "s1", "to": "t1", "bisimilar": False, "formula": "T", "depth": "-1"}]},
            "natural",
        ),
        ({"claims": [{"from": "s1", "to": "t1", "bisimilar": False, "formula": "T", "depth": 1}]}, "string"),
        ({"model": {"kind": "lmc"}}, "the model"),
    ],
)
def test_malformed_documents(change: Document, words: str) -> None:
    with pytest.raises(MalformedCertificate, match=words):
        check_document({**simple(), **change}, None)


NO_FORMULAE = """
<a>; (; <a>(1/2); <a>(1/2 T; x; T T; <a>(0 T); (1/2 T); <a>(1/2 T + ); <a>(1/2 T +; $; <"\\q">T; ;
let x = T in; let x = (1 T) in x; let x = (1 T) in !x; let T = T in T
"""


@pytest.mark.parametrize("text", [*map(str.strip, NO_FORMULAE.split(";")), "let x = T; x = T in T"])
def test_what_is_no_formula(text: str) -> None:
    reader = FormulaReader(read_automaton(pin_checking().canonical()))
    with pytest.raises(MalformedCertificate):
        reader.read(text)


@settings(max_examples=200)
@given(st.text(alphabet='<ab>T!&()+1/2 ;=x"inlet', max_size=25))
def test_any_text_is_read_or_malformed(text: str) -> None:
    reader = FormulaReader(read_automaton({"kind": "pa", "states": ["s"], "transitions": []}))
    try:
        reader.read(text)
    except MalformedCertificate:
        return
    from bisimdist.logic.engine.formula_parser import parse_formula  # noqa: PLC0415

    if "1/2" not in text:
        assert parse_formula(text) is not None


def test_deep_formulae_are_read() -> None:
    reader = FormulaReader(read_automaton(pin_checking().canonical()))
    assert reader.read(str(chain_of(5000))).depth == 5001
    assert reader.read("(" * 5000 + "T" + ")" * 5000).depth == 0


def test_the_checker_needs_nothing_else() -> None:
    code = "import bisimdist.checker.claims.formulae, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert not {"flint", "numpy", "networkx"}.intersection(loaded)
    ours = [name for name in loaded if name.startswith("bisimdist.")]
    assert all(name.startswith("bisimdist.checker") for name in ours)


@settings(max_examples=30)
@given(automata())
def test_pairs_the_wrong_way_round_are_refused(automaton: PA) -> None:
    document = certificate(automaton, [("s0", "s1")])
    claim = document["claims"][0]
    assume(not claim["bisimilar"])
    claim["from"], claim["to"] = claim["to"], claim["from"]
    assert not check_document(document, None).valid


def test_weights_without_a_common_denominator_of_any_use_are_refused() -> None:
    parts = " + ".join(f"1/{10**3000 + n} <b>T" for n in range(100))
    reader = FormulaReader(read_automaton({"kind": "pa", "states": ["s"], "transitions": []}))
    with pytest.raises(MalformedCertificate, match="common denominator"):
        reader.read(f"<a>({parts})")
