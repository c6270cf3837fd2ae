"""A tester that samples: candidates for violations, with confidence intervals that are certified.

What samples say holds with a confidence only; each candidate is then certified or refuted exactly by its
probabilities. The intervals are those of Clopper and Pearson, with ends that are rationals on the safe side.

Source: LWZ22-long Figure 4.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import lcm

from flint import fmpq, fmpz

from bisimdist.errors import UsageError
from bisimdist.exact.binomial import binomial_interval
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.exact.simplest import simplest_between
from bisimdist.models.entries import SparseRow
from bisimdist.models.hmm import HMM
from bisimdist.progress import UNBOUNDED, Limits

Sampler = Callable[[random.Random], tuple[str, ...]]
"""Runs a mechanism once, with the given source of randomness, and returns what is observed."""

REPORT_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """Observations that were much more frequent from one side than from the other."""

    word: tuple[str, ...]  # the observations
    swapped: bool  # whether it is the second side that makes them more often
    counts: tuple[int, int]  # how often the first and the second side made them
    # with the confidence that was asked for, the ratio of the probabilities is at least this much
    lower: fmpq
    estimate: fmpq | None  # the ratio of the counts; None where one of them is 0


def sampler_of(model: HMM, name: str, length: int) -> Sampler:
    """Return a sampler of the observation sequences of an information state.

    The probabilities are exact: every choice is made by a uniform integer below the common denominator. A
    run whose sequence ends early returns what was observed until then.

    Raises UsageError if an entry depends on a parameter.
    """
    if model.parametric:
        raise UsageError("the model has parameters; expected one with numbers only (see HMM.at)")
    start = _Choice.of(model.distribution(name))
    rows = [_Choice.of(row) if row else None for row in model.rows]
    emissions = [_Choice.of(row) for row in model.emissions]

    def sample(source: random.Random) -> tuple[str, ...]:
        state = start.draw(source)
        observed = [model.observations[emissions[state].draw(source)]]
        while len(observed) < length:
            row = rows[state]
            if row is None:
                break
            state = row.draw(source)
            observed.append(model.observations[emissions[state].draw(source)])
        return tuple(observed)

    return sample


@dataclass(frozen=True, slots=True)
class _Choice:
    """A distribution as integers: the value n belongs to the first entry whose bound is above n."""

    indices: tuple[int, ...]
    bounds: tuple[int, ...]

    @classmethod
    def of(cls, row: SparseRow) -> _Choice:
        numbers = [(index, entry) for index, entry in row if isinstance(entry, fmpq)]
        common = lcm(*(int(entry.q) for _, entry in numbers))
        bounds, total = [], 0
        for _, entry in numbers:
            total += int(entry.p) * (common // int(entry.q))
            bounds.append(total)
        return cls(tuple(index for index, _ in numbers), tuple(bounds))

    def draw(self, source: random.Random) -> int:
        return self.indices[bisect_right(self.bounds, source.randrange(self.bounds[-1]))]


def sample_candidates(  # noqa: PLR0913
    first: Sampler,
    second: Sampler,
    *,
    samples: int = 20_000,
    confidence: ExactNumber = "99/100",
    seed: int = 0,
    keep: int = 10,
    limits: Limits = UNBOUNDED,
) -> tuple[Candidate, ...]:
    """Sample both sides and return the observations whose ratio is largest, the most certain first.

    Half of the samples choose the candidates, the other half, drawn independently, measures them; so the
    bounds of all candidates together hold with the confidence.

    samples: how often each is run in either half.
    confidence: with what probability all of the lower bounds hold.
    seed: makes the answer reproducible.
    keep: how many candidates are measured.
    Raises UsageError if a number is out of range.
    """
    sure = to_fmpq(confidence)
    if not 0 < sure < 1:
        raise UsageError(f"the confidence is {sure}; expected a number strictly between 0 and 1")
    if samples < 1 or keep < 1:
        raise UsageError(f"{samples} samples and {keep} candidates; expected at least 1 of each")
    source = random.Random(seed)
    explored = [_counted(side, samples, source, limits) for side in (first, second)]
    chosen = sorted(
        explored[0].keys() | explored[1].keys(),
        key=lambda word: (-_promise(explored[0][word], explored[1][word]), word),
    )[:keep]
    measured = [_counted(side, samples, source, limits) for side in (first, second)]
    risk = (1 - sure) / (2 * keep)  # one interval for each side of each candidate
    result = []
    for word in chosen:
        counts = (measured[0][word], measured[1][word])
        swapped = explored[1][word] > explored[0][word]
        more, less = reversed(counts) if swapped else counts
        low, _ = binomial_interval(more, samples, risk)
        _, high = binomial_interval(less, samples, risk)
        estimate = fmpq(more, less) if less else None
        result.append(Candidate(word, swapped, counts, low / high, estimate))
    return tuple(sorted(result, key=lambda candidate: -candidate.lower))


def _counted(side: Sampler, samples: int, source: random.Random, limits: Limits) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for number in range(samples):
        if number % REPORT_EVERY == 0:
            limits.deadline.check()
            limits.progress("samples", number, samples)
        counts[side(source)] += 1
    return counts


def _promise(one: int, two: int) -> fmpq:
    """Return a score that prefers large ratios, and ratios that were seen often."""
    more, less = max(one, two), min(one, two)
    return fmpq(2 * more, 2 * less + 1) * fmpq(more, more + 10)


def narrow(
    refute: Callable[[fmpq], fmpq | bool | None], low: fmpq, high: fmpq, precision: fmpq
) -> tuple[fmpq, fmpq]:
    """Narrow a bracket of the least budget by asking about budgets inside it.

    refute: asked about a budget: the exact ratio of a counterexample, which is above it; True if it holds;
        None if that was not decided.
    low, high: a budget that is refuted or attained, and one that holds.
    precision: the width to reach.
    Returns tuple of fmpq: the bracket that was reached: wider than the precision only where a question was
        not decided.
    """
    attained = False  # a ratio that was just reached may be the least budget itself
    while high - low > precision:
        quarter = (high - low) / 4
        budget = low if attained else simplest_between(low + quarter, high - quarter)
        answer = refute(budget)
        if answer is None or answer is False:
            break
        # but not twice in a row: where the supremum is not attained, such steps could go on for ever
        attained = not attained and answer is not True and low < answer <= high
        if answer is True:
            high = budget
        else:
            low = max(low, min(answer, high))
    return low, high


def p_value(
    counts: tuple[int, int], samples: int, ratio: ExactNumber, *, thinnings: int = 20, seed: int = 0
) -> fmpq:
    """Return the p-value of the published testers: how unlikely the counts are if a budget holds.

    The first count is thinned, each case kept with probability 1/ratio, and compared with the second by
    Fisher's exact test; the tails of several thinnings are averaged. A small value speaks against
    ``Pr(first) <= ratio Pr(second)``, a large one for nothing: it is a statement about samples, to be held
    beside the exact answer.

    counts: how often the event came from the first and from the second side.
    samples: how many runs each side made.
    thinnings, seed: how many thinnings, and for their source.
    Raises UsageError if the counts, the samples, the ratio or the thinnings are out of range.

    .. [1] Ding, Wang, Wang, Zhang, Kifer, "Detecting Violations of Differential Privacy", CCS 2018.
    .. [2] Liu, Wang, Zhang, "Verifying Pufferfish Privacy in Hidden Markov Models", long version, Section 7.

    >>> p_value((3, 0), 3, 1)
    1/20
    """
    budget = to_fmpq(ratio)
    if not (min(counts) >= 0 and max(counts) <= samples and samples > 0 and budget >= 1 and thinnings > 0):
        raise UsageError(
            f"counts {counts} of {samples} samples, ratio {budget}, {thinnings} thinnings; expected counts "
            "up to the samples, a ratio of at least 1 and some thinnings"
        )
    source = random.Random(seed)
    keep, of = int(budget.q), int(budget.p)
    total = fmpq(0)
    for _ in range(thinnings):
        kept = sum(source.randrange(of) < keep for _ in range(counts[0]))
        total += _fisher(kept, counts[1], samples)
    return total / thinnings


def _fisher(first: int, second: int, samples: int) -> fmpq:
    """Return how likely the first count is at least as large, of all ways to share both of them out."""
    both = first + second
    term, tail = fmpz.bin_uiui(samples, first) * fmpz.bin_uiui(samples, second), fmpz(0)
    for k in range(first, min(both, samples) + 1):
        tail += term
        term = term * (samples - k) * (both - k) // ((k + 1) * (samples - both + k + 1))
    return fmpq(tail, fmpz.bin_uiui(2 * samples, both))
