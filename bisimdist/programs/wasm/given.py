"""What a function is called with: the input, as a number or a list in memory, and the other arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.programs.wasm.chance import Sampler
from bisimdist.programs.wasm.memory import PAGE, Memory

_LAYOUT = re.compile(r"(?P<kind>[iu](8|16|32|64))(?: at (?P<place>\d+|0x[0-9a-fA-F]+))?")


class Given:
    """Arguments of an exported function.

    arguments: what follows the input, as texts.
    layout: how a list is written into memory: the type of its numbers, and maybe where, as in ``i32 at
        4096``; the function is given the address and the length.
    Raises UsageError if the arguments do not fit the function.
    """

    def __init__(self, sampler: Sampler, arguments: Sequence[str] = (), layout: str | None = None) -> None:
        self.sampler, (module, index, _) = sampler, sampler
        name, self.types = module.name_of(index), module.declared[index].parameters
        self.kind, self.place = "", None
        if layout is not None:
            found = _LAYOUT.fullmatch(layout.strip())
            if found is None:
                raise UsageError(
                    f"--layout {layout[:60]}: expected a type, maybe an address, such as 'i32 at 4096'"
                )
            if not module.memories:
                raise UsageError(f"--layout {layout[:60]}: the module has no memory")
            self.kind = found["kind"]
            self.place = None if found["place"] is None else int(found["place"], 0)
        first = 2 if self.kind else 1
        missing = len(self.types) - first - len(arguments)
        if missing:
            more = f"give {missing} more with --argument" if missing > 0 else f"{-missing} are too many"
            raise UsageError(
                f"{name} takes {len(self.types)} arguments ({', '.join(self.types) or 'none'}), "
                f"{first} of which the input gives; {more}"
            )
        self.layout = layout
        self.more = [
            _number(f"--argument {text}", text, kind)
            for text, kind in zip(arguments, self.types[first:], strict=True)
        ]

    def check(self, name: str, value: Any) -> None:
        """Refuse an input that the function does not take."""
        if self.kind:
            self._elements(name, value)
        else:
            _number(f"--input {name}", value, self.types[0])

    def _elements(self, name: str, value: Any) -> bytes:
        if not isinstance(value, list | tuple) or not all(isinstance(one, int) for one in value):
            raise UsageError(f"--input {name[:60]}: expected a list of integers, for --layout was given")
        width, signed = int(self.kind[1:]) // 8, self.kind[0] == "i"
        try:
            return b"".join((one := int(number)).to_bytes(width, "little", signed=signed) for number in value)
        except OverflowError:
            raise UsageError(f"--input {name[:60]}: {one} does not fit {self.kind}") from None

    def arguments(self, value: Any, *, write: Any, grow: Any) -> list[Any]:
        """Return the arguments for an input; a list is written into memory first."""
        if not self.kind:
            return [_number("--input", value, self.types[0]), *self.more]
        content = self._elements(str(value), value)
        place = grow(-(-len(content) // PAGE) or 1) if self.place is None else self.place
        write(place, content)
        return [place, len(value), *self.more]

    def laid(self, memory: Memory, value: Any) -> list[Any]:
        """Return the arguments for an input of which the list is written into the machine's memory."""
        return self.arguments(value, write=memory.store, grow=lambda pages: memory.grow(pages) * PAGE)


def _number(what: str, value: Any, kind: str) -> int | float:
    """Return a number as an argument of a type, integers as unsigned ones."""
    if kind[0] == "f":
        try:
            return float(value)
        except (TypeError, ValueError):
            raise UsageError(f"{what[:60]}: expected a number, for the function takes an {kind}") from None
    try:
        number = int(value, 0) if isinstance(value, str) else value
    except ValueError:
        number = None
    bits = int(kind[1:]) if kind in {"i32", "i64"} else 0
    if not isinstance(number, int):
        hint = "; a list needs --layout, such as --layout i32" if isinstance(value, list | tuple) else ""
        raise UsageError(f"{what[:60]}: expected an integer, for the function takes an {kind}{hint}")
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise UsageError(f"{what[:60]}: it does not fit the {bits} bits that the function takes")
    return number % (1 << bits)
