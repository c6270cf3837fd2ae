"""Paths of a flowchart in which one draw waits for the end of the run: the draw of the place that is shown.

Until then a run goes on with that noise as an unknown number: what it is compared with is kept as the least
and the most that it may be, and how a comparison comes out is guessed, alike in both runs. Runs whose guesses
turn out wrong are lost, and those that show another place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bisimdist.budgets.engine.flow_paths import GUESS, Draw, Path, at, paths
from bisimdist.budgets.engine.halfspaces import Form, plus
from bisimdist.models.flowchart import Flowchart

NOISE, LEAST, MOST, PLACE = "@noise", "@least", "@most", "@place"
MOST_PLACES = 60


class Undeferred(Exception):  # noqa: N818
    """The draw cannot wait."""


@dataclass(frozen=True, slots=True)
class Deferral:
    """Which draws wait: by place the number of one on the paths from there, and a form.

    It waits if the form is the first number of the output, and none waits already.
    """

    draws: Mapping[str, tuple[int, Form]]

    def written(self) -> dict[str, Any]:
        """Return it as certificates hold it."""
        return {
            place: {"draw": str(number), "index": {name: str(factor) for name, factor in index.items()}}
            for place, (number, index) in self.draws.items()
        }


@dataclass(frozen=True, slots=True)
class _Mode:
    """What is known while noise waits: its law, how often each variable has it, and which bounds it has.

    ``parts``: at the end what is returned: texts, and of each number how often it has the noise.
    """

    noise: Draw
    factors: tuple[tuple[str, int], ...] = ()
    bounds: tuple[str, ...] = ()
    parts: tuple[str | int, ...] = ()

    def name(self, place: str | None) -> str:
        """Return the name of a place in this mode; the end has none in the flowchart."""
        law = [self.noise.law, self.noise.base, _plain(sorted(self.noise.weight.items()))]
        parts = [[part] if isinstance(part, str) else str(part) for part in self.parts]
        made = [place, law, _plain(self.factors), list(self.bounds), parts]
        return json.dumps(made, separators=(",", ":"))


def _plain(form: Sequence[tuple[str, int]]) -> list[list[str]]:
    return [[name, str(value)] for name, value in form]


Found = tuple[Path, str | None, _Mode | None]  # a path, and the place and the mode that it leads to


def deferred(chart: Flowchart, wanted: Deferral) -> tuple[Flowchart, dict[str, list[Path]]]:
    """Return a flowchart in which a draw waits, with its paths. Raises Undeferred if it cannot."""
    ways: dict[str, list[Path]] = {}
    variables: dict[str, tuple[str, ...]] = {}
    left: list[tuple[str | None, _Mode | None]] = [("start", None)]
    while left:
        place, mode = left.pop()
        name = mode.name(place) if mode is not None else str(place)
        if name in ways:
            continue
        if len(ways) == MOST_PLACES:
            raise Undeferred
        found = list(_paths(chart, place, mode, wanted))
        ways[name] = [path for path, _, _ in found]
        parts = (
            [f"@part {n}" for n, part in enumerate(mode.parts) if not isinstance(part, str)] if mode else ()
        )
        known = chart.variables[place] if place is not None else tuple(parts)
        variables[name] = (*known, *(mode.bounds if mode else ()))
        left += [(target, after) for path, target, after in found if path.target is not None]
    places = dict.fromkeys(ways, chart.places["start"])
    return replace(chart, places=places, variables=variables, parameters=(*chart.parameters, PLACE)), ways


def _paths(chart: Flowchart, place: str | None, mode: _Mode | None, wanted: Deferral) -> Iterator[Found]:
    if place is None:
        assert mode is not None
        yield from ((path, None, None) for path in _drawn(mode))
        return
    env = {} if mode is None else {name: {name: 1, NOISE: factor} for name, factor in mode.factors}
    for path in paths(chart.places[place], Path(env=env)):
        if mode is not None:
            yield from _waiting(path, mode)
        elif place not in wanted.draws or len(path.draws) <= wanted.draws[place][0]:
            yield from _usual(path)
        else:
            number, index = wanted.draws[place]
            beyond = plus(index, {PLACE: 1}, -1)
            below = plus({}, beyond, -1)
            for other in (plus({"": -1}, beyond, -1), plus({"": -1}, below, -1)):
                yield from _usual(replace(path, guards=(*path.guards, other)))
            here = _without(path, number, (beyond, below))
            yield from _waiting(here, _Mode(path.draws[number]))


def _usual(path: Path) -> Iterator[Found]:
    if path.target is None:
        yield from ((made, None, None) for made in _ends(path, _place_shown(path)))
    else:
        yield path, path.target, None


def _without(path: Path, number: int, guards: tuple[Form, ...]) -> Path:
    """Return a path whose draw is no draw any more."""
    env: dict[str, Form] = {f"#{number}": {NOISE: 1}}
    env |= {f"#{n}": {f"#{n - 1}": 1} for n in range(number + 1, len(path.draws))}
    draws = [replace(d, name=f"#{n}") for n, d in enumerate(d for d in path.draws if d.name != f"#{number}")]
    return replace(
        path,
        guards=(*(at(guard, env) for guard in path.guards), *guards),
        draws=tuple(draws),
        told=tuple(part if isinstance(part, str) else at(part, env) for part in path.told),
        returned=tuple(part if isinstance(part, str) else at(part, env) for part in path.returned),
        env={name: at(form, env) for name, form in path.env.items()},
    )


def _waiting(path: Path, mode: _Mode) -> Iterator[Found]:
    """Yield the paths with guesses of one whose forms name the noise that waits."""
    if any(NOISE in form for form in path.told if not isinstance(form, str)):
        raise Undeferred
    known: dict[str, Form] = {name: {name: 1} for name in mode.bounds}
    parts = [(tuple(guard for guard in path.guards if NOISE not in guard), known)]
    chosen = path.chosen
    for guard, taken in zip(path.guards, path.tests, strict=False):
        factor = guard.get(NOISE, 0)
        if not factor:
            continue
        if abs(factor) != 1:
            raise Undeferred
        chosen = (*chosen, (GUESS, taken))
        name = LEAST if factor > 0 else MOST
        bound = plus({NOISE: 1}, guard, -factor)
        parts = [new for guards, bounds in parts for new in _bounded(guards, bounds, name, bound)]
    for guards, bounds in parts:
        made = replace(path, guards=guards, chosen=chosen)
        kept, after = path.env, replace(mode, factors=(), bounds=tuple(sorted(bounds)))
        if path.target is None:
            *lost, made = _ends(made, [form for form in _place_shown(path) if NOISE not in form])
            yield from ((end, None, None) for end in lost)
            shown = {f"@part {n}": p for n, p in enumerate(path.returned) if not isinstance(p, str)}
            kept = shown
            noisy = tuple(p if isinstance(p, str) else p.get(NOISE, 0) for p in path.returned)
            after = replace(after, parts=noisy)
        else:
            factors = sorted((name, form[NOISE]) for name, form in kept.items() if NOISE in form)
            after = replace(after, factors=tuple(factors))
        env = {name: plus(form, {NOISE: form.get(NOISE, 0)}, -1) for name, form in kept.items()}
        made = replace(made, env={**env, **bounds}, target=after.name(path.target), returned=())
        yield made, path.target, after


Parts = tuple[tuple[Form, ...], dict[str, Form]]


def _bounded(guards: tuple[Form, ...], bounds: dict[str, Form], name: str, bound: Form) -> Iterator[Parts]:
    """Yield how a bound of the noise that waits changes what is known of it."""
    if name not in bounds:
        yield guards, {**bounds, name: bound}
        return
    sign = 1 if name == LEAST else -1
    tighter = plus({"": -1}, plus(bound, bounds[name], -1), sign)
    yield (*guards, tighter), {**bounds, name: bound}
    yield (*guards, plus({"": -1}, tighter, -1)), bounds


def _drawn(mode: _Mode) -> Iterator[Path]:
    """Yield the paths at the end, where the noise is drawn at last."""
    noise: Form = {"#0": 1}
    tests = [plus(noise, {LEAST: 1}, -1)] if LEAST in mode.bounds else []
    tests += [plus({MOST: 1}, noise, -1)] if MOST in mode.bounds else []
    returned = tuple(
        part if isinstance(part, str) else plus({f"@part {number}": 1}, noise, part)
        for number, part in enumerate(mode.parts)
    )
    path = Path(draws=(replace(mode.noise, name="#0", site=NOISE),), returned=returned)
    yield from _ends(path, [*tests, *(form for form in _place_shown(path) if "#0" in form)])


def _place_shown(path: Path) -> list[dict[str, int]]:
    """Return what is at least 0 if the first number that is returned is the place."""
    shown = next((part for part in path.returned if not isinstance(part, str)), None)
    if shown is None:
        return []
    beyond = plus(shown, {PLACE: 1}, -1)
    return [beyond, plus({}, beyond, -1)]


def _ends(path: Path, tests: list[dict[str, int]]) -> Iterator[Path]:
    """Yield where a path is lost, and at last where it is not."""
    for number, test in enumerate(tests):
        guards = (*path.guards, *tests[:number], plus({"": -1}, test, -1))
        yield replace(path, guards=guards, lost=True)
    yield replace(path, guards=(*path.guards, *tests))
