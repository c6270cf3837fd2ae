"""Random programs of the subset, as text: every statement and most expressions may draw."""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["programs"]

NAMES = ("a", "b", "x")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:  # noqa: PLR0911, PLR0912
    """Draw an expression whose value is an integer or a Boolean."""
    kinds = ["name", "number", "draw"] if depth == 0 else EXPRESSIONS
    kind = draw(st.sampled_from(kinds))

    def inner() -> str:
        return draw(expressions(depth - 1))

    match kind:
        case "name":
            return draw(st.sampled_from(NAMES))
        case "number":
            return str(draw(st.integers(-1, 3)))
        case "draw":
            return f"rng.randrange({draw(st.integers(1, 3))})"
        case "flip":
            return "rng.flip('1/3')"
        case "call":
            return f"g({inner()}, rng)"
        case "pure":
            return f"h({inner()})"
        case "binary":
            return f"({inner()} {draw(st.sampled_from(['+', '-', '*', '//', '%']))} {inner()})"
        case "compare":
            return f"({inner()} {draw(st.sampled_from(['<', '==', '<=', '!=']))} {inner()})"
        case "chain":
            return f"({inner()} <= {inner()} < {inner()})"
        case "logic":
            return f"({inner()} {draw(st.sampled_from(['and', 'or']))} {inner()})"
        case "choice":
            return f"({inner()} if {inner()} else {inner()})"
        case "sum":
            return f"sum({inner()} + i for i in range({draw(st.integers(0, 2))}))"
        case "list":
            return f"[{inner()}, {inner()}][{draw(st.integers(0, 1))}]"
        case _:
            return f"len([i for i in (1, {inner()}) if i])"


EXPRESSIONS = [
    "name", "number", "draw", "flip", "call", "pure", "binary", "compare", "chain", "logic", "choice", "sum",
    "list", "filter",
]  # fmt: skip


@st.composite
def statements(draw: st.DrawFn, depth: int, looped: bool) -> list[str]:
    """Draw statements, line by line."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 2))):
        lines += draw(one_statement(depth, looped))
    return lines


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def one_statement(draw: st.DrawFn, depth: int, looped: bool) -> list[str]:  # noqa: PLR0911, PLR0912
    """Draw one statement."""
    kinds = ["assign", "augment", "swap", "append", "return"]
    if looped:
        kinds += ["break", "continue"]
    if depth > 0:
        kinds += ["if", "for", "while", "try", "finally", "assign", "if"]
    name = draw(st.sampled_from(NAMES[:2]))
    value = draw(expressions())

    def body(inside: bool = looped) -> list[str]:
        return _indented(draw(statements(depth - 1, inside)))

    match draw(st.sampled_from(kinds)):
        case "assign":
            return [f"{name} = {value}"]
        case "augment":
            return [f"{name} {draw(st.sampled_from(['+=', '-=', '*=']))} {value}"]
        case "swap":
            return [f"a, b = b, {value}"]
        case "append":
            return [f"seen.append({value})", "other = seen", f"other[0] += {name}"]
        case "return":
            return [f"if {value}:", f"    return ({name}, seen)"]
        case "break":
            return [f"if {value}:", "    break"]
        case "continue":
            return [f"if {value}:", "    continue"]
        case "if":
            return [f"if {value}:", *body(), "else:", *body()]
        case "for":
            return [
                f"for {name} in range({draw(st.integers(0, 2))}):",
                *body(True),
                "else:",
                f"    x = {name}",
            ]
        case "while":
            return ["k = 0", "while k < 2:", "    k += 1", *body(True)]
        case "try":
            return ["try:", *body(), "except ZeroDivisionError as error:", f"    {name} = {value}"]
        case _:
            return ["try:", *body(), "finally:", f"    {name} = {value}"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Draw a module with a function f, and two that it may call."""
    lines = [
        "def g(n, rng):",
        "    if n > 1:",
        "        return rng.randrange(2) - n",
        "    return n + rng.randrange(2)",
        "def h(n):",
        "    while n > 2:",
        "        n -= 2",
        "    return n",
        "def f(x, rng):",
        "    a, b, seen = x, 1, [0]",
        *_indented(draw(statements(2, False))),
        "    return (a, b, x, seen)",
    ]
    return "\n".join(lines) + "\n"
