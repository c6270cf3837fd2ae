"""Outputs that only one of two inputs can produce: delta from below, at every alpha, with confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.exact.decimals import decimal_below
from bisimdist.exact.rational import format_rational
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.program_source import is_program
from bisimdist.faces.asked.question import Group, Question
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.programs.inputs import Input
    from bisimdist.programs.replay.attainable import Counted
    from bisimdist.progress import Limits

MOST_ALPHA = 2**40
"""The bounds hold at every alpha up to this one, where runs were left out, and otherwise at every alpha."""


@dataclass(frozen=True, slots=True)
class AttainedPair:
    """A lower bound on delta of two inputs."""

    source: str  # source and target: the inputs
    target: str
    lower: fmpq  # the bound
    counts: tuple[Counted, Counted]  # what was counted of the outputs of each


@dataclass(frozen=True, slots=True)
class Attained(Shown):
    """Lower bounds on delta that hold with a confidence."""

    function: str  # the program
    pairs: tuple[AttainedPair, ...]  # bounds of pairs of inputs
    confidence: fmpq  # with what probability all of them hold

    def data(self) -> dict[str, object]:
        return {
            "function": self.function,
            "confidence": format_rational(self.confidence),
            "status": "supported",
            "pairs": [
                {
                    **said(pair, "source target lower"),
                    "samples": {
                        name: {"outputs": count.samples, "inside": count.outside}
                        for name, count in zip(("from", "to"), pair.counts, strict=True)
                    },
                }
                for pair in self.pairs
            ],
        }

    def report(self) -> Report:
        return Report(
            heading=f"delta of {self.function} from below, at every alpha",
            columns=("from", "to", "delta at least"),
            rows=tuple((pair.source, pair.target, decimal_below(pair.lower, 6)[0]) for pair in self.pairs),
            remarks=(
                *(
                    f"{pair.target} cannot produce {pair.counts[0].outside} of {pair.counts[0].samples} "
                    f"outputs of {pair.source}; {pair.source} cannot produce {pair.counts[1].outside} of "
                    f"{pair.counts[1].samples} outputs of {pair.target}."
                    for pair in self.pairs
                ),
                f"This holds with confidence {format_rational(self.confidence)}; it is no proof.",
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttainedQuestion(Question[Attained]):
    """Bound delta from below by outputs that one input cannot produce."""

    command = "audit"
    group = Group.DELTA

    named: str
    inputs: tuple[Input, ...]
    pairs: tuple[tuple[str, str], ...]
    samples: int
    confidence: fmpq
    allowed: frozenset[str]

    @classmethod
    def read(cls, given: Given) -> AttainedQuestion:
        from bisimdist.programs.inputs import literal_inputs, pairs_of  # noqa: PLC0415

        if given.before or not is_program(given.argument):
            raise UsageError("--attainable: expected one FILE.py:FUNCTION, and nothing else to sample")
        chosen: Any = given.values.get(options.INPUT.name) or ()
        inputs = literal_inputs(chosen)
        pairs = pairs_of([item.name for item in inputs], given[options.PAIR] or None)
        if not pairs:
            raise UsageError("--attainable: expected two inputs, such as --input 0 --input 1")
        return cls(
            named=given.argument,
            inputs=inputs,
            pairs=pairs,
            samples=given[options.SAMPLES],
            confidence=given[options.CONFIDENCE],
            allowed=frozenset(given[options.ALLOW]),
        )

    def frame(self) -> dict[str, object]:
        return {"command": self.command}

    def ask(self, limits: Limits) -> Attained:
        from flint import fmpq  # noqa: PLC0415

        from bisimdist.exact.binomial import binomial_interval  # noqa: PLC0415
        from bisimdist.programs.replay.attainable import unattainable  # noqa: PLC0415
        from bisimdist.programs.request import Request  # noqa: PLC0415

        request = Request(deadline=limits.deadline, progress=limits.progress, allowed=self.allowed)
        makers = {item.name: item for item in self.inputs}
        risk = (1 - self.confidence) / len(self.pairs)
        found = []
        for source, target in self.pairs:
            counts = unattainable(self.named, (makers[source], makers[target]), self.samples, request)
            bounds = [
                binomial_interval(count.outside, count.samples, risk)[0] - MOST_ALPHA * count.missing
                for count in counts
            ]
            found.append(AttainedPair(source, target, max(fmpq(0), *bounds), counts))
        return Attained(self.named, tuple(found), self.confidence)
