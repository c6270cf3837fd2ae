"""Trace equivalence against the enumeration of all traces, and against information states in rationals."""

from __future__ import annotations

import json
from random import Random
from time import process_time

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker.claims.trace_equivalence import check_document
from bisimdist.errors import LimitError, ModelError
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline
from bisimdist.traces.engine import functions
from bisimdist.traces.engine.equivalence import (
    TraceComparison,
    distinguishing_trace,
    trace_equivalence_classes,
)
from bisimdist.traces.engine.first_word import FirstWords
from bisimdist.traces.engine.functions import fingerprints, primes
from bisimdist.traces.engine.rational_basis import RationalBasis, ResidueBasis, agree_on
from bisimdist.traces.engine.residue_echelon import ResidueEchelon
from bisimdist.traces.engine.system import WordSystem
from bisimdist.traces.equivalence.ask import trace_equivalence
from tests.reference.information_space import information_space
from tests.speed import leeway
from tests.words.fully_probabilistic import (
    all_traces,
    deferred_choice,
    probability,
    random_automata,
    randomised_responses,
)


def first_difference(automaton: PA, s: int, t: int, length: int) -> tuple[str, ...] | None:
    return next(
        (
            word
            for word in all_traces(automaton, length)
            if probability(automaton, s, word) != probability(automaton, t, word)
        ),
        None,
    )


@settings(max_examples=75, deadline=None)
@given(random_automata(5))
def test_the_first_trace_of_all_that_differ(automaton: PA) -> None:
    # Dimension 5 at most: traces of length 5 decide.
    assert distinguishing_trace(automaton, 0, 1) == first_difference(automaton, 0, 1, len(automaton))


@settings(max_examples=100, deadline=None)
@given(random_automata(9, "abc"), st.data())
def test_information_states_agree(automaton: PA, data: st.DataObject) -> None:
    s, t = (data.draw(st.integers(0, len(automaton) - 1)) for _ in range(2))
    space = information_space(automaton, s, t)
    assert distinguishing_trace(automaton, s, t) == space.trace
    if space.trace is not None:
        values = [probability(automaton, state, space.trace) for state in (s, t)]
        assert values[0] != values[1]
    else:
        assert all(sum(row.values(), fmpq(0)) == 0 for row in space.basis.values())


@settings(max_examples=50, deadline=None)
@given(random_automata(7))
def test_classes_are_those_of_the_pairs(automaton: PA) -> None:
    classes = trace_equivalence_classes(automaton)
    size = len(automaton)
    for s in range(size):
        for t in range(s):
            equal = information_space(automaton, s, t).trace is None
            assert (classes[s] == classes[t]) == equal


@settings(max_examples=50, deadline=None)
@given(random_automata(7))
def test_the_first_word_of_rounds_is_the_least_one(automaton: PA) -> None:
    chain = WordSystem.of(automaton)
    first = FirstWords.of(chain)
    for s in range(len(automaton)):
        for t in range(s):
            word = first.word(chain.class_of[s], chain.class_of[t])
            assert word is None or word == information_space(automaton, s, t).trace


@settings(max_examples=50, deadline=None)
@given(random_automata(7))
def test_fingerprints_never_part_what_is_equivalent(automaton: PA) -> None:
    chain = WordSystem.of(automaton)
    exact, labels = trace_equivalence_classes(automaton), fingerprints(chain)
    for s in range(len(automaton)):
        for t in range(s):
            if exact[s] == exact[t]:
                assert labels[chain.class_of[s]] == labels[chain.class_of[t]]


def test_a_long_corridor_is_parted_by_one_linear_system(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = WordSystem.of(corridor(400, leak=fmpq(1, 3)))
    monkeypatch.setattr(functions._Matrix, "apply", lambda *_: pytest.fail("a step was taken"))
    assert len(set(fingerprints(chain))) == len(chain)


@settings(max_examples=25, deadline=None)
@given(random_automata(7))
def test_sums_of_traces_of_one_length_part_as_much(automaton: PA) -> None:
    chain = WordSystem.of(automaton)
    labels = fingerprints(chain)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(functions, "MAX_COMPONENT", 0)
        assert fingerprints(chain) == labels


def test_masses_that_cancel_are_left_to_linear_algebra() -> None:
    chain = WordSystem.of(deferred_choice())
    first = FirstWords.of(chain)
    assert first.block(chain.class_of[0], 9) != first.block(chain.class_of[1], 9)
    assert first.word(chain.class_of[0], chain.class_of[1]) is None
    labels = fingerprints(chain)
    assert labels[chain.class_of[0]] == labels[chain.class_of[1]]
    assert len(set(labels)) == len(chain) - 1


def test_paper_randomised_responses() -> None:
    automaton = randomised_responses()
    assert distinguishing_trace(automaton, 0, 1) == ("tau", "tau", "no")
    assert distinguishing_trace(automaton, 0, 0) is None


def test_equivalent_but_not_bisimilar() -> None:
    automaton = deferred_choice()
    assert WordSystem.of(automaton, (0, 1)).class_of[:2] == (0, 1)
    assert distinguishing_trace(automaton, 0, 1) is None
    assert trace_equivalence_classes(automaton) == (0, 0, 1, 2, 3, 4, 5)


def corridor(length: int, *, leak: fmpq) -> PA:
    """Two corridors that differ at their far ends only: there one may halt, which the next action shows."""
    names, steps = [], []
    for side in range(2):
        for n in range(length):
            names.append(f"{'st'[side]}{n}")
            here = side * length + n
            last = n == length - 1
            p = leak if last and side else fmpq(1)
            steps.append(Transition(here, "a", ((here if last else here + 1, p),)))
    return PA(tuple(names), tuple(steps), ((0, length),))


def test_a_least_trace_may_be_as_long_as_the_automaton() -> None:
    automaton = corridor(60, leak=fmpq(1, 3))
    assert distinguishing_trace(automaton, 0, 60) == ("a",) * 61


def test_several_primes_where_denominators_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FirstWords, "word", lambda *_: None)
    steps = []
    for n in range(8):
        row = sorted(((n, fmpq(1, 10**9 + n // 4)), ((n + 2) % 8, fmpq(1, 10**9 - n // 4))))
        steps.append(Transition(n, "ab"[n % 2], tuple(row)))
    automaton = PA(tuple("stuvwxyz"), tuple(steps))
    comparison = TraceComparison.of(automaton, [(0, 2), (1, 3)]).run()
    assert comparison.primes_used > 1
    assert comparison.words == [information_space(automaton, s, t).trace for s, t in ((0, 2), (1, 3))]


def test_a_difference_that_is_zero_modulo_the_first_prime() -> None:
    automaton = deferred_choice()
    prime = next(primes(WordSystem.of(automaton, (0, 1))))
    small = fmpq(prime, 4 * prime + 1)  # 0 modulo the first prime
    steps = list(automaton.transitions)
    steps[4] = Transition(4, "b", ((5, fmpq(1, 2) - small), (6, fmpq(1, 2) + small)))
    changed = PA(automaton.states, tuple(steps), automaton.pairs)
    assert distinguishing_trace(changed, 0, 1) == ("a", "b", "c")
    assert trace_equivalence_classes(changed)[:2] == (0, 1)


@settings(max_examples=50, deadline=None)
@given(random_automata(7))
def test_the_rational_basis_spans_all_functions(automaton: PA) -> None:
    comparison = TraceComparison.of(automaton, [(s, 0) for s in range(len(automaton))])
    supply = primes(comparison.chain)
    images, basis = [], None
    while basis is None:
        images.append(ResidueBasis.explored(comparison.chain, next(supply)))
        basis = RationalBasis.proved(comparison.chain, images)
    comparison.run()
    for n, (s, t) in enumerate(comparison.pairs):
        assert agree_on(basis, s, t) == (comparison.words[n] is None)


def large(states: int, pairs: int) -> PA:
    """Return a random automaton with pairs in front of it that are equivalent, but not bisimilar."""
    generator = Random(1)
    steps = []
    for s in range(states):
        targets = sorted(generator.sample(range(states), 3))
        weights = [generator.randint(1, 6) for _ in targets]
        total = sum(weights) + generator.randint(0, 2)
        row = tuple((t, fmpq(w, total)) for t, w in zip(targets, weights, strict=True))
        steps.append(Transition(s, generator.choice("abc"), row))
    asked = []
    for n in range(pairs):
        s, t, u, v, w = range(states + 5 * n, states + 5 * n + 5)
        x, y = sorted(generator.sample(range(states), 2))
        half, one = fmpq(1, 2), fmpq(1)
        steps += [
            Transition(s, "a", ((u, half), (v, half))),
            Transition(t, "a", ((w, one),)),
            Transition(u, "b", ((x, one),)),
            Transition(v, "b", ((y, one),)),
            Transition(w, "b", ((x, half), (y, half))),
        ]
        asked.append((s, t))
    return PA(tuple(f"s{s}" for s in range(states + 5 * pairs)), tuple(steps), tuple(asked))


@pytest.mark.parametrize(("states", "pairs"), [(150, 3), pytest.param(1000, 20, marks=pytest.mark.slow)])
def test_large_automata(states: int, pairs: int) -> None:
    automaton = large(states, pairs)
    started = process_time()
    answer = trace_equivalence(automaton)
    assert answer.equivalent
    document = json.loads(json.dumps(answer.certificate()))
    assert check_document(document, None).valid
    classes = trace_equivalence_classes(automaton)
    assert all(classes[s] == classes[t] for s, t in automaton.pairs)
    assert len(automaton) - 2 * pairs < len(set(classes)) <= len(automaton) - pairs
    assert process_time() - started < 120 * leeway()


def test_echelon_keeps_the_first_independent_rows() -> None:
    span = ResidueEchelon(3, 7)
    rows = np.array([[0, 0, 0], [1, 2, 3], [2, 4, 6], [0, 1, 1], [1, 3, 4], [0, 0, 5]])
    assert span.extend(rows) == [1, 3, 5]
    assert span.full
    assert span.extend(rows) == []


def test_limits_and_bad_input() -> None:
    with pytest.raises(LimitError):
        distinguishing_trace(deferred_choice(), 0, 1, deadline=Deadline.after(0))
    step = Transition(0, "a", ((0, fmpq(1)),))
    with pytest.raises(ModelError, match="state 's'"):
        distinguishing_trace(PA(("s", "t"), (step, step)), 0, 1)
