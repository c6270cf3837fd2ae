"""How large the code is, room by room: lines of code, of docstrings, of imports, and empty ones.

``python -m benchmarks size [FOLDER]`` prints the table for this checkout, or for another one.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

KINDS = ("code", "docstrings", "imports", "comments", "empty", "all")


def kinds_of(text: str) -> Counter[str]:
    """Count the lines of a source by kind."""
    lines = text.splitlines()
    kind = ["code" if line.strip() else "empty" for line in lines]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            _mark(kind, node, "imports")
        elif (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            _mark(kind, node, "docstrings")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line.strip().startswith("#"):
            kind[token.start[0] - 1] = "comments"
    return Counter(kind) + Counter({"all": len(lines)})


def _mark(kind: list[str], node: ast.stmt, name: str) -> None:
    for line in range(node.lineno - 1, node.end_lineno or node.lineno):
        kind[line] = name


def rooms(root: Path) -> dict[str, Counter[str]]:
    """Count by room: a folder of the package, or one of ``lp`` and ``models``."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(path for top in ("bisimdist", "lp", "models") for path in (root / top).rglob("*.py")):
        parts = path.relative_to(root).parts
        room = parts[0] if parts[0] != "bisimdist" else parts[1] if len(parts) > 2 else "(package)"
        if parts[0] == "bisimdist" and (root / "bisimdist" / room).is_symlink():
            continue
        found.setdefault(room, Counter()).update(kinds_of(path.read_text(encoding="utf-8")))
    return found


def run(arguments: list[str]) -> None:
    """Print the table."""
    root = Path(arguments[0]) if arguments else Path(__file__).parent.parent
    found = rooms(root)
    total: Counter[str] = Counter()
    print("| room | " + " | ".join(KINDS) + " |\n| --- |" + " ---: |" * len(KINDS))
    for room, counts in sorted(found.items(), key=lambda item: -item[1]["all"]):
        total.update(counts)
        print(f"| {room} | " + " | ".join(str(counts[kind]) for kind in KINDS) + " |")
    print("| **in all** | " + " | ".join(str(total[kind]) for kind in KINDS) + " |")


if __name__ == "__main__":
    run(sys.argv[1:])
