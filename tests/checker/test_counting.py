"""Every loop of the checker counts: a walk through its sources finds those that do not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bisimdist.checker
from bisimdist.checker import MalformedCertificate
from bisimdist.checker.core import reading
from bisimdist.checker.core.counting import all_of, counted

SOURCES = Path(bisimdist.checker.__file__).parent
COUNTING = {"counted", "kept", "all_of"}
GOING = {"list", "dict", "set", "frozenset", "tuple", "sorted", "sum", "min", "max", "any", "all"}
"""Functions that go through what they are given."""

EXEMPT = {
    ("__main__.py", ""): "prints what has been checked",
    ("limits.py", "look"): "waits for the end, and looks at two limits",
    ("core/counting.py", "_counted"): "is what counts",
    ("core/stream.py", "_fill"): "reads each byte of the file once",
    ("core/stream.py", "number"): "reads at most nine bytes of the file",
    ("core/reading.py", "unique"): "reads each key of the document once",
    ("core/reading.py", "record"): "follows the mapping that was read, once",
    ("core/reading.py", "choice"): "goes through what the rules know",
    ("core/reading.py", "_decimal"): "reads at most 4000 digits",
    ("core/reading.py", "text_of"): "writes at most two integers",
    ("core/reading.py", "decimal_text"): "counts all of its divisions before",
}


def constant(node: ast.expr) -> bool:  # noqa: PLR0911
    """Tell whether the sources decide how long something is, or whether it counts."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            return not any(isinstance(entry, ast.Starred) for entry in node.elts)
        case ast.Dict():
            return None not in node.keys
        case ast.Constant() | ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            return True  # a comprehension has a loop of its own
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper() and len(name) > 1
        case ast.Subscript(value=value):
            return constant(value)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            some = {"zip": any, "range": all, "enumerate": all, "reversed": all, "iter": all}
            if name == "map":
                return any(map(constant, arguments[1:]))
            return name in COUNTING or (name in some and some[name](map(constant, arguments)))
        case ast.Call(func=ast.Attribute(value=value, attr="items" | "keys" | "values")):
            return constant(value)
    return False


def spends(body: list[ast.stmt]) -> bool:
    """Tell whether a loop counts what it does itself."""
    return any(
        isinstance(step, ast.Expr)
        and isinstance(step.value, ast.Call)
        and getattr(step.value.func, "id", "") == "spend"
        for step in body
    )


def uncounted(source: str) -> Iterator[tuple[str, int]]:
    """Yield function and line of each loop that does not count."""
    inside: list[str] = []

    def visit(node: ast.AST) -> Iterator[tuple[str, int]]:
        function = isinstance(node, ast.FunctionDef | ast.Lambda)
        if function:
            inside.append(getattr(node, "name", "lambda"))
        loose = False
        match node:
            case ast.For(iter=what, body=body):
                loose = not constant(what) and not spends(body)
            case ast.comprehension(iter=what):
                loose = not constant(what)
            case ast.While(body=body):
                loose = not spends(body)
            case ast.Call(func=ast.Name(id=name), args=[what, *more]) if name in GOING:
                compared = name in {"min", "max"} and more
                loose = not compared and not isinstance(what, ast.Starred) and not constant(what)
        if loose and inside:  # what is outside of functions is done before there is a document
            line = node.target.lineno if isinstance(node, ast.comprehension) else getattr(node, "lineno", 0)
            yield inside[-1], line
        for child in ast.iter_child_nodes(node):
            yield from visit(child)
        if function:
            inside.pop()

    yield from visit(ast.parse(source))


FILES = sorted(SOURCES.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_every_loop_counts(path: Path) -> None:
    name = path.relative_to(SOURCES).as_posix()
    loose = [
        f"{name}:{line} in {function}"
        for function, line in uncounted(path.read_text(encoding="utf-8"))
        if not {(name, function), (name, "")} & EXEMPT.keys()
    ]
    assert not loose, "loops that do not count; take them through `counted` or `all_of`: " + ", ".join(loose)


def test_no_exemption_is_for_nothing() -> None:
    found = {
        (path.relative_to(SOURCES).as_posix(), function)
        for path in FILES
        for function, _ in uncounted(path.read_text(encoding="utf-8"))
    }
    assert {name for name, function in EXEMPT if not function} <= {name for name, _ in found}
    assert {place for place in EXEMPT if place[1]} <= found


@pytest.mark.parametrize(
    "loop",
    [
        "for x in xs: x()",
        "for x in zip(xs, ys): x()",
        "for x in range(n): x()",
        "while n: n -= 1",
        "return [x for x in xs]",
        "return {x: y for x in counted(xs) for y in x.items()}",
        "return sum(xs)",
        "return any(map(test, xs))",
        "return lambda: sorted(xs)",
    ],
)
def test_the_walk_finds_loops(loop: str) -> None:
    assert len(list(uncounted(f"def f():\n    {loop}"))) == 1


@pytest.mark.parametrize(
    "loop",
    [
        "for x in counted(xs): x()",
        "for x in ('upper', 'lower'): x()",
        "for x, y in zip(DIRECTIONS, xs): x()",
        "for x in range(2): x()",
        "for x in xs:\n        spend(LOOK)",
        "while n:\n        spend(LOOK)",
        "return max(x, y)",
        "return sum(x for x in counted(xs))",
        "return sorted(all_of(xs))",
    ],
)
def test_the_walk_lets_pass_what_counts(loop: str) -> None:
    assert not list(uncounted(f"def f():\n    {loop}"))


def test_what_goes_on_for_ever_ends() -> None:
    growing = [0]
    with reading.limited(0), pytest.raises(MalformedCertificate, match="more work"):
        reading.spend(reading.LEAST_WORK - 100 * reading.LOOK)
        for number in counted(growing):
            assert number < 1000, "what goes through `counted` is not counted"
            growing.append(number + 1)
    assert len(growing) == 101
    with reading.limited(0), pytest.raises(MalformedCertificate, match="more work"):
        sorted(all_of(range(10**12)))


def test_nothing_counts_where_nothing_is_limited() -> None:
    assert counted(growing := [1, 2]) is growing
    assert all_of(growing) is growing
