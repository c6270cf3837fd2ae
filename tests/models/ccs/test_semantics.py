"""The rules of the calculus, one by one, and against the same rules written literally."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import assume, given, settings

from bisimdist.automata.engine.strong import bisimilarity_classes
from bisimdist.automata.metric.ask import metric
from bisimdist.errors import LimitError, ModelError
from bisimdist.models.ccs.naming import LONGEST_NAME
from bisimdist.models.ccs.normal import normal_form, parallel, placed, restrict
from bisimdist.models.ccs.parser import parse_specification, parse_term
from bisimdist.models.ccs.semantics import Semantics, automaton
from bisimdist.models.ccs.specification import Specification
from bisimdist.models.ccs.syntax import (
    NIL,
    Term,
)
from bisimdist.progress import Deadline
from tests.models.ccs.terms import CYCLES, disjoint_union, literal_automaton, terms


def moves(text: str) -> list[str]:
    """Return the steps of a term, written shortly."""
    found = []
    for action, successors in Semantics(CYCLES).steps(normal_form(parse_term(text))):
        if len(successors) == 1:
            found.append(f"{action} -> {successors[0][0]}")
        else:
            found.append(f"{action} -> " + " (+) ".join(f"{p}: {target}" for target, p in successors))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", []),
        ("a.b.0", ["a -> b.0"]),  # ACT
        ("tau.b.0", ["tau -> b.0"]),
        ("1/3: a.0 (+) 2/3: b.0", ["tau -> 1/3: a.0 (+) 2/3: b.0"]),  # PROB
        ("1/3: a.0 (+) 2/3: a.0", ["tau -> a.0"]),
        ("1/3: a.0 (+) 1/3: b.0 (+) 1/3: a.0", ["tau -> 2/3: a.0 (+) 1/3: b.0"]),
        ("1: a.0 (+) 0: b.0", ["tau -> a.0"]),
        ("a.0 + b.c.0", ["a -> 0", "b -> c.0"]),  # SUM
        ("a.0 + a.0", ["a -> 0"]),
        ("a.0 + (1/2: 0 (+) 1/2: b.0)", ["a -> 0", "tau -> 1/2: 0 (+) 1/2: b.0"]),
        ("(1/2: 0 (+) 1/2: b.0) + 0", ["tau -> 1/2: 0 (+) 1/2: b.0"]),
        ("a.0 | b.c.0", ["a -> b.c.0", "b -> a.0 | c.0"]),  # PAR
        ("(1/2: a.0 (+) 1/2: b.0) | c.0", [
            "tau -> 1/2: a.0 | c.0 (+) 1/2: b.0 | c.0",
            "c -> 1/2: a.0 (+) 1/2: b.0",
        ]),
        ("a.b.0 | ~a.c.0", ["a -> b.0 | ~a.c.0", "~a -> a.b.0 | c.0", "tau -> b.0 | c.0"]),  # COM
        ("a.0 | b.0 | ~a.0", ["a -> b.0 | ~a.0", "b -> a.0 | ~a.0", "~a -> a.0 | b.0", "tau -> b.0"]),
        ("a.0 | a.0", ["a -> a.0"]),
        ("(nu a) (a.0 + b.a.0)", ["b -> (nu a) a.0"]),  # RES
        ("(nu a) (~a.0 + tau.b.0)", ["tau -> (nu a) b.0"]),
        ("(nu a) (a.b.0 | ~a.0)", ["tau -> (nu a) b.0"]),
        ("((nu a) a.0) | ~a.0", ["~a -> (nu a) a.0"]),
        ("(nu a) (1/2: a.0 (+) 1/2: b.0)", ["tau -> 1/2: (nu a) a.0 (+) 1/2: (nu a) b.0"]),
        ("X", ["a -> X"]),  # calls
        ("Z(a)", ["a -> ~b.Z(a)"]),
        ("(nu a) X", []),
        ("(nu a) Z(a) | Z(b)", ["b -> (nu a) Z(a) | ~b.Z(b)"]),
    ],
)  # fmt: skip
def test_rules(text: str, expected: list[str]) -> None:
    assert moves(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 | a.0", "a.0"),
        ("a.0 | 0", "a.0"),
        ("0 | 0", "0"),
        ("a.0 | (b.0 | c.0)", "a.0 | b.0 | c.0"),
        ("(a.0 | b.0) | c.0", "a.0 | b.0 | c.0"),
        ("(nu a) 0", "0"),
        ("(nu a) (nu b) a.0", "(nu a, b) a.0"),
        ("(nu a) (0 | (nu b) 0)", "0"),
        # and nothing else
        ("b.0 | a.0", "b.0 | a.0"),
        ("a.0 + 0", "a.0 + 0"),
        ("a.0 + a.0", "a.0 + a.0"),
        ("(nu a, a) b.0", "(nu a, a) b.0"),
        ("(nu b) a.0", "(nu b) a.0"),
        ("(nu a) (a.0 | 0) + 0", "(nu a) (a.0 | 0) + 0"),
        ("c.(0 | 0)", "c.(0 | 0)"),
        ("1: 0", "1: 0"),
    ],
)
def test_laws(text: str, expected: str) -> None:
    assert str(normal_form(parse_term(text))) == expected


@given(terms(), terms(), terms())
def test_contexts_keep_different_terms_apart(first: Term, second: Term, third: Term) -> None:
    one, two, other = (normal_form(term) for term in (first, second, third))
    assume(one != two)
    assert parallel((one, other)) != parallel((two, other))
    assert parallel((other, one)) != parallel((other, two))
    assert restrict(("a",), one) != restrict(("a",), two)


@given(terms(), terms(), terms())
def test_normal_forms_stay_and_composing_is_the_same_in_one_go(
    first: Term, second: Term, third: Term
) -> None:
    one, two, other = (normal_form(term) for term in (first, second, third))
    assert normal_form(one) == one
    assert parallel((one, parallel((two, other)))) == parallel((parallel((one, two)), other))
    assert parallel((one, NIL)) == one == parallel((NIL, one))
    assert placed((parse_term("a.0"),), one, (parse_term("b.0"),)) == parallel(
        (parse_term("a.0"), one, parse_term("b.0"))
    )


@settings(max_examples=20)
@given(terms(max_leaves=6), terms(max_leaves=4))
def test_the_automaton_is_that_of_the_literal_rules(first: Term, second: Term) -> None:
    literal = literal_automaton((first, second))
    assume(literal is not None)
    assert literal is not None
    model = automaton(Specification(CYCLES, (), ((first, second),)))
    assert len(model) <= len(literal)
    classes = bisimilarity_classes(disjoint_union(literal, model))
    for ours, theirs in zip(model.pairs[0], literal.pairs[0], strict=True):
        assert classes[len(literal) + ours] == classes[theirs]


@settings(max_examples=20)
@given(terms(max_leaves=6))
def test_states_have_different_names_that_say_what_they_are(term: Term) -> None:
    model = automaton(Specification(CYCLES, (term,)))
    for number, name in enumerate(model.states):
        if "#" in name:
            assert name.endswith(f"... #{number}")
            assert len(name) <= LONGEST_NAME
        else:
            again = automaton(Specification(CYCLES, (parse_term(name),)))
            assert again.states[0] == name
    assert model == automaton(Specification(CYCLES, (term,)))


def test_starts_come_first_and_pairs_are_kept() -> None:
    model = automaton(parse_specification("X = a.X; Y = b.0; main Y, X | 0; pairs X, a.X, Y, X;"))
    assert model.states[:3] == ("Y", "X", "a.X")
    assert model.pairs == ((1, 2), (0, 1))


def test_a_text_without_start_begins_in_every_definition() -> None:
    model = automaton(parse_specification("X = a.X; P(a) = a.0; Y = b.P(c);"))
    assert model.states == ("X", "Y", "P(c)", "0")


def test_steps_that_differ_in_the_order_of_branches_are_one() -> None:
    model = automaton(
        parse_specification("main (1/3: a.0 (+) 2/3: b.0) + (2/3: b.0 (+) 1/3: a.0) + (1: a.0) + (1: a.0);")
    )
    assert [step.row for step in model.transitions if step.source == 0] == [
        ((1, fmpq(1, 3)), (2, fmpq(2, 3))),
        ((1, fmpq(1)),),
    ]


def test_parameters() -> None:
    model = automaton(
        parse_specification("Cell(in, out) = in.~out.Cell(in, out); main Cell(a, b), Cell(b, a), Cell(a, a);")
    )
    assert "~b.Cell(a, b)" in model.states
    assert "~a.Cell(b, a)" in model.states
    assert "~a.Cell(a, a)" in model.states


def test_a_restriction_of_the_parameter_hides_it() -> None:
    model = automaton(parse_specification("P(a) = a.(nu a) (a.0 | ~a.c.0); main P(b);"))
    assert model.states[1] == "(nu a) (a.0 | ~a.c.0)"


def test_free_names_of_definitions_are_restricted_where_they_are_called() -> None:
    model = automaton(parse_specification("X = a.X; main (nu a) X;"))
    assert model.transitions == ()


def test_capture_is_refused_only_where_it_would_happen() -> None:
    harmless = "P(a) = a.(nu b) b.0; main P(b);"
    assert automaton(parse_specification(harmless)).states == ("P(b)", "(nu b) b.0")
    with pytest.raises(ModelError, match=r"argument b for a would be captured by \(nu b\)"):
        automaton(parse_specification("P(a) = c.(nu b) Q(a, b); Q(a, b) = a.b.0; main P(b);"))


@pytest.mark.parametrize(
    "text",
    ["X = a.(X | X);", "X = a.(X | b.0);", "X = a.(nu b) X;"],
)
def test_what_grows_for_ever_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match=r"after the state .*: a process grows beyond 200 components"):
        automaton(parse_specification(text))


def test_the_state_limit() -> None:
    text = "X = a.b.c.X; main X;"
    specification = parse_specification(text)
    assert len(automaton(specification, state_limit=3)) == 3
    with pytest.raises(ModelError, match=r"after the state b\.c\.X: there are more than 2 states"):
        automaton(specification, state_limit=2)
    with pytest.raises(ModelError, match="more than 2 states"):
        automaton(parse_specification(text + "limit 2;"))
    assert len(automaton(parse_specification(text + "limit 2;"), state_limit=5)) == 3


def test_the_size_of_all_transitions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisimdist.models.ccs.semantics.MAX_ENTRIES", 1000)
    with pytest.raises(ModelError, match="more than the 1000 entries allowed"):
        automaton(parse_specification("main " + " | ".join(["a.b.c.0"] * 10) + ";"))


def test_the_deadline() -> None:
    with pytest.raises(LimitError):
        automaton(parse_specification("main a.0;"), deadline=Deadline(0.0))


def test_long_chains_are_no_trouble() -> None:
    deep = 5_000
    model = automaton(parse_specification("main " + "a." * deep + "0;"))
    assert len(model) == deep + 1
    assert max(map(len, model.states)) <= LONGEST_NAME
    nested = automaton(parse_specification("main " + "(nu b) " * 150 + "a.0;"))
    assert len(nested) == 2
    chained = "".join(f"X{i} = X{i + 1};" for i in range(5000)) + "X5000 = a.0; main X0;"
    assert automaton(parse_specification(chained)).states == ("X0", "0")


@settings(max_examples=20)
@given(terms())
def test_the_rules_to_the_letter(term: Term) -> None:
    expected = literal_automaton((term,), limit=300)
    assume(expected is not None)
    found = automaton(Specification(CYCLES, (term,), literal=True))
    union = disjoint_union(expected or found, found)
    (pair,) = metric(union, "accumulative", pairs=[(union.states[0], union.states[-len(found)])]).pairs
    assert pair.ratio == 1  # which needs a bijection of all supports


def test_to_the_letter_a_process_beside_0_is_another_one() -> None:
    """So a choice between them is no certain step any more, and a distance of 0 becomes infinite."""
    text = "P = 1/2: a.0 (+) 1/2: (a.0 | 0); Q = 1/2: a.0 (+) 1/2: a.0; pairs P, Q;"
    ratios = []
    for rules in ("", "rules literal;"):
        specification = parse_specification(text + rules)
        assert parse_specification(str(specification)) == specification
        ratios.append(metric(automaton(specification), "accumulative").pairs[0].ratio)
    assert ratios == [1, None]
    with pytest.raises(ModelError, match="expected literal"):
        parse_specification(text + "rules strict;")
