"""Conditions in flowcharts: comparisons, what is true, and what two runs have in common."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from bisimdist.models.flowchart import Step
from bisimdist.programs.flowchart_values import Env, Form, Known, Slot, Then, Value, Ways, added
from bisimdist.programs.texts import RAISES, text_of

if TYPE_CHECKING:
    from bisimdist.programs.flowcharts import Builder

NO_NUMBERS = str | None  # what is never equal to a number

_WHOLE = ast.Compare | ast.BinOp | ast.Name | ast.Constant | ast.operator | ast.cmpop | ast.Load


def cond(builder: Builder, node: ast.expr, env: Env, yes: Then, no: Then, ways: Ways) -> Step:
    """Go on in one of two ways."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return cond(builder, node.operand, env, no, yes, ways)
    if isinstance(node, ast.BoolOp):
        first, rest = node.values[0], node.values[1:]
        if not rest:
            return cond(builder, first, env, yes, no, ways)
        more = ast.copy_location(ast.BoolOp(node.op, rest), node)
        go: Then = lambda e: cond(builder, more, e, yes, no, ways)  # noqa: E731
        if isinstance(node.op, ast.And):
            return cond(builder, first, env, go, no, ways)
        return cond(builder, first, env, yes, go, ways)
    if isinstance(node, ast.Compare):
        if any(isinstance(part, ast.Mod) for part in ast.walk(node)):
            return _common(builder, node, env, yes, no)
        return builder.value(
            node.left, env, lambda v, e: _compared(builder, node, 0, v, e, yes, no, ways), ways
        )
    return builder.value(node, env, lambda v, e: tested(builder, node, v, e, yes, no), ways)


def tested(builder: Builder, node: ast.expr, value: Value, env: Env, yes: Then, no: Then) -> Step:
    """Go on as a value is true or not."""
    if isinstance(value, Known):
        return yes(env) if value.value else no(env)
    if isinstance(value, dict):
        return _equal(builder, value, lambda: no(env), lambda: yes(env))
    raise builder.refuse(node, "the truth of this value cannot be followed; compare numbers")


def _common(builder: Builder, node: ast.Compare, env: Env, yes: Then, no: Then) -> Step:
    """Branch on something that is not linear, but the same in both runs."""
    forms: dict[str, Form] = {}
    if len(node.ops) > 1:
        raise builder.refuse(node, "% in a chain of comparisons")
    for part in ast.walk(node):
        whole = not isinstance(part, ast.Constant) or isinstance(part.value, int)
        if not isinstance(part, _WHOLE) or not whole or isinstance(part, ast.Div | ast.Pow | ast.MatMult):
            raise builder.refuse(node, "% of something else than integers")
        if isinstance(part, ast.In | ast.NotIn | ast.Is | ast.IsNot | ast.LShift | ast.RShift | ast.FloorDiv):
            raise builder.refuse(node, f"% beside {type(part).__name__} cannot be followed for all inputs")
        if isinstance(part, ast.Name):
            value = env.get(part.id)
            shared = isinstance(value, dict) and all(v in builder.parameters for v in value if v)
            if not (shared or (isinstance(value, Slot) and value.common)):
                raise builder.refuse(node, f"% of {part.id}, which neighbours need not have in common")
            forms[part.id] = value if isinstance(value, dict) else {value.name: 1}  # type: ignore[union-attr]

    def asked(what: ast.expr) -> str:
        text = ast.unparse(what)
        names = {part.id for part in ast.walk(what) if isinstance(part, ast.Name)}
        where = [f"{n} = {forms[n]}" for n in sorted(names) if forms[n] != {n: 1}]
        text = f"line {node.lineno + builder.offset}: {' where '.join([text, *where])}"
        code = compile(ast.fix_missing_locations(ast.Expression(what)), builder.file, "eval")
        builder.asked[text] = code, {name: forms[name] for name in names}
        return text

    step = builder.step(choose=asked(node), then=yes(env), else_=no(env))
    for part in reversed(
        [p for p in ast.walk(node) if isinstance(p, ast.BinOp) and isinstance(p.op, ast.Mod)]
    ):
        if not (isinstance(part.right, ast.Constant) and part.right.value):
            zero = ast.copy_location(ast.Compare(part.right, [ast.Eq()], [ast.Constant(0)]), node)
            raised = builder.step(return_=[RAISES + _division_by_zero()])
            step = builder.step(choose=asked(zero), then=raised, else_=step)
    return step


def _division_by_zero() -> str:
    """Return what this Python raises for the remainder by zero."""
    try:
        return str(1 % 0)
    except ZeroDivisionError as error:
        return text_of(error)


def _compared(
    builder: Builder, node: ast.Compare, at: int, left: Value, env: Env, yes: Then, no: Then, ways: Ways
) -> Step:
    last = at == len(node.ops) - 1

    def both(right: Value, after: Env) -> Step:
        go = yes if last else (lambda e: _compared(builder, node, at + 1, right, e, yes, no, ways))
        return _branch(builder, node, node.ops[at], left, right, lambda: go(after), lambda: no(after))

    return builder.value(node.comparators[at], env, both, ways)


def _branch(
    builder: Builder,
    node: ast.AST,
    op: ast.cmpop,
    left: Value,
    right: Value,
    yes: Callable[[], Step],
    no: Callable[[], Step],
) -> Step:
    refused = builder.refuse(node, "a comparison that cannot be followed for all inputs")
    if isinstance(op, ast.IsNot | ast.NotEq):
        yes, no = no, yes
    known = [part.value for part in (left, right) if isinstance(part, Known)]
    same = isinstance(op, ast.Eq | ast.NotEq)
    if isinstance(op, ast.Is | ast.IsNot):
        if not any(value is None or isinstance(value, bool) for value in known):
            raise refused
        if len(known) == 2:
            return yes() if known[0] is known[1] else no()
    elif same and len(known) == 2:
        return yes() if known[0] == known[1] else no()
    one, two = number(left), number(right)
    unlike = (one is None) != (two is None) and len(known) == 1 and isinstance(known[0], NO_NUMBERS)
    if unlike and same and isinstance(known[0], str) and any(one or two or ()):
        raise builder.refuse(node, "a number is compared with a text: the elements of the input are integers")
    if unlike and (same or (known == [None] and isinstance(op, ast.Is | ast.IsNot))):
        return no()  # a number is nothing else
    if one is None or two is None or isinstance(op, ast.Is | ast.IsNot):
        raise refused
    difference = added(one, two, -1)
    if same:
        return _equal(builder, difference, yes, no)
    forms = {
        ast.GtE: difference,
        ast.Gt: added(difference, {"": 1}, -1),
        ast.LtE: added({}, difference, -1),
        ast.Lt: added(added({}, difference, -1), {"": 1}, -1),
    }
    if type(op) not in forms:
        raise refused
    return at_least(builder, forms[type(op)], yes, no)


def number(value: Value) -> dict[str, int] | None:
    """Return a truth value as a number, too."""
    if isinstance(value, Known):
        return added({}, {"": int(value.value)}) if isinstance(value.value, bool) else None
    return value if isinstance(value, dict) else None


def at_least(builder: Builder, form: Form, yes: Callable[[], Step], no: Callable[[], Step]) -> Step:
    """Go on as a form is at least 0, or not."""
    if not any(form):
        return yes() if form.get("", 0) >= 0 else no()
    return builder.step(if_=form, then=yes(), else_=no())


def _equal(builder: Builder, form: Form, yes: Callable[[], Step], no: Callable[[], Step]) -> Step:
    return at_least(builder, form, lambda: at_least(builder, added({}, form, -1), yes, no), no)
