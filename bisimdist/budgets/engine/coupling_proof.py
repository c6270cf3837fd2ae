"""Proofs of couplings: multipliers of inequalities for all that a coupling claims, in a fixed order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from bisimdist.budgets.engine.coupling import Coupling, Key, Split
from bisimdist.budgets.engine.flow_paths import (
    Path,
    Shift,
    after,
    agreeable,
    at,
    cost,
    prices,
    shifted,
    varying,
)
from bisimdist.budgets.engine.halfspaces import Form, Halfspaces, Multipliers, plus

Proof = dict[str, Any]
UNREACHED: Form = {"": -1}


class Unproved(Exception):  # noqa: N818
    """The bounds do not prove themselves: the search went wrong."""


def written_form(form: Form) -> dict[str, str]:
    """Return a form as plain data."""
    return {name: str(factor) for name, factor in form.items()}


def _multipliers(found: Multipliers | None) -> dict[str, str]:
    if found is None:
        raise Unproved
    return {str(number): str(value) for number, value in found.items() if value}


def _impossible(space: Halfspaces) -> Proof:
    return {"impossible": _multipliers(space.refuted)}


class Prover:
    """Writes the proof of a coupling.

    ``budget``: by base the exponent that is claimed.
    """

    def __init__(self, coupling: Coupling, budget: Mapping[str, Form]) -> None:
        self.coupling, self.budget = coupling, budget
        self.spaces = {
            (place, number): self._held((place, number))
            for place, cells in coupling.plan.cells.items()
            for number in range(len(cells))
        }

    def _held(self, key: Key) -> Halfspaces:
        if key in self.coupling.bounds:
            return self.coupling.held(key)
        made = Halfspaces()
        for form in (*self.coupling.plan.cells[key[0]][key[1]].forms, UNREACHED):
            made.add(form)
        return made

    def live(self, key: Key) -> bool:
        """Tell whether both runs are followed from a cell."""
        return key in self.coupling.bounds and self.coupling.plan.cells[key[0]][key[1]].live

    def cells(self) -> dict[str, Any]:
        """Return the whole proof, by place."""
        return {place: self._tree(place, tree) for place, tree in self.coupling.plan.splits.items()}

    def _tree(self, place: str, tree: Split | int) -> dict[str, Any]:
        if isinstance(tree, Split):
            sides = {"yes": self._tree(place, tree.yes), "no": self._tree(place, tree.no)}
            return {"split": written_form(tree.form), **sides}
        key = place, tree
        made: dict[str, Any] = {"bounds": [written_form(form) for form in self._bounds(key)]}
        ways = self.coupling.ways[place]
        if not self.live(key):
            return {**made, "proofs": [self._alone(key, way) for way in ways]}
        shifts = self.coupling.shifts[key] if self.spaces[key].refuted is None else [None] * len(ways)
        return {
            **made,
            "shifts": [None if row is None else [_shift(shift) for shift in row] for row in shifts],
            "proofs": [self._first(key, one, shifts[one]) for one in range(len(ways))],
        }

    def _bounds(self, key: Key) -> Sequence[Form]:
        return self.spaces[key].forms[len(self.coupling.plan.cells[key[0]][key[1]].forms) :]

    def _alone(self, key: Key, way: Path) -> Proof | None:
        if way.lost:
            return None
        space = self.coupling.first(self.spaces[key], way)
        if space.refuted is not None:
            return _impossible(space)
        return {
            "cells": self._arrival(space, way, after(way, self.coupling.chart.parameters, {}, {}, Path()))
        }

    def _first(self, key: Key, one: int, shifts: Sequence[Shift] | None) -> Any:
        coupling = self.coupling
        ways = coupling.ways[key[0]]
        if ways[one].lost:
            return None
        first = coupling.first(self.spaces[key], ways[one])
        if shifts is None:
            return _impossible(first)
        return [self._pair(first, ways[one], other, shifts) for other in ways if agreeable(ways[one], other)]

    def _pair(self, first: Halfspaces, way: Path, other: Path, shifts: Sequence[Shift]) -> Any:
        space = first.copy()
        for form in self.coupling.second(way, other, shifts):
            space.add(form)
        if space.refuted is not None:
            return _impossible(space)
        return [
            self._signed(space, way, other, shifts, signs)
            for signs in product((1, -1), repeat=varying(shifts))
        ]

    def _signed(
        self, space: Halfspaces, way: Path, other: Path, shifts: Sequence[Shift], signs: Sequence[int]
    ) -> Proof:
        paid, said = prices(way.draws, shifts, signs)
        part = space.copy()
        for form in said:
            part.add(form)
        if part.refuted is not None:
            return _impossible(part)
        coupling = self.coupling
        env = after(way, coupling.chart.parameters, shifted(way.draws, shifts), paid, other)
        shown: list[dict[str, str]] = []
        for claim in coupling.shown(way, other, shifts):
            if claim is None:
                raise Unproved
            shown.append(_multipliers(part.proof(claim)))
        if way.target is None:
            return {"shown": shown, "end": [self._paid(part, env, base) for base in coupling.bases]}
        return {"shown": shown, "cells": self._arrival(part, way, env)}

    def _paid(self, space: Halfspaces, env: Mapping[str, Form], base: str) -> Proof:
        """Prove the price at the end: that it is what is claimed, or nothing."""
        price = env.get(cost(base), {cost(base): 1})
        nothing = space.proof(plus({}, price, -1))
        if nothing is not None:
            return {"nothing": _multipliers(nothing)}
        return {"claimed": _multipliers(space.proof(plus(self.budget[base], price, -1)))}

    def _arrival(self, space: Halfspaces, way: Path, env: Mapping[str, Form]) -> list[Any]:
        assert way.target is not None
        made: list[Any] = []
        for number, cell in enumerate(self.coupling.plan.cells[way.target]):
            part = space.copy()
            for form in cell.forms:
                part.add(at(form, env))
            if part.refuted is not None:
                made.append(_impossible(part))
            else:
                bounds = self._bounds((way.target, number))
                made.append([_multipliers(part.proof(at(bound, env))) for bound in bounds])
        return made


def _shift(shift: Shift) -> Any:
    return shift if isinstance(shift, str) else written_form(shift)
