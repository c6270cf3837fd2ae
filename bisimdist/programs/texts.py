"""Values as texts: equal texts for equal values, different ones for different values; and inputs of texts."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict, deque
from enum import Enum
from fractions import Fraction
from typing import Any

from bisimdist.programs.control import Outside
from bisimdist.programs.heap import attributes
from bisimdist.programs.noise import Noise

__all__ = ["RAISES", "literal", "text_of"]

RAISES = "raises "
"""What stands before an exception that is not caught; no returned value is written so."""

_DEEPEST = 100


def text_of(value: Any, depth: int = 0) -> str:
    """Return how a value is written; of sets in a fixed order, of objects by their attributes.

    Raises
    ------
    Outside
        If it cannot be compared with others.
    """
    if depth > _DEEPEST:
        raise Outside("a value is nested too deep, or in itself", "return numbers, texts, tuples or lists")
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if type(value) is Noise:
        return value.shown()
    if value is None or isinstance(value, bool | int | str | bytes | range):
        return repr(value)
    if isinstance(value, Fraction):
        return str(value) if value.denominator != 1 else f"{value}/1"
    if isinstance(value, BaseException):
        return f"{type(value).__name__}({', '.join(text_of(part, depth + 1) for part in value.args)})"
    return _container(value, depth + 1)


def _container(value: Any, depth: int) -> str:
    kind = type(value)
    if isinstance(value, tuple) and not hasattr(kind, "_fields"):
        inside = ", ".join(text_of(part, depth) for part in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if kind is list or isinstance(value, list):
        return f"[{', '.join(text_of(part, depth) for part in value)}]"
    if isinstance(value, set | frozenset):
        inside = ", ".join(sorted(text_of(part, depth) for part in value))
        return (
            f"frozenset({{{inside}}})"
            if isinstance(value, frozenset)
            else f"{{{inside}}}"
            if inside
            else "set()"
        )
    if isinstance(value, deque | tuple):
        return f"{kind.__name__}({', '.join(text_of(part, depth) for part in value)})"
    if isinstance(value, dict):
        inside = ", ".join(f"{text_of(key, depth)}: {text_of(part, depth)}" for key, part in value.items())
        prefix = kind.__name__ if isinstance(value, Counter | defaultdict) else ""
        return f"{prefix}{{{inside}}}"
    if isinstance(value, float | complex):
        raise Outside(f"the value {value!r} is a {kind.__name__}, which is not exact", "use Fraction")
    if callable(value) or (not hasattr(value, "__dict__") and not hasattr(kind, "__slots__")):
        raise Outside(
            f"a value of type {kind.__name__} is returned or announced",
            "return numbers, texts, tuples or lists",
        )
    inside = ", ".join(f"{name}={text_of(part, depth)}" for name, part in attributes(value).items())
    return f"{kind.__name__}({inside})"


def literal(text: str) -> Any:
    """Return the value of a Python literal, in which a quotient or ``Fraction(1, 2)`` is a fraction.

    Raises
    ------
    ValueError
        If the text is none.

    Examples
    --------
    >>> literal("[1/2, (Fraction(-3, 4), 'a')]")
    [Fraction(1, 2), (Fraction(-3, 4), 'a')]
    """
    try:
        return ast.literal_eval(_Fractions().visit(ast.parse(text.lstrip(" \t"), mode="eval")))
    except (ArithmeticError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from None


class _Fractions(ast.NodeTransformer):
    """Makes constants of quotients and calls of ``Fraction``."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not isinstance(node.op, ast.Div):
            return self.generic_visit(node)
        return self._fraction(node.left, node.right)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not isinstance(node.func, ast.Name) or node.func.id != "Fraction" or node.keywords:
            return self.generic_visit(node)
        return self._fraction(*node.args)

    def _fraction(self, *parts: ast.expr) -> ast.Constant:
        values = [ast.literal_eval(self.visit(part)) for part in parts]
        if any(isinstance(value, float | complex) for value in values):
            raise ValueError("a float is not exact")
        return ast.Constant(Fraction(*values))  # type: ignore[arg-type]
