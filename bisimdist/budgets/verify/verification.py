"""The work of `verify` on one pair: which engines are asked, and what comes of their answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from bisimdist.budgets.engine.parametric import ParametricProof, prove_for_all
from bisimdist.budgets.verify.answer import EngineVerdict, PairVerdict, Verdict
from bisimdist.errors import Interruption, LimitError
from bisimdist.exact.logarithm import alpha_above, alpha_below
from bisimdist.exact.rational import to_fmpq
from bisimdist.models.hmm import HMM
from bisimdist.progress import Limits
from bisimdist.traces.engine.forward import is_possible, word_probability
from bisimdist.traces.engine.search import Violation, decide_ratio

ROUNDINGS = (None, 128, 512)  # how many bits e**epsilon is enclosed with, one attempt after the other

APART = "the budget fails for a rational below e^epsilon and holds for one above"


def named(model: HMM, word: Sequence[int]) -> tuple[str, ...]:
    """Return a sequence of observations by name."""
    return tuple(model.observations[symbol] for symbol in word)


@dataclass(frozen=True, slots=True)
class Verification:
    """The work on one pair."""

    model: HMM
    pair: tuple[str, str]
    length: int
    up_to: bool
    engine: str
    limits: Limits
    smt_seconds: float | None = None
    told: Callable[[Any], None] | None = None
    """Told of the contexts of Z3 where it works beside the exact engine."""

    def asked(self, ratio: fmpq | None, exponent: fmpq | None) -> PairVerdict:
        """Decide a budget; what is interrupted is unknown."""
        try:
            return self.closer(ratio, exponent)
        except Interruption as error:
            return self.unknown(fmpq(1) if ratio is None else ratio, str(error))

    def closer(self, ratio: fmpq | None, exponent: fmpq | None) -> PairVerdict:
        """Decide a budget, or e**exponent by rationals ever closer to it."""
        if ratio is not None or exponent is None:
            return self.decided(ratio if ratio is not None else fmpq(1))
        found = self.unknown(fmpq(1), APART)
        for bits in ROUNDINGS:
            ends = (alpha(exponent, denominator_bits=bits) for alpha in (alpha_below, alpha_above))
            low, high = map(to_fmpq, ends)
            found = self.between(low, high)
            if found.verdict is not Verdict.UNKNOWN or not found.note.startswith(APART):
                break
        return found

    def between(self, low: fmpq, high: fmpq) -> PairVerdict:
        """Decide a budget of which only rationals below and above are known."""
        found = self.decided(low)
        if low == high or found.verdict is Verdict.HOLDS:
            return found
        if found.verdict is Verdict.VIOLATED and found.probabilities is not None:
            small, large = sorted(found.probabilities)
            if large > high * small:
                return replace(found, ratio=high)
        above = self.decided(high)
        if above.verdict is Verdict.VIOLATED:
            return above
        apart = above.verdict is Verdict.HOLDS and found.verdict is Verdict.VIOLATED
        return self.unknown(low, APART if apart else above.note or found.note)

    def decided(self, ratio: fmpq) -> PairVerdict:
        """Decide a rational budget by the engines that were asked for."""
        if self.engine == "exact":
            return self.exact(ratio)
        if self.engine == "smt":
            return self.limited().smt(ratio)
        if self.engine == "auto":
            first = self.exact(ratio)
            return first if first.verdict is not Verdict.UNKNOWN else self.limited().smt(ratio)
        return self.compared(*self.side_by_side(ratio))

    def limited(self, seconds: float | None = None) -> Verification:
        """Return the same work with the time that Z3 has."""
        own = seconds if self.smt_seconds is None else self.smt_seconds
        return replace(self, limits=replace(self.limits, deadline=self.limits.deadline.within(own)))

    def side_by_side(self, ratio: fmpq) -> tuple[PairVerdict, PairVerdict, tuple[EngineVerdict, ...]]:
        """Ask both engines at once; whoever is interrupted says nothing, and the other's answer stays."""
        from bisimdist.budgets.engine.smt import SECONDS  # noqa: PLC0415  (slow to load)
        from bisimdist.budgets.verify.side_by_side import Beside, said  # noqa: PLC0415

        if self.limits.deadline.passed():
            nothing = self.unknown(ratio, "the time limit was reached")
            return nothing, nothing, ()
        begun = time.monotonic()
        theirs = self.limited(SECONDS)

        def work(told: Callable[[Any], None]) -> PairVerdict:
            return replace(theirs, told=told).smt(ratio)

        second = self.unknown(ratio, "it was stopped before it had decided")
        with Beside(work) as beside:
            try:
                first = self.exact(ratio)
            except Interruption as error:
                first = self.unknown(ratio, str(error))
            taken = time.monotonic() - begun
            with suppress(Interruption):
                second = beside.wait(self.limits.progress)
        second = beside.answer or second
        waited = beside.seconds or time.monotonic() - begun
        return first, second, (said("exact", first, taken), said("smt", second, waited))

    def compared(
        self, first: PairVerdict, second: PairVerdict, engines: tuple[EngineVerdict, ...]
    ) -> PairVerdict:
        """Return the verdict of two engines. Raises LimitError if they say opposite things."""
        if Verdict.UNKNOWN not in {first.verdict, second.verdict} and first.verdict is not second.verdict:
            raise LimitError(
                f"the engines disagree on ({', '.join(self.pair)}): {first.verdict.value} by "
                f"{', '.join(first.ways)}, {second.verdict.value} by {', '.join(second.ways)}"
            )
        if first.verdict is Verdict.UNKNOWN:
            return replace(second, engines=engines)
        ways = first.ways + (second.ways if second.verdict is first.verdict else ())
        note = first.note if len(ways) == len(first.ways) else ""
        return replace(first, ways=ways, note=note, engines=engines)

    def exact(self, ratio: fmpq) -> PairVerdict:
        try:
            if self.model.parametric:
                return self.for_all(ratio)
            found = decide_ratio(
                self.model, self.pair, ratio, self.length, up_to=self.up_to, limits=self.limits
            )
        except LimitError as error:
            return self.unknown(ratio, str(error))
        ways = ("information states",)
        if isinstance(found, Violation):
            return self.violated(ratio, found.word, {}, ways)
        return self.outcome(Verdict.HOLDS, ratio, ways=ways, proofs=found)

    def lengths(self) -> list[int]:
        """Return the lengths that count and at which something is possible."""
        if not self.up_to:
            return [self.length]
        starts = [self.model.distribution(name) for name in self.pair]
        return [k for k in range(1, self.length + 1) if is_possible(self.model, starts, k)]

    def for_all(self, ratio: fmpq) -> PairVerdict:
        """Prove a budget for all parameter values, length by length."""
        proofs: list[ParametricProof] = []
        ways: set[str] = set()
        for length in self.lengths():
            proof = prove_for_all(self.model, self.pair, ratio, length, limits=self.limits)
            if proof.violation is not None:
                word = tuple(self.model.observation(name) for name in proof.violation.word)
                return self.violated(ratio, word, proof.violation.parameters, ("evaluation",))
            if not proof.holds:
                return self.unknown(ratio, "no proof for all parameter values was found")
            proofs.append(proof)
            ways.update(proof.ways)
        note = "" if ways <= {"bernstein"} else "in part only Z3 says so; no second way confirmed it"
        return self.outcome(
            Verdict.HOLDS, ratio, ways=tuple(sorted(ways)), note=note, parametric=tuple(proofs)
        )

    def smt(self, ratio: fmpq) -> PairVerdict:
        """Ask Z3, if there is time."""
        try:
            self.limits.deadline.check()
            return self.asked_of_z3(ratio)
        except LimitError as error:
            return self.unknown(ratio, str(error))

    def asked_of_z3(self, ratio: fmpq) -> PairVerdict:
        """Ask Z3; an unsatisfiable nonlinear question is asked in the other form too."""
        from bisimdist.budgets.engine.smt import decide_by_smt  # noqa: PLC0415  (slow to load)

        confirmed = True
        variants = ("sequences", "chosen") if self.model.parametric else ("chosen",)
        for length in self.lengths():
            held = []
            for variant in variants:
                answer = decide_by_smt(
                    self.model,
                    self.pair,
                    ratio,
                    length,
                    variant=variant,
                    deadline=self.limits.deadline,
                    told=self.told,
                )
                if answer.holds is False:
                    return self.violated(ratio, answer.word, answer.parameters, (f"z3 {variant}",))
                if answer.holds:
                    held.append(variant)
                reason = answer.reason
            if not held:
                return self.unknown(ratio, reason)
            confirmed = confirmed and len(held) == len(variants)
        only = self.model.parametric and not confirmed
        return self.outcome(
            Verdict.HOLDS,
            ratio,
            ways=tuple(f"z3 {variant}" for variant in (held if only else variants)),
            note="one way alone says so: a nonlinear query of Z3 that is unsatisfiable" if only else "",
        )

    def violated(
        self, ratio: fmpq, word: Sequence[int], parameters: Mapping[str, fmpq], ways: tuple[str, ...]
    ) -> PairVerdict:
        """Return a violation, measured once more from the model alone."""
        model = self.model.at(parameters) if self.model.parameters and self.model.parametric else self.model
        first, second = (word_probability(model, name, word) for name in self.pair)
        if not (first > ratio * second or second > ratio * first):
            return self.unknown(ratio, "a counterexample did not survive its exact check")
        return self.outcome(
            Verdict.VIOLATED,
            ratio,
            counterexample=named(self.model, word),
            probabilities=(first, second),
            parameters=dict(parameters),
            ways=ways,
        )

    def unknown(self, ratio: fmpq, note: str) -> PairVerdict:
        return self.outcome(Verdict.UNKNOWN, ratio, note=note)

    def outcome(self, verdict: Verdict, ratio: fmpq, **known: Any) -> PairVerdict:
        return PairVerdict(source=self.pair[0], target=self.pair[1], verdict=verdict, ratio=ratio, **known)
