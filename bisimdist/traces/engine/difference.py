"""The additive trace metric: the largest difference of the probabilities of one trace, by branch and bound.

What matters after a trace w is the difference of the two vectors of masses alone: the probabilities of wv
differ by what the future v makes of it. Futures lie between 0 and 1, which bounds the difference for all
continuations by the positive and by the negative part of the vector. Vectors that are a multiple of an
earlier one, not longer than it, need not be looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

from flint import fmpq

from bisimdist.errors import Interruption
from bisimdist.exact.number import Exact
from bisimdist.exact.scale import Bounds, Scale
from bisimdist.progress import UNBOUNDED, Limits
from bisimdist.traces.engine.graph import Effort
from bisimdist.traces.engine.system import Vector, WordSystem, direction_of, mass_of

Word = tuple[str, ...]
ZERO = fmpq(0)
REPORT_EVERY = 256
CLOSE = fmpq(1, 2**96)
"""How far apart the bounds may stay, relative to the upper one: a supremum that no trace attains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceDifference(Bounds):
    """Bounds on the largest difference of the probabilities of one trace."""

    lower: Exact  # lower and upper: proved bounds; equal where the value is known
    upper: Exact
    word: Word  # a trace whose probabilities differ by `lower`
    probabilities: tuple[Exact, Exact]
    expanded: tuple[Word, ...] = field(default=(), repr=False)
    nodes: int = 0
    # whether the work was broken off from outside: who asked should start nothing more
    interrupted: bool = False

    @property
    def scale(self) -> Scale:
        return Scale.ADDITIVE


def _lookahead(system: WordSystem, vector: Vector, length: int | None) -> fmpq:
    """Return a bound on the differences after at least one more action, from the parts of a vector."""
    if length is not None and length <= 0:
        return ZERO
    parts: dict[str, tuple[fmpq, fmpq]] = {}
    for state, value in vector:
        action = system.actions[state]
        if action is None:
            continue
        positive, negative = parts.get(action, (ZERO, ZERO))
        parts[action] = (positive + value, negative) if value > 0 else (positive, negative - value)
    return max((max(part) for part in parts.values()), default=ZERO)


def future_bound(system: WordSystem, vector: Vector, length: int | None = None) -> fmpq:
    """Return a bound on the differences of the probabilities of all nonempty continuations of a trace.

    ``vector``: the difference of the two vectors of masses.
    ``length``: the longest continuation that counts; None for all.
    """
    bound = _lookahead(system, vector, length)
    if system.combination is not None and bound:
        key, factor = system.scaled_key(vector)
        bound = min(bound, factor * _lookahead(system, key, length))
    return bound


@dataclass(slots=True)
class _Item:
    vector: Vector
    factor: fmpq
    parent: int
    action: str
    depth: int


class _Search:
    """Branch and bound over the differences after traces."""

    def __init__(self, system: WordSystem, first: int, second: int, length: int | None) -> None:
        self.system = system
        self.length = length
        self.items: list[_Item] = []
        self.heap: list[tuple[fmpq, int]] = []
        self.seen: dict[Vector, list[tuple[int, fmpq]]] = {}
        self.best, self.where = ZERO, 0
        self.expanded: list[int] = []
        self.spent = 0
        self.active = ZERO
        vector, _ = direction_of({first: 1} | ({second: -1} if second != first else {first: 0}))
        self.add(vector, fmpq(1), -1, "", 0)

    def add(self, vector: Vector, factor: fmpq, parent: int, action: str, depth: int) -> None:
        """Take a trace into account, and keep it if its continuations may be better."""
        size = abs(mass_of(vector)) * factor
        number = len(self.items)
        if size > self.best or not self.items:
            self.best, self.where = size, number
        elif not vector:
            return
        bound = factor * future_bound(self.system, vector, self._left(depth))
        if (bound > self.best and not self._known(vector, factor, depth)) or self.where == number:
            self.items.append(_Item(vector, factor, parent, action, depth))
            rows = self.system.rows
            self.spent += sum(
                (1 + value.bit_length() // 64) * (1 + len(rows[state])) for state, value in vector
            )
            if bound > self.best:
                heappush(self.heap, (-bound, number))

    def _left(self, depth: int) -> int | None:
        return None if self.length is None else self.length - depth

    def _known(self, vector: Vector, factor: fmpq, depth: int) -> bool:
        """Tell whether a multiple of the vector was met before, no later and no shorter; remember it."""
        key, scale = self.system.scaled_key(vector)
        if not key:
            return True
        if key[0][1] < 0:
            key = tuple((state, -value) for state, value in key)
        size = factor * scale
        depth = 0 if self.length is None else depth
        entries = self.seen.setdefault(key, [])
        if any(earlier <= depth and size <= known for earlier, known in entries):
            return True
        entries.append((depth, size))
        return False

    def expand(self) -> None:
        """Look beyond the trace with the largest bound."""
        self.active = -self.heap[0][0]  # what is left, should the work be interrupted in between
        _, number = heappop(self.heap)
        item = self.items[number]
        self.expanded.append(number)
        for action, (vector, scale) in self.system.after(item.vector).items():
            self.add(vector, item.factor * scale, number, action, item.depth + 1)
        self.active = ZERO

    def word(self, number: int) -> Word:
        """Return the trace of an item."""
        result = []
        while self.items[number].parent >= 0:
            result.append(self.items[number].action)
            number = self.items[number].parent
        return tuple(reversed(result))

    @property
    def upper(self) -> fmpq:
        """The best value, or what is still possible."""
        return max(self.best, self.active, -self.heap[0][0] if self.heap else ZERO)


def largest_difference(  # noqa: PLR0913
    system: WordSystem,
    first: int,
    second: int,
    *,
    length: int | None = None,
    effort: Effort | None = None,
    limits: Limits = UNBOUNDED,
) -> TraceDifference:
    """Return bounds on sup_w |Pr(first, w) - Pr(second, w)|, equal wherever the search comes to an end.

    The arguments are those of `bisimdist.traces.engine.ratio.largest_ratio`.

    >>> from bisimdist.models.pa import PA, Transition
    >>> step = Transition(0, "a", ((0, fmpq(1, 2)), (1, fmpq(1, 2))))
    >>> system = WordSystem.of(PA(("s", "t"), (step,)))
    >>> largest_difference(system, 0, 1).upper
    1
    """
    effort = effort or Effort()
    search = _Search(system, first, second, length)
    interrupted = False
    try:
        while search.heap and search.upper - search.best > CLOSE * search.upper:
            if limits.deadline.passed() or len(search.items) >= effort.nodes or search.spent >= effort.work:
                break
            search.expand()
            if len(search.expanded) % REPORT_EVERY == 0:
                limits.progress("traces", len(search.items), None)
    except Interruption:
        interrupted = True  # what was found by then is kept
    word = search.word(search.where)
    upper = search.upper
    return TraceDifference(
        lower=search.best,
        upper=upper,
        word=word,
        probabilities=(system.probability(first, word), system.probability(second, word)),
        expanded=tuple(search.word(number) for number in search.expanded),
        nodes=len(search.items),
        interrupted=interrupted,
    )
