"""What a run releases: a value with holes, numbers that depend on draws, and what may stand in them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np
from flint import fmpq

from bisimdist.exact.doubles import as_double
from bisimdist.programs.control import Outside
from bisimdist.programs.replay.decision import Asked, known, segments
from bisimdist.programs.replay.draws import Law
from bisimdist.programs.replay.lazy import Lazy
from bisimdist.programs.replay.node import (
    UNDECIDED,
    Plan,
    Raised,
    apply_to,
    enclosure,
    outcome_of,
    raised,
)
from bisimdist.programs.replay.region import Factor, Region, marginal
from bisimdist.programs.replay.tape import Run, current
from bisimdist.programs.texts import NESTED, RAISES, same_text, text_of

MOST_VALUES, MOST_SUMS = 20_000, 2_000_000
"""So many values of one number, and so many of two, are combined."""

MOST_TUPLES = 60_000
"""So many outputs that are made of several numbers are listed."""


GUESSES = 2_000
"""So many ranges are looked at to tell whether there are few values."""


_PLAIN = frozenset({int, float, bool, str, bytes, type(None)})


def _holes(value: Any) -> Iterator[Lazy]:
    """Yield the numbers in a value that depend on draws; of other objects they are told apart."""
    if type(value) in _PLAIN:
        return
    if type(value) is Lazy:
        yield value
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _holes(part)
    elif isinstance(value, dict):
        for item in value.items():
            yield from _holes(item)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from _holes(value.ravel().tolist())
    elif isinstance(value, BaseException):
        yield from _holes(value.args)
    elif hasattr(value, "__dict__") and not callable(value) and not isinstance(value, np.generic):
        for name, part in vars(value).items():
            if any(True for _ in _holes(part)):
                setattr(value, name, _known(part))


def _known(value: Any) -> Any:
    return known(value) if type(value) is Lazy else value


def _filled(value: Any, found: dict[int, Any]) -> Any:
    if type(value) is Lazy:
        return found[id(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_filled(part, found) for part in value))
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(_filled(part, found) for part in value)
    if isinstance(value, dict):
        made = {_filled(key, found): _filled(part, found) for key, part in value.items()}
        return (
            made
            if type(value) is dict
            else type(value)(made)
            if not hasattr(value, "default_factory")
            else made
        )
    if isinstance(value, np.ndarray) and value.dtype == object:
        return np.array(_filled(value.tolist(), found))
    return value


@dataclass(slots=True)
class Released:
    """What a run releases."""

    value: Any  # what was seen before, and what is returned, with holes; or `Raised`
    nodes: tuple[Lazy, ...]  # what stands in the holes
    draws: tuple[int, ...]  # the draws that these depend on
    seen: tuple[Any, ...]
    alike: Callable[[Any], str] = same_text
    plan: Plan | None = None
    asked: Asked | None = None

    @property
    def planned(self) -> Plan:
        """How to compute what stands in the holes."""
        if self.plan is None:
            self.plan = Plan(self.nodes)
        return self.plan

    @classmethod
    def of(cls, run: Run, value: Any, *, trace: bool, alike: Callable[[Any], str] = same_text) -> Released:
        """Look for the numbers in a value that depend on draws."""
        seen = tuple(item for item in run.seen if trace or item == "draw")
        whole = [
            value.error if type(value) is Raised else value,
            *(part[1] for part in seen if part != "draw"),
        ]
        current.run = run
        try:
            nodes = tuple({id(node): node for node in _holes(whole)}.values())
        except RecursionError as error:
            raise Outside(*NESTED) from error
        finally:
            current.run = None
        draws = tuple(sorted({draw for node in nodes for draw in node.draws}))
        return cls(value, nodes, draws, seen, alike)

    @staticmethod
    def known(*found: Any) -> Any:
        """Return the values in the holes, where each is one value."""
        values = []
        for one in found:
            if one is None or not (one[0] is one[1] or one[0] == one[1]):
                return UNDECIDED
            values.append(one[0])
        return tuple(values)

    def end(self, lows: Any, highs: Any) -> tuple[Any, ...]:
        """Return what is seen where every draw that matters is a single integer."""
        return self.end_of(outcome_of(self.planned, self.known, lows, highs))

    def end_of(self, values: Any) -> tuple[Any, ...]:
        """Return what is seen with these values in the holes."""
        if type(values) is Raised:
            return *self._seen({}), _raised(values.error)
        found = {id(node): value for node, value in zip(self.nodes, values, strict=True)}
        if type(self.value) is Raised:
            return *self._seen(found), _raised(self.value.error)
        value = _filled(self.value, found) if found else self.value
        return *self._seen(found), (text_of(value), self.alike(value))

    def _seen(self, found: dict[int, Any]) -> Iterator[Any]:
        for part in self.seen:
            yield part if part == "draw" else f"observe {text_of(_filled(part[1], found))}"


Released.known.points = True  # type: ignore[attr-defined]


def _raised(error: BaseException) -> tuple[str, str]:
    text = RAISES + text_of(error)
    return text, text


@dataclass(frozen=True, slots=True)
class Leaf:
    """Runs that have ended: what their draws may be, and what they released."""

    laws: Sequence[Law]
    region: Region
    released: Released  # what they released, as it depends on draws

    def mass(self) -> fmpq:
        """Return the exact probability of these runs."""
        return self.region.mass(self.laws)

    def ranges(self, draw: int) -> list[tuple[float, float]]:
        """Return the ranges of a draw; those of its boxes where others are in its factor."""
        involved, _ = self.region.apart((draw,))
        if not involved:
            return [(self.laws[draw].low, self.laws[draw].high)]
        k = involved[0].draws.index(draw)
        return [(lows[k], highs[k]) for lows, highs in involved[0].boxes]

    def alone(self) -> Leaf | None:
        """Return the same as seen of the draws that are released, if they are independent of each other.

        Draws that only decided what else was drawn are left out: each draw that is released has the law that
        they leave it. None means that two draws that are released depend on each other.
        """
        draws = self.released.draws
        involved, rest = self.region.apart(draws)
        laws, factors = list(self.laws), list(rest)
        for factor in involved:
            mine = [draw for draw in factor.draws if draw in draws]
            if len(factor.draws) == 1:
                factors.append(factor)
                continue
            law = marginal(laws, factor, mine[0]) if len(mine) == 1 else None
            if law is None:
                return None
            laws[mine[0]] = law
            factors.append(Factor((mine[0],), (((law.low,), (law.high,)),), factor.weight))
        return Leaf(laws, Region(tuple(factors)), self.released)


def convolved(leaf: Leaf) -> dict[tuple[Any, ...], fmpq] | None:
    """Return the law of what is released, where it is made of independent numbers with few values each."""
    released = leaf.released
    every = [draw for node in released.nodes for draw in node.draws]
    if len(every) != len(set(every)):
        return None
    laws: list[dict[Any, fmpq]] = []
    for node in released.nodes:
        law = laws_of(leaf, node)
        if law is None:
            return None
        laws.append(law)
    if len(laws) > 1:
        laws = _likeliest(laws)
    made: dict[tuple[Any, ...], fmpq] = {}
    for parts in product(*(law.items() for law in laws)):
        mass = fmpq(1)
        for _, p in parts:
            mass *= p
        raised = next((value for value, _ in parts if type(value) is Raised), None)
        end = released.end_of(tuple(value for value, _ in parts) if raised is None else raised)
        made[end] = made.get(end, fmpq(0)) + mass
    return made


def _likeliest(laws: Sequence[dict[Any, fmpq]]) -> list[dict[Any, fmpq]]:
    """Return the most probable values of each of several numbers, so that not too many tuples are made."""
    sorted_laws = [sorted(law.items(), key=lambda item: -as_double(item[1])) for law in laws]
    while prod(map(len, sorted_laws)) > MOST_TUPLES:
        min((law for law in sorted_laws if len(law) > 1), key=lambda law: as_double(law[-1][1])).pop()
    return [dict(law) for law in sorted_laws]


def laws_of(leaf: Leaf, node: Any) -> dict[Any, fmpq] | None:
    """Return by value of a number its exact probability; None where there are too many values."""
    if type(node) is not Lazy:
        return {node: fmpq(1)}
    if len(node.draws) <= 1:
        return _law(leaf, node)
    parts = [part for part in node.arguments or () if type(part) is Lazy]
    every = [draw for part in parts for draw in part.draws]
    if len(every) != len(set(every)):
        return None
    laws = []
    count = 1
    for argument in node.arguments or ():
        law = laws_of(leaf, argument)
        if law is None:
            return None
        count *= len(law)
        if count > MOST_SUMS:
            return None
        laws.append(law)
    return _combined(node.function, laws)


def _law(leaf: Leaf, node: Lazy) -> dict[Any, fmpq] | None:
    if not node.draws:
        found = enclosure(node, {}, {})
        return None if found is None else {found[0]: fmpq(1)}
    draw = node.draws[0]
    made: dict[Any, fmpq] = {}
    plan = Plan((node,))
    for low, high in leaf.ranges(draw):
        if not few_values((node,), leaf.laws, draw, low, high):
            return None
        for outcome, first, last in segments(
            leaf.laws, {draw: low}, {draw: high}, draw, plan, Released.known
        )[0]:
            value = outcome if type(outcome) is Raised else outcome[0]
            made[value] = made.get(value, fmpq(0)) + leaf.laws[draw].mass(first, last)
    return made


def few_values(nodes: Sequence[Lazy], laws: Sequence[Law], draw: int, low: float, high: float) -> bool:
    """Tell whether numbers seem to have few values: there are few draws, or many draws lead to one value."""
    if high - low < MOST_VALUES or high == inf or low == -inf:
        return True
    lows, highs = {draw: low}, {draw: high}
    found = enclosure(nodes[0], lows, highs)
    if (
        len(nodes) == 1
        and found is not None
        and isinstance(found[0], int | Fraction)
        and found[1] - found[0] < 1e6
    ):
        return True
    parts, _ = segments(laws, lows, highs, draw, Plan(nodes), Released.known, GUESSES)
    return any(last > first for _, first, last in parts)


def _combined(function: Callable[..., Any], laws: Sequence[dict[Any, fmpq]]) -> dict[Any, fmpq]:
    made: dict[Any, fmpq] = {}
    if function in {operator.add, operator.sub} and all(type(v) is int for law in laws for v in law):
        sign = 1 if function is operator.add else -1
        for a, p in laws[0].items():
            for b, q in laws[1].items():
                value = a + sign * b
                made[value] = made.get(value, 0) + p * q
        return made
    for parts in product(*(law.items() for law in laws)):
        mass = fmpq(1)
        for _, p in parts:
            mass *= p
        value = next((value for value, _ in parts if type(value) is Raised), None)
        if value is None:
            try:
                value = apply_to(function, [(v, v) for v, _ in parts])[0]  # type: ignore[index]
            except Exception as error:
                value = raised(error)
        made[value] = made.get(value, fmpq(0)) + mass
    return made
