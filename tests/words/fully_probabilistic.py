"""Random fully probabilistic automata, and what is obvious about their traces."""

from __future__ import annotations

from itertools import product

from flint import fmpq
from hypothesis import strategies as st

from bisimdist.models.pa import PA, Transition

__all__ = [
    "END",
    "all_traces",
    "deferred_choice",
    "loses_mass",
    "probability",
    "random_automata",
    "randomised_responses",
]

END = "(end)"
HALF = fmpq(1, 2)
ONE = fmpq(1)


@st.composite
def random_automata(draw: st.DrawFn, max_states: int = 6, actions: str = "ab") -> PA:
    """Draw an automaton with few actions and simple probabilities; rows may sum to less than one."""
    size = draw(st.integers(2, max_states))
    steps = []
    for source in range(size):
        kind = draw(st.integers(0, 5))
        if kind == 0:
            continue
        targets = sorted(draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3, unique=True)))
        weights = [draw(st.integers(1, 2)) for _ in targets]
        total = sum(weights) + (draw(st.integers(0, 2)) if kind == 1 else 0)
        row = tuple((t, fmpq(w, total)) for t, w in zip(targets, weights, strict=True))
        steps.append(Transition(source, draw(st.sampled_from(actions)), row if kind != 2 else row[:1]))
    return PA(tuple(f"s{n}" for n in range(size)), tuple(steps))


def probability(automaton: PA, state: int, word: tuple[str, ...]) -> fmpq:
    """Return the probability to perform a word; with END behind it, to perform it and end then."""
    if not word:
        return ONE
    steps = [step for step in automaton.transitions if step.source == state]
    if not steps:
        return ONE if word == (END,) else fmpq(0)
    (step,) = steps
    if step.action != word[0]:
        return fmpq(0)
    if len(word) == 1:
        return ONE
    goes_on = sum((p * probability(automaton, target, word[1:]) for target, p in step.row), fmpq(0))
    halts = ONE - sum((p for _, p in step.row), fmpq(0))
    return goes_on + halts if word[1:] == (END,) else goes_on


def loses_mass(automaton: PA, *starts: int) -> bool:
    """Tell whether some state that is reached from these has a row that sums to less than one."""
    found = set(starts)
    for _ in range(len(automaton)):
        found |= {t for step in automaton.transitions if step.source in found for t, _ in step.row}
    return any(
        sum((p for _, p in step.row), fmpq(0)) != 1 for step in automaton.transitions if step.source in found
    )


def all_traces(automaton: PA, length: int, *, ends: bool = False) -> list[tuple[str, ...]]:
    """Return all sequences of actions, and END, up to a length, by length and then alphabetically."""
    actions = sorted({step.action for step in automaton.transitions} | ({END} if ends else set()))
    return [word for k in range(length + 1) for word in product(actions, repeat=k)]


def deferred_choice() -> PA:
    """Return s and t that are trace equivalent, but not bisimilar: s chooses one step before t."""
    steps = (
        Transition(0, "a", ((2, HALF), (3, HALF))),
        Transition(1, "a", ((4, ONE),)),
        Transition(2, "b", ((5, ONE),)),
        Transition(3, "b", ((6, ONE),)),
        Transition(4, "b", ((5, HALF), (6, HALF))),
        Transition(5, "c", ((5, ONE),)),
        Transition(6, "d", ((6, ONE),)),
    )
    return PA(tuple("stuvwxy"), steps, ((0, 1),))


def randomised_responses() -> PA:
    """Return Fig. 1: a coin decides between the truth and the answer of a second coin."""
    names = ("sy", "sn", "hy", "hn", "tails", "yes", "no", "stop")
    steps = (
        Transition(0, "tau", ((2, HALF), (4, HALF))),
        Transition(1, "tau", ((3, HALF), (4, HALF))),
        Transition(2, "tau", ((5, ONE),)),
        Transition(3, "tau", ((6, ONE),)),
        Transition(4, "tau", ((5, HALF), (6, HALF))),
        Transition(5, "yes", ((7, ONE),)),
        Transition(6, "no", ((7, ONE),)),
    )
    return PA(names, steps, ((0, 1),))
