"""Calls in flowcharts: noise, the few functions of Python that are followed, and functions beside it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from types import FunctionType
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.models.flowchart import Step
from bisimdist.programs import source
from bisimdist.programs.flowchart_conditions import at_least, cond, number
from bisimdist.programs.flowchart_lists import stored
from bisimdist.programs.flowchart_loops import loop
from bisimdist.programs.flowchart_mends import LAWS
from bisimdist.programs.flowchart_noise import draw
from bisimdist.programs.flowchart_sources import tree_of
from bisimdist.programs.flowchart_values import (
    Bracketed,
    Copied,
    Env,
    Known,
    Listed,
    Ranged,
    Slot,
    ThenValue,
    Told,
    Value,
    Ways,
    added,
    lists_in,
)

if TYPE_CHECKING:
    from bisimdist.programs.flowcharts import Builder


def called(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    """Return the steps of a call."""
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        owner = env.get(func.value.id)
        if owner == Known(source) and func.attr in LAWS:
            return draw(builder, node, LAWS[func.attr], env, then, ways)
        if owner == Known(source):
            raise builder.refuse(
                node, f"{func.attr!r} is no noise that can be followed; expected {', '.join(LAWS)}"
            )
        counted = [isinstance(a, ast.Constant) and a.value is True for a in (*node.args, *node.keywords)]
        if isinstance(owner, Told) and func.attr == "count" and counted == [True] and owner.trues in env:
            return then({owner.trues: 1}, env)
    if isinstance(func, ast.Name) and func.id not in env:
        space = builder.space(ways)
        found = space.get(func.id)
        if func.id in LAWS and found is getattr(source, func.id, None):
            return draw(builder, node, LAWS[func.id], env, then, ways)
        if func.id in _OWN and func.id not in space and not node.keywords and 1 <= len(node.args) <= 2:
            return _OWN[func.id](builder, node, env, then, ways)
        if isinstance(found, FunctionType):
            return _inlined(builder, node, found, env, then, ways)
    raise builder.refuse(
        node,
        f"the call {ast.unparse(node)[:60]!r} cannot be followed: noise comes from rng, "
        "the rest from loops, comparisons, sums, append and plain functions",
    )


def _inlined(
    builder: Builder, node: ast.Call, function: FunctionType, env: Env, then: ThenValue, ways: Ways
) -> Step:
    from bisimdist.programs.flowcharts import MOST_CALLS

    if ways.depth >= MOST_CALLS:
        raise builder.refuse(node, "functions call each other too deeply to be followed")
    try:
        tree, before = tree_of(function)
    except (OSError, TypeError, SyntaxError, UsageError):
        raise builder.refuse(node, f"the source of {function.__name__} is not known") from None
    ast.increment_lineno(tree, before - builder.offset)
    names = [argument.arg for argument in tree.args.args]
    defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
    words = {word.arg: word.value for word in node.keywords if word.arg is not None}
    twice = len({*names[: len(node.args)], *words}) < len(node.args) + len(node.keywords)
    if twice or tree.args.kwonlyargs or len(node.args) > len(names) or words.keys() - set(names):
        raise builder.refuse(node, f"the call of {function.__name__} cannot be followed for all inputs")
    prefix = f"{ways.prefix}{function.__name__} in line {node.lineno + builder.offset}, {node.col_offset}."
    builder.enter(prefix, node, function, tree)

    def entered(values: list[Value], after: Env) -> Step:
        inside: dict[str, Value] = {}
        given = dict(zip([*names[: len(node.args)], *words], values, strict=True))
        changes: dict[str, dict[str, int]] = {}
        lists = [told for value in values for told in lists_in(value)]
        if Told("", "") in lists or len(set(lists)) < len(lists):
            raise builder.refuse(node, "a list has two names, or none")
        after = {
            n: v
            for n, v in after.items()
            if n not in {known for told in lists for known in (told.trues, told.last)}
        }
        for name in names:
            if name not in given and name not in defaults:
                raise builder.refuse(node, f"{function.__name__} has no {name!r}")
            default = defaults.get(name)
            usual: Value = Known(default)
            if isinstance(default, int) and not isinstance(default, bool):
                usual = added({}, {"": default})
            value = given.get(name, usual)
            if isinstance(value, dict) and any(value):
                inside[name] = Slot(prefix + name)
                changes[prefix + name] = value
            else:
                inside[name] = stored(builder, value, prefix + name, inside, changes)
        inner = Ways(lambda value, _: then(value, after), prefix, ways.depth + 1, reading=ways.reading)
        body = builder.block(tree.body, inside, lambda e: inner.returned(Known(None), e), inner)
        return builder.step(set=changes, then=body) if changes else body

    return builder.several([*node.args, *words.values()], env, entered, ways)


def _range(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    only = node.args[0] if len(node.args) == 1 else None
    usual = "len" not in env and "len" not in builder.space(ways)
    if usual and isinstance(only, ast.Call) and ast.unparse(only.func) == "len" and len(only.args) == 1:
        name = only.args[0]
        if isinstance(name, ast.Name) and not only.keywords and isinstance(env.get(name.id), Listed):
            return then(Ranged({}, None, ("place",)), env)

    def made(values: list[Value], after: Env) -> Step:
        if not all(isinstance(value, dict) for value in values) or len(values) not in (1, 2):
            raise builder.refuse(node, "only a range of integers can be followed")
        first: Any = values[0] if len(values) == 2 else {}
        end: Any = values[-1]
        return then(Ranged(first, end, ("place",)), after)

    return builder.several(node.args, env, made, ways)


def _enumerate(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    def made(values: list[Value], after: Env) -> Step:
        first: Any = values[1] if len(values) > 1 else {}
        if not isinstance(values[0], Listed) or not isinstance(first, dict):
            raise builder.refuse(node, "enumerate goes over the input")
        return then(Ranged(first, None, ("place", "element")), after)

    return builder.several(node.args, env, made, ways)


def _len(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    def made(values: list[Value], after: Env) -> Step:
        if isinstance(values[0], Told) and len(values) == 1:
            return then({values[0].length: 1} if values[0].length else {}, after)
        raise builder.refuse(
            node,
            "len can be followed only for lists that the function makes; count the input with "
            "sum(1 for x in ...), and go through it with for",
        )

    return builder.several(node.args, env, made, ways)


def _whole(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    def made(values: list[Value], after: Env) -> Step:
        value = number(values[0])
        if value is None or len(values) > 1:
            raise builder.refuse(node, "int of a number is followed")
        return then(value, after)

    return builder.several(node.args, env, made, ways)


def _same(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    def made(values: list[Value], after: Env) -> Step:
        value, to_list = values[0], getattr(node.func, "id", "") == "list"
        if len(values) == 1 and isinstance(value, Bracketed | tuple):
            parts = value.parts if isinstance(value, Bracketed) else value
            return then(Bracketed(parts) if to_list else parts, after)
        if isinstance(value, Told) and len(values) == 1:
            return then(Copied(value, "list" if to_list else "tuple"), after)
        raise builder.refuse(node, f"{ast.unparse(node)[:60]!r} cannot be followed for all inputs")

    arguments: list[ast.expr] = list(node.args)
    if isinstance(arguments[0], ast.GeneratorExp):  # it is used up at once
        lazy = arguments[0]
        arguments[0] = ast.copy_location(ast.ListComp(lazy.elt, lazy.generators), lazy)
    return builder.several(arguments, env, made, ways)


def _extreme(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    largest = getattr(node.func, "id", "") == "max"

    def made(values: list[Value], after: Env) -> Step:
        numbers: Any = [number(value) for value in values]
        if len(numbers) != 2 or None in numbers:
            raise builder.refuse(node, "only min and max of two numbers can be followed; write a loop")
        one, two = numbers if largest else numbers[::-1]
        return at_least(
            builder, added(one, two, -1), lambda: then(numbers[0], after), lambda: then(numbers[1], after)
        )

    return builder.several(node.args, env, made, ways)


def _abs(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    def made(values: list[Value], after: Env) -> Step:
        form: Any = number(values[0])
        if form is None or len(values) > 1:
            raise builder.refuse(node, "abs of a number is followed")
        return at_least(builder, form, lambda: then(form, after), lambda: then(added({}, form, -1), after))

    return builder.several(node.args, env, made, ways)


def _sum(builder: Builder, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
    node = copy(node)  # what is known beside it stays as it is in the loop
    builder.kept.append(node)
    where = f"line {node.lineno + builder.offset}, {node.col_offset}"
    name = f"{ways.prefix}sum of {where}"
    given, over = (node.args[0] if len(node.args) == 1 else node), Ranged({}, None, ("element",))
    target: ast.expr = ast.copy_location(ast.Name("the element", ast.Store()), node)
    element: ast.expr | None = None
    tests: list[ast.expr] = []
    if isinstance(given, ast.GeneratorExp) and len(given.generators) == 1:
        made = given.generators[0]
        element, given, target, tests = given.elt, made.iter, made.target, made.ifs

    def body(now: Env, again: Any, inner: Ways) -> Step:
        def more(value: Value, after: Env) -> Step:
            form = number(value)
            if form is None:
                raise builder.refuse(node, "the sum of numbers is followed")
            return builder.step(set={name: added({name: 1}, form)}, then=again(after))

        def tested(left: list[ast.expr], after: Env) -> Step:
            if left:
                return cond(builder, left[0], after, lambda e: tested(left[1:], e), again, inner)
            if element is None:
                return more({f"{ways.prefix}element of {where}": 1}, after)
            return builder.value(element, after, more, inner)

        return tested(tests, now)

    def done(after: Env) -> Step:
        if element is None:
            return then({name: 1}, after)
        return builder.place(node, "sum", after, lambda e: then({name: 1}, e))

    def looped(value: Value, now: Env) -> Step:
        if not isinstance(value, Listed | Ranged):
            raise builder.refuse(node, "only the sum of the input, or of a loop over it, can be followed")
        goes = over if isinstance(value, Listed) else value
        return loop(builder, node, target, goes, body, {**now, name: Slot(name)}, done, ways)

    return builder.step(set={name: {}}, then=builder.value(given, env, looped, ways))


_OWN: dict[str, Callable[[Builder, ast.Call, Env, ThenValue, Ways], Step]] = {
    "range": _range,
    "enumerate": _enumerate,
    "len": _len,
    "tuple": _same,
    "list": _same,
    "int": _whole,
    "max": _extreme,
    "min": _extreme,
    "abs": _abs,
    "sum": _sum,
}
