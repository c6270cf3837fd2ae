"""Checks that quotients of probabilities of traces have no bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from bisimdist.checker.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    items,
    rational,
    record,
    shown,
)
from bisimdist.checker.trace_chain import Masses, TraceChain, total

__all__ = ["check_infinite"]

PUMP = ("type", "prefix", "cycle", "suffix", "swapped", "fast", "slow", "below", "above")
DRIFT = ("type", "prefix", "cycle", "suffix", "swapped", "factor", "below", "above")
_ZERO = Fraction(0)
_ONE = Fraction(1)


def check_infinite(chain: TraceChain, sides: tuple[int, int], proof: object) -> None:
    """Check that the quotients of some traces from two classes have no bound.

    Raises
    ------
    MalformedCertificate
        If the proof does not have its shape.
    RuleViolation
        If it does not prove that.
    """
    kind = proof.get("type") if isinstance(proof, dict) else None
    if kind == "loop":
        _check_loop(chain, sides, proof)
    elif kind == "drift":
        _check_drift(chain, sides, proof)
    else:
        _check_pump(chain, sides, proof)


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


def _check_pump(chain: TraceChain, sides: tuple[int, int], proof: object) -> None:
    data = record(proof, "the pump", PUMP)
    prefix, cycle, suffix = (_word(data[key]) for key in ("prefix", "cycle", "suffix"))
    if not isinstance(data["swapped"], bool):
        raise MalformedCertificate("'swapped' is neither true nor false")
    fast, slow = rational(data["fast"], "a factor"), rational(data["slow"], "a factor")
    if not 0 <= slow < fast:
        raise RuleViolation("T5: the fast factor is not larger than the slow one")
    below, above = _vector(chain, data["below"], "'below'"), _vector(chain, data["above"], "'above'")
    one, other = reversed(sides) if data["swapped"] else sides
    rich, poor = chain.along({one: _ONE}, prefix), chain.along({other: _ONE}, prefix)
    if any(mass > rich.get(state, _ZERO) for state, mass in below.items()):
        raise RuleViolation("T5: 'below' is above the vector after the prefix")
    after = chain.along(below, cycle)
    if any(after.get(state, _ZERO) < fast * mass for state, mass in below.items()):
        raise RuleViolation("T5: one round of the cycle leaves less than the fast factor")
    if any(poor.get(state, _ZERO) > mass for state, mass in above.items()):
        raise RuleViolation("T5: 'above' is below the other vector after the prefix")
    after = chain.along(above, cycle)
    if any(after.get(state, _ZERO) > slow * mass for state, mass in above.items()):
        raise RuleViolation("T5: one round of the cycle leaves more than the slow factor")
    _check_ends(chain, poor, (below, set(above)), (cycle, suffix))


def _check_drift(chain: TraceChain, sides: tuple[int, int], proof: object) -> None:
    data = record(proof, "the drift", DRIFT)
    prefix, cycle, suffix = (_word(data[key]) for key in ("prefix", "cycle", "suffix"))
    if not isinstance(data["swapped"], bool):
        raise MalformedCertificate("'swapped' is neither true nor false")
    factor = rational(data["factor"], "the factor")
    below = [_vector(chain, value, "'below'") for value in items(data["below"], "'below'")]
    above: list[tuple[Fraction, Masses]] = []
    for value in items(data["above"], "'above'"):
        pair = items(value, "'above'")
        if len(pair) != 2:
            raise MalformedCertificate("an entry of 'above' is not a rate and a vector")
        above.append((rational(pair[0], "a rate"), _vector(chain, pair[1], "'above'")))
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
    for number, vector in enumerate(below):
        after = chain.along(vector, cycle)
        added = below[number + 1] if number + 1 < len(below) else {}
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
