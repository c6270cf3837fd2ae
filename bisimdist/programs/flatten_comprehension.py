"""Comprehensions and calls that go through generators, written out as loops."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from bisimdist.programs.flatten_expression import Expressions
from bisimdist.programs.native import helper
from bisimdist.programs.renaming import renamed
from bisimdist.programs.syntax import assign, bound_names, call, copy_of, load, store
from bisimdist.programs.vocabulary import BUILTINS

GOES_THROUGH = ("list", "tuple", "set", "frozenset", "sorted", "sum", "any", "all", "min", "max")


class Comprehensions(Expressions):
    """Makes blocks of comprehensions."""

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

        self._generators(node, lambda names: inside(renamed(node.elt, names)))
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

        self._generators(node, lambda names: inside(renamed(node.elt, names)))
        self.jump(done)
        self.current = done
        return load(found)

    def comprehension(self, node: Any) -> ast.expr:
        kinds = {ast.SetComp: ".set", ast.DictComp: ".dict"}
        result = self.keep(call(kinds.get(type(node), ".list")), node).id

        def inside(names: dict[str, str]) -> None:
            if isinstance(node, ast.DictComp):
                key, value = self.sequence([renamed(node.key, names), renamed(node.value, names)])
                self.emit(ast.Assign([ast.Subscript(load(result), key, ast.Store())], value), node)
                return
            element = self.value(renamed(node.elt, names))
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
        source = part.iter if depth == 0 else renamed(part.iter, names)
        items = self.temporary()
        self.emit(assign(items, self.items(source)), part.iter)

        def body() -> None:
            for test in part.ifs:
                yes, no = self.block(), self.block()
                self.condition(renamed(test, names), yes, no)
                self.current = no
                self.next_turn()
                self.current = yes
            self._generator(node, depth + 1, names, inside)

        self.each(items, renamed(part.target, names), part.iter, body)

    def items(self, node: ast.expr) -> ast.expr:
        """Return plain code for what a loop runs over."""
        fresh = isinstance(node, ast.List | ast.ListComp) or (
            isinstance(node, ast.Call) and self.unit.known(node.func) in (list, sorted, self.compiler.sorted)
        )
        value = self.value(node)
        if fresh:  # nobody else can change it
            value = call(".tuple", value)
        return copy_of(helper("items_of", value), node)  # type: ignore[return-value]
