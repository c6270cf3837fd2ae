"""Proofs that a polynomial has one sign on an open box: exact Bernstein coefficients and subdivision.

Over a box, a polynomial is a convex combination of its Bernstein coefficients, so coefficients of one sign
prove that sign; where they are mixed the box is halved. The coefficients at the corners of a box are values
of the polynomial, which is how a proof that fails turns into a counterexample. See
``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise, product
from math import comb, prod

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.progress import NEVER, Deadline

Monomials = Mapping[tuple[int, ...], fmpq]  # a polynomial: the coefficient of each exponent vector

Box = tuple[tuple[fmpq, fmpq], ...]
"""An interval for each variable; the box of a question is open, whatever its proof looks at is closed."""

MAX_BOXES = 20_000  # more boxes than this are no small proof; the question is then left to another method
_APPROACH = 60  # how often a point is moved towards a corner of the box before the search for it gives up


class Sign(Enum):
    """What is to be shown on the open box."""

    NONNEGATIVE = "nonnegative"
    POSITIVE = "positive"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A box whose Bernstein coefficients have the sign."""


@dataclass(frozen=True, slots=True)
class Split:
    """A box that is cut at a value of one variable; each part has a proof of its own."""

    axis: int
    at: fmpq
    below: SignProof
    above: SignProof


@dataclass(frozen=True, slots=True)
class Square:
    """At the top of a proof: the polynomial is the square of one times the rest, which is not negative."""

    root: Monomials
    rest: Monomials
    proof: SignProof


SignProof = Leaf | Split | Square
"""A tree of boxes that cover the box; the coefficients are computed again by whoever checks it."""


@dataclass(frozen=True, slots=True)
class SignResult:
    """What came of an attempt to prove a sign."""

    # True with a proof, False with a point of the open box that has the opposite sign, else None
    holds: bool | None
    proof: SignProof | None = None  # the tree of boxes, where the sign holds
    point: tuple[fmpq, ...] | None = None
    boxes: int = 0  # how many boxes were looked at


def degrees_of(polynomial: Monomials, variables: int) -> tuple[int, ...]:
    """Return the degree in each variable."""
    return tuple(max((exponents[axis] for exponents in polynomial), default=0) for axis in range(variables))


def evaluate(polynomial: Monomials, point: Sequence[fmpq]) -> fmpq:
    """Return the exact value of a polynomial at a point."""
    total = fmpq(0)
    for exponents, coefficient in polynomial.items():
        term = coefficient
        for value, power in zip(point, exponents, strict=True):
            if power:
                term = term * value**power
        total += term
    return total


@dataclass(frozen=True, slots=True)
class Tensor:
    """Bernstein coefficients over a box, in the order in which the last index runs fastest."""

    shape: tuple[int, ...]
    entries: tuple[fmpq, ...]

    def lines(self, axis: int) -> Iterator[range]:
        """Yield the positions of each line along an axis."""
        step = prod(self.shape[axis + 1 :])
        block = step * self.shape[axis]
        for start in range(0, len(self.entries), block):
            for offset in range(start, start + step):
                yield range(offset, offset + block, step)

    def variation(self, axis: int) -> fmpq:
        """Return how much the coefficients change along an axis: the sum of all steps."""
        total = fmpq(0)
        for line in self.lines(axis):
            for here, there in pairwise(line):
                total += abs(self.entries[there] - self.entries[here])
        return total

    def halves(self, axis: int, weight: fmpq) -> tuple[Tensor, Tensor]:
        """Return the coefficients over the two parts of the box (the algorithm of de Casteljau).

        The cut is at `weight` of the interval; 1/2 is the middle.
        """
        below, above = list(self.entries), list(self.entries)
        rest = 1 - weight
        for line in self.lines(axis):
            row = [self.entries[place] for place in line]
            last = len(row) - 1
            for step in range(len(row)):
                below[line[step]] = row[0]
                above[line[last - step]] = row[-1]
                row = [rest * a + weight * b for a, b in pairwise(row)]
        return Tensor(self.shape, tuple(below)), Tensor(self.shape, tuple(above))

    def corners(self) -> Iterator[tuple[tuple[int, ...], fmpq]]:
        """Yield the corners of the box (0 or 1 for each axis) with the value of the polynomial there."""
        for corner in product((0, 1), repeat=len(self.shape)):
            place = 0
            for side, size in zip(corner, self.shape, strict=True):
                place = place * size + side * (size - 1)
            yield corner, self.entries[place]

    def face_is_zero(self, face: tuple[int | None, ...]) -> bool:
        """Tell whether every coefficient on a face vanishes (None: the axis runs, 0 or 1: an end of it)."""
        ranges = [
            range(size) if side is None else (side * (size - 1),)
            for side, size in zip(face, self.shape, strict=True)
        ]
        for index in product(*ranges):
            place = 0
            for number, size in zip(index, self.shape, strict=True):
                place = place * size + number
            if self.entries[place] != 0:
                return False
        return True


def tensor_of(polynomial: Monomials, box: Box, degrees: Sequence[int] | None = None) -> Tensor:
    """Return the Bernstein coefficients of a polynomial over a box (see `bernstein_coefficients`)."""
    variables = len(box)
    least = degrees_of(polynomial, variables)
    chosen = least if degrees is None else tuple(degrees)
    if len(chosen) != variables or any(have < need for have, need in zip(chosen, least, strict=True)):
        raise UsageError(f"degrees {chosen} are too small; expected at least {least}")
    shape = tuple(degree + 1 for degree in chosen)
    entries = [fmpq(0)] * prod(shape)
    for exponents, coefficient in polynomial.items():
        place = 0
        for power, size in zip(exponents, shape, strict=True):
            place = place * size + power
        entries[place] += coefficient
    tensor = Tensor(shape, tuple(entries))
    for axis, (low, high) in enumerate(box):
        matrix = _conversion(shape[axis] - 1, low, high)
        changed = list(tensor.entries)
        for line in tensor.lines(axis):
            values = [tensor.entries[place] for place in line]
            for row, place in zip(matrix, line, strict=True):
                changed[place] = sum((c * v for c, v in zip(row, values, strict=True) if v), fmpq(0))
        tensor = Tensor(shape, tuple(changed))
    return tensor


def _conversion(degree: int, low: fmpq, high: fmpq) -> list[list[fmpq]]:
    """Return the matrix from coefficients of powers to Bernstein coefficients over an interval.

    Entry (i, k) is the blossom of x^k at i arguments `high` and the others `low`.
    """
    return [
        [
            sum(
                (
                    comb(i, j) * comb(degree - i, k - j) * high**j * low ** (k - j)
                    for j in range(max(0, k - degree + i), min(i, k) + 1)
                ),
                fmpq(0),
            )
            / comb(degree, k)
            for k in range(degree + 1)
        ]
        for i in range(degree + 1)
    ]


def bernstein_coefficients(
    polynomial: Monomials, box: Box, degrees: Sequence[int] | None = None
) -> tuple[fmpq, ...]:
    """Return the Bernstein coefficients of a polynomial over a box, the last variable running fastest.

    ``polynomial``: its coefficient for each exponent vector.
    ``box``: an interval for each variable.
    ``degrees``: the degree to use in each variable; by default the least one that serves.
    Raises UsageError if the degrees are too small for the polynomial.

    >>> square = {(2,): fmpq(1), (1,): fmpq(-1), (0,): fmpq(1)}
    >>> [str(value) for value in bernstein_coefficients(square, ((fmpq(0), fmpq(1)),))]
    ['1', '1/2', '1']
    """
    return tensor_of(polynomial, box, degrees).entries


def coefficient_count(polynomial: Monomials, variables: int) -> int:
    """Return how many Bernstein coefficients a polynomial has."""
    return prod(degree + 1 for degree in degrees_of(polynomial, variables))


def halved(part: Box, whole: Box) -> tuple[int, fmpq, Box, Box]:
    """Cut a box in the middle of the side that is the longest part of that of a whole one.

    returns: the axis, where it is cut, and the parts below and above.

    >>> unit = (fmpq(0), fmpq(1))
    >>> halved((unit, (fmpq(0), fmpq(1, 2))), (unit, unit))[:2]
    (0, 1/2)
    """
    shares = [(high - low) / (top - bottom) for (low, high), (bottom, top) in zip(part, whole, strict=True)]
    axis = shares.index(max(shares))
    low, high = part[axis]
    at = (low + high) / 2
    below, above = ((*part[:axis], ends, *part[axis + 1 :]) for ends in ((low, at), (at, high)))
    return axis, at, below, above


def _has_sign(tensor: Tensor, sign: Sign, inner: tuple[tuple[bool, bool], ...]) -> bool:
    """Tell whether the coefficients prove the sign on the part of the closed box that counts.

    Which is the box without the faces that lie on the border of the whole: a face that is `inner` counts.
    A positive value needs, on every such face, a coefficient that is not zero.
    """
    if any(entry < 0 for entry in tensor.entries):
        return False
    if sign is Sign.NONNEGATIVE:
        return True
    sides: list[tuple[int | None, ...]] = [
        (None, *(side for side in (0, 1) if counts[side])) for counts in inner
    ]
    return not any(tensor.face_is_zero(face) for face in product(*sides))


@dataclass(slots=True)
class _Node:
    """A box of the work: open until it is a leaf or split.

    The tensors are those of the polynomial, and of those whose positive parts are taken away from it.
    """

    box: Box
    tensors: tuple[Tensor, ...]
    inner: tuple[tuple[bool, bool], ...]
    cut: tuple[int, fmpq, _Node, _Node] | None = None

    def proof(self) -> SignProof:
        if self.cut is None:
            return Leaf()
        axis, at, below, above = self.cut
        return Split(axis, at, below.proof(), above.proof())

    @property
    def tensor(self) -> Tensor:
        """What is at most the polynomial less the positive parts; the same at the corners of the box."""
        whole, *minus = self.tensors
        if not minus:
            return whole
        rows = zip(*(tensor.entries for tensor in minus), strict=True)
        zero = fmpq(0)
        return Tensor(
            whole.shape,
            tuple(
                b - sum((c for c in row if c > 0), zero) for b, row in zip(whole.entries, rows, strict=True)
            ),
        )

    def split(self, cuts: Sequence[fmpq]) -> tuple[_Node, _Node]:
        """Cut the box in the middle of an interval; on the first axis at one of the cuts where one is."""
        axis = max(range(len(self.box)), key=self.tensor.variation)
        low, high = self.box[axis]
        middle = (low + high) / 2
        inside = [cut for cut in cuts if low < cut < high] if axis == 0 else []
        at = min(inside, key=lambda cut: abs(cut - middle), default=middle)
        weight = (at - low) / (high - low)
        first, second = zip(*(tensor.halves(axis, weight) for tensor in self.tensors), strict=True)
        nodes = []
        for tensors, part, side in ((first, (low, at), 1), (second, (at, high), 0)):
            box = (*self.box[:axis], part, *self.box[axis + 1 :])
            ends = (self.inner[axis][0] or side == 0, self.inner[axis][1] or side == 1)
            nodes.append(_Node(box, tensors, (*self.inner[:axis], ends, *self.inner[axis + 1 :])))
        self.cut = (axis, at, nodes[0], nodes[1])
        return nodes[0], nodes[1]


def prove_sign(  # noqa: PLR0913
    polynomial: Monomials,
    box: Box,
    *,
    minus: Sequence[Monomials] = (),
    sign: Sign = Sign.NONNEGATIVE,
    cuts: Sequence[fmpq] = (),
    max_boxes: int = MAX_BOXES,
    deadline: Deadline = NEVER,
) -> SignResult:
    """Prove that a polynomial has a sign on an open box, or find a point where it has not.

    A polynomial that is linear in each variable is decided at once: its coefficients are its values at the
    corners of the box. In general the work ends unless the polynomial touches zero inside the box at a point
    that no cut meets.

    ``polynomial``: its coefficient for each exponent vector.
    ``box``: an interval for each variable, the first end below the second.
    ``minus``: polynomials whose positive parts are taken away from it before.
    ``sign``: what is to be shown; a positive polynomial may still vanish on the border of the box.
    ``cuts``: where the interval of the first variable is cut before others: where zeros are.
    ``max_boxes``, ``deadline``: when to give up; the answer is then None.

    >>> unit = ((fmpq(0), fmpq(1)),)
    >>> prove_sign({(1,): fmpq(1), (2,): fmpq(-1)}, unit, sign=Sign.POSITIVE).holds
    True
    >>> prove_sign({(2,): fmpq(1), (0,): fmpq(-1, 100)}, unit).holds
    False
    """
    if any(low >= high for low, high in box):
        raise UsageError("an interval of the box is empty; expected its first end below its second")
    each = (polynomial, *minus)
    least = tuple(zip(*(degrees_of(part, len(box)) for part in each), strict=True))
    common = tuple(map(max, least)) if len(each) > 1 else None
    tensors = tuple(tensor_of(part, box, common) for part in each)
    root = _Node(box, tensors, tuple((False, False) for _ in box))
    waiting = [(fmpq(0), 0, root)]
    count = 1
    while waiting:
        if deadline.passed() or count > max_boxes:
            return SignResult(None, boxes=count)
        _, _, node = heapq.heappop(waiting)
        if _has_sign(node.tensor, sign, node.inner):
            continue
        point = _violation(each, node, sign)
        if point is not None:
            return SignResult(False, point=point, boxes=count)
        if not box:
            break
        for part in node.split(cuts):
            count += 1
            heapq.heappush(waiting, (min(part.tensor.entries), count, part))  # the worst box first
    return SignResult(True, proof=root.proof(), boxes=count)


def _violation(each: Sequence[Monomials], node: _Node, sign: Sign) -> tuple[fmpq, ...] | None:
    """Return a point of the open box where the sign fails, if a corner or the middle leads to one."""
    middle = tuple((low + high) / 2 for low, high in node.box)

    def fails(value: fmpq) -> bool:
        return bool(value < 0) if sign is Sign.NONNEGATIVE else bool(value <= 0)

    def at(point: Sequence[fmpq]) -> fmpq:
        whole, *minus = (evaluate(part, point) for part in each)
        return whole - sum((part for part in minus if part > 0), fmpq(0))

    if fails(at(middle)):
        return middle
    corner, value = min(node.tensor.corners(), key=lambda found: found[1])
    place = tuple(ends[side] for ends, side in zip(node.box, corner, strict=True))
    if all(counts[side] for counts, side in zip(node.inner, corner, strict=True)):
        return place if fails(value) else None
    if value >= 0:
        return None
    step = fmpq(1)
    for _ in range(_APPROACH):  # the value is negative at the corner, hence near it, by continuity
        step /= 2
        point = tuple(c + step * (m - c) for c, m in zip(place, middle, strict=True))
        if at(point) < 0:
            return point
    return None


def proof_boxes(proof: SignProof, box: Box) -> Iterator[Box]:
    """Yield the boxes of a proof, which together cover the box."""
    if isinstance(proof, Leaf):
        yield box
        return
    if isinstance(proof, Square):
        yield from proof_boxes(proof.proof, box)
        return
    low, high = box[proof.axis]
    yield from proof_boxes(proof.below, (*box[: proof.axis], (low, proof.at), *box[proof.axis + 1 :]))
    yield from proof_boxes(proof.above, (*box[: proof.axis], (proof.at, high), *box[proof.axis + 1 :]))
