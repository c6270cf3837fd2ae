"""From a module to functions of Python: who may draw, what memory begins with, and code."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NoReturn

from bisimdist.errors import ModelError
from bisimdist.programs.blocks import analyse
from bisimdist.programs.code import Code, Segment
from bisimdist.programs.control import Outside
from bisimdist.programs.emit import Emitter
from bisimdist.programs.wasm.building import MOST_TURNS
from bisimdist.programs.wasm.chance import Host, Sampler, chances_of, host_of, refuse_others
from bisimdist.programs.wasm.given import Given
from bisimdist.programs.wasm.instructions import Instruction
from bisimdist.programs.wasm.memory import Memory
from bisimdist.programs.wasm.module import MOST_PAGES, Module
from bisimdist.programs.wasm.numbers import HELPERS, Trap
from bisimdist.programs.wasm.translation import Translation


class Routine:
    """A function that may draw: its code is made when it is called first."""

    def __init__(self, index: int, make: Callable[[int], Segment]) -> None:
        self.make = partial(make, index)

    @cached_property
    def entry(self) -> Segment:
        """Its first segment."""
        return self.make()


@dataclass(slots=True)
class Tally:
    """What somebody sees of a run between two draws, and the number that this has."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)
    steps: int = 0

    def clear(self) -> None:
        """Begin again."""
        self.count = 0
        self.lines.clear()
        self.branches.clear()


def reached(module: Module, first: int) -> dict[int, set[int]]:
    """Return by function that may be called what it calls."""
    calls: dict[int, set[int]] = {}
    imported = len(module.imported)
    stack = [first, *beginnings(module, first)]
    while stack:
        index = stack.pop()
        if index in calls:
            continue
        called = calls[index] = set()
        for one in module.code_of(module.functions[index - imported]) if index >= imported else ():
            if one.name in {"call", "return_call"} and one.what < imported + len(module.functions):
                called.add(one.what)
            elif one.name in {"call_indirect", "return_call_indirect"}:
                called |= module.through(one.what[0])
        stack += called
    return calls


def opened(argument: str, chances: Sequence[str], arguments: Sequence[str], layout: str | None) -> Given:
    """Return ``FILE.wasm:FUNCTION`` with its arguments."""
    name, _, function = argument.partition(".wasm:")
    module = Module.read(name + ".wasm")
    index = module.exported(function)
    known = chances_of(module, chances)
    refuse_others(module, known, sorted(reached(module, index)))
    return Given(Sampler(module, index, known), arguments, layout)


def beginnings(module: Module, function: int) -> list[int]:
    """Return the functions that are called before another one is."""
    kind, ready = module.exports.get("_initialize", ("", None))
    found = module.start, ready if kind == "function" else None
    return [index for index in found if index is not None and index != function]


def drawing(sampler: Sampler) -> frozenset[int]:
    """Return the functions that may draw, themselves or through what they call."""
    calls = reached(sampler.module, sampler.function)
    found = calls.keys() & sampler.chances.keys()
    while more := {index for index, called in calls.items() if index not in found and called & found}:
        found |= more
    return frozenset(found)


class Linker:
    """Makes code of functions, and what that code refers to.

    kept: words of memory that are never forgotten.
    """

    def __init__(self, sampler: Sampler, kinds: frozenset[str], kept: set[int]) -> None:
        self.module = module = sampler.module
        self.chances = sampler.chances
        self.tally = Tally()
        self.draws = drawing(sampler)
        """The numbers of functions that may draw."""
        self.counts, self.branches = "instructions" in kinds, "branches" in kinds
        """Whether instructions are counted, and whether the outcomes of branches are noted."""
        self.stack = _stack_pointer(module)
        self.globals: list[Any] = []
        self.dropped = len(module.globals)
        """From here on the global variables are whether parts of the data are dropped, if one may be used."""
        pages, most = module.memories[0] if module.memories else (0, None)
        lines = self.tally.lines if "memory" in kinds else None
        self.memory = Memory({}, pages, MOST_PAGES if most is None else most, kept, lines)
        self.tables: list[list[int | None]] = [[None] * min(least, 1 << 20) for least, _ in module.tables]
        self.space: dict[str, Any] = self._space()
        self._fill()

    # what code refers to

    def _space(self) -> dict[str, Any]:
        memory, tally = self.memory, self.tally
        space: dict[str, Any] = {"." + name: helper for name, helper in HELPERS.items()}
        space |= {f".r{size}": read for size, read in memory.read.items()}
        space |= {f".w{size}": write for size, write in memory.write.items()}
        globals_ = self.globals

        def count(number: int) -> None:
            tally.count += number

        def branch(test: Any) -> Any:
            taken = int(test)
            tally.branches.append(taken)
            return taken

        def move_stack(value: Any) -> None:
            where = self.stack or 0
            before, after = globals_[where], int(value)
            if after > before:
                memory.pop(before, after)
            globals_[where] = after

        def init(number: int, to: Any, source: Any, size: Any) -> None:
            to, source, size = int(to), int(source), int(size)
            where = self.dropped + number
            gone = where >= len(globals_) or globals_[where]
            content = b"" if gone else self.module.contents[number].items
            if source + size > len(content):
                raise Trap("memory out of bounds")
            memory.store(to, content[source : source + size])

        def drop(number: int) -> None:
            if self.dropped < len(globals_):
                globals_[self.dropped + number] = 1

        def sized(function: Callable[..., Any], place: int) -> Callable[..., Any]:
            """Count what a function does once for each byte, or page."""

            def counted(*given: Any) -> Any:
                tally.count += int(given[place])
                return function(*given)

            return counted if self.counts else function

        space |= {
            ".globals": globals_,
            ".tally": count,
            ".branch": branch,
            ".move_stack": move_stack,
            ".pages": lambda: memory.pages,
            ".grow": sized(memory.grow, 0),
            ".fill": sized(memory.fill, 2),
            ".copy": sized(memory.copy, 2),
            ".init": sized(init, 3),
            ".drop": drop,
            ".trap": _trap,
            ".forever": _forever,
            ".indirect": self._indirect,
        }
        for index, one in enumerate(self.module.imported):
            space[f".function{index}"] = self.chances.get(index) or self._hosted(host_of(one), str(one))
        for index in range(len(self.module.imported), len(self.module.declared)):
            draws = index in self.draws
            space[f".function{index}"] = (
                Routine(index, self.segment) if draws else partial(self._first, index)
            )
        return space

    def _hosted(self, host: Host | None, name: str) -> Callable[..., Any]:
        """Return a function of WASI, or one that is not known."""

        def call(*given: Any) -> int:
            if host is None:
                raise Outside(
                    f"it calls the import {name}, which is not known", f"if it draws, say --chance {name}"
                )
            if host.result is None:
                raise Trap(f"it ends itself with {name}")
            for place, size, value in host.writes:
                self.memory.write[size](given[place], value)
            return host.result

        return call

    def _indirect(self, table: int, kind: int, place: Any) -> Any:
        """Return the function that a table has at a place, if it is of the type that is called."""
        functions = self.tables[table]
        place = int(place)
        index = functions[place] if place < len(functions) else None
        if index is None:
            raise Trap("an entry of a table that is empty or does not exist")
        if self.module.declared[index] != self.module.types[kind]:
            raise Trap("a call through a table of a function of another type")
        return self.space[f".function{index}"]

    # code

    def segment(self, index: int) -> Segment:
        """Return the first segment of a function; the whole of it, if it does not draw."""
        function = self.module.functions[index - len(self.module.imported)]
        name = self.module.name_of(index)
        work = Translation(self, function, name, index in self.draws)
        first, given = work.run()
        code = Code(name, self.module.source, function.begin)
        flow = analyse(first, work.variables, set(given))
        return Emitter(flow, code, self._keep, self.space, name).run(given)

    def _first(self, index: int, *given: Any) -> Any:
        """Call a function that does not draw for the first time."""
        found = self.space[f".function{index}"] = self.segment(index).run
        return found(*given)

    def _keep(self, value: object) -> str:
        name = f".k{len(self.space)}"
        self.space[name] = value
        return name

    # how it begins

    def _fill(self) -> None:
        """Give globals, tables and memory what the module says they begin with."""
        for one in self.module.globals:
            self.globals.append(self._value(one.value))
        if any(data.place is None for data in self.module.contents):
            self.globals += [int(data.place is not None) for data in self.module.contents]
        for element in self.module.elements:
            if element.place is not None:
                place = self._address(element.place)
                table = self.tables[element.table] if element.table < len(self.tables) else []
                if place + len(element.items) > len(table):
                    raise self._refusal("elements do not fit into their table")
                table[place : place + len(element.items)] = element.items
        for data in self.module.contents:
            if data.place is not None:
                place = self._address(data.place)
                if place + len(data.items) > self.memory.size:
                    raise self._refusal(
                        f"{len(data.items)} bytes of data at {place} do not fit into the memory"
                    )
                self.memory.store(place, data.items)
        self.memory.settled()

    def _refusal(self, what: str) -> ModelError:
        return ModelError(what, source=self.module.source, place="when it begins")

    def _value(self, expression: tuple[Instruction, ...]) -> Any:
        """Compute a constant expression."""
        stack: list[Any] = []
        for name, what, _ in expression:
            if name == "global.get":
                if what >= len(self.globals):
                    raise self._refusal(f"global variable {what} is used before it has a value")
                stack.append(self.globals[what])
            elif name[4:] in {"add", "sub", "mul"} and list(map(type, stack[-2:])) == [int, int]:
                two, one = stack.pop(), stack.pop()
                stack.append(getattr(operator, name[4:])(one, two) % 2 ** int(name[1:3]))
            else:
                stack.append(None if name == "ref.null" else what)
        if len(stack) != 1:
            raise self._refusal("a constant expression has no value, or several")
        return stack[0]

    def _address(self, expression: tuple[Instruction, ...]) -> int:
        found = self._value(expression)
        if not isinstance(found, int):
            raise self._refusal("a place is no integer")
        return found


def _stack_pointer(module: Module) -> int | None:
    """Return the number of the global variable that is the stack pointer, as toolchains write modules."""
    named = [index for index, name in module.global_names.items() if name == "__stack_pointer"]
    plain = [index for index, one in enumerate(module.globals) if one.mutable and one.type == "i32"]
    return next(iter(named + plain), None)


def _trap(what: str) -> NoReturn:
    raise Trap(what)


def _forever() -> NoReturn:
    raise Outside("a loop does not end", f"at most {MOST_TURNS} turns are run from one draw to the next")
