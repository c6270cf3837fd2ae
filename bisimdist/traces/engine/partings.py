"""The least traces that tell each two of some classes apart, found for all of them at once.

Modulo a prime, traces sort the classes: by the first trace, then by the second, and so on. The first trace
that tells two of them apart is the first of those that part neighbours between them in this order. So all
that there is to say of the pairs of n classes takes n - 1 numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lcm

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from bisimdist.errors import LimitError
from bisimdist.interruption import deferred
from bisimdist.progress import NEVER, UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.equivalence import Word
from bisimdist.traces.engine.functions import TraceFunctions, primes
from bisimdist.traces.engine.residue_echelon import Residues
from bisimdist.traces.engine.system import WordSystem

KEPT = 1_000_000  # so many exact probabilities of traces are kept

ALIKE = np.iinfo(np.int64).max
"""In place of the number of a trace, or of its length: there is none that tells them apart."""

Numbers = NDArray[np.int64]


@dataclass(slots=True)
class _Order:
    """Members sorted by traces, and for each two neighbours the number of the first trace that parts them."""

    members: Numbers
    parted: Numbers

    @classmethod
    def of(cls, count: int) -> _Order:
        return cls(np.arange(count), np.full(count - 1, ALIKE))

    @property
    def last(self) -> int:
        """The last trace that parts any two; `ALIKE` where some are not parted."""
        return int(self.parted.max())

    def refine(self, number: int, values: Residues) -> None:
        """Sort those that no trace has parted yet by one more, with its value at each member."""
        alike = self.parted == ALIKE
        found = values[self.members]
        if not (alike & (found[1:] != found[:-1])).any():
            return
        runs = np.concatenate([[0], np.cumsum(~alike)])
        self.members = self.members[np.lexsort((found, runs))]
        found = values[self.members]
        self.parted[alike & (found[1:] != found[:-1])] = number

    def row(self, member: int) -> Numbers:
        """Return for each member the number of the first trace that tells it from this one."""
        (at,) = map(int, np.flatnonzero(self.members == member))
        row = np.full(len(self.members), ALIKE)
        row[self.members[at + 1 :]] = np.minimum.accumulate(self.parted[at:])
        row[self.members[:at]] = np.minimum.accumulate(self.parted[:at][::-1])[::-1]
        return row

    def sooner(self, other: _Order) -> bool:
        """Tell whether traces part some two sooner here than in another order."""
        place = np.argsort(self.members)[other.members]
        both = zip(place[:-1].tolist(), place[1:].tolist(), other.parted.tolist(), strict=True)
        return any(self.parted[min(i, j) : max(i, j)].min() < known for i, j, known in both)


@dataclass(slots=True)
class Partings:
    """The least traces that tell each two of some classes apart.

    ``words``: traces, shortest first and then alphabetically, among them all that are needed.
    ``least``: whether traces are proved to be of least length and, of these, the alphabetically first.

    >>> from bisimdist.models.pa import PA, Transition
    >>> half, one = fmpq(1, 2), fmpq(1)
    >>> steps = (Transition(0, "a", ((2, half),)), Transition(1, "a", ((2, one),)))
    >>> automaton = PA(("s", "t", "u"), (*steps, Transition(2, "b", ((2, one),))))
    >>> found = Partings(WordSystem.of(automaton), (0, 1, 2)).run()
    >>> [found.words[number] for number in found.row(0)[1:]]
    [('a', 'b'), ('a',)]
    >>> found.probability(0, ("a", "b")), found.probability(1, ("a", "b"))
    (1/2, 1)
    """

    chain: WordSystem
    classes: tuple[int, ...]
    words: list[Word] = field(default_factory=list)
    least: bool = False
    _orders: list[_Order] = field(default_factory=list)
    _known: dict[Word, list[fmpq]] = field(default_factory=dict)

    def run(self, limits: Limits = UNBOUNDED) -> Partings:
        """Work until all traces are known, and proved to be the least ones."""
        modulus, length = 1, ALIKE
        for used, prime in enumerate(primes(self.chain)):
            if len(self.classes) < 2 or self._proved(modulus, length):
                break
            limits.deadline.check()
            limits.progress("primes", used, None)
            length = min(length, self._explore(prime, length, limits.deadline))
            modulus *= prime
        else:
            raise LimitError("there are no more primes")
        self.least = True
        return self

    def _proved(self, modulus: int, length: int) -> bool:
        """Tell whether probabilities of traces up to a length are equal where they are modulo the primes."""
        if length == ALIKE:
            return False
        cleared = sorted(self.chain.cleared({length: set(self.classes)}).values())
        # The difference of the probabilities is at most 1, and an integer over what clears both.
        return modulus > min(lcm(*cleared), cleared[-1] * cleared[-2])

    def _explore(self, prime: int, length: int, deadline: Deadline) -> int:
        """Sort the classes modulo a prime, by traces up to a length; return what length parts them all."""
        functions, order = TraceFunctions(self.chain, prime), _Order.of(len(self.classes))
        try:
            for level in functions.levels(deadline):
                values = level.values[:, self.classes]
                for number, function in enumerate(values, level.rank - len(values)):
                    order.refine(number, function)
                if order.last < ALIKE or level.length >= length:
                    break
            return len(functions.word(order.last)) if order.last < ALIKE else ALIKE
        finally:
            with deferred():
                self._take(order, functions)

    def _take(self, order: _Order, functions: TraceFunctions) -> None:
        """Keep what an order says, if it says anything new, under common numbers of traces."""
        found = {number: functions.word(number) for number in set(order.parted.tolist()) - {ALIKE}}
        words = sorted({*self.words, *found.values()}, key=lambda word: (len(word), word))
        place = {word: number for number, word in enumerate(words)}
        for each, named in (
            (order, found),
            *((known, dict(enumerate(self.words))) for known in self._orders),
        ):
            numbers = {number: place[word] for number, word in named.items()} | {ALIKE: ALIKE}
            each.parted = np.array([numbers[number] for number in each.parted.tolist()])
        self.words = words
        if not self._orders or order.sooner(self._orders[0]):
            self._orders.append(order)

    def row(self, member: int) -> Numbers:
        """Return for each class the number of the trace that tells it from one of them, or `ALIKE`."""
        row = np.full(len(self.classes), ALIKE)
        for order in self._orders:
            np.minimum(row, order.row(member), out=row)
        return row

    def probability(self, member: int, word: Word, deadline: Deadline = NEVER) -> fmpq:
        """Return the exact probability of a trace from one of the classes."""
        known = self._known
        values = known.get(word)
        if values is None:
            begun = next((k for k in range(1, len(word)) if word[k:] in known), len(word))
            values = known.get(word[begun:]) or [fmpq(1)] * len(self.chain)
            for k in reversed(range(begun)):
                deadline.check()
                values = self._before(word[k], values)
                known[word[k:]] = values
                if len(known) * len(values) > KEPT:
                    del known[next(iter(known))]
        return values[self.classes[member]]

    def _before(self, action: str, values: list[fmpq]) -> list[fmpq]:
        """Return the probabilities of a trace with one more action, from those of the trace."""
        none = fmpq(0)
        return [
            sum((p * values[t] for t, p in step[1]), none) if step is not None and step[0] == action else none
            for step in self.chain.steps
        ]
