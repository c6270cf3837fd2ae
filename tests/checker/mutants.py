"""Mutants of the checker's code: one condition, one refusal, one step of it weakened or taken away.

A mutant is a module of the checker with one such change. Its key names the function, the change and the
source of what is changed, so that it stays the same when lines move.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "bisimdist.checker"
FOLDER = Path(__file__).parents[2] / "bisimdist" / "checker"

_EDGES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OTHERS = {"any": "all", "all": "any", "min": "max", "max": "min"}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
_COUNTING = ("afford", "hold", "spend")
_NAMES = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}

Change = tuple[str, ast.AST | None]
"""What a change is called, and what takes the place of the node (None: nothing does)."""


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    module: str
    key: str
    lines: frozenset[int]
    tree: Callable[[], ast.Module]

    def code(self) -> object:
        """Compile the module with the change."""
        return compile(ast.fix_missing_locations(self.tree()), f"<{self.key}>", "exec")


def source(module: str) -> str:
    """Return the text of a module of the checker, named without the package."""
    path = FOLDER.joinpath(*module.split("."))
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


def modules() -> list[str]:
    """Return the modules of the checker that judge, with those of packages below."""
    paths = (path.relative_to(FOLDER).with_suffix("") for path in FOLDER.rglob("*.py"))
    return sorted(".".join(path.parts) for path in paths if path.name not in ("__init__", "__main__"))


def mutants(module: str) -> list[Mutant]:
    """Return every mutant of a module, each once."""
    original = ast.parse(source(module))
    count: dict[str, int] = {}
    result = []
    for where, node, name in _places(original, module):
        for kind, replacement in _changes(node):
            text = " ".join(ast.unparse(node).split())
            key = f"{name} | {kind} | {text if len(text) <= 90 else text[:87] + '...'}"
            count[key] = count.get(key, 0) + 1
            key += f" #{count[key]}" if count[key] > 1 else ""

            def tree(where: tuple[object, ...] = where, new: ast.AST | None = replacement) -> ast.Module:
                return _replaced(original, where, new)

            result.append(Mutant(module, key, _lines(node), tree))
    return result


def _places(
    node: ast.AST, name: str, where: tuple[object, ...] = ()
) -> Iterator[tuple[tuple[object, ...], ast.AST, str]]:
    """Yield what may be changed, with the way to it and the function that it stands in."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        name = f"{name}.{node.name}"
    if _counts_work(node):
        return  # limits on work have tests of their own
    if where:
        yield where, node, name
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.AnnAssign):
        fields: tuple[str, ...] = ("value",) if isinstance(node, ast.AnnAssign) else ()
    elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
        fields = ("body",)
    elif _called(node) == "zip":
        fields = ("args",)  # that both are as long is a help for whoever writes the checker
    else:
        fields = node._fields
    for field in fields:
        child = getattr(node, field, None)
        if isinstance(child, ast.AST):
            yield from _places(child, name, (*where, field))
        elif isinstance(child, list):
            for index, part in enumerate(child):
                if isinstance(part, ast.AST) and not _means_nothing(node, part):
                    yield from _places(part, name, (*where, field, index))


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _counts_work(node: ast.AST) -> bool:
    """Tell whether this only says, or counts, how much work there is."""
    if isinstance(node, ast.FunctionDef):
        return node.name.endswith("_work") or node.name in ("limited", *_COUNTING)
    return isinstance(node, ast.Expr) and _called(node.value) in _COUNTING


def _means_nothing(node: ast.AST, part: ast.AST) -> bool:
    """Tell whether this only names limits, patterns and types, or is what a message counts from."""
    if isinstance(node, ast.Module):
        return not isinstance(part, ast.FunctionDef | ast.ClassDef)
    return _called(node) == "enumerate" and isinstance(part, ast.Constant)


def _lines(node: ast.AST) -> frozenset[int]:
    """Return the lines by which it is seen that a node is reached: those of its statement's first part."""
    if isinstance(node, ast.comprehension):
        return frozenset().union(*(_lines(part) for part in (node.target, node.iter, *node.ifs)))
    first = getattr(node, "lineno", 0)
    last = first if isinstance(node, ast.If | ast.For | ast.While) else getattr(node, "end_lineno", first)
    return frozenset(range(first, last + 1))


def _replaced(original: ast.Module, where: tuple[object, ...], new: ast.AST | None) -> ast.Module:
    result = copy.deepcopy(original)
    node: object = result
    for step in where[:-1]:
        node = getattr(node, step) if isinstance(step, str) else node[step]  # type: ignore[index]
    last = where[-1]
    if isinstance(last, str):
        setattr(node, last, new)
    else:
        node[last] = ast.Pass() if new is None else new  # type: ignore[index]
    return result


def _changes(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare():
            yield from _comparisons(node)
        case ast.BoolOp(values=values):
            for index, operand in enumerate(values):
                rest = [value for value in values if value is not operand]
                yield f"without operand {index + 1}", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.Compare | ast.BoolOp):
            yield from _fixed_tests(node)
        case ast.comprehension(ifs=[_, *_]):
            changed = copy.deepcopy(node)
            changed.ifs = []
            yield "all of them", changed
        case ast.Raise() | ast.Return() | ast.Continue() | ast.Break() | ast.AugAssign():
            yield f"no {type(node).__name__.lower()}", None
        case ast.Expr(value=ast.Call()):
            yield "no call", None
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "without sign", operand
        case ast.Call(func=ast.Name(id=name)) if name in _OTHERS:
            changed_call = copy.deepcopy(node)
            changed_call.func = ast.Name(_OTHERS[name], ast.Load())
            yield _OTHERS[name], changed_call
        case ast.BinOp() | ast.Constant():
            yield from _numbers(node)


def _numbers(node: ast.BinOp | ast.Constant) -> Iterator[Change]:
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub() as operator) if not isinstance(node.left, ast.JoinedStr):
            yield "other sign", ast.BinOp(node.left, _OPERATORS[type(operator)](), node.right)
        case ast.BinOp(op=ast.Mult()):
            yield "without factor 1", node.right
            yield "without factor 2", node.left
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            yield "one more", ast.Constant(number + 1)
            yield "one less", ast.Constant(number - 1)
        case ast.Constant(value=bool() as truth):
            yield "not", ast.Constant(not truth)


def _fixed_tests(node: ast.If | ast.IfExp) -> Iterator[Change]:
    for truth in (True, False):
        changed = copy.copy(node)
        changed.test = ast.Constant(truth)
        if truth or not _only_refuses(node):
            yield f"if {truth}", changed


def _only_refuses(node: ast.If | ast.IfExp) -> bool:
    """Tell whether to drop the one statement of the body is the same change as to make the test false."""
    return isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Raise)


def _comparisons(node: ast.Compare) -> Iterator[Change]:
    yield "True", ast.Constant(True)
    yield "False", ast.Constant(False)
    for index, operator in enumerate(node.ops):
        if type(operator) in _EDGES:
            changed = copy.deepcopy(node)
            changed.ops[index] = _EDGES[type(operator)]()
            yield (
                f"{_NAMES[_EDGES[type(operator)]]} at {index + 1}"
                if index
                else _NAMES[_EDGES[type(operator)]],
                changed,
            )
    if len(node.ops) == 2:
        middle = node.comparators[0]
        yield "without the right", ast.Compare(node.left, node.ops[:1], [middle])
        yield "without the left", ast.Compare(middle, node.ops[1:], node.comparators[1:])
