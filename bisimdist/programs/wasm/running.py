"""Real runs of a module: wasmtime runs it, and chance is answered by a function."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from bisimdist.errors import ModelError
from bisimdist.extras import needed
from bisimdist.programs.wasm.binary import Reader
from bisimdist.programs.wasm.chance import host_of
from bisimdist.programs.wasm.given import Given
from bisimdist.programs.wasm.linking import opened, reached
from bisimdist.programs.wasm.memory import PAGE
from bisimdist.programs.wasm.module import Module
from bisimdist.programs.wasm.numbers import signed

FUEL = 1 << 36

_EXPORTS = 7
_WRITES = frozenset({"global.set", "memory.grow", "memory.fill", "memory.copy", "memory.init", "data.drop"})

Draw: TypeAlias = Callable[[int, int], int]
"""What is drawn, given the number of the draw and how many bits are wanted."""


def module_runs(
    argument: str, arguments: Sequence[str], chances: Sequence[str], layout: str | None
) -> Callable[[Any], Any]:
    """Return what runs ``FILE.wasm:FUNCTION`` on an input, with random bits of the operating system.

    Raises
    ------
    UsageError
        If wasmtime is not installed, or the function does not take such arguments.
    ModelError
        If the module is none; also when a run fails.
    """
    wasmtime = needed("wasmtime", "wasm")
    given = opened(argument, chances, arguments, layout)
    engine = Engine(wasmtime, given)

    def run(value: Any) -> Any:
        given.check(str(value), value)
        return engine.run(value, lambda _, bits: secrets.randbits(bits))[0]

    return run


def _zero(*_: int) -> int:
    return 0


class Engine:
    """A module in wasmtime, whose chance is answered by a function."""

    def __init__(self, wasmtime: Any, given: Given) -> None:
        self.wasmtime = wasmtime
        self.given = given
        self.module, function, self.chances = given.sampler
        config = wasmtime.Config()
        config.consume_fuel = True
        self.engine = wasmtime.Engine(config)
        self.errors = wasmtime.WasmtimeError, wasmtime.Trap
        with self._told("wasmtime refuses the module"):
            self.compiled = wasmtime.Module(self.engine, _trimmed(self.module, function))
        self.draw: Draw = _zero
        self.drawn = 0
        self.store: Any = None
        self.memory: Any = None
        self.exports: Any = None
        self.forgets = _forgets(self.module, function)

    def run(self, value: Any, draw: Draw) -> tuple[Any, int, int]:
        """Return the result, and how many draws and instructions there were; draws are numbered."""
        if self.exports is None or not self.forgets:
            self.draw = _zero
            with self._told("wasmtime does not begin"):
                self._begin()
        self.draw, self.drawn = draw, 0
        store = self.store
        store.set_fuel(FUEL)
        arguments = self.given.arguments(
            value,
            write=lambda place, content: self.memory.write(store, content, place),
            grow=lambda pages: self.memory.grow(store, pages) * PAGE,
        )
        before = store.get_fuel()
        with self._told("a run in wasmtime fails"):
            found = self.exports["run"](store, *map(signed, arguments, self.given.types))
        used = before - store.get_fuel()
        found = tuple(found) if isinstance(found, list) else found
        return found, self.drawn, used

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Say what wasmtime says."""
        try:
            yield
        except self.errors as error:
            why = str(error).strip().splitlines()[-1].strip()
            raise ModelError(f"{what}: {why[:200]}", source=self.module.source) from None

    def _begin(self) -> None:
        """Make an instance of the module."""
        wasmtime = self.wasmtime
        self.store = store = wasmtime.Store(self.engine)
        store.set_fuel(FUEL)
        imports = []
        index = 0
        for one in self.compiled.imports:
            if isinstance(one.type, wasmtime.FuncType):
                imports.append(wasmtime.Func(store, one.type, self._import(index), access_caller=True))
                index += 1
            elif isinstance(one.type, wasmtime.MemoryType):
                self.memory = wasmtime.Memory(store, one.type)
                imports.append(self.memory)
            else:
                imports.append(wasmtime.Table(store, one.type, None))
        self.exports = wasmtime.Instance(store, self.compiled, imports).exports(store)
        self.memory = self.exports.get("memory", self.memory)
        if "begin" in self.exports:
            self.exports["begin"](store)

    def _import(self, index: int) -> Callable[..., Any]:
        chance, host = self.chances.get(index), host_of(self.module.imported[index])
        kinds = self.module.declared[index].results

        def answer(caller: Any, *arguments: Any) -> Any:
            memory = self.memory or caller.get("memory")
            if host is not None and chance is None:
                for place, size, number in host.writes:
                    memory.write(self.store, number.to_bytes(size, "little"), arguments[place] & 0xFFFFFFFF)
                return host.result
            if chance is None:
                raise ModelError(
                    f"it calls the import {self.module.imported[index]}, which is not known",
                    source=self.module.source,
                )
            place, size = 0, 0
            if not chance.bits:
                place, size = (part & 0xFFFFFFFF for part in arguments[chance.place : chance.place + 2])
            value = self.draw(self.drawn, chance.bits or 8 * size)
            self.drawn += 1
            if chance.bits:
                return signed(value, kinds[0])
            memory.write(self.store, value.to_bytes(size, "little"), place)
            return {"": None, "0": 0, "count": size}[chance.returned]

        return answer


def _forgets(module: Module, function: int) -> bool:
    """Tell whether nothing that a call does can be seen by the next one: it writes locals only."""
    first, calls = len(module.imported), reached(module, function)
    codes = [module.code_of(module.functions[index - first]) for index in calls if index >= first]
    return not any(index < first and module.declared[index].parameters for index in calls) and not any(
        ".store" in one.name or one.name in _WRITES for code in codes for one in code
    )


def _trimmed(module: Module, function: int) -> bytes:
    """Return a module that exports what is used and nothing else, for each export costs time in each run."""
    kept = [(b"run", 0, function)]
    begin = module.exports.get("_initialize")
    if begin is not None and begin.number != function:
        kept.append((b"begin", 0, begin.number))
    if module.memories and not any(one.kind == "memory" for one in module.imports):
        kept.append((b"memory", 2, 0))
    reader = Reader(module.data, module.source, 8)
    while True:
        place, number = reader.place, reader.byte()
        part = reader.part(reader.unsigned())
        if number == _EXPORTS:
            break
    content = _leb(len(kept)) + b"".join(
        _leb(len(name)) + name + bytes([kind]) + _leb(index) for name, kind, index in kept
    )
    return module.data[:place] + bytes([_EXPORTS]) + _leb(len(content)) + content + module.data[part.end :]


def _leb(value: int) -> bytes:
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])
