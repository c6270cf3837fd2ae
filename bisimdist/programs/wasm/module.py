"""A WebAssembly module as it is written in its file: types, imports, functions, memory, tables, data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bisimdist.bounded import read_file
from bisimdist.errors import ModelError
from bisimdist.programs.wasm.binary import TYPES, Reader
from bisimdist.programs.wasm.instructions import Instruction, Signature, decoded

MAX_BYTES = 64 * 2**20
MOST_PAGES = 65536

KINDS = ("function", "table", "memory", "global")
_CUSTOM, _LAST = 0, 12
_CONSTANT = re.compile(r"[if](32|64)\.const|i(32|64)\.(add|sub|mul)|global\.get|ref\.(null|func)")


@dataclass(frozen=True, slots=True)
class Limits:
    """The least size of a memory or table, and the largest, where there is one."""

    least: int
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Import:
    """What the world outside has to give: of a function `what` is the number of its type."""

    module: str
    name: str
    kind: str
    what: Any
    offset: int

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class Global:
    """A global variable; `value` is what its initial value is computed of."""

    type: str
    mutable: bool
    value: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True)
class Export:
    """What is known outside under a name."""

    kind: str
    index: int


@dataclass(frozen=True, slots=True)
class Element:
    """Functions for a table; without a place no instruction that is supported puts them there."""

    table: int
    place: tuple[Instruction, ...] | None
    functions: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes for a memory; without a place they are copied by an instruction."""

    place: tuple[Instruction, ...] | None
    content: bytes


@dataclass(frozen=True, slots=True)
class Function:
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
    functions: list[Function] = field(default_factory=list)
    tables: list[Limits] = field(default_factory=list)
    memories: list[Limits] = field(default_factory=list)
    globals: list[Global] = field(default_factory=list)
    exports: dict[str, Export] = field(default_factory=dict)
    start: int | None = None
    elements: list[Element] = field(default_factory=list)
    contents: list[Data] = field(default_factory=list)
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
        _Sections(module, Reader(data, source)).read()
        return module

    @property
    def imported(self) -> list[Import]:
        """The functions that are imported."""
        return [one for one in self.imports if one.kind == "function"]

    def code_of(self, function: Function) -> Iterator[Instruction]:
        """Yield the instructions of a function."""
        return decoded(Reader(self.data, self.source, function.begin, function.end), self.types)

    def signature(self, index: int) -> Signature:
        """Return the type of a function, imported ones first."""
        imported = self.imported
        if index < len(imported):
            found: Signature = self.types[imported[index].what]
            return found
        return self.functions[index - len(imported)].signature

    def name_of(self, index: int) -> str:
        """Return what a function is called."""
        for name, export in self.exports.items():
            if export.kind == "function" and export.index == index:
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
        return found.index


class _Sections:
    """Reads the sections of a module, which come in their order."""

    def __init__(self, module: Module, reader: Reader) -> None:
        self.module = module
        self.reader = reader
        self.types_of_functions: list[int] = []

    def read(self) -> None:
        reader = self.reader
        if reader.data[:4] != b"\0asm":
            reader.fail("this is no WebAssembly module: it does not begin with \\0asm")
        reader.place = 4
        version = int.from_bytes(reader.take(4), "little")
        if version != 1:
            what = "a component" if version >> 16 else f"version {version} of the format"
            reader.fail(f"this is {what}; expected a core module, of version 1", 4)
        order = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11)
        last = -1
        while reader.place < reader.end:
            offset = reader.place
            number = reader.byte()
            if number > _LAST:
                reader.fail(f"section {number} is not known; expected a number from 0 to {_LAST}", offset)
            part = reader.part(reader.unsigned())
            if number == _CUSTOM:
                self._custom(part)
                continue
            if order.index(number) <= last:
                reader.fail(f"section {number} is not in its order, or comes twice", offset)
            last = order.index(number)
            self._section(number, part)
            part.finish(f"section {number}")
        if len(self.module.functions) != len(self.types_of_functions):
            reader.fail(
                f"{len(self.types_of_functions)} functions are declared; "
                f"{len(self.module.functions)} have code"
            )
        _check(self.module, reader)

    def _custom(self, part: Reader) -> None:
        name = part.name()
        self.module.custom[name] = (part.place, part.end)
        if name == "name":
            try:
                self._names(part)
            except ModelError:
                return  # names are for people only

    def _names(self, part: Reader) -> None:
        while part.place < part.end:
            kind = part.byte()
            inner = part.part(part.unsigned())
            if kind in {1, 7}:
                found = _indexed(inner)
                (self.module.names if kind == 1 else self.module.global_names).update(found)

    def _section(self, number: int, part: Reader) -> None:
        module = self.module
        match number:
            case 1:
                module.types = part.vector(lambda: _signature(part))
            case 2:
                module.imports = part.vector(lambda: self._import(part))
            case 3:
                self.types_of_functions = part.vector(lambda: self._type_index(part))
            case 4:
                module.tables += part.vector(lambda: _table(part))
            case 5:
                module.memories += part.vector(lambda: _memory(part))
            case 6:
                module.globals += part.vector(lambda: Global(_type(part), bool(part.byte()), _constant(part)))
            case 7:
                module.exports = dict(
                    part.vector(lambda: (part.name(), Export(_kind(part, "export"), part.unsigned())))
                )
            case 8:
                module.start = part.unsigned()
            case 9:
                module.elements = part.vector(lambda: _element(part))
            case 10:
                module.code = part.place
                declared = iter(self.types_of_functions)
                module.functions = part.vector(lambda: self._function(part, next(declared, None)))
            case 11:
                module.contents = part.vector(lambda: _data(part))
            case _:
                part.unsigned()

    def _import(self, part: Reader) -> Import:
        offset = part.place
        module, name, kind = part.name(), part.name(), _kind(part, "import")
        what: Any
        match kind:
            case "function":
                what = self._type_index(part)
            case "table":
                self.module.tables.append(what := _table(part))
            case "memory":
                self.module.memories.append(what := _memory(part))
            case _:
                self.module.globals.append(what := Global(_type(part), bool(part.byte())))
        return Import(module, name, kind, what, offset)

    def _type_index(self, part: Reader) -> int:
        offset, index = part.place, part.unsigned()
        if index >= len(self.module.types):
            part.fail(f"there is no type {index}", offset)
        return index

    def _function(self, part: Reader, index: int | None) -> Function:
        if index is None:
            part.fail("there is code for more functions than are declared")
        body = part.part(part.unsigned())
        kinds: list[str] = []
        for _ in range(body.unsigned()):
            count = body.unsigned()
            if len(kinds) + count > 50_000:
                body.fail("a function has more than 50000 variables")
            kinds += [_type(body)] * count
        return Function(self.module.types[index], tuple(kinds), body.place, body.end)


def _indexed(part: Reader) -> dict[int, str]:
    return dict(part.vector(lambda: (part.unsigned(), part.name())))


def _data(part: Reader) -> Data:
    mode = part.unsigned()
    if mode == 2:
        part.unsigned()
    place = None if mode == 1 else _constant(part)
    return Data(place, part.take(part.unsigned()))


def _kind(part: Reader, what: str) -> str:
    kind = part.byte()
    if kind >= len(KINDS):
        part.fail(f"an {what} of kind {kind}; expected 0 to 3", part.place - 1)
    return KINDS[kind]


def _signature(part: Reader) -> Signature:
    if part.byte() != 0x60:
        part.fail("expected the type of a function (0x60)", part.place - 1)
    return Signature(tuple(part.vector(lambda: _type(part))), tuple(part.vector(lambda: _type(part))))


def _table(part: Reader) -> Limits:
    _type(part)
    return _limits(part)


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
    return Limits(part.unsigned(), part.unsigned() if flag else None)


def _memory(part: Reader) -> Limits:
    offset = part.place
    found = _limits(part)
    if max(found.least, found.most or 0) > MOST_PAGES:
        part.fail(f"a memory has more than {MOST_PAGES} pages", offset)
    return found


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


def _element(part: Reader) -> Element:
    offset, flag = part.place, part.unsigned()
    if flag > 7:
        part.fail(f"elements of kind {flag}; expected 0 to 7", offset)
    active, explicit, expressions = not flag & 1, bool(flag & 2), bool(flag & 4)
    table = part.unsigned() if active and explicit else 0
    place = _constant(part) if active else None
    if not active or explicit:
        part.byte()

    def one() -> int | None:
        if not expressions:
            return part.unsigned()
        offset, found = part.place, _constant(part)
        if len(found) != 1 or not found[0].name.startswith("ref."):
            part.fail("an element is no function", offset)
        return found[0].what if found[0].name == "ref.func" else None

    return Element(table, place, tuple(part.vector(one)))


def _check(module: Module, reader: Reader) -> None:
    """Refuse numbers of what does not exist."""
    functions = len(module.imported) + len(module.functions)
    sizes = {"function": functions, "table": len(module.tables), "memory": len(module.memories)}
    sizes["global"] = len(module.globals)
    for name, export in module.exports.items():
        if export.index >= sizes[export.kind]:
            reader.fail(f"the export {name!r} names {export.kind} {export.index}, which does not exist")
    if module.start is not None and module.start >= functions:
        reader.fail(f"the start function {module.start} does not exist")
    for element in module.elements:
        for index in element.functions:
            if index is not None and index >= functions:
                reader.fail(f"a table names function {index}, which does not exist")
    if len(module.memories) > 1:
        reader.fail("the module has several memories; expected one at most")
