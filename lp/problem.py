"""Skewed Kantorovich problems: one block, one direction, validated when made.

Source: CMP18 Definition 6, CMP18 Remark 4, CMP18 Definition 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import LinearProgramError, NumberTypeError
from bisimdist.models.lmc import LMC

DistanceFunction = Callable[[int, int], fmpq]  # the distance of two states of a chain, by their indices

_ZERO = fmpq(0)
_ONE = fmpq(1)


def skewed_difference(alpha: fmpq, x: fmpq, y: fmpq) -> fmpq:
    """Return Delta_alpha(x, y) = max(x - alpha y, y - alpha x, 0).

    Source: CMP18, Definition 6.

    >>> skewed_difference(fmpq(2), fmpq(9), fmpq(3)), skewed_difference(fmpq(2), fmpq(6), fmpq(9))
    (3, 0)
    """
    return max(x - alpha * y, y - alpha * x, _ZERO)


@dataclass(frozen=True, slots=True)
class SkewedProblem:
    """One direction of the skewed lifting on the n nodes of one block.

    The potentials f maximise ``sum_i f_i (left_i - alpha right_i)`` subject to ``0 <= f <= 1`` and
    ``f_i - alpha f_j <= distance[i][j]``. Their dual, the coupling program, minimises
    ``sum w_ij distance[i][j] + sum eta_i`` over flows w, eta >= 0 with
    ``sum_j w_ij - alpha sum_j w_ji + eta_i >= left_i - alpha right_i`` for every i.

    Parameters
    ----------
    alpha
        The skew, at least one.
    left, right
        The masses m and m' of the nodes: not negative, each of sum at most one.
    distance
        n rows of n numbers in [0, 1] with a zero diagonal; neither symmetry nor any triangle
        inequality is required.

    Raises
    ------
    LinearProgramError
        Naming the entry that is at fault.
    NumberTypeError
        If a number is no ``fmpq``.
    """

    alpha: fmpq
    left: tuple[fmpq, ...]
    right: tuple[fmpq, ...]
    distance: tuple[tuple[fmpq, ...], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, fmpq):
            raise NumberTypeError(
                f"alpha is the {type(self.alpha).__name__} {self.alpha!r}; expected an fmpq"
            )
        if self.alpha < 1:
            raise LinearProgramError(f"alpha is {self.alpha}; expected at least 1")
        if not len(self.left) == len(self.right) == len(self.distance):
            raise LinearProgramError(
                f"{len(self.left)} left masses, {len(self.right)} right masses and "
                f"{len(self.distance)} rows of distances; expected as many of each"
            )
        _check_masses("left", self.left)
        _check_masses("right", self.right)
        for i, row in enumerate(self.distance):
            _check_distances(i, row, len(self.left))

    def __len__(self) -> int:
        return len(self.left)

    def excess(self) -> tuple[fmpq, ...]:
        """Return c: for each node, what the coupling must carry away, left_i - alpha right_i."""
        alpha = self.alpha
        return tuple(m - alpha * other for m, other in zip(self.left, self.right, strict=True))

    def swapped(self) -> SkewedProblem:
        """Return the problem of the other direction, where left and right change places."""
        return _unchecked(self.alpha, self.right, self.left, self.distance)


def _unchecked(
    alpha: fmpq, left: tuple[fmpq, ...], right: tuple[fmpq, ...], distance: tuple[tuple[fmpq, ...], ...]
) -> SkewedProblem:
    """Make a problem of parts that are known to be valid."""
    problem = object.__new__(SkewedProblem)
    object.__setattr__(problem, "alpha", alpha)
    object.__setattr__(problem, "left", left)
    object.__setattr__(problem, "right", right)
    object.__setattr__(problem, "distance", distance)
    return problem


def _not_exact(place: str, value: object) -> str:
    return f"{place} is the {type(value).__name__} {value!r}; expected an fmpq"


def _check_masses(side: str, masses: Sequence[fmpq]) -> None:
    total = _ZERO
    for i, mass in enumerate(masses):
        if not isinstance(mass, fmpq):
            raise NumberTypeError(_not_exact(f"{side}[{i}]", mass))
        if mass < 0:
            raise LinearProgramError(f"{side}[{i}] is {mass}; expected a mass of at least 0")
        total += mass
    if total > 1:
        raise LinearProgramError(f"the {side} masses sum to {total}; expected at most 1")


def _check_distances(i: int, row: Sequence[fmpq], n: int) -> None:
    if len(row) != n:
        raise LinearProgramError(f"row {i} holds {len(row)} distances; expected {n}")
    for j, value in enumerate(row):
        if not isinstance(value, fmpq):
            raise NumberTypeError(
                f"distance[{i}][{j}] is the {type(value).__name__} {value!r}; expected an fmpq"
            )
        if not _ZERO <= value <= _ONE:
            raise LinearProgramError(f"distance[{i}][{j}] is {value}; expected a number in [0, 1]")
    if row[i] != 0:
        raise LinearProgramError(f"distance[{i}][{i}] is {row[i]}; expected 0")


@dataclass(frozen=True, slots=True)
class Block:
    """A problem together with the states of the chain that are its nodes, in its order."""

    nodes: tuple[int, ...]
    problem: SkewedProblem


def blocks_of(  # noqa: PLR0913, PLR0917
    lmc: LMC,
    classes: Sequence[int],
    s: int,
    t: int,
    distance: DistanceFunction,
    alpha: fmpq,
    *,
    nodes: Iterable[int] | None = None,
) -> tuple[Block, ...]:
    """Split one direction of the lifting of a pair of states into its blocks.

    The value of the direction is the sum of the values of the blocks: between states of different
    classes the distance is one, which makes their constraints vacuous.

    ``lmc``: the chain; the masses are the rows of `s` (left) and `t` (right).
    ``classes``: for each state the number of its class (its label, or anything finer at distance one).
    ``distance``: called with two different states of one class.
    ``nodes``: None for all states of every class; otherwise only these and both supports.
    returns: one block for each class that meets a support, by the number of the class.

    >>> lmc = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"s": 1}, "t": {"t": 1}})
    >>> [block.nodes for block in blocks_of(lmc, [0, 0], 0, 1, lambda i, j: fmpq(1, 2), fmpq(2))]
    [(0, 1)]
    """
    left = dict(lmc.rows[s])
    right = dict(lmc.rows[t])
    support = left.keys() | right.keys()
    wanted = range(len(lmc)) if nodes is None else sorted(support | set(nodes))
    members: dict[int, list[int]] = {number: [] for number in sorted({classes[i] for i in support})}
    for i in wanted:
        if classes[i] in members:
            members[classes[i]].append(i)
    blocks = []
    for block in members.values():
        rows = tuple(tuple(_ZERO if i == j else distance(i, j) for j in block) for i in block)
        problem = SkewedProblem(
            alpha, tuple(left.get(i, _ZERO) for i in block), tuple(right.get(i, _ZERO) for i in block), rows
        )
        blocks.append(Block(tuple(block), problem))
    return tuple(blocks)
