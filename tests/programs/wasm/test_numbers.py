"""Every numeric instruction does what wasmtime does, on numbers at the borders."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bisimdist.programs.wasm import instructions
from bisimdist.programs.wasm.chance import Sampler
from bisimdist.programs.wasm.linking import Linker
from bisimdist.programs.wasm.module import Module
from bisimdist.programs.wasm.numbers import Trap
from bisimdist.programs.wasm.operations import NUMERIC, SATURATED
from tests.programs.wasm.assembly import assembled, get

OPERATIONS = NUMERIC | SATURATED
CODES = {name: code.to_bytes(1 + (code > 255), "big") for name, code in instructions.CODES.items()}


def _integers(bits: int) -> list[int]:
    top = 1 << bits
    found = {0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 255, 256, 0xDEADBEEF, 0x0123456789ABCDEF}
    found |= {top - 1, top - 2, top // 2, top // 2 - 1, top // 2 + 1, 128, 32768, 0x7FFFFFFF, 0x80000000}
    found |= {(1 << 53) + 1, (1 << 24) + 1, (1 << 63) + (1 << 39) + 1, (1 << 62) + (1 << 38), (1 << 25) - 1}
    return sorted(value % top for value in found)


FLOATS = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 1e30, -1e30, 2.0**31, 2.0**32, 2.0**63, 2.0**64),
    *(
        2.0**31 - 1,
        -(2.0**31),
        0.1,
        1e-40,
        2.0**-149,
        math.inf,
        -math.inf,
        math.nan,
        4294967295.0,
        1e300,
        4.9e-324,
    ),
]
SHORT = [value for value in FLOATS if not math.isfinite(value) or value in {0.0, 1.0, -1.0, 0.5}]
SHORT += [1.5, -2.5, 2.0**31, 2.0**63, 2.0**64, -(2.0**31), 2.0**-149, 2.0**-126, 3.4028234663852886e38, 0.75]


def _values(kind: str) -> list[Any]:
    found: dict[str, list[Any]] = {"i32": _integers(32), "i64": _integers(64), "f32": SHORT, "f64": FLOATS}
    return found[kind]


@pytest.fixture(scope="module")
def both() -> Iterator[Callable[[str], tuple[Callable[..., Any], Callable[..., Any]]]]:
    wasmtime = pytest.importorskip("wasmtime")
    functions = {}
    for name, (kinds, result, *_) in OPERATIONS.items():
        code = b"".join(map(get, range(len(kinds)))) + CODES[name]
        functions[name] = (kinds, (result,)), (), code
    module = Module.of(assembled(functions), "numbers.wasm")
    engine = wasmtime.Engine()
    store = wasmtime.Store(engine)
    exports = wasmtime.Instance(store, wasmtime.Module(engine, module.data), []).exports(store)
    linker = Linker(Sampler(module, 0, {}), frozenset(), set())

    def found(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        kinds = OPERATIONS[name][0]

        def real(*values: Any) -> Any:
            return exports[name](store, *map(_signed, values, kinds))

        return linker.segment(module.exported(name)).run, real

    yield found


def _signed(value: Any, kind: str) -> Any:
    bits = int(kind[1:])
    return value - (1 << bits) if kind[0] == "i" and value >> (bits - 1) else value


def _comparable(value: Any, kind: str) -> Any:
    if kind[0] == "i":
        return int(value) % (1 << int(kind[1:]))
    return "nan" if math.isnan(value) else float(value).hex()


@pytest.mark.extra("wasm")
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_as_wasmtime(name: str, both: Callable[[str], tuple[Callable[..., Any], Callable[..., Any]]]) -> None:
    kinds, result, *_ = OPERATIONS[name]
    ours, real = both(name)
    for values in itertools.product(*map(_values, kinds)):
        try:
            wanted = _comparable(real(*values), result)
        except Exception:
            wanted = "trap"
        try:
            made = _comparable(ours(*values), result)
        except Trap:
            made = "trap"
        assert made == wanted, values
