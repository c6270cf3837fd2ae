"""Samples of the real thing held against the proof of a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.questions import options
from bisimdist.questions.delta import Delta
from bisimdist.questions.given import Given
from bisimdist.questions.options import CLAIM, CONFIDENCE, SAMPLES
from bisimdist.questions.program_source import is_program
from bisimdist.questions.question import Group, Plain, Question, Settled, nothing_known
from bisimdist.questions.skew import Skew

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.analysis.audit import Audit
    from bisimdist.models.lmc import LMC
    from bisimdist.progress import Deadline, Limits
    from bisimdist.report.tables import Report

__all__ = ["AuditQuestion"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuestion(Question["Audit"]):
    """Hold samples of the real thing against what is claimed of its privacy, and against the model.

    Before MODEL stand two files of samples, a line an output, for the two states of the pair, or what is to
    be sampled: FILE.py:FUNCTION, called with the name of the state as input and a random source, or a command
    that prints an output a line, run with the name of the state as last word. Counted is the event that tells
    the states of MODEL apart best, fixed before sampling. The answer holds with the confidence, and is no
    proof.
    """

    command = "audit"
    group = Group.DELTA
    example = "survey.py:response model.yaml --alpha 2 --pair s0 s1"
    argument = "SAMPLES... MODEL"
    options = (
        options.ALPHA,
        options.EPSILON,
        options.PAIR.but(help="The states that are sampled."),
        CLAIM,
        CONFIDENCE,
        SAMPLES,
        options.GAP,
        options.TIMEOUT,
        options.MEMORY,
        options.CERTIFICATE.but(help="Write the proof of the model's delta, which names the event."),
        options.JSON,
    )

    model: LMC
    pair: tuple[str, str]
    skew: Skew
    sampled: tuple[str, ...]
    claim: fmpq | None
    confidence: fmpq
    samples: int
    gap: fmpq | None

    @classmethod
    def read(cls, given: Given) -> AuditQuestion:
        from bisimdist.models.lmc import LMC

        sampled = given.before
        if len(sampled) not in {1, 2}:
            raise UsageError(
                f"{len(sampled) + 1} arguments; expected two files of samples and a model, or something to "
                "sample and a model"
            )
        claim, confidence, samples = given[CLAIM], given[CONFIDENCE], given[SAMPLES]
        asked = Delta.of(given)
        if not isinstance(asked.model, LMC):
            raise UsageError("nobody asks while samples are taken; expected a model without actions")
        if len(asked.pairs) != 1:
            raise UsageError(
                f"the model has {len(asked.pairs)} pairs; name the one that is sampled: --pair S T"
            )
        return cls(
            model=asked.model,
            pair=asked.pairs[0],
            skew=asked.skew,
            sampled=sampled,
            claim=claim,
            confidence=confidence,
            samples=samples,
            gap=asked.gap,
        )

    def outputs(self, side: int, deadline: Deadline) -> Iterable[str]:
        """Return the outputs for one of the two states; nothing is read or run before they are asked for."""
        from bisimdist.analysis import black_box

        if len(self.sampled) == 2:
            return black_box.outputs_of_file(self.sampled[side])
        named = self.sampled[0]
        if is_program(named):
            return black_box.outputs_of_function(named, self.pair[side], self.samples)
        return black_box.outputs_of_command(named, self.pair[side], self.samples, deadline)

    def ask(self, limits: Limits) -> Audit:
        from bisimdist.analysis.audit import audit, distinguisher

        found = self.put(distinguisher, limits, "model", "pair", "gap", **self.skew.said)
        return audit(
            found,
            self.outputs(0, limits.deadline),
            self.outputs(1, limits.deadline),
            claim=self.claim,
            confidence=self.confidence,
            deadline=limits.deadline,
            progress=limits.progress,
        )

    def frame(self) -> dict[str, object]:
        from bisimdist.exact.rational import format_rational

        return {**Question.frame(self), "confidence": format_rational(self.confidence), "status": "supported"}

    def unknown(self, reason: str) -> Plain:
        del reason
        known = {"verdict": "not contradicted", "lower": "0"}
        found = nothing_known(self.frame(), [self.pair], known)
        return replace(found, data={**found.data, **known, "status": "supported"})

    def report(self, answer: Audit) -> Report:
        return answer.report(self.skew.shown_epsilon)

    def settled(self, answer: Audit) -> Settled:
        return not answer.violated
