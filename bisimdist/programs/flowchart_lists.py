"""Lists and tuples in flowcharts: what an observer sees of them, and what stays as it is."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bisimdist.errors import LimitError
from bisimdist.models.flowchart import Step
from bisimdist.programs.flowchart_values import (
    Bracketed,
    Copied,
    Env,
    Known,
    Slot,
    Then,
    Told,
    Value,
    added,
    lists_in,
)

if TYPE_CHECKING:
    from bisimdist.programs.flowcharts import Builder


def tell(builder: Builder, node: ast.AST, told: Told, value: Value, env: Env, then: Then) -> Step:
    """Append to a list of which the observer sees every element."""
    changes = {told.length: added({told.length: 1}, {"": 1})}
    if value == Known(True):
        changes[told.trues] = added({told.trues: 1}, {"": 1})
    elif not isinstance(value, Known):  # a number may be 1, which is True: nothing is known any more
        env = {name: part for name, part in env.items() if name != told.trues}
    if builder.looks_back:
        env = {name: part for name, part in env.items() if name != told.last}
        env |= {told.last: value} if isinstance(value, Known) else {}
    step = builder.step(set=changes, then=then(env))
    for part in reversed([f"to {told.length}", *parts(builder, node, value)]):
        step = builder.step(tell=part, then=step)
    return step


def parts(builder: Builder, node: ast.AST, value: Value) -> list[Any]:
    """Return what an observer sees of a value."""
    if isinstance(value, dict):
        return [value]
    if isinstance(value, tuple | Bracketed):
        kind, inside = ("values", value) if isinstance(value, tuple) else ("elements", value.parts)
        return [f"{len(inside)} {kind}", *(p for part in inside for p in parts(builder, node, part))]
    if isinstance(value, Known) and isinstance(value.value, bool | str | Fraction | None):
        return [repr(value.value)]
    if isinstance(value, Told):
        return [f"the list {value.length}"]
    if isinstance(value, Copied):
        return [f"a {value.kind} of {value.told.length}"]
    raise builder.refuse(node, "an observer may see only integers, texts and lists of them")


def stored(
    builder: Builder, value: Value, name: str, after: dict[str, Value], changes: dict[str, dict[str, int]]
) -> Value:
    """Return a value that stays as it is when the variables change that it was made of."""
    if isinstance(value, tuple):
        inside = (stored(builder, p, f"{name}.{n}", after, changes) for n, p in enumerate(value))
        return tuple(inside)
    if isinstance(value, Bracketed):
        return Bracketed(stored(builder, value.parts, name, after, changes))  # type: ignore[arg-type]
    if isinstance(value, Copied):
        raise LimitError(f"{builder.file}: {name} is a copy of a list: it can only be returned")
    if not isinstance(value, dict) or not any(value):
        return value
    changes[name], after[name] = value, Slot(name)
    return {name: 1}


def twice(value: Value, old: Value | None, others: set[Told], *, alone: bool) -> bool:
    """Tell whether a list would have two names, or none, if a name got a value in place of an old one."""
    lists = lists_in(value)
    return bool(lists) and (not alone or not lists.isdisjoint({Told("", ""), *others, *lists_in(old)}))
