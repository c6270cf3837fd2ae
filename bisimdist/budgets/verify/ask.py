"""Questions about hidden Markov models: does a budget hold, and what is the least one.

Source: LWZ22-conference Definition 1, LWZ22-conference Definition 3, LWZ22-long Definition 3.1,
LWZ22-long Example 4.2, LWZ22-long Example 4.4, LWZ22-long Definition 5.1, LWZ22-long Example 6.1,
LWZ22-long Example 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from flint import fmpq

from bisimdist.budgets.engine.critical import only_candidate
from bisimdist.budgets.verify.answer import (
    BudgetAnswer,
    PairBudget,
    VerifyAnswer,
)
from bisimdist.budgets.verify.sampling import NarrowedBudget, narrow_budget
from bisimdist.budgets.verify.verification import Verification, named
from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.logarithm import alpha_below
from bisimdist.exact.rational import ExactNumber
from bisimdist.faces.shown.asked_pairs import asked_budget, asked_distributions
from bisimdist.interruption import OnInterrupt, deferred, interruptible
from bisimdist.models.hmm import HMM
from bisimdist.parallel import Pool
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.traces.engine.beam import promising_words
from bisimdist.traces.engine.forward import is_possible, word_probability
from bisimdist.traces.engine.search import least_ratio

ENGINES = ("auto", "exact", "smt", "both")
"""``exact``: information states, or Bernstein coefficients where there are parameters; ``smt``: Z3."""

MAX_LENGTH = 100_000

GRACE = 0.8  # how many seconds a guess may take after the time limit, to have a lower bound to show


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
    smt_seconds: float | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> VerifyAnswer:
    """Decide whether Pr(w | pi) <= C Pr(w | tau), and the converse, for every sequence w of a length.

    Source: LWZ22.

    Parameters
    ----------
    model
        The model. If it has parameters, the question is about all their values inside the box.
    ratio, epsilon
        One of the two: the budget C >= 1, or epsilon >= 0 for C = e**epsilon. The latter is irrational:
        rational numbers close below and above it decide. If they disagree, the verdict is unknown.
    length
        How many observations the sequences have.
    up_to
        Whether shorter sequences count too.
    pairs
        Names of distributions; by default the pairs of the model.
    engine
        ``"exact"``, ``"smt"``, ``"both"`` or ``"auto"``. With ``"both"`` the two engines work side by side,
        and the answer says what each of them says and when.
    smt_seconds
        How many seconds Z3 may take for a pair; by default 60 with ``"both"``, and otherwise 60 for a query.
    deadline, progress
        As everywhere. A limit makes a verdict unknown.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    VerifyAnswer
        For each pair a verdict, with a counterexample if the budget is violated.

    Raises
    ------
    UsageError
        If an argument is out of range, or no sequence of the length is possible from either distribution.
    ModelError
        If a name is not that of a distribution.

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
            Verification(model, pair, length, up_to, engine, limits, smt_seconds).asked(budget, exponent)
            for pair in asked
        ),
    )


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
        The model. If it has parameters, one budget holds for all their values, and the answer has bounds on
        it.
    precision
        How far apart these bounds may be. With one parameter the value itself is known if only one candidate
        lies between them: a rational, or a zero of a polynomial.
    cluster
        The workers that share the pairs, as for `bisimdist.bound`; by default none.
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
        return pair_budget(asked.model, pair, asked.length, asked.up_to, limits, asked.ends)
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


def pair_budget(  # noqa: PLR0913, PLR0917
    model: HMM,
    pair: tuple[str, str],
    length: int,
    up_to: bool,
    limits: Limits,
    ends: list[Deadline],
    start: tuple[int, ...] = (),
) -> PairBudget:
    """Return the least budget of a pair; where a limit comes first, what guesses made until `ends` show.

    start: a sequence whose ratio is looked at first.
    """
    try:
        found = least_ratio(model, pair, length, up_to=up_to, start=start, limits=limits)
    except ENDINGS:
        with deferred():
            if not ends:
                ends.append(Deadline.after(GRACE))
            return _lower_bound(model, pair, length, up_to, ends[0], start)
    chances = found.witness.probabilities
    return PairBudget(
        source=pair[0],
        target=pair[1],
        ratio=found.ratio,
        exact=True,
        witness=named(model, found.witness.word),
        probabilities=chances if found.witness.first == pair[0] else (chances[1], chances[0]),
        at_least=found.ratio,
        proofs=found.proofs,
        rounds=found.rounds,
    )


def _lower_bound(  # noqa: PLR0913, PLR0917
    model: HMM,
    pair: tuple[str, str],
    length: int,
    up_to: bool,
    deadline: Deadline,
    start: tuple[int, ...] = (),
) -> PairBudget:
    """Return what beam searches find while there is time."""
    word: tuple[int, ...] = ()
    chances: tuple[fmpq, fmpq] | None = None
    at_least: fmpq | None = fmpq(1)
    with suppress(LimitError):
        deadline.check()
        words = promising_words(model, pair, length, up_to=up_to, best=4, deadline=deadline)
        for candidate in chain([start] if start else [], words):
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
        witness=named(model, word),
        probabilities=chances,
        at_least=at_least,
    )
