"""Bisimilar states stand for each other: one state for each class (docs/theory/quotient.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bisimdist.errors import ENDINGS
from bisimdist.models.bisimilarity import of_classes, quotient
from bisimdist.models.interactive import Interactive, System
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import Worlds
from bisimdist.reductions.step import Kind, Problem, Step, Ways


@dataclass(frozen=True, slots=True)
class Quotient(Step):
    """A model in which one state stands for all that are bisimilar to it."""

    name: ClassVar[str] = "quotient"
    before: System
    model: System
    moves: Sequence[int]  # by state of the model its state in the quotient

    @property
    def trivial(self) -> bool:
        return self.model is self.before

    def place(self, states: tuple[str, ...]) -> tuple[str, ...]:
        if self.trivial:
            return states
        return tuple(self.model.states[self.moves[self.before.index(name)]] for name in states)

    def asked(self, asked: Problem[Any]) -> Problem[Any]:
        return replace(asked.moved(self), merged=True)

    def data(self) -> dict[str, object]:
        stands = zip(self.before.states, (self.model.states[block] for block in self.moves), strict=True)
        return {"classes": {name: other for name, other in stands if name != other}}


def merged_by(model: System, stands: Mapping[str, str]) -> System:
    """Return a model in which states stand for others, by names."""
    members = [state for state, name in enumerate(model.states) if name not in stands]
    block = {model.states[state]: number for number, state in enumerate(members)}
    return of_classes(model, [block[stands.get(name, name)] for name in model.states], members)


class _QuotientReduction:
    """Merges bisimilar states, where that changes nothing of what is asked."""

    name, option, unfit = "quotient", "", ""
    makes: ClassVar[Mapping[Kind, Kind]] = {Kind.CHAIN: Kind.CHAIN, Kind.INTERACTIVE: Kind.INTERACTIVE}

    def accepts(self, model: Any, asked: Problem[Any]) -> bool:
        merges = asked.merges and not asked.merged
        return merges and isinstance(model, LMC | Interactive) and not isinstance(model, Worlds)

    def apply(self, model: System, asked: Problem[Any]) -> Ways:
        step = Quotient(model, model, range(len(model)))
        with suppress(*ENDINGS):  # then the engine has no time either, and says what it knows
            merged, moves = quotient(model, cut=True, deadline=asked.deadline)
            found = Quotient(model, merged, moves)
            if len(merged) < len(model) and asked.fits(found):
                step = found
        steps = (step,)
        return Ways(steps, steps)


QUOTIENT = _QuotientReduction()
