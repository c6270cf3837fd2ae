"""A function of a module as blocks of Python: its stack becomes variables, and a draw ends a block."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from bisimdist.programs.blocks import Block, Branch, Invoke, Jump, Leave
from bisimdist.programs.syntax import assign, call, load, store
from bisimdist.programs.wasm.building import COUNTER, Builder, Label, Types, Value
from bisimdist.programs.wasm.instructions import Instruction, Signature
from bisimdist.programs.wasm.operations import OPERATIONS, constant, expression

_FREE = frozenset({"nop", "drop", "block", "loop", "else", "end", "unreachable", "return"})
"""Instructions that no machine executes: they are not counted."""


@dataclass(slots=True)
class Translation(Builder):
    """The blocks of a function, instruction by instruction."""

    def run(self) -> Block:
        """Translate, and return the first block."""
        first = self._block = Block()
        signature = self.function.signature
        self._types = [*signature.parameters, *self.function.locals]
        self._now = Instruction("", None, self.function.begin)
        for k, kind in enumerate(self._types):
            self.variables.add(f"l{k}")
            if k < len(signature.parameters):
                self.given.append(f"l{k}")
            else:
                zero = 0.0 if kind.startswith("f") and kind != "funcref" else 0 if kind[0] == "i" else None
                self._do(assign(f"l{k}", constant(zero)))
        self.variables.add(COUNTER)
        self._do(assign(COUNTER, constant(1 if self.linked.counts else 0)))
        self._labels = [Label("function", signature.results, signature.results, 0, None)]
        for instruction in self.linked.module.code_of(self.function):
            self._now = instruction
            if not self._labels:
                self._fail("instructions follow the end of the function")
            if self._block is None:
                self._skip(instruction)
                continue
            if self.linked.counts and instruction.name not in _FREE:
                self._cost += 1
            self._one(instruction)
        if self._labels:
            self._fail("the function has no end")
        return first

    def _skip(self, instruction: Instruction) -> None:
        """Pass over what is never reached."""
        match instruction.name:
            case "block" | "loop" | "if":
                self._skipped += 1
            case "end" if self._skipped:
                self._skipped -= 1
            case "else" if not self._skipped:
                self._else()
            case "end":
                self._end()

    # instructions

    def _one(self, instruction: Instruction) -> None:
        name, what = instruction.name, instruction.what
        if name in OPERATIONS:
            kinds, result, _, at_once, _ = operation = OPERATIONS[name]
            values = self._several(kinds)
            made = expression(operation, [value.made for value in values], what)
            if not result:
                self._do(ast.Expr(made))
            elif at_once:
                self._at_once(made, result)
            else:
                self._push(made, result, values)
        elif name.endswith(".const"):
            self._stack.append(Value(constant(what), name[:3]))
        else:
            self._other(name, what)

    def _other(self, name: str, what: Any) -> None:  # noqa: PLR0912, PLR0915
        match name:
            case "nop":
                pass
            case "drop":
                self._pop()
            case "unreachable":
                self._do(ast.Expr(call(".trap", constant("unreachable code is reached"))))
                if self._block is not None:
                    self._block.end = Leave(None)
                self._begin(None)
            case "select":
                test, other, one = self._pop("i32"), self._pop(), self._pop()
                if one.type != other.type:
                    self._fail("select takes two values of one type")
                self._push(ast.IfExp(test.made, one.made, other.made), one.type, (test, one, other))
            case "local.get" | "local.set" | "local.tee":
                self._variable(name, what, f"l{what}")
            case "global.get":
                self._at_once(ast.Subscript(load(".globals"), constant(what), ast.Load()), self._global(what))
            case "global.set":
                value = self._pop(self._global(what)).made
                if what == self.linked.stack:
                    self._do(ast.Expr(call(".move_stack", value)))
                else:
                    place = ast.Subscript(load(".globals"), constant(what), ast.Store())
                    self._do(ast.Assign([place], value))
            case "memory.init" | "data.drop":
                index = what if name == "data.drop" else what[0]
                if index >= len(self.linked.module.contents):
                    self._fail(f"there is no data {index}")
                values = self._several(("i32",) * (3 if name == "memory.init" else 0))
                self._do(ast.Expr(call("." + name[-4:], constant(index), *(value.made for value in values))))
            case "ref.null" | "ref.func":
                self._push(constant(None if name == "ref.null" else what), "funcref")
            case "ref.is_null":
                self._push(ast.Compare(self._pop().made, [ast.Is()], [constant(None)]), "i32")
            case "block":
                self._enter(name, what, Block())
            case "loop":
                self._loop(what)
            case "if":
                test, label = self._pop("i32"), self._enter(name, what, Block())
                yes, label.other = Block(), Block()
                self._close(Branch(self._test(test.made), yes, label.other))
                self._block = yes
            case "else":
                self._else()
            case "end":
                self._end()
            case "br":
                self._go(what)
            case "br_if":
                test = self._pop("i32")
                yes, no = self._branch_block(what), Block()
                self._close(Branch(self._test(test.made), yes, no))
                self._block = no
            case "br_table":
                self._table(what)
            case "call" | "return_call":
                self._call(what)
            case "call_indirect" | "return_call_indirect":
                self._call_indirect(*what)
            case _ if name != "return":
                self._fail(f"{name} is not supported")
        if name.startswith("return"):
            self._go(len(self._labels) - 1)

    def _variable(self, what: str, index: int, name: str) -> None:
        if index >= len(self._types):
            self._fail(f"there is no variable {index}")
        kind = self._types[index]
        if what != "local.get":
            value = self._pop(kind)
            for depth, other in enumerate(self._stack):
                if name in other.names:
                    self._stack[depth] = self._named(other)
            self._do(assign(name, value.made))
        if what != "local.set":
            self._stack.append(Value(load(name), kind, frozenset((name,))))

    def _global(self, index: int) -> str:
        if index >= len(self.linked.module.globals):
            self._fail(f"there is no global variable {index}")
        return self.linked.module.globals[index].type

    # control

    def _enter(self, kind: str, what: tuple[Types, Types], target: Block) -> Label:
        parameters, results = what
        self._spill()
        height = len(self._stack) - len(parameters)
        if height < self._labels[-1].height:
            self._fail(f"{kind} takes {len(parameters)} values from the stack")
        types = parameters if kind == "loop" else results
        label = Label(kind, types, results, height, target, None, parameters)
        self._labels.append(label)
        for k, value in enumerate(self._stack[height:]):
            if isinstance(value.made, ast.Constant):
                self._do(assign(self._canonical(height + k), value.made))
        self._stack[height:] = self._names(parameters, height)
        return label

    def _begin(self, block: Block | None) -> None:
        """Go on with another block, or with what is not reached."""
        self._block, self._cost = block, 0

    def _loop(self, what: tuple[Types, Types]) -> None:
        header = Block()
        self._enter("loop", what, header)
        self._close(Jump(header))
        self._block = header
        if not self.linked.counts:
            self._do(ast.AugAssign(store(COUNTER), ast.Add(), constant(1)))
        test = ast.Compare(load(COUNTER), [ast.Gt()], [constant(self.linked.most)])
        self._do(ast.If(test, [ast.Expr(call(".forever"))], []))

    def _else(self) -> None:
        label = self._labels[-1]
        if label.kind != "if" or label.other is None:
            self._fail("else stands outside of if")
        self._finish_label(label)
        self._begin(label.other)
        label.other = None
        self._stack[label.height :] = self._names(label.parameters, label.height)

    def _finish_label(self, label: Label) -> None:
        """Fall out of a block."""
        if self._block is None:
            return
        if len(self._stack) - label.height != len(label.results):
            self._fail(
                f"{'the function' if label.kind == 'function' else 'a block'} ends with "
                f"{len(self._stack) - label.height} values; it gives {len(label.results)}"
            )
        if label.kind != "loop":
            self._go(0)

    def _end(self) -> None:
        label = self._labels[-1]
        self._finish_label(label)
        if label.other is not None:
            self._else()
            self._finish_label(label)
        self._labels.pop()
        if label.kind == "loop":
            del self._stack[label.height + len(label.results) :]
        elif label.kind != "function":
            self._begin(label.target if label.used else None)
            self._stack[label.height :] = self._names(label.results, label.height)

    def _branch_block(self, depth: int) -> Block:
        """Return a block that branches; where it returns, what was counted so far is counted there."""
        label, cost = self._label(depth), self._cost
        if label.target is not None:
            return self._towards(depth)
        self._cost = 0
        made = self._towards(depth)
        self._cost = cost
        return made

    def _table(self, depths: tuple[int, ...]) -> None:
        index = self._named(self._pop("i32"))
        if self.linked.branches:
            self._do(ast.Expr(call(".branch", index.made)))
        if self._block is None:
            return
        self._flush(self._block)
        self._cost = 0
        runs: list[tuple[int, int]] = []
        for k, depth in enumerate(depths[:-1]):
            if not runs or runs[-1][1] != depth:
                runs.append((k, depth))
        runs.append((len(depths) - 1, depths[-1]))
        self._tabled(self._block, index, runs)
        self._block = None

    def _tabled(self, block: Block, index: Value, runs: list[tuple[int, int]]) -> None:
        """Let a block end in a search for the range in which an index lies."""
        if len(runs) == 1:
            block.end = Jump(self._towards(runs[0][1]))
            return
        half = len(runs) // 2
        yes, no = Block(), Block()
        test = ast.Compare(index.made, [ast.Lt()], [constant(runs[half][0])])
        self._located(test)
        block.end = Branch(test, yes, no)
        self._tabled(yes, index, runs[:half])
        self._tabled(no, index, runs[half:])

    # calls

    def _call(self, index: int) -> None:
        module = self.linked.module
        if index >= len(module.imported) + len(module.functions):
            self._fail(f"there is no function {index}")
        draws = index in self.linked.draws
        self._called(load(f"{'.draw' if draws else '.call'}{index}"), module.signature(index), draws)

    def _call_indirect(self, kind: int, table: int) -> None:
        if kind >= len(self.linked.module.types) or table >= len(self.linked.module.tables):
            self._fail(f"there is no type {kind}, or no table {table}")
        found = call(".indirect", constant(table), constant(kind), self._pop("i32").made)
        self._called(found, self.linked.module.types[kind], kind in self.linked.drawing_types)

    def _called(self, function: ast.expr, signature: Signature, draws: bool) -> None:
        given, results = [value.made for value in self._several(signature.parameters)], signature.results
        if draws:
            value = self._invoked(function, given)
        elif not results:
            self._do(ast.Expr(ast.Call(function, given, [])))
        else:
            value = self._named(Value(ast.Call(function, given, []), "")).made
        if len(results) == 1:
            self._stack.append(Value(value, results[0]))
        elif results:
            for k, kind in enumerate(results):
                self._at_once(ast.Subscript(value, constant(k), ast.Load()), kind)

    def _invoked(self, function: ast.expr, given: list[ast.expr]) -> ast.expr:
        """Call what may draw; of values that wait on the stack a state keeps what they are, not what of."""
        for depth, waiting in enumerate(self._stack):
            if not isinstance(waiting.made, ast.Name | ast.Constant):
                self._stack[depth] = self._named(waiting)
        name = self._temporary()
        then = Block()
        self._located(function)
        self._close(Invoke(name, function, given, [], then, self._now.offset))
        self._block = then
        # whether a loop may come after this
        if self.linked.counts or b"\x03" in self.linked.module.data[self.function.begin : self.function.end]:
            self._do(assign(COUNTER, constant(0)))
        return load(name)
