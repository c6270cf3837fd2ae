"""What counts in the probability of a trace: the field ``ends`` of certificates about traces.

The rules are those of ``docs/certificates/trace-metric.md`` under the heading Ends.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from fractions import Fraction

from bisimdist.checker.core.automaton import About, Automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import LOOK, spend
from bisimdist.checker.core.shape import key, one_of

COUNTED = {
    "visible": "visible",
    "hidden": "hidden",
    None: "hidden, and a trace counts only where it is survived",
}  # by the field what a reader of the claim is told; None is a certificate without it


class WithEnds(About):
    """A certificate about traces of an automaton, with the field or without it."""

    ends: str | None = key(one_of("visible", "hidden"), default=None)

    def said(self, claim: Mapping[str, object]) -> dict[str, object]:
        """Return a claim as plain data that says how the ends of runs count."""
        return {**claim, "ends": COUNTED[self.ends]}


def completed(automaton: Automaton, ends: str | None) -> Automaton:
    """Return the automaton whose traces are meant.

    Without the field it is the automaton itself: what is missing after the last action does not count.
    Otherwise missing mass goes to a new state, and where ends are visible every state without transitions
    goes on by a new action to another new state.
    """
    if ends is None:
        return automaton
    states = list(all_of(automaton.states))
    end = _free("(end)", set(all_of(states)))
    transitions = []
    for source, action, row in counted(automaton.transitions):
        missing = 1 - sum(all_of(row.values()), Fraction(0))
        transitions.append((source, action, {**row, end: missing} if missing else row))
    if any(end in row for _, _, row in counted(transitions)):
        states.append(end)
    if ends == "visible":
        acting = {source for source, _, _ in counted(transitions)}
        stops = [state for state in counted(states) if state not in acting]
        if stops:
            symbol = _free("(end)", {action for _, action, _ in counted(automaton.transitions)})
            ended = _free("(ended)", set(all_of(states)))
            states.append(ended)
            transitions += [(state, symbol, {ended: Fraction(1)}) for state in counted(stops)]
    return Automaton(states, transitions)


def _free(name: str, taken: Container[str]) -> str:
    while name in taken:
        spend(LOOK)
        name += "'"
    return name
