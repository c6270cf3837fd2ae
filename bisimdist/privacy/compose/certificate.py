"""Writes down how a composition was bounded (docs/certificates/composition.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.faces.written.frame import Document
from bisimdist.privacy.compose.answer import Composition, DeltaPoint, Point

if TYPE_CHECKING:
    from bisimdist.privacy.compose.engine.accountant import Direction
    from bisimdist.privacy.compose.engine.plan import Work

MOST_WORK = 3_000_000_000
"""What the checker may spend on a short document, about, less what it spends on other things."""

DIGIT, ENTRY = 15, 900  # what it spends on a digit of a product, and on an entry

MOST_DIGITS, MOST_BITS, GUARD, ROOM = 800, 2_900, 96, 2_816
"""The checker's limits of masses, in digits and bits, and what it adds: a test holds both together."""


def composition_certificate(answer: Composition) -> Document:
    """Return the proof of all points that were asked for.

    Raises UsageError if nothing was asked, or a mechanism is known by bounds only.
    """
    if not answer.points:
        raise UsageError("nothing was asked yet; expected a call of delta, epsilon or curve first")
    if any(one.below is None for one in answer.mechanisms):
        raise UsageError("no proof is written where a mechanism is known by bounds of its own only")
    needed = {name: _needed(side, answer.points) for name, side in answer.accountant.directions.items()}
    if sum(_work(tape) for tapes in needed.values() for tape in tapes) > MOST_WORK:
        raise LimitError("its check would take more work than a certificate may; a larger --width needs less")
    digits = max((tape.need.digits for tapes in needed.values() for tape in tapes), default=0)
    bits = max(_bits(answer, needed), default=0)
    if digits > MOST_DIGITS or bits > MOST_BITS:
        raise LimitError(
            f"a proof would need masses of {max(digits * 10 // 3, bits)} bits, and the checker takes"
            f" {MOST_BITS}; a smaller epsilon or a larger delta needs less"
        )
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "composition",
        "relation": answer.relation,
        "mechanisms": [{**one.spec, "times": str(one.runs)} for one in answer.entries],
        "tapes": {name: [_tape(tape) for tape in tapes] for name, tapes in needed.items() if tapes},
        "claims": [point.data() for point in answer.points],
    }


def _tape(tape: Work) -> Document:
    need = tape.need
    return {
        "step": format_rational(need.step),
        "digits": str(need.digits),
        "steps": [_plain(step) for step in tape.steps],
        **({} if need.below else {"above": True}),
        **({} if not need.tilt else {"tilt": format_rational(need.tilt)}),
        **({} if not any(need.scales) else {"scales": [format_rational(one) for one in need.scales]}),
    }


def _work(tape: Work) -> int:
    """Return about what the checker spends on the products of a computation."""
    digits, sides = 2 * tape.need.digits + 6, 3 if tape.need.below else 1
    found, total = tape.found, 0
    for step in tape.steps:
        if step[0] == "multiply":
            total += sides * sum(found[place].size for place in step[1:3]) * (DIGIT * digits + ENTRY)
    return total


def _bits(answer: Composition, needed: Mapping[str, Sequence[Work]]) -> Iterator[int]:
    """Return to how many bits the checker works out masses, and what they are multiplied with."""
    tapes = [tape for found in needed.values() for tape in found]
    units = [len(bin(10**tape.need.digits)) - 2 for tape in tapes]
    for tape, unit in zip(tapes, units, strict=True):
        for step, made in zip(tape.steps, tape.found, strict=True):
            grid, high = made.grid, made.low + made.size
            large = abs(grid.scale - grid.tilt * grid.step * high)
            if step[0] == "cells":
                most = max(0, int((grid.step * (high - 1)).floor()), int((-grid.step * made.low).floor()))
                large = most * (1 + grid.tilt) + abs(grid.scale)
            yield _whole(unit + GUARD + 3 * int(large.floor()) // 2 + int(grid.step.q).bit_length())
    caps = [side.cap for side in answer.accountant.directions.values()]
    for point in answer.points:
        uppers, lowers = [], []  # where delta is worked out, and about how large it is
        if isinstance(point, DeltaPoint):
            uppers = [(point.epsilon, point.upper)] * (point.upper < 1)
            lowers = [(point.epsilon, point.lower)] * (point.lower > 0)
        else:
            uppers = [(point.upper, point.delta)]
            # without a delta the lower end is a sum of losses
            lowers = [(point.lower, point.delta)] * (point.lower > 0 and point.delta > 0)
        for epsilon, about in uppers + lowers:
            large = (int(about.denominator).bit_length() if about else 200) + 2 * GUARD
            if all(cap is not None and cap.largest <= epsilon for cap in caps):
                yield _whole(large)  # beyond the largest loss no power of e is needed
                continue
            powers = 3 * int(epsilon) // 2
            yield _whole(max(large + powers, min(large + 2 * powers, ROOM)))


def _whole(bits: int) -> int:
    return bits + -bits % 32


def _needed(side: Direction, points: Sequence[Point]) -> list[Work]:
    """Return the computations that some claim rests on: for each side of each point the best one."""
    chosen: dict[int, Work] = {}
    for point in points:
        ends = (point.epsilon, point.epsilon) if isinstance(point, DeltaPoint) else (point.lower, point.upper)
        found = []
        if side.tapes and not side.settled(ends[0]):
            found.append(max(side.tapes, key=lambda tape: tape.known.lower(ends[0])))
        if side.tapes and not side.settled(ends[1]):
            found.append(min(side.tapes, key=lambda tape: tape.known.upper(ends[1])))
        chosen |= {side.tapes.index(tape): tape for tape in found}
    return [chosen[k] for k in sorted(chosen)]


def _plain(part: Any) -> Any:
    if isinstance(part, tuple):
        return [_plain(inner) for inner in part]
    return part if isinstance(part, str) else str(part)
