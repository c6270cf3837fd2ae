"""Loops in flowcharts: over the input, its places, or a range; and lists that are made in one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bisimdist.models.flowchart import Step
from bisimdist.programs.flowchart_lists import tell
from bisimdist.programs.flowchart_values import (
    Env,
    Known,
    Listed,
    Ranged,
    Slot,
    Then,
    ThenValue,
    Told,
    Value,
    Ways,
    added,
    lists_in,
)

if TYPE_CHECKING:
    from bisimdist.programs.flowcharts import Builder


def loop(
    builder: Builder,
    node: ast.AST,
    target: ast.expr,
    over: Value,
    body: Sequence[ast.stmt] | Callable[[Env, Then, Ways], Step],
    env: Env,
    then: Then,
    ways: Ways,
) -> Step:
    """Go through the input or through a range of integers."""
    if isinstance(over, Listed):
        over = Ranged({}, None, ("element",))
    if not isinstance(over, Ranged):
        raise builder.refuse(node, "only a loop over the input, its places or a range can be followed")
    line = getattr(node, "lineno", 1)
    if over.length is None and ways.reading:
        raise builder.refuse(node, "a loop over the input inside of another one cannot be followed")
    public = all(name in builder.parameters for name in over.first if name)
    where = f"line {line + builder.offset}, {getattr(node, 'col_offset', 0)}"
    counts = over.length is not None or over.first  # its number is not its place in the input
    place = Slot(f"{ways.prefix}{'number' if counts else 'place'} of {where}", fixed=True, common=public)
    element = Slot(f"{ways.prefix}element of {where}", fixed=True)
    end = Slot(f"{ways.prefix}end of {where}", fixed=True)
    names = list(target.elts) if isinstance(target, ast.Tuple) else [target]
    bound = {"place": place, "element": element}
    if len(names) != len(over.gives) or not all(isinstance(name, ast.Name) for name in names):
        raise builder.refuse(
            node, "the loop takes one name for each part of what it goes over; an element is one integer"
        )
    given: dict[str, Value] = {
        name.id: bound[part]  # type: ignore[attr-defined]
        for name, part in zip(names, over.gives, strict=True)
    }
    reads = over.length is None
    hidden = {place.name: place, **({element.name: element} if reads else {end.name: end})}
    counter = f"count of {where}"

    def left(now: Env) -> Step:
        kept = {n: v for n, v in now.items() if n not in hidden}
        for name, slot in given.items():
            if kept.get(name) == slot:
                del kept[name]
        return then(kept)

    def again(now: Env) -> Step:
        return following(now, first=False)

    def following(now: Env, *, first: bool, count: int = 0) -> Step:
        if first and not reads:
            start = {place.name: over.first, end.name: over.length}
            made = builder.place(node, "range", {**now, **hidden, **given}, ranged)
            return builder.step(set=start, then=made)
        if not reads:
            made = builder.place(node, "range", {**now, **hidden, **given}, ranged)
            return builder.step(set={place.name: added({place.name: 1}, {"": 1})}, then=made)
        if builder.length is not None:
            count = 0 if first else now[counter].value + 1  # type: ignore[union-attr]
            if count == builder.length:
                return left({n: v for n, v in now.items() if n != counter})
            now = {**now, counter: Known(count)}
        inside = builder.place(node, "for", {**now, **hidden, **given}, inner)
        step = builder.step(read=element.name, first=first, then=inside)
        index = over.first if first else added({place.name: 1}, {"": 1})
        step = builder.step(set={place.name: index}, then=step)
        if builder.length is not None:
            return step
        return builder.step(
            choose=f"more elements in {ways.prefix}{where}{', from the start' if first else ''}",
            then=step,
            else_=left(now),
        )

    def broken(now: Env) -> Step:
        return left({n: v for n, v in now.items() if n != counter})

    def inner(now: Env) -> Step:
        inside = replace(ways, broken=broken, continued=again, reading=reads or ways.reading)
        if callable(body):
            return body(now, again, inside)
        return builder.block(body, now, again, inside)

    def ranged(now: Env) -> Step:
        assert over.length is not None
        still = {end.name: 1, place.name: -1, "": -1}
        return builder.step(if_=still, then=inner(now), else_=left(now))

    return following(env, first=True)


def comprehension(builder: Builder, node: Any, env: Env, then: ThenValue, ways: Ways) -> Step:
    made = node.generators[0]
    if len(node.generators) != 1 or made.ifs or made.is_async:
        raise builder.refuse(
            node, "only a comprehension of one loop without if can be followed; write a loop that appends"
        )
    node = copy(node)  # what is known beside it stays as it is in the loop
    builder.kept.append(node)
    where = f"{ways.prefix}line {node.lineno + builder.offset}, {node.col_offset}"
    told = Told(f"len({where})", f"trues({where})")
    if any(told in lists_in(value) for value in env.values()):
        raise builder.refuse(node, "a list is made anew while a name holds it")
    inside = {n: v for n, v in env.items() if n != told.last}
    inside |= {told.length: Slot(told.length), told.trues: Slot(told.trues)}

    def body(now: Env, again: Then, inner: Ways) -> Step:
        return builder.value(node.elt, now, lambda v, e: tell(builder, node, told, v, e, again), inner)

    def looped(over: Value, now: Env) -> Step:
        return loop(builder, node, made.target, over, body, now, lambda e: then(told, e), ways)

    start = builder.value(made.iter, inside, looped, ways)
    start = builder.step(tell=f"new {told.length}", then=start)
    return builder.step(set={told.length: {}, told.trues: {}}, then=start)
