"""Writes down how a composition was bounded (docs/certificates/composition.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.faces.written.frame import Document
from bisimdist.privacy.compose.answer import Composition, DeltaPoint, NoEpsilon, Point
from bisimdist.privacy.compose.engine.laws import UNKNOWN

if TYPE_CHECKING:
    from bisimdist.privacy.compose.engine.accountant import Direction
    from bisimdist.privacy.compose.engine.plan import Work


def composition_certificate(answer: Composition) -> Document:
    """Return the proof of all points that were asked for.

    Raises UsageError if nothing was asked, or a mechanism is known by bounds only.
    """
    points = [point for point in answer.points if not isinstance(point, NoEpsilon)]
    if not points:
        raise UsageError("nothing is known yet; expected a call of delta, epsilon or curve first")
    if any(one.laws[1] is UNKNOWN for one in answer.entries):
        raise UsageError("no proof is written where a mechanism is known by bounds of its own only")
    needed = {side.name: _needed(side, points) for side in answer.accountant.sides}
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "composition",
        "relation": answer.relation,
        "mechanisms": [{**one.spec, "times": str(one.runs)} for one in answer.entries],
        "tapes": {name: [_tape(tape) for tape in tapes] for name, tapes in needed.items() if tapes},
        "claims": [point.data() for point in points],
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


def _needed(side: Direction, points: Sequence[Point]) -> list[Work]:
    """Return the computations that some claim rests on: for each side of each point the best one."""
    chosen: set[int] = set()
    for point in points:
        at = [point.epsilon] * 2 if isinstance(point, DeltaPoint) else [point.lower, point.upper]
        for k, (epsilon, best) in enumerate(zip(at, (max, min), strict=True)):
            if side.tapes and not side.settled(epsilon):
                found = [tape.found[-1].bounds(epsilon)[k] for tape in side.tapes]
                chosen.add(found.index(best(found)))
    return [side.tapes[k] for k in sorted(chosen)]
