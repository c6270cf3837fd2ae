"""Conversions keep what they are said to keep."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import bound, compare, delta, profile
from bisimdist.automata import generalised_metric
from bisimdist.automata.engine import strong
from bisimdist.errors import ModelError, UsageError
from bisimdist.models import mechanism_model
from bisimdist.models.bisimilarity import bisimilarity_classes
from bisimdist.models.conversions import (
    KINDS,
    convert,
    hmm_as_lmc,
    lmc_as_hmm,
)
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition, action_labelled_lmc, chain_as_automaton
from bisimdist.privacy import least_alpha
from tests.reference.traces import trace_distribution, true_delta
from tests.strategies import alphas, hmms, lmcs

ZERO, ONE = fmpq(0), fmpq(1)
Sequences = dict[tuple[str, ...], fmpq]


def sequences(model: HMM, name: str, length: int) -> Sequences:
    """Return the probability of every sequence of so many observations, filled up with (end)."""
    found: Sequences = {}

    def walk(state: int, mass: fmpq, word: tuple[str, ...]) -> None:
        for x, p in model.emissions[state]:
            assert isinstance(p, fmpq)
            longer = (*word, model.observations[x])
            if len(longer) == length or not model.rows[state]:
                whole = (*longer, *["(end)"] * (length - len(longer)))
                found[whole] = found.get(whole, ZERO) + mass * p
                continue
            for target, q in model.rows[state]:
                walk(target, mass * p * q, longer)

    for state, mass in model.distribution(name):
        assert isinstance(mass, fmpq)
        walk(state, mass, ())
    return found


def performed(automaton: PA, state: int, length: int) -> Iterator[tuple[tuple[str, ...], fmpq]]:
    """Yield every sequence of at most so many actions from a state, with its probability."""
    runs: dict[tuple[tuple[str, ...], int], fmpq] = {((), state): ONE}
    for _ in range(length):
        longer: dict[tuple[tuple[str, ...], int], fmpq] = {}
        for (word, here), mass in runs.items():
            for step in automaton.transitions:
                if step.source == here:
                    for target, p in step.row:
                        key = ((*word, step.action), target)
                        longer[key] = longer.get(key, ZERO) + mass * p
        runs = longer
        totals: Sequences = {}
        for (word, _), mass in runs.items():
            totals[word] = totals.get(word, ZERO) + mass
        yield from totals.items()


def unfolded(word: tuple[str, ...]) -> tuple[str, ...]:
    """Return a sequence with a step before each observation; after its end nothing is drawn."""
    return tuple(x for symbol in word for x in (("(end)",) * 2 if symbol == "(end)" else ("(step)", symbol)))


@given(hmms(), st.integers(1, 4))
def test_a_chain_shows_the_sequences_of_a_hidden_markov_model(model: HMM, length: int) -> None:
    chain = hmm_as_lmc(model)
    steps = hmm_as_lmc(model, unfold=True)
    assert [(chain.states[s], chain.states[t]) for s, t in chain.pairs] == [("pi", "tau")]
    for name in ("pi", "tau"):
        expected = sequences(model, name, length)
        seen = trace_distribution(chain, chain.index(name), length + 1)
        assert seen == {("(start)", *word): mass for word, mass in expected.items()}
        seen = trace_distribution(steps, steps.index(name), 2 * length + 1)
        assert seen == {("(start)", *unfolded(word)): mass for word, mass in expected.items()}


def one_way(p: Sequences, q: Sequences, alpha: fmpq) -> fmpq:
    return sum((max(mass - alpha * q.get(word, ZERO), ZERO) for word, mass in p.items()), ZERO)


@given(hmms(), alphas(), st.integers(1, 3))
def test_delta_of_a_hidden_markov_model_is_kept(model: HMM, alpha: fmpq, length: int) -> None:
    pi, tau = sequences(model, "pi", length), sequences(model, "tau", length)
    delta = max(one_way(pi, tau, alpha), one_way(tau, pi, alpha))
    chain, steps = hmm_as_lmc(model), hmm_as_lmc(model, unfold=True)
    assert true_delta(chain, *chain.pairs[0], alpha, length + 1) == delta
    assert true_delta(steps, *steps.pairs[0], alpha, 2 * length + 1) == delta


def paired(chain: LMC) -> LMC:
    return LMC(chain.states, chain.labels, chain.rows, ((0, len(chain) - 1),))


@given(lmcs(), st.integers(1, 4))
def test_a_hidden_markov_model_makes_the_traces_of_a_chain(chain: LMC, length: int) -> None:
    everywhere = lmc_as_hmm(chain)
    assert [name for name, _ in everywhere.distributions] == list(chain.states)
    for state, name in enumerate(chain.states):
        assert sequences(everywhere, name, length) == trace_distribution(chain, state, length)
    model = lmc_as_hmm(paired(chain))
    assert model.pairs == ((chain.states[0], chain.states[-1]),)
    assert {name for name, _ in model.distributions} == {chain.states[0], chain.states[-1]}


@given(lmcs())
def test_from_a_chain_to_a_hidden_markov_model_and_back(chain: LMC) -> None:
    again = hmm_as_lmc(lmc_as_hmm(chain))
    kept = [again.index(f'["{state}", "{label}"]') for state, label in zip(*names(chain), strict=True)]
    classes, before = bisimilarity_classes(again), bisimilarity_classes(chain)
    for i, x in enumerate(kept):
        assert again.labels[x] == chain.labels[i]
        for j, y in enumerate(kept):
            assert (classes[x] == classes[y]) == (before[i] == before[j])
            start = again.index(chain.states[i]), again.index(chain.states[j])
            assert (classes[start[0]] == classes[start[1]]) == (before[i] == before[j])


def names(chain: LMC) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return chain.states, chain.labels


@given(lmcs(), st.integers(1, 4))
def test_a_chain_is_an_automaton_with_the_same_traces_and_classes(chain: LMC, length: int) -> None:
    automaton = chain_as_automaton(paired(chain))
    assert automaton.fully_probabilistic and automaton.pairs == paired(chain).pairs
    for state in range(len(chain)):
        expected = {
            w: m for k in range(1, length + 1) for w, m in trace_distribution(chain, state, k).items()
        }
        assert dict(performed(automaton, state, length)) == expected
    assert strong.bisimilarity_classes(automaton) == bisimilarity_classes(chain)
    assert action_labelled_lmc(automaton) == paired(chain)


@st.composite
def fully_probabilistic(draw: st.DrawFn) -> PA:
    size = draw(st.integers(1, 4))
    steps = []
    for source in range(size):
        if draw(st.integers(0, 3)) == 0:
            continue
        parts = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        total = sum(parts) + draw(st.sampled_from([0, 0, 1, 2]))
        row = tuple((target, fmpq(part, total)) for target, part in enumerate(parts) if part)
        steps.append(Transition(source, draw(st.sampled_from(["a", "b"])), row))
    return PA(tuple(f"s{index}" for index in range(size)), tuple(steps), ((0, size - 1),))


@given(fully_probabilistic())
def test_an_automaton_is_a_chain_with_the_same_classes(automaton: PA) -> None:
    chain = action_labelled_lmc(automaton)
    assert strong.bisimilarity_classes(automaton) == bisimilarity_classes(chain)[: len(automaton)]
    assert chain.pairs == automaton.pairs


@given(fully_probabilistic(), st.integers(1, 3))
def test_from_an_automaton_to_a_hidden_markov_model_and_back(automaton: PA, length: int) -> None:
    model = convert(automaton, "hmm").model
    again = convert(model, "pa").model
    assert isinstance(model, HMM) and isinstance(again, PA)
    assert model.pairs == tuple((automaton.states[s], automaton.states[t]) for s, t in automaton.pairs)
    for s in {s for pair in automaton.pairs for s in pair}:
        name = automaton.states[s]
        observed = sequences(model, name, length + 1)
        walked = dict(performed(again, again.index(name), length + 1))
        for word, mass in performed(automaton, s, length):
            whole = [(w, m) for w, m in observed.items() if w[: len(word)] == word]
            assert sum((m for w, m in whole if w[len(word)] != "(halt)"), ZERO) == mass
            halted = sum((m for w, m in whole if w[len(word)] == "(halt)"), ZERO)
            assert walked["(start)", *word] == mass + halted


@given(st.one_of(hmms(), lmcs(), fully_probabilistic()), st.sampled_from(KINDS), st.booleans())
def test_the_front_door_says_what_is_kept(model: LMC | PA | HMM, to: str, unfold: bool) -> None:
    unfold = unfold and isinstance(model, HMM) and to != "hmm"
    conversion = convert(model, to, unfold=unfold)
    assert conversion.model.canonical()["kind"] == to
    assert len(conversion.model.pairs) == len(model.pairs)
    assert conversion.preserved and all("\n" not in line for line in conversion.preserved)
    if model.canonical()["kind"] == to:
        assert conversion.model is model


def test_reserved_names_and_labels_make_way() -> None:
    model = HMM.from_mappings(
        {"s": {"(start)": 1}, "(end)": {"(end)": 1}},
        {"s": {"(end)": 1}},
        {"(end)": {"s": 1}, '["s", "(start)"]': {"(end)": 1}},
    )
    chain = hmm_as_lmc(model)
    assert dict(zip(chain.states, chain.labels, strict=True)) == {
        "(end)": "(start)'",
        '["s", "(start)"]': "(start)'",
        '["s", "(start)"]\'': "(start)",
        '["(end)", "(end)"]': "(end)",
        "(end)'": "(end)'",
    }
    assert len(hmm_as_lmc(model, unfold=True)) == len(chain) + 2


def test_hidden_states_that_are_not_reached_are_left_out() -> None:
    model = HMM.from_mappings({"s": {"x": 1}, "t": {"y": 1}}, {"s": {"s": 1}}, {"pi": {"s": 1}})
    assert hmm_as_lmc(model).states == ("pi", '["s", "x"]')


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: build_any_example("independent-disease"), ModelError, "depend on parameters.*values to p"),
        (lambda: build_any_example("pin-checking"), ModelError, "has several transitions"),
    ],
)
def test_what_has_no_counterpart_is_refused(
    make: Callable[[], LMC | PA | HMM], kind: type[Exception], message: str
) -> None:
    model = make()
    for to in {"lmc", "pa", "hmm"} - {str(model.canonical()["kind"])}:
        with pytest.raises(kind, match=message):
            convert(model, to)


def test_a_model_with_values_for_its_parameters_is_converted() -> None:
    model = build_any_example("independent-disease")
    assert isinstance(model, HMM)
    assert len(convert(model.at({"p": "1/10"}), "lmc").model.pairs) == 1


def test_wrong_wishes_are_refused() -> None:
    chain = build_any_example("figure1")
    with pytest.raises(
        UsageError, match=re.escape("--to tree: no such kind of model; expected lmc, pa, hmm or interactive")
    ):
        convert(chain, "tree")
    with pytest.raises(UsageError, match="--unfold is about hidden Markov models"):
        convert(chain, "hmm", unfold=True)


def test_a_conversion_draws_itself() -> None:
    page = convert(build_any_example("figure1"), "hmm")._repr_html_()
    assert "hidden Markov model of 4 states" in page
    assert "<li>kept: the probability of every trace" in page


class TestObservedChain:
    """What `delta`, `profile` and `compare` take a model for."""

    def test_an_observer_sees_that_a_run_ended_and_not_how(self) -> None:
        steps = [("s", "a", {}), ("t", "a", {"stop": 1})]
        automaton = PA.from_mappings(["s", "t", "stop"], steps, [("s", "t")])
        assert delta(automaton, 1).upper == 0

    @given(hmms())
    def test_a_hidden_markov_model_is_its_chain(self, model: HMM) -> None:
        pair = (model.distributions[0][0], model.distributions[-1][0])
        found = delta(model, "3/2", pairs=[pair], gap="1/100").pairs[0]
        chain = convert(model, "lmc").model
        assert isinstance(chain, LMC)
        same = delta(chain, "3/2", pairs=[pair], gap="1/100").pairs[0]
        assert (found.lower, found.upper) == (same.lower, same.upper)

    def test_every_question_takes_them(self) -> None:
        rows = {"x": {"a": "3/4", "b": "1/4"}, "y": {"a": "1/4", "b": "3/4"}}
        model = mechanism_model(rows)
        assert profile(model, alphas=[1]).points[0].upper == fmpq(1, 2)
        assert compare(model, 1)[0].measures[0].upper == fmpq(1, 2)
        assert least_alpha(model, 0).enough == 3
        half = {"one": "1/2", "two": "1/2"}
        automaton = PA.from_mappings(
            ["s", "t", "one", "two"],
            [("s", "a", half), ("t", "a", {"one": 1}), ("one", "b", {}), ("two", "c", {})],
            [("s", "t")],
        )
        assert delta(automaton, 1).upper == fmpq(1, 2)
        assert profile(automaton, alphas=[1]).points[0].upper == fmpq(1, 2)
        assert compare(automaton, 1)[0].measures[0].upper == fmpq(1, 2)

    def test_a_choice_is_refused(self) -> None:
        automaton = PA.from_mappings(["s"], [("s", "a", {}), ("s", "b", {})], [("s", "s")])
        with pytest.raises(ModelError, match="state 's': the state has several transitions"):
            delta(automaton, 1)


def test_interactive_models_are_made_and_taken() -> None:
    chain = build_any_example("figure1")
    assert isinstance(chain, LMC)
    made = convert(chain, "interactive").model
    assert isinstance(made, Interactive)
    assert delta(made, 2).upper == delta(chain, 2).upper
    assert convert(made, "interactive").model is made
    automaton = convert(made, "pa").model
    assert isinstance(automaton, PA)
    assert generalised_metric(automaton, "additive").pairs[0].upper == bound(chain, 1).pairs[0].upper
    with pytest.raises(ModelError, match="an analyst chooses"):
        convert(made, "lmc")
