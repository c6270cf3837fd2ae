"""What instructions compute, as expressions of Python, in the order of their codes."""

from __future__ import annotations

import ast
from typing import Any, TypeAlias

from bisimdist.programs.syntax import call

Operation: TypeAlias = tuple[tuple[str, ...], str, int, ast.expr]
"""The types of what is taken, empty for any, and given, the width, and the expression.

That is about `a`, `b` and `c`, which are taken, the number `K` that stands behind the instruction, and of the
width `N` the mask `M`, the highest bit `H`, and the mask `S` of what it is shifted by. It calls helpers.
"""


def _table(text: str) -> dict[str, str]:
    """Return names, and what stands behind them."""
    return dict(one.split(maxsplit=1) for one in text.split(";"))


_COMPARED = _table("""
    eqz a == 0; eq a == b; ne a != b; lt_s a ^ H < b ^ H; lt_u a < b; gt_s a ^ H > b ^ H; gt_u a > b;
    le_s a ^ H <= b ^ H; le_u a <= b; ge_s a ^ H >= b ^ H; ge_u a >= b
""")
_FLOATS_COMPARED = _table("eq a == b; ne a != b; lt a < b; gt a > b; le a <= b; ge a >= b")
_INTEGER = _table("""
    clz clz(a, N); ctz ctz(a, N); popcnt popcnt(a); add a + b & M; sub a - b & M; mul a * b & M;
    div_s div_s((a ^ H) - H, (b ^ H) - H, H) & M; div_u div_u(a, b);
    rem_s rem_s((a ^ H) - H, (b ^ H) - H) & M; rem_u rem_u(a, b); and a & b; or a | b; xor a ^ b;
    shl a << (b & S) & M; shr_s (a ^ H) - H >> (b & S) & M; shr_u a >> (b & S);
    rotl rotl(a, b & S, N, M); rotr rotl(a, N - b & S, N, M)
""")
_FLOAT = _table("""
    abs abs(a); neg -a; ceil ceil(a); floor floor(a); trunc trunc(a); nearest nearest(a); sqrt R(sqrt(a));
    add R(a + b); sub R(a - b); mul R(a * b); div R(div(a, b)); min min(a, b); max max(a, b);
    copysign copysign(a, b)
""")


def _extended(size: int, value: str) -> str:
    """Return the number of which the sign is extended from so many bits."""
    return f"({value} ^ {1 << size - 1}) - {1 << size - 1} & M"


_PARTS = [("i32", 8), ("i32", 16), ("i64", 8), ("i64", 16), ("i64", 32)]
_FROM = [(real, sign) for real in ("f32", "f64") for sign in "su"]
_TO = [(whole, sign) for whole in ("i32", "i64") for sign in "su"]
_CONVERSIONS = {
    "i32.wrap_i64": "a & M",
    **{f"i32.trunc_{real}_{sign}": f"trunc32_{sign}(a)" for real, sign in _FROM},
    **{"i64.extend_i32_s": _extended(32, "a"), "i64.extend_i32_u": "a"},
    **{f"i64.trunc_{real}_{sign}": f"trunc64_{sign}(a)" for real, sign in _FROM},
    **{f"f32.convert_{whole}_{sign}": f"f32_of_{whole}_{sign}(a)" for whole, sign in _TO},
    "f32.demote_f64": "f32(a)",
    **{f"f64.convert_{whole}_{sign}": f"f64_of_{whole}_{sign}(a)" for whole, sign in _TO},
    **{"f64.promote_f32": "a", "i32.reinterpret_f32": "bits32(a)", "i64.reinterpret_f64": "bits64(a)"},
    **{"f32.reinterpret_i32": "as_f32(a)", "f64.reinterpret_i64": "as_f64(a)"},
    **{f"{kind}.extend{size}_s": _extended(size, f"(a & {(1 << size) - 1})") for kind, size in _PARTS},
}
_SATURATED = {
    f"{whole}.trunc_sat_{real}_{sign}": f"trunc_sat{whole[1:]}_{sign}(a)"
    for whole in ("i32", "i64")
    for real, sign in _FROM
}
_LOADED = {
    **{"i32.load": "r4(a + K)", "i64.load": "r8(a + K)"},
    **{"f32.load": "as_f32(r4(a + K))", "f64.load": "as_f64(r8(a + K))"},
    **{
        f"{kind}.load{size}_{sign}": _extended(size, read) if sign == "s" else read
        for kind, size in _PARTS
        for read in (f"r{size // 8}(a + K)",)
        for sign in "su"
    },
}
_STORED = {
    **{"i32.store": "w4(a + K, b)", "i64.store": "w8(a + K, b)"},
    **{"f32.store": "w4(a + K, bits32(b))", "f64.store": "w8(a + K, bits64(b))"},
    **{f"{kind}.store{size}": f"w{size // 8}(a + K, b)" for kind, size in _PARTS},
}


def _operation(name: str, text: str, result: str | None = None, taken: tuple[str, ...] = ()) -> Operation:
    kind, _, rest = name.partition(".")
    node = ast.parse(text.replace("R(", "f32(" if kind == "f32" else "("), mode="eval").body
    if not taken:
        one = next((part for part in rest.split("_") if part in {"i32", "i64", "f32", "f64"}), kind)
        taken = (one,) * (1 + any(isinstance(part, ast.Name) and part.id == "b" for part in ast.walk(node)))
    return taken, kind if result is None else result, int(kind[1:]), node


NUMERIC = {
    f"{kind}.{name}": _operation(f"{kind}.{name}", text, result)
    for whole, real, result in ((_COMPARED, _FLOATS_COMPARED, "i32"), (_INTEGER, _FLOAT, None))
    for kind, texts in (("i32", whole), ("i64", whole), ("f32", real), ("f64", real))
    for name, text in texts.items()
} | {name: _operation(name, text) for name, text in _CONVERSIONS.items()}
SATURATED = {name: _operation(name, text) for name, text in _SATURATED.items()}
ACCESSES = {name: _operation(name, text, None, ("i32",)) for name, text in _LOADED.items()} | {
    name: _operation(name, text, "", ("i32", name[:3])) for name, text in _STORED.items()
}
OPERATIONS = {
    **{**NUMERIC, **SATURATED, **ACCESSES},
    **{f"{kind}.const": ((), kind, 32, ast.Name("K")) for kind in ("i32", "i64", "f32", "f64")},
    **{"ref.null": ((), "funcref", 0, ast.Constant(None)), "ref.func": ((), "funcref", 0, ast.Name("K"))},
    "ref.is_null": (("",), "i32", 0, ast.Compare(ast.Name("a"), [ast.Is()], [ast.Constant(None)])),
    **{"drop": (("",), "", 0, ast.Name("a")), "memory.size": ((), "i32", 32, call("pages"))},
    "memory.grow": _operation("i32.grow", "grow(a)"),
    "memory.fill": _operation("i32.fill", "fill(a, b, c)", "", ("i32",) * 3),
    "memory.copy": _operation("i32.copy", "copy(a, b, c)", "", ("i32",) * 3),
}


def constant(value: Any) -> ast.Constant:
    """Return a constant."""
    return ast.Constant(value)


def expression(operation: Operation, given: list[ast.expr], behind: Any) -> ast.expr:
    """Return what an operation computes of expressions; what is known of constants is computed now."""
    _, _, bits, node = operation
    known: dict[str, ast.expr] = dict(zip("abc", given, strict=False))
    numbers = {"N": bits, "M": (1 << bits) - 1, "H": 1 << bits >> 1, "S": bits - 1, "K": behind}
    return _filled(node, known | {name: constant(value) for name, value in numbers.items()})


def _filled(node: ast.expr, known: dict[str, ast.expr]) -> ast.expr:  # noqa: PLR0911
    match node:
        case ast.Name(name):
            return known[name]
        case ast.BinOp(left, operator, right):
            return _two(_filled(left, known), operator, _filled(right, known))
        case ast.Compare(left, operators, [right]):
            return ast.Compare(_filled(left, known), operators, [_filled(right, known)])
        case ast.UnaryOp():
            return ast.UnaryOp(node.op, _filled(node.operand, known))
        case ast.Call(ast.Name(name), arguments):
            given = [_filled(one, known) for one in arguments]
            if name in _DIVIDED and isinstance(given[1], ast.Constant) and given[1].value:
                return _two(given[0], _DIVIDED[name], given[1])
            return call("." + name, *given)
        case _:
            return constant(ast.literal_eval(node))


_DIVIDED: dict[str, ast.operator] = {"div_u": ast.FloorDiv(), "rem_u": ast.Mod()}


def _two(left: ast.expr, operator: ast.operator, right: ast.expr) -> ast.expr:
    made = ast.BinOp(left, operator, right)
    if isinstance(right, ast.Constant) and type(right.value) is int:
        if isinstance(left, ast.Constant) and type(left.value) is int:
            tree = ast.fix_missing_locations(ast.Expression(made))
            return constant(eval(compile(tree, "", "eval"), {}))
        if isinstance(operator, ast.Add) and not right.value:
            return left
    return made
