"""A function of a module as blocks of Python: its stack becomes variables, and a draw ends a block."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from bisimdist.programs.blocks import Block, Branch, Invoke, Jump, Leave
from bisimdist.programs.syntax import assign, call, load, store
from bisimdist.programs.wasm.building import COUNTER, MOST_TURNS, Builder, Label, Types
from bisimdist.programs.wasm.instructions import Instruction, Signature
from bisimdist.programs.wasm.operations import OPERATIONS, constant, expression

_FREE = frozenset({"nop", "drop", "block", "loop", "else", "end", "unreachable", "return"})
"""Instructions that no machine executes: they are not counted."""


@dataclass(slots=True)
class Translation(Builder):
    """The blocks of a function, instruction by instruction."""

    def run(self) -> tuple[Block, list[str]]:
        """Translate, and return the first block, and the names of what the function is given."""
        first = self._block
        signature = self.function.signature
        self._now = Instruction("", None, self.function.begin)
        names = [f"l{k}" for k in range(len(signature.parameters) + len(self.function.locals))]
        given = names[: len(signature.parameters)]
        self.variables.update(names)
        for name, kind in zip(names[len(given) :], self.function.locals, strict=True):
            zero = {"i": 0, "f": 0.0}[kind[0]] if kind[1:].isdigit() else None
            self._do(assign(name, constant(zero)))
        self._do(assign(COUNTER, constant(int(self.linker.counts))))
        self._labels = [Label("function", signature.results, signature.results, 0, None)]
        for instruction in self.linker.module.code_of(self.function):
            self._now = instruction
            if not self._labels:
                self._fail("instructions follow the end of the function")
            self._cost += self.linker.counts and self._now.name not in _FREE
            self._one(self._now.name, self._now.what)
        if self._labels:
            self._fail("the function has no end")
        return first, given

    # instructions

    def _one(self, name: str, what: Any) -> None:  # noqa: PLR0912, PLR0915
        match name:
            case _ if name in OPERATIONS:
                kinds, result, *_ = operation = OPERATIONS[name]
                made = expression(operation, self._several(kinds), what)
                if result:
                    self._push(made, result)
                else:
                    self._do(ast.Expr(made))
            case "unreachable":
                self._do(ast.Expr(call(".trap", constant("unreachable code is reached"))))
                self._block.end = Leave(None)
                self._leap()
            case "select":
                test, kind = self._pop("i32"), next(iter(self._types()[::-1]), "")
                other, one = self._pop(simple=True), self._pop(kind, simple=True)
                self._push(ast.IfExp(test, one, other), kind)
            case "local.get" | "local.set" | "local.tee":
                self._variable(name, what, f"l{what}")
            case "global.get":
                self._push(ast.Subscript(load(".globals"), constant(what), ast.Load()), self._global(what))
            case "global.set":
                value = self._pop(self._global(what))
                if what == self.linker.stack:
                    self._do(ast.Expr(call(".move_stack", value)))
                else:
                    place = ast.Subscript(load(".globals"), constant(what), ast.Store())
                    self._do(ast.Assign([place], value))
            case "memory.init" | "data.drop":
                index = what if name == "data.drop" else what[0]
                self._among(self.linker.module.contents, index, "data")
                values = self._several(("i32",) * (3 if name == "memory.init" else 0))
                self._do(ast.Expr(call("." + name[-4:], constant(index), *values)))
            case "block":
                self._enter(name, what, Block())
            case "loop":
                self._loop(what)
            case "if":
                test, label = self._pop("i32"), self._enter(name, what, Block())
                yes, label.other = Block(), Block()
                self._close(Branch(self._test(test), yes, label.other), yes)
            case "else":
                self._else()
            case "end":
                self._end()
            case "br":
                self._go(what)
            case "br_if":
                test, then = self._pop("i32"), Block()
                self._close(Branch(self._test(test), self._towards(what), then), then)
            case "br_table":
                self._table(what)
            case "call" | "return_call":
                self._call(what)
            case "call_indirect" | "return_call_indirect":
                self._call_indirect(*what)
            case _ if name not in {"nop", "return"}:
                self._fail(f"{name} is not supported")
        if name.startswith("return"):
            self._go(len(self._labels) - 1)

    def _variable(self, what: str, index: int, name: str) -> None:
        kinds = *self.function.signature.parameters, *self.function.locals
        kind = self._among(kinds, index, "variable")
        if what != "local.get":
            self._do(assign(name, self._pop(kind)))
        if what != "local.set":
            self._push(load(name), kind)

    def _global(self, index: int) -> str:
        return self._among(self.linker.module.globals, index, "global variable").type

    # control

    def _enter(self, kind: str, what: tuple[Types, Types], target: Block) -> Label:
        parameters, results = what
        for value, taken in zip(self._several(parameters), parameters, strict=True):
            self._push(value, taken)
        height = len(self._stack) - len(parameters)
        types = parameters if kind == "loop" else results
        self._labels.append(Label(kind, types, results, height, target, None, parameters))
        return self._labels[-1]

    def _loop(self, what: tuple[Types, Types]) -> None:
        header = Block()
        self._enter("loop", what, header)
        self._close(Jump(header), header)
        if not self.linker.counts:
            self._do(ast.AugAssign(store(COUNTER), ast.Add(), constant(10)))
        test = ast.Compare(load(COUNTER), [ast.Gt()], [constant(10 * MOST_TURNS)])
        self._do(ast.If(test, [ast.Expr(call(".forever"))], []))

    def _else(self) -> None:
        label = self._labels[-1]
        if label.kind != "if" or label.other is None:
            self._fail("else stands outside of if")
        self._finish_label(label)
        self._begin(label.other)
        label.other, label.dead = None, False
        self._known(label.height, label.parameters)

    def _finish_label(self, label: Label) -> None:
        """Fall out of a block."""
        found = len(self._stack) - label.height
        if found > len(label.results) or (found < len(label.results) and not label.dead):
            what = "the function" if label.kind == "function" else "a block"
            self._fail(f"{what} ends with {found} values; it gives {len(label.results)}")
        if label.kind != "loop":
            self._go(0)

    def _end(self) -> None:
        label = self._labels[-1]
        self._finish_label(label)
        if label.other is not None:
            self._else()
            self._finish_label(label)
        self._labels.pop()
        if label.kind != "function":
            self._known(label.height, label.results)
            if label.target is not None and label.kind != "loop":
                self._begin(label.target)

    def _table(self, depths: tuple[int, ...]) -> None:
        index, name = self._pop("i32"), self._place(len(self._stack))
        self._do(assign(name, call(".branch", index) if self.linker.branches else index))
        runs: list[tuple[int, int]] = []
        for k, depth in enumerate(depths[:-1]):
            if not runs or runs[-1][1] != depth:
                runs.append((k, depth))
        runs.append((len(depths) - 1, depths[-1]))
        self._flush(self._block)
        self._cost = 0
        self._tabled(self._block, name, runs)
        self._leap()

    def _tabled(self, block: Block, index: str, runs: list[tuple[int, int]]) -> None:
        """Let a block end in a search for the range in which an index lies."""
        if len(runs) == 1:
            block.end = Jump(self._towards(runs[0][1]))
            return
        half = len(runs) // 2
        yes, no = Block(), Block()
        test = ast.Compare(load(index), [ast.Lt()], [constant(runs[half][0])])
        self._located(test)
        block.end = Branch(test, yes, no)
        self._tabled(yes, index, runs[:half])
        self._tabled(no, index, runs[half:])

    # calls

    def _call(self, index: int) -> None:
        signature = self._among(self.linker.module.declared, index, "function")
        self._called(load(f".function{index}"), signature, index in self.linker.draws)

    def _call_indirect(self, kind: int, table: int) -> None:
        module = self.linker.module
        self._among(module.tables, table, "table")
        found = call(".indirect", constant(table), constant(kind), self._pop("i32"))
        draws = bool(self.linker.draws & module.through(kind))
        self._called(found, self._among(module.types, kind, "type"), draws)

    def _called(self, function: ast.expr, signature: Signature, draws: bool) -> None:
        given, results = self._several(signature.parameters), signature.results
        made: ast.expr = ast.Call(function, given, [])
        name = self._place(len(self._stack) + len(results))
        if draws:
            then, name = Block(), name if len(results) > 1 else self._place(len(self._stack))
            self._located(function)
            self._close(Invoke(name, function, given, [], then, self._now.offset), then)
            # whether a loop may come after this
            code = self.linker.module.data[self.function.begin : self.function.end]
            if self.linker.counts or b"\x03" in code:
                self._do(assign(COUNTER, constant(0)))
            if len(results) == 1:
                self._known(len(self._stack), results)
        elif len(results) == 1:
            self._push(made, results[0])
        else:
            self._do(assign(name, made) if results else ast.Expr(made))
        if len(results) > 1:
            for k, kind in enumerate(results):
                self._push(ast.Subscript(load(name), constant(k), ast.Load()), kind)
