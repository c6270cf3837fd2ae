"""Sources of functions that become flowcharts: trees, digests, and which variables are read later."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.models.flowchart import Step
from bisimdist.programs.loading import SourceText


def tree_of(function: FunctionType) -> tuple[ast.FunctionDef, int]:
    """Return the tree of a function, and how many lines stand before it."""
    lines, first = inspect.getsourcelines(function)
    found = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(found, ast.FunctionDef):
        raise UsageError(f"{function.__qualname__} is no plain function")
    return found, first - 1


def is_listed(tree: ast.FunctionDef, name: str) -> bool:
    """Tell whether the input is gone through, or looked into."""
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.For | ast.comprehension):
            parts = [node.iter]
        elif isinstance(node, ast.Subscript):
            parts = [node.value]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("len", "sum", "enumerate", "tuple", "list")
        ):
            parts = list(node.args)
        if any(isinstance(part, ast.Name) and part.id == name for part in parts):
            return True
        if any(
            isinstance(p, ast.Call) and any(isinstance(a, ast.Name) and a.id == name for a in p.args)
            for p in parts
        ):
            return True
    return False


def live(places: Mapping[str, Step], variables: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the variables of places that are read later on."""
    needed: dict[str, frozenset[str]] = dict.fromkeys(places, frozenset())

    def reads(step: Step) -> frozenset[str]:
        after: frozenset[str] = frozenset()
        for branch in ("then", "else"):
            if branch in step:
                after |= reads(step[branch])
        if "go" in step:
            target: str = step["go"]
            return needed[target]
        if "set" in step:
            kept = {name: form for name, form in step["set"].items() if name in after}
            return after.difference(step["set"]).union(*kept.values())
        after -= {step.get("draw"), step.get("read")}
        forms = [step[kind] for kind in ("if", "tell") if kind in step] + list(step.get("return", ()))
        return after | {name for form in forms if isinstance(form, Mapping) for name in form}

    while (found := {name: reads(step) for name, step in places.items()}) != needed:
        needed = found
    return {name: tuple(v for v in known if v in needed[name]) for name, known in variables.items()}


def used(places: Mapping[str, Step]) -> tuple[set[str], set[str]]:
    """Return the bases of the ratios of noise, and the variables that forms name."""
    bases: set[str] = set()
    names: set[str] = set()
    left = list(places.values())
    while left:
        step = left.pop()
        left += [step[way] for way in ("then", "else") if way in step]
        bases |= {step["base"]} if "base" in step else set()
        forms = [step.get(kind) for kind in ("if", "tell", "weight")]
        forms += [*step.get("set", {}).values(), *step.get("return", ())]
        names |= {name for form in forms if isinstance(form, Mapping) for name in form}
    return bases, names


def trees(function: FunctionType, program: Any) -> tuple[ast.FunctionDef, int]:
    """Return the tree of a function, and how many lines stand before it."""
    if program is None:
        return tree_of(function)
    for text in program.texts.values():
        for node in ast.walk(text.tree):
            if (
                isinstance(node, ast.FunctionDef)
                and node.name == function.__name__
                and text.name == function.__code__.co_filename
                and node.lineno == function.__code__.co_firstlineno
            ):
                return node, 0
    raise UsageError(f"{function.__qualname__} is no plain function of its file")


def digests(function: FunctionType, program: Any) -> dict[str, str]:
    """Return the digests of the sources by file."""
    if program is not None:
        return {text.name: text.digest for text in program.texts.values()}
    path = Path(function.__code__.co_filename)
    return {path.name: SourceText.read(path, path.name).digest}
