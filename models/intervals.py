"""Chains that are only known roughly: labelled Markov chains whose probabilities lie in intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from flint import fmpq

from bisimdist.errors import Located, ModelError
from bisimdist.exact.rational import ExactNumber, format_rational, shorten_rational, to_fmpq
from bisimdist.models.labelled import Labelled, Row, check_labels, check_pairs, check_states, sparse_row
from bisimdist.models.lmc import LMC

IntervalRow = tuple[tuple[int, fmpq, fmpq], ...]
"""The successors of a state: (index of a state, least probability, most), by ascending index."""

MAX_VERTICES = 4096  # how many vertices a row may have,
MAX_CHOICES = 100_000  # how many two of one label together,
FEW = 24  # and how many rows of wider intervals have in their place


@dataclass(frozen=True, slots=True, repr=False)
class IntervalChain(Labelled):
    """All labelled Markov chains whose probabilities lie in intervals.

    Intervals are made as narrow as the others of their row make them: every end of an interval is a
    probability that some row has.

    Parameters
    ----------
    states, labels
        The names of the states, and their labels.
    rows
        For each state its successors with their intervals.
    pairs
        Pairs of indices: the neighbouring states; may be empty.
    confidence
        With what probability the true chain is one of these, where they were learned from data.
    program
        What identifies the program that it was made of, where it was.

    Raises
    ------
    ModelError
        Naming the state or transition that is at fault.

    Examples
    --------
    >>> import bisimdist
    >>> model = bisimdist.parse_model(
    ...     "{kind: lmc, states: {s: a, t: b, u: c}, transitions:"
    ...     " {s: {t: [0.4, 0.6], u: [0.4, 0.6]}, t: {t: 1}, u: {u: 1}}}"
    ... )
    >>> model.states
    ('s', 't', 'u')
    """

    states: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[IntervalRow, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    confidence: fmpq | None = None
    program: Mapping[str, object] = field(default_factory=dict, kw_only=True, repr=False, compare=False)
    _position: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_position", check_states("chain", self.states))
        check_labels(self.states, self.labels, self.rows)
        narrow = tuple(
            narrowed(row, self.states, f"state {name!r}", f"transition {name}")
            for name, row in zip(self.states, self.rows, strict=True)
        )
        object.__setattr__(self, "rows", narrow)
        check_pairs(self.pairs, len(self.states))
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise ModelError(
                f"it is {shorten_rational(self.confidence)}; expected a number between 0 and 1",
                place="confidence",
            )

    @classmethod
    def from_mappings(
        cls,
        states: Mapping[str, str],
        transitions: Mapping[str, Mapping[str, ExactNumber | Sequence[ExactNumber]]],
        pairs: Iterable[tuple[str, str]] = (),
    ) -> IntervalChain:
        """Make a model from names: a probability is a number, or two for an interval.

        Examples
        --------
        >>> chain = IntervalChain.from_mappings(
        ...     {"s": "a", "t": "b"}, {"s": {"s": ["0.4", "0.6"], "t": [0, "1/2"]}, "t": {"t": 1}})
        >>> chain.rows[0]
        ((0, 1/2, 3/5), (1, 2/5, 1/2))
        """

        def read(
            name: str, row: Mapping[str, ExactNumber | Sequence[ExactNumber]], position: Mapping[str, int]
        ) -> IntervalRow:
            found = sparse_row(row, position, f"transition {name}", _ends)
            return tuple((target, low, high) for target, (low, high) in found)

        return cls._from_rows(states, transitions, pairs, read)

    def canonical(self) -> dict[str, object]:
        """Return the model as plain data in canonical form, without its pairs: what `digest` hashes."""
        return self._canonical_form(
            {
                self.states[target]: format_rational(low)
                if low == high
                else [format_rational(low), format_rational(high)]
                for target, low, high in row
            }
            for row in self.rows
        )

    def provenance(self) -> dict[str, object]:
        """Return what identifies the program that it was made of, as plain data; empty if none."""
        return dict(self.program)

    def relaxed(self) -> IntervalChain:
        """Return the chain with wider intervals where rows have too many vertices, else itself.

        Examples
        --------
        >>> many = {f"t{k}": (0, "1/8") for k in range(16)}
        >>> chain = IntervalChain.from_mappings(
        ...     {"s": "a", **dict.fromkeys(many, "b")}, {"s": many, **{t: {t: 1} for t in many}})
        >>> sum(high == 1 for _, _, high in chain.relaxed().rows[0])
        16
        """
        counts = [len(first_vertices(row, MAX_VERTICES)) for row in self.rows]
        crowded = set()
        for label in set(self.labels):
            here = sorted(count for count, mine in zip(counts, self.labels, strict=True) if mine == label)
            if prod(here[-2:]) > MAX_CHOICES or here[-1] > MAX_VERTICES:
                crowded.add(label)
        rows = tuple(
            _manageable(row) if label in crowded else row
            for row, label in zip(self.rows, self.labels, strict=True)
        )
        return self if rows == self.rows else replace(self, rows=rows)

    def member(self, rows: Sequence[Row]) -> LMC:
        """Return a chain of these, by its rows.

        Raises
        ------
        ModelError
            If it is none of them.
        """
        for name, mine, row in zip(self.states, self.rows, rows, strict=True):
            given = dict(row)
            inside = all(low <= given.pop(target, fmpq(0)) <= high for target, low, high in mine)
            if given or not inside:
                raise ModelError("the probabilities leave their intervals", place=f"state {name!r}")
        return LMC(self.states, self.labels, tuple(rows), self.pairs)


def _ends(value: ExactNumber | Sequence[ExactNumber], place: str) -> tuple[fmpq, fmpq]:
    with Located(place=place):
        low, high = map(to_fmpq, value if isinstance(value, list | tuple) else (value, value))
    return low, high


def shorten_interval(low: fmpq, high: fmpq) -> str:
    """Write an interval for a picture; a number where it is one."""
    return shorten_rational(low) if low == high else f"{shorten_rational(low)} ... {shorten_rational(high)}"


def rough_or_exact(model: IntervalChain) -> IntervalChain | LMC:
    """Return the one chain that fits, where the intervals leave no choice, and the model otherwise."""
    if any(low != high for row in model.rows for _, low, high in row):
        return model
    rows = tuple(tuple((target, low) for target, low, _ in row) for row in model.rows)
    return LMC(model.states, model.labels, rows, model.pairs)


def narrowed(row: IntervalRow, states: Sequence[str], place: str, transition: str) -> IntervalRow:
    """Return a row with all ends of intervals within reach, without successors that nothing leads to."""
    previous = -1
    for target, low, high in row:
        if not previous < target < len(states):
            raise ModelError("the successors are not states in ascending order, each once", place=place)
        previous = target
        if not 0 <= low <= high <= 1:
            raise ModelError(
                f"the interval is [{shorten_rational(low)}, {shorten_rational(high)}]; "
                "expected 0 <= lower end <= upper end <= 1",
                place=f"{transition} -> {states[target]}",
            )
    least = sum((low for _, low, _ in row), fmpq(0))
    most = sum((high for _, _, high in row), fmpq(0))
    if not least <= 1 <= most:
        raise ModelError(
            f"the probabilities sum to between {shorten_rational(least)} and {shorten_rational(most)}; "
            "expected intervals from which a sum of 1 can be chosen",
            place=place,
        )
    narrow = ((t, max(low, 1 - (most - high)), min(high, 1 - (least - low))) for t, low, high in row)
    return tuple(entry for entry in narrow if entry[2])


def _manageable(row: IntervalRow) -> IntervalRow:
    """Return a row that has few vertices: upper ends are given up, those of the widest intervals first."""
    slack = 1 - sum((low for _, low, _ in row), fmpq(0))
    widest = sorted(range(len(row)), key=lambda k: (row[k][1] - row[k][2], k))
    found = row
    for k in widest:
        if len(first_vertices(found, FEW)) <= FEW:
            break
        target, low, _ = row[k]
        found = (*found[:k], (target, low, low + slack), *found[k + 1 :])
    return found


def filled(row: IntervalRow, order: Sequence[int]) -> Row:
    """Return the vertex of a row that gives as much as it may to its successors one after the other.

    >>> half = fmpq(1, 2)
    >>> filled(((0, fmpq(0), half), (1, fmpq(0), half), (2, fmpq(0), half)), [2, 0, 1])
    ((0, 1/2), (2, 1/2))
    """
    left = 1 - sum((low for _, low, _ in row), fmpq(0))
    made = {}
    for k in order:
        target, low, high = row[k]
        step = min(left, high - low)
        made[target] = low + step
        left -= step
    return tuple((t, p) for t, p in sorted(made.items()) if p)


def vertices(row: IntervalRow, place: str = "") -> tuple[Row, ...]:
    """Return the vertices of a row: all of its distributions are mixtures of these, and no fewer will do.

    At a vertex all probabilities but one are ends of their intervals.

    Raises ModelError if there are more than `MAX_VERTICES`.

    >>> sorted(vertices(((0, fmpq(1, 4), fmpq(1, 2)), (1, fmpq(1, 2), fmpq(3, 4)))))
    [((0, 1/4), (1, 3/4)), ((0, 1/2), (1, 1/2))]
    """
    found = first_vertices(row, MAX_VERTICES)
    if len(found) > MAX_VERTICES:
        raise ModelError(
            f"the intervals have more than {MAX_VERTICES} vertices; expected fewer successors, or more of "
            "them with a probability that is known",
            place=place,
        )
    return found


def first_vertices(row: IntervalRow, limit: int) -> tuple[Row, ...]:
    """Return the vertices of a row, or one more than a limit of them."""
    found: dict[Row, None] = {}
    for free in range(len(row)):
        others = [*row[:free], *row[free + 1 :]]
        _, low, high = row[free]
        least, most = [low], [high]
        for _, below, above in reversed(others):
            least.append(least[-1] + below)
            most.append(most[-1] + above)
        stack: list[tuple[tuple[tuple[int, fmpq], ...], fmpq]] = [((), fmpq(1))]
        while stack:
            chosen, rest = stack.pop()
            left = len(others) - len(chosen)
            if not least[left] <= rest <= most[left]:
                continue
            if left:
                target, below, above = others[len(chosen)]
                stack += [
                    ((*chosen, (target, end)), rest - end)
                    for end in ((below, above) if below < above else (below,))
                ]
                continue
            found[tuple(sorted((t, p) for t, p in (*chosen, (row[free][0], rest)) if p))] = None
            if len(found) > limit:
                return tuple(found)
    return tuple(found)
