"""Blocks of Python as a function is translated: the values on its stack, statements, and how blocks end."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from bisimdist.errors import ModelError
from bisimdist.programs.blocks import Block, Branch, Invoke, Jump, Leave
from bisimdist.programs.syntax import assign, call, load, store, tuple_of
from bisimdist.programs.wasm.binary import at
from bisimdist.programs.wasm.instructions import Instruction
from bisimdist.programs.wasm.module import Function, Module
from bisimdist.programs.wasm.operations import constant

COUNTER = "n"  # the variable that counts instructions, or turns of loops

_DEEPEST = 16  # expressions that are nested deeper are given a name

Types = tuple[str, ...]
_NOTHING = Instruction("", None, 0)


@dataclass(frozen=True, slots=True)
class Linked:
    """What is known of a module that is translated."""

    module: Module
    draws: frozenset[int]  # the numbers of functions that may draw
    # counts and branches: whether instructions are counted, and whether the outcomes of branches are noted
    counts: bool
    branches: bool
    stack: int | None  # the number of the global variable that is the stack pointer
    most: int  # where the counter is too high
    drawing_types: frozenset[int]  # the numbers of types of which a function in a table may draw


@dataclass(slots=True)
class Label:
    """What a branch leads to."""

    kind: str
    types: Types
    results: Types
    height: int
    target: Block | None
    other: Block | None = None
    parameters: Types = ()
    used: bool = False


@dataclass(slots=True)
class Value:
    """What is on the stack: an expression of variables, and its type."""

    made: ast.expr
    type: str
    names: frozenset[str] = frozenset()
    depth: int = 0


@dataclass(slots=True)
class Builder:
    """The blocks of a function while they are made."""

    linked: Linked  # linked, function and name: the module, the function, and what it is called
    function: Function
    name: str
    draws: bool  # whether it may draw; otherwise it becomes one function of Python
    variables: set[str] = field(default_factory=set)
    given: list[str] = field(default_factory=list)
    _types: list[str] = field(default_factory=list)
    _stack: list[Value] = field(default_factory=list)
    _labels: list[Label] = field(default_factory=list)
    _block: Block | None = None
    _skipped: int = 0
    _cost: int = 0
    _temporaries: int = 0
    _now: Instruction = _NOTHING

    def _fail(self, what: str) -> NoReturn:
        raise ModelError(what, source=self.linked.module.source, place=at(self._now.offset, self.name))

    # statements and values

    def _do(self, statement: ast.stmt, block: Block | None = None) -> None:
        place = block or self._block
        if place is None:
            return
        self._located(statement)
        place.body.append(statement)

    def _located(self, node: ast.stmt | ast.expr) -> None:
        node.lineno = node.end_lineno = self._now.offset
        node.col_offset = node.end_col_offset = 0

    def _push(self, made: ast.expr, kind: str, values: Sequence[Value] = ()) -> None:
        names = frozenset().union(*(value.names for value in values))
        value = Value(made, kind, names, 1 + max((value.depth for value in values), default=0))
        self._stack.append(value if value.depth < _DEEPEST else self._named(value))

    def _named(self, value: Value) -> Value:
        """Compute a value now, and return its name."""
        name = self._temporary()
        self._do(assign(name, value.made))
        return Value(load(name), value.type)

    def _temporary(self) -> str:
        name = f"t{self._temporaries}"
        self._temporaries += 1
        self.variables.add(name)
        return name

    def _at_once(self, made: ast.expr, kind: str) -> None:
        self._stack.append(self._named(Value(made, kind)))

    def _pop(self, kind: str | None = None) -> Value:
        if len(self._stack) <= self._labels[-1].height:
            self._fail(f"{self._now.name} takes a value from an empty stack")
        value = self._stack.pop()
        if kind is not None and value.type != kind:
            self._fail(f"{self._now.name} takes a value of type {kind}; there is one of type {value.type}")
        return value

    def _several(self, kinds: Types) -> list[Value]:
        return [self._pop(kind) for kind in reversed(kinds)][::-1]

    def _canonical(self, depth: int) -> str:
        name = f"s{depth}"
        self.variables.add(name)
        return name

    def _spill(self) -> None:
        """Give every value of the stack the name of its place."""
        for depth, value in enumerate(self._stack):
            name = self._canonical(depth)
            if isinstance(value.made, ast.Constant) or (
                isinstance(value.made, ast.Name) and value.made.id == name
            ):
                continue
            self._do(assign(name, value.made))
            self._stack[depth] = Value(load(name), value.type)

    def _names(self, types: Types, height: int) -> list[Value]:
        return [Value(load(self._canonical(height + k)), kind) for k, kind in enumerate(types)]

    # how blocks end

    def _flush(self, block: Block) -> None:
        if self._cost:
            self._do(ast.AugAssign(store(COUNTER), ast.Add(), constant(self._cost)), block)

    def _close(self, end: Jump | Branch | Leave | Invoke) -> None:
        """End the block; what follows is not reached unless another block is begun."""
        if self._block is not None:
            if isinstance(end, Jump | Branch):
                self._flush(self._block)
            else:
                self._tally(self._block)
            self._block.end = end
        self._cost = 0
        self._block = None

    def _tally(self, block: Block) -> None:
        if self.linked.counts:
            count = ast.BinOp(load(COUNTER), ast.Add(), constant(self._cost))
            self._do(ast.Expr(call(".tally", count)), block)

    def _lead(self, label: Label, block: Block) -> None:
        """Let a block end in a branch to a label, which takes the values on top of the stack."""
        values = self._stack[len(self._stack) - len(label.types) :] if label.types else []
        if len(values) != len(label.types) or len(self._stack) - len(values) < self._labels[-1].height:
            self._fail(f"{self._now.name} needs {len(label.types)} values on the stack")
        for value, kind in zip(values, label.types, strict=True):
            if value.type != kind:
                self._fail(
                    f"{self._now.name} takes a value of type {kind}; there is one of type {value.type}"
                )
        label.used = True
        if label.target is None:
            self._leave(block, [value.made for value in values])
            return
        names = [self._canonical(label.height + k) for k in range(len(values))]
        moved = [
            (name, value.made)
            for name, value in zip(names, values, strict=True)
            if not (isinstance(value.made, ast.Name) and value.made.id == name)
        ]
        if len(moved) == 1:
            self._do(assign(moved[0][0], moved[0][1]), block)
        elif moved:
            target = ast.Tuple([store(name) for name, _ in moved], ast.Store())
            self._do(ast.Assign([target], tuple_of(made for _, made in moved)), block)
        block.end = Jump(label.target)

    def _leave(self, block: Block, values: list[ast.expr]) -> None:
        self._tally(block)
        value = values[0] if len(values) == 1 else tuple_of(values) if values else constant(None)
        self._located(value)
        if self.draws:
            block.end = Leave(value)
        else:
            self._do(ast.Return(value), block)
            block.end = Leave(None)

    def _go(self, depth: int) -> None:
        """Branch, whatever happens."""
        label, block = self._label(depth), self._block
        if block is None:
            return
        if label.target is not None:
            self._flush(block)
        self._lead(label, block)
        self._block = None
        self._cost = 0

    def _label(self, depth: int) -> Label:
        if depth >= len(self._labels):
            self._fail(f"there is no label {depth}")
        return self._labels[-1 - depth]

    def _towards(self, depth: int) -> Block:
        """Return a block that does nothing but branch."""
        label = self._label(depth)
        block = Block()
        self._lead(label, block)
        return block

    def _test(self, value: ast.expr) -> ast.expr:
        made = call(".branch", value) if self.linked.branches else value
        if not isinstance(made, ast.Name | ast.Constant):
            self._located(made)
        return made
