"""Comprehensions and calls that go through generators, written out as loops."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable
from typing import Any

from bisimdist.programs.flatten_expression import Expressions
from bisimdist.programs.native import helper
from bisimdist.programs.syntax import assign, bound_names, call, copy_of, load, parameters, store
from bisimdist.programs.vocabulary import BUILTINS

__all__ = ["Comprehensions"]

GOES_THROUGH = ("list", "tuple", "set", "frozenset", "sorted", "sum", "any", "all", "min", "max")


class Comprehensions(Expressions):
    """Makes blocks of comprehensions."""

    def next_turn(self) -> None:
        """Go on with the next turn of the innermost loop."""
        raise NotImplementedError

    def unfolded(self, node: ast.Call) -> ast.expr | None:
        """Write out sum, any and all of a generator that draws, which need not keep what it gives."""
        comprehension = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if isinstance(comprehension, ast.Call) and self.compiler.sources.generates:
            return self._gone_through(node, comprehension)
        if not isinstance(comprehension, ast.GeneratorExp) or not self.suspends(comprehension):
            return None
        known = self.unit.known(node.func)
        if known is sum:
            return self._accumulated(comprehension)
        if known is any or known is all:
            return self._searched(comprehension, until=known is any)
        return None

    def _gone_through(self, node: ast.Call, items: ast.Call) -> ast.expr | None:
        """Write out what goes through all that a call gives, which may be a generator."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if (
            name not in GOES_THROUGH
            or self.unit.known(node.func) is not BUILTINS[name]
            or not self.suspends(items)
        ):
            return None
        item = self.temporary()
        form = ast.GeneratorExp if name in ("sum", "any", "all") else ast.ListComp
        made = form(load(item), [ast.comprehension(store(item), items, [], 0)])
        copy_of(made, node)
        if name == "list":
            return self.value(made)
        return self.call(ast.copy_location(ast.Call(node.func, [made], []), node))

    def _accumulated(self, node: ast.GeneratorExp) -> ast.expr:
        total = self.keep(ast.Constant(0), node).id

        def inside(element: ast.expr) -> None:
            self.emit(assign(total, helper("Add", load(total), self.value(element))), node)

        self._generators(node, lambda names: inside(_renamed(node.elt, names)))
        return load(total)

    def _searched(self, node: ast.GeneratorExp, *, until: bool) -> ast.expr:
        found = self.keep(ast.Constant(not until), node).id
        done = self.block()

        def inside(element: ast.expr) -> None:
            hit, follow = self.block(), self.block()
            self.condition(element, *((hit, follow) if until else (follow, hit)))
            self.current = hit
            self.emit(assign(found, ast.Constant(until)), node)
            self.jump(done)
            self.current = follow

        self._generators(node, lambda names: inside(_renamed(node.elt, names)))
        self.jump(done)
        self.current = done
        return load(found)

    def comprehension(self, node: Any) -> ast.expr:
        kinds = {ast.SetComp: ".set", ast.DictComp: ".dict"}
        result = self.keep(call(kinds.get(type(node), ".list")), node).id

        def inside(names: dict[str, str]) -> None:
            if isinstance(node, ast.DictComp):
                key, value = self.sequence([_renamed(node.key, names), _renamed(node.value, names)])
                self.emit(ast.Assign([ast.Subscript(load(result), key, ast.Store())], value), node)
                return
            element = self.value(_renamed(node.elt, names))
            method = "add" if isinstance(node, ast.SetComp) else "append"
            self.emit(
                ast.Expr(ast.Call(ast.Attribute(load(result), method, ast.Load()), [element], [])), node
            )

        self._generators(node, inside)
        return load(result)

    def _generators(self, node: Any, inside: Callable[[dict[str, str]], None]) -> None:
        names: dict[str, str] = {}
        for part in node.generators:
            for name in bound_names([part.target]):
                names[name] = self.temporary()
        self._generator(node, 0, names, inside)

    def _generator(
        self, node: Any, depth: int, names: dict[str, str], inside: Callable[[dict[str, str]], None]
    ) -> None:
        if depth == len(node.generators):
            inside(names)
            return
        part = node.generators[depth]
        source = part.iter if depth == 0 else _renamed(part.iter, names)
        items = self.temporary()
        self.emit(assign(items, self.items(source)), part.iter)

        def body() -> None:
            for test in part.ifs:
                yes, no = self.block(), self.block()
                self.condition(_renamed(test, names), yes, no)
                self.current = no
                self.next_turn()
                self.current = yes
            self._generator(node, depth + 1, names, inside)

        self.each(items, _renamed(part.target, names), part.iter, body)

    def items(self, node: ast.expr) -> ast.expr:
        """Return plain code for what a loop runs over."""
        fresh = isinstance(node, ast.List | ast.ListComp) or (
            isinstance(node, ast.Call) and self.unit.known(node.func) in (list, sorted, self.compiler.sorted)
        )
        value = self.value(node)
        if fresh:  # nobody else can change it
            value = call(".tuple", value)
        return copy_of(helper("items_of", value), node)  # type: ignore[return-value]


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        given = node.args
        given.defaults = [self.visit(part) for part in given.defaults]
        given.kw_defaults = [part and self.visit(part) for part in given.kw_defaults]
        node.body = _Rename(_without(self.names, parameters(given))).visit(node.body)
        return node

    def _comprehension(self, node: Any) -> Any:
        own = set().union(*(bound_names([part.target]) for part in node.generators))
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        inner = _Rename(_without(self.names, own))
        for name, value in ast.iter_fields(node):
            if name != "generators":
                setattr(node, name, inner.visit(value))
        for part in node.generators:
            part.ifs = [inner.visit(test) for test in part.ifs]
            part.iter = part.iter if part is first else inner.visit(part.iter)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.names:
            return ast.copy_location(ast.Name(self.names[node.id], node.ctx), node)
        return node


def _without(names: dict[str, str], own: Iterable[str]) -> dict[str, str]:
    kept = dict(names)
    for name in own:
        kept.pop(name, None)
    return kept


def _renamed(node: Any, names: dict[str, str]) -> Any:
    return _Rename(names).visit(copy.deepcopy(node))
