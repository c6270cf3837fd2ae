"""How the runs of an automaton end, and whether an observer sees it: what the probability of a trace is.

A run ends in a state without transitions, and where the probabilities of a transition sum to less than one:
the missing mass performs the action and then ends. The probability of a trace is that of performing it. Where
ends are visible, an observer also sees that a run has ended; this is one more action, after which nothing
follows.

All of this is settled once, by completing the automaton: in a completed one every row sums to one, and
whatever follows traces needs to know of one kind of automaton only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA, Transition, free_name
from bisimdist.models.transform import reached_states

END = "(end)"
"""The action that shows that a run has ended, and the state that gets missing mass; primed where taken."""
ENDED = "(ended)"  # the state after that action; primed where taken
ONE = fmpq(1)


class Ends(Enum):
    """Whether an observer of a trace sees that a run has ended."""

    VISIBLE = "visible"
    HIDDEN = "hidden"


ENDS = tuple(ends.value for ends in Ends)


@dataclass(frozen=True, slots=True)
class Completed:
    """An automaton whose rows all sum to one and, where ends are visible, whose runs show their ends."""

    original: PA  # the automaton as it was; its states come first in the completed one, in the same order
    automaton: PA
    ends: Ends  # whether the observer sees ends
    # whether the completed automaton shows them: not where the rest of the answer settles them anyway
    shown: Ends
    missing: bool  # whether the states that are asked about reach a row that sums to less than one

    @classmethod
    def of(cls, automaton: PA, ends: Ends | str, starts: Iterable[int]) -> Completed:
        """Complete an automaton.

        ``ends``: ``"visible"`` or ``"hidden"``.

        >>> steps = (Transition(0, "a", ((1, fmpq(1, 2)),)),)
        >>> found = Completed.of(PA(("s", "t"), steps), "visible", [0])
        >>> for step in found.automaton.transitions:
        ...     print(step.source, step.action, step.row)
        0 a ((1, 1/2), (2, 1/2))
        1 (end) ((3, 1),)
        2 (end) ((3, 1),)
        >>> found.automaton.states, found.missing, found.symbol
        (('s', 't', '(end)', '(ended)'), True, '(end)')
        """
        if isinstance(ends, str) and ends not in ENDS:
            raise UsageError(f"ends are {ends!r}; expected {' or '.join(ENDS)}")
        seen = Ends(ends)
        lacking = {step.source for step in automaton.transitions if _lack(step.row) != 0}
        missing = bool(lacking) and not lacking.isdisjoint(reached_states(automaton, starts))
        return cls(automaton, completed(automaton, seen), seen, seen, missing)

    def without_symbol(self) -> Completed:
        """Return the same for a question whose answer does not depend on whether ends are seen.

        The probability that a run ends after a trace is that of the trace less those of its continuations,
        so traces without ends determine those with ends.
        """
        return replace(self, automaton=completed(self.original, Ends.HIDDEN), shown=Ends.HIDDEN)

    @property
    def symbol(self) -> str | None:
        """The action that shows that a run has ended; None where no trace has it."""
        return _symbol(self.original) if self.shown is Ends.VISIBLE else None

    @property
    def remark(self) -> str:
        """What a reader has to know where mass is missing; "" where none is."""
        if not self.missing:
            return ""
        if self.shown is Ends.VISIBLE:
            return f"Mass is missing: runs end there, and an observer sees that, as the action {self.symbol}."
        if self.ends is Ends.VISIBLE:
            return "Mass is missing: runs end there; whether an observer sees that changes nothing here."
        return "Mass is missing: runs end there, and an observer does not see that."


def completed(automaton: PA, ends: Ends) -> PA:
    """Return the automaton with all rows summing to one; the same object where nothing is to be added.

    Missing mass goes to a new state ``(end)``. Where ends are visible, every state without transitions, the
    new one too, goes on by the action ``(end)`` to a new state ``(ended)``, which has no transition.

    >>> one = PA(("s",), (Transition(0, "a", ()),))
    >>> completed(one, Ends.HIDDEN).transitions
    (Transition(source=0, action='a', row=((1, 1),)),)
    """
    states = list(automaton.states)
    halt = len(states)
    steps: list[Transition] = []
    lacking = False
    for step in automaton.transitions:
        lack = _lack(step.row)
        lacking = lacking or lack != 0
        steps.append(step if lack == 0 else Transition(step.source, step.action, (*step.row, (halt, lack))))
    if lacking:
        states.append(free_name(END, frozenset(states)))
    if ends is Ends.VISIBLE:
        acting = {step.source for step in steps}
        stops = [state for state in range(len(states)) if state not in acting]
        if stops:
            last: Row = ((len(states), ONE),)
            states.append(free_name(ENDED, frozenset(states)))
            steps += (Transition(state, _symbol(automaton), last) for state in stops)
    return automaton if len(states) == len(automaton) else PA(tuple(states), tuple(steps), automaton.pairs)


def _symbol(automaton: PA) -> str:
    return free_name(END, {step.action for step in automaton.transitions})


def _lack(row: Row) -> fmpq:
    return ONE - sum((p for _, p in row), fmpq(0))
