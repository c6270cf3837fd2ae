"""Questions about hidden Markov models: does a budget hold, and what is the least one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from flint import fmpq

from bisimdist.analysis.asked import asked_budget, asked_distributions
from bisimdist.analysis.hmm_answer import BudgetAnswer, PairBudget, PairVerdict, Verdict, VerifyAnswer
from bisimdist.analysis.hmm_sampling import NarrowedBudget, narrow_budget
from bisimdist.analysis.parallel import Pool
from bisimdist.errors import ENDINGS, Interruption, LimitError, UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.hmm.critical import only_candidate
from bisimdist.hmm.parametric import ParametricProof, prove_for_all
from bisimdist.interruption import OnInterrupt, deferred, interruptible
from bisimdist.models.hmm import HMM
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.words.beam import promising_words
from bisimdist.words.forward import is_possible, word_probability
from bisimdist.words.search import Violation, decide_ratio, least_ratio

__all__ = [
    "ENGINES",
    "BudgetAnswer",
    "PairBudget",
    "PairVerdict",
    "Verdict",
    "VerifyAnswer",
    "epsilon",
    "verify",
]

ENGINES = ("auto", "exact", "smt", "both")
"""``exact``: information states, or Bernstein coefficients where there are parameters; ``smt``: Z3."""

MAX_LENGTH = 100_000

GRACE = 0.8
"""How many seconds a guess may take after the time limit, to have a lower bound to show."""

ROUNDINGS = (None, 128, 512)
"""How many bits e**epsilon is enclosed with, one attempt after the other."""

APART = "the budget fails for a rational below e^epsilon and holds for one above"


def _asked(
    model: HMM, pairs: Sequence[tuple[str, str]] | None, length: int, up_to: bool
) -> tuple[tuple[str, str], ...]:
    asked = asked_distributions(model, pairs)
    if not 1 <= length <= MAX_LENGTH:
        raise UsageError(f"the length is {length}; expected 1 to {MAX_LENGTH}")
    for first, second in () if up_to else asked:
        if not is_possible(model, [model.distribution(first), model.distribution(second)], length):
            raise UsageError(
                f"no sequence of {length} observations is possible from {first!r} or {second!r}: "
                "every budget would hold, and mean nothing"
            )
    return asked


def _name(model: HMM, word: Sequence[int]) -> tuple[str, ...]:
    return tuple(model.observations[symbol] for symbol in word)


@interruptible
def verify(  # noqa: PLR0913
    model: HMM,
    ratio: ExactNumber | None = None,
    *,
    epsilon: ExactNumber | None = None,
    length: int,
    up_to: bool = False,
    pairs: Sequence[tuple[str, str]] | None = None,
    engine: str = "auto",
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> VerifyAnswer:
    """Decide whether Pr(w | pi) <= C Pr(w | tau), and the converse, for every sequence w of a length.

    Parameters
    ----------
    model
        The model; where it has parameters, the question is about all their values inside the box.
    ratio, epsilon
        One of the two: the budget C >= 1, or epsilon >= 0 for C = e**epsilon. The latter is irrational, and
        is decided by rational numbers close below and above it; where they disagree the verdict is unknown.
    length
        How many observations the sequences have.
    up_to
        Whether shorter sequences count too.
    pairs
        Names of distributions; by default the pairs of the model.
    engine
        ``"exact"``, ``"smt"``, ``"both"`` (and compare) or ``"auto"``.
    deadline, progress
        As everywhere. A limit makes a verdict unknown.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    VerifyAnswer
        For each pair a verdict, with a counterexample where the budget is violated.

    Raises
    ------
    UsageError
        If an argument is out of range, or no sequence of the length is possible from either distribution.
    ModelError
        If a name is not that of a distribution.

    References
    ----------
    .. [1] Liu, Wang, Zhang, "Verifying Pufferfish Privacy in Hidden Markov Models", VMCAI 2022.

    Examples
    --------
    >>> from bisimdist.models.library.hidden_markov import contagious_disease
    >>> verify(contagious_disease("9/10"), 2, length=1).pairs[0].counterexample
    ('2',)
    >>> verify(contagious_disease("9/10"), 4, length=1).verdict
    <Verdict.HOLDS: 'holds'>
    """
    if (ratio is None) == (epsilon is None):
        raise UsageError("one of ratio and epsilon is needed, and only one")
    if engine not in ENGINES:
        raise UsageError(f"engine={engine!r} is not usable; expected {', '.join(ENGINES)}")
    asked = _asked(model, pairs, length, up_to)
    budget, exponent = asked_budget(ratio, epsilon)
    if exponent is not None:
        alpha_below(exponent)  # refuses what is no epsilon before any work
    limits = Limits(deadline=deadline, progress=progress)
    return VerifyAnswer(
        model=model,
        ratio=budget,
        epsilon=exponent,
        length=length,
        up_to=up_to,
        pairs=tuple(
            _Verification(model, pair, length, up_to, engine, limits).asked(budget, exponent)
            for pair in asked
        ),
    )


@dataclass(frozen=True, slots=True)
class _Verification:
    """The work on one pair."""

    model: HMM
    pair: tuple[str, str]
    length: int
    up_to: bool
    engine: str
    limits: Limits

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
            return self.smt(ratio)
        first = self.exact(ratio)
        if self.engine == "auto":
            return first if first.verdict is not Verdict.UNKNOWN else self.smt(ratio)
        second = self.smt(ratio)
        if Verdict.UNKNOWN not in {first.verdict, second.verdict} and first.verdict is not second.verdict:
            raise LimitError(
                f"the engines disagree on ({', '.join(self.pair)}): {first.verdict.value} by "
                f"{', '.join(first.ways)}, {second.verdict.value} by {', '.join(second.ways)}"
            )
        if first.verdict is Verdict.UNKNOWN:
            return second
        ways = first.ways + (second.ways if second.verdict is first.verdict else ())
        return replace(first, ways=ways, note=first.note if len(ways) == len(first.ways) else "")

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
        from bisimdist.hmm.smt import decide_by_smt  # noqa: PLC0415  (slow to load)

        confirmed = True
        variants = ("sequences", "chosen") if self.model.parametric else ("chosen",)
        for length in self.lengths():
            held = []
            for variant in variants:
                answer = decide_by_smt(
                    self.model, self.pair, ratio, length, variant=variant, deadline=self.limits.deadline
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
            counterexample=_name(self.model, word),
            probabilities=(first, second),
            parameters=dict(parameters),
            ways=ways,
        )

    def unknown(self, ratio: fmpq, note: str) -> PairVerdict:
        return self.outcome(Verdict.UNKNOWN, ratio, note=note)

    def outcome(self, verdict: Verdict, ratio: fmpq, **known: Any) -> PairVerdict:
        return PairVerdict(source=self.pair[0], target=self.pair[1], verdict=verdict, ratio=ratio, **known)


@interruptible
def epsilon(  # noqa: PLR0913
    model: HMM,
    *,
    length: int,
    up_to: bool = False,
    pairs: Sequence[tuple[str, str]] | None = None,
    precision: ExactNumber = "1/1000",
    cluster: str | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> BudgetAnswer:
    """Return the least budget that `verify` accepts, exactly, with a sequence that attains it.

    Parameters
    ----------
    model
        The model. With parameters the budget is one for all their values, and bracketed.
    precision
        How narrow that bracket is to be. With one parameter the value itself is known where the bracket holds
        one candidate only: a rational, or a zero of a polynomial.
    cluster
        Where workers are that share the pairs, as for `bisimdist.bound`; by default there are none.
    length, up_to, pairs, deadline, progress, on_interrupt
        As in `verify`. A limit leaves a lower bound.

    Returns
    -------
    BudgetAnswer
        For each pair the least budget, or bounds on it.

    Raises
    ------
    UsageError
        If the length is out of range, no sequence of it is possible, or the precision is not positive.
    ModelError
        If a name is not that of a distribution.

    Examples
    --------
    >>> from bisimdist.models.library.hidden_markov import geometric
    >>> [pair.ratio for pair in epsilon(geometric(), length=1).pairs]
    [2, 2]
    """
    asked = _asked(model, pairs, length, up_to)
    about = _Asked(model, length, up_to, precision, progress if cluster is None else silent)
    found: list[PairBudget] = []
    try:
        with Pool(_budget_of, about, cluster=cluster, deadline=deadline, progress=progress) as pool:
            found.extend(pool.map(asked))
    except ENDINGS:
        if cluster is None or model.parametric:
            raise
        with deferred():
            end = Deadline.after(GRACE)
            found.extend(_lower_bound(model, pair, length, up_to, end) for pair in asked[len(found) :])
    return BudgetAnswer(model=model, length=length, up_to=up_to, pairs=tuple(found))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of every pair."""

    model: HMM
    length: int
    up_to: bool
    precision: ExactNumber
    progress: Progress
    ends: list[Deadline] = field(default_factory=list)
    """Until when guesses are made for those that come too late, of all pairs together."""


def _budget_of(asked: _Asked, pair: tuple[str, str], deadline: Deadline) -> PairBudget:
    limits = Limits(deadline=deadline, progress=asked.progress)
    if not asked.model.parametric:
        return _pair_budget(asked.model, pair, asked.length, asked.up_to, limits, asked.ends)
    lengths = range(1 if asked.up_to else asked.length, asked.length + 1)
    return _for_all_values(asked.model, pair, lengths, asked.precision, limits)


def _for_all_values(
    model: HMM, pair: tuple[str, str], lengths: range, precision: ExactNumber, limits: Limits
) -> PairBudget:
    """Bracket the least budget for all values of the parameters, and name it where the bracket says which."""
    parts: list[NarrowedBudget] = []
    high: fmpq | None = fmpq(1)
    ask = partial(narrow_budget, deadline=limits.deadline, progress=limits.progress)
    for length in lengths:
        try:
            part = ask(model, pair, length, precision, start=high)
        except UsageError:  # no sequence is as long
            if not parts:
                raise
            lengths = range(lengths.start, length)
            break
        parts.append(part)
        if part.high is None:
            high = None
            break
        high = max(high, part.high)  # sequences that end early make shorter ones the worse ones
    best = max(parts, key=lambda part: part.low)
    none = [part for part in parts if part.witness is not None and 0 in part.witness.probabilities]
    if none:  # a sequence that is possible from one side only
        best, high = none[0], None
    polynomial = None
    if high is not None:
        with suppress(*ENDINGS):
            polynomial = only_candidate(model, pair, lengths, (best.low, high), deadline=limits.deadline)
    ratio = None
    if polynomial is not None and polynomial.degree() == 1:
        ratio = fmpq(-polynomial[0], polynomial[1])
    proofs = [part.proof for part in parts if part.proof is not None]
    if best.refutation is not None:
        proofs.append(best.refutation)
    witness = best.witness
    return PairBudget(
        source=pair[0],
        target=pair[1],
        ratio=ratio,
        exact=bool(none) or ratio is not None,
        witness=() if witness is None else witness.word,
        probabilities=None if witness is None else witness.probabilities,
        at_least=None if none else best.low,
        at_most=high,
        parameters={} if witness is None else witness.parameters,
        polynomial=None if ratio is not None or polynomial is None else str(polynomial).replace("x", "C"),
        parametric=tuple(proofs),
    )


def _pair_budget(  # noqa: PLR0913, PLR0917
    model: HMM, pair: tuple[str, str], length: int, up_to: bool, limits: Limits, ends: list[Deadline]
) -> PairBudget:
    try:
        found = least_ratio(model, pair, length, up_to=up_to, limits=limits)
    except ENDINGS:
        with deferred():
            if not ends:
                ends.append(Deadline.after(GRACE))
            return _lower_bound(model, pair, length, up_to, ends[0])
    chances = found.witness.probabilities
    return PairBudget(
        source=pair[0],
        target=pair[1],
        ratio=found.ratio,
        exact=True,
        witness=_name(model, found.witness.word),
        probabilities=chances if found.witness.first == pair[0] else (chances[1], chances[0]),
        at_least=found.ratio,
        proofs=found.proofs,
        rounds=found.rounds,
    )


def _lower_bound(
    model: HMM, pair: tuple[str, str], length: int, up_to: bool, deadline: Deadline
) -> PairBudget:
    """Return what beam searches find while there is time."""
    word: tuple[int, ...] = ()
    chances: tuple[fmpq, fmpq] | None = None
    at_least: fmpq | None = fmpq(1)
    with suppress(LimitError):
        deadline.check()
        for candidate in promising_words(model, pair, length, up_to=up_to, best=4, deadline=deadline):
            one, two = (word_probability(model, name, candidate, deadline=deadline) for name in pair)
            small, large = sorted((one, two))
            ratio = None if small == 0 else large / small
            better = chances is None or ratio is None or (at_least is not None and ratio > at_least)
            if large and better:
                word, chances, at_least = candidate, (one, two), ratio
    return PairBudget(
        source=pair[0],
        target=pair[1],
        ratio=None,
        exact=at_least is None,
        witness=_name(model, word),
        probabilities=chances,
        at_least=at_least,
    )
