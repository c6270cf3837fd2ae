"""Code without a draw inside, as plain Python: names become what they mean, operators what is checked."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from bisimdist.programs.code import LEAVE
from bisimdist.programs.syntax import (
    COMPREHENSIONS,
    NESTED,
    bound_names,
    call,
    copy_of,
    load,
    parameters,
    same_scope,
    store,
    tuple_of,
)
from bisimdist.programs.unit import UNKNOWN

if TYPE_CHECKING:
    from bisimdist.programs.compiler import Compiler
    from bisimdist.programs.unit import Unit

HELPER_PREFIX = ".h_"

_CHECKED = {"Mult", "Add", "Div", "Pow", "LShift"}
_ORDER_SHOWS = (list, tuple, deque)
_NO_ORDER = ("sum", "any", "all", "set", "frozenset", "sorted", "min", "max", "len")
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Global: (
        "it declares a global variable",
        "keep the value in a variable of the function, or return it",
    ),
    ast.Await: ("it uses 'await'", "write an ordinary function"),
    ast.AsyncFunctionDef: ("it uses 'async'", "write an ordinary function"),
    ast.AsyncFor: ("it uses 'async'", "write an ordinary loop"),
    ast.AsyncWith: ("it uses 'async'", "write an ordinary function"),
    ast.TryStar: ("it uses 'except*'", "write 'except'"),
}

_HEADS, _TAILS = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


def helper(name: str, *arguments: ast.expr) -> ast.Call:
    """Return the call of one of our helpers."""
    return call(HELPER_PREFIX + name, *arguments)


def refuse_forms(compiler: Compiler, unit: Unit) -> None:
    """Refuse statements and expressions of a function that the subset does not have.

    Raises ModelError, naming the first.
    """
    nodes = [node for part in unit.body for node in ast.walk(part)]
    for node in nodes:
        coin = coin_of(node, lambda name: None if unit.is_variable(name) else unit.space.get(name))
        if coin is not None:
            compiler.refuse(node, unit, *coin)
    refused = [node for node in nodes if type(node) in _REFUSED]
    if unit.generates:
        for node in same_scope(unit.body):
            if isinstance(node, ast.Return) and node.value is not None:
                compiler.refuse(
                    node, unit, "a generator returns a value", "yield it, or write 'return' alone"
                )
            if isinstance(node, ast.With) or (isinstance(node, ast.Try) and node.finalbody):
                compiler.refuse(node, unit, "a generator cleans up after itself", "do it where the loop is")
    if refused:
        first = min(refused, key=lambda node: getattr(node, "lineno", 0))
        compiler.refuse(first, unit, *_REFUSED[type(first)])


class Native(ast.NodeTransformer):
    """Rewrites code of a function that cannot draw.

    segmented: whether the code becomes part of a segment, so that ``return`` ends one.
    """

    def __init__(self, compiler: Compiler, unit: Unit, *, segmented: bool) -> None:
        self.compiler = compiler
        self.unit = unit
        self.segmented = segmented
        self._inner: list[set[str]] = []
        self._unordered = False

    def refuse(self, node: ast.AST, what: str, instead: str) -> NoReturn:
        """Refuse a part of the function."""
        self.compiler.refuse(node, self.unit, what, instead)

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node, and give what is new its place."""
        made = super().visit(node)
        if isinstance(made, ast.AST):
            copy_of(made, node)
        elif isinstance(made, list):
            for part in made:
                copy_of(part, node)
        return made

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for node in body:
            found = self.visit(node)
            made.extend(found if isinstance(found, list) else [found] if found is not None else [])
        return made or [ast.copy_location(ast.Pass(), body[0])] if body else []

    # names and constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if any(node.id in names for names in self._inner):
            return node
        if self.unit.is_variable(node.id) or node.id.startswith("."):
            if node.id not in self.unit.cells:
                return node
            value = ast.Attribute(load(node.id), "value", node.ctx)
            if isinstance(node.ctx, ast.Load):
                return helper("bound", value, ast.Constant(node.id))
            if isinstance(node.ctx, ast.Del):
                self.refuse(node, "it deletes a variable that functions share", "set it to None")
            return value
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.value(self.unit.global_value(node.id, node), node)

    def value(self, value: Any, node: ast.AST) -> ast.expr:
        """Return the name under which generated code finds a value of the module."""
        return load(self.compiler.alias(value, node, self.unit))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, float | complex):
            self.refuse(
                node,
                f"the constant {node.value!r} is a {type(node.value).__name__}",
                f"write Fraction('{node.value}')",
            )
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node = self._inside(node)
        node.value = helper("shown", node.value)
        return node

    def _inside(self, node: Any) -> Any:
        return super().generic_visit(node)

    # operators

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node = self._inside(node)
        name = type(node.op).__name__
        small = any(
            isinstance(side, ast.Constant) and type(side.value) is int for side in (node.left, node.right)
        )
        if name not in _CHECKED or (name == "Add" and small):
            return node
        return helper(name, node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        name = type(node.op).__name__
        if name not in _CHECKED or not isinstance(node.target, ast.Name):
            return self._inside(node)  # type: ignore[no-any-return]
        read = self.visit(ast.copy_location(load(node.target.id), node.target))
        value = helper(f"i{name}", read, self.visit(node.value))
        return ast.Assign(targets=[self.visit(node.target)], value=value)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node = self._inside(node)
        sides = (node.left, *node.comparators)
        for k, op in enumerate(node.ops):
            pair = sides[k : k + 2]
            if isinstance(op, ast.Is | ast.IsNot) and not any(
                isinstance(side, ast.Constant) for side in pair
            ):
                if len(node.ops) > 1:
                    self.refuse(node, "it chains 'is'", "write the comparisons one by one")
                same = helper("same", *pair)
                return same if isinstance(op, ast.Is) else ast.UnaryOp(ast.Not(), same)
        return node

    # attributes and calls

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            known = self.unit.known(node)
            if known is not UNKNOWN:
                return self.value(known, node)
        if node.attr.startswith("__"):
            if node.attr.endswith("__") and node.attr not in ("__init__", "__enter__", "__exit__"):
                self.refuse(node, f"it uses {node.attr}", "use the operation that it stands for")
            if self.unit.owner is not None and not node.attr.endswith("__"):
                node.attr = f"_{self.unit.owner.__name__.lstrip('_')}{node.attr}"
        return self._inside(node)  # type: ignore[no-any-return]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super" and not node.args:
            return self._super(node)
        known = self.unit.known(function)
        name = getattr(known, "__name__", "") if known is not UNKNOWN else ""
        before, self._unordered = self._unordered, name in _NO_ORDER and not node.keywords
        node = self._inside(node)
        self._unordered = before
        if known is UNKNOWN and isinstance(function, ast.Attribute) and isinstance(node.func, ast.Attribute):
            if function.attr == "pop" and not node.keywords:
                return helper("pop", node.func.value, *node.args)
            if function.attr == "join" and len(node.args) == 1:
                return helper("join", node.func.value, *node.args)
            if function.attr in ("extend", "fromkeys", "update", "appendleft"):
                node.args = [
                    helper("over", part) if function.attr != "update" else part for part in node.args
                ]
        if any(known is kind for kind in _ORDER_SHOWS):
            node.args[:1] = [helper("over", part) for part in node.args[:1]]
        elif known is str:
            node.args[:1] = [helper("shown", part) for part in node.args[:1]]
        return node

    def _super(self, node: ast.Call) -> ast.expr:
        if self.unit.owner is None or not self.unit.parameters:
            self.refuse(node, "super() stands outside a method", "name the class")
        first = self.visit(ast.copy_location(load(self.unit.parameters[0]), node))
        owner = self.value(self.unit.owner, node)
        return ast.Call(self.value(super, node), [owner, first], [])

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        node = self._inside(node)
        if isinstance(node.ctx, ast.Load):
            node.value = helper("over", node.value)
        return node

    # comprehensions and lambdas

    def _comprehension(self, node: Any) -> ast.expr:
        unordered = self._unordered or isinstance(node, ast.SetComp)
        names = bound_names([part.target for part in node.generators])
        first = node.generators[0]  # Python evaluates what it goes through outside
        around, first.iter = self.visit(first.iter), ast.Constant(None)
        self._inner.append(names)
        made = self._inside(node)
        self._inner.pop()
        first.iter = around
        if not unordered:
            for part in made.generators:
                part.iter = copy_of(helper("over", part.iter), part.iter)
        return made  # type: ignore[no-any-return]

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        node.args = self._inside(node.args)  # defaults belong to what is around
        self._inner.append(set(parameters(node.args)))
        node.body = self.visit(node.body)
        self._inner.pop()
        return node

    # statements

    def visit_For(self, node: ast.For) -> ast.stmt:
        node = self._inside(node)
        node.iter = helper("over", node.iter)
        node.body.insert(0, ast.Expr(call(".tick")))
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        node = self._inside(node)
        node.body.insert(0, ast.Expr(call(".tick")))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        node = self._inside(node)
        unpacked = any(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
        if unpacked and not isinstance(node.value, ast.Tuple | ast.List):
            node.value = helper("over", node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        if node.value is None:
            return None
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))  # type: ignore[no-any-return]

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        value = self.visit(node.value) if node.value is not None else ast.Constant(None)
        return ast.Return(tuple_of([ast.Constant(LEAVE), value]) if self.segmented else value)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        made = self.value(self.compiler.local_class(node, self.unit), node)
        return ast.Assign([self.visit(ast.copy_location(store(node.name), node))], made)

    def visit_Nonlocal(self, _: ast.Nonlocal) -> None:
        return None

    def visit_Import(self, _: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, _: ast.ImportFrom) -> None:
        return None

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        for inner in (inner for part in node.finalbody for inner in ast.walk(part)):
            if isinstance(inner, ast.Return | ast.Break | ast.Continue):
                self.refuse(inner, "it leaves a 'finally'", "leave after the try statement")
        for handler in node.handlers:
            handler.type = self.caught(handler)
        return self._inside(node)  # type: ignore[no-any-return]

    def caught(self, handler: ast.ExceptHandler) -> ast.expr:
        """Return what a handler catches; a bare one catches what programs raise."""
        name, kind = handler.name, handler.type
        if name and (name in self.unit.cells or self._outlives(name)):
            self.refuse(handler, f"{name} is used where the exception is gone", "give it another name")
        if kind is None or (isinstance(kind, ast.Name) and kind.id == "BaseException"):
            return ast.copy_location(load("Exception"), handler)
        return kind

    def _outlives(self, name: str) -> bool:
        """Tell whether the name of an exception is used outside of its handlers, which delete it."""
        stack: list[ast.AST] = list(self.unit.body)
        for node in stack:
            if isinstance(node, ast.Name) and node.id == name:
                return True
            if getattr(node, "name", None) != name and not isinstance(node, (*NESTED, *COMPREHENSIONS)):
                stack.extend(ast.iter_child_nodes(node))
        return name in self.unit.parameters

    def _setting(self, node: Any) -> ast.AST:
        named = node.target.id if isinstance(node, ast.NamedExpr) else getattr(node, "name", None)
        if {named, getattr(node, "rest", None)} & self.unit.cells:
            self.refuse(node, "it sets a variable that functions share", "assign it in a line of its own")
        return self._inside(node)  # type: ignore[no-any-return]

    visit_NamedExpr = visit_MatchAs = visit_MatchStar = visit_MatchMapping = _setting

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        self.refuse(node, "it matches a class", "write isinstance(...)")


def coin_of(node: ast.AST, constant: Callable[[str], object]) -> tuple[str, str] | None:
    """Return what is wrong with ``rng.random() < 0.75``, and the coin to write instead; None of other code.

    node: any part of a program.
    constant: returns what a name means in the module, or None.

    >>> coin_of(ast.parse("rng.random() < 0.75", mode="eval").body, {}.get)[1]
    "write rng.flip('3/4')"
    >>> coin_of(ast.parse("P <= random.random()", mode="eval").body, {"P": 0.1}.get)[1]
    "write not rng.flip('1/10'), with a parameter rng"
    """
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], _HEADS + _TAILS) or len(node.ops) > 1:
        return None
    drawn, against, heads = node.left, node.comparators[0], isinstance(node.ops[0], _HEADS)
    if not _draws(drawn):
        drawn, against, heads = against, drawn, not heads
    chance = constant(against.id) if isinstance(against, ast.Name) else getattr(against, "value", None)
    if not _draws(drawn) or not isinstance(chance, float) or not 0 <= chance <= 1:
        return None
    owner = ast.unparse(drawn).removesuffix("random()").removesuffix(".")
    plain = owner.isidentifier() and owner != "random"
    missing = "" if plain else ", with a parameter rng"
    coin = f"{'' if heads else 'not '}{owner if plain else 'rng'}.flip('{Fraction(str(chance))}')"
    return f"it compares floats: {ast.unparse(node)}", f"write {coin}{missing}"


def _draws(node: ast.expr) -> bool:
    """Tell whether it is a call of ``random()``, of whatever source."""
    return isinstance(node, ast.Call) and not node.args and ast.unparse(node.func).endswith("random")
