"""Which couplings of two runs are tried, and the cheapest of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import log

from flint import fmpq

from bisimdist.budgets.engine.coupling import Cell, Coupling, Plan, Split, Uncoupled
from bisimdist.budgets.engine.flow_deferred import PLACE, Deferral, Undeferred, deferred
from bisimdist.budgets.engine.flow_paths import cost, out, paths
from bisimdist.budgets.engine.halfspaces import Form, plus
from bisimdist.models.flowchart import Flowchart, Step
from bisimdist.progress import Deadline

CONSTANTS = (1, -1, 2, -2)
MOST_SITES = 2
LARGE = 1000  # at so large parameters prices are compared


@dataclass(frozen=True, slots=True)
class Found:
    """A coupling with its price: by base an exponent, a form over the parameters."""

    coupling: Coupling
    budget: dict[str, Form]

    def size(self) -> float:
        """Return how large the budget is where parameters are large: a guide only."""
        total = 0.0
        for base, form in self.budget.items():
            exponent = sum(int(v) * (LARGE if name else 1) for name, v in form.items())
            try:
                number = fmpq(*map(int, base.split("/"))) if base[0].isdigit() else fmpq(1, 2)
            except ValueError:
                number = fmpq(1, 2)
            total -= exponent * log(int(number.p) / int(number.q))
        return total


def best_coupling(chart: Flowchart, deadline: Deadline) -> Found:
    """Return the cheapest coupling that is found. Raises Uncoupled if there is none."""
    best: Found | None = None
    failure: Uncoupled | None = None
    for plans in (_plans(chart, deadline), _wanting(chart), _waiting(chart)):
        for plan in plans:
            try:
                found = _priced(Coupling(chart, plan, deadline))
            except Uncoupled as error:
                failure = failure or error
                continue
            if best is None or found.size() < best.size():
                best = found
            if not plan.lockstep:
                break  # the least shift is the cheapest
        if best is not None:
            return best
    raise failure or Uncoupled("start", "no coupling was found")


def _priced(coupling: Coupling) -> Found:
    coupling.grow()
    budget: dict[str, Form] = {}
    for base in coupling.bases:
        choices = [
            plus({name: -factor for name, factor in row if name != cost(base)}, {"": most})
            for row, most in coupling.ends.items()
            if most is not None and (cost(base), 1) in row
        ]
        if not choices:
            if any((cost(base), 1) in row for row in coupling.ends):
                raise Uncoupled(
                    "start",
                    f"the price of the coupling grows with the length of the input{_any_way(coupling)}",
                )
            choices = [{}]
        budget[base] = min(choices, key=lambda f: sum(v * (LARGE if n else 1) for n, v in f.items()))
    return Found(coupling, budget)


def _any_way(coupling: Coupling) -> str:
    """Say that remainders are not followed, if there are any."""
    ways = (way for ways in coupling.ways.values() for way in ways)
    asked = any("%" in name for way in ways for name, _ in way.chosen)
    return "; what % says of a place is taken for any choice, the same in both runs" if asked else ""


def _plain(chart: Flowchart) -> tuple[dict[str, list[Cell]], dict[str, Split | int]]:
    """Return one cell for each place; where coins are tossed, by how the element differs."""
    cells: dict[str, list[Cell]] = {}
    splits: dict[str, Split | int] = {}
    for place, step in chart.places.items():
        coins = any(draw.law == "coin" for way in paths(step) for draw in way.draws)
        element = next((v for v in chart.variables[place] if "element of line" in v or place == v), None)
        element = element or (chart.variables[place][0] if len(chart.variables[place]) == 1 else None)
        if coins and element is not None:
            more: Form = {f"{element}'": 1, element: -1, "": -1}
            less: Form = {f"{element}'": -1, element: 1, "": -1}
            not_more, not_less = (plus({"": -1}, form, -1) for form in (more, less))
            cells[place] = [Cell((more,)), Cell((not_more, less)), Cell((not_more, not_less))]
            splits[place] = Split(more, 0, Split(less, 1, 2))
        else:
            cells[place], splits[place] = [Cell()], 0
    return cells, splits


def _plans(chart: Flowchart, deadline: Deadline) -> Iterator[Plan]:
    """Yield plans in which the second run follows the first one: noise that nothing decides is varied."""
    cells, splits = _plain(chart)
    yield Plan(cells, splits)
    if _tells_numbers(chart):
        yield Plan(cells, splits, exactly=True)
    probe = Coupling(chart, Plan(cells, splits), deadline)
    with suppress(Uncoupled):
        probe.grow()
    free = probe.free
    if free:
        yield Plan(cells, splits, dict.fromkeys(sorted(free)))
    for amounts in product((0, *CONSTANTS), repeat=min(len(free), MOST_SITES)):
        if any(amounts):
            yield Plan(cells, splits, dict(zip(sorted(free), amounts, strict=False)))


def _tells_numbers(chart: Flowchart) -> bool:
    """Tell whether an observer sees numbers, so that noise which is tested may be seen, too."""
    ways = (way for step in chart.places.values() for way in paths(step))
    return any(not isinstance(part, str) and any(part) for way in ways for part in (*way.told, *way.returned))


def _wanting(chart: Flowchart) -> Iterator[Plan]:
    """Yield plans in which noise is shifted only at the place that the output names."""
    for winner in sorted(name for name, number in _shown(chart).items() if number == 0):
        cells, splits = _split(chart, winner, {out(0): 1})
        for amount in (0, *CONSTANTS):
            yield Plan(cells, splits, lockstep=False, wanted=amount)


def _shown(chart: Flowchart) -> dict[str, int]:
    """Return the variables that are the first number of an output, and where they stand in it."""
    found: dict[str, int] = {}
    for step in chart.places.values():
        for way in _returns(step):
            number, first = next(((n, p) for n, p in enumerate(way) if not isinstance(p, str)), (0, {}))
            if len(first) == 1 and set(first.values()) == {1} and "" not in first:
                found[next(iter(first))] = number
    return found


def _split(
    chart: Flowchart, winner: str, target: Form
) -> tuple[dict[str, list[Cell]], dict[str, Split | int]]:
    """Return cells by whether the place that the output names is to come, is here, or is past."""
    cells: dict[str, list[Cell]] = {}
    splits: dict[str, Split | int] = {}
    for place in chart.places:
        names = chart.variables[place]
        index = next((name for name in names if "place of line" in name), None)
        if index is None:
            cells[place], splits[place] = [Cell()], 0
            continue
        before: Form = plus(target, {index: 1, "": 1}, -1)  # the place is still to come
        here: Form = plus(target, {index: 1}, -1)
        past, not_before = plus({"": -1}, here, -1), plus({"": -1}, before, -1)
        made = [Cell((before,)), Cell((not_before, here), wanted=True)]
        if winner in names:
            above, below = plus({winner: 1}, target, -1), plus(target, {winner: 1}, -1)
            less, more = plus({"": -1}, above, -1), plus({"": -1}, below, -1)
            made += [
                Cell((not_before, past, above, below)),
                Cell((not_before, past, above, more), live=False),
                Cell((not_before, past, less), live=False),
            ]
            rest: Split | int = Split(above, Split(below, 2, 3), 4)
        else:
            made.append(Cell((not_before, past), live=False))
            rest = 2
        cells[place] = made
        splits[place] = Split(before, 0, Split(here, 1, rest))
    return cells, splits


def _waiting(chart: Flowchart) -> Iterator[Plan]:
    """Yield plans in which the draw of the place that the output names waits for the end."""
    sites: dict[str, dict[str, tuple[int, Form]]] = {}
    for place, step in chart.places.items():
        index = next((name for name in chart.variables[place] if "place of line" in name), None)
        for way in paths(step) if index is not None else ():
            for number, draw in enumerate(way.draws):
                sites.setdefault(draw.site, {}).setdefault(place, (number, {str(index): 1}))
    for draws in sites.values():
        with suppress(Undeferred):
            made, _ = deferred(chart, Deferral(draws))
            for winner in sorted(_shown(chart)):
                yield Plan(*_split(made, winner, {PLACE: 1}), deferral=Deferral(draws))


def _returns(step: Step) -> Iterator[list[Form | str]]:
    """Yield what a step returns, in terms of variables."""
    if "return" in step:
        yield step["return"]
    for branch in ("then", "else"):
        if branch in step:
            yield from _returns(step[branch])
