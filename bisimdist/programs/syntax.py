"""Small things about syntax trees: making nodes, names that are bound, names that are used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def load(name: str) -> ast.Name:
    """Return the node that reads a name."""
    return ast.Name(id=name, ctx=ast.Load())


def store(name: str) -> ast.Name:
    """Return the node that a value is assigned to."""
    return ast.Name(id=name, ctx=ast.Store())


def assign(name: str, value: ast.expr) -> ast.Assign:
    """Return ``name = value``."""
    return ast.Assign(targets=[store(name)], value=value)


def call(function: str, *arguments: ast.expr) -> ast.Call:
    """Return ``function(arguments)``."""
    return ast.Call(func=load(function), args=list(arguments), keywords=[])


def tuple_of(parts: Iterable[ast.expr]) -> ast.Tuple:
    """Return a tuple that is read."""
    return ast.Tuple(elts=list(parts), ctx=ast.Load())


def copy_of(node: ast.AST, place: ast.AST) -> ast.AST:
    """Give a node the place of another, where it has none, and all below it."""
    for inner in ast.walk(node):
        if hasattr(place, "lineno") and "lineno" in inner._attributes and not hasattr(inner, "lineno"):
            ast.copy_location(inner, place)
    return node


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters, in the order in which a function sees them."""
    named = [*arguments.posonlyargs, *arguments.args]
    rest = [arguments.vararg] if arguments.vararg else []
    last = [arguments.kwarg] if arguments.kwarg else []
    return [argument.arg for argument in (*named, *rest, *arguments.kwonlyargs, *last)]


def same_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes that belong to the scope of these, and nested functions without what is in them."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.ClassDef):
            continue
        if isinstance(node, NESTED):
            stack.extend(node.args.defaults)
            stack.extend(default for default in node.args.kw_defaults if default is not None)
        elif isinstance(node, COMPREHENSIONS):
            stack.extend(_outside(node))
        else:
            stack.extend(ast.iter_child_nodes(node))


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a comprehension, but for the names that it binds for itself."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield child.iter
            yield from child.ifs
        else:
            yield child


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements bind in their own scope."""
    names: set[str] = set()
    outside: set[str] = set()
    for node in same_scope(nodes):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(
            node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
        ):
            names.update([node.name] if node.name else [])
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Nonlocal | ast.Global):
            outside.update(node.names)
    return names - outside


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    return [node.body] if isinstance(node, ast.Lambda) else list(node.body)


def free_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Return the names that a nested function takes from outside."""
    own = set(parameters(node.args)) | bound_names(_body(node))
    used: set[str] = set()
    for inner in same_scope(_body(node)):
        if isinstance(inner, ast.Name):
            used.add(inner.id)
        elif isinstance(inner, ast.Nonlocal):
            used.update(inner.names)
        elif isinstance(inner, NESTED):
            used |= free_names(inner)
    return used - own
