"""Couplings of two runs of a flowchart: shifts of noise and an inductive invariant, found place by place.

Bounds on some dozen forms grow from where runs begin until nothing grows any more; shifts make
the second run take the ways of the first one, as far as the bounds say by then. Nothing here is believed:
`bisimdist.budgets.engine.coupling_proof` proves what is left in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations, product

from bisimdist.budgets.engine.flow_deferred import LEAST, MOST, NOISE, Deferral, deferred
from bisimdist.budgets.engine.flow_paths import (
    NOW,
    USED,
    Draw,
    Path,
    Shift,
    after,
    agreeable,
    at,
    both_ways,
    cost,
    ending,
    forward,
    laws,
    out,
    paths,
    prices,
    primed,
    reading,
    shifted,
    varying,
    whole,
)
from bisimdist.budgets.engine.halfspaces import Form, Halfspaces, moved, plus
from bisimdist.models.flowchart import Flowchart
from bisimdist.progress import Deadline

PATIENCE = 4  # so often a bound may grow before it is given up
MOST_SHIFT = 4

Key = tuple[str, int]  # a place and one of its cells
Row = tuple[tuple[str, int], ...]


class Uncoupled(Exception):  # noqa: N818
    """No coupling of this kind was found."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(why)
        self.place, self.why = place, why


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of the states at a place: where forms are at least 0."""

    forms: tuple[Form, ...] = ()
    live: bool = True  # whether the run may still show what the first run showed
    wanted: bool = False  # whether it is the place that the output names


@dataclass(frozen=True, slots=True)
class Split:
    """Two parts of the states, by the sign of a form."""

    form: Form
    yes: Split | int
    no: Split | int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is tried: the cells of each place, and the shifts that nothing on their paths decides."""

    cells: Mapping[str, Sequence[Cell]]
    splits: Mapping[str, Split | int]
    sites: Mapping[str, int | None] = field(default_factory=dict)
    """By draw its shift; None makes the first variable the same in both runs that it is added to."""
    lockstep: bool = True  # whether the second run takes the ways of the first one
    wanted: int = 0  # how far noise is shifted at the place that the output names, if it is not lockstep
    deferral: Deferral | None = None  # which draw waits for the end; then only that one is shifted
    exactly: bool = False  # whether noise that is tested is shifted so that the test is as it was, no further


@dataclass
class Coupling:
    """Bounds on forms in each cell, and shifts for each path from there."""

    chart: Flowchart
    plan: Plan
    deadline: Deadline
    ways: dict[str, list[Path]] = field(default_factory=dict)
    bases: tuple[str, ...] = ()
    bounds: dict[Key, dict[Row, int]] = field(default_factory=dict)
    grown: dict[tuple[Key, Row], int] = field(default_factory=dict)
    shifts: dict[Key, list[tuple[Shift, ...] | None]] = field(default_factory=dict)
    swaps: dict[Key, str] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    ends: dict[Row, int | None] = field(default_factory=dict)
    weights: tuple[int, ...] = ()
    known_rows: dict[Key, list[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ways = {name: list(paths(step)) for name, step in self.chart.places.items()}
        if self.plan.deferral is not None:
            self.chart, self.ways = deferred(self.chart, self.plan.deferral)
        draws = [draw for ways in self.ways.values() for way in ways for draw in way.draws]
        self.bases = tuple(sorted({draw.base for draw in draws}))
        found = {draw.weight[""] for draw in draws if set(draw.weight) == {""}}
        self.weights = tuple(sorted({k * w for w in found or {1} for k in (1, 2)} | {1, 2, 3, 4}))

    # what is bounded

    def rows(self, key: Key) -> list[Row]:
        """Return the forms that are bounded in a cell."""
        if key not in self.known_rows:
            made = [tuple(sorted(form.items())) for form in self._rows(key) if form]
            self.known_rows[key] = list(dict.fromkeys(made))
        return self.known_rows[key]

    def _rows(self, key: Key) -> Iterator[Form]:  # noqa: PLR0912
        place, number = key
        chart = self.chart
        names = chart.variables[place]
        live = self.plan.cells[place][number].live
        outs = [] if self.plan.lockstep else [out(0)]
        for bound in {LEAST, MOST}.intersection(names) if live else ():
            others = [name for name in names if name != bound]
            relations = [{one: 1, other: -1} for one, other in permutations(others, 2)]
            for form in (*relations, *({one: sign} for one in others for sign in (1, -1))):
                for relation in both_ways(plus(form, {bound: 1})):
                    yield from (relation, primed(relation, ()))
        for name in (*names, *chart.parameters):
            yield {name: 1}
            yield {name: -1}
            if name in names:
                for other in (*chart.parameters, *outs):
                    yield {name: 1, other: -1}
                    yield {name: -1, other: 1}
        if not live:
            return
        one = chart.neighbours == "one"
        if one:
            yield from ({USED: 1}, {NOW: -1}, {USED: 1, NOW: 1})
        differences = [({f"{name}'": 1, name: -1}, name) for name in names]
        for difference, name in differences:
            back = plus({}, difference, -1)
            yield from (difference, back)
            if one:
                ghosts: tuple[Form, ...] = ({NOW: 1},) if self.element(name) else ({USED: 1}, {USED: 2})
                for much in ghosts:
                    yield from (plus(difference, much, -1), plus(back, much, -1))
            for other in outs:
                yield {f"{name}'": 1, other: -1}
                yield {f"{name}'": -1, other: 1}
        counters = [name for name in names if name in self.counters]
        for base in self.bases:
            paid: Form = {cost(base): 1}
            yield paid
            for name in (*counters, *chart.parameters):
                for weight in self.weights:
                    yield plus(paid, {name: weight}, -1)
            if not one or outs:
                continue
            for much in ({USED: w} for w in self.weights):
                yield plus(paid, much, -1)
                for difference, name in differences:
                    for weight, sign in product(self.weights[:2], (1, -1)):
                        if not self.element(name):
                            yield plus(plus(paid, difference, sign * weight), much, -1)

    @staticmethod
    def element(name: str) -> bool:
        """Tell whether a variable is the element of the input that was read last."""
        return "element of line " in name

    @cached_property
    def counters(self) -> set[str]:
        """The variables that a path adds a number to."""
        made: set[str] = set()
        for ways in self.ways.values():
            for way in ways:
                made |= {v for v, form in way.env.items() if form.get(v) == 1 and set(form) == {v, ""}}
        return {name for name in made if "place of line" not in name}

    def held(self, key: Key) -> Halfspaces:
        """Return what holds in a cell as far as is known, without what follows from the rest."""
        made = Halfspaces()
        for form in self.plan.cells[key[0]][key[1]].forms:
            made.add(form)
        for row, most in sorted(self.bounds[key].items(), key=lambda known: (len(known[0]), known[0])):
            if made.refuted is not None:
                break
            found = made.most(dict(row))
            if found is None or found[0] > most:
                made.add(moved({name: -factor for name, factor in row}, most))
        return made

    # from cell to cell

    def grow(self) -> None:
        """Let bounds grow until nothing grows any more. Raises Uncoupled where that cannot end well."""
        start = ("start", 0)
        self.bounds[start] = {((cost(base), 1),): 0 for base in self.bases}
        left = [start]
        while left:
            key = left.pop(0)
            self.deadline.check()
            for reached in self.step(key):
                if reached not in left:
                    left.append(reached)
        self.ends.clear()
        for key in self.bounds:
            assert not self.step(key)

    def step(self, key: Key) -> list[Key]:
        """Go all pairs of paths from a cell; return the cells whose bounds grew."""
        held = self.held(key)
        if held.refuted is not None:
            return []
        if not self.plan.cells[key[0]][key[1]].live:
            return self.alone(key, held)
        ways = self.ways[key[0]]
        chosen = self.choose(key, held)
        changed: list[Key] = []
        theirs: dict[int, tuple[Shift, ...]] = {}
        for one, two, space in self.pairs(key, held, chosen):
            way, other = ways[one], ways[two]
            shifts = chosen[one]
            assert shifts is not None
            self.agree(key, space, way, other, shifts, theirs.setdefault(two, shifts))
            for signs in product((1, -1), repeat=varying(shifts)):
                paid, said = prices(way.draws, shifts, signs)
                part = space.copy()
                for form in said:
                    part.add(form)
                if part.refuted is None:
                    if not forward(way.draws, shifts, signs):
                        raise Uncoupled(key[0], "noise that is never negative would be shifted down")
                    env = after(way, self.chart.parameters, shifted(way.draws, shifts), paid, other)
                    changed += self.arrive(part, way, env)
        return changed

    def pairs(
        self, key: Key, held: Halfspaces, chosen: Sequence[tuple[Shift, ...] | None]
    ) -> Iterator[tuple[int, int, Halfspaces]]:
        """Yield the pairs of paths that are possible, by number."""
        ways = self.ways[key[0]]
        for one, way in enumerate(ways):
            shifts = chosen[one]
            if shifts is None:
                continue
            first = self.first(held, way)
            for two, other in enumerate(ways):
                if not agreeable(way, other):
                    continue
                space = first.copy()
                for form in self.second(way, other, shifts):
                    space.add(form)
                    if space.refuted is not None:
                        break
                if space.refuted is None:
                    yield one, two, space

    def first(self, held: Halfspaces, way: Path) -> Halfspaces:
        """Return what holds if the first run takes a path."""
        space = held.copy()
        for form in self.first_forms(way):
            space.add(form)
        return space

    def first_forms(self, way: Path) -> list[Form]:
        chart = self.chart
        ends = [(out(k), part) for k, part in enumerate(way.returned) if not isinstance(part, str)]
        shown = [form for name, part in ends for form in both_ways(plus(part, {name: 1}, -1))]
        return [*way.guards, *laws(way.draws), *reading(way, chart.neighbours, chart.low, chart.high), *shown]

    def second(self, way: Path, other: Path, shifts: Sequence[Shift]) -> list[Form]:
        """Return what holds if the second run takes another path."""
        noise = shifted(way.draws, shifts)
        names = self.chart.parameters
        return [at(primed(guard, names), noise) for guard in other.guards]

    def agree(  # noqa: PLR0913, PLR0917
        self,
        key: Key,
        space: Halfspaces,
        way: Path,
        other: Path,
        shifts: tuple[Shift, ...],
        theirs: tuple[Shift, ...],
    ) -> None:
        """See that both runs show the same and go on alike, and that the second noise tells the first."""
        if ending(way) != ending(other):
            raise Uncoupled(key[0], "the second run goes elsewhere than the first one")
        if [d.kind for d in way.draws] != [d.kind for d in other.draws]:
            raise Uncoupled(key[0], "the two runs draw noise of different ratios, or not as much of it")
        if theirs != shifts:
            raise Uncoupled(key[0], "ways of the first run that look alike in the second need other shifts")
        for form in self.shown(way, other, shifts):
            if form is None or space.proof(form) is None:
                raise Uncoupled(key[0], "no shift of noise that is tried makes both runs show the same")

    def shown(self, way: Path, other: Path, shifts: Sequence[Shift]) -> Iterator[Form | None]:
        """Yield what must be at least 0 for both runs to show the same; None where texts differ."""
        noise = shifted(way.draws, shifts)
        for one, two in zip(way.told, other.told, strict=True):
            if isinstance(one, str) or isinstance(two, str):
                if one != two:
                    yield None
                continue
            yield from both_ways(plus(at(primed(two, self.chart.parameters), noise), one, -1))
        for number, (one, two) in enumerate(zip(way.returned, other.returned, strict=True)):
            if isinstance(one, str) or isinstance(two, str):
                if one != two:
                    yield None
                continue
            yield from both_ways(plus(at(primed(two, self.chart.parameters), noise), {out(number): 1}, -1))

    def alone(self, key: Key, held: Halfspaces) -> list[Key]:
        """Follow the first run where it cannot show what it is to show."""
        changed: list[Key] = []
        for way in self.ways[key[0]]:
            space = self.first(held, way)
            if space.refuted is not None or way.lost:
                continue
            if way.target is None:
                raise Uncoupled(key[0], "the first run may still show it")
            changed += self.arrive(space, way, after(way, self.chart.parameters, {}, {}, Path()))
        return changed

    def arrive(self, space: Halfspaces, way: Path, env: Mapping[str, Form]) -> list[Key]:
        """Let the bounds grow where a pair of paths ends."""
        if way.target is None:
            paid = {base: env.get(cost(base), {cost(base): 1}) for base in self.bases}
            free = {base for base in self.bases if space.proof(plus({}, paid[base], -1)) is not None}
            for row in self.end_rows():
                if self.ends.get(row, 0) is not None and not any((cost(base), 1) in row for base in free):
                    found = space.most(at(dict(row), env))
                    most = None if found is None else whole(found[0])
                    self.ends[row] = None if most is None else max(most, self.ends.get(row, most) or 0)
            return []
        changed: list[Key] = []
        for number, cell in enumerate(self.plan.cells[way.target]):
            part = space.copy()
            for form in cell.forms:
                part.add(at(form, env))
            if part.refuted is not None:
                continue
            if self.raised((way.target, number), part, env):
                changed.append((way.target, number))
        return changed

    def raised(self, key: Key, space: Halfspaces, env: Mapping[str, Form]) -> bool:
        """Raise the bounds of a cell to what holds where it is entered; tell whether one grew."""
        new = key not in self.bounds
        known = self.bounds.setdefault(key, {})
        grew = new
        for row in self.rows(key):
            if not new and row not in known:
                continue
            found = space.most(at(dict(row), env))
            if found is None:
                grew |= known.pop(row, None) is not None
                continue
            most = whole(found[0])
            if new:
                known[row] = most
            elif most > known[row]:
                grew = True
                self.grown[key, row] = self.grown.get((key, row), 0) + 1
                known[row] = most
                if self.grown[key, row] > PATIENCE:
                    del known[row]
        return grew

    def end_rows(self) -> list[Row]:
        """Return what is bounded at the end: the price, less what parameters allow."""
        made: list[Row] = []
        for base in self.bases:
            made.append(((cost(base), 1),))
            for name in self.chart.parameters:
                made += [tuple(sorted({cost(base): 1, name: -w}.items())) for w in self.weights]
        return made

    # shifts

    def choose(self, key: Key, held: Halfspaces) -> list[tuple[Shift, ...] | None]:
        """Return the shifts for each path of the first run; None where it is impossible."""
        cell = self.plan.cells[key[0]][key[1]]
        made: list[tuple[Shift, ...] | None] = []
        for way in self.ways[key[0]]:
            space = self.first(held, way)
            if space.refuted is not None or way.lost:
                made.append(None)
            elif self.plan.lockstep:
                made.append(self.following(key, way, space))
            else:
                amount: Form = plus({}, {"": self.plan.wanted if cell.wanted else 0})
                made.append(tuple("keep" if d.law == "coin" else amount for d in way.draws))
        coins = any(d.law == "coin" for way in self.ways[key[0]] for d in way.draws)
        if coins and key not in self.swaps:
            for word in ("keep", "swap"):
                self.swaps[key] = word
                tried = [None if s is None else self.tossed(s, word) for s in made]
                if self.possible(key, held, tried):
                    break
        if coins:
            made = [None if s is None else self.tossed(s, self.swaps[key]) for s in made]
        self.shifts[key] = made
        return made

    @staticmethod
    def tossed(shifts: tuple[Shift, ...], word: str) -> tuple[Shift, ...]:
        return tuple(word if isinstance(shift, str) else shift for shift in shifts)

    def possible(self, key: Key, held: Halfspaces, tried: Sequence[tuple[Shift, ...] | None]) -> bool:
        """Tell whether all that is shown agrees with these shifts."""
        ways = self.ways[key[0]]
        theirs: dict[int, tuple[Shift, ...]] = {}
        try:
            for one, two, space in self.pairs(key, held, tried):
                shifts = tried[one]
                assert shifts is not None
                self.agree(key, space, ways[one], ways[two], shifts, theirs.setdefault(two, shifts))
        except Uncoupled:
            return False
        return True

    def following(self, key: Key, way: Path, space: Halfspaces) -> tuple[Shift, ...]:
        """Return shifts with which the second run takes the same path and shows the same."""
        made: list[Shift] = []
        for number, draw in enumerate(way.draws):
            if draw.law == "coin":
                made.append("keep")
                continue
            if self.plan.deferral is not None and draw.site != NOISE:
                made.append({})
                continue
            noise = shifted(way.draws[:number], made)
            name = draw.name
            shown = [part for part in (*way.told, *way.returned) if not isinstance(part, str)]
            exact = [self.rest(form, noise, draw) for form in shown if self.last(form, way, number)]
            guards = [self.rest(form, noise, draw) for form in way.guards if self.last(form, way, number)]
            if not exact and not guards:
                self.free.add(draw.site)
                kept = next((f for f in way.env.values() if len(f) > 1 and abs(f.get(name, 0)) == 1), None)
                amount = self.plan.sites.get(draw.site, 0)
                if amount is None and kept is not None:
                    rest, factor = self.rest(kept, noise, draw)
                    made.append(plus({}, rest, -factor))
                else:
                    made.append(plus({}, {"": amount or 0}))
                continue
            if exact:
                rest, factor = exact[0]
                if abs(factor) != 1:
                    raise Uncoupled(key[0], f"{name} is shown as a multiple")
                made.append(plus({}, rest, -factor))
                continue
            made.append(self.between(guards, space, draw))
        return tuple(made)

    def last(self, form: Form, way: Path, number: int) -> bool:
        """Tell whether noise is the last one in a form."""
        return way.draws[number].name in form and not any(d.name in form for d in way.draws[number + 1 :])

    def rest(self, form: Form, noise: Mapping[str, Form], draw: Draw) -> tuple[dict[str, int], int]:
        """Return by how much a form differs between the runs beside the shift, and its factor."""
        unmoved = {**noise, f"{draw.name}'": {draw.name: 1}}
        return plus(at(primed(form, self.chart.parameters), unmoved), form, -1), form[draw.name]

    def between(self, guards: Sequence[tuple[dict[str, int], int]], space: Halfspaces, draw: Draw) -> Form:
        """Return a shift for which no guard gets less: a number near 0, or else a form."""
        low, high = (0 if draw.law == "one-sided" else -MOST_SHIFT), MOST_SHIFT
        for rest, factor in guards:
            found = space.most({name: -value for name, value in rest.items()})
            if self.plan.exactly or found is None or abs(factor) != 1:
                break
            least = whole(found[0])
            if factor > 0:
                low = max(low, least)
            else:
                high = min(high, -least)
        else:
            if low <= high:
                return plus({}, {"": min(max(low, 0), high)})
        rest, factor = guards[0]
        return plus({}, rest, -1 if factor > 0 else 1)
