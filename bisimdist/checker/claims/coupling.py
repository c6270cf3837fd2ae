"""Certificates of kind ``coupling``: the budget of a program over integers, for all inputs.

The program is a flowchart. Two runs on neighbouring inputs take a pair of paths from place to place; what
is claimed of a pair is a combination of inequalities. The rules are named J as in
``docs/certificates/coupling.md``; why they prove the claim is in ``docs/theory/coupling.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from bisimdist.checker.core.combination import combined, entailed, impossible, listing
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.deferred import PLACE, Waiting, deferred
from bisimdist.checker.core.flowchart import (
    ELEMENT,
    NEXT,
    Draw,
    Env,
    Flowchart,
    Form,
    Path,
    agreeable,
    at,
    form_of,
    guessed,
    noise_of,
    other_side,
    passing,
    paths,
    plus,
    reserved,
)
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    digest_of,
    item,
    mapping,
    rational,
    record,
    shown,
)
from bisimdist.checker.core.shape import (
    CheckReport,
    Shape,
    judged,
    key,
    listed,
    named,
    one_of,
    or_null,
    raw,
)

MOST_SIGNS = 6  # so many shifts of a path may be no numbers
_USED, _NOW = "@used", "@now"  # how much elements differ: those before, and the last one


class _Claim(Shape):
    """By base the exponent of the budget, a form over the parameters."""

    budget: Mapping[str, Form] = key(named(form_of))


class _Document(Shape):
    model: Any = key(raw)
    digest: str = key(item)
    claims: list[Any] = key(listed(raw))
    deferred: Mapping[str, Waiting] | None = key(named(Waiting.read), default=None)
    cells: Mapping[str, Any] = key(named(raw))


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``coupling``; `model` must be None."""
    whole = _Document.whole(document)
    if len(whole.claims) != 1:
        raise MalformedCertificate("expected one claim")
    claim = _Claim.read(whole.claims[0], "the claim")
    program = Flowchart.read(whole.model, "the model")
    places = {
        name: list(counted(paths(step, Path(), f"the place {shown(name)}")))
        for name, step in counted(program.places.items())
    }
    elements = [program.low, program.high]
    claims: tuple[dict[str, Any], ...] = tuple(
        {**said, "neighbours": program.neighbours, "elements": elements} for said in all_of(whole.claims)
    )

    def check() -> None:
        if model is not None:
            raise RuleViolation("G2: the certificate is about a program, not about a model")
        if digest_of(whole.model) != whole.digest:
            raise RuleViolation("G1: the digest is not that of the program")
        checked = _Checked(program, places, claim.budget)
        if whole.deferred is not None:
            checked.defer(whole.deferred)
        checked.check(whole.cells)

    return judged(claims, check, ("flowchart", whole.digest))


@dataclass(frozen=True)
class _Cell:
    """A part of the states at a place: what its splits say, what is claimed, and the rest as written."""

    splits: tuple[Form, ...]
    bounds: tuple[Form, ...]
    shifts: list[Any] | None  # None where only the first run is followed
    proofs: list[Any]


class _Leaf(Shape):
    bounds: list[Form] = key(listed(form_of))
    shifts: list[Any] | None = key(listed(or_null(listed(raw))), default=None)
    proofs: list[Any] = key(listed(raw))


def _cells(value: object, splits: tuple[Form, ...], where: str) -> Iterator[_Cell]:
    """Yield the leaves of a tree of splits."""
    if isinstance(value, dict) and "split" in value:
        said = record(value, where, ("split", "yes", "no"))
        form = form_of(said["split"], where)
        yield from _cells(said["yes"], (*splits, form), where)
        yield from _cells(said["no"], (*splits, other_side(form)), where)
    else:
        leaf = _Leaf.read(value, where)
        yield _Cell(splits, tuple(all_of(leaf.bounds)), leaf.shifts, leaf.proofs)


class _Checked:
    """The check of one coupling."""

    def __init__(
        self, model: Flowchart, places: Mapping[str, list[Path]], budget: Mapping[str, Form]
    ) -> None:
        self.model, self.places, self.budget = model, places, budget
        self.shared = set(all_of(model.parameters))
        if "start" not in places:
            raise RuleViolation("J1: no place is called start")
        ways = [path for paths in counted(places.values()) for path in counted(paths)]
        if {p.target for p in counted(ways)} - places.keys() - {None}:
            raise RuleViolation("J1: a path goes to a place that there is not")
        draws = [draw for path in counted(ways) for draw in counted(path.draws)]
        for draw in counted(draws):
            self._check_law(draw)
        self.bases = sorted(all_of({draw.base for draw in counted(draws)}))
        if {n for f in counted(budget.values()) for n in counted(f) if n} - self.shared:
            raise RuleViolation("J1: the budget names what is no parameter")
        for name in counted([*model.parameters, *(n for path in counted(ways) for n in counted(path.env))]):
            if reserved(name) or not name:
                raise RuleViolation("J1: a variable has a name that the rules use")
        if any(not self.shared.isdisjoint(path.env) for path in counted(ways)):
            raise RuleViolation("J1: a parameter changes")
        self.cells: dict[str, list[_Cell]] = {}

    def _check_law(self, draw: Draw) -> None:
        if not draw.base.isidentifier() and not 0 < rational(draw.base, "a base") < 1:
            raise RuleViolation("J1: a base is not between 0 and 1")
        if draw.base not in self.budget:
            raise RuleViolation("J1: the budget has no exponent for a base")
        if draw.weight.keys() - self.shared - {""}:
            raise RuleViolation("J1: the ratio of noise is not the same in both runs")
        least = 0 if draw.law == "coin" else 1
        if not draw.weight.keys() - {""} and draw.weight.get("", 0) < least:
            raise RuleViolation("J1: the ratio of noise is not below 1")

    def defer(self, waiting: Mapping[str, Waiting]) -> None:
        """Let the draw wait of the place that the output names; that place is the same in both runs."""
        self.places = deferred(self.model.places, waiting)
        self.shared.add(PLACE)

    def check(self, trees: Mapping[str, Any]) -> None:
        if trees.keys() != self.places.keys():
            raise RuleViolation("J2: the places of the proof are not those of the program")
        for place, tree in counted(trees.items()):
            self.cells[place] = list(counted(_cells(tree, (), f"the cells of {shown(place)}")))
            known = (form for c in counted(self.cells[place]) for form in counted((*c.splits, *c.bounds)))
            if any(passing(name) for form in counted(known) for name in counted(form)):
                raise RuleViolation("J2: what is known at a place names noise or an element of a path")
        start = self.cells["start"]
        if len(start) != 1 or start[0].shifts is None:
            raise RuleViolation("J2: the start is divided, or both runs are not followed from it")
        allowed = {f"@cost {base}" for base in counted(self.bases)}
        for bound in counted(start[0].bounds):  # prices begin at 0, and nothing else is known
            if bound.keys() - allowed - {""} or bound.get("", 0) < 0:
                raise RuleViolation("J2: what is claimed of the start need not hold there")
        for place, cells in counted(self.cells.items()):
            for cell in counted(cells):
                if len(cell.proofs) != len(self.places[place]):
                    raise MalformedCertificate("a cell has not one proof for each path")
                self._check_cell(place, cell)

    def _check_cell(self, place: str, cell: _Cell) -> None:
        ways = self.places[place]
        known = [*cell.splits, *cell.bounds]
        if cell.shifts is None:
            for path, proof in counted(zip(ways, cell.proofs, strict=True)):
                self._check_alone([*known, *self._first(path)], path, proof)
            return
        if len(cell.shifts) != len(ways):
            raise MalformedCertificate("a cell has not shifts for each path")
        taken: dict[int, list[Any]] = {}  # by the path of the second run its shifts
        for path, shifts, proof in counted(zip(ways, cell.shifts, cell.proofs, strict=True)):
            if path.lost and shifts is None and proof is None:
                continue
            first = [*known, *self._first(path)]
            if shifts is None:
                self._refuted(first, proof, "J3: a path without shifts is possible")
                continue
            read = self._shifts(path, shifts)
            others = [(n, other) for n, other in counted(enumerate(ways)) if agreeable(path, other)]
            for (number, other), part in counted(zip(others, listing(proof, len(others)), strict=True)):
                noise = noise_of(read)
                space = [*first, *(at(self._primed(g), noise) for g in counted(other.guards))]
                if impossible(part):
                    self._refuted(space, part, "J3: a pair of paths is possible")
                    continue
                if taken.setdefault(number, shifts) != shifts or path.draws != other.draws:
                    raise RuleViolation("J4: the noise of the second run does not tell that of the first")
                if other.lost or guessed(path) != guessed(other):
                    raise RuleViolation("J10: the second run is lost, or guesses more or less")
                if (path.target, path.read) != (other.target, other.read):
                    raise RuleViolation("J4: the runs go to different places")
                self._check_pair(space, path, other, read, part)

    def _first(self, path: Path) -> list[Form]:
        """Return what holds if the first run takes a path."""
        made: list[Form] = list(all_of(path.guards))
        for number, draw in counted(enumerate(path.draws)):
            made += [{f"#{number}": 1}] if draw.law != "two-sided" else []
            made += [{f"#{number}": -1, "": 1}] if draw.law == "coin" else []
        if path.read is not None:
            apart: Form = {f"{ELEMENT}'": 1, ELEMENT: -1}
            limit: Form = {"": 1}
            if self.model.neighbours == "one":
                used: Form = {NEXT: -1, "": 1} if path.read else {NEXT: -1, _USED: -1, _NOW: -1, "": 1}
                limit = {NEXT: 1}
                made += [{NEXT: 1}, used]
            made += [plus(limit, apart, -1), plus(limit, apart)]
            for name in (ELEMENT, f"{ELEMENT}'"):
                made += [plus({name: 1}, {"": -1}, self.model.low)] if self.model.low is not None else []
                made += [plus({name: -1}, {"": 1}, self.model.high)] if self.model.high is not None else []
        for number, part in counted(enumerate(path.returned)):
            if not isinstance(part, str):
                difference = plus(part, {f"@out {number}": 1}, -1)
                made += [difference, plus({}, difference, -1)]
        return made

    def _primed(self, form: Form) -> dict[str, int]:
        return {n if not n or n in self.shared else f"{n}'": f for n, f in counted(form.items())}

    def _shifts(self, path: Path, shifts: Sequence[Any]) -> list[Form | str]:
        """Read shifts: of noise a form that names no noise, of a coin whether it is turned."""
        made: list[Form | str] = []
        for draw, shift in counted(zip(path.draws, listing(shifts, len(path.draws)), strict=True)):
            if draw.law == "coin":
                made.append(one_of("keep", "swap")(shift, "the shift of a coin"))
                continue
            form = form_of(shift, "a shift")
            if any(passing(name) for name in counted(form)):
                raise RuleViolation("J4: a shift depends on noise or an element of its own path")
            if _varies(form) and draw.weight.keys() != {""}:
                raise RuleViolation("J5: a shift that is no number has a price that is no form")
            if draw.law == "one-sided" and not _varies(form) and form.get("", 0) < 0:
                raise RuleViolation("J5: noise that is never negative is shifted down")
            made.append(form)
        return made

    def _check_pair(
        self, space: list[Form], path: Path, other: Path, shifts: list[Form | str], proof: object
    ) -> None:
        """Check a pair of paths, for each choice of the signs of the shifts that are no numbers."""
        moving = [n for n, s in counted(enumerate(shifts)) if not isinstance(s, str) and _varies(s)]
        if len(moving) > MOST_SIGNS:
            raise MalformedCertificate(f"more than {MOST_SIGNS} shifts of a path are no numbers")
        choices = list(all_of(product((1, -1), repeat=len(moving))))
        for signs, part in counted(zip(choices, listing(proof, len(choices)), strict=True)):
            sign = dict(counted(zip(moving, signs, strict=True)))
            price: dict[str, Form] = {}
            known = list(all_of(space))
            for number, (draw, shift) in counted(enumerate(zip(path.draws, shifts, strict=True))):
                amount: Form = draw.weight if shift == "swap" else {}
                if not isinstance(shift, str):
                    if number in sign:
                        known.append(shift if sign[number] > 0 else other_side(shift))
                        amount = plus({}, shift, sign[number] * draw.weight[""])
                    else:
                        amount = plus({}, draw.weight, abs(shift.get("", 0)))
                price[draw.base] = plus(price.get(draw.base, {}), amount)
            if impossible(part):
                self._refuted(known, part, "J3: a sign of a shift is possible")
                continue
            if any(s < 0 and path.draws[n].law == "one-sided" for n, s in counted(sign.items())):
                raise RuleViolation("J5: noise that is never negative is shifted down")
            self._check_end(known, path, other, noise_of(shifts), price, part)

    def _check_end(  # noqa: PLR0913, PLR0917
        self, known: list[Form], path: Path, other: Path, noise: Env, price: Mapping[str, Form], proof: Any
    ) -> None:
        said = record(proof, "a proof", ("shown", "end" if path.target is None else "cells"))
        claims = list(counted(self._same(path, other, noise)))
        for claim, part in counted(zip(claims, listing(said["shown"], len(claims)), strict=True)):
            entailed(known, claim, part, "J6: the runs show different things")
        if path.target is not None:
            self._check_arrival(
                known, path, self._after(path, other, noise, price), said["cells"], alone=False
            )
            return
        for base, part in counted(zip(self.bases, listing(said["end"], len(self.bases)), strict=True)):
            cost = plus({f"@cost {base}": 1}, price.get(base, {}))
            how = "nothing" if "nothing" in mapping(part, "a proof") else "claimed"
            record(part, "a proof", (how,))
            most = {} if how == "nothing" else self.budget[base]
            entailed(known, plus(most, cost, -1), part[how], "J7: the price is more than the budget")

    def _same(self, path: Path, other: Path, noise: Env) -> Iterator[Form]:
        """Yield what is at least 0 only if both runs show the same."""
        if (len(path.told), len(path.returned)) != (len(other.told), len(other.returned)):
            raise RuleViolation("J6: the runs show different things")
        wanted = [
            part if isinstance(part, str) else {f"@out {n}": 1}
            for n, part in counted(enumerate(path.returned))
        ]
        for one, two in counted(zip((*path.told, *wanted), (*other.told, *other.returned), strict=True)):
            if isinstance(one, str) or isinstance(two, str):
                if one != two:
                    raise RuleViolation("J6: the runs show different things")
                continue
            difference = plus(at(self._primed(two), noise), one, -1)
            yield from (difference, plus({}, difference, -1))

    def _after(self, path: Path, other: Path, noise: Env, price: Mapping[str, Form]) -> dict[str, Form]:
        """Return what the variables of both runs are where a pair of paths ends."""
        made: dict[str, Form] = dict(all_of(path.env))
        for name, form in counted(other.env.items()):
            made[f"{name}'"] = at(self._primed(form), noise)
        for base, amount in counted(price.items()):
            made[f"@cost {base}"] = plus({f"@cost {base}": 1}, amount)
        if path.read is not None:
            made[_USED] = {} if path.read else {_USED: 1, _NOW: 1}
            made[_NOW] = {NEXT: 1}
        return made

    def _check_arrival(self, known: list[Form], path: Path, env: Env, proof: object, *, alone: bool) -> None:
        cells = self.cells[str(path.target)]
        for cell, part in counted(zip(cells, listing(proof, len(cells)), strict=True)):
            space = [*known, *(at(form, env) for form in counted(cell.splits))]
            if impossible(part):
                self._refuted(space, part, "J8: a cell is reached")
                continue
            if alone and cell.shifts is not None:
                raise RuleViolation("J8: the first run alone reaches a cell where both are followed")
            for bound, multipliers in counted(zip(cell.bounds, listing(part, len(cell.bounds)), strict=True)):
                entailed(
                    space, at(bound, env), multipliers, "J8: a bound does not hold where a cell is reached"
                )

    def _check_alone(self, known: list[Form], path: Path, proof: object) -> None:
        """Check a path of the first run where it cannot show what it is to show."""
        if path.lost and proof is None:
            return
        if impossible(proof):
            self._refuted(known, proof, "J3: a path is possible")
            return
        if path.target is None:
            raise RuleViolation("J8: the first run alone comes to an end")
        said = record(proof, "a proof", ("cells",))
        self._check_arrival(known, path, self._after(path, Path(), {}, {}), said["cells"], alone=True)

    @staticmethod
    def _refuted(known: Sequence[Form], proof: object, rule: str) -> None:
        said = record(proof, "a proof", ("impossible",))
        total = combined(known, said["impossible"])
        if any(name and value for name, value in counted(total.items())) or total.get("", 0) >= 0:
            raise RuleViolation(rule)


def _varies(form: Form) -> bool:
    return not form.keys() <= {""}
