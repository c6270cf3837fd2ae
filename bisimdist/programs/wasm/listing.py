"""The code of a module as text, an instruction a line, for people."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from bisimdist.programs.wasm.lines import Lines
from bisimdist.programs.wasm.module import Module


def listed(content: bytes, source: str, places: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield the offsets and the texts of the instructions of those functions of a module that have a place.

    The head of a function comes first; a line of the source stands behind the first instruction of it.

    Raises ModelError if it is no module.
    """
    module = Module.of(content, source)
    lines = Lines(module)
    first, said = len(module.imported), ""
    for number, function in enumerate(module.functions):
        if not any(function.begin <= place < function.end for place in places):
            continue
        index = first + number
        yield 0, f"{module.name_of(index)} {function.signature}"
        depth = 1
        for one in module.code_of(function):
            depth -= one.name in {"end", "else"}
            text = f"{one.offset:#08x} {'  ' * depth}{one.name}{_shown(module, one.name, one.what)}"
            line = lines.line(one.offset)
            yield one.offset, f"{text:<40} {line}" if line and line != said else text
            said = line
            depth += one.name in {"block", "loop", "if", "else"}


def _shown(module: Module, name: str, what: Any) -> str:
    if name in {"call", "return_call"}:
        imported = module.imported
        return f" {imported[what] if what < len(imported) else module.name_of(what)}"
    if what is None or name in {"block", "loop", "if"} or (what == 0 and ("load" in name or "store" in name)):
        return ""
    return f" {what}"
