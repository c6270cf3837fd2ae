"""What an observer sees of compiled code, as a Markov chain: what happened between one draw and the next."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from bisimdist.programs.machine import Announced, Ended
from bisimdist.programs.observed import Observed
from bisimdist.programs.states import Drawing

_LONGEST = 120  # longer descriptions of what is seen are shortened, and numbered


class CompiledView(Observed):
    """States of the chain: before every draw, and the end, stands what was seen on the way there."""

    def node(self, number: int, node: Drawing | Announced) -> None:
        del node
        row: dict[int, fmpq] = {}
        for edge in self.exploration.edges[number] or ():
            target = self.after(edge.target, edge.steps)
            row[target] = row.get(target, fmpq(0)) + edge.probability
        if "draws" in self.kinds:
            offset = self.exploration.place(number)[1]
            self.names[number] = f"{f'offset {offset:#x}' if offset else 'draw'} #{number}", "draw"
        else:
            self.hidden.add(number)
        self.rows[number] = row

    def after(self, target: int, steps: int) -> int:
        """Return the state that shows what was seen, and then is the target."""
        machine: Any = self.exploration.machine
        shown = target
        if isinstance(self.exploration.nodes[target], Ended):
            shown = self._ends[self.names[target][1]]
        elif self.exploration.edges[target] is None:
            shown = self._ends.setdefault(_CUT_END, target)
        if not machine.seen:
            return shown
        if (shown, steps) not in self._waits:
            text = machine.seen[steps]
            label = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... (number {steps})"
            self._waits[shown, steps] = state = self.new(label, label)
            self.rows[state] = {shown: fmpq(1)}
        return self._waits[shown, steps]


_CUT_END = "\0cut"
