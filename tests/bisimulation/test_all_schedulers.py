"""The range over all schedulers, against every memoryless scheduler of small automata."""

from __future__ import annotations

from itertools import product

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist import metric
from bisimdist.automata.engine import all_schedulers
from bisimdist.automata.engine.all_schedulers import Schedulers, widest_ratios
from bisimdist.models.pa import PA, Transition

ACTIONS = "ab"


@st.composite
def automata(draw: st.DrawFn) -> PA:
    size = draw(st.integers(1, 4))
    steps = []
    for state in range(size):
        for _ in range(draw(st.integers(0, 2))):
            weights = [draw(st.integers(0, 2)) for _ in range(size)]
            total = sum(weights) + draw(st.integers(0, 1))
            row = tuple((t, fmpq(w, total)) for t, w in enumerate(weights) if w)
            steps.append(Transition(state, draw(st.sampled_from(ACTIONS)), row))
    return PA(tuple(map(str, range(size))), tuple(steps))


def value(automaton: PA, chosen: dict[int, Transition], action: str, state: int) -> fmpq:
    """Return the probability under one scheduler: unknowns that can perform the action, by Cramer's rule."""
    able: set[int] = set()
    while True:
        more = {
            s for s, step in chosen.items() if step.action == action or any(t in able for t, _ in step.row)
        }
        if more == able:
            break
        able = more
    if state not in able:
        return fmpq(0)
    order = sorted(able)
    matrix = fmpq_mat(len(order), len(order))
    right = fmpq_mat(len(order), 1)
    for k, s in enumerate(order):
        matrix[k, k] = fmpq(1)
        if chosen[s].action == action:
            right[k, 0] = fmpq(1)
            continue
        for target, p in chosen[s].row:
            if target in able:
                matrix[k, order.index(target)] -= p
    return matrix.solve(right)[order.index(state), 0]


@pytest.mark.parametrize("small", [0, 40])
@settings(max_examples=40, deadline=None)
@given(automata(), st.sampled_from(ACTIONS))
def test_no_memoryless_scheduler_leaves_the_range(small: int, automaton: PA, action: str) -> None:
    by_state: dict[int, list[Transition]] = {}
    for step in automaton.transitions:
        by_state.setdefault(step.source, []).append(step)
    schedulers = [dict(zip(by_state, chosen, strict=True)) for chosen in product(*by_state.values())]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(all_schedulers, "SMALL", small)
        least, most = (Schedulers(automaton).extreme(action, largest) for largest in (False, True))
    for state in range(len(automaton)):
        found = [value(automaton, chosen, action, state) for chosen in schedulers]
        assert (least.values[state], most.values[state]) == (min(found), max(found))
    for end in (least, most):
        taken = {s: automaton.transitions[n] for s, n in enumerate(end.policy) if n is not None}
        assert all(value(automaton, taken, action, s) == end.values[s] for s in range(len(automaton)))


@settings(max_examples=80, deadline=None)
@given(automata())
def test_the_widest_ratio_of_several_pairs_is_that_of_some_action(automaton: PA) -> None:
    pairs = [(s, t) for s in range(len(automaton)) for t in range(len(automaton))]
    ends = {
        action: [Schedulers(automaton).extreme(action, largest).values for largest in (False, True)]
        for action in ACTIONS
    }
    for (s, t), found in zip(pairs, widest_ratios(automaton, pairs), strict=True):
        if found is None:  # nothing is chosen
            continue
        ways = [(most[one], least[other]) for least, most in ends.values() for one, other in ((s, t), (t, s))]
        endless = any(high > 0 == low for high, low in ways)
        assert found.ratio == (
            None if endless else max([fmpq(1), *(high / low for high, low in ways if high)])
        )


def secret(low: fmpq, high: fmpq) -> PA:
    """Return two states that bisimilar matching relates, whose scheduler picks one of two coins."""
    coins = [Transition(s, "go", ((2, p), (3, 1 - p))) for s in (0, 1) for p in (low, high)]
    ends = [Transition(2, "heads", ((2, fmpq(1)),)), Transition(3, "tails", ((3, fmpq(1)),))]
    return PA(("s", "t", "u", "v"), (*coins, *ends), ((0, 1),))


def test_private_only_if_the_scheduler_does_not_see_the_secret() -> None:
    answer = metric(secret(fmpq(1, 4), fmpq(3, 4)), "accumulative")
    (pair,) = answer.pairs
    assert pair.widest is not None
    assert (pair.ratio, pair.widest.ratio, pair.widest.action) == (1, 3, "heads")
    assert pair.widest.ends == ((fmpq(1, 4), fmpq(3, 4)),) * 2
    assert (pair.widest.most, pair.widest.least) == (((0, 1),), ((1, 2),))
    said = answer.report().remarks
    assert any("other schedulers reach a ratio of at least 3" in line for line in said)
    data = answer.data()["pairs"]
    assert isinstance(data, list)
    best, worst = data[0]["all_schedulers"]["schedulers"]
    assert best == [["s", "go", [["u", "3/4"], ["v", "1/4"]]]]
    assert worst == [["t", "go", [["u", "1/4"], ["v", "3/4"]]]]


def test_an_automaton_without_choices_has_no_schedulers() -> None:
    automaton = PA(("s", "t"), (Transition(0, "a", ()), Transition(1, "a", ())), ((0, 1),))
    (pair,) = metric(automaton, "amortised").pairs
    assert pair.widest is None


@pytest.mark.parametrize("stays", [fmpq(1), fmpq(1, 2)])
def test_a_scheduler_that_waits_for_ever_is_infinitely_worse(stays: fmpq) -> None:
    wait = Transition(0, "wait", ((0, stays),))
    leave = Transition(0, "go", ())
    (found,) = widest_ratios(PA(("s", "t"), (wait, leave, Transition(1, "go", ()))), [(0, 1)])
    assert found is not None
    assert (found.action, found.ratio, found.ends[0]) == ("go", None, (0, 1))


def exponentiation(bits: int) -> PA:
    """Square and multiply beside a thread that counts, for two secrets: a scheduler picks the bits.

    Each operation is over before the other thread counts with probability 1/2; a bit that is set takes two.
    """
    names = [f"{secret}{left}{'*' * more}" for secret in "st" for left in range(bits + 1) for more in (0, 1)]
    place = {name: n for n, name in enumerate([*names, "counted"])}
    half, steps = fmpq(1, 2), [Transition(place["counted"], "counter", ((place["counted"], fmpq(1)),))]
    for secret in "st":
        for left in range(bits + 1):
            nexts = [f"{secret}{left - 1}", f"{secret}{left - 1}*"] if left else []
            steps += [
                Transition(place[name], "tick", ((place[after], half), (place["counted"], half)))
                for name, after in [(f"{secret}{left}*", f"{secret}{left}")]
                + [(f"{secret}{left}", after) for after in nexts]
            ]
        done = Transition(
            place[f"{secret}0"], "no count", ((place[f"{secret}0"], half), (place["counted"], half))
        )
        steps.append(done)
    return PA(tuple(place), tuple(steps), ((place[f"s{bits}"], place[f"t{bits}"]),))


@pytest.mark.parametrize("bits", [4, 8])
def test_exponentiation_leaks_a_factor_of_two_a_bit(bits: int) -> None:
    """The timing attack of Abraham, Bartocci, Bonakdarpour and Dobe (ATVA 2020), as a model of our own."""
    (pair,) = metric(exponentiation(bits), "accumulative").pairs
    assert pair.ratio == 1
    assert pair.widest is not None
    assert (pair.widest.action, pair.widest.ratio) == ("no count", 2**bits)
    assert pair.widest.ends == ((fmpq(1, 2 ** (2 * bits)), fmpq(1, 2**bits)),) * 2
