"""The lines of the source that instructions come from, where a module has debug information (DWARF)."""

from __future__ import annotations

import functools
import io
from bisect import bisect_right
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from bisimdist.programs.wasm.binary import at
from bisimdist.programs.wasm.module import Module

_SECTIONS = (
    *("info", "aranges", "abbrev", "frame", "str", "loc", "ranges", "line", "pubtypes", "pubnames", "addr"),
    *("str_offsets", "line_str", "loclists", "rnglists", "sup", "types"),
)


class Lines:
    """By offset in the file the line of the source; none without debug information, or without pyelftools."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def place(self, offset: int) -> str:
        """Return how people call an offset: with the function, and the line of the source.

        >>> Lines(Module("sampler.wasm", b"", "")).place(255)
        'offset 0xff'
        """
        line, functions = self.line(offset), enumerate(self.module.functions, len(self.module.imported))
        name = next((self.module.name_of(k) for k, one in functions if one.begin <= offset < one.end), "")
        return at(offset, name) + (f", {line}" if line else "")

    @functools.cache  # noqa: B019 - there is one for each exploration
    def line(self, offset: int) -> str:
        """Return ``FILE:LINE`` of an offset; an empty text where it is not known."""
        address = offset - self.module.code
        for starts, entries in self._units:
            found = bisect_right(starts, address) - 1
            if found >= 0 and entries[found]:
                return str(entries[found])
        return ""

    @functools.cached_property
    def _units(self) -> list[tuple[list[int], list[str]]]:
        """By unit of compilation where each line begins; an empty line where code of others does."""
        if not {".debug_info", ".debug_line"} <= self.module.custom.keys():
            return []
        try:
            dwarf = import_module("elftools.dwarf.dwarfinfo")
        except ImportError:
            return []
        config = dwarf.DwarfConfig(True, "wasm", 4)
        sections = {f"debug_{name}_sec": self._section(dwarf, f".debug_{name}") for name in _SECTIONS}
        try:
            found = dwarf.DWARFInfo(config, eh_frame_sec=None, gnu_debugaltlink_sec=None, **sections)
            return [unit for one in found.iter_CUs() for unit in _entries(found, one)]
        except Exception:  # debug information is for people only
            return []

    def _section(self, dwarf: Any, name: str) -> Any:
        begin, end = self.module.custom.get(name, (0, 0))
        stream = io.BytesIO(self.module.data[begin:end])
        return dwarf.DebugSectionDescriptor(stream, name, begin, end - begin, 0) if begin < end else None


def _entries(found: Any, unit: Any) -> Iterator[tuple[list[int], list[str]]]:
    program = found.line_program_for_CU(unit)
    if program is None:
        return
    files = program.header["file_entry"]
    first = 0 if program.header["version"] >= 5 else 1
    rows: dict[int, str] = {}
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        number = state.file - first
        name = files[number].name.decode(errors="replace") if 0 <= number < len(files) else "?"
        rows[state.address] = f"{name}:{state.line}" if not state.end_sequence and state.line else ""
    starts = sorted(rows)
    yield starts, [rows[start] for start in starts]
