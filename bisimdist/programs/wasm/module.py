"""A WebAssembly module as it is written in its file: types, imports, functions, memory, tables, data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from bisimdist.bounded import read_file
from bisimdist.errors import ModelError
from bisimdist.programs.wasm.binary import TYPES, Reader
from bisimdist.programs.wasm.instructions import Instruction, Signature, decoded

MAX_BYTES = 64 * 2**20
MOST_PAGES = 65536
MOST_LOCALS = 50_000

KINDS = ("function", "table", "memory", "global")
_CONSTANT = re.compile(r"[if](32|64)\.const|i(32|64)\.(add|sub|mul)|global\.get|ref\.(null|func)")


Limits: TypeAlias = tuple[int, int | None]  # the least size of a memory or table, and the largest, if any
Constant: TypeAlias = tuple[Instruction, ...]  # what a value is computed of when the module begins


class Import(NamedTuple):
    """What the world outside has to give."""

    module: str
    name: str
    kind: str
    offset: int

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class Global(NamedTuple):
    """A global variable, and what its initial value is computed of."""

    type: str
    mutable: bool
    value: Constant = ()


class Export(NamedTuple):
    """What is known outside under a name: its kind and its number."""

    kind: str
    number: int


class Content(NamedTuple):
    """Bytes for the memory, or functions for a table; without a place an instruction copies bytes."""

    place: Constant | None
    items: Any
    table: int = 0


class Function(NamedTuple):
    """A function: its type, the types of its own variables, and where its code lies in the file."""

    signature: Signature
    locals: tuple[str, ...]
    begin: int
    end: int


@dataclass(slots=True)
class Module:
    """A module that was read."""

    source: str  # source, data and digest: what errors call the file, its bytes, and their digest
    data: bytes
    digest: str
    types: list[Signature] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    declared: list[Signature] = field(default_factory=list)  # the types of functions, imported ones first
    functions: list[Function] = field(default_factory=list)
    tables: list[Limits] = field(default_factory=list)
    memories: list[Limits] = field(default_factory=list)
    globals: list[Global] = field(default_factory=list)
    exports: dict[str, Export] = field(default_factory=dict)
    start: int | None = None
    elements: list[Content] = field(default_factory=list)
    tabled: dict[Signature, set[int]] = field(default_factory=dict)  # by type the functions in tables
    contents: list[Content] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    global_names: dict[int, str] = field(default_factory=dict)
    code: int = 0  # where the section with code begins: what debug information counts from
    custom: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str) -> Module:
        """Read a file. Raises ModelError if it is no module, with the offset of what is wrong."""
        return cls.of(read_file(Path(path), expected="a WebAssembly module", most=MAX_BYTES), path)

    @classmethod
    def of(cls, data: bytes, source: str) -> Module:
        """Read bytes."""
        module = cls(source, data, "sha256:" + hashlib.sha256(data).hexdigest())
        _read(module, Reader(data, source))
        return module

    @property
    def imported(self) -> list[Import]:
        """The functions that are imported."""
        return [one for one in self.imports if one.kind == "function"]

    def code_of(self, function: Function) -> Iterator[Instruction]:
        """Yield the instructions of a function."""
        return decoded(Reader(self.data, self.source, function.begin, function.end), self.types)

    def through(self, kind: int) -> set[int]:
        """Return the functions of a type that may be called through a table."""
        return self.tabled.get(self.types[kind], set()) if kind < len(self.types) else set()

    def name_of(self, index: int) -> str:
        """Return what a function is called."""
        for name, export in self.exports.items():
            if export.kind == "function" and export.number == index:
                return name
        return self.names.get(index, f"function {index}")

    def exported(self, name: str) -> int:
        """Return the number of an exported function. Raises ModelError if there is none."""
        found = self.exports.get(name)
        if found is None or found.kind != "function":
            there = [key for key, value in self.exports.items() if value.kind == "function"]
            raise ModelError(
                f"there is no exported function {name!r}; expected one of {', '.join(there[:20]) or 'none'}",
                source=self.source,
            )
        return found.number


def _read(module: Module, reader: Reader) -> None:
    """Read the sections of a module, which come in their order."""
    if reader.data[:4] != b"\0asm":
        reader.fail("this is no WebAssembly module: it does not begin with \\0asm")
    reader.place = 4
    version = int.from_bytes(reader.take(4), "little")
    if version != 1:
        what = "a component" if version >> 16 else f"version {version} of the format"
        reader.fail(f"this is {what}; expected a core module, of version 1", 4)
    last = -1
    while reader.place < reader.end:
        offset = reader.place
        number = reader.byte()
        if number and number not in _ORDER:
            reader.fail(f"section {number} is not known; expected a number from 0 to {len(_ORDER)}", offset)
        part = reader.part(reader.unsigned())
        if not number:
            _custom(module, part)
            continue
        if _ORDER.index(number) <= last:
            reader.fail(f"section {number} is not in its order, or comes twice", offset)
        last = _ORDER.index(number)
        if number == _CODE:
            module.code = part.place
        if number in _ITEMS:
            part.vector(partial(_ITEMS[number], module, part))
        elif number == _START:
            module.start = part.unsigned()
        else:
            part.unsigned()
        part.finish(f"section {number}")
    _check(module, reader)


def _custom(module: Module, part: Reader) -> None:
    name = part.name()
    module.custom[name] = (part.place, part.end)
    if name != "name":
        return
    with suppress(ModelError):  # names are for people only
        while part.place < part.end:
            kind = part.byte()
            inner = part.part(part.unsigned())
            named = {1: module.names, 7: module.global_names}.get(kind)
            if named is not None:
                named.update(inner.vector(lambda inner=inner: (inner.unsigned(), inner.name())))  # type: ignore[misc]


def _import(module: Module, part: Reader) -> None:
    offset = part.place
    names, kind = (part.name(), part.name()), _kind(part, "import")
    {"function": _declared, "table": _table, "memory": _memory, "global": _variable}[kind](module, part)
    module.imports.append(Import(*names, kind, offset))


def _declared(module: Module, part: Reader) -> None:
    offset, index = part.place, part.unsigned()
    if index >= len(module.types):
        part.fail(f"there is no type {index}", offset)
    module.declared.append(module.types[index])


def _function(module: Module, part: Reader) -> None:
    index = len(module.imported) + len(module.functions)
    if index == len(module.declared):
        part.fail("there is code for more functions than are declared")
    body = part.part(part.unsigned())
    kinds: list[str] = []
    for _ in range(body.unsigned()):
        count = body.unsigned()
        if len(kinds) + count > MOST_LOCALS:
            body.fail(f"a function has more than {MOST_LOCALS} variables")
        kinds += [_type(body)] * count
    module.functions.append(Function(module.declared[index], tuple(kinds), body.place, body.end))


def _export(module: Module, part: Reader) -> None:
    name = part.name()
    module.exports[name] = Export(_kind(part, "export"), part.unsigned())


def _variable(module: Module, part: Reader) -> None:
    module.globals.append(Global(_type(part), bool(part.byte())))


def _global(module: Module, part: Reader) -> None:
    _variable(module, part)
    module.globals[-1] = module.globals[-1]._replace(value=_constant(part))


def _data(module: Module, part: Reader) -> None:
    mode = part.unsigned()
    if mode == 2:
        part.unsigned()
    place = None if mode == 1 else _constant(part)
    module.contents.append(Content(place, part.take(part.unsigned())))


def _kind(part: Reader, what: str) -> str:
    kind = part.byte()
    if kind >= len(KINDS):
        part.fail(f"an {what} of kind {kind}; expected 0 to 3", part.place - 1)
    return KINDS[kind]


def _signature(module: Module, part: Reader) -> None:
    if part.byte() != 0x60:
        part.fail("expected the type of a function (0x60)", part.place - 1)
    taken, given = (tuple(part.vector(lambda: _type(part))) for _ in range(2))
    module.types.append(Signature(taken, given))


def _table(module: Module, part: Reader) -> None:
    _type(part)
    module.tables.append(_limits(part))


def _type(part: Reader) -> str:
    offset, code = part.place, part.byte()
    if code not in TYPES:
        vector = " (vectors of 128 bits are not supported)" if code == 0x7B else ""
        part.fail(f"{code:#x} is no type of a value{vector}", offset)
    return TYPES[code]


def _limits(part: Reader) -> Limits:
    offset, flag = part.place, part.byte()
    if flag > 1:
        part.fail("a memory is shared, or has addresses of 64 bits; expected neither", offset)
    return part.unsigned(), part.unsigned() if flag else None


def _memory(module: Module, part: Reader) -> None:
    offset, (least, most) = part.place, _limits(part)
    if max(least, most or 0) > MOST_PAGES:
        part.fail(f"a memory has more than {MOST_PAGES} pages", offset)
    module.memories.append((least, most))


def _constant(part: Reader) -> tuple[Instruction, ...]:
    """Read an expression that is computed when the module begins."""
    found: list[Instruction] = []
    for one in decoded(part, ()):
        if one.name == "end":
            break
        if not _CONSTANT.fullmatch(one.name):
            part.fail(f"the instruction {one.name} cannot stand in a constant", one.offset)
        found.append(one)
    return tuple(found)


def _element(module: Module, part: Reader) -> None:
    offset, flag = part.place, part.unsigned()
    if flag > 7:
        part.fail(f"elements of kind {flag}; expected 0 to 7", offset)
    table = part.unsigned() if flag & 3 == 2 else 0
    place = None if flag & 1 else _constant(part)
    if flag & 3:
        part.byte()

    def one() -> int | None:
        offset, found = part.place, _constant(part)
        if len(found) != 1 or not found[0].name.startswith("ref."):
            part.fail("an element is no function", offset)
        return found[0].what if found[0].name == "ref.func" else None

    items = part.vector(one if flag & 4 else part.unsigned)
    module.elements.append(Content(place, tuple(items), table))


_ORDER = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11)
_START, _CODE = 8, 10
_ITEMS: dict[int, Callable[[Module, Reader], None]] = {
    **{1: _signature, 2: _import, 3: _declared, 4: _table, 5: _memory, 6: _global},
    **{7: _export, 9: _element, _CODE: _function, 11: _data},
}  # what reads an item of a section


def _check(module: Module, reader: Reader) -> None:
    """Refuse numbers of what does not exist."""
    code, functions = len(module.functions), len(module.declared)
    declared = functions - len(module.imported)
    if code != declared:
        reader.fail(f"{declared} functions are declared; {code} have code")
    sizes = functions, len(module.tables), len(module.memories), len(module.globals)
    for name, export in module.exports.items():
        if export.number >= sizes[KINDS.index(export.kind)]:
            reader.fail(f"the export {name!r} names {export.kind} {export.number}, which does not exist")
    if module.start is not None and module.start >= functions:
        reader.fail(f"the start function {module.start} does not exist")
    for index in {index for element in module.elements for index in element.items} - {None}:
        if index >= functions:
            reader.fail(f"a table names function {index}, which does not exist")
        module.tabled.setdefault(module.declared[index], set()).add(index)
    if len(module.memories) > 1:
        reader.fail("the module has several memories; expected one at most")
