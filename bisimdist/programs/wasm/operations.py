"""Expressions of Python for what instructions compute, of expressions for what they take."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from bisimdist.programs.syntax import call

Expression = ast.expr
Operation = tuple[tuple[str, ...], str, Callable[..., Expression], bool]
"""The types of what is taken and given, the expression, and whether it has to be computed at once."""


_ORDERS: dict[str, ast.cmpop] = {"lt": ast.Lt(), "gt": ast.Gt(), "le": ast.LtE(), "ge": ast.GtE()}


def constant(value: Any) -> ast.Constant:
    """Return a constant."""
    return ast.Constant(value)


def _two(operator: ast.operator, a: Expression, b: Expression) -> Expression:
    return ast.BinOp(a, operator, b)


def masked(value: Expression, bits: int) -> Expression:
    """Return the low bits of a number."""
    if isinstance(value, ast.Constant):
        return constant(value.value & ((1 << bits) - 1))  # type: ignore[operator]
    return _two(ast.BitAnd(), value, constant((1 << bits) - 1))


def _plain(value: Expression) -> int | None:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) else None


def less(value: Expression, half: int) -> Expression:
    """Return a signed number, moved so that it is compared as an unsigned one."""
    known = _plain(value)
    return constant(known ^ half) if known is not None else _two(ast.BitXor(), value, constant(half))


def extended(value: Expression, size: int, bits: int) -> Expression:
    """Return a number of which the sign is extended from some bits to more."""
    half = constant(1 << (size - 1))
    return masked(_two(ast.Sub(), _two(ast.BitXor(), value, half), half), bits)


def _compared(operator: ast.cmpop, a: Expression, b: Expression) -> Expression:
    return ast.Compare(a, [operator], [b])


def _helper(name: str) -> Callable[..., Expression]:
    return lambda *arguments: call("." + name, *arguments)


def _shifted(bits: int, operator: ast.operator, *, cut: bool = False) -> Callable[..., Expression]:
    def shift(a: Expression, b: Expression) -> Expression:
        known = _plain(b)
        count = constant(known % bits) if known is not None else _two(ast.BitAnd(), b, constant(bits - 1))
        found = _two(operator, a, count)
        return masked(found, bits) if cut else found

    return shift


def _shift_signed(bits: int) -> Callable[..., Expression]:
    half = 1 << (bits - 1)
    right = _shifted(bits, ast.RShift())
    return lambda a, b: masked(right(_two(ast.Sub(), less(a, half), constant(half)), b), bits)


def _divided(operator: ast.operator, name: str) -> Callable[..., Expression]:
    def divide(a: Expression, b: Expression) -> Expression:
        return _two(operator, a, b) if _plain(b) else call("." + name, a, b)

    return divide


def _integers(kind: str) -> dict[str, Operation]:
    bits = int(kind[1:])
    half = 1 << (bits - 1)
    two, one = (kind, kind), (kind,)
    found: dict[str, Operation] = {}
    for name, operator in (("add", ast.Add()), ("sub", ast.Sub()), ("mul", ast.Mult())):
        found[name] = two, kind, lambda a, b, o=operator: masked(_two(o, a, b), bits), False
    for name, plain in (("and", ast.BitAnd()), ("or", ast.BitOr()), ("xor", ast.BitXor())):
        found[name] = two, kind, lambda a, b, o=plain: _two(o, a, b), False
    found["shl"] = two, kind, _shifted(bits, ast.LShift(), cut=True), False
    found["shr_u"] = two, kind, _shifted(bits, ast.RShift()), False
    found["shr_s"] = two, kind, _shift_signed(bits), False
    found["div_u"] = two, kind, _divided(ast.FloorDiv(), "div_u"), True
    found["rem_u"] = two, kind, _divided(ast.Mod(), "rem_u"), True
    for name in ("div_s", "rem_s", "rotl", "rotr"):
        found[name] = two, kind, _helper(f"{name}{bits}"), True
    for name in ("clz", "ctz"):
        found[name] = one, kind, _helper(f"{name}{bits}"), True
    found["popcnt"] = one, kind, _helper("popcnt"), True
    found["eqz"] = one, "i32", lambda a: _compared(ast.Eq(), a, constant(0)), False
    found["eq"] = two, "i32", lambda a, b: _compared(ast.Eq(), a, b), False
    found["ne"] = two, "i32", lambda a, b: _compared(ast.NotEq(), a, b), False
    for name, order in _ORDERS.items():
        found[f"{name}_u"] = two, "i32", lambda a, b, o=order: _compared(o, a, b), False
        found[f"{name}_s"] = (
            two,
            "i32",
            lambda a, b, o=order: _compared(o, less(a, half), less(b, half)),
            False,
        )
    for size in (8, 16, 32):
        if size < bits:
            found[f"extend{size}_s"] = (
                one, kind, lambda a, s=size: extended(masked(a, s), s, bits), False,
            )  # fmt: skip
    return found


def _floats(kind: str) -> dict[str, Operation]:
    two, one = (kind, kind), (kind,)
    short = kind == "f32"

    def rounded(make: Callable[..., Expression]) -> Callable[..., Expression]:
        return (lambda *given: call(".f32", make(*given))) if short else make

    found: dict[str, Operation] = {}
    for name, operator in (("add", ast.Add()), ("sub", ast.Sub()), ("mul", ast.Mult())):
        found[name] = two, kind, rounded(lambda a, b, o=operator: _two(o, a, b)), False
    found["div"] = two, kind, rounded(_helper("fdiv")), False
    found["sqrt"] = one, kind, rounded(_helper("sqrt")), False
    found["neg"] = one, kind, lambda a: ast.UnaryOp(ast.USub(), a), False
    for name in ("abs", "ceil", "floor", "trunc", "nearest"):
        found[name] = one, kind, _helper(name), False
    for name in ("min", "max", "copysign"):
        found[name] = two, kind, _helper(name), False
    orders = {"eq": ast.Eq(), "ne": ast.NotEq(), **_ORDERS}
    for name, order in orders.items():
        found[name] = two, "i32", lambda a, b, o=order: _compared(o, a, b), False
    return found


def _conversions() -> dict[str, Operation]:
    found: dict[str, Operation] = {
        "i32.wrap_i64": (("i64",), "i32", lambda a: masked(a, 32), False),
        "i64.extend_i32_u": (("i32",), "i64", lambda a: a, False),
        "i64.extend_i32_s": (("i32",), "i64", lambda a: extended(a, 32, 64), False),
        "f32.demote_f64": (("f64",), "f32", _helper("f32"), False),
        "f64.promote_f32": (("f32",), "f64", lambda a: a, False),
        "i32.reinterpret_f32": (("f32",), "i32", _helper("bits32"), True),
        "i64.reinterpret_f64": (("f64",), "i64", _helper("bits64"), True),
        "f32.reinterpret_i32": (("i32",), "f32", _helper("as_f32"), True),
        "f64.reinterpret_i64": (("i64",), "f64", _helper("as_f64"), True),
    }
    for whole in ("i32", "i64"):
        bits = whole[1:]
        for real in ("f32", "f64"):
            for sign in "su":
                for name in ("trunc", "trunc_sat"):
                    helper = _helper(f"{name}{bits}_{sign}")
                    found[f"{whole}.{name}_{real}_{sign}"] = (real,), whole, helper, True
                found[f"{real}.convert_{whole}_{sign}"] = (
                    (whole,),
                    real,
                    _helper(f"{real}_of{bits}_{sign}"),
                    True,
                )
    return found


def _named(kind: str, operations: dict[str, Operation]) -> dict[str, Operation]:
    return {f"{kind}.{name}": operation for name, operation in operations.items()}


OPERATIONS: dict[str, Operation] = {
    **_named("i32", _integers("i32")),
    **_named("i64", _integers("i64")),
    **_named("f32", _floats("f32")),
    **_named("f64", _floats("f64")),
    **_conversions(),
}  # by instruction what it takes, gives and computes
