"""Noise in flowcharts: draws, and the numbers and parameters that say their laws."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bisimdist.models.flowchart import Step
from bisimdist.programs.flowchart_values import Env, Known, ThenValue, Ways, added
from bisimdist.programs.noise_ratio import Ratios, power_of

if TYPE_CHECKING:
    from bisimdist.programs.flowcharts import Builder


def draw(builder: Builder, node: ast.Call, law: str, env: Env, then: ThenValue, ways: Ways) -> Step:
    """Draw noise, or toss a coin."""
    arguments = [*node.args, *(word.value for word in node.keywords)]
    if len(arguments) != 1 or {word.arg for word in node.keywords} - {"p" if law == "coin" else "a"}:
        raise builder.refuse(node, "only noise with one argument, its ratio, can be followed; clipped not")
    turned = False  # a coin of the flowchart is 1 with the smaller probability
    try:
        if law == "coin":
            chance = constant(builder, arguments[0], env, ways)
            if chance is None or not 0 < Fraction(chance) < 1:
                raise ValueError("the probability of the coin is no number strictly between 0 and 1")
            odds = Fraction(chance) / (1 - Fraction(chance))
            turned = odds > 1
            base, weight = power_of(min(odds, 1 / odds)) if odds != 1 else ("1/2", {})
        else:
            base, weight = Ratios(
                lambda part: constant(builder, part, env, ways),
                lambda part: known_form(builder, part, env),
                lambda part: symbol(builder, part, env),
            ).read(arguments[0])
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raise builder.refuse(node, str(error)) from None
    name = f"{ways.prefix}noise of line {node.lineno + builder.offset}, {node.col_offset}"
    after = then({"": 1, name: -1} if turned else {name: 1}, env)
    return builder.step(draw=name, law=law, base=base, weight=weight, then=after)


def constant(builder: Builder, node: ast.expr, env: Env, ways: Ways) -> Any:
    """Return what an expression is at compile time: a number, or None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | str):
        return Fraction(node.value) if isinstance(node.value, str) else node.value
    if isinstance(node, ast.Name):
        value = env.get(node.id)
        if isinstance(value, Known) and isinstance(value.value, str | Fraction):
            return Fraction(value.value)
        if isinstance(value, dict) and not any(value):
            return value.get("", 0)
        found = None if value is not None else builder.space(ways).get(node.id)
        return (
            Fraction(found)
            if isinstance(found, str | Fraction)
            else found
            if isinstance(found, int)
            else None
        )
    if isinstance(node, ast.BinOp):
        one, two = constant(builder, node.left, env, ways), constant(builder, node.right, env, ways)
        if one is None or two is None:
            return None
        works: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
            ast.Mult: lambda a, b: a * b,
            ast.Add: lambda a, b: a + b,
            ast.Sub: lambda a, b: a - b,
            ast.Div: lambda a, b: Fraction(a) / b,
            ast.Pow: lambda a, b: a ** int(b) if abs(b) < 1000 else None,
        }
        return works[type(node.op)](one, two) if type(node.op) in works else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in env or builder.space(ways).get(node.func.id) is not Fraction:
            return None
        parts = [constant(builder, part, env, ways) for part in node.args]
        return None if None in parts or not parts else Fraction(parts[0]) / (parts[1] if parts[1:] else 1)
    return None


def known_form(builder: Builder, node: ast.expr, env: Env) -> dict[str, int] | None:
    """Return an expression of parameters and numbers as a form."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return added({}, {"": node.value})
    if isinstance(node, ast.Name):
        value = env.get(node.id)
        shared = isinstance(value, dict) and all(name in builder.parameters for name in value if name)
        return value if shared else None  # type: ignore[return-value]
    if isinstance(node, ast.BinOp):
        one, two = known_form(builder, node.left, env), known_form(builder, node.right, env)
        if one is None or two is None:
            return None
        if isinstance(node.op, ast.Add | ast.Sub):
            return added(one, two, 1 if isinstance(node.op, ast.Add) else -1)
        if isinstance(node.op, ast.Mult) and not (any(one) and any(two)):
            factor, form = (two, one) if any(one) else (one, two)
            return added({}, form, factor.get("", 0))
    return None


def symbol(builder: Builder, node: ast.expr, env: Env) -> str | None:
    if isinstance(node, ast.Name) and node.id in builder.parameters:
        value = env.get(node.id)
        return node.id if value == {node.id: 1} else None
    return None
