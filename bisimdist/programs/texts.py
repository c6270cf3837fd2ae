"""Values as texts: equal texts for equal values, different ones for different values; and inputs of texts."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from enum import Enum
from fractions import Fraction
from math import isfinite
from typing import Any

from bisimdist.programs.control import Outside
from bisimdist.programs.heap import attributes
from bisimdist.programs.noise import Noise

RAISES = "raise "  # what stands before an exception that is not caught; no returned value is written so

_DEEPEST = 100

NESTED = "a value is nested too deep, or in itself", "return numbers, texts, tuples or lists"


def text_of(value: Any, depth: int = 0, number: Callable[[Any], str] | None = None) -> str:  # noqa: PLR0911
    """Return how a value is written; of sets in a fixed order, of objects by their attributes.

    depth: how deep it lies in another one.
    number: how numbers are written; by default with their types.
    Raises Outside if it cannot be compared with others.
    """
    if type(value) is int:
        return str(value)
    if depth > _DEEPEST:
        raise Outside(*NESTED)
    if type(value) is Noise:
        return value.shown()
    plain = isinstance(value, bool | int | float | Fraction) or hasattr(value, "dtype")
    if number is not None and plain and not getattr(value, "shape", ()):
        return number(value)
    if isinstance(value, Enum) and (number is not _number_text or not isinstance(value, str)):
        return f"{type(value).__name__}.{value.name}"
    if number is _number_text:
        value = _as_compared(value)
    if value is None or isinstance(value, bool | int | bytes | range):
        return repr(value)
    if isinstance(value, str):
        return str.__repr__(value)
    if isinstance(value, Fraction):
        return str(value) if value.denominator != 1 else f"{value}/1"
    if isinstance(value, float | complex) and not hasattr(value, "dtype"):
        return repr(value)
    if isinstance(value, BaseException):
        return f"{type(value).__name__}({', '.join(text_of(part, depth + 1) for part in value.args)})"
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return text_of(value.tolist(), depth + 1, number)
    return _container(value, depth + 1, number)


def _container(value: Any, depth: int, number: Callable[[Any], str] | None) -> str:
    kind = type(value)
    if isinstance(value, tuple) and not hasattr(kind, "_fields"):
        inside = ", ".join(text_of(part, depth, number) for part in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if kind is list or isinstance(value, list):
        return f"[{', '.join(text_of(part, depth, number) for part in value)}]"
    if isinstance(value, set | frozenset):
        inside = ", ".join(sorted(text_of(part, depth, number) for part in value))
        return (
            f"frozenset({{{inside}}})"
            if isinstance(value, frozenset)
            else f"{{{inside}}}"
            if inside
            else "set()"
        )
    if isinstance(value, deque | tuple):
        return f"{kind.__name__}({', '.join(text_of(part, depth, number) for part in value)})"
    if isinstance(value, dict):
        inside = ", ".join(
            f"{text_of(key, depth, number)}: {text_of(part, depth, number)}" for key, part in value.items()
        )
        prefix = kind.__name__ if isinstance(value, Counter | defaultdict) else ""
        return f"{prefix}{{{inside}}}"
    if callable(value) or (not hasattr(value, "__dict__") and not hasattr(kind, "__slots__")):
        raise Outside(
            f"a value of type {kind.__name__} is returned or announced",
            "return numbers, texts, tuples or lists",
        )
    inside = ", ".join(f"{name}={text_of(part, depth, number)}" for name, part in attributes(value).items())
    return f"{kind.__name__}({inside})"


def _as_compared(value: Any) -> Any:
    """Return a value of a plain type that is equal to a container in Python."""
    if isinstance(value, range):
        step = value.step if len(value) > 1 else 1
        return range(value[0], value[-1] + step, step) if value else range(0)
    if isinstance(value, tuple):
        return tuple(value)
    if isinstance(value, frozenset):
        return set(value)
    if isinstance(value, dict) and not isinstance(value, OrderedDict):
        return dict(sorted(value.items(), key=lambda item: same_text(item[0])))
    return value


def same_text(value: Any) -> str:
    """Return a text that two values share if they are equal in Python, and no others.

    >>> same_text((True, 2.0)) == same_text((1, 2)), same_text(0.5), same_text("1") == same_text(1)
    (True, '1/2', False)
    >>> same_text({1: 2, 3: 4}), same_text({3: 4, 1: 2})
    ('{1: 2, 3: 4}', '{1: 2, 3: 4}')
    """
    return text_of(value, 0, _number_text)


def typed_text(value: Any) -> str:
    """Return a text that two values share if they are equal and of the same types throughout.

    >>> typed_text((True, 1)), typed_text((1, 1.0))
    ('(True, 1)', '(1, 1.0)')
    """
    return text_of(value, 0, repr)


def _number_text(value: Any) -> str:
    if hasattr(value, "dtype"):
        value = value.item()
    if not isinstance(value, int | float | Fraction):
        return text_of(value)
    if not isinstance(value, int | Fraction) and not isfinite(value):
        return repr(value)
    top, bottom = value.as_integer_ratio()
    return str(top) if bottom == 1 else f"{top}/{bottom}"


def labels_of(ends: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the labels of what runs end with, each given as it is written and as equal values share it.

    Equal values have one label: how they are written, if that is one way, or the text that they share. An
    exception is called by its name where all of that name are one.
    """
    written: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    every = dict.fromkeys(ends)
    for text, same in every:
        written.setdefault(same, set()).add(text)
        if text.startswith(RAISES):
            names.setdefault(text.partition("(")[0], set()).add(text)
    found = {}
    for text, same in every:
        label = text if len(written[same]) == 1 else same
        name = text.partition("(")[0]
        found[text, same] = name if text.startswith(RAISES) and len(names[name]) == 1 else label
    return found


def literal(text: str) -> Any:
    """Return the value of a Python literal, in which a quotient or ``Fraction(1, 2)`` is a fraction.

    Raises ValueError if the text is none.

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
