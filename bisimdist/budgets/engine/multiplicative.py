"""Invariants for all lengths: how many times more probable a sequence can be from one state than another.

With ``g_w(i)`` the probability of the sequence w after state i has been left, a table r has
``g_w(i) <= r(i, j) g_w(j)`` for all w. It is proved like a pre-fixed point: from the inequalities for w
follow those for xw, by a coupling of the two vectors that the observation x makes of the rows of i and j, in
which moving mass from k to m costs the factor r(k, m). With all factors equal these are the skewed couplings
of cost zero; here each pair of states has a factor of its own. See ``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from flint import fmpq

from bisimdist.exact.doubles import as_double, from_double, simplest_within
from bisimdist.lp.multiplicative import lift_ratio
from bisimdist.progress import UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.numeric import Function, NumericModel

Pair = tuple[int, int]

Moves = Mapping[int, Mapping[Pair, fmpq]]  # by observation, how much mass goes from which state to which

Table = Mapping[Pair, fmpq]
Row = Sequence[tuple[int, fmpq]]

ROUNDS = 200
CEILING = 1e9
SETTLED = 1e-10
INFLATIONS = (0.0, 1e-9, 1e-6, 1e-3, 3e-2)
MAX_PAIRS = 4_000


@dataclass(frozen=True, slots=True)
class Factors:
    """A table of factors with its proof, and what it says about a pair of information states."""

    table: Table  # r(i, j) for the pairs of different states that are needed; at least one
    # for each of these pairs and each observation the coupling of the two vectors
    moves: Mapping[Pair, Moves]
    # forward and backward: for each observation the couplings of the first information state with the second,
    # and of the second with the first
    forward: Moves
    backward: Moves
    ratio: fmpq  # the budget that they prove, both ways


@dataclass(frozen=True, slots=True)
class _Vectors:
    """What each observation makes of the row of each state, and of the two information states."""

    rows: Sequence[Mapping[int, Row]]
    first: Mapping[int, Row]
    second: Mapping[int, Row]

    @classmethod
    def of(cls, model: NumericModel) -> _Vectors:
        def spread(masses: Row) -> dict[int, list[tuple[int, fmpq]]]:
            result: dict[int, list[tuple[int, fmpq]]] = {}
            for state, mass in masses:
                for symbol, seen in model.emissions[state].items():
                    result.setdefault(symbol, []).append((state, mass * seen))
            return result

        return cls(
            [spread(row) for row in model.rows], spread(_sparse(model.first)), spread(_sparse(model.second))
        )

    def pairs(self, deadline: Deadline) -> list[Pair]:
        """Return the pairs of different states between which couplings may move mass."""
        found: dict[Pair, None] = {}
        stack = [(self.first, self.second)]
        while stack:
            deadline.check()
            for one, two in (stack.pop(),):
                for symbol in one.keys() & two.keys():
                    for (k, _), (m, _) in product(one[symbol], two[symbol]):
                        if k != m and (k, m) not in found:
                            found[k, m] = found[m, k] = None
                            stack.append((self.rows[k], self.rows[m]))
        return list(found)


def find_factors(model: NumericModel, *, limits: Limits = UNBOUNDED) -> Factors | None:
    """Find a table of factors that bounds the ratio of a pair for all lengths, or None.

    The least table is approached from below in doubles; a table of rationals just above it is then proved
    exactly.
    """
    vectors = _Vectors.of(model)
    pairs = vectors.pairs(limits.deadline)
    if len(pairs) > MAX_PAIRS:
        return None
    guess = _approximate(vectors, pairs, limits)
    for inflation in INFLATIONS:
        limits.deadline.check()
        table = {pair: _rounded(value, inflation) for pair, value in guess.items()}
        found = _proved(vectors, table, limits.deadline)
        if found is not None:
            return found
    return None


def _approximate(vectors: _Vectors, pairs: Sequence[Pair], limits: Limits) -> dict[Pair, float]:
    """Iterate the factors from one upwards, to doubles; what exceeds the ceiling goes."""
    table = dict.fromkeys(pairs, 1.0)
    for round_ in range(ROUNDS):
        limits.progress("factors", round_, None)
        changed = False
        known = {pair: from_double(value) for pair, value in table.items()}
        for i, j in list(table):
            found = _couplings(vectors.rows[i], vectors.rows[j], known, limits.deadline)
            value = CEILING + 1 if found is None else max(1.0, as_double(found[0]))
            if value > CEILING:
                del table[i, j], known[i, j]
                changed = True
            elif value > table[i, j] * (1 + SETTLED):
                table[i, j], known[i, j] = value, from_double(value)
                changed = True
        if not changed:
            break
    return table


def _rounded(value: float, inflation: float) -> fmpq:
    """Return a short rational near a double; with an inflation one above it."""
    if inflation == 0.0:
        width = 1e-7 * value
        return max(fmpq(1), simplest_within(value - width, value + width))
    low, high = value * (1 + inflation / 2), value * (1 + inflation)
    return max(fmpq(1), simplest_within(low, high))


def _couplings(
    left: Mapping[int, Row], right: Mapping[int, Row], table: Table, deadline: Deadline
) -> tuple[fmpq, Moves] | None:
    """Return the least t such that each left vector is at most t times the right one, with the couplings."""
    worst, moves = fmpq(0), {}
    for symbol, vector in left.items():
        found = lift_ratio(
            dict(vector), dict(right.get(symbol, ())), lambda k, m: table.get((k, m)), deadline=deadline
        )
        if found.ratio is None:
            return None
        worst = max(worst, found.ratio)
        moves[symbol] = {(k, m): amount for k, m, amount in found.coupling}
    return worst, moves


def _proved(vectors: _Vectors, table: Table, deadline: Deadline) -> Factors | None:
    """Prove the entries of a table that the pair of information states rests on."""
    forward = _couplings(vectors.first, vectors.second, table, deadline)
    backward = _couplings(vectors.second, vectors.first, table, deadline)
    if forward is None or backward is None:
        return None
    needed = [*_used(forward[1]), *_used(backward[1])]
    proofs: dict[Pair, Moves] = {}
    while needed:
        pair = needed.pop()
        if pair in proofs:
            continue
        found = _couplings(vectors.rows[pair[0]], vectors.rows[pair[1]], table, deadline)
        if found is None or found[0] > table[pair]:
            return None
        proofs[pair] = found[1]
        needed += [other for other in _used(found[1]) if other not in proofs]
    ratio = max(fmpq(1), forward[0], backward[0])
    return Factors({pair: table[pair] for pair in proofs}, proofs, forward[1], backward[1], ratio)


def _used(moves: Moves) -> list[Pair]:
    return [pair for coupling in moves.values() for pair in coupling if pair[0] != pair[1]]


def _sparse(function: Function) -> Row:
    return [(state, value) for state, value in enumerate(function) if value]
