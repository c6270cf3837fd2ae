"""Every measure against every other: planted errors are found, and no model violates an order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flint import fmpq
from hypothesis import HealthCheck, given, settings

from bisimdist.errors import Interruption, ModelError, UsageError
from bisimdist.faces.shown.standing import Measure, Relation, Scale
from bisimdist.models.ends import Ends
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.kinds import AnyModel
from bisimdist.models.library.registry import build_any_example, list_examples
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition
from bisimdist.privacy.crosscheck.answer import CheckedPair
from bisimdist.privacy.crosscheck.ask import crosscheck
from bisimdist.privacy.crosscheck.measures import SOURCES, Source, Task
from bisimdist.privacy.crosscheck.names import MEASURES
from bisimdist.privacy.crosscheck.orders import ORDERS, Order, through_missing
from bisimdist.privacy.crosscheck.subject import Fact, subject_of
from tests.strategies import alphas, automata, hmms, interactives, lmcs, similar_automata, tangled_automata

EVERYTHING = frozenset({Fact.PROBABILISTIC, Fact.FULL, Fact.ONE_END, Fact.ENDLESS, Fact.ASKED})
HALF, ONE = fmpq(1, 2), fmpq(1)

SMALLER = {
    "random": "states=6",
    "noisy-max": "n=2,levels=2",
    "above-threshold": "levels=2",
    "dining-cryptographers-pa": "n=2",
    "noisy-max-diseases": "n=2",
}
ENDLESS = {"two-questions", "adaptive-above-threshold"}
"""Of these delta takes whatever time there is."""
MORE = (
    "dining-cryptographers,n=2",
    "dining-cryptographers-pa,n=3",
    "randomised-response,k=3,rounds=2",
    "random,states=8,acyclic=true",
)
EXAMPLES = (
    *(f"{info.name},{SMALLER[info.name]}" if info.name in SMALLER else info.name for info in list_examples()),
    *MORE,
)
"""Every built-in example that is cross-checked, where need be with smaller parameters than by default."""


def planted(**bounds: tuple[str, str]) -> CheckedPair:
    measures = []
    for name, texts in bounds.items():
        low, high = (None if text == "inf" else fmpq(*map(int, text.split("/"))) for text in texts)
        measures.append(Measure(name, low, high, scale=MEASURES[name].scale))
    return CheckedPair(
        source="s",
        target="t",
        facts=EVERYTHING,
        aliases={"sequences": "tv_x"},
        measures=tuple(measures),
        left_out=(),
        alpha=fmpq(11, 10),
    )


BIGGEST = {Scale.RATIO: "inf", Scale.ADDITIVE: "1", Scale.DIVERGENCE: "inf", Scale.KERNEL: "1"}


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: f"{order.smaller}-{order.larger}")
def test_every_order_can_be_violated(order: Order) -> None:
    low, high = (name.replace("sequences", "tv_x") for name in (order.smaller, order.larger))
    biggest = BIGGEST[MEASURES[low].scale]
    least = "1" if MEASURES[high].scale is Scale.RATIO else "0"
    found = planted(**{low: (biggest, biggest), high: (least, least)})
    assert found.violated
    assert any(
        standing.relation is Relation.VIOLATED and standing.reason == order.reason
        for standing in found.standings()
    )
    assert any(low in text and high in text for text in found.errors)


@pytest.mark.parametrize(
    ("bounds", "violated"),
    [
        ({"tv_x": ("3/2", "3/2"), "l_x": ("3/2", "2")}, False),
        ({"tv_x": ("3/2", "3/2"), "l_x": ("1", "7/5")}, True),
        ({"tv_x": ("1", "inf"), "l_x": ("1", "7/5")}, False),
        ({"tv_x": ("inf", "inf"), "m_D": ("1", "100")}, True),
        # delta = (r - alpha)/(r + 1) is possible at ratio r = 2, and no more.
        ({"delta": ("3/10", "3/10"), "tv_x": ("2", "2")}, False),
        ({"delta": ("31/100", "31/100"), "tv_x": ("2", "2")}, True),
        ({"delta_1": ("1/3", "1/3"), "tv_x": ("2", "2")}, False),
        ({"delta_1": ("34/100", "1/2"), "tv_x": ("1", "2")}, True),
        ({"delta": ("3/10", "3/10"), "m_A": ("2", "2")}, False),
        ({"delta": ("31/100", "31/100"), "m_A": ("2", "2")}, True),
        ({"delta_1": ("34/100", "1/2"), "l_x": ("2", "2")}, True),
        ({"fixed": ("1/2", "1/2"), "delta": ("0", "49/100")}, True),
        ({"tv": ("1/2", "1/2"), "tv_x": ("2", "2")}, False),
        ({"tv": ("1/2", "1/2"), "tv_x": ("1", "19/10")}, True),
        ({"delta_1": ("1/2", "1/2"), "delta": ("45/100", "45/100")}, False),
        ({"delta_1": ("1/2", "1/2"), "delta": ("44/100", "44/100")}, True),
        ({"tv_x": ("12/10", "2"), "delta": ("0", "0")}, True),
        ({"tv_x": ("11/10", "2"), "delta": ("0", "0")}, False),
        ({"l_x": ("12/10", "12/10"), "bd_quotient": ("0", "0")}, True),
        ({"not_bisimilar": ("0", "0"), "m_D": ("2", "2")}, False),
        ({"not_bisimilar": ("1", "1"), "m_D": ("1", "1"), "m_A": ("1", "1")}, True),
        ({"traces_differ": ("1", "1"), "not_bisimilar": ("0", "0")}, True),
        ({"delta_1": ("1/2", "1/2"), "kl": ("1/2", "1/2")}, False),
        ({"delta_1": ("1/2", "1/2"), "kl": ("0", "49/100")}, True),
        ({"delta_1": ("1/2", "1/2"), "chi2": ("1", "1")}, False),
        ({"delta_1": ("1/2", "1/2"), "chi2": ("0", "99/100")}, True),
        ({"delta_1": ("3/5", "3/5"), "hellinger": ("1/5", "1/5")}, False),
        ({"delta_1": ("61/100", "1"), "hellinger": ("1/5", "1/5")}, True),
        ({"hellinger": ("1/4", "1/4"), "kl": ("1/2", "1/2")}, False),
        ({"hellinger": ("1/4", "1/4"), "kl": ("0", "49/100")}, True),
        ({"kl": ("1", "1"), "renyi_2": ("1", "3")}, False),
        ({"kl": ("1", "1"), "renyi_2": ("1", "27/10")}, True),
        ({"delta": ("1/4", "1/4"), "renyi_2": ("1", "11/10")}, False),
        ({"delta": ("1/4", "1/4"), "renyi_2": ("1", "109/100")}, True),
        ({"min_entropy": ("3/2", "3/2"), "delta_1": ("1/2", "1/2")}, False),
        ({"min_entropy": ("3/2", "3/2"), "delta_1": ("49/100", "49/100")}, True),
        ({"min_entropy": ("14/10", "14/10"), "delta_1": ("1/2", "1/2")}, True),
        ({"chi2": ("1", "2"), "chi2_profile": ("3", "4")}, True),
        ({"delta": ("1/2", "1/3")}, True),
        ({"tv_x": ("1/2", "1/2")}, True),
    ],
)
def test_bounds_at_the_edge(bounds: dict[str, tuple[str, str]], violated: bool) -> None:
    assert planted(**bounds).violated is violated


def test_directions_count_too() -> None:
    low = Measure("lbd", HALF, HALF, ((HALF, HALF), (fmpq(0), fmpq(0))))
    high = Measure("greatest", HALF, HALF, ((fmpq(0), fmpq(0)), (HALF, HALF)))
    found = planted(lbd=("0", "1"))
    assert not found.violated
    wrong = CheckedPair(
        source="s", target="t", facts=EVERYTHING, aliases={}, measures=(low, high), left_out=(), alpha=ONE
    )
    assert wrong.violated


def test_orders_through_what_is_missing() -> None:
    found = planted(epsilon=("3", "3"), m_D=("2", "2"))
    (text,) = found.errors
    assert "epsilon is above m_D" in text
    chain = (Order("a", "b", "", ""), Order("b", "c", "", ""), Order("c", "d", "", ""))
    assert {(o.smaller, o.larger) for o in through_missing(chain, {"a", "c", "d"})} == {("a", "c")}
    assert {(o.smaller, o.larger) for o in through_missing(chain, {"a", "d"})} == {("a", "d")}


def test_orders_only_name_measures() -> None:
    names = {name for order in ORDERS for name in (order.smaller, order.larger)}
    assert names - {"sequences"} <= set(MEASURES)
    assert {name for source in SOURCES for name in source.names} == set(MEASURES)


def checked(model: AnyModel, alpha: fmpq, names: tuple[str, str], seconds: float = 20) -> CheckedPair:
    (found,) = crosscheck(model, pairs=[names], alpha=alpha, length=3, seconds=seconds).pairs
    values = {measure.name: str(measure) for measure in found.measures}
    assert not found.violated, (found.errors, values, model)
    assert not found.failed, (found.left_out, model)
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_built_in_examples(name: str) -> None:
    model = build_any_example(name)
    if isinstance(model, HMM) and model.parametric:
        with pytest.raises(UsageError, match="parameters"):
            crosscheck(model)
        return
    for found in crosscheck(model, seconds=1.5 if name in ENDLESS else 8, length=3).pairs[:2]:
        assert not found.violated, found.errors
        assert not found.failed, found.left_out
        assert found.standings()


def one_step(automaton: PA) -> PA:
    """Keep the first transition of each state."""
    steps = {step.source: step for step in reversed(automaton.transitions)}
    return PA(automaton.states, tuple(steps.values()), automaton.pairs)


def pair_of(automaton: PA) -> tuple[str, str]:
    s, t = automaton.pairs[0] if automaton.pairs else (0, 1)
    return automaton.states[s], automaton.states[t]


PROBABILISTIC = (similar_automata(3) | automata(4, nondeterministic=False)).map(one_step)
NONDETERMINISTIC = tangled_automata(3) | automata(4)
FEW = settings(max_examples=8, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=125, suppress_health_check=list(HealthCheck), deadline=None)


@FEW
@given(chain=lmcs(4), alpha=alphas())
def test_chains(chain: LMC, alpha: fmpq) -> None:
    checked(chain, alpha, (chain.states[0], chain.states[1]))


@FEW
@given(automaton=PROBABILISTIC, alpha=alphas())
def test_probabilistic_automata(automaton: PA, alpha: fmpq) -> None:
    checked(automaton, alpha, pair_of(automaton))


@FEW
@given(automaton=NONDETERMINISTIC, alpha=alphas())
def test_nondeterministic_automata(automaton: PA, alpha: fmpq) -> None:
    checked(automaton, alpha, pair_of(automaton))


@FEW
@given(model=hmms(2), alpha=alphas())
def test_hidden_markov_models(model: HMM, alpha: fmpq) -> None:
    checked(model, alpha, ("pi", "tau"))


@FEW
@given(model=interactives(4), alpha=alphas())
def test_interactive_models(model: Interactive, alpha: fmpq) -> None:
    found = checked(model, alpha, ("s0", "s1"), 1)
    names = {measure.name for measure in found.measures}
    assert {"fixed", "delta_rounds", "d_plus", "not_bisimilar"} <= names | set(dict(found.left_out))
    assert {"tv_x", "epsilon", "greatest"} <= set(dict(found.left_out))


@FEW
@given(automaton=PROBABILISTIC, alpha=alphas())
def test_bounds_that_a_limit_leaves(automaton: PA, alpha: fmpq) -> None:
    checked(automaton, alpha, pair_of(automaton), 0.1)


@pytest.mark.slow
@MANY
@given(chain=lmcs(5), alpha=alphas())
def test_many_chains(chain: LMC, alpha: fmpq) -> None:
    checked(chain, alpha, (chain.states[0], chain.states[1]))


@pytest.mark.slow
@MANY
@given(automaton=PROBABILISTIC, alpha=alphas())
def test_many_probabilistic_automata(automaton: PA, alpha: fmpq) -> None:
    checked(automaton, alpha, pair_of(automaton))


@pytest.mark.slow
@MANY
@given(automaton=NONDETERMINISTIC, alpha=alphas())
def test_many_nondeterministic_automata(automaton: PA, alpha: fmpq) -> None:
    checked(automaton, alpha, pair_of(automaton))


@pytest.mark.slow
@MANY
@given(model=hmms(3), alpha=alphas())
def test_many_hidden_markov_models(model: HMM, alpha: fmpq) -> None:
    checked(model, alpha, ("pi", "tau"))


@pytest.mark.slow
@MANY
@given(model=interactives(4, max_actions=3), alpha=alphas())
def test_many_interactive_models(model: Interactive, alpha: fmpq) -> None:
    checked(model, alpha, ("s0", "s1"))


def test_facts() -> None:
    half, whole = ((2, HALF),), ((2, ONE),)
    steps = (Transition(0, "a", half), Transition(1, "a", half), Transition(2, "b", ((2, ONE),)))
    assert subject_of(PA(("s", "t", "u"), steps), "s", "t").facts == {Fact.PROBABILISTIC, Fact.ONE_END}
    first, second = Transition(0, "a", whole), Transition(1, "a", whole)
    ending = subject_of(PA(("s", "t", "u"), (first, second)), "s", "t")
    assert ending.facts == {Fact.PROBABILISTIC, Fact.FULL, Fact.ONE_END}
    assert ending.same_sequences is Ends.VISIBLE
    both = subject_of(PA(("s", "t", "u"), (Transition(0, "a", ((2, fmpq(1, 2)),)), second)), "s", "t")
    assert both.facts == {Fact.PROBABILISTIC}
    assert both.same_sequences is None
    assert subject_of(PA(("s", "t", "u"), (first, second, first)), "s", "t").facts == frozenset()
    assert subject_of(PA(("s", "t", "u"), (first, second, first)), "t", "u").facts == ending.facts


def test_what_ends_differently_has_equal_traces_and_another_delta() -> None:
    """Traces show that a run has ended; the chain behind delta shows also in which of the two ways."""
    steps = (Transition(0, "a", ()), Transition(1, "a", ((2, ONE),)))
    automaton = PA(("s", "t", "u"), steps, ((0, 1),))
    found = checked(automaton, ONE, ("s", "t"))
    values = {measure.name: measure for measure in found.measures}
    assert values["delta"].lower == 1
    assert values["not_bisimilar"].lower == 1
    assert values["traces_differ"].upper == 0
    assert values["tv_x_hidden"].upper == values["tv_x"].upper == 1


def values_of(model: AnyModel) -> dict[str, Measure]:
    (found,) = crosscheck(model, length=2, seconds=20).pairs
    assert not found.violated, found.errors
    return {measure.name: measure for measure in found.measures}


def test_what_is_no_order() -> None:
    """The amortised metric may be below the logical distance; missing mass may show more than actions do."""
    pins = values_of(build_any_example("pin-checking"))
    assert (pins["m_A"].upper, pins["l_x"].lower) == (fmpq(9, 4), None)
    steps = (Transition(0, "a", ((2, fmpq(9, 10)),)), Transition(1, "a", ((2, fmpq(99, 100)),)))
    halting = values_of(PA(("s", "t", "u"), (*steps, Transition(2, "b", ((2, ONE),))), ((0, 1),)))
    assert halting["m_D"].upper == halting["tv_x_hidden"].upper == fmpq(11, 10)
    assert halting["tv_x"].lower == 10
    assert halting["epsilon"].lower == 10


def test_a_gap_that_merging_closes() -> None:
    couple = values_of(build_any_example("contagious-disease,together=9/10"))
    exact = ("epsilon", "smt", "tv_x_length", "all_lengths", "tv_x", "l_x", "m_D_quotient")
    assert {couple[name].bounds for name in exact} == {(fmpq(38, 11), fmpq(38, 11))}
    assert couple["m_D"].lower == 4


def test_a_limit_of_one_measure_leaves_the_others() -> None:
    def forever(task: Task) -> Iterator[Measure]:
        while True:
            task.deadline.check()
            yield from ()

    def stopped(_: Task) -> Iterator[Measure]:
        yield Measure("m_A", ONE, fmpq(3, 2), scale=Scale.RATIO)
        raise Interruption("interrupted")

    model = build_any_example("figure1")
    slow = Source(("tv",), lambda _: "", forever)
    answer = crosscheck(model, seconds=3, sources=(slow, *SOURCES[:1]))
    assert dict(answer.pairs[0].left_out)["tv"] == "the time limit was reached"
    assert [measure.name for measure in answer.pairs[0].measures] == ["not_bisimilar"]
    answer = crosscheck(model, sources=(Source(("m_A",), lambda _: "", stopped), *SOURCES[:1]))
    assert answer.interrupted
    assert dict(answer.pairs[0].left_out) == {"not_bisimilar": "interrupted"}
    assert [measure.name for measure in answer.pairs[0].measures] == ["m_A"]


def test_an_engine_that_fails_leaves_the_others() -> None:
    def broken(_: Task) -> Iterator[Measure]:
        yield from ()
        raise OverflowError("math range error")

    model = build_any_example("figure1")
    answer = crosscheck(model, sources=(Source(("tv",), lambda _: "", broken), *SOURCES[:1]))
    assert answer.pairs[0].failed
    assert dict(answer.pairs[0].left_out)["tv"] == "internal error: OverflowError: math range error"
    assert [measure.name for measure in answer.pairs[0].measures] == ["not_bisimilar"]


def test_refusals() -> None:
    model = build_any_example("figure1")
    with pytest.raises(UsageError, match="length"):
        crosscheck(model, length=0)
    with pytest.raises(UsageError):
        crosscheck(model, alpha="1/2")
    with pytest.raises(ModelError, match="no such state"):
        crosscheck(model, pairs=[("s0", "s9")])
    with pytest.raises(UsageError, match="parameters"):
        crosscheck(build_any_example("independent-disease"))


def test_html_of_an_answer_escapes_names() -> None:
    chain = LMC.from_mappings({"<s>": "a", "t": "b"}, {"<s>": {"<s>": 1}, "t": {"t": 1}}, [("<s>", "t")])
    answer = crosscheck(chain, seconds=10)
    page = answer._repr_html_()
    assert "&lt;s&gt;" in page
    assert "<s>" not in page
    assert "{K}" not in page
    assert f"epsilon to {answer.length}" in page
    assert "orders hold" in page
