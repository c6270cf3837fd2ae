"""Writes down how a composition was bounded (docs/certificates/composition.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.faces.written.frame import Document
from bisimdist.privacy.compose.answer import Composition, DeltaPoint, Point
from bisimdist.privacy.compose.engine.laws import UNKNOWN, AtomsAt

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.privacy.compose.engine.accountant import Direction
    from bisimdist.privacy.compose.engine.plan import Work

MOST_WORK = 3_900_000_000  # what the checker may spend on a short document, about

DIGIT, ENTRY, CELL = 21, 1_260, 90_000
"""What it spends, about: on a digit of a product, on an entry, and on the masses of a cell of noise."""

MOST_DIGITS, MOST_BITS, GUARD, ROOM = 800, 2_900, 96, 2_816
"""The checker's limits of masses, in digits and bits, and what it adds: a test holds both together."""


def composition_certificate(answer: Composition) -> Document:
    """Return the proof of all points that were asked for.

    Raises UsageError if nothing was asked, or a mechanism is known by bounds only.
    """
    if not answer.points:
        raise UsageError("nothing was asked yet; expected a call of delta, epsilon or curve first")
    if any(one.laws[1] is UNKNOWN for one in answer.entries):
        raise UsageError("no proof is written where a mechanism is known by bounds of its own only")
    needed = {side.name: _needed(side, answer.points) for side in answer.accountant.sides}
    tapes = [tape for some in needed.values() for tape in some]
    if sum(map(_work, tapes)) > MOST_WORK:
        raise LimitError("its check would take more work than a certificate may; a larger --width needs less")
    digits = max((tape.grid.digits for tape in tapes), default=0)
    bits = -(-max(_bits(answer, tapes), default=0) // 32) * 32
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
    return {
        "step": format_rational(tape.grid.step),
        "digits": str(tape.grid.digits),
        "steps": [_plain(step) for step in tape.steps],
        **({} if tape.below else {"above": True}),
        **({} if not tape.grid.tilt else {"tilt": format_rational(tape.grid.tilt)}),
        **({} if not any(tape.scales) else {"scales": [format_rational(one) for one in tape.scales]}),
    }


def _plain(part: Any) -> Any:
    return [_plain(inner) for inner in part] if isinstance(part, tuple) else str(part)


def _places(point: Point) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
    """Return where delta is worked out, and about how large it is: from below, from above."""
    if isinstance(point, DeltaPoint):
        return (point.epsilon, point.lower), (point.epsilon, point.upper)
    return (point.lower, point.delta), (point.upper, point.delta)


def _needed(side: Direction, points: Sequence[Point]) -> list[Work]:
    """Return the computations that some claim rests on: for each side of each point the best one."""
    chosen: set[int] = set()
    for point in points:
        for k, ((epsilon, _), best) in enumerate(zip(_places(point), (max, min), strict=True)):
            if side.tapes and not side.settled(epsilon):
                found = [tape.found[-1].bounds(epsilon)[k] for tape in side.tapes]
                chosen.add(found.index(best(found)))
    return [side.tapes[k] for k in sorted(chosen)]


def _work(tape: Work) -> int:
    """Return about what the checker spends on a computation."""
    sizes = cells = 0
    for name, *what in tape.steps:
        if name == "multiply":
            sizes += sum(tape.found[k].size for k in what[:2])
        elif name == "cells" and not isinstance(tape.factors[what[0]].law, AtomsAt):
            cells += sum(count for _, count in what[-1])
    products = (3 if tape.below else 1) * sizes * (DIGIT * (2 * tape.grid.digits + 6) + ENTRY)
    return products + CELL * cells


def _bits(answer: Composition, tapes: Sequence[Work]) -> Iterator[int]:
    """Return to how many bits the checker works out masses, and what they are multiplied with."""
    for tape in tapes:
        unit = (10**tape.grid.digits).bit_length() + GUARD
        for step, made in zip(tape.steps, tape.found, strict=True):
            grid, high = made.grid, made.low + made.size
            large = abs(grid.scale - grid.tilt * grid.step * high)
            if step[0] == "cells":
                most = max(0, int((grid.step * (high - 1)).floor()), int((-grid.step * made.low).floor()))
                large = most * (1 + grid.tilt) + abs(grid.scale)
            yield unit + 3 * int(large.floor()) // 2 + int(grid.step.q).bit_length()
    for point in answer.points:
        below, above = _places(point)
        # a bound of 0 or 1 needs nothing, and without a delta the lower end is a sum of losses
        for epsilon, about in [above] * (above[1] < 1) + [below] * (below[1] > 0):
            large = (int(about.denominator).bit_length() if about else 200) + 2 * GUARD
            # beyond the largest loss no power of e is needed
            capped = all(side.capped(epsilon) for side in answer.accountant.sides)
            powers = 0 if capped else 3 * int(epsilon) // 2
            yield max(large + powers, min(large + 2 * powers, ROOM) * (powers > 0))
