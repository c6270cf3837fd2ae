"""Samples of the real thing held against the proof of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import CLAIM, CONFIDENCE, SAMPLES
from bisimdist.faces.asked.program_source import is_program, program_file
from bisimdist.faces.asked.question import Group, Plain, Question, Settled, nothing_known
from bisimdist.faces.asked.skew import Skew
from bisimdist.privacy.delta.command import Delta

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.lmc import LMC
    from bisimdist.privacy.audit.answer import Audit
    from bisimdist.progress import Deadline, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuestion(Question["Audit"]):
    """Test samples of an implementation against a claim about its privacy, and against the model.

    Before MODEL give two files of samples, one output a line, for the two states of the pair. Or give one
    sampler: FILE.py:FUNCTION, which is called with the name of the state and a random source;
    FILE.wasm:FUNCTION, which wasmtime runs on the name of the state; or a command that prints one output a
    line, to which the audit adds the name of the state as last word. The audit counts the event that tells
    the states of MODEL apart best; it fixes the event before it samples. The answer holds with the given
    confidence, and is no proof.
    """

    command = "audit"
    group = Group.DELTA
    example = "survey.py:response survey.py:response --input 0 --input 1 --alpha 2"
    argument = "SAMPLES... MODEL"
    options = (
        options.ALPHA,
        options.EPSILON,
        options.PAIR.but(help="The states to sample."),
        CLAIM,
        CONFIDENCE,
        SAMPLES,
        options.ATTAINABLE,
        options.GAP,
        options.TIMEOUT,
        options.MEMORY,
        options.CERTIFICATE.but(help="Write the proof of the model's delta, with the event."),
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
    compiled: tuple[Sequence[str], Sequence[str], str | None] | None = None
    """The arguments, imports and layout of a module that is sampled."""

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        from bisimdist.models.lmc import LMC

        if given[options.ATTAINABLE]:
            from bisimdist.privacy.audit.attainable import AttainedQuestion

            return AttainedQuestion.read(given)

        sampled = given.before
        if len(sampled) not in {1, 2}:
            raise UsageError(
                f"{len(sampled) + 1} arguments; expected two files of samples and a model, or something to "
                "sample and a model"
            )
        compiled = None
        if len(sampled) == 1 and is_program(sampled[0]) and program_file(sampled[0]).endswith(".wasm"):
            compiled = tuple(given[options.ARGUMENTS]), tuple(given[options.CHANCES]), given[options.LAYOUT]
            if not is_program(given.argument):
                given = given.without(options.COMPILED_OPTIONS)
        claim, confidence, samples = given[CLAIM], given[CONFIDENCE], given[SAMPLES]
        asked = Delta.of(given)
        if not isinstance(asked.model, LMC):
            raise UsageError("an audit samples without an analyst; expected a model without actions")
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
            compiled=compiled,
        )

    def outputs(self, side: int, deadline: Deadline) -> Iterable[str]:
        """Return the outputs for one of the two states; nothing is read or run before they are asked for."""
        from bisimdist.privacy.audit import black_box

        if len(self.sampled) == 2:
            return black_box.outputs_of_file(self.sampled[side])
        named = self.sampled[0]
        if self.compiled is not None:
            return black_box.outputs_of_module(named, self.pair[side], self.samples, self.compiled)
        if is_program(named):
            return black_box.outputs_of_function(named, self.pair[side], self.samples)
        return black_box.outputs_of_command(named, self.pair[side], self.samples, deadline)

    def ask(self, limits: Limits) -> Audit:
        from bisimdist.privacy.audit.ask import audit, distinguisher

        found = self.put(distinguisher, limits, **self.skew.said)
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
        known = {"verdict": "not contradicted", "lower": "0"}
        found = nothing_known(self.frame(), [self.pair], known)
        return replace(found, data={**found.data, **known, "status": "supported"})

    def report(self, answer: Audit) -> Report:
        return answer.report(self.skew.shown_epsilon)

    def settled(self, answer: Audit) -> Settled:
        return not answer.violated
