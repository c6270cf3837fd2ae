"""A function of a module as blocks of Python: its stack becomes variables, and a draw ends a block."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from bisimdist.programs.blocks import Block, Branch, Invoke, Jump, Leave
from bisimdist.programs.syntax import assign, call, load, store
from bisimdist.programs.wasm.building import COUNTER, Builder, Label, Types, Value
from bisimdist.programs.wasm.instructions import ACCESSES, Instruction
from bisimdist.programs.wasm.operations import OPERATIONS, constant, extended

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
            kinds, result, make, at_once = OPERATIONS[name]
            values = self._several(kinds)
            made = make(*(value.made for value in values))
            if at_once:
                self._at_once(made, result)
            else:
                self._push(made, result, values)
        elif name in ACCESSES:
            self._access(name, what)
        elif name.endswith(".const"):
            self._stack.append(Value(constant(what), name[:3]))
        else:
            method: Callable[..., None] | None = getattr(self, "_do_" + name.replace(".", "_"), None)
            if method is None:
                self._fail(f"{name} is not supported")
            method(what)

    def _access(self, name: str, offset: int) -> None:
        kind, size, sign = ACCESSES[name]
        bits = int(kind[1:])
        value = self._pop(kind) if ".store" in name else None
        address = self._pop("i32").made
        if isinstance(address, ast.Constant):
            address = constant(address.value + offset)  # type: ignore[operator]
        elif offset:
            address = ast.BinOp(address, ast.Add(), constant(offset))
        if value is not None:
            stored = call(f".bits{bits}", value.made) if kind[0] == "f" else value.made
            self._do(ast.Expr(call(f".w{size}", address, stored)))
            return
        made: ast.expr = call(f".r{size}", address)
        if sign:
            made = extended(made, 8 * size, bits)
        self._at_once(call(f".as_{kind}", made) if kind[0] == "f" else made, kind)

    def _do_nop(self, _: object) -> None:
        pass

    def _do_unreachable(self, _: object) -> None:
        self._do(ast.Expr(call(".trap", constant("unreachable code is reached"))))
        if self._block is not None:
            self._block.end = Leave(None)
        self._block, self._cost = None, 0

    def _do_drop(self, _: object) -> None:
        self._pop()

    def _do_select(self, _: object) -> None:
        test, other, one = self._pop("i32"), self._pop(), self._pop()
        if one.type != other.type:
            self._fail("select takes two values of one type")
        self._push(ast.IfExp(test.made, one.made, other.made), one.type, (test, one, other))

    def _do_local_get(self, index: int) -> None:
        kind = self._local(index)
        self._stack.append(Value(load(f"l{index}"), kind, frozenset((f"l{index}",))))

    def _local(self, index: int) -> str:
        if index >= len(self._types):
            self._fail(f"there is no variable {index}")
        return self._types[index]

    def _do_local_set(self, index: int) -> None:
        value = self._pop(self._local(index))
        name = f"l{index}"
        for depth, other in enumerate(self._stack):
            if name in other.names:
                self._stack[depth] = self._named(other)
        self._do(assign(name, value.made))

    def _do_local_tee(self, index: int) -> None:
        self._do_local_set(index)
        self._do_local_get(index)

    def _global(self, index: int) -> str:
        if index >= len(self.linked.module.globals):
            self._fail(f"there is no global variable {index}")
        return self.linked.module.globals[index].type

    def _do_global_get(self, index: int) -> None:
        self._at_once(ast.Subscript(load(".globals"), constant(index), ast.Load()), self._global(index))

    def _do_global_set(self, index: int) -> None:
        value = self._pop(self._global(index)).made
        if index == self.linked.stack:
            self._do(ast.Expr(call(".move_stack", value)))
            return
        self._do(ast.Assign([ast.Subscript(load(".globals"), constant(index), ast.Store())], value))

    def _do_memory_size(self, _: object) -> None:
        self._at_once(call(".pages"), "i32")

    def _do_memory_grow(self, _: object) -> None:
        self._at_once(call(".grow", self._pop("i32").made), "i32")

    def _bulk(self, name: str, *more: object) -> None:
        values = self._several(("i32", "i32", "i32"))
        self._do(ast.Expr(call(name, *map(constant, more), *(value.made for value in values))))

    def _do_memory_fill(self, _: object) -> None:
        self._bulk(".fill")

    def _do_memory_copy(self, _: object) -> None:
        self._bulk(".copy")

    def _data(self, number: int) -> int:
        if number >= len(self.linked.module.contents):
            self._fail(f"there is no data {number}")
        return number

    def _do_memory_init(self, what: tuple[int, int]) -> None:
        self._bulk(".init", self._data(what[0]))

    def _do_data_drop(self, what: tuple[int]) -> None:
        self._do(ast.Expr(call(".drop", constant(self._data(what[0])))))

    def _do_ref_null(self, _: object) -> None:
        self._push(constant(None), "funcref")

    def _do_ref_func(self, index: int) -> None:
        self._push(constant(index), "funcref")

    def _do_ref_is_null(self, _: object) -> None:
        self._push(ast.Compare(self._pop().made, [ast.Is()], [constant(None)]), "i32")

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
        self._stack[height:] = self._renamed(parameters, height)
        return label

    def _renamed(self, parameters: Types, height: int) -> list[Value]:
        """Return parameters of a block under the names of their places, constants as well."""
        for k, value in enumerate(self._stack[height:]):
            if isinstance(value.made, ast.Constant):
                self._do(assign(self._canonical(height + k), value.made))
        return self._names(parameters, height)

    def _do_block(self, what: tuple[Types, Types]) -> None:
        self._enter("block", what, Block())

    def _do_loop(self, what: tuple[Types, Types]) -> None:
        header = Block()
        self._enter("loop", what, header)
        self._close(Jump(header))
        self._block = header
        if not self.linked.counts:
            self._do(ast.AugAssign(store(COUNTER), ast.Add(), constant(1)))
        test = ast.Compare(load(COUNTER), [ast.Gt()], [constant(self.linked.most)])
        self._do(ast.If(test, [ast.Expr(call(".forever"))], []))

    def _do_if(self, what: tuple[Types, Types]) -> None:
        test = self._pop("i32").made
        label = self._enter("if", what, Block())
        yes, label.other = Block(), Block()
        self._close(Branch(self._test(test), yes, label.other))
        self._block = yes

    def _do_else(self, _: object) -> None:
        self._else()

    def _else(self) -> None:
        label = self._labels[-1]
        if label.kind != "if" or label.other is None:
            self._fail("else stands outside of if")
        self._finish_label(label)
        self._block, label.other = label.other, None
        self._cost = 0
        self._stack[label.height :] = self._names(label.parameters, label.height)

    def _finish_label(self, label: Label) -> None:
        """Fall out of a block."""
        if self._block is None:
            return
        if len(self._stack) - label.height != len(label.results):
            self._fail(
                f"a block ends with {len(self._stack) - label.height} values; it gives {len(label.results)}"
            )
        leads = Label("end", label.results, label.results, label.height, label.target)
        if label.kind == "loop":
            return
        self._flush(self._block)
        self._lead(leads, self._block)
        label.used = True
        self._block = None
        self._cost = 0

    def _do_end(self, _: object) -> None:
        self._end()

    def _end(self) -> None:
        label = self._labels[-1]
        if label.kind == "function":
            if self._block is not None:
                if len(self._stack) != len(label.results):
                    self._fail(
                        f"the function ends with {len(self._stack)} values; it returns {len(label.results)}"
                    )
                self._go(0)
            self._labels.pop()
            return
        self._finish_label(label)
        if label.other is not None:
            self._block, label.other = label.other, None
            self._cost = 0
            self._stack[label.height :] = self._names(label.parameters, label.height)
            self._finish_label(label)
        self._labels.pop()
        if label.kind == "loop":
            del self._stack[label.height + len(label.results) :]
            return
        self._block = label.target if label.used else None
        self._cost = 0
        self._stack[label.height :] = self._names(label.results, label.height)

    def _do_br(self, depth: int) -> None:
        self._go(depth)

    def _do_return(self, _: object) -> None:
        self._go(len(self._labels) - 1)

    def _do_br_if(self, depth: int) -> None:
        test = self._pop("i32").made
        yes, no = self._branch_block(depth), Block()
        self._close(Branch(self._test(test), yes, no))
        self._block = no

    def _branch_block(self, depth: int) -> Block:
        """Return a block that branches; where it returns, what was counted so far is counted there."""
        label, cost = self._label(depth), self._cost
        if label.target is not None:
            return self._towards(depth)
        self._cost = 0
        made = self._towards(depth)
        self._cost = cost
        return made

    def _do_br_table(self, depths: tuple[int, ...]) -> None:
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

    def _do_call(self, index: int) -> None:
        module = self.linked.module
        if index >= len(module.imported) + len(module.functions):
            self._fail(f"there is no function {index}")
        signature = module.signature(index)
        values = self._several(signature.parameters)
        if index in self.linked.draws:
            self._invoke(load(f".draw{index}"), values, signature.results)
        else:
            self._called(call(f".call{index}", *(value.made for value in values)), signature.results)

    def _do_call_indirect(self, what: tuple[int, int]) -> None:
        kind, table = what
        if kind >= len(self.linked.module.types) or table >= len(self.linked.module.tables):
            self._fail(f"there is no type {kind}, or no table {table}")
        signature = self.linked.module.types[kind]
        index = self._pop("i32")
        values = self._several(signature.parameters)
        found = call(".indirect", constant(table), constant(kind), index.made)
        if kind in self.linked.drawing_types:
            self._invoke(found, values, signature.results)
        else:
            made = ast.Call(found, [value.made for value in values], [])
            self._called(made, signature.results)

    def _do_return_call(self, index: int) -> None:
        self._do_call(index)
        self._do_return(None)

    def _do_return_call_indirect(self, what: tuple[int, int]) -> None:
        self._do_call_indirect(what)
        self._do_return(None)

    def _called(self, made: ast.expr, results: Types) -> None:
        if not results:
            self._do(ast.Expr(made))
        elif len(results) == 1:
            self._at_once(made, results[0])
        else:
            self._unpack(self._named(Value(made, "")), results)

    def _unpack(self, value: Value, results: Types) -> None:
        for k, kind in enumerate(results):
            self._at_once(ast.Subscript(value.made, constant(k), ast.Load()), kind)

    def _invoke(self, function: ast.expr, values: list[Value], results: Types) -> None:
        """Call what may draw; of values that wait on the stack a state keeps what they are, not what of."""
        for depth, waiting in enumerate(self._stack):
            if not isinstance(waiting.made, ast.Name | ast.Constant):
                self._stack[depth] = self._named(waiting)
        name = f"t{self._temporaries}"
        self._temporaries += 1
        self.variables.add(name)
        then = Block()
        self._located(function)
        self._close(Invoke(name, function, [value.made for value in values], [], then, self._now.offset))
        self._block = then
        if self.linked.counts or self._loops():
            self._do(assign(COUNTER, constant(0)))
        value = Value(load(name), results[0] if results else "")
        if len(results) == 1:
            self._stack.append(value)
        elif results:
            self._unpack(value, results)

    def _loops(self) -> bool:
        """Tell whether a loop may come after this."""
        return b"\x03" in self.linked.module.data[self.function.begin : self.function.end]
