"""Checks that differences of probabilities of traces are bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, item, items, natural, shown
from bisimdist.checker.core.trace_chain import Masses, TraceChain, total

__all__ = ["check_difference"]

_ZERO = Fraction(0)


@dataclass(frozen=True)
class _Expanded:
    """The difference of the two vectors after a trace that the proof looks beyond."""

    masses: Masses
    depth: int


def check_difference(
    chain: TraceChain, sides: tuple[int, int], upper: Fraction, proof: object, length: int | None
) -> None:
    """Check that no difference of the probabilities of a trace from two classes is above a bound.

    Raises
    ------
    MalformedCertificate
        If the proof does not have its shape.
    RuleViolation
        If it proves no such bound.
    """
    start = {} if sides[0] == sides[1] else {sides[0]: Fraction(1), sides[1]: Fraction(-1)}
    expanded = _read(chain, start, proof)
    known: dict[object, list[tuple[int, Fraction]]] = {}
    for entry in expanded:
        key, size = _key(chain, entry.masses)
        known.setdefault(key, []).append((entry.depth, size))

    def left_open(masses: Masses, depth: int) -> bool:
        """Tell whether nothing bounds what follows a trace."""
        if length is not None and depth >= length:
            return False
        if future(chain, masses) <= upper:
            return False
        key, size = _key(chain, masses)
        return not any((length is None or at <= depth) and size <= most for at, most in known.get(key, ()))

    if upper < 0 or left_open(start, 0):
        raise RuleViolation("T10: nothing bounds what follows the empty trace")
    for number, entry in enumerate(expanded):
        if length is not None and entry.depth >= length:
            continue
        for action in chain.possible(entry.masses):
            after = chain.after(entry.masses, action)
            if abs(total(after)) > upper:
                raise RuleViolation(f"T10: after trace {number}, {shown(action)} exceeds the upper bound")
            if left_open(after, entry.depth + 1):
                raise RuleViolation(f"T10: after trace {number}, nothing bounds what follows {shown(action)}")


def _read(chain: TraceChain, start: Masses, proof: object) -> list[_Expanded]:
    result: list[_Expanded] = []
    for number, value in enumerate(items(proof, "an upper proof")):
        where = f"trace {number}"
        entry = items(value, where)
        if number == 0:
            if entry:
                raise MalformedCertificate("the first trace is not the empty one")
            result.append(_Expanded(start, 0))
            continue
        if len(entry) != 2:
            raise MalformedCertificate(f"{where} is not a number and an action")
        before = result[natural(entry[0], f"the beginning of {where}", number)]
        result.append(_Expanded(chain.after(before.masses, item(entry[1], where)), before.depth + 1))
    return result


def _key(chain: TraceChain, masses: Masses) -> tuple[object, Fraction]:
    """Return the direction of a vector, whichever its sign, and its size."""
    key, size = chain.key(masses)
    if key and key[0][1] < 0:
        key = tuple((state, -value) for state, value in key)
    return key, size


def future(chain: TraceChain, masses: Masses) -> Fraction:
    """Return a bound on the differences after at least one more action."""
    bound = _parts(chain, masses)
    return min(bound, _parts(chain, chain.spread(masses))) if chain.combination else bound


def _parts(chain: TraceChain, masses: Mapping[int, Fraction]) -> Fraction:
    parts: dict[str | None, list[Fraction]] = {}
    for state, mass in masses.items():
        share = mass * total(chain.rows[state])
        parts.setdefault(chain.actions[state], [_ZERO, _ZERO])[share < 0] += abs(share)
    return max((max(part) for part in parts.values()), default=_ZERO)
