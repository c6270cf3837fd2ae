"""Imports of a module: which of them are sources of uniform bits, and which are refused."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bisimdist.errors import ModelError, UsageError
from bisimdist.programs.machine_source import Request
from bisimdist.programs.wasm.binary import at
from bisimdist.programs.wasm.instructions import Signature
from bisimdist.programs.wasm.module import Import, Module

MOST_BYTES = 4096  # so many random bytes are asked for at once

_BITS_IN_NAME = re.compile(r"(?<![0-9v.])([1-9][0-9]?)$")

_WASI = re.compile(r"wasi_\w+")
_BOUND = re.compile(r"__wbindgen_\w+|wbg|\./.*")
_FILLS = re.compile(
    r"(__wbg_)?(get_?random(_?values)?|getentropy|random_get|__getrandom_\w+)(_[0-9a-f]{16})?", re.I
)


@dataclass(frozen=True, slots=True)
class Host:
    """A function of WASI where nothing is outside and the clock stands still."""

    result: int | None = 0  # what it returns; nothing where it ends the program
    # which arguments are addresses, how many bytes it writes there, and the number that they are
    writes: tuple[tuple[int, int, int], ...] = ()


HOSTS = {
    "args_get": Host(),
    "args_sizes_get": Host(0, ((0, 4, 0), (1, 4, 0))),
    "clock_time_get": Host(0, ((2, 8, 10**9),)),
    "environ_get": Host(),
    "environ_sizes_get": Host(0, ((0, 4, 0), (1, 4, 0))),
    "fd_prestat_get": Host(8),
    "proc_exit": Host(None),
    "sched_yield": Host(),
}  # what modules call before they do anything


def host_of(one: Import) -> Host | None:
    """Return the function of WASI that an import is, if it is known."""
    return HOSTS.get(one.name) if _WASI.fullmatch(one.module) else None


@dataclass(frozen=True, slots=True)
class Chance:
    """An import that draws."""

    name: str  # what it is called
    bits: int = 0  # how many uniform bits it returns; 0 where it writes bytes into memory
    place: int = 0  # which argument is the address of these, and the next one their number
    returned: str = "0"  # what it returns then: a number, or that of the bytes, or nothing


class Sampler(NamedTuple):
    """A function of a module, and the imports of the module that draw, by number."""

    module: Module
    function: int
    chances: Mapping[int, Chance]


@functools.cache
def request_of(bits: int) -> Request:
    """Return what is asked for, if so many bits are."""
    return Request(("bits", bits), 1 << bits)


def chances_of(module: Module, named: Sequence[str]) -> dict[int, Chance]:
    """Return the imported functions that draw, by number.

    named: the imports that somebody names as sources of uniform bits, as ``MODULE.NAME``.
    Raises UsageError if one of these is not imported. Raises ModelError if it returns no integer.
    """
    imported = module.imported
    there = dict.fromkeys(map(str, imported))
    for name in named:
        if name not in there:
            raise UsageError(
                f"--chance {name}: {module.source} does not import it; expected one of "
                f"{', '.join(there) or 'none, for it imports no function'}"
            )
    found = {
        index: _returned(module, one, module.declared[index])
        for index, one in enumerate(imported)
        if str(one) in named
    }
    others = ((index, _known(one, module.declared[index])) for index, one in enumerate(imported))
    return {index: known for index, known in others if known is not None} | found


def _returned(module: Module, one: Import, signature: Signature) -> Chance:
    """Return the source that an import is which somebody has named."""
    if signature.results not in {("i32",), ("i64",)}:
        known = _known(one, signature)
        if known is not None:
            return known
        raise ModelError(
            f"the import {one} of type {signature} returns no integer; a source of bits returns one",
            source=module.source,
            place=at(one.offset),
        )
    whole = int(signature.results[0][1:])
    written = _BITS_IN_NAME.search(one.name)
    bits = int(written[1]) if written else whole
    return Chance(str(one), min(bits, whole))


def _known(one: Import, signature: Signature) -> Chance | None:
    """Return the source that an import is by its name and type: one that fills memory with random bytes."""
    if not _FILLS.fullmatch(one.name) or len(signature.parameters) not in {2, 3}:
        return None
    if not {"i32"}.issuperset(signature.parameters) or len(signature.results) > 1:
        return None
    flags = one.name.lower() == "getrandom" and len(signature.parameters) == 3
    place = len(signature.parameters) - 2 - flags
    return Chance(str(one), 0, place, "" if not signature.results else "count" if flags else "0")


def refuse_others(module: Module, chances: dict[int, Chance], used: Sequence[int]) -> None:
    """Refuse what else is imported: memory and tables begin empty, but nobody knows what a function does.

    Functions of hosts that every module of a toolchain imports are refused where they are called.

    Raises ModelError if there is such an import.
    """
    imported = module.imported
    for one in module.imports:
        if one.kind == "global":
            raise ModelError(
                f"the global variable {one} is imported; expected a module without", source=module.source,
                place=at(one.offset),
            )  # fmt: skip
    for one in [imported[index] for index in used if index < len(imported) and index not in chances]:
        if not (_WASI.fullmatch(one.module) or _BOUND.fullmatch(one.module)):
            raise ModelError(
                f"the import {one} is not known; if it returns uniform bits, say --chance {one}",
                source=module.source,
                place=at(one.offset),
            )
