"""What a program returns as far as it is known, where nothing bounds what runs that are cut off show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.programs.chain import ProgramChain
from bisimdist.reductions.cut import Cut
from bisimdist.reductions.step import Kind, Problem, Ways


@dataclass(frozen=True, slots=True)
class Outputs:
    """By start the known probabilities of outputs, and how much is missing."""

    known: Mapping[str, Mapping[str, fmpq]]  # by start and output a probability
    missing: Mapping[str, fmpq]  # by start what is missing to 1


@dataclass(frozen=True, slots=True)
class Returns(Cut):
    """A program as the outputs that are known of it: bounds on these allow for what is missing already."""

    quantities: ClassVar[frozenset[str]] = frozenset()
    model: Any

    def back(self, claim: Any) -> Any:
        return claim


class _OutputsReduction:
    """Takes programs for their outputs, where a measure has no largest value and runs are cut off."""

    name, option, unfit = "outputs", "", ""
    makes: ClassVar[Mapping[Kind, Kind]] = {Kind.PROGRAM: Kind.OUTPUTS}

    def accepts(self, model: Any, asked: Problem[Any]) -> bool:
        measure = getattr(asked, "measure", None)
        return (
            isinstance(model, ProgramChain) and bool(model.cut) and measure is not None and measure.unbounded
        )

    def apply(self, model: ProgramChain, asked: Any) -> Ways:
        if model.origin.observe != "output":
            raise UsageError(
                f"{asked.measure.shown}: runs of this program are cut off; of those only outputs can be "
                "observed, or ask for tv, hellinger, bayes, min-entropy or g"
            )
        known, missing = {}, {}
        for name in dict.fromkeys(name for states in asked.pairs for name in states):
            state = model.index(name)
            found: dict[str, fmpq] = {}
            for target, p in model.rows[state]:
                if model.cut.get(target) != 1:
                    found[model.labels[target]] = found.get(model.labels[target], fmpq(0)) + p
            known[name], missing[name] = found, model.cut.get(state, fmpq(0))
        steps = (Returns(model, Outputs(known, missing)),)
        return Ways(steps, steps)


OUTPUTS = _OutputsReduction()
