"""Blocks of Python as a function is translated: its stack, statements, and how blocks end.

Each place of the stack is a variable. What was just put there, by the last statement, becomes part of the
expression that takes it, so that everything is computed in the order of the code.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, TypeVar

from bisimdist.errors import ModelError
from bisimdist.programs.blocks import Block, Branch, Invoke, Jump, Leave
from bisimdist.programs.syntax import assign, call, load, store, tuple_of
from bisimdist.programs.wasm.binary import at
from bisimdist.programs.wasm.instructions import Instruction
from bisimdist.programs.wasm.module import Function
from bisimdist.programs.wasm.operations import constant

if TYPE_CHECKING:
    from bisimdist.programs.wasm.linking import Linker

COUNTER = "n"  # the variable that counts instructions, or turns of loops as ten

MOST_TURNS = 1_000_000  # so many turns of loops, each as ten instructions, between two draws

_DEEPEST = 16  # expressions that are nested deeper stay in their variable

Types = tuple[str, ...]
_Item = TypeVar("_Item")
_NOTHING = Instruction("", None, 0)


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
    dead: bool = False  # whether what follows is never reached: there the stack has whatever is taken


@dataclass(slots=True)
class Builder:
    """The blocks of a function while they are made."""

    linker: Linker  # linker, function and name: the module, the function, and what it is called
    function: Function
    name: str
    draws: bool  # whether it may draw; otherwise it becomes one function of Python
    variables: set[str] = field(default_factory=lambda: {COUNTER})
    _stack: list[tuple[str, int]] = field(default_factory=list)
    """Of each place the type, and how deep the expression is nested that was put there."""
    _labels: list[Label] = field(default_factory=list)
    _block: Block = field(default_factory=Block)
    _cost: int = 0
    _depth: int = 0  # how deep expressions are nested that were taken for the next statement
    _now: Instruction = _NOTHING

    def _fail(self, what: str) -> NoReturn:
        raise ModelError(what, source=self.linker.module.source, place=at(self._now.offset, self.name))

    def _among(self, there: Sequence[_Item], index: int, what: str) -> _Item:
        if index >= len(there):
            self._fail(f"there is no {what} {index}")
        return there[index]

    # statements and values

    def _do(self, statement: ast.stmt, block: Block | None = None) -> None:
        self._depth = 0
        self._located(statement)
        (block or self._block).body.append(statement)

    def _located(self, node: ast.stmt | ast.expr) -> None:
        node.lineno = node.end_lineno = self._now.offset
        node.col_offset = node.end_col_offset = 0

    def _place(self, depth: int) -> str:
        name = f"s{depth}"
        self.variables.add(name)
        return name

    def _push(self, made: ast.expr, kind: str) -> None:
        self._located(made)
        depth = 1 + self._depth
        self._do(assign(self._place(len(self._stack)), made))
        self._stack.append((kind, depth))

    def _pop(self, kind: str = "", *, simple: bool = False) -> ast.expr:
        """Take a value; a simple one can be computed at any time, or not at all."""
        label = self._labels[-1]
        if len(self._stack) <= label.height:
            if label.dead:
                return constant(None)
            self._fail(f"{self._now.name} takes a value from an empty stack")
        found, depth = self._stack.pop()
        if kind and found not in {kind, ""}:
            self._fail(f"{self._now.name} takes a value of type {kind}; there is one of type {found}")
        name = f"s{len(self._stack)}"
        match self._block.body[-1:]:
            case [ast.Assign([ast.Name(last)], value)] if (
                last == name
                and depth < _DEEPEST
                and (not simple or isinstance(value, ast.Name | ast.Constant))
            ):
                del self._block.body[-1]
                self._depth = max(self._depth, depth)
                return value
        return load(name)

    def _several(self, kinds: Types) -> list[ast.expr]:
        return [self._pop(kind) for kind in reversed(kinds)][::-1]

    def _types(self) -> Types:
        return tuple(kind for kind, _ in self._stack)

    def _known(self, height: int, types: Types) -> None:
        """Have values of these types above a height."""
        self._stack[height:] = [(kind, _DEEPEST) for kind in types]
        self.variables |= {f"s{height + k}" for k in range(len(types))}

    # how blocks end

    def _begin(self, block: Block) -> None:
        """Go on with another block."""
        self._block, self._cost = block, 0

    def _leap(self) -> None:
        """Go on with what is never reached."""
        label = self._labels[-1]
        label.dead = True
        del self._stack[label.height :]
        self._begin(Block())

    def _flush(self, block: Block) -> None:
        if self._cost:
            self._do(ast.AugAssign(store(COUNTER), ast.Add(), constant(self._cost)), block)

    def _close(self, end: Jump | Branch | Invoke, then: Block) -> None:
        """End the block, and go on with another one."""
        (self._tally if isinstance(end, Invoke) else self._flush)(self._block)
        self._block.end = end
        self._begin(then)

    def _tally(self, block: Block) -> None:
        if self.linker.counts:
            count = ast.BinOp(load(COUNTER), ast.Add(), constant(self._cost))
            self._do(ast.Expr(call(".tally", count)), block)

    def _lead(self, label: Label, block: Block, values: list[ast.expr]) -> None:
        """Let a block end in a branch to a label, which takes these values."""
        if label.target is None:
            self._leave(block, values)
            return
        for k, value in enumerate(values):
            name = self._place(label.height + k)
            if not (isinstance(value, ast.Name) and value.id == name):
                self._do(assign(name, value), block)
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
        label = self._label(depth)
        values = self._several(label.types)
        if label.target is not None:
            self._flush(self._block)
        self._lead(label, self._block, values)
        self._leap()

    def _label(self, depth: int) -> Label:
        return self._among(self._labels[::-1], depth, "label")

    def _towards(self, depth: int) -> Block:
        """Return a block that does nothing but branch; if it returns, it counts what was counted."""
        label, cost = self._label(depth), self._cost
        block = Block()
        first = len(self._stack) - len(label.types)
        inner = self._labels[-1]
        if not inner.dead and (first < inner.height or self._types()[first:] != label.types):
            self._fail(f"{self._now.name} needs {', '.join(label.types)} on the stack")
        if label.target is None:
            self._cost = 0
        self._lead(label, block, [load(f"s{first + k}") for k in range(len(label.types))])
        self._cost = cost
        return block

    def _test(self, value: ast.expr) -> ast.expr:
        made = call(".branch", value) if self.linker.branches else value
        if not isinstance(made, ast.Name | ast.Constant):
            self._located(made)
        return made
