"""Checks that quotients of probabilities of traces have no bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    items,
    rational,
    record,
    shown,
)
from bisimdist.checker.core.trace_chain import Masses, TraceChain, total

__all__ = ["check_infinite"]

WORDS = ("prefix", "cycle", "suffix")
PUMP = ("type", *WORDS, "swapped", "fast", "slow", "below", "above")
DRIFT = ("type", *WORDS, "swapped", "factor", "below", "above")
_ZERO = Fraction(0)
_ONE = Fraction(1)


@dataclass(frozen=True)
class _Drift:
    """Vectors that a cycle hands on to each other by a factor; with rates, those above the other side."""

    factor: Fraction
    below: Sequence[Masses]
    above: Sequence[tuple[Fraction, Masses]]


def check_infinite(chain: TraceChain, sides: tuple[int, int], kind: str, proof: object) -> None:
    """Check that the quotients of some traces from two classes have no bound.

    Raises
    ------
    MalformedCertificate
        If the proof does not have the shape of its kind: ``loop``, ``pump`` or ``drift``.
    RuleViolation
        If it does not prove that.
    """
    if kind == "loop":
        _check_loop(chain, sides, proof)
    else:
        data = record(proof, f"the {kind}", DRIFT if kind == "drift" else PUMP)
        _check_drift(chain, sides, data, (_drift if kind == "drift" else _pump)(chain, data))


def _word(value: object) -> list[str]:
    return [item(action, "a trace") for action in items(value, "a trace")]


def _check_loop(chain: TraceChain, sides: tuple[int, int], proof: object) -> None:
    data = record(proof, "the loop", ("type", "prefix", "cycle"))
    prefix, cycle = _word(data["prefix"]), _word(data["cycle"])
    factors = []
    for side in sides:
        before = chain.along({side: _ONE}, prefix)
        after = chain.along(before, cycle)
        if not after or chain.key(before)[0] != chain.key(after)[0]:
            raise RuleViolation("T5: the loop does not lead back to where it began")
        factors.append(total(after) / total(before))
    if factors[0] == factors[1]:
        raise RuleViolation("T5: the loop does not change the quotient")


def _vector(chain: TraceChain, value: object, where: str) -> Masses:
    if not isinstance(value, dict):
        raise MalformedCertificate(f"{where} is {shown(value)}; expected an object")
    result: Masses = {}
    for name, number in value.items():
        state, mass = chain.state(name, where), rational(number, where)
        if mass <= 0 or state in result:
            raise RuleViolation(f"T5: {where} is not positive, or names a state twice")
        result[state] = mass
    return result


def _pump(chain: TraceChain, data: dict[str, Any]) -> _Drift:
    """Return a pump: a drift of one vector on each side, at different rates."""
    fast, slow = rational(data["fast"], "a factor"), rational(data["slow"], "a factor")
    below, above = _vector(chain, data["below"], "'below'"), _vector(chain, data["above"], "'above'")
    return _Drift(fast, [below], [(slow, above)])


def _drift(chain: TraceChain, data: dict[str, Any]) -> _Drift:
    factor = rational(data["factor"], "the factor")
    below = [_vector(chain, value, "'below'") for value in items(data["below"], "'below'")]
    above: list[tuple[Fraction, Masses]] = []
    for value in items(data["above"], "'above'"):
        pair = items(value, "'above'")
        if len(pair) != 2:
            raise MalformedCertificate("an entry of 'above' is not a rate and a vector")
        above.append((rational(pair[0], "a rate"), _vector(chain, pair[1], "'above'")))
    return _Drift(factor, below, above)


def _check_drift(chain: TraceChain, sides: tuple[int, int], data: dict[str, Any], drift: _Drift) -> None:
    prefix, cycle, suffix = (_word(data[key]) for key in WORDS)
    if not isinstance(data["swapped"], bool):
        raise MalformedCertificate("'swapped' is neither true nor false")
    factor, below, above = drift.factor, drift.below, drift.above
    if factor <= 0 or any(not 0 <= rate <= factor for rate, _ in above):
        raise RuleViolation("T5: a rate is not between 0 and the factor, or the factor is not positive")
    if sum(rate == factor for rate, _ in above) >= len(below):
        raise RuleViolation("T5: the other side drifts as much")
    one, other = reversed(sides) if data["swapped"] else sides
    rich, poor = chain.along({one: _ONE}, prefix), chain.along({other: _ONE}, prefix)
    _check_below(chain, rich, (factor, below), cycle)
    whole = _summed(vector for _, vector in above)
    if any(poor.get(state, _ZERO) > mass for state, mass in whole.items()):
        raise RuleViolation("T5: 'above' is below the other vector after the prefix")
    for number, (rate, vector) in enumerate(above):
        after = chain.along(vector, cycle)
        later = _summed(entry for _, entry in above[number + 1 :])
        for state in whole:
            if after.get(state, _ZERO) > rate * vector.get(state, _ZERO) + later.get(state, _ZERO):
                raise RuleViolation("T5: one round of the cycle leaves more than it may")
    _check_ends(chain, poor, (below[-1], set(whole)), (cycle, suffix))


def _check_below(
    chain: TraceChain, rich: Masses, vectors: tuple[Fraction, Sequence[Masses]], cycle: Sequence[str]
) -> None:
    """Check that a round multiplies vectors by the factor, and that each one is handed on to the next."""
    factor, below = vectors
    if any(mass > rich.get(state, _ZERO) for state, mass in below[0].items()):
        raise RuleViolation("T5: 'below' is above the vector after the prefix")
    for vector, added in zip(below, [*below[1:], {}], strict=True):
        after = chain.along(vector, cycle)
        for state in {*vector, *added}:
            if after.get(state, _ZERO) < factor * vector.get(state, _ZERO) + added.get(state, _ZERO):
                raise RuleViolation("T5: one round of the cycle leaves less than it has to")


def _summed(vectors: Iterable[Masses]) -> Masses:
    result: Masses = {}
    for vector in vectors:
        for state, mass in vector.items():
            result[state] = result.get(state, _ZERO) + mass
    return result


def _check_ends(
    chain: TraceChain,
    poor: Masses,
    bounds: tuple[Masses, set[int]],
    words: tuple[Sequence[str], Sequence[str]],
) -> None:
    """Check that the suffix is possible on the probable side, and elsewhere only from states with a bound."""
    (below, bounded), (cycle, suffix) = bounds, words
    if not chain.along(below, suffix):
        raise RuleViolation("T5: the suffix is not possible where 'below' is positive")
    outside = _reached(chain, poor, cycle) - bounded
    if any(chain.along({state: _ONE}, suffix) for state in outside):
        raise RuleViolation("T5: the suffix is possible where nothing bounds the other side")
    if any(set(chain.along({state: _ONE}, cycle)) & bounded for state in outside):
        raise RuleViolation("T5: the cycle leads to 'above' from where nothing bounds the other side")


def _reached(chain: TraceChain, masses: Masses, cycle: Sequence[str]) -> set[int]:
    """Return the classes that have mass, and those that rounds of the cycle lead to."""
    found = set(masses)
    waiting = list(found)
    while waiting:
        for state in chain.along({waiting.pop(): _ONE}, cycle):
            if state not in found:
                found.add(state)
                waiting.append(state)
    return found
