"""The trace metrics by enumeration of all traces up to a length, and automata that tests share."""

from __future__ import annotations

from flint import fmpq
from hypothesis import strategies as st

from bisimdist.models.hmm import HMM
from bisimdist.models.pa import PA, Transition
from tests.words.fully_probabilistic import END

__all__ = [
    "as_hidden_markov",
    "enumerated",
    "follow",
    "fully_probabilistic",
    "long_probability",
    "traces",
]

Masses = dict[int, fmpq]
Word = tuple[str, ...]


HALTED, OVER = -1, -2
"""Where mass is that ended in the midst of a run, and mass whose end was seen."""


def follow(automaton: PA, masses: Masses, action: str) -> Masses:
    """Return the masses after an action, or after the end of the run was seen."""
    if action == END:
        acting = {step.source for step in automaton.transitions} | {OVER}
        ended = sum((mass for state, mass in masses.items() if state not in acting), fmpq(0))
        return {OVER: ended} if ended else {}
    result: Masses = {}
    for step in automaton.transitions:
        if step.action == action and step.source in masses:
            lost = fmpq(1) - sum((p for _, p in step.row), fmpq(0))
            for target, p in (*step.row, *([(HALTED, lost)] if lost else [])):
                result[target] = result.get(target, fmpq(0)) + masses[step.source] * p
    return result


def long_probability(automaton: PA, state: int, word: Word) -> fmpq:
    """Return the probability of performing a trace, in time linear in its length."""
    masses = {state: fmpq(1)}
    for action in word:
        masses = follow(automaton, masses, action)
    return sum(masses.values(), fmpq(0))


def traces(automaton: PA, s: int, t: int, length: int, *, ends: bool = True) -> dict[Word, tuple[fmpq, fmpq]]:
    """Return all traces up to a length that are possible from one of the states, with both probabilities."""
    actions = sorted({step.action for step in automaton.transitions} | ({END} if ends else set()))
    layer: dict[Word, tuple[Masses, Masses]] = {(): ({s: fmpq(1)}, {t: fmpq(1)})}
    result: dict[Word, tuple[fmpq, fmpq]] = {(): (fmpq(1), fmpq(1))}
    for _ in range(length):
        after: dict[Word, tuple[Masses, Masses]] = {}
        for word, (one, other) in layer.items():
            for action in actions:
                first, second = follow(automaton, one, action), follow(automaton, other, action)
                if first or second:
                    after[*word, action] = first, second
                    result[*word, action] = (
                        sum(first.values(), fmpq(0)),
                        sum(second.values(), fmpq(0)),
                    )
        layer = after
    return result


def enumerated(automaton: PA, s: int, t: int, length: int, *, ends: bool = True) -> tuple[fmpq | None, fmpq]:
    """Return the largest ratio (None: infinite) and the largest difference over traces up to a length."""
    found = traces(automaton, s, t, length, ends=ends).values()
    difference = max(abs(p - q) for p, q in found)
    if any(p == 0 or q == 0 for p, q in found):
        return None, difference
    return max(max(p / q, q / p) for p, q in found), difference


def as_hidden_markov(automaton: PA) -> HMM:
    """Return an automaton, whose states all act and lose no mass, as a model that observes the actions."""
    actions = sorted({step.action for step in automaton.transitions})
    by_source = {step.source: step for step in automaton.transitions}
    states = range(len(automaton))
    return HMM(
        automaton.states,
        tuple(actions),
        tuple(((actions.index(by_source[s].action), fmpq(1)),) for s in states),
        tuple(tuple(sorted(by_source[s].row)) for s in states),
        tuple((f"at {name}", ((s, fmpq(1)),)) for s, name in enumerate(automaton.states)),
        (("at " + automaton.states[0], "at " + automaton.states[1]),),
    )


@st.composite
def fully_probabilistic(
    draw: st.DrawFn,
    max_states: int = 5,
    *,
    cyclic: bool = True,
    actions: str = "ab",
    losing: bool = True,
) -> PA:
    """Draw an automaton with at most one transition a state; the first two states are its pair.

    With ``losing=False`` every state acts and no mass is lost, which needs cycles.
    """
    size = draw(st.integers(2, max_states))
    steps = []
    for source in range(size):
        targets = range(size) if cyclic else range(source + 1, size)
        if not targets or (losing and draw(st.integers(0, 7)) == 0):
            continue
        chosen = sorted(draw(st.lists(st.sampled_from(targets), min_size=1, max_size=3, unique=True)))
        shares = draw(st.lists(st.integers(1, 3), min_size=len(chosen), max_size=len(chosen)))
        whole = sum(shares) + (draw(st.sampled_from((0, 0, 0, 1))) if losing else 0)
        row = tuple((t, fmpq(share, whole)) for t, share in zip(chosen, shares, strict=True))
        steps.append(Transition(source, draw(st.sampled_from(actions)), row))
    return PA(tuple(f"s{n}" for n in range(size)), tuple(steps), ((0, 1),))
