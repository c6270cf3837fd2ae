"""Relations handed in: Example 2 is accepted, and nothing close to it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.automata.engine.relation import Relation, check_relation, load_relation
from bisimdist.automata.metric.certificate import relation_certificate
from bisimdist.checker import check_certificate
from bisimdist.errors import ModelError, UsageError
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition
from tests.reference.metric_brute_force import is_bisimulation
from tests.strategies import similar_automata

PIN = pin_checking()
EXAMPLE_2 = (
    ("s1", "t1", "1"),
    ("s2", "t2", "2/3"),
    ("s5", "t5", "3/2"),
    ("s3", "t3", "2/3"),
    ("s4", "t4", "1"),
    ("s5", "t5", "4/9"),
    ("s6", "t6", "3/2"),
    ("s5", "t5", "2/3"),
    ("s7", "t7", "3/2"),
    ("s8", "t8", "1"),
    ("s5", "t5", "9/4"),
    ("done", "done", "3/2"),
    ("done", "done", "4/9"),
    ("done", "done", "2/3"),
    ("done", "done", "9/4"),
)
"""With the state after ``ok``, which the paper does not name."""


def triple(s: str, t: str, text: str) -> tuple[int, int, fmpq]:
    above, _, below = text.partition("/")
    return PIN.index(s), PIN.index(t), fmpq(int(above), int(below or 1))


TRIPLES = tuple(triple(*entry) for entry in EXAMPLE_2)


def test_example_2_is_an_amortised_bisimulation() -> None:
    verdict = check_relation(PIN, "amortised", Relation(TRIPLES))
    assert verdict.holds
    assert verdict.ratio == fmpq(9, 4)
    assert (0, 8) in verdict.proved
    assert not check_relation(PIN, "accumulative", Relation(TRIPLES)).holds
    narrow = check_relation(PIN, "amortised", Relation(TRIPLES, fmpq(2)))
    assert {violation.clause for violation in narrow.violations} == {"bound"}
    assert {TRIPLES.index(violation.triple) for violation in narrow.violations} == {5, 10, 12, 14}


@pytest.mark.parametrize("index", range(len(TRIPLES)))
def test_example_2_without_a_triple_is_none(index: int) -> None:
    fewer = TRIPLES[:index] + TRIPLES[index + 1 :]
    assert not check_relation(PIN, "amortised", Relation(fewer)).holds


@pytest.mark.parametrize("index", range(len(TRIPLES)))
@pytest.mark.parametrize("other", ["1", "2/3", "3/2", "9/4", "4/9", "7/5", "1000001/1000000"])
def test_example_2_with_another_ratio_is_none(index: int, other: str) -> None:
    s, t, credit = TRIPLES[index]
    value = triple("s1", "t1", other)[2]
    if value != credit:
        changed = (*TRIPLES[:index], (s, t, value), *TRIPLES[index + 1 :])
        assert not check_relation(PIN, "amortised", Relation(changed)).holds


def test_the_clause_that_fails_is_named() -> None:
    verdict = check_relation(PIN, "amortised", Relation(TRIPLES[:1]))
    assert next((violation.clause, violation.text) for violation in verdict.violations) == (
        "left",
        "s1 --a1--> {s2: 2/5, s5: 3/5} is not answered: t1 --a1--> {t2: 3/5, t5: 2/5} would need one of "
        "(s2, t2, 2/3), (s2, t5, 1), none of which is in the relation",
    )
    other = check_relation(PIN, "amortised", Relation((triple("s2", "t5", "1"),)))
    assert [violation.text for violation in other.violations] == [
        "s2 --no--> {s3: 1} is not answered: t5 has no transition no",
        "t5 --ok--> {done: 1} is not answered: s2 has no transition ok",
    ]


def test_sizes_and_crossed_successors_are_explained() -> None:
    half, quarter = fmpq(1, 2), fmpq(1, 4)
    automaton = PA(
        ("s", "t", "u", "v"),
        (
            Transition(0, "a", ((2, half), (3, quarter))),
            Transition(1, "a", ((2, fmpq(1)),)),
            Transition(2, "a", ((2, quarter), (3, half))),
        ),
    )
    one = fmpq(1)
    sizes = check_relation(automaton, "amortised", Relation(((0, 1, one),)))
    assert "support of another size (2 against 1)" in sizes.violations[0].text
    crossed = Relation(((0, 2, one), (2, 3, one), (2, 2, fmpq(2))))
    text = check_relation(automaton, "amortised", crossed).violations[0].text
    assert "(v, u, 1), (v, v, 1/2), none of which" in text
    costly = check_relation(automaton, "accumulative", Relation(((0, 2, one),))).violations[0].text
    assert costly.endswith("has no bijection whose triples (all with the ratio 1, 2) are in the relation")


@settings(max_examples=75)
@given(similar_automata(2, halves=True), st.sampled_from(("accumulative", "amortised")), st.data())
def test_against_the_definition(automaton: PA, kind: str, data: st.DataObject) -> None:
    states = st.integers(0, len(automaton) - 1)
    credits = st.sampled_from([fmpq(1), fmpq(2), fmpq(1, 2), fmpq(4)])
    drawn = data.draw(st.lists(st.tuples(states, states, credits), max_size=8))
    relation = Relation(tuple(drawn))
    verdict = check_relation(automaton, kind, relation)
    window = relation.least_ratio()
    plain = [(s, t, Fraction(int(c.p), int(c.q))) for s, t, c in drawn]
    expected = is_bisimulation(automaton, kind, Fraction(int(window.p), int(window.q)), plain)
    assert verdict.holds == expected


def test_the_eleven_printed_triples_hold_where_a_state_answers_itself() -> None:
    """XCL14 Example 2, as printed: the state after ``ok`` is in no triple."""
    printed = Relation(TRIPLES[:11])
    assert not check_relation(PIN, "amortised", printed).holds
    verdict = check_relation(PIN, "amortised", printed, identity=True)
    assert verdict.holds
    assert set(verdict.supplied) == set(TRIPLES[11:])
    assert verdict.ratio == fmpq(9, 4)
    proof = check_certificate(json.dumps(relation_certificate(PIN, "amortised", printed, verdict)))
    assert proof.valid, proof.reason
    for k in range(11):
        fewer = Relation(TRIPLES[:k] + TRIPLES[k + 1 : 11])
        assert not check_relation(PIN, "amortised", fewer, identity=True).holds


def test_a_narrower_certificate_is_refused() -> None:
    printed = Relation(TRIPLES[:11])
    verdict = check_relation(PIN, "amortised", printed, identity=True)
    forged = json.dumps(relation_certificate(PIN, "amortised", printed, verdict)).replace(
        '"upper": "9/4"', '"upper": "2"'
    )
    assert '"upper": "2"' in forged
    assert not check_certificate(forged).valid
    nothing = check_relation(PIN, "amortised", Relation(TRIPLES[:1]), identity=True)
    with pytest.raises(UsageError, match="bounds no distance"):
        relation_certificate(PIN, "amortised", Relation(TRIPLES[:1]), nothing)


@settings(max_examples=75, deadline=None)
@given(similar_automata(2, halves=True), st.sampled_from(("accumulative", "amortised")), st.data())
def test_supplied_triples_are_those_of_the_identity(automaton: PA, kind: str, data: st.DataObject) -> None:
    """With all identity triples of the credits that can occur written out, the verdict is the same."""
    states = st.integers(0, len(automaton) - 1)
    credits = [fmpq(1), fmpq(2), fmpq(1, 2), fmpq(4)]
    drawn = data.draw(st.lists(st.tuples(states, states, st.sampled_from(credits)), max_size=8))
    relation = Relation(tuple(drawn))
    verdict = check_relation(automaton, kind, relation, identity=True)
    least = 1 if kind == "accumulative" else 1 / verdict.ratio
    powers = [c for k in range(-8, 9) if least <= (c := fmpq(2) ** k) <= verdict.ratio]
    loops = tuple((s, s, c) for s in range(len(automaton)) for c in powers)
    assert check_relation(automaton, kind, Relation((*drawn, *loops), verdict.ratio)).holds == verdict.holds
    if verdict.holds:
        try:
            document = relation_certificate(automaton, kind, relation, verdict)
        except UsageError:
            return
        proof = check_certificate(json.dumps(document))
        assert proof.valid, proof.reason


def test_files(tmp_path: Path) -> None:
    json_file, yaml_file = tmp_path / "r.json", tmp_path / "r.yaml"
    json_file.write_text('{"triples": [["s1", "t1", 1], ["s2", "t2", "2/3"]], "ratio": "9/4"}')
    yaml_file.write_text("triples:\n  - [s1, t1, 1]\n  - [s2, t2, 2/3]\nratio: 2.25\n")
    expected = Relation((triple("s1", "t1", "1"), triple("s2", "t2", "2/3")), fmpq(9, 4))
    assert load_relation(json_file, PIN) == load_relation(yaml_file, PIN) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("triples:\n  - [s1, t1, 1]\n  - [s1, x, 1]\n", "line-3: triple number 2: 'x' is no state"),
        ("triples:\n  - [s1, t1]\n", "line-2: triple number 1: it has 2 entries; expected two states and"),
        ("triples:\n  - [s1, t1, 0]\n", "line-2: triple number 1: the ratio is 0; expected a positive"),
        ("triples:\n  - [s1, t1, -1/2]\n", "triple number 1: the ratio is -1/2; expected a positive number"),
        ("triples:\n  - [s1, t1, much]\n", "line-2: triple number 1:"),
        ("triples: [[s1, t1, .nan]]\n", "line-1: triple number 1:"),
        ("triples: [[s1, t1, [1]]]\n", "found a list of 1; expected a positive exact number"),
        ("triples: [s1]\n", "triple number 1: found the text 's1'; expected a triple such as"),
        ("triples: {}\n", "expected a list of triples"),
        ("triples: []\nratio: 1/2\n", "line-2: ratio: the ratio is less than 1"),
        ("triples: []\nother: 1\n", "other"),
        ("[]", "expected a mapping with the key 'triples'"),
        ("", "the file is empty"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(text)
    with pytest.raises(ModelError) as caught:
        load_relation(file, PIN)
    error = str(caught.value)
    assert error.startswith(str(file))
    assert "\n" not in error
    line, _, rest = message.partition(": ") if message.startswith("line-") else ("", "", message)
    assert rest in error
    if line:
        assert f":{line.removeprefix('line-')}: " in error


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no such file; expected a relation"):
        load_relation(tmp_path / "r.json", PIN)
    (tmp_path / "r.json").write_bytes(b"\xff")
    with pytest.raises(ModelError, match="the byte 0xff at position 0 is not UTF-8"):
        load_relation(tmp_path / "r.json", PIN)
