"""Delta of a chain with parameters whose runs come to rest: a sum of positive parts of polynomials.

An event gains on every trace what the masses of two worlds differ by, or nothing. So for the ordered pair
(s, t) the least delta is ``sum_w max(0, Pr_s(w) - alpha Pr_t(w))``, and each of these masses is a polynomial
of the parameters, over powers of one denominator. See docs/theory/parameters.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mpoly, fmpz

from bisimdist.errors import UsageError
from bisimdist.models.parametric import ParametricChain
from bisimdist.models.partition import canonical_numbering, refined_blocks
from bisimdist.models.polynomial import cleared, common_denominator, parameter_ring
from bisimdist.progress import NEVER, Deadline

Vector = tuple[tuple[int, fmpq_mpoly, int], ...]
"""(class, polynomial other than zero, its sign where only one world adds to it, else 0), by class."""

Parts = dict[tuple[int, str], tuple[fmpq_mpoly, fmpq]]
"""By number of steps and text: a polynomial without content, and how often its positive part counts."""


@dataclass(frozen=True, slots=True)
class Gains:
    """What the best event gains: the sum of the positive parts of some polynomials, over a denominator."""

    terms: tuple[fmpq_mpoly, ...]  # the polynomials
    denominator: fmpq_mpoly  # it is positive inside the box of the parameters

    def at(self, point: Sequence[fmpq]) -> fmpq:
        """Return the value at a point of the box."""
        values = (fmpq(term(*point)) for term in self.terms)
        return sum((v for v in values if v > 0), fmpq(0)) / fmpq(self.denominator(*point))

    def chosen(self, point: Sequence[fmpq]) -> fmpq_mpoly:
        """Return the sum of the terms that are positive at a point: what one event gains everywhere."""
        zero = self.denominator.context().constant(0)
        return sum((term for term in self.terms if fmpq(term(*point)) > 0), zero)


def content(polynomials: Sequence[fmpq_mpoly]) -> fmpq:
    """Return the positive number that leaves integers without a common factor when it is taken out.

    >>> (p,) = parameter_ring(["p"]).gens()
    >>> content([4 * p - fmpq(2, 3)])
    2/3
    """
    above, below = fmpz(0), fmpz(1)
    for polynomial in polynomials:
        for coefficient in polynomial.coeffs():
            above, below = above.gcd(coefficient.p), below.lcm(coefficient.q)
    return fmpq(above, below)


class ParametricGraph:
    """The information states of a chain with parameters, over states that are not alike."""

    def __init__(self, model: ParametricChain) -> None:
        self.model = model
        self.ring = parameter_ring(model.parameter_names)
        entries = (entry for row in model.rows for _, entry in row)
        middle = [(low + high) / 2 for low, high in model.box]
        self.denominator = common_denominator(self.ring, entries, middle)
        self.rows = [[(t, cleared(entry, self.denominator)) for t, entry in row] for row in model.rows]
        self.blocks = canonical_numbering(
            refined_blocks(
                canonical_numbering(model.labels),
                [[target for target, _ in row] for row in model.rows],
                lambda state, blocks: frozenset(
                    (block, str(mass)) for block, mass in self._masses(state, blocks).items()
                ),
            )
        )
        self.first = {block: state for state, block in reversed(list(enumerate(self.blocks)))}

    def _masses(self, state: int, blocks: Sequence[int]) -> dict[int, fmpq_mpoly]:
        masses: dict[int, fmpq_mpoly] = {}
        for target, weight in self.rows[state]:
            block = blocks[target]
            masses[block] = masses[block] + weight if block in masses else weight
        return {block: mass for block, mass in masses.items() if mass}

    def gains(self, alpha: fmpq, s: int, t: int, *, deadline: Deadline = NEVER) -> tuple[Gains, Gains]:
        """Return what the best event gains on a pair of states in either direction, over one denominator.

        Raises UsageError if runs of the pair go round in circles on which the two can be confused. Raises
        LimitError if the deadline passes.
        """
        found = [self._parts(alpha, *pair, deadline) for pair in ((s, t), (t, s))]
        steps = max((depth for parts in found for depth, _ in parts), default=0)
        below = self.denominator**steps * alpha.q
        one, two = (Gains(self._terms(parts, steps), below) for parts in found)
        return one, two

    def _terms(self, parts: Parts, steps: int) -> tuple[fmpq_mpoly, ...]:
        merged: dict[str, fmpq_mpoly] = {}
        for (depth, _), (polynomial, weight) in parts.items():
            whole = polynomial * self.denominator ** (steps - depth)
            scale = content([whole])
            text = str(whole / scale)
            merged[text] = merged[text] + whole * weight if text in merged else whole * weight
        return tuple(merged[text] for text in sorted(merged))

    def _parts(self, alpha: fmpq, s: int, t: int, deadline: Deadline) -> Parts:
        parts: Parts = {}
        start = [
            (self.blocks[s], self.ring.constant(alpha.q), 1),
            (self.blocks[t], self.ring.constant(-alpha.p), -1),
        ]
        layer: dict[str, tuple[Vector, fmpq]] = {}
        for vector in self._seen(start):
            _add(layer, vector, fmpq(1))
        depth = 0
        while layer:
            following: dict[str, tuple[Vector, fmpq]] = {}
            for vector, weight in layer.values():
                deadline.check()
                signs = {sign for _, _, sign in vector}
                if len(vector) == 1 or (len(signs) == 1 and 0 not in signs):
                    total = sum((mass for _, mass, _ in vector), self.ring.constant(0))
                    if total and signs != {-1}:  # where only the other world adds, nothing is gained
                        scale = content([total])
                        reduced = total / scale
                        _, before = parts.get((depth, str(reduced)), (reduced, fmpq(0)))
                        parts[depth, str(reduced)] = reduced, before + weight * scale
                    continue
                if depth >= len(self.first):
                    names = " and ".join(repr(self.model.states[self.first[b]]) for b, _, _ in vector[:2])
                    raise UsageError(
                        f"runs through states like {names} may go on for ever, and delta is no finite sum of "
                        "polynomials; --for-all with --threshold bounds it on intervals of the parameters"
                    )
                for after in self._steps(vector):
                    _add(following, after, weight)
            layer = following
            depth += 1
        return parts

    def _steps(self, vector: Vector) -> list[Vector]:
        """Return what a vector becomes with each label that can follow."""
        return self._seen(
            (target, mass * weight, sign)
            for block, mass, sign in vector
            for target, weight in self._masses(self.first[block], self.blocks).items()
        )

    def _seen(self, entries: Iterable[tuple[int, fmpq_mpoly, int]]) -> list[Vector]:
        """Return the vectors that labels tell apart, also those of the states that runs begin in."""
        seen: dict[str, list[tuple[int, fmpq_mpoly, int]]] = {}
        for entry in entries:
            seen.setdefault(self.model.labels[self.first[entry[0]]], []).append(entry)
        return [_joined(found) for _, found in sorted(seen.items())]


def _joined(entries: Sequence[tuple[int, fmpq_mpoly, int]]) -> Vector:
    found: dict[int, tuple[fmpq_mpoly, int]] = {}
    for block, mass, sign in entries:
        if block in found:
            before, other = found[block]
            found[block] = before + mass, sign if sign == other else 0
        else:
            found[block] = mass, sign
    return tuple((block, *found[block]) for block in sorted(found) if found[block][0])


def _add(layer: dict[str, tuple[Vector, fmpq]], vector: Vector, weight: fmpq) -> None:
    """Put a vector into a layer, as one with those that it agrees with up to a positive number."""
    if not vector:
        return
    scale = content([mass for _, mass, _ in vector])
    reduced = tuple((block, mass / scale, sign) for block, mass, sign in vector)
    key = str(reduced)
    known = layer.get(key)
    layer[key] = reduced, weight * scale + (fmpq(0) if known is None else known[1])
