"""Testing joined to verification: candidates by sampling, judged exactly, and budgets that are narrowed."""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.budgets.engine.parametric import ParametricProof, SequenceVerdict, prove_for_all
from bisimdist.budgets.engine.sampling import Candidate, narrow, p_value, sample_candidates, sampler_of
from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.models.hmm import HMM
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.traces.engine.forward import word_probability

MAX_DOUBLINGS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledVerdict:
    """A candidate of the sampling tester, judged exactly."""

    candidate: Candidate  # what the samples say
    probabilities: tuple[fmpq, fmpq]  # the exact probabilities from the two distributions
    ratio: fmpq | None  # the larger one divided by the smaller one; None where that is 0
    violates: bool  # whether the candidate violates the budget that was asked
    samples: int = field(default=0, repr=False)  # how many runs each side made

    def p_value(self, ratio: ExactNumber) -> fmpq:
        """Return what the published testers say of a budget, from the same counts: `sampling.p_value`."""
        counts = self.candidate.counts
        return p_value(counts[::-1] if self.candidate.swapped else counts, self.samples, ratio)


def sample_and_verify(  # noqa: PLR0913
    model: HMM,
    pair: tuple[str, str],
    ratio: ExactNumber,
    length: int,
    *,
    samples: int = 20_000,
    confidence: ExactNumber = "99/100",
    seed: int = 0,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> tuple[SampledVerdict, ...]:
    """Look for violations of a budget by sampling, and certify or refute each candidate exactly.

    samples, confidence, seed: as for `sample_candidates`.
    Returns tuple of SampledVerdict: the candidates, the exact violations first, the largest ratio first.
    """
    budget = to_fmpq(ratio)
    sides = [sampler_of(model, name, length) for name in pair]
    found = sample_candidates(
        sides[0],
        sides[1],
        samples=samples,
        confidence=confidence,
        seed=seed,
        limits=Limits(deadline=deadline, progress=progress),
    )
    verdicts = []
    for candidate in found:
        word = tuple(model.observation(name) for name in candidate.word)
        first, second = (word_probability(model, name, word) for name in pair)
        small, large = sorted((first, second))
        verdicts.append(
            SampledVerdict(
                candidate=candidate,
                probabilities=(first, second),
                ratio=None if small == 0 else large / small,
                violates=bool(large > budget * small) and len(word) == length,
                samples=samples,
            )
        )
    return tuple(sorted(verdicts, key=lambda v: (not v.violates, v.ratio is not None, -(v.ratio or fmpq(0)))))


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedBudget:
    """A bracket of the least budget, for all parameter values where the model has parameters."""

    # a ratio that some sequence attains or exceeds, for some values of the parameters; 1 if none is known
    low: fmpq
    high: fmpq | None  # a budget that is proved; None where none was
    witness: SequenceVerdict | None  # the sequence behind `low`
    proof: ParametricProof | None  # the proof behind `high`
    refutation: ParametricProof | None = None  # the proof that a smaller budget than `low` does not hold


def narrow_budget(  # noqa: PLR0913
    model: HMM,
    pair: tuple[str, str],
    length: int,
    precision: ExactNumber,
    *,
    start: ExactNumber = 1,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> NarrowedBudget:
    """Bracket the least budget of a length, by deciding budgets in between.

    Every refutation is a sequence with exact probabilities, which moves the lower end to its ratio; every
    proof moves the upper end.

    model: the model; the budget is one for all values of its parameters.
    precision: how narrow the bracket is to be.
    start: a budget to begin with, such as a ratio that sampling found.
    Raises UsageError if the precision is not positive, or no sequence of the length is possible.

    >>> from bisimdist.models.library.hidden_markov import independent_disease
    >>> model = independent_disease(secret="member")
    >>> found = narrow_budget(model, model.pairs[0], 1, "1/100")
    >>> found.low, found.high
    (2, 2)
    """
    width = to_fmpq(precision)
    if width <= 0:
        raise UsageError(f"the precision is {format_rational(width)}; expected a positive number")
    work = _Narrowing(model, pair, length, Limits(deadline=deadline, progress=progress))
    high = max(to_fmpq(start), fmpq(1))
    for _ in range(MAX_DOUBLINGS):
        answer = work.refute(high)
        if answer is True:
            break
        if answer is None or answer is False:
            return work.found(None)
        high = 2 * max(high, answer)
    else:
        return work.found(None)
    if work.low < high and work.refute(work.low) is True:
        high = work.low
    _, high = narrow(work.refute, work.low, high, width)
    return work.found(high)


@dataclass(slots=True)
class _Narrowing:
    """The best of both ends so far."""

    model: HMM
    pair: tuple[str, str]
    length: int
    limits: Limits
    low: fmpq = field(default_factory=lambda: fmpq(1))
    witness: SequenceVerdict | None = None
    proof: ParametricProof | None = None
    refutation: ParametricProof | None = None

    def found(self, high: fmpq | None) -> NarrowedBudget:
        return NarrowedBudget(
            low=self.low,
            high=high,
            witness=self.witness,
            proof=None if high is None else self.proof,
            refutation=self.refutation,
        )

    def refute(self, budget: fmpq) -> fmpq | bool | None:
        answer = prove_for_all(self.model, self.pair, budget, self.length, limits=self.limits)
        if answer.holds:
            self.proof = answer
            return True
        if answer.violation is None:
            return None
        small, large = sorted(answer.violation.probabilities)
        if small == 0:
            self.witness, self.refutation = answer.violation, answer
            return None  # no budget holds at all
        if large / small > self.low:
            self.low, self.witness, self.refutation = large / small, answer.violation, answer
        return large / small
