"""What texts of CCS_p say, how they are written, and where the errors are."""

from __future__ import annotations

import time

import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from bisimdist.errors import ModelError
from bisimdist.models.ccs.lexer import Positions, tokenize
from bisimdist.models.ccs.parser import parse_specification, parse_term
from bisimdist.models.ccs.printer import format_specification, format_term
from bisimdist.models.ccs.specification import Definition, Specification
from bisimdist.models.ccs.syntax import (
    NIL,
    TAU,
    Action,
    Call,
    Parallel,
    Prefix,
    Probabilistic,
    Restriction,
    Sum,
    Term,
)
from tests.models.ccs.terms import CYCLES, terms
from tests.speed import leeway

DEEP = 100_000
WORDS = ["a.", "~", "X", "0", "(", ")", "(nu", "|", "+", "(+)", "1/2:", ";", "=", ",", "main", "pairs", "b.0"]
A, B = Prefix(Action("a"), NIL), Prefix(Action("b", True), NIL)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("0", NIL),
        (" a . 0 # comment", A),
        ("~b.0", B),
        ("tau.0", Prefix(TAU, NIL)),
        ("a.~b.0", Prefix(Action("a"), B)),
        ("X", Call("X")),
        ("X(a,b)", Call("X", ("a", "b"))),
        ("a.0 + ~b.0 + 0", Sum((A, B, NIL))),
        ("(a.0 + ~b.0) + 0", Sum((Sum((A, B)), NIL))),
        ("a.0 | ~b.0 | 0", Parallel((A, B, NIL))),
        ("a.0 | (~b.0 | 0)", Parallel((A, Parallel((B, NIL))))),
        # | binds more tightly than +, and + more tightly than (+)
        ("0 | a.0 + ~b.0 | 0", Sum((Parallel((NIL, A)), Parallel((B, NIL))))),
        ("1/2: 0 + a.0 (+) 0.5: 0", Probabilistic(((fmpq(1, 2), Sum((NIL, A))), (fmpq(1, 2), NIL)))),
        # prefixes and restrictions bind more tightly than everything else
        ("a.0 | 0", Parallel((A, NIL))),
        ("(nu a) a.0 | 0", Parallel((Restriction(("a",), A), NIL))),
        ("(nu a, c) (a.0 | 0)", Restriction(("a", "c"), Parallel((A, NIL)))),
        ("a.(nu c) ~b.0", Prefix(Action("a"), Restriction(("c",), B))),
        ("a.(1: 0)", Prefix(Action("a"), Probabilistic(((fmpq(1), NIL),)))),
        ("1e0: 0 (+) 0: a.0", Probabilistic(((fmpq(1), NIL), (fmpq(0), A)))),
        ("2 / 4: 0 (+) 5e-1: a.0", Probabilistic(((fmpq(1, 2), NIL), (fmpq(1, 2), A)))),
        ("(((a.0)))", A),
        ("nub.0", Prefix(Action("nub"), NIL)),
        ("mainly.0", Prefix(Action("mainly"), NIL)),
    ],
)
def test_terms(text: str, term: Term) -> None:
    assert parse_term(text) == term
    assert parse_term(format_term(term)) == term


@given(terms())
@example(Sum((Sum((A, B)), Probabilistic(((fmpq(1), Sum((A, B))),)))))
@example(Prefix(TAU, Restriction(("a",), Probabilistic(((fmpq(1), Parallel((A, B))),)))))
def test_what_is_written_reads_back_as_the_same_term(term: Term) -> None:
    text = format_term(term)
    again = parse_term(text)
    assert again == term
    assert hash(again) == hash(term)
    assert format_term(again) == text
    assert "(" not in text.replace("(+)", "").replace("(nu", "").replace("Z(", "") or any(
        child.level < 3 for child in _inside(term)
    )


def _inside(term: Term) -> list[Term]:
    return [child for part in term.children() for child in [part, *_inside(part)]]


@given(terms(), terms(), st.one_of(st.none(), st.integers(1, 10**6)), st.booleans())
def test_a_specification_reads_back_as_the_same(
    first: Term, second: Term, limit: int | None, paired: bool
) -> None:
    definitions = (*CYCLES, Definition("W", ("a",), Prefix(Action("a"), Parallel((first,) * 12))))
    pairs = ((first, second), (second, Call("X"))) if paired else ()
    specification = Specification(definitions, () if paired else (second, first), pairs, limit)
    text = format_specification(specification)
    assert parse_specification(text) == specification
    assert format_specification(parse_specification(text)) == text


@given(terms(), terms())
def test_equal_means_written_alike(first: Term, second: Term) -> None:
    assert (first == second) == (format_term(first) == format_term(second))


@given(st.text(alphabet="aX0 ().:+|~;=#,1/2nu\n(é", max_size=40))
@example("X=(nu a")
@example("(+)")
@example("1/2:")
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    for read in (parse_specification, parse_term):
        try:
            read(text)
        except ModelError as error:
            message = str(error)
            assert message.isprintable()
            assert error.line is not None
            assert 1 <= error.line <= text.count("\n") + 1
            assert error.place.startswith("column ")


@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_sequence_of_words_is_read_or_refused(words: list[str]) -> None:
    text = " ".join(words)
    for read in (parse_specification, parse_term):
        try:
            read(text)
        except ModelError as error:
            assert error.line == 1


def test_tokens_know_their_place() -> None:
    text = "X =\n  a.0;\n"
    positions = Positions(text)
    assert [positions.of(token.offset) for token in tokenize(text, positions)] == [
        (1, 1),
        (1, 3),
        (2, 3),
        (2, 4),
        (2, 5),
        (2, 6),
        (3, 1),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "X = " + "(" * DEEP,
        "X = " + "(" * DEEP + "0" + ")" * DEEP + ";",
        "X = " + "a.(" * DEEP + "0" + ")" * DEEP + ";",
        "X = " + "(\n" * DEEP,
        "X = " + "1: (" * DEEP,
        "X = " + "(0 | " * DEEP,
    ],
)
def test_deep_parentheses_are_refused_quickly(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(ModelError, match="the parentheses are nested deeper than the 1000 allowed"):
        parse_specification(text)
    assert time.process_time() - begin < 5 * leeway()


@pytest.mark.parametrize("part", ["a.", "(nu a) ", "~a.(nu b) "])
def test_long_chains_are_no_trouble(part: str) -> None:
    text = part * 20_000 + "0"
    term = parse_term(text)
    assert term == parse_term(text)
    assert term != parse_term(part * 20_000 + "X")
    assert format_term(term) == text


def test_long_compositions_are_no_trouble() -> None:
    assert parse_term("0 | " * 20_000 + "0").children() == (NIL,) * 20_001


def test_thousand_parentheses_are_fine() -> None:
    assert parse_term("(" * 1000 + "a.0" + ")" * 1000) == A


def test_too_many_words_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisimdist.models.ccs.lexer.MAX_TOKENS", 100)
    with pytest.raises(ModelError, match=r"line 1: column 101: the text has more than the 100 words allowed"):
        parse_term("a." * 100 + "0")


def test_the_denominators_of_a_sum_are_bounded() -> None:
    text = " (+) ".join(f"1/{10**3999 + 2 * i + 1}: 0" for i in range(300))
    with pytest.raises(ModelError, match="column 1: the common denominator of the probabilities is longer"):
        parse_term(text)


def test_nouns_are_validated_when_they_are_made() -> None:
    for make in (
        lambda: Action("A"),
        lambda: Action("tau", True),
        lambda: Action("nu"),
        lambda: Call("x"),
        lambda: Call("X", ("B",)),
        lambda: Restriction((), NIL),
        lambda: Restriction(("tau",), NIL),
        lambda: Sum((NIL,)),
        lambda: Parallel(()),
        lambda: Probabilistic(()),
        lambda: Probabilistic(((fmpq(1, 2), NIL),)),
        lambda: Probabilistic(((fmpq(3, 2), NIL), (fmpq(-1, 2), NIL))),
        lambda: Definition("X", ("a", "a"), NIL),
        lambda: Definition("x", (), NIL),
        lambda: Specification(()),
        lambda: Specification((), (Call("X"),)),
        lambda: Specification((), (NIL,), ((NIL, Call("X")),)),
        lambda: Specification((Definition("X", (), NIL),) * 2),
        lambda: Specification((Definition("X", (), NIL),), (Call("X", ("a",)),)),
        lambda: Specification((Definition("X", (), Call("X")),)),
        lambda: Specification((), (NIL,), (), 0),
    ):
        with pytest.raises(ModelError):
            make()


def test_long_circles_of_definitions() -> None:
    count = 5_000
    circle = "".join(f"X{i} = a.0 + X{(i + 1) % count};" for i in range(count))
    with pytest.raises(ModelError, match=r"X0 calls X1 calls X2 calls X3 calls \.\.\. calls X0 before any"):
        parse_specification(circle)
    broken = circle.replace("X7 = a.0 + X8", "X7 = a.X8")
    assert len(parse_specification(broken).definitions) == count
