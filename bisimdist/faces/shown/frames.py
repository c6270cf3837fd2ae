"""Models and answers as tables of pandas, whose cells stay exact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from typing import Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.extras import needed
from bisimdist.models.kinds import HMM, LMC, PA

PARTS = ("points", "pairs")


def to_pandas(thing: Any) -> Any:
    """Return a table: of a model its transitions, of an answer one row for each pair, or point of a profile.

    Parameters
    ----------
    thing
        A model, the answer to a question, or a list of results such as `bisimdist.compare` returns.

    Returns
    -------
    pandas.DataFrame
        Exact numbers are Fractions, entries of a parametric model are texts.

    Raises
    ------
    UsageError
        If pandas is not installed, or the thing is neither model nor answer.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})
    >>> from importlib.util import find_spec
    >>> there = find_spec("pandas") is not None        # it comes with the extra ``pandas``
    >>> list(to_pandas(chain)) if there else ["from", "label", "to", "probability"]
    ['from', 'label', 'to', 'probability']
    """
    rows = _transitions(thing)
    if rows is None:
        parts = thing if isinstance(thing, tuple | list) else None
        for name in PARTS:
            parts = getattr(thing, name, None) if parts is None else parts
        if parts is None or not all(hasattr(part, "__dataclass_fields__") for part in parts):
            raise UsageError(
                f"a {type(thing).__name__} has no table; expected a model, or an answer about pairs"
            )
        rows = [_row(part) for part in parts]
    return needed("pandas", "pandas").DataFrame(rows)


def _transitions(model: Any) -> list[dict[str, Any]] | None:
    if isinstance(model, LMC):
        return [
            {"from": name, "label": label, "to": model.states[t], "probability": _cell(p)}
            for name, label, row in zip(model.states, model.labels, model.rows, strict=True)
            for t, p in row
        ]
    if isinstance(model, PA):
        return [
            {
                "transition": number,
                "from": model.states[step.source],
                "action": step.action,
                "to": model.states[t],
                "probability": _cell(p),
            }
            for number, step in enumerate(model.transitions)
            for t, p in step.row
        ]
    if isinstance(model, HMM):
        return [
            {"from": name, "to": model.states[t], "probability": _cell(p)}
            for name, row in zip(model.states, model.rows, strict=True)
            for t, p in row
        ]
    return None


def _row(part: Any) -> dict[str, Any]:
    """Return the fields of a result that show, and whether it is exact."""
    names = [field.name for field in fields(part) if field.repr and not field.name.startswith("_")]
    row = {{"source": "from", "target": "to"}.get(name, name): _cell(getattr(part, name)) for name in names}
    if "exact" not in row and hasattr(part, "exact"):
        row["exact"] = part.exact
    return row


def _cell(value: Any) -> Any:
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(_cell, value))
    plain = value is None or isinstance(value, str | bool | int | Iterable)
    return value if plain else str(value)
