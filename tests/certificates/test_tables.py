"""The tables of the specification: each rule, what needs it, and a forgery that only this rule stops."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bisimdist.checker.claims import KINDS
from bisimdist.checker.steps import STEPS
from tests.checker.corpus import FOLDER, Entry, listed
from tests.checker.mutants import PACKAGE, source
from tests.checker.mutation import checker, compiled, outcome

DOCS = Path(__file__).parents[2] / "docs"
NAMES = re.compile(r"\b([A-Z]\d+)(?:: |$)")
LIMIT = "a limit on work"
COMPACT = "compact"
"""The folder of certificates with compact tables, which are about distances."""

HEAD = "| rule | needed by | only it stops |"


@dataclass(frozen=True)
class Row:
    """A rule of a kind, the link to what needs it, and the name of a forgery below ``incorrect``.

    A limit on work is needed by no proof, and what it stops need not be false.
    """

    page: Path
    rule: str
    link: str
    forgery: str

    @property
    def kind(self) -> str:
        return self.forgery.rpartition("/")[0]

    @property
    def path(self) -> Path:
        suffix = "compact" if self.kind == COMPACT else "json"
        return FOLDER / "incorrect" / f"{self.forgery}.{suffix}"


def tables() -> Iterator[Row]:
    for page in sorted([DOCS / "certificate-spec.md", *(DOCS / "certificates").glob("*.md")]):
        for table in page.read_text(encoding="utf-8").split(HEAD)[1:]:
            for row in table.partition("\n\n")[0].splitlines()[2:]:
                rule, need, forgery = (cell.strip() for cell in row.strip("|").split("|"))
                link = re.search(r"\]\(([^)]*)\)", need)
                yield Row(page, rule, link[1] if link else need, forgery.strip("`"))


ROWS = list(tables())
PROVED = [row for row in ROWS if row.link != LIMIT]


def test_a_table_names_each_rule_once_with_a_file() -> None:
    assert len({(row.kind, row.rule) for row in ROWS}) == len(ROWS)
    assert all(row.path.exists() for row in ROWS)


@pytest.mark.parametrize("kind", sorted({row.kind for row in ROWS} - {""}))
def test_no_rule_of_the_code_is_missing(kind: str) -> None:
    """Rules are seen by their names in the texts of the module of a kind."""
    module = source(
        {**KINDS, **STEPS, "reduced": f"{PACKAGE}.steps.reduced"}.get(kind, "claims.compact").removeprefix(
            f"{PACKAGE}."
        )
    )
    texts = (node.value for node in ast.walk(ast.parse(module)) if isinstance(node, ast.Constant))
    rules = {rule for text in texts if isinstance(text, str) for rule in NAMES.findall(text)}
    forged = {Entry(path).rule for path in listed(FOLDER / "incorrect" / kind)}
    assert (rules | forged) - {row.rule for row in ROWS if row.kind == kind} == set()


@pytest.mark.parametrize("row", PROVED, ids=lambda row: row.forgery)
def test_what_needs_the_rule_is_written(row: Row) -> None:
    path, _, anchor = row.link.partition("#")
    text = (row.page.parent / path).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    assert anchor in anchors | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


@functools.cache
def switchable() -> dict[str, object]:
    """Return the code of the checker with a switch at every refusal: `off` names a rule that is left out."""
    result = compiled()
    for name in result:
        text = source(name.removeprefix(PACKAGE).removeprefix(".") or "__init__")
        if "raise RuleViolation" in text:
            tree = _Switched().visit(ast.parse(text))
            result[name] = compile(ast.fix_missing_locations(tree), f"<{name}>", "exec")
    return result


class _Switched(ast.NodeTransformer):
    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        if not (isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) == "RuleViolation"):
            return node
        words = f"({ast.unparse(node.exc.args[0])}).replace(':', ' ').split()"
        return ast.If(ast.parse(f"RuleViolation.off not in {words}", mode="eval").body, [node], [])


@pytest.mark.parametrize("row", PROVED, ids=lambda row: row.forgery)
def test_only_this_rule_stops_the_forgery(row: Row) -> None:
    """Without the rule the forgery is accepted, or the checker breaks because it relies on the rule."""
    entry = Entry(row.path)
    assert entry.rule == row.rule
    with checker(switchable()) as judge:
        reading: Any = importlib.import_module(f"{PACKAGE}.core.reading")
        reading.RuleViolation.off = row.rule
        assert outcome(judge, entry.texts(), 20).partition(":")[0] not in (
            "not valid",
            "malformed",
            "too long",
        )
