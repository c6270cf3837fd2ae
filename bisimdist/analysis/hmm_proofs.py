"""Questions about hidden Markov models that no length bounds, and about mechanisms as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from flint import fmpq

from bisimdist.analysis.asked import asked_distributions
from bisimdist.analysis.distances import bd_threshold
from bisimdist.analysis.hmm_answer import Verdict, Verdicts
from bisimdist.analysis.proved import Proved, Shown
from bisimdist.certificates.hmm_proofs import (
    cone_invariant,
    coupling_invariant,
    factors_invariant,
    invariant_certificate,
    mechanism_certificate,
    parametric_certificate,
    pump_certificate,
    several_certificate,
)
from bisimdist.errors import ENDINGS, UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below, log_enclosure
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.hmm.budget import Adjacency, BudgetResult, QueryFamily, privacy_budget
from bisimdist.hmm.chain import FIRST, SECOND, as_chain
from bisimdist.hmm.cone import find_cone, worst_ratio
from bisimdist.hmm.multiplicative import find_factors
from bisimdist.hmm.parametric import ParametricProof, SequenceVerdict
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.hmm import HMM
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.report.numbers import at_least, at_most, exact_value, short_rational
from bisimdist.report.tables import Report
from bisimdist.words.beam import guessed_words
from bisimdist.words.forward import word_probability
from bisimdist.words.integers import IntegerModel
from bisimdist.words.numeric import NumericModel
from bisimdist.words.refutation import Impossible, Pump, find_pump

__all__ = [
    "AllLengthsAnswer",
    "LengthVerdict",
    "MechanismBudget",
    "for_all_lengths",
    "mechanism_budget",
]

METHODS = ("auto", "cone", "factors", "coupling")
GUESSED_LENGTHS = (1, 2, 3, 5, 8, 13, 21)
EPSILON_BITS = 128
MAX_CHAIN = 200
"""A chain of more states is not tried for a coupling, whose pairs would be too many."""

NEIGHBOURS = {
    "all": "every query result may differ by at most one",
    "one": "one query result differs by one",
}
MEANS = {
    "cone": "a closed polyhedral cone of functions",
    "factors": "a table of factors of pairs of states",
    "coupling": "a skewed coupling of cost zero",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthVerdict(Proved):
    """Whether a budget holds for one pair and sequences of every length.

    Parameters
    ----------
    source, target
        The names of the two distributions.
    verdict
        The answer.
    method
        What proves it: ``cone``, ``factors``, ``coupling``, ``counterexample``, ``pump`` or ``impossible``;
        empty where nothing does.
    proved
        A budget that was proved for all lengths, where one was.
    attained
        The largest ratio of a single sequence that is known.
    counterexample, probabilities
        A sequence that violates the budget, with its probabilities from `source` and `target`.
    pump
        The refutation of every budget, where there is one: prefix, cycle and suffix, by name.
    growth
        With a pump: the growth factors of a round of the cycle, the larger one first.
    """

    source: str
    target: str
    verdict: Verdict
    method: str = field(default="", compare=False)
    proved: fmpq | None = field(default=None, compare=False)
    attained: fmpq | None = field(default=None, compare=False)
    counterexample: tuple[str, ...] | None = field(default=None, compare=False)
    probabilities: tuple[fmpq, fmpq] | None = field(default=None, compare=False)
    pump: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None = field(default=None, compare=False)
    growth: tuple[fmpq, fmpq] | None = field(default=None, compare=False)

    @property
    def exact(self) -> bool:
        """Whether the budget that was proved is attained: no smaller one holds for all lengths."""
        return self.proved is not None and self.proved == self.attained

    @property
    def no_budget(self) -> bool:
        """Whether every budget is refuted."""
        return self.method in {"pump", "impossible"}

    def data(self) -> dict[str, object]:
        """Return the verdict as plain data."""
        data: dict[str, object] = {
            "from": self.source,
            "to": self.target,
            "verdict": self.verdict.value,
            "method": self.method or None,
            "ratio": "inf" if self.no_budget else self.proved and format_rational(self.proved),
            "attained": "inf" if self.no_budget else self.attained and format_rational(self.attained),
            "exact": self.exact or self.no_budget,
        }
        if self.proved is not None:
            data["epsilon"] = list(log_enclosure(self.proved))
        if self.counterexample is not None and self.probabilities is not None:
            data["counterexample"] = list(self.counterexample)
            data["probabilities"] = [format_rational(p) for p in self.probabilities]
        if self.pump is not None and self.growth is not None:
            data["pump"] = dict(zip(("prefix", "cycle", "suffix"), map(list, self.pump), strict=True))
            data["growth"] = [format_rational(factor) for factor in self.growth]
        return data

    @property
    def row(self) -> tuple[str, ...]:
        """The pair, the verdict, what is proved and seen, and by what, for a person."""
        if self.no_budget:
            bounds = "none", "infinite"
        else:
            proved = "unknown" if self.proved is None else at_most(self.proved)
            bounds = proved, "unknown" if self.attained is None else at_least(self.attained)
        return self.source, self.target, self.verdict.value, *bounds, self.method or "-"

    @property
    def remark(self) -> str:
        """What is said about the pair."""
        about = f"({self.source}, {self.target}): "
        if self.pump is not None and self.growth is not None:
            prefix, cycle, suffix = (" ".join(word) for word in self.pump)
            fast, slow = (format_rational(factor) for factor in self.growth)
            tail = f", then '{suffix}'" if suffix else ""
            return (
                f"{about}no budget holds. After '{prefix}', repeat '{cycle}'{tail}: each round multiplies "
                f"one probability by at least {fast} and the other by at most {slow}."
            )
        if self.counterexample is not None and self.probabilities is not None:
            one, two = (format_rational(p) for p in self.probabilities)
            every = "no budget holds: " if self.no_budget else ""
            return f"{about}{every}'{' '.join(self.counterexample)}' has the probabilities {one} and {two}."
        if self.verdict is Verdict.HOLDS and self.proved is not None:
            low, high = log_enclosure(self.proved)
            exact = ", and no smaller one does" if self.exact else ""
            return (
                f"{about}proved by {MEANS[self.method]}; the budget {format_rational(self.proved)} "
                f"holds{exact} (its logarithm is between {low} and {high})."
            )
        return f"{about}not decided; the methods are not complete."


@dataclass(frozen=True, slots=True, kw_only=True)
class AllLengthsAnswer(Verdicts[LengthVerdict]):
    """Whether a budget holds for each pair and sequences of every length.

    Parameters
    ----------
    model, ratio, epsilon, pairs
        As in `Verdicts`; ratio and epsilon are both None where any budget would do.
    """

    def report(self) -> Report:
        what = "is there some budget?" if self.asked is None else f"does the budget {self.asked} hold?"
        return Report(
            heading=f"Sequences of every length: {what}",
            columns=("from", "to", "verdict", "proved budget", "largest ratio seen", "by"),
            rows=tuple(pair.row for pair in self.pairs),
            remarks=tuple(pair.remark for pair in self.pairs),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If a pair is not decided.
        """
        return several_certificate([pair.certificate() for pair in self.pairs])


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

    Refutations come first: a sequence above the budget, then sequences whose ratio grows without bound. Then
    invariants are looked for: a closed polyhedral cone, a table of factors, a skewed coupling of cost zero.
    None of them is complete, so the answer may be unknown.

    Parameters
    ----------
    model
        A model without parameters.
    ratio, epsilon
        The budget, at least 1, or epsilon for e**epsilon; neither asks whether there is any budget, and the
        smallest one that is found. e**epsilon is irrational: what holds is proved for a rational below it,
        what is violated exceeds one above it, and what lies between is unknown.
    method
        ``"auto"``, or the one invariant to look for.
    pairs, deadline, progress, on_interrupt
        As in `bisimdist.verify`.

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
    exponent = None if epsilon is None else to_fmpq(epsilon)
    budget = None if ratio is None else to_fmpq(ratio)
    if budget is not None and budget < 1:
        raise UsageError(f"the ratio is {format_rational(budget)}; expected at least 1")
    if exponent is not None:
        budget = alpha_below(exponent, denominator_bits=EPSILON_BITS)
    high = budget if exponent is None else alpha_above(exponent, denominator_bits=EPSILON_BITS)
    if method not in METHODS:
        raise UsageError(f"method={method!r} is not usable; expected {', '.join(METHODS)}")
    if method == "coupling" and budget is None:
        raise UsageError("a coupling is looked for at a ratio; say which")
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
        hmm = self.model.model
        for length in GUESSED_LENGTHS:
            self.limits.deadline.check()
            resolved = IntegerModel.from_model(hmm, length, up_to=True)
            first, second = (resolved.start(hmm.distribution(name)) for name in self.pair)
            for one, two in ((first, second), (second, first)):
                for word in guessed_words(resolved, one, two, width=16)[:3]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismBudget(Shown):
    """The exact budget of a mechanism over all neighbouring inputs.

    Parameters
    ----------
    result
        The value, with the pair and the answer that attain it, and the adjacency.
    """

    result: BudgetResult

    @property
    def ratio(self) -> fmpq | None:
        """The value; None where no budget holds."""
        return self.result.ratio

    @property
    def epsilon(self) -> tuple[str, str] | None:
        """Decimals below and above the logarithm of the value, where it is finite."""
        return None if self.result.ratio is None else log_enclosure(self.result.ratio)

    def data(self) -> dict[str, object]:
        result = self.result
        return {
            "mechanism": result.family.name,
            "adjacency": result.adjacency.value,
            "ratio": exact_value(result.ratio),
            "epsilon": "inf" if self.epsilon is None else list(self.epsilon),
            "exact": True,
            "inputs": [list(results) for results in result.pair],
            "answer": result.answer,
            "probabilities": [format_rational(p) for p in result.probabilities],
            "neighbours": result.pairs,
        }

    def report(self) -> Report:
        result, family = self.result, self.result.family
        one, two = (format_rational(p) for p in result.probabilities)
        first, second = (", ".join(map(str, results)) for results in result.pair)
        value = "infinite" if result.ratio is None else short_rational(result.ratio)
        logarithm = "" if self.epsilon is None else f"; epsilon is between {' and '.join(self.epsilon)}"
        return Report(
            heading=f"{family.name}: {family.count} results from 0 to {family.levels - 1}",
            remarks=(
                f"The exact budget is {value}{logarithm}.",
                f"Neighbours: {NEIGHBOURS[result.adjacency.value]}; {result.pairs} ordered pairs.",
                f"Attained by the inputs ({first}) and ({second}) with the answer {result.answer}: "
                f"probabilities {one} and {two}.",
            ),
        )

    def certificate(self) -> dict[str, object]:
        """Return what the checker needs to look at all pairs again, as plain data.

        Raises
        ------
        UsageError
            If the mechanism is none that the checker knows.
        """
        return mechanism_certificate(self.result)


def mechanism_budget(
    family: QueryFamily,
    adjacency: Adjacency | str,
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> MechanismBudget:
    """Return the exact budget of a mechanism over all neighbouring inputs.

    Parameters
    ----------
    family
        The mechanism, such as `noisy_max_family(5)`.
    adjacency
        ``"one"``: one query result differs, by one; ``"all"``: every one may.
    deadline, progress
        As everywhere.

    Raises
    ------
    LimitError
        If the deadline passes.
    UsageError
        If the adjacency is another word.

    Examples
    --------
    >>> from bisimdist.hmm.budget import noisy_max_family
    >>> mechanism_budget(noisy_max_family(5), "all").ratio
    288/73
    """
    try:
        chosen = Adjacency(adjacency)
    except ValueError:
        raise UsageError(f"the adjacency is {adjacency!r}; expected 'one' or 'all'") from None
    limits = Limits(deadline=deadline, progress=progress)
    return MechanismBudget(result=privacy_budget(family, chosen, limits=limits))
