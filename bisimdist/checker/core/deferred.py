"""Flowcharts in which one draw waits for the end of the run (rule J10 of ``coupling``).

It is the draw at the place that the output names. Until the end its noise is an unknown number: tests of it
are guessed, as `GUESS` says, and what they mean for it is kept as the least and the most that it may be. At
the end it is drawn. A run is lost whose guesses were wrong, or that shows another place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.flowchart import GUESS, Draw, Form, Path, at, other_side, own_form, paths, plus
from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation
from bisimdist.checker.core.shape import Depth, Shape, depth, key

_NOISE, _LEAST, _MOST = "@noise", "@least", "@most"
PLACE = "@place"  # the first number that is returned
MOST_PLACES = 200


class Waiting(Shape):
    """Which draw of the paths from a place waits, where a form is the place that the output names."""

    draw: Depth = key(depth)
    index: Form = key(own_form)


@dataclass(frozen=True)
class _Mode:
    """The law of the noise that waits, how often variables have it, its bounds, and at the end the output."""

    draw: Draw
    factors: tuple[tuple[str, int], ...] = ()
    bounds: tuple[str, ...] = ()
    parts: tuple[str | int, ...] = ()

    def name(self, place: str | None) -> str:
        law = [self.draw.law, self.draw.base, _texts(sorted(all_of(self.draw.weight.items())))]
        parts = [[part] if isinstance(part, str) else str(part) for part in counted(self.parts)]
        made = [place, law, _texts(self.factors), list(all_of(self.bounds)), parts]
        return json.dumps(made, separators=(",", ":"))


def _texts(entries: Sequence[tuple[str, int]]) -> list[list[str]]:
    return [[name, str(value)] for name, value in counted(entries)]


_Found = tuple[Path, str | None, _Mode | None]


def deferred(steps: Mapping[str, Any], waiting: Mapping[str, Waiting]) -> dict[str, list[Path]]:
    """Return the paths by place where a draw waits. Raises RuleViolation if it cannot."""
    made: dict[str, list[Path]] = {}
    left: list[tuple[str | None, _Mode | None]] = [("start", None)]
    for place, mode in counted(left):
        name = str(place) if mode is None else mode.name(place)
        if mode is not None and name in steps:
            raise RuleViolation("J10: a place has a name that the rules use")
        if name in made:
            continue
        if len(made) == MOST_PLACES:
            raise MalformedCertificate(f"more than {MOST_PLACES} places while a draw waits")
        found = list(counted(_paths(steps, place, mode, waiting)))
        made[name] = [path for path, _, _ in counted(found)]
        left += [(target, after) for path, target, after in counted(found) if path.target is not None]
    return made


def _paths(
    steps: Mapping[str, Any], place: str | None, mode: _Mode | None, waiting: Mapping[str, Waiting]
) -> Iterator[_Found]:
    if place is None:
        if mode is not None:
            yield from ((path, None, None) for path in counted(_drawn(mode)))
        return
    factors = mode.factors if mode is not None else ()
    env: dict[str, Form] = {name: {name: 1, _NOISE: factor} for name, factor in counted(factors)}
    for path in counted(paths(steps[place], Path(env=env), "a place")):
        asked = waiting.get(place)
        if mode is not None:
            yield from _guessed(path, mode)
        elif asked is None or len(path.draws) <= asked.draw:
            yield from _usual(path)
        else:
            beyond = plus(asked.index, {PLACE: 1}, -1)
            below = plus({}, beyond, -1)
            for form in (other_side(beyond), other_side(below)):
                yield from _usual(replace(path, guards=(*path.guards, form)))
            yield from _guessed(_without(path, asked.draw, (beyond, below)), _Mode(path.draws[asked.draw]))


def _usual(path: Path) -> Iterator[_Found]:
    if path.target is not None:
        yield path, path.target, None
    else:
        yield from ((end, None, None) for end in counted(_ends(path, _place_shown(path))))


def _without(path: Path, number: int, guards: tuple[Form, ...]) -> Path:
    """Return a path of which a draw waits."""
    env: dict[str, Form] = {f"#{number}": {_NOISE: 1}}
    env |= {f"#{n}": {f"#{n - 1}": 1} for n in counted(range(number + 1, len(path.draws)))}
    return replace(
        path,
        guards=(*(at(guard, env) for guard in counted(path.guards)), *guards),
        draws=tuple(draw for n, draw in counted(enumerate(path.draws)) if n != number),
        told=tuple(part if isinstance(part, str) else at(part, env) for part in counted(path.told)),
        returned=tuple(part if isinstance(part, str) else at(part, env) for part in counted(path.returned)),
        env={name: at(form, env) for name, form in counted(path.env.items())},
    )


def _guessed(path: Path, mode: _Mode) -> Iterator[_Found]:
    """Yield a path with its guesses, by how they change what is known of the noise."""
    if any(_NOISE in part for part in counted(path.told) if not isinstance(part, str)):
        raise RuleViolation("J10: something is told of the noise before it is drawn")
    known: dict[str, Form] = {name: {name: 1} for name in counted(mode.bounds)}
    parts = [(tuple(guard for guard in counted(path.guards) if _NOISE not in guard), known)]
    chosen = path.chosen
    for guard, taken in counted(zip(path.guards, path.tests, strict=False)):  # the index is no test
        factor = guard.get(_NOISE, 0)
        if not factor:
            continue
        if abs(factor) != 1:
            raise RuleViolation("J10: a test is about a multiple of the noise that waits")
        chosen = (*chosen, (GUESS, taken))
        name = _LEAST if factor > 0 else _MOST
        bound = plus({_NOISE: 1}, guard, -factor)
        parts = [new for guards, old in counted(parts) for new in counted(_bounded(guards, old, name, bound))]
    for guards, bounds in counted(parts):
        made = replace(path, guards=guards, chosen=chosen)
        after = replace(mode, factors=(), bounds=tuple(all_of(sorted(all_of(bounds)))))
        if path.target is None:
            *lost, made = _ends(made, [form for form in counted(_place_shown(path)) if _NOISE not in form])
            yield from ((end, None, None) for end in counted(lost))
            returned = list(counted(enumerate(path.returned)))
            kept = {f"@part {n}": part for n, part in counted(returned) if not isinstance(part, str)}
            noisy = (part if isinstance(part, str) else part.get(_NOISE, 0) for _, part in counted(returned))
            after = replace(after, parts=tuple(counted(noisy)))
        else:
            kept = dict(all_of(path.env))
            factors = [(name, form[_NOISE]) for name, form in counted(kept.items()) if _NOISE in form]
            after = replace(after, factors=tuple(all_of(sorted(all_of(factors)))))
        env = {name: plus(form, {_NOISE: form.get(_NOISE, 0)}, -1) for name, form in counted(kept.items())}
        target = after.name(path.target)
        yield replace(made, env={**env, **bounds}, target=target, returned=()), path.target, after


_Known = tuple[tuple[Form, ...], dict[str, Form]]


def _bounded(guards: tuple[Form, ...], bounds: dict[str, Form], name: str, bound: Form) -> Iterator[_Known]:
    """Yield how a bound of the noise changes what is known of it."""
    if name not in bounds:
        yield guards, {**bounds, name: bound}
        return
    tighter = plus({"": -1}, plus(bound, bounds[name], -1), 1 if name == _LEAST else -1)
    yield (*guards, tighter), {**bounds, name: bound}
    yield (*guards, other_side(tighter)), bounds


def _drawn(mode: _Mode) -> Iterator[Path]:
    """Yield the ends of a run, where the noise is drawn at last."""
    noise: Form = {"#0": 1}
    tests = [plus(noise, {_LEAST: 1}, -1)] if _LEAST in mode.bounds else []
    tests += [plus({_MOST: 1}, noise, -1)] if _MOST in mode.bounds else []
    returned = tuple(
        part if isinstance(part, str) else plus({f"@part {n}": 1}, noise, part)
        for n, part in counted(enumerate(mode.parts))
    )
    path = Path(draws=(mode.draw,), returned=returned)
    yield from _ends(path, [*tests, *(form for form in counted(_place_shown(path)) if "#0" in form)])


def _place_shown(path: Path) -> list[dict[str, int]]:
    """Return what is at least 0 if the first number that is returned is the place."""
    beyond = next((plus(p, {PLACE: 1}, -1) for p in counted(path.returned) if not isinstance(p, str)), None)
    return [] if beyond is None else [beyond, plus({}, beyond, -1)]


def _ends(path: Path, tests: list[dict[str, int]]) -> Iterator[Path]:
    """Yield where a path is lost, and last where it is not."""
    for number, test in counted(enumerate(tests)):
        yield replace(path, guards=(*path.guards, *tests[:number], other_side(test)), lost=True)
    yield replace(path, guards=(*path.guards, *tests))
