"""Chains with parameters: the model of a certificate, what events gain as polynomials, and what bounds a box.

What these are is written in docs/certificates/parametric.md; that they are enough, in
docs/theory/parameters.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.bernstein import Bernstein, shape_of
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.hidden_markov import QuotientRow, check_row, fixed_row, quotient_row, same_rows
from bisimdist.checker.core.partition import refinements
from bisimdist.checker.core.polynomials import (
    Box,
    Polynomial,
    add,
    divide,
    held,
    multiply,
    read_factors,
    value,
)
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    decimal_rational,
    digest_of,
    item,
    mapping,
    model_number,
    of_model_file,
    shown,
)
from bisimdist.checker.core.shape import Shape, key, named, one_of, raw, row

Vector = Mapping[int, tuple[Polynomial, int]]
"""By class a polynomial, and its sign where only one of the two worlds adds to it, else 0."""

Row = Mapping[str, Polynomial]


@dataclass(frozen=True)
class Gains:
    """What the best events gain in both directions: sums of positive parts, over one denominator."""

    both: tuple[Sequence[Polynomial], Sequence[Polynomial]]
    below: Polynomial

    def at(self, point: Sequence[Fraction]) -> Fraction:
        sums = (
            sum((max(Fraction(0), value(q, point)) for q in counted(terms)), Fraction(0))
            for terms in counted(self.both)
        )
        return max(all_of(sums)) / value(self.below, point)


class _Model(Shape):
    kind: str = key(one_of("lmc"))
    states: Mapping[str, str] = key(named(item))
    transitions: Mapping[str, Any] = key(mapping)
    parameters: Mapping[str, tuple[Fraction, Fraction]] = key(named(row(model_number, model_number)))
    pairs: Any = key(raw, default=None)


@dataclass(frozen=True)
class ParametricChain:
    """A chain whose probabilities are quotients of polynomials over the parameters."""

    names: tuple[str, ...]
    box: Box
    labels: Mapping[str, str]
    rows: Mapping[str, QuotientRow]

    def known(self, state: str) -> None:
        """Demand that a name is that of a state."""
        if state not in self.labels:
            raise RuleViolation(f"R2: a claim names {shown(state)}, which is no state of the model")

    def inside(self, point: Sequence[Fraction]) -> bool:
        """Tell whether a point is inside the open box of the parameters."""
        return all(low < x < high for x, (low, high) in counted(zip(point, self.box, strict=True)))

    def at(self, point: Sequence[Fraction]) -> dict[str, object]:
        """Return the chain at a point as plain data."""
        rows = {state: fixed_row(row, point, state) for state, row in counted(self.rows.items())}
        return {
            "kind": "lmc",
            "states": self.labels,
            "transitions": {s: _texts(row) for s, row in counted(rows.items())},
        }

    def over(self, denominator: Polynomial) -> dict[str, Row]:
        """Return the rows times a common denominator (rule R3)."""
        result: dict[str, Row] = {}
        for state, entries in counted(self.rows.items()):
            cleared = {}
            for target, (above, below) in counted(entries.items()):
                factor = divide(denominator, below)
                if factor is None:
                    raise RuleViolation("R3: the denominator is no common denominator")
                cleared[target] = multiply(above, factor)
            result[state] = cleared
        return result

    def between(self, box: Box, rows: Mapping[str, Row], denominator: Polynomial) -> dict[str, object]:
        """Return, as plain data, the interactive model that bounds the chains of a box (rule R8).

        Its actions are the numbers of the Bernstein coefficients; where all of them say the same of every
        state of a label, there is one action.
        """
        every = [denominator, *(entry for row in counted(rows.values()) for entry in counted(row.values()))]
        shape = shape_of(every, len(box))
        below = Bernstein.of(denominator, box, shape).entries
        if any(entry <= 0 for entry in counted(below)):
            raise RuleViolation("R8: a Bernstein coefficient of the denominator is not positive")
        moves: dict[str, list[dict[str, Fraction]]] = {
            state: [{} for _ in counted(below)] for state in counted(rows)
        }
        for state, entries in counted(rows.items()):
            for target, entry in counted(entries.items()):
                for k, above in counted(enumerate(Bernstein.of(entry, box, shape).entries)):
                    if above < 0:
                        raise RuleViolation("R8: a Bernstein coefficient of a probability is negative")
                    moves[state][k][target] = above / below[k]
        moving = {
            self.labels[state]
            for state, found in counted(moves.items())
            if any(m != found[0] for m in counted(found))
        }
        transitions = {
            state: {
                str(k): _texts(move)
                for k, move in counted(enumerate(found if self.labels[state] in moving else found[:1]))
            }
            for state, found in counted(moves.items())
        }
        return {"kind": "interactive", "states": self.labels, "transitions": transitions}

    def gains(
        self, source: str, target: str, alpha: Fraction, rows: Mapping[str, Row], denominator: Polynomial
    ) -> Gains:
        """Return what the best events gain on a pair in both directions (rule R4)."""
        walk = _Walk(self, rows)
        one, two = (walk.leaves(alpha, *pair) for pair in ((source, target), (target, source)))
        steps = max((depth for depth, _ in counted((*one, *two))), default=0)
        powers = [{(0,) * len(self.names): Fraction(1)}]
        for _ in counted(range(steps)):
            powers.append(multiply(powers[-1], denominator))
        first, second = (
            [multiply(q, powers[steps - depth]) for depth, q in counted(found)] for found in (one, two)
        )
        return Gains((first, second), powers[steps])


def _texts(row: Mapping[str, Fraction]) -> dict[str, str]:
    return {target: decimal_rational(p) for target, p in counted(row.items())}


class _Walk:
    """Follows two worlds through classes of states that are alike for all values of the parameters."""

    def __init__(self, chain: ParametricChain, rows: Mapping[str, Row]) -> None:
        self.size = len(chain.names)
        for of in counted(
            refinements(
                chain.labels,
                lambda state: [(chain.labels[state], rows[state])],
                lambda row, of: {
                    c: frozenset(all_of(mass.items()))
                    for c, mass in counted(_lumped(row, of).items())
                    if mass
                },
            )
        ):
            self.of = of
        self.rows = {self.of[state]: _lumped(rows[state], self.of) for state in counted(chain.labels)}
        self.labels = {self.of[state]: label for state, label in counted(chain.labels.items())}

    def leaves(self, alpha: Fraction, source: str, target: str) -> list[tuple[int, Polynomial]]:
        """Return what is gained on every trace, with its number of steps, where it may be gained."""
        none = (0,) * self.size
        start = [(self.of[source], {none: Fraction(1)}, 1), (self.of[target], {none: -alpha}, -1)]
        layer, found = _merged((vector, Fraction(1)) for vector in counted(self._seen(start))), []
        for depth in counted(range(len(self.labels) + 1)):
            following: list[tuple[Vector, Fraction]] = []
            for vector, weight in counted(layer):
                signs = {sign for _, sign in counted(vector.values())}
                if len(vector) == 1 or signs in ({1}, {-1}):
                    total: Polynomial = {}
                    for mass, _ in counted(vector.values()):
                        total = add(total, mass, weight)
                    if signs != {-1}:
                        found.append((depth, total))
                else:
                    following += [(after, weight) for after in counted(self._after(vector))]
            layer = _merged(following)
        if layer:
            raise RuleViolation("R4: runs of the pair may go on for ever")
        return found

    def _after(self, vector: Vector) -> Iterable[Vector]:
        return self._seen(
            (target, multiply(mass, weight), sign)
            for block, (mass, sign) in counted(vector.items())
            for target, weight in counted(self.rows[block].items())
        )

    def _seen(self, entries: Iterable[tuple[int, Polynomial, int]]) -> Iterable[Vector]:
        """Return the vectors that labels tell apart, also those of the states that runs begin in."""
        seen: dict[str, list[tuple[int, Polynomial, int]]] = {}
        for entry in counted(entries):
            seen.setdefault(self.labels[entry[0]], []).append(entry)
        return map(_joined, seen.values())


def _lumped(row: Row, of: Mapping[str, int]) -> dict[int, Polynomial]:
    result: dict[int, Polynomial] = {}
    for target, mass in counted(row.items()):
        result[of[target]] = add(result.get(of[target], {}), mass)
    return result


def _joined(entries: Iterable[tuple[int, Polynomial, int]]) -> Vector:
    found: dict[int, tuple[Polynomial, int]] = {}
    for block, mass, sign in counted(entries):
        before, other = found.get(block, ({}, sign))
        found[block] = add(before, mass), sign if sign == other else 0
    return {block: found[block] for block in counted(sorted(all_of(found))) if found[block][0]}


def _merged(vectors: Iterable[tuple[Vector, Fraction]]) -> list[tuple[Vector, Fraction]]:
    """Return vectors, those that agree up to a positive number as one, with what is before them."""
    found: dict[Hashable, tuple[Vector, Fraction]] = {}
    for vector, weight in counted(vectors):
        if vector:
            first = next(iter(vector.values()))[0]
            scale = abs(first[max(all_of(first))])
            reduced = {
                b: (held({e: c / scale for e, c in counted(mass.items())}), sign)
                for b, (mass, sign) in counted(vector.items())
            }
            name = tuple(
                (b, frozenset(all_of(mass.items())), sign) for b, (mass, sign) in counted(reduced.items())
            )
            _, before = found.get(name, (reduced, Fraction(0)))
            found[name] = reduced, before + weight * scale
    return list(all_of(found.values()))


def read_parametric(document: object) -> ParametricChain:
    """Make the model from plain data of kind ``lmc`` with parameters; rows may still be no distributions."""
    data = _Model.read(document, "the model")
    for name, (low, high) in counted(data.parameters.items()):
        if not low < high:
            raise MalformedCertificate(f"parameter {shown(name)} has no open interval")
    names = sorted(all_of(data.parameters))
    for state in counted(data.transitions):
        if state not in data.states:
            raise RuleViolation(f"R1: there are transitions for {shown(state)}, which is no state")
    rows = {s: quotient_row(data.transitions.get(s, {}), names, data.states, s) for s in counted(data.states)}
    return ParametricChain(
        tuple(all_of(names)), [data.parameters[name] for name in counted(names)], data.states, rows
    )


def embedded(document: object, digest: object, given: object | None, factors: object) -> ParametricChain:
    """Return the model of a certificate, checked against its digest and against a given model."""
    chain = read_parametric(document)
    if digest != digest_of(document):
        raise RuleViolation("G3: the digest is not that of the embedded model")
    known = read_factors(factors, len(chain.names))
    if given is not None:
        with of_model_file():
            other = read_parametric(given)
            if not (same := _same(chain, other)):
                _check_rows(other, known)
        if not same:
            raise RuleViolation("G2: the certificate is about another model than the one that is given")
    _check_rows(chain, known)
    return chain


def _same(one: ParametricChain, two: ParametricChain) -> bool:
    first, second = ((a.names, list(all_of(a.box)), dict(all_of(a.labels))) for a in (one, two))
    return first == second and same_rows(one.rows, two.rows)


def _check_rows(chain: ParametricChain, known: Sequence[Polynomial]) -> None:
    for state, entries in counted(chain.rows.items()):
        check_row(entries, chain.box, state, known)
