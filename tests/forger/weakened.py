"""A checker in which one rule is not asked, to see that the forger notices."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["weakened"]


class _Silencer(ast.NodeTransformer):
    """Takes the `raise` of a rule away."""

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self.found = 0

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
        if any(isinstance(text, str) and self.rule in text for text in texts):
            self.found += 1
            return ast.copy_location(ast.Pass(), node)
        return node


def _functions(module: ModuleType) -> Iterator[tuple[Any, str, Any]]:
    for holder in (module, *(c for c in vars(module).values() if inspect.isclass(c))):
        for name, found in list(vars(holder).items()):
            if inspect.isfunction(found) and found.__module__ == module.__name__:
                yield holder, name, found


def _silent(module: ModuleType, function: Any, rule: str) -> Any:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):  # made by dataclasses
        return None
    silencer = _Silencer(rule)
    silencer.visit(tree)
    if not silencer.found:
        return None
    future = ast.parse("from __future__ import annotations").body
    whole = ast.fix_missing_locations(ast.Module([*future, *tree.body], []))
    made: dict[str, Any] = {}
    exec(compile(whole, module.__file__ or "", "exec"), vars(module), made)
    return made[function.__name__]


@contextmanager
def weakened(module_name: str, rule: str) -> Iterator[None]:
    """Run with the checker's module not refusing what breaks a rule, named as its message begins."""
    module = import_module(f"bisimdist.checker.{module_name}")
    changed: list[tuple[Any, str, Any]] = []
    for holder, name, function in _functions(module):
        weaker = _silent(module, function, rule)
        if weaker is None:
            continue
        places = [(holder, name)]
        if holder is module:
            others = [m for title, m in list(sys.modules.items()) if title.startswith("bisimdist.checker")]
            places = [(m, n) for m in others for n, found in vars(m).items() if found is function]
        for place, key in places:
            changed.append((place, key, function))
            setattr(place, key, weaker)
    if not changed:
        raise LookupError(f"no rule {rule!r} in {module_name}")
    try:
        yield
    finally:
        for place, key, function in changed:
            setattr(place, key, function)
