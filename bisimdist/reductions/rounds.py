"""At most so many actions are asked: the unrolled model (docs/theory/interactive.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bisimdist.errors import UsageError
from bisimdist.models.interactive import Interactive, System
from bisimdist.models.unrolling import Unrolled, unrolled
from bisimdist.reductions.quotient import merged_by
from bisimdist.reductions.step import Kind, Problem, Step, Ways


@dataclass(frozen=True, slots=True)
class Rounds(Step):
    """A model in which states and labels say how many actions are left."""

    name: ClassVar[str] = "rounds"
    quantities: ClassVar[frozenset[str]] = frozenset({"delta", "delta of fixed sequences"})
    before: Interactive  # the model
    found: Unrolled  # what it became
    rounds: int  # how many actions may be asked

    @property
    def model(self) -> Interactive:
        return self.found.model

    def place(self, states: tuple[str, ...]) -> tuple[str, ...]:
        starts = self.found.starts
        return tuple(self.model.states[starts[self.before.index(name)]] for name in states)

    def asked(self, asked: Problem[Any]) -> Problem[Any]:
        return replace(asked.moved(self), rounds=None)

    def data(self) -> dict[str, object]:
        return {"rounds": self.rounds}

    def leading(self, then: Sequence[Mapping[str, Any]]) -> list[dict[str, object]]:
        # the model of the question has only what its pairs reach
        whole: System = unrolled(self.before, self.rounds).model
        steps = [{**self.written(), "after": whole.digest()}]
        for step in then:
            steps.append({**step, "before": whole.digest()})
            if step["name"] == "quotient":
                whole = merged_by(whole, step["classes"])
                steps[-1]["after"] = whole.digest()
        return steps

    def terms(self) -> dict[str, object]:
        return {"rounds": self.rounds}

    def shown(self, witness: Any) -> Any:
        return replace(witness, event=witness.event.renamed(self.found.labels))


class _RoundsReduction:
    """Writes down how many actions are left."""

    name, option = "rounds", "rounds"
    unfit = "this model has no analyst; expected an interactive one (kind interactive)"
    makes: ClassVar[Mapping[Kind, Kind]] = {Kind.INTERACTIVE: Kind.INTERACTIVE}

    def accepts(self, model: Any, asked: Problem[Any]) -> bool:
        if asked.rounds is not None and not isinstance(model, Interactive):
            raise UsageError(
                "rounds and sequences of actions need an interactive model; this one has no analyst"
            )
        return asked.rounds is not None

    def apply(self, model: Interactive, asked: Problem[Any]) -> Ways:
        rounds = asked.rounds or 0
        starts = (model.index(name) for states in asked.pairs for name in states)
        steps = (Rounds(model, unrolled(model, rounds, starts), rounds),)
        return Ways(steps, steps)


ROUNDS = _RoundsReduction()
