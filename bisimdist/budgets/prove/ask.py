"""Budgets of hidden Markov models that no length bounds: refutations, then invariants.

Source: LWZ22-conference Figure 3, LWZ22-conference Theorem 8.1, LWZ22-long Figure 3,
LWZ22-long Theorem 10.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from flint import fmpq

from bisimdist.budgets.engine.chain import FIRST, SECOND, as_chain
from bisimdist.budgets.engine.cone import find_cone, worst_ratio
from bisimdist.budgets.engine.multiplicative import find_factors
from bisimdist.budgets.engine.parametric import ParametricProof, SequenceVerdict
from bisimdist.budgets.prove.answer import AllLengthsAnswer, LengthVerdict
from bisimdist.budgets.prove.certificate import (
    cone_invariant,
    coupling_invariant,
    factors_invariant,
    invariant_certificate,
    parametric_certificate,
    pump_certificate,
)
from bisimdist.budgets.verify.answer import Verdict
from bisimdist.distances.bound.ask import bd_threshold
from bisimdist.errors import ENDINGS, UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.faces.shown.asked_pairs import asked_budget, asked_distributions
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.hmm import HMM
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.traces.engine.beam import promising_words
from bisimdist.traces.engine.forward import word_probability
from bisimdist.traces.engine.numeric import NumericModel
from bisimdist.traces.engine.refutation import Impossible, Pump, find_pump

METHODS = ("auto", "cone", "factors", "coupling")
GUESSED_LENGTHS = (1, 2, 3, 5, 8, 13, 21)
EPSILON_BITS = 128
MAX_CHAIN = 200  # a chain of more states is not tried for a coupling, whose pairs would be too many


@interruptible
def for_all_lengths(  # noqa: PLR0913
    model: HMM,
    ratio: ExactNumber | None = None,
    *,
    epsilon: ExactNumber | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    method: str = "auto",
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> AllLengthsAnswer:
    """Decide whether a budget holds for observation sequences of every length.

    The function first looks for refutations: a sequence above the budget, then sequences whose ratio grows
    without bound. Then it looks for invariants: a closed polyhedral cone, a table of factors, a skewed
    coupling of cost zero. None of these methods is complete, so the answer may be unknown.

    Parameters
    ----------
    model
        A model without parameters.
    ratio, epsilon
        The budget, at least 1, or epsilon for e**epsilon. Without both, the question is whether there is any
        budget, and the answer has the smallest one that is found. e**epsilon is irrational: "holds" is proved
        for a rational below it, "violated" for one above it; otherwise the verdict is unknown.
    method
        ``"auto"``, or the one invariant to look for.
    pairs, deadline, progress, on_interrupt
        As in `bisimdist.verify`.

    Returns
    -------
    AllLengthsAnswer
        For each pair a budget with its invariant, or why there is none.

    Raises
    ------
    UsageError
        If the model has parameters, or an argument is out of range.

    Examples
    --------
    >>> from bisimdist.models.library.hidden_markov import contagious_disease
    >>> answer = for_all_lengths(contagious_disease("9/10"))
    >>> answer.verdict.value, answer.pairs[0].proved, answer.pairs[0].exact
    ('holds', 38/11, True)
    """
    if ratio is not None and epsilon is not None:
        raise UsageError("both ratio and epsilon are given; expected one of them, or none")
    budget, exponent = asked_budget(ratio, epsilon)
    if exponent is not None:
        budget = to_fmpq(alpha_below(exponent, denominator_bits=EPSILON_BITS))
    high = budget if exponent is None else to_fmpq(alpha_above(exponent, denominator_bits=EPSILON_BITS))
    if method not in METHODS:
        raise UsageError(f"method={method!r} is not usable; expected {', '.join(METHODS)}")
    if method == "coupling" and budget is None:
        raise UsageError("the method coupling needs a ratio (--ratio)")
    limits = Limits(deadline=deadline, progress=progress)
    asked = asked_distributions(model, pairs)
    work = [_Search(NumericModel.of(model, pair), pair, budget, high, limits) for pair in asked]
    return AllLengthsAnswer(
        model=model,
        ratio=budget if exponent is None else None,
        epsilon=exponent,
        pairs=tuple(one.run(method) for one in work),
    )


@dataclass(slots=True)
class _Search:
    """The work on one pair: what is known so far, whatever happens."""

    model: NumericModel
    pair: tuple[str, str]
    ratio: fmpq | None  # what is to be proved
    high: fmpq | None  # what has to be exceeded: the same, but for an epsilon
    limits: Limits
    attained: fmpq = field(default_factory=lambda: fmpq(1))

    def run(self, method: str) -> LengthVerdict:
        steps: list[Callable[[], LengthVerdict | None]] = [self.guess, self.pump]
        names = METHODS[1:] if method == "auto" else (method,)
        proofs = {"cone": self.cone, "factors": self.factors, "coupling": self.coupling}
        steps += [proofs[name] for name in names]
        for step in steps:
            try:
                found = step()
            except ENDINGS:
                break
            if found is not None:
                return replace(found, attained=None if found.no_budget else self.attained)
        return self.outcome(Verdict.UNKNOWN, attained=self.attained)

    def outcome(self, verdict: Verdict, method: str = "", **known: Any) -> LengthVerdict:
        return LengthVerdict(
            source=self.pair[0], target=self.pair[1], verdict=verdict, method=method, **known
        )

    def guess(self) -> LengthVerdict | None:
        """Measure the sequences that a beam search in doubles proposes."""
        for length in GUESSED_LENGTHS:
            self.limits.deadline.check()
            for word in promising_words(self.model.model, self.pair, length, up_to=True, width=16, best=3):
                found = self.measured(word)
                if found is not None:
                    return found
        return None

    def measured(self, word: tuple[int, ...]) -> LengthVerdict | None:
        """Remember the ratio of a sequence; return the violation that it is, if it is one."""
        first, second = (word_probability(self.model.model, name, word) for name in self.pair)
        small, large = sorted((first, second))
        if small == 0:
            return self.refuted(Impossible(word, swapped=first == 0)) if large else None
        self.attained = max(self.attained, large / small)
        if self.high is None or large <= self.high * small:
            return None
        violation = SequenceVerdict(word=self.named(word), parameters={}, probabilities=(first, second))
        proof = ParametricProof(
            model=self.model.model,
            pair=self.pair,
            ratio=self.high,
            length=len(word),
            holds=False,
            violation=violation,
        )
        return self.outcome(
            Verdict.VIOLATED,
            "counterexample",
            counterexample=violation.word,
            probabilities=violation.probabilities,
            make_certificate=partial(parametric_certificate, proof),
        )

    def named(self, word: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self.model.model.observations[symbol] for symbol in word)

    def pump(self) -> LengthVerdict | None:
        found = find_pump(self.model, limits=self.limits)
        return None if found is None else self.refuted(found)

    def refuted(self, found: Pump | Impossible) -> LengthVerdict:
        certificate = partial(pump_certificate, self.model, self.pair, found)
        if isinstance(found, Impossible):
            first, second = (word_probability(self.model.model, name, found.word) for name in self.pair)
            return self.outcome(
                Verdict.VIOLATED,
                "impossible",
                counterexample=self.named(found.word),
                probabilities=(first, second),
                make_certificate=certificate,
            )
        prefix, cycle, suffix = map(self.named, (found.prefix, found.cycle, found.suffix))
        return self.outcome(
            Verdict.VIOLATED,
            "pump",
            pump=(prefix, cycle, suffix),
            growth=(found.fast, found.slow),
            make_certificate=certificate,
        )

    def proved(self, method: str, ratio: fmpq, invariant: Callable[[], dict[str, object]]) -> LengthVerdict:
        claimed = ratio if self.ratio is None else self.ratio

        def certificate() -> dict[str, object]:
            return invariant_certificate(self.model.model, self.pair, claimed, invariant())

        return self.outcome(Verdict.HOLDS, method, proved=ratio, make_certificate=certificate)

    def cone(self) -> LengthVerdict | None:
        cone = find_cone(self.model, limits=self.limits)
        if cone is None:
            return None
        ratio, place = worst_ratio(self.model, cone.generators)
        word = None if place is None else cone.words[place]
        if word is not None:
            found = self.measured(word)
            if found is not None:
                return found
        if ratio is None or (self.ratio is not None and ratio > self.ratio):
            return None
        return self.proved("cone", ratio, partial(cone_invariant, self.model, cone))

    def factors(self) -> LengthVerdict | None:
        found = find_factors(self.model, limits=self.limits)
        if found is None or (self.ratio is not None and found.ratio > self.ratio):
            return None
        return self.proved("factors", found.ratio, partial(factors_invariant, self.model, found))

    def coupling(self) -> LengthVerdict | None:
        """Look for a coupling of cost zero in the chain whose bisimilar states are merged.

        Merging does not change which sequences are how probable, and makes couplings of cost zero more
        frequent.
        """
        chain = as_chain(self.model.model, self.pair)
        if self.ratio is None or len(chain) > MAX_CHAIN:
            return None
        merged, classes = quotient(chain)
        first, second = (merged.states[classes[chain.index(name)]] for name in (FIRST, SECOND))
        answer = bd_threshold(
            merged,
            self.ratio,
            first,
            second,
            0,
            deadline=self.limits.deadline,
            progress=self.limits.progress,
        )
        if not answer.holds:
            return None
        names = {
            name: merged.states[block]
            for name, block in zip(chain.states, classes, strict=True)
            if merged.states[block] != name
        }
        return self.proved("coupling", self.ratio, lambda: coupling_invariant(answer.certificate(), names))
