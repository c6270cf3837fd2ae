"""Trace equivalence of fully probabilistic automata, exactly, with a least trace that tells states apart.

The methods are those of Schutzenberger61 and Tzeng92.

Source: CCP18 Definition 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import lcm

import numpy as np

from bisimdist.errors import LimitError
from bisimdist.models.pa import PA
from bisimdist.models.partition import canonical_numbering
from bisimdist.progress import NEVER, UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.first_word import FirstWords
from bisimdist.traces.engine.functions import TraceFunctions, fingerprints, primes
from bisimdist.traces.engine.rational_basis import RationalBasis, ResidueBasis, agree_on
from bisimdist.traces.engine.system import WordSystem

Word = tuple[str, ...]


def distinguishing_trace(automaton: PA, s: int, t: int, *, deadline: Deadline = NEVER) -> Word | None:
    """Return the first trace that two states give different probabilities, None where they are equivalent.

    returns: of all traces w with Pr(s, w) != Pr(t, w) one of least length, of these the alphabetically first.
    Source: Tzeng92.

    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> half, one = fmpq(1, 2), fmpq(1)
    >>> steps = (Transition(0, "a", ((2, half),)), Transition(1, "a", ((2, one),)))
    >>> automaton = PA(("s", "t", "u"), (*steps, Transition(2, "b", ((2, one),))))
    >>> distinguishing_trace(automaton, 0, 1)
    ('a', 'b')
    """
    comparison = TraceComparison.of(automaton, [(s, t)])
    comparison.run(limits=Limits(deadline=deadline))
    return comparison.words[0]


@dataclass(slots=True)
class TraceComparison:
    """Which of some pairs of states are trace equivalent, and the least traces that tell the others apart.

    Traces are explored modulo primes. A difference modulo a prime is a difference. Equality modulo primes is
    equality once their product exceeds the common denominator of the two probabilities. So every answer is
    exact once `run` has ended; if it was cut short, what `words` holds still tells its pair apart.
    """

    chain: WordSystem  # what the states can reach, bisimilar states merged
    pairs: tuple[tuple[int, int], ...]  # the pairs, as classes of the chain
    words: list[Word | None]  # for each pair the least trace found so far
    # for each pair whether the trace is proved to be the least one or, where there is none, the states are
    # proved to be equivalent
    decided: list[bool]
    basis: RationalBasis | None = None
    bits: int = 0
    primes_used: int = 0
    rank: int = 0
    _cleared: dict[tuple[int, int], int] = field(default_factory=dict)
    _images: list[ResidueBasis] = field(default_factory=list)
    _longest: int | None = None

    @classmethod
    def of(cls, automaton: PA, pairs: Sequence[tuple[int, int]]) -> TraceComparison:
        """Ask about pairs of states, given by index."""
        chain = WordSystem.of(automaton, (state for pair in pairs for state in pair))
        classes = tuple((chain.class_of[s], chain.class_of[t]) for s, t in pairs)
        return cls(chain, classes, [None] * len(pairs), [s == t for s, t in classes])

    def run(self, *, least: bool = True, limits: Limits = UNBOUNDED) -> TraceComparison:
        """Work until every pair is decided."""
        if not all(self.decided):
            self._look(limits.deadline)
        supply = primes(self.chain)
        modulus = 1
        while not all(self.decided):
            limits.deadline.check()
            limits.progress("primes", self.primes_used, None)
            prime = next(supply, None)
            if prime is None:
                raise LimitError("there are no more primes")
            self._explore(prime, limits.deadline)
            modulus *= prime
            self.primes_used += 1
            self.bits = modulus.bit_length()
            self._settle(modulus, least, limits.deadline)
        return self

    def _look(self, deadline: Deadline) -> None:
        """Decide the pairs that few steps tell apart."""
        first = FirstWords.of(self.chain, deadline)
        for n, (s, t) in enumerate(self.pairs):
            if not self.decided[n]:
                self.words[n] = first.word(s, t, deadline)
                self.decided[n] = self.words[n] is not None

    def _explore(self, prime: int, deadline: Deadline) -> None:
        """Look for traces that tell pairs apart, up to the length that may still matter."""
        open_pairs = [n for n, done in enumerate(self.decided) if not done]
        ends = [len(word) for n in open_pairs if (word := self.words[n]) is not None]
        everything = len(ends) < len(open_pairs)
        functions = TraceFunctions(self.chain, prime)
        missing = set(open_pairs)
        kept, rank = [], 0
        performing = sum(step is not None for step in self.chain.steps)
        longest = performing
        for level in functions.levels(deadline):
            found = self._told_apart(functions, level.values, level.rank, sorted(missing))
            for n, word in found.items():
                missing.discard(n)
                best = self.words[n]
                if best is None or (len(word), word) < (len(best), best):
                    self.words[n] = word
            rank = level.rank
            kept.append(level.values)
            # Over the rationals the rank is no less; once it stays the same it stays so for ever.
            longest = min(longest, level.length + performing - rank)
            if not missing or (not everything and level.length >= max(ends)):
                return
        self.rank = max(self.rank, rank)
        self._longest = longest if self._longest is None else min(longest, self._longest)
        self._images.append(ResidueBasis.of(self.chain, prime, kept, deadline))

    def _told_apart(
        self, functions: TraceFunctions, values: np.typing.NDArray[np.int64], rank: int, asked: Sequence[int]
    ) -> dict[int, Word]:
        if not asked:
            return {}
        sources = np.array([self.pairs[n][0] for n in asked])
        targets = np.array([self.pairs[n][1] for n in asked])
        differs = values[:, sources] != values[:, targets]
        some = differs.any(axis=0)
        first = differs.argmax(axis=0)
        start = rank - len(values)
        return {n: functions.word(start + int(first[k])) for k, n in enumerate(asked) if some[k]}

    def _settle(self, modulus: int, least: bool, deadline: Deadline) -> None:
        """Mark what the primes so far prove."""
        if not least:
            for n, word in enumerate(self.words):
                self.decided[n] = self.decided[n] or word is not None
        wanted: dict[int, set[int]] = {}
        lengths: dict[int, int] = {}
        for n, done in enumerate(self.decided):
            word = self.words[n]
            length = len(word) if word is not None else self._longest
            if not done and length is not None:
                lengths[n] = length
                missing = [block for block in self.pairs[n] if (block, length) not in self._cleared]
                if missing:
                    wanted.setdefault(length, set()).update(missing)
        cleared = self._cleared
        cleared.update(self.chain.cleared(wanted))
        for n, length in lengths.items():
            s, t = self.pairs[n]
            # The difference of the probabilities is at most 1, and an integer over this number.
            self.decided[n] = modulus > lcm(cleared[s, length], cleared[t, length])
        self._settle_by_basis(deadline)

    def _settle_by_basis(self, deadline: Deadline) -> None:
        """Prove equivalence by rational functions that span a space which no step leaves."""
        left = [n for n, done in enumerate(self.decided) if not done and self.words[n] is None]
        count = len(self._images)
        if not left or count & (count - 1):
            return
        self.basis = self.basis or RationalBasis.proved(self.chain, self._images, deadline)
        if self.basis is not None:
            for n in left:
                self.decided[n] = agree_on(self.basis, *self.pairs[n])


def trace_equivalence_classes(
    automaton: PA, states: Iterable[int] | None = None, *, deadline: Deadline = NEVER
) -> tuple[int, ...]:
    """Return for each state its class of trace equivalence, numbered by first states.

    ``states``: the states to classify; by default all.

    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> half, one = fmpq(1, 2), fmpq(1)
    >>> rows = [((2, half), (3, half)), ((4, one),), ((5, one),), ((6, one),), ((5, half), (6, half))]
    >>> steps = [Transition(s, "aabbb"[s], row) for s, row in enumerate(rows)]
    >>> steps += [Transition(5, "c", ((7, one),)), Transition(6, "d", ((7, one),))]
    >>> automaton = PA(tuple("stuvwxyz"), tuple(steps))
    >>> trace_equivalence_classes(automaton)
    (0, 0, 1, 2, 3, 4, 5, 6)
    """
    asked = list(range(len(automaton)) if states is None else states)
    chain = WordSystem.of(automaton, asked)
    labels = fingerprints(chain, deadline)
    while True:
        first: dict[int, int] = {}
        pairs = [(first.setdefault(label, block), block) for block, label in enumerate(labels)]
        pairs = [(s, t) for s, t in pairs if s != t]
        comparison = TraceComparison(chain, tuple(pairs), [None] * len(pairs), [False] * len(pairs))
        comparison.run(least=False, limits=Limits(deadline=deadline))
        apart = {t: word for (_, t), word in zip(pairs, comparison.words, strict=True) if word is not None}
        if not apart:
            return canonical_numbering(labels[chain.class_of[state]] for state in asked)
        labels = list(canonical_numbering((label, apart.get(b)) for b, label in enumerate(labels)))
