"""What instructions compute, where Python has no operator for it: as WebAssembly and IEEE define it.

Integers are kept as unsigned ones. A float is a Python float, one of 32 bits among those that have 32.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from bisimdist.programs.wasm.drawn import Drawn
from bisimdist.programs.wasm.reals import Pattern, Real, computed, pattern

_LARGEST = 3.4028234663852886e38
_HALF_MORE = float.fromhex("0x1.ffffffp+127")
"""From here on a number is rounded to infinity among floats of 32 bits."""


class Trap(Exception):  # noqa: N818
    """What ends a run: the machine cannot go on."""


def signed(value: Any, kind: str) -> Any:
    """Return a value of a type, an integer with the sign that its highest bit says, a float that is one."""
    if kind[0] != "i":
        return value.value() if type(value) is Real else value
    half = 1 << 31 if kind == "i32" else 1 << 63
    return (int(value) ^ half) - half


def _div_s(one: Any, other: Any, half: int) -> Any:
    if other == 0:
        _div_u(one, 0)
    if one == -half and other == -1:
        raise Trap("a quotient that does not fit")
    if one < 0:
        one, other = -one, -other
    return one // other if other > 0 else -(one // -other)


def _rem_s(one: Any, other: Any) -> Any:
    if other < 0:
        other = -other
    return _rem_u(one, other) if one >= 0 else -_rem_u(-one, other)


def _div_u(a: Any, b: Any) -> Any:
    if b:
        return a // b
    raise Trap("a division by zero")


def _rem_u(a: Any, b: Any) -> Any:
    return a % b if b else _div_u(a, 0)


def _ctz(a: Any, bits: int) -> int:
    if type(a) is int:
        return (a & -a).bit_length() - 1 if a else bits
    count = 0
    while count < bits and not a & (1 << count):
        count += 1
    return count


def _popcnt(a: Any) -> Any:
    if type(a) is int:
        return a.bit_count()
    return sum(bool(a & (1 << k)) for k in range(64))


def _rotl(a: Any, n: Any, bits: int, mask: int) -> Any:
    return ((a << n) & mask) | (a >> (bits - n)) if n else a


# floats


def _f32(value: float) -> float:
    """Round to the nearest float of 32 bits."""
    if not math.isfinite(value):
        return value
    if abs(value) >= _HALF_MORE:
        return math.copysign(math.inf, value)
    if abs(value) > _LARGEST:
        return math.copysign(_LARGEST, value)
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def _f32_of_integer(value: int) -> float:
    """Round an integer once: bits that a double would lose count as one bit behind what is kept."""
    size = abs(value)
    cut = size.bit_length() - 40
    if cut > 0:
        size = (size >> cut | bool(size & ((1 << cut) - 1))) << cut
    return _f32(float(size if value >= 0 else -size))


def _div(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _sqrt(a: float) -> float:
    return math.sqrt(a) if a >= 0 else a if a == 0 else math.nan


def _extreme(choose: Callable[..., float], sign: float) -> Callable[[float, float], float]:
    def chosen(a: float, b: float) -> float:
        if math.isnan(a) or math.isnan(b):
            return math.nan
        if a == b == 0:
            return a if math.copysign(1.0, a) == sign else b
        return choose(a, b)

    return chosen


def _rounded(function: Callable[[float], int]) -> Callable[[float], float]:
    def rounded(a: float) -> float:
        return math.copysign(float(function(a)), a) if math.isfinite(a) else a

    return rounded


def _truncated(bits: int, sign: bool, saturates: bool) -> Callable[[Any], Any]:
    low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if sign else (0, 1 << bits)

    def truncate(a: float) -> int:
        if math.isnan(a):
            if saturates:
                return 0
            raise Trap("an integer of what is no number")
        whole = (high if a > 0 else low - 1) if math.isinf(a) else math.trunc(a)
        if not (saturates or low <= whole < high):
            raise Trap("an integer of a float that is too large")
        return min(max(whole, low), high - 1) & ((1 << bits) - 1)

    return lambda a: a.decided(truncate) if type(a) is Real else truncate(a)


def _copysign(a: Any, b: Any) -> Any:
    sign = b.decided(lambda value: math.copysign(1.0, value)) if type(b) is Real else b
    return abs(a) if math.copysign(1.0, sign) > 0 else -abs(a)


def _as_float(bits: int) -> Callable[[Any], Any]:
    layout = "<f" if bits == 32 else "<d"
    name, half = f"as_f{bits}", 1 << (bits - 1)

    def convert(value: Any) -> Any:
        if type(value) is Pattern:
            return value.real if value.bits == bits else convert(value.whole())
        if type(value) is Drawn:
            return computed(name, value) if value >= half or value < half else None
        return float(struct.unpack(layout, int(value).to_bytes(bits // 8, "little"))[0])

    Real.know(name, convert)
    return convert


def _to_float(name: str, bits: int, sign: bool) -> Callable[[Any], Any]:
    half = (1 << (bits - 1)) if sign else 0
    return lambda a: computed(name, (a ^ half) - half)


Real.know("short", _f32_of_integer)


HELPERS: dict[str, Callable[..., Any]] = {
    "div_u": _div_u,
    "rem_u": _rem_u,
    "div_s": _div_s,
    "rem_s": _rem_s,
    "clz": lambda a, bits: bits - a.bit_length(),
    "ctz": _ctz,
    "popcnt": _popcnt,
    "rotl": _rotl,
    "abs": abs,
    "copysign": _copysign,
    "as_f32": _as_float(32),
    "as_f64": _as_float(64),
    "bits32": lambda a: pattern(a, 32),
    "bits64": pattern,
}  # by name what the code of a module calls
for _name, _function in {
    **{"f32": _f32, "div": _div, "sqrt": _sqrt, "min": _extreme(min, -1.0), "max": _extreme(max, 1.0)},
    **{"ceil": _rounded(math.ceil), "floor": _rounded(math.floor), "trunc": _rounded(math.trunc)},
    "nearest": _rounded(round),
}.items():
    HELPERS[_name] = Real.know(_name, _function)  # type: ignore[arg-type]
for _bits in (32, 64):
    for _sign in "su":
        HELPERS |= {
            f"trunc{_bits}_{_sign}": _truncated(_bits, _sign == "s", False),
            f"trunc_sat{_bits}_{_sign}": _truncated(_bits, _sign == "s", True),
            f"f64_of_i{_bits}_{_sign}": _to_float("float", _bits, _sign == "s"),
            f"f32_of_i{_bits}_{_sign}": _to_float("short", _bits, _sign == "s"),
        }
