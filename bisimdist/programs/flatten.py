"""A function that draws, statement by statement, as blocks."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from bisimdist.programs.blocks import Block, Branch, Leave
from bisimdist.programs.flatten_comprehension import Comprehensions
from bisimdist.programs.native import helper
from bisimdist.programs.syntax import COMPREHENSIONS, assign, call, copy_of, load, store

if TYPE_CHECKING:
    from bisimdist.programs.compiler import Compiler
    from bisimdist.programs.unit import Unit


@dataclass(frozen=True)
class _Loop:
    """Where ``break`` and ``continue`` of a loop lead."""

    at_break: Block
    at_continue: Block


@dataclass(frozen=True)
class _Finally:
    """What has to be done on the way out, and which handler holds then."""

    body: Sequence[ast.stmt]
    handler: Block | None


class Flattener(Comprehensions):
    """Makes blocks of the statements of a function."""

    def __init__(self, compiler: Compiler, unit: Unit) -> None:
        super().__init__(compiler, unit)
        self._around: list[_Loop | _Finally] = []
        self._raising: list[str] = []

    def run(self) -> Block:
        """Return the first block of the function."""
        first = self.current
        for name in sorted(self.unit.cells - set(self.unit.taken)):
            value = [load(name)] if name in self.unit.parameters else []
            self.emit(assign(name, call(".cell", *value)), self.unit.node)
        self.body(self.unit.body)
        self._leave(ast.Constant(None), self.unit.node)
        return first

    def _leave(self, value: ast.expr, node: ast.AST) -> None:
        if self.current.end is None:
            self.current.end = Leave(copy_of(value, node))  # type: ignore[arg-type]

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Make blocks of statements; what cannot be reached is left out."""
        for node in statements:
            if self.current.end is not None:
                return
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        """Make blocks of one statement, or keep it as it is where nothing in it draws."""
        if self._plain(node):
            for made in self.native.statements([copy.deepcopy(node)]):
                self.emit(made, node)
            if isinstance(node, ast.Return | ast.Raise):
                self.current.end = Leave(None)
            return
        makers: dict[type[ast.stmt], Callable[..., None]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.Return: self._return,
            ast.If: self._if,
            ast.While: self._while,
            ast.For: self._for,
            ast.Break: self._break,
            ast.Continue: self._continue,
            ast.Try: self._try,
            ast.Assert: self._assert,
            ast.Raise: self._raise,
            ast.FunctionDef: self._function,
            ast.With: self._with,
            ast.Match: self._match,
            ast.Delete: self._delete,
        }
        make = makers.get(type(node))
        if make is None:
            kind = type(node).__name__.lower()
            self.native.refuse(node, f"a statement of kind {kind} draws", "draw before it, into a variable")
        make(node)

    def _plain(self, node: ast.stmt) -> bool:
        if self.suspends(node):
            return False
        return not _escapes(node, any(isinstance(part, _Finally) for part in self._around))

    # simple statements

    def _expression(self, node: ast.Expr) -> None:
        value = self.value(node.value)
        if not isinstance(value, ast.Name | ast.Constant):
            self.emit(ast.Expr(value), node)

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        if any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
            value = copy_of(helper("over", value), node)  # type: ignore[assignment]
        if any(self.suspends(target) for target in node.targets):
            value = self.keep(value, node)
        targets = [self._target(target) for target in node.targets]
        self.emit(ast.Assign(targets, value), node)

    def _target(self, node: ast.expr, *, stay: bool = False) -> ast.expr:
        """Return what is assigned to, as plain code; with `stay` all of its parts are looked at now."""
        if not stay and not self.suspends(node):
            return self.native.visit(copy.deepcopy(node))  # type: ignore[no-any-return]
        if isinstance(node, ast.Attribute):
            made = self.native.visit(copy.deepcopy(node)) if not self.suspends(node) else copy.copy(node)
            made.value = self.keep(self.value(node.value), node)
            return made
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            owner, index = (self.keep(part, node) for part in self.sequence([node.value, node.slice]))
            return ast.Subscript(owner, index, ast.Store())
        if isinstance(node, ast.Subscript) and not self.suspends(node):
            return self.native.visit(copy.deepcopy(node))  # type: ignore[no-any-return]
        return self._refused_target(node)

    def _refused_target(self, node: ast.expr) -> NoReturn:
        self.native.refuse(node, "a draw stands in such a target", "draw before it, into a variable")

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            made = self._target(target)
            if isinstance(made, ast.Subscript | ast.Attribute):
                made.ctx = ast.Del()
            self.emit(ast.Delete([made]), node)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self.keep(self.native.visit(_as_read(node.target)), node)
            value = self.value(node.value)
            made = ast.AugAssign(store(before.id), node.op, value)
            self._in_place(made, node)
            target = self.native.visit(copy.deepcopy(node.target))
            self.emit(ast.Assign([target], load(before.id)), node)
            return
        target = self._target(node.target, stay=True)  # its parts come first, as in Python
        before = self.keep(_as_read(target), node)
        value = self.value(node.value)
        self._in_place(ast.AugAssign(store(before.id), node.op, value), node)
        self.emit(ast.Assign([target], load(before.id)), node)

    def _in_place(self, made: ast.AugAssign, node: ast.stmt) -> None:
        name = type(made.op).__name__
        if name in ("Mult", "Add", "Div", "Pow", "LShift"):
            target: ast.Name = made.target  # type: ignore[assignment]
            self.emit(assign(target.id, helper(f"i{name}", load(target.id), made.value)), node)
        else:
            self.emit(made, node)

    def _return(self, node: ast.Return) -> None:
        value = self.value(node.value) if node.value is not None else ast.Constant(None)
        if any(isinstance(part, _Finally) for part in self._around):
            value = self.keep(value, node)
            self._unwind(0)
        self._leave(value, node)

    def _raise(self, node: ast.Raise) -> None:
        error = self.value(node.exc) if node.exc is not None else None
        if error is None and self._raising:
            error = load(self._raising[-1])
        self.emit(ast.Raise(error, None), node)
        self.current.end = Leave(None)

    def _assert(self, node: ast.Assert) -> None:
        failed = ast.Raise(
            ast.Call(ast.Name("AssertionError", ast.Load()), [node.msg] if node.msg else [], []), None
        )
        copy_of(failed, node)
        test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node)
        self._if(ast.copy_location(ast.If(test, [failed], []), node))

    def _function(self, node: ast.FunctionDef) -> None:
        made = self.closure(node)
        target = self.native.visit(ast.copy_location(store(node.name), node))
        self.emit(ast.Assign([target], made), node)

    # branches and loops

    def _match(self, node: ast.Match) -> None:
        """Let plain code find the case, and write the cases as branches."""
        if any(case.guard is not None and self.suspends(case.guard) for case in node.cases):
            self.native.refuse(
                node, "a draw stands in the guard of a case", "draw before it, into a variable"
            )
        subject = self.keep(self.value(node.subject), node)
        chosen = self.temporary()
        cases = [
            ast.match_case(case.pattern, case.guard, [assign(chosen, ast.Constant(k))])
            for k, case in enumerate(node.cases)
        ]
        self.emit(assign(chosen, ast.Constant(-1)), node)
        self.statement(copy_of(ast.Match(subject, cases), node))  # type: ignore[arg-type]
        rest: list[ast.stmt] = []
        for k, case in reversed(list(enumerate(node.cases))):
            test = ast.Compare(load(chosen), [ast.Eq()], [ast.Constant(k)])
            rest = [ast.If(test, case.body, rest)]
        self.body([copy_of(part, node) for part in rest])  # type: ignore[misc]

    def _if(self, node: ast.If) -> None:
        yes, no, after = self.block(), self.block(), self.block()
        self.condition(node.test, yes, no)
        for block, body in ((yes, node.body), (no, node.orelse)):
            self.current = block
            self.body(body)
            self.jump(after)
        self.current = after

    def _while(self, node: ast.While) -> None:
        head, inside, end, after = self.block(), self.block(), self.block(), self.block()
        self.jump(head)
        self.current = head
        self.emit(ast.Expr(call(".tick")), node)
        self.condition(node.test, inside, end)
        self._around.append(_Loop(after, head))
        self.current = inside
        self.body(node.body)
        self.jump(head)
        self._around.pop()
        self.current = end
        self.body(node.orelse)
        self.jump(after)
        self.current = after

    def _for(self, node: ast.For) -> None:
        items = self.temporary()
        self.emit(assign(items, self.items(node.iter)), node)
        self.each(items, node.target, node, lambda: self.body(node.body), node.orelse)

    def each(
        self,
        items: str,
        target: ast.expr,
        node: ast.AST,
        inside: Callable[[], None],
        orelse: Sequence[ast.stmt] = (),
    ) -> None:
        """Make the blocks of a loop over items that are kept under a name."""
        head, body, end, after = self.block(), self.block(), self.block(), self.block()
        self.jump(head)
        self.current = head
        self.emit(ast.Expr(call(".tick")), node)
        step = self.temporary()
        if self.compiler.sources.generates:
            other, have = self.block(), self.block()
            self.current.end = Branch(helper("is_generator", load(items)), other, have)
            self.current = other
            self.emit(assign(step, self.invoke(".next", load(items), node)), node)
            test = self.block()
            self.jump(test)
            self.current = have
            self.emit(assign(step, helper("first_and_rest", load(items))), node)
            self.jump(test)
            self.current = test
        else:
            self.emit(assign(step, helper("first_and_rest", load(items))), node)
        self.current.end = Branch(load(step), body, end)
        self.current = body
        pair = ast.Tuple([self.native.visit(copy.deepcopy(target)), store(items)], ast.Store())
        self.emit(ast.Assign([pair], load(step)), node)
        self._around.append(_Loop(after, head))
        inside()
        self.jump(head)
        self._around.pop()
        self.current = end
        self.body(orelse)
        self.jump(after)
        self.current = after

    def next_turn(self) -> None:
        """Go on with the next turn of the innermost loop."""
        self._continue(None)

    def _break(self, _: ast.stmt) -> None:
        self._leave_loop(lambda loop: loop.at_break)

    def _continue(self, _: ast.stmt | None) -> None:
        self._leave_loop(lambda loop: loop.at_continue)

    def _leave_loop(self, where: Callable[[_Loop], Block]) -> None:
        depth = max(k for k, part in enumerate(self._around) if isinstance(part, _Loop))
        loop = self._around[depth]
        self._unwind(depth + 1)
        if isinstance(loop, _Loop):
            self.jump(where(loop))

    def _unwind(self, depth: int) -> None:
        """Do what stands in 'finally' from the innermost outwards."""
        around, handler = self._around, self.handler
        for k in range(len(around) - 1, depth - 1, -1):
            part = around[k]
            if isinstance(part, _Finally) and self.current.end is None:
                self._around, self.handler = around[:k], part.handler
                follow = self.block()
                self.jump(follow)
                self.current = follow
                self.body(part.body)
        self._around, self.handler = around, handler

    # exceptions

    def _try(self, node: ast.Try) -> None:
        if node.finalbody:
            self._try_finally(node)
            return
        outer, after = self.handler, self.block()
        catch = Block(outer, self.temporary())
        self._guarded(catch, node.body, outer)
        self.body(node.orelse)
        self.jump(after)
        self.current = catch
        for handler in node.handlers:
            kind = self.native.visit(copy.deepcopy(self.native.caught(handler)))
            yes, no = self.block(), self.block()
            test = copy_of(call(".isinstance", load(catch.caught), kind), handler)
            self.current.end = Branch(test, yes, no)  # type: ignore[arg-type]
            self.current = yes
            if handler.name:
                target = self.native.visit(ast.copy_location(store(handler.name), handler))
                self.emit(ast.Assign([target], load(catch.caught)), handler)
            self._raising.append(catch.caught)
            self.body(handler.body)
            self._raising.pop()
            self.jump(after)
            self.current = no
        self.emit(ast.Raise(load(catch.caught), None), node)
        self.current.end = Leave(None)
        self.current = after

    def _with(self, node: ast.With) -> None:
        """Write 'with' as the try statement that it stands for."""
        item, *others = node.items
        manager = self.keep(self.value(item.context_expr), node)
        entered = self.keep(self.value(_method_of(manager, "__enter__", [], node)), node)
        if item.optional_vars is not None:
            self._assign(ast.copy_location(ast.Assign([item.optional_vars], entered), node))
        left, error = self.temporary(), self.temporary()
        self.emit(assign(left, ast.Constant(False)), node)
        body: list[ast.stmt] = [ast.With(others, node.body)] if others else node.body
        seen = [call("type", load(error)), load(error), ast.Constant(None)]
        swallowed = _method_of(manager, "__exit__", seen, node)
        caught = [
            assign(left, ast.Constant(True)),
            ast.If(ast.UnaryOp(ast.Not(), swallowed), [ast.Raise(None, None)], []),
        ]
        leave = _method_of(manager, "__exit__", [ast.Constant(None)] * 3, node)
        inner = ast.Try(body, [ast.ExceptHandler(load("Exception"), error, caught)], [], [])
        unless = ast.If(ast.UnaryOp(ast.Not(), load(left)), [ast.Expr(leave)], [])
        self.statement(copy_of(ast.Try([inner], [], [], [unless]), node))  # type: ignore[arg-type]

    def _guarded(self, catch: Block, body: Sequence[ast.stmt], outer: Block | None) -> None:
        self.handler = catch
        inside = self.block()
        self.jump(inside)
        self.current = inside
        self.body(body)
        self.handler = outer
        follow = self.block()
        self.jump(follow)
        self.current = follow

    def _try_finally(self, node: ast.Try) -> None:
        outer, after = self.handler, self.block()
        catch = Block(outer, self.temporary())
        self._around.append(_Finally(node.finalbody, outer))
        inner: list[ast.stmt] = node.body
        if node.handlers:
            inner = [ast.copy_location(ast.Try(node.body, node.handlers, node.orelse, []), node)]
        self._guarded(catch, inner, outer)
        self._around.pop()
        self.body(node.finalbody)
        self.jump(after)
        self.current = catch
        self.body(node.finalbody)
        if self.current.end is None:
            self.emit(ast.Raise(load(catch.caught), None), node)
            self.current.end = Leave(None)
        self.current = after


def _method_of(owner: ast.expr, name: str, arguments: list[ast.expr], place: ast.AST) -> ast.expr:
    made = ast.Call(ast.Attribute(owner, name, ast.Load()), arguments, [])
    return copy_of(made, place)  # type: ignore[return-value]


def _as_read(target: ast.expr) -> ast.expr:
    """Return the expression that reads what a target sets."""
    read = copy.deepcopy(target)
    read.ctx = ast.Load()  # type: ignore[attr-defined]
    return read


def _escapes(node: ast.stmt, guarded: bool) -> bool:
    """Tell whether a statement leads out of itself: to a loop or handler, or through a 'finally'."""
    stack: list[tuple[ast.AST, bool, bool]] = [(node, False, False)]
    while stack:
        part, looped, caught = stack.pop()
        if isinstance(part, ast.Break | ast.Continue) and not looped:
            return True
        if isinstance(part, ast.Return) and guarded:
            return True
        if isinstance(part, ast.Raise) and part.exc is None and not caught:
            return True
        if isinstance(part, (ast.Lambda, ast.FunctionDef, *COMPREHENSIONS)):
            continue
        for name, value in ast.iter_fields(part):
            inside = looped or (isinstance(part, ast.For | ast.While) and name == "body")
            handled = caught or isinstance(part, ast.ExceptHandler)
            children = value if isinstance(value, list) else [value]
            stack.extend((child, inside, handled) for child in children if isinstance(child, ast.AST))
    return False
