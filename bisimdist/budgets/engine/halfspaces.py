"""Linear inequalities over rationals, added one after another: what follows from them, with multipliers."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

Form = Mapping[str, int]  # an affine form: by variable its factor, the constant under ""
_Key = int | str  # an inequality, by its number, or a variable
_Row = dict[_Key, fmpq]
Multipliers = dict[int, fmpq]

_CONSTANT = ""
_ZERO = fmpq(0)


def plus(one: Form, other: Form, factor: int = 1) -> dict[str, int]:
    """Return a form plus another one times a factor."""
    made = dict(one)
    for name, value in other.items():
        made[name] = made.get(name, 0) + factor * value
        if not made[name]:
            del made[name]
    return made


def moved(form: Form, amount: int) -> dict[str, int]:
    """Return a form plus a constant."""
    return plus(form, {_CONSTANT: amount})


class Halfspaces:
    """Points at which affine forms are at least 0, as the dictionary of a simplex.

    ``refuted``: where no point is left, multipliers whose combination is a negative constant.
    """

    def __init__(self) -> None:
        self.forms: list[Form] = []
        self.rows: dict[_Key, _Row] = {}  # every form and every bound variable, by the forms that are free
        self.refuted: Multipliers | None = None

    def copy(self) -> Halfspaces:
        """Return the same, to add more to."""
        made = Halfspaces()
        made.forms, made.refuted = list(self.forms), self.refuted
        made.rows = {key: dict(row) for key, row in self.rows.items()}
        return made

    def _expressed(self, form: Form) -> _Row:
        made: _Row = {}
        for name, factor in form.items():
            known = self.rows.get(name) if name != _CONSTANT else None
            for key, value in ({name: fmpq(1)} if known is None else known).items():
                made[key] = made.get(key, _ZERO) + factor * value
        return {key: value for key, value in made.items() if value}

    def _exchange(self, row: _Row, entering: _Key, leaving: _Key) -> _Row:
        """Return the row of what enters, of the row of what leaves."""
        factor = row[entering]
        made = {key: -value / factor for key, value in row.items() if key != entering}
        made[leaving] = 1 / factor
        for other in self.rows.values():
            self._replace(other, entering, made)
        self.rows[entering] = made
        return made

    @staticmethod
    def _replace(row: _Row, key: _Key, by: _Row) -> None:
        factor = row.pop(key, _ZERO)
        if factor:
            for name, value in by.items():
                total = row.get(name, _ZERO) + factor * value
                if total:
                    row[name] = total
                else:
                    row.pop(name, None)

    def add(self, form: Form) -> None:
        """Add that a form is at least 0."""
        number = len(self.forms)
        self.forms.append(form)
        if self.refuted is not None:
            return
        row = self._expressed(form)
        free = next((key for key in row if key.__class__ is str and key), None)
        if free is not None:
            self._exchange(row, free, number)
            return
        self.rows[number] = row
        while row.get(_CONSTANT, _ZERO) < 0:
            entering = min((k for k, v in row.items() if k != _CONSTANT and v > 0), default=None)
            if entering is None:
                self.refuted = {k: -v for k, v in row.items() if isinstance(k, int)} | {number: fmpq(1)}
                return
            leaving = self._leaving(entering, rising=number)
            assert leaving is not None  # the form itself reaches 0
            row = self.rows.pop(leaving)
            self._exchange(row, entering, leaving)
            row = self.rows.get(number, {})

    def _leaving(self, entering: _Key, rising: int | None = None) -> _Key | None:
        """Return which form becomes 0 first where one grows, or reaches 0 itself."""
        best: tuple[fmpq, int] | None = None
        for key, row in self.rows.items():
            if not isinstance(key, int):
                continue
            factor = row.get(entering)
            if factor is None or (factor > 0) != (key == rising):
                continue
            step = -row.get(_CONSTANT, _ZERO) / factor
            if best is None or (step, key) < best:
                best = step, key
        return None if best is None else best[1]

    def most(self, form: Form) -> tuple[fmpq, Multipliers] | None:
        """Return the largest value of a form, and multipliers that prove it; None if it has no bound.

        The form plus the combination of the inequalities is the constant.
        """
        assert self.refuted is None
        row = self._expressed(form)
        if any(key.__class__ is str and key for key in row):
            return None
        while True:
            entering = min((k for k, v in row.items() if k != _CONSTANT and v > 0), default=None)
            if entering is None:
                return row.get(_CONSTANT, _ZERO), {k: -v for k, v in row.items() if isinstance(k, int)}
            leaving = self._leaving(entering)
            if leaving is None:
                return None
            by = self._exchange(self.rows.pop(leaving), entering, leaving)
            self._replace(row, entering, by)

    def proof(self, form: Form) -> Multipliers | None:
        """Return multipliers that prove that a form, whose values are integers, is at least 0.

        The form minus the combination is a constant greater than -1; where no point is left, the combination
        alone is a negative constant.
        """
        if self.refuted is not None:
            return self.refuted
        found = self.most({name: -factor for name, factor in form.items()})
        return found[1] if found is not None and found[0] < 1 else None
