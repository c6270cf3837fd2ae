"""Checks that differences of probabilities of traces are bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import RuleViolation, item, items, natural, shown
from bisimdist.checker.core.shape import row
from bisimdist.checker.core.trace_chain import Masses, TraceChain, total

_ZERO = Fraction(0)


@dataclass(frozen=True)
class _Expanded:
    """The difference of the two vectors after a trace that the proof looks beyond."""

    masses: Masses
    depth: int


def check_difference(
    chain: TraceChain, sides: tuple[int, int], upper: Fraction, proof: object, length: int | None
) -> None:
    """Check that no difference of the probabilities of a trace from two classes is above a bound."""
    start = {} if sides[0] == sides[1] else {sides[0]: Fraction(1), sides[1]: Fraction(-1)}
    expanded = _read(chain, start, items(proof, "an upper proof"))
    known: dict[object, list[tuple[int, Fraction]]] = {}
    for entry in counted(expanded):
        key, size = _key(chain, entry.masses)
        known.setdefault(key, []).append((entry.depth, size))

    def left_open(masses: Masses, depth: int) -> bool:
        """Tell whether nothing bounds what follows a trace."""
        if length is not None and depth >= length:
            return False
        if future(chain, masses) <= upper:
            return False
        key, size = _key(chain, masses)
        return not any(
            (length is None or at <= depth) and size <= most for at, most in counted(known.get(key, ()))
        )

    if upper < 0 or left_open(start, 0):
        raise RuleViolation("T10: nothing bounds what follows the empty trace")
    for number, entry in counted(enumerate(expanded)):
        if length is not None and entry.depth >= length:
            continue
        for action in counted(chain.possible(entry.masses)):
            after = chain.after(entry.masses, action)
            if abs(total(after)) > upper:
                raise RuleViolation(f"T10: after trace {number}, {shown(action)} exceeds the upper bound")
            if left_open(after, entry.depth + 1):
                raise RuleViolation(f"T10: after trace {number}, nothing bounds what follows {shown(action)}")


def _read(chain: TraceChain, start: Masses, proof: list[Any]) -> list[_Expanded]:
    """Read traces, each of which goes on from one before by an action; the first one is empty."""
    result: list[_Expanded] = []
    for number, value in counted(enumerate(proof)):
        where = f"trace {number}"
        if number == 0:
            row()(value, where)
            result.append(_Expanded(start, 0))
            continue
        before, action = row(natural, item)(value, where)
        parent = result[natural(before, f"the beginning of {where}", number)]
        result.append(_Expanded(chain.after(parent.masses, action), parent.depth + 1))
    return result


def _key(chain: TraceChain, masses: Masses) -> tuple[object, Fraction]:
    """Return the direction of a vector, whichever its sign, and its size."""
    key, size = chain.key(masses)
    if key and key[0][1] < 0:
        key = tuple((state, -value) for state, value in counted(key))
    return key, size


def future(chain: TraceChain, masses: Masses) -> Fraction:
    """Return a bound on the differences after at least one more action."""
    bound = _parts(chain, masses)
    return min(bound, _parts(chain, chain.spread(masses))) if chain.combination else bound


def _parts(chain: TraceChain, masses: Mapping[int, Fraction]) -> Fraction:
    parts: dict[str | None, list[Fraction]] = {}
    for state, mass in counted(masses.items()):
        share = mass * total(chain.rows[state])
        parts.setdefault(chain.actions[state], [_ZERO, _ZERO])[share < 0] += abs(share)
    return max((max(all_of(part)) for part in counted(parts.values())), default=_ZERO)
