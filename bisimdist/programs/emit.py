"""From blocks to segments: for each place after a draw or call, one Python function that runs to the next."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any

from bisimdist.programs.blocks import Block, Branch, Flow, Invoke, Jump, Leave
from bisimdist.programs.code import INVOKE, LEAVE, TAIL, Code, Segment
from bisimdist.programs.native import helper
from bisimdist.programs.syntax import assign, load, tuple_of

_SHORT = 3  # a block of at most so many statements is repeated where several lead to it

_PLACE, _ERROR = ".pc", ".e"


def executed(  # noqa: PLR0913, PLR0917
    name: str, arguments: ast.arguments, body: list[ast.stmt], file: str, line: int, space: dict[str, Any]
) -> FunctionType:
    """Return a function that refers to what is in a space, made of its tree."""
    node = ast.FunctionDef(name, arguments, body or [ast.Pass()], [], None, None)
    node.lineno = node.end_lineno = line
    node.col_offset = node.end_col_offset = 0
    tree = ast.fix_missing_locations(ast.Module([node], []))
    made: dict[str, Any] = {}
    exec(compile(tree, file, "exec", dont_inherit=True), space, made)
    return made[name]  # type: ignore[no-any-return]


class Emitter:
    """Makes the segments of a function."""

    def __init__(
        self,
        flow: Flow,
        code: Code,
        keep: Callable[[object], str],
        space: dict[str, Any],
        name: str = "segment",
    ) -> None:
        self.flow = flow
        self.code = code
        self.keep = keep
        self.space = space
        self.name = name
        self.segments: dict[Block, Segment] = {}
        self.labels: dict[Block, int] = {}
        _guard_doubtful(flow)

    def run(self, given: list[str]) -> Segment:
        """Make all segments and return the first, which takes what is given."""
        for block in self.flow.blocks:
            if isinstance(block.end, Invoke):
                then = block.end.then
                live = tuple(sorted(then.live - {block.end.result}))
                self.segments[then] = Segment(self.code, block.end.line, live, then.handler is not None)
        for block in self.flow.blocks:
            if isinstance(block.end, Invoke):
                segment = self.segments[block.end.then]
                segment.run = self._function(
                    block.end.then, [block.end.result, *segment.live], block.end.result
                )
        entry = Segment(self.code, self.code.line, tuple(given))
        entry.run = self._function(self.flow.blocks[0], given, None)
        return entry

    def _function(
        self, first: Block, given: list[str], result: str | None
    ) -> Callable[..., tuple[object, ...]]:
        self.labels = self._labelled(first)
        before: list[ast.stmt] = []
        if result is None:
            before += [assign(name, load(".unbound")) for name in sorted(self.flow.doubtful - set(given))]
        head: list[ast.stmt] = []
        if result is not None and first.handler is not None:
            head = _raise_thrown(result)
        if not self.labels:
            return self._finish(given, [*before, *head, *self._tree(first)])
        self.labels.setdefault(first, len(self.labels))
        number = self.labels[first]
        cases: list[ast.stmt] = []
        for block, label in sorted(self.labels.items(), key=lambda item: item[1]):
            test = ast.Compare(load(_PLACE), [ast.Eq()], [ast.Constant(label)])
            cases.append(ast.If(test, self._guarded(block, head if block is first else []), []))
        body: list[ast.stmt] = [
            *before,
            assign(_PLACE, ast.Constant(number)),
            ast.While(ast.Constant(True), cases, []),
        ]
        return self._finish(given, body)

    def _finish(self, given: list[str], body: list[ast.stmt]) -> FunctionType:
        arguments = ast.arguments([], [ast.arg(part) for part in given], None, [], [], None, [])
        return executed(self.name, arguments, body, self.code.file, self.code.line, self.space)

    def _labelled(self, first: Block) -> dict[Block, int]:
        """Return the blocks of the region that need a number of their own."""
        reached: dict[Block, None] = {first: None}
        entered: Counter[Block] = Counter({first: 1})
        special: set[Block] = {first} if first.handler is not None else set()
        stack = [first]
        while stack:
            block = stack.pop()
            nexts = [] if isinstance(block.end, Invoke) else block.successors()
            for then in nexts:
                entered[then] += 1
                if then.handler is not block.handler:
                    special.add(then)
            if block.handler is not None:
                special.add(block.handler)
                nexts = [*nexts, block.handler]
            for then in nexts:
                if then not in reached:
                    reached[then] = None
                    stack.append(then)
        chosen = [
            block for block in reached if block in special or (entered[block] > 1 and not _short(block))
        ]
        return {block: k for k, block in enumerate(chosen)}

    def _guarded(self, block: Block, head: list[ast.stmt]) -> list[ast.stmt]:
        body = [*head, *self._tree(block)]
        if block.handler is None:
            return body
        caught = [assign(block.handler.caught, load(_ERROR)), *self._go(block.handler)]
        handler = ast.ExceptHandler(load(".Exception"), _ERROR, caught)
        return [ast.Try(body, [handler], [], [])]

    def _go(self, block: Block) -> list[ast.stmt]:
        if block in self.labels:
            return [assign(_PLACE, ast.Constant(self.labels[block])), ast.Continue()]
        return self._tree(block)

    def _tree(self, block: Block) -> list[ast.stmt]:
        match block.end:
            case Jump(target):
                return [*block.body, *self._go(target)]
            case Branch(test, yes, no):
                return [*block.body, ast.If(test, self._go(yes), self._go(no))]
            case Leave(value):
                if value is None:
                    return block.body
                return [*block.body, ast.Return(tuple_of([ast.Constant(LEAVE), value]))]
            case Invoke() as end:
                return [*block.body, ast.Return(self._invoke(block, end))]
            case _:
                return [*block.body, ast.Return(tuple_of([ast.Constant(LEAVE), ast.Constant(None)]))]

    def _invoke(self, block: Block, end: Invoke) -> ast.expr:
        keywords: ast.expr = ast.Constant(None)
        if end.keywords:
            names = [ast.Constant(part.arg) if part.arg is not None else None for part in end.keywords]
            keywords = ast.Dict(names, [part.value for part in end.keywords])  # type: ignore[arg-type]
        rest = [end.function, tuple_of(end.arguments), keywords]
        if block.handler is None and _returns(end.then, end.result):
            place = Segment(self.code, end.line)
            return tuple_of([ast.Constant(TAIL), load(self.keep(place)), *rest])
        segment = self.segments[end.then]
        live = tuple_of(load(name) for name in segment.live)
        return tuple_of([ast.Constant(INVOKE), load(self.keep(segment)), *rest, live])


def _returns(block: Block, name: str) -> bool:
    """Tell whether what a name stands for is returned at once, maybe under other names."""
    while True:
        for statement in block.body:
            match statement:
                case ast.Assign([ast.Name(other)], ast.Name(value)) if value == name:
                    name = other
                case _:
                    return False
        match block.end:
            case Jump(target):
                block = target
            case Leave(ast.Name(value)):
                return value == name
            case _:
                return False


def _short(block: Block) -> bool:
    return len(block.body) <= _SHORT and isinstance(block.end, Leave | Invoke)


def _raise_thrown(result: str) -> list[ast.stmt]:
    """Return the statements that raise an exception which comes in place of a value."""
    thrown = ast.Compare(ast.Call(load(".type"), [load(result)], []), [ast.Is()], [load(".thrown")])
    keep = assign(_ERROR, ast.Attribute(load(result), "error", ast.Load()))
    return [ast.If(thrown, [keep, assign(result, ast.Constant(None)), ast.Raise(load(_ERROR), None)], [])]


class _Doubt(ast.NodeTransformer):
    """Asks of a variable whether it has a value before it is read."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names or not isinstance(node.ctx, ast.Load):
            return node
        made = helper("bound", node, ast.Constant(node.id))
        return ast.copy_location(made, node) if hasattr(node, "lineno") else made

    def visit_Delete(self, node: ast.Delete) -> ast.stmt | list[ast.stmt]:
        made: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in self.names:
                read = ast.copy_location(load(target.id), target)
                made.append(ast.Expr(self.visit(read)))
                made.append(assign(target.id, load(".unbound")))
            else:
                made.append(ast.Delete([self.visit(target)]))
        return [ast.fix_missing_locations(ast.copy_location(part, node)) for part in made]


def _guard_doubtful(flow: Flow) -> None:
    if not flow.doubtful:
        return
    guard = _Doubt(flow.doubtful)
    for block in flow.blocks:
        block.body = guard.visit(ast.Module(block.body, [])).body
        match block.end:
            case Branch():
                block.end.test = guard.visit(block.end.test)
            case Leave(value) if value is not None:
                block.end.value = guard.visit(value)
            case Invoke():
                block.end.function = guard.visit(block.end.function)
                block.end.arguments = [guard.visit(part) for part in block.end.arguments]
                for part in block.end.keywords:
                    part.value = guard.visit(part.value)
