"""Expressions with draws inside, taken apart in the order in which Python evaluates them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bisimdist.programs.blocks import Block, Branch, Invoke, Jump
from bisimdist.programs.native import Native, helper
from bisimdist.programs.syntax import NESTED, assign, call, copy_of, load, store
from bisimdist.programs.unit import UNKNOWN

if TYPE_CHECKING:
    from bisimdist.programs.compiler import Compiler
    from bisimdist.programs.unit import Unit


class Expressions:
    """Makes blocks of expressions; what is returned is plain code for their value."""

    def __init__(self, compiler: Compiler, unit: Unit) -> None:
        self.compiler = compiler
        self.unit = unit
        self.native = Native(compiler, unit, segmented=True)
        self.handler: Block | None = None
        self.current = Block()
        self.temporaries: list[str] = []

    def block(self) -> Block:
        """Return a new block under the present handler."""
        return Block(self.handler)

    def jump(self, target: Block) -> None:
        """End the current block by going on with another."""
        if self.current.end is None:
            self.current.end = Jump(target)

    def emit(self, made: ast.stmt, place: ast.AST) -> None:
        """Add a statement of plain code."""
        if self.current.end is None:
            copy_of(made, place)
            self.current.body.append(made)

    def temporary(self) -> str:
        """Return a new name that no program can have."""
        name = f".t{len(self.temporaries)}"
        self.temporaries.append(name)
        return name

    def keep(self, value: ast.expr, place: ast.AST) -> ast.Name:
        """Keep a value under a new name."""
        name = self.temporary()
        self.emit(assign(name, value), place)
        return copy_of(load(name), place)  # type: ignore[return-value]

    def suspends(self, node: ast.AST) -> bool:
        """Tell whether something in a node may draw, or makes a function that lives on."""
        stack = [node]
        while stack:
            part = stack.pop()
            if isinstance(part, NESTED):
                if part not in self.unit.callbacks:
                    return True
                continue
            if isinstance(part, ast.ClassDef):
                continue
            if isinstance(part, ast.NamedExpr) and part.target.id in self.unit.cells:
                return True
            if isinstance(part, ast.Yield | ast.YieldFrom | ast.With) or (
                isinstance(part, ast.Call) and self.compiler.suspends(part, self.unit)
            ):
                return True
            if isinstance(part, ast.For | ast.comprehension) and self._may_generate(part.iter):
                return True
            stack.extend(ast.iter_child_nodes(part))
        return False

    def _may_generate(self, items: ast.expr) -> bool:
        """Tell whether a loop may go through a generator that draws."""
        return self.compiler.sources.generates and isinstance(items, ast.Name | ast.Attribute | ast.Subscript)

    def value(self, node: ast.expr) -> ast.expr:
        """Return plain code for the value of an expression."""
        if not self.suspends(node):
            return self.native.visit(copy.deepcopy(node))  # type: ignore[no-any-return]
        makers: dict[type[ast.expr], Callable[..., ast.expr]] = {
            ast.Call: self.call,
            ast.BoolOp: self._bool,
            ast.IfExp: self._choice,
            ast.Compare: self._compare,
            ast.NamedExpr: self._named,
            ast.Lambda: self.closure,
            ast.ListComp: self.comprehension,
            ast.SetComp: self.comprehension,
            ast.DictComp: self.comprehension,
            ast.GeneratorExp: self.comprehension,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield_from,
        }
        make = makers.get(type(node), self._parts)
        return copy_of(make(node), node)  # type: ignore[return-value]

    def sequence(self, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        """Return plain code for expressions that are evaluated one after another."""
        last = max((k for k, node in enumerate(nodes) if self.suspends(node)), default=-1)
        made = []
        for k, node in enumerate(nodes):
            value = self.value(node)
            if k < last and not self._stable(value, nodes[k + 1 :]):
                if isinstance(value, ast.Starred):
                    value = ast.Starred(
                        self.keep(ast.Call(load(".tuple"), [value.value], []), node), ast.Load()
                    )
                else:
                    value = self.keep(value, node)
            made.append(value)
        return made

    def _stable(self, value: ast.expr, later: Sequence[ast.expr]) -> bool:
        """Tell whether a value may as well be read later."""
        if isinstance(value, ast.Constant):
            return True
        if not isinstance(value, ast.Name):
            return False
        return not any(
            isinstance(part, ast.NamedExpr) and part.target.id == value.id
            for node in later
            for part in ast.walk(node)
        )

    def _parts(self, node: ast.expr) -> ast.expr:
        """Take apart an expression that evaluates all of its parts, from left to right."""
        made = copy.copy(node)
        places: list[tuple[str, int | None]] = []
        parts: list[ast.expr] = []
        for name, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            for k, child in enumerate(children):
                if isinstance(child, ast.expr):
                    places.append((name, k if isinstance(value, list) else None))
                    parts.append(child)
        if isinstance(node, ast.Dict):
            return self._dict(node)
        if isinstance(node, ast.FormattedValue | ast.Slice) and len(parts) > 1 and self.suspends(parts[-1]):
            self.native.refuse(node, "a format or slice draws", "draw before it, into a variable")
        for (name, index), value in zip(places, self.sequence(parts), strict=True):
            if index is None:
                setattr(made, name, value)
            else:
                setattr(made, name, [*getattr(made, name)])
                getattr(made, name)[index] = value
        return self._checked(made)

    def _checked(self, made: ast.expr) -> ast.expr:
        """Put the checks of plain code around what has been taken apart."""
        if isinstance(made, ast.BinOp) and type(made.op).__name__ in ("Mult", "Add", "Div", "Pow", "LShift"):
            return helper(type(made.op).__name__, made.left, made.right)
        if isinstance(made, ast.Starred):
            made.value = helper("over", made.value)
        elif isinstance(made, ast.FormattedValue):
            made.value = helper("shown", made.value)
        return made

    def _dict(self, node: ast.Dict) -> ast.expr:
        if any(key is None for key in node.keys):
            self.native.refuse(
                node, "a draw stands beside ** in a dictionary", "draw before it, into a variable"
            )
        flat = [
            part for pair in zip(node.keys, node.values, strict=True) for part in pair if part is not None
        ]
        made = self.sequence(flat)
        return ast.Dict(list(made[::2]), list(made[1::2]))

    # conditions

    def condition(self, node: ast.expr, yes: Block, no: Block) -> None:
        if isinstance(node, ast.Constant):
            self.jump(yes if node.value else no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.condition(node.operand, no, yes)
        elif isinstance(node, ast.BoolOp) and self.suspends(node):
            for part in node.values[:-1]:
                follow = self.block()
                if isinstance(node.op, ast.And):
                    self.condition(part, follow, no)
                else:
                    self.condition(part, yes, follow)
                self.current = follow
            self.condition(node.values[-1], yes, no)
        else:
            test = self.value(node)
            if self.current.end is None:
                self.current.end = Branch(copy_of(test, node), yes, no)  # type: ignore[arg-type]

    def _bool(self, node: ast.BoolOp) -> ast.expr:
        result, after = self.temporary(), self.block()
        for k, part in enumerate(node.values):
            self.emit(assign(result, self.value(part)), part)
            if k + 1 < len(node.values):
                follow = self.block()
                both = (follow, after) if isinstance(node.op, ast.And) else (after, follow)
                self.current.end = Branch(load(result), *both)
                self.current = follow
        self.jump(after)
        self.current = after
        return load(result)

    def _choice(self, node: ast.IfExp) -> ast.expr:
        result, yes, no, after = self.temporary(), self.block(), self.block(), self.block()
        self.condition(node.test, yes, no)
        for block, part in ((yes, node.body), (no, node.orelse)):
            self.current = block
            self.emit(assign(result, self.value(part)), part)
            self.jump(after)
        self.current = after
        return load(result)

    def _compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1:
            return self._parts(node)
        result, after = self.temporary(), self.block()
        left: ast.expr = self.keep(self.value(node.left), node)
        for k, (op, part) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.keep(self.value(part), part)
            self.emit(assign(result, ast.Compare(left, [op], [right])), node)
            if k + 1 < len(node.ops):
                follow = self.block()
                self.current.end = Branch(load(result), follow, after)
                self.current = follow
            left = right
        self.jump(after)
        self.current = after
        return load(result)

    def _named(self, node: ast.NamedExpr) -> ast.expr:
        value = self.keep(self.value(node.value), node)
        target = self.native.visit(ast.copy_location(store(node.target.id), node))
        self.emit(ast.Assign([target], value), node)
        return value

    # calls

    def call(self, node: ast.Call) -> ast.expr:
        unfolded = self.unfolded(node)
        if unfolded is not None:
            return unfolded
        function = node.func
        method = isinstance(function, ast.Attribute) and self.unit.known(function) is UNKNOWN
        first = function.value if method else function  # type: ignore[attr-defined]
        parts = [first, *node.args, *(keyword.value for keyword in node.keywords)]
        later_suspend = any(self.suspends(part) for part in parts[1:])
        if method and later_suspend and not isinstance(first, ast.Name):
            owner: ast.expr = self.keep(self.value(first), node)
            made = [owner, *self.sequence(parts[1:])]
        else:
            made = self.sequence(parts)
        keywords = [
            ast.keyword(old.arg, value)
            for old, value in zip(node.keywords, made[1 + len(node.args) :], strict=True)
        ]
        arguments = made[1 : 1 + len(node.args)]
        called = made[0]
        if method:
            called = self._method(made[0], function)  # type: ignore[arg-type]
        if not self.compiler.suspends(node, self.unit):
            return self._checked_call(ast.Call(called, arguments, keywords), function)
        result, then = self.temporary(), self.block()
        if self.current.end is None:
            for part in (called, *arguments, *keywords):
                copy_of(part, node)
            self.current.end = Invoke(result, called, arguments, keywords, then, node.lineno)
        self.current = then
        return load(result)

    def invoke(self, function: str, argument: ast.expr, node: ast.AST) -> ast.expr:
        """Let the machine do something with a value, and return what comes of it."""
        result, then = self.temporary(), self.block()
        if self.current.end is None:
            parts = [copy_of(part, node) for part in (load(function), argument)]
            self.current.end = Invoke(result, parts[0], [parts[1]], [], then, getattr(node, "lineno", 0))  # type: ignore[arg-type, list-item]
        self.current = then
        return load(result)

    def _yield(self, node: ast.Yield) -> ast.expr:
        value = self.value(node.value) if node.value is not None else ast.Constant(None)
        return self.invoke(".yield", value, node)

    def _yield_from(self, node: ast.YieldFrom) -> ast.expr:
        items, item = self.temporary(), self.temporary()
        self.emit(assign(items, self.items(node.value)), node)
        self.each(items, store(item), node, self._yielding(load(item), node))
        return ast.Constant(None)

    def _yielding(self, item: ast.expr, node: ast.AST) -> Callable[[], None]:
        def inside() -> None:
            self.invoke(".yield", item, node)

        return inside

    def _method(self, owner: ast.expr, function: ast.Attribute) -> ast.expr:
        shape = ast.copy_location(ast.Attribute(load(".owner"), function.attr, ast.Load()), function)
        made = self.native.visit(shape)
        made.value = owner
        return made  # type: ignore[no-any-return]

    def _checked_call(self, made: ast.Call, function: ast.expr) -> ast.expr:
        """Return a call of what cannot draw, whose arguments did."""
        known = self.unit.known(function)
        if known is UNKNOWN and isinstance(made.func, ast.Attribute) and made.func.attr in ("pop", "join"):
            return helper(made.func.attr, made.func.value, *made.args)
        if known in (list, tuple) and made.args:
            made.args[0] = helper("over", made.args[0])
        elif known is str and made.args:
            made.args[0] = helper("shown", made.args[0])
        return made

    if TYPE_CHECKING:  # what classes on this one know

        def unfolded(self, node: ast.Call) -> ast.expr | None: ...
        def comprehension(self, node: Any) -> ast.expr: ...
        def items(self, node: ast.expr) -> ast.expr: ...
        def each(self, items: str, target: ast.expr, node: ast.AST, inside: Callable[[], None]) -> None: ...
        def next_turn(self) -> None: ...

    def closure(self, node: ast.FunctionDef | ast.Lambda) -> ast.expr:
        """Return plain code that makes a function."""
        code = self.compiler.nested(node, self.unit)
        inner = self.compiler.unit_of_node(node, self.unit)
        cells: list[ast.expr] = [load(name) for name in inner.taken]
        given = [*node.args.defaults, *(default for default in node.args.kw_defaults if default is not None)]
        defaults = self.sequence(given)
        make = call(
            ".closure",
            load(self.compiler.keep(code)),
            ast.Tuple(cells, ast.Load()),
            ast.Tuple(defaults, ast.Load()),
        )
        return copy_of(make, node)  # type: ignore[return-value]
