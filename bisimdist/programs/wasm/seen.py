"""What an observer sees of compiled code, as a Markov chain: what happened between one draw and the next."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from bisimdist.programs.observed import Observed

_LONGEST = 120  # longer descriptions of what is seen are shortened, and numbered


class CompiledView(Observed):
    """States of the chain: before every draw, and the end, stands what was seen on the way there."""

    def place(self, number: int) -> str:
        offset = self.exploration.place(number)[1]
        return f"offset {offset:#x}" if offset else "draw"

    def after(self, target: int, steps: int) -> int:
        """Return the state that shows what was seen, and then is the target."""
        machine: Any = self.exploration.machine
        shown = self.shown(target)
        if not machine.seen:
            return shown
        if (shown, steps) not in self._waits:
            text = machine.seen[steps]
            label = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... (number {steps})"
            self._waits[shown, steps] = state = self.new(label, label)
            self.rows[state] = {shown: fmpq(1)}
        return self._waits[shown, steps]
