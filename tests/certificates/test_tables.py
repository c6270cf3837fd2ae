"""The tables of the specification: each rule, what needs it, and a forgery that only this rule stops."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bisimdist.checker.other import KINDS
from tests.checker.corpus import FOLDER, Entry
from tests.checker.mutants import PACKAGE, source
from tests.checker.mutation import checker, compiled, outcome

DOCS = Path(__file__).parents[2] / "docs"
NAMES = re.compile(r"\b([A-Z]\d+)(?:: |$)")
HEAD = "| rule | needed by | only it stops |"


@dataclass(frozen=True)
class Row:
    """A rule of a kind, the link to what needs it, and the name of a forgery below ``incorrect``."""

    page: Path
    rule: str
    link: str
    forgery: str

    @property
    def kind(self) -> str:
        return self.forgery.rpartition("/")[0]


def tables() -> Iterator[Row]:
    for page in sorted([DOCS / "certificate-spec.md", *(DOCS / "certificates").glob("*.md")]):
        for table in page.read_text(encoding="utf-8").split(HEAD)[1:]:
            for row in table.partition("\n\n")[0].splitlines()[2:]:
                rule, need, forgery = (cell.strip() for cell in row.strip("|").split("|"))
                link = re.search(r"\]\(([^)]*)\)", need)
                yield Row(page, rule, link[1] if link else "", forgery.strip("`"))


ROWS = list(tables())


def test_a_table_names_each_rule_once() -> None:
    assert len({(row.kind, row.rule) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("kind", sorted({row.kind for row in ROWS} - {""}))
def test_no_rule_of_the_code_is_missing(kind: str) -> None:
    """Rules are seen by their names in the texts of the module of a kind."""
    module = source(KINDS[kind].removeprefix(f"{PACKAGE}."))
    texts = (node.value for node in ast.walk(ast.parse(module)) if isinstance(node, ast.Constant))
    rules = {rule for text in texts if isinstance(text, str) for rule in NAMES.findall(text)}
    forged = {Entry(path).rule for path in (FOLDER / "incorrect" / kind).glob("*.json")}
    assert (rules | forged) - {row.rule for row in ROWS if row.kind == kind} == set()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.forgery)
def test_what_needs_the_rule_is_written(row: Row) -> None:
    path, _, anchor = row.link.partition("#")
    text = (row.page.parent / path).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    assert anchor in anchors | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


def without(rule: str) -> dict[str, object]:
    """Return the code of the checker without a rule."""
    result = compiled()
    for name in result:
        module = name.removeprefix(PACKAGE).removeprefix(".") or "__init__"
        tree = ast.parse(source(module))
        if "RuleViolation" in source(module):
            for node in ast.walk(tree):
                for field in ("body", "orelse"):
                    statements = getattr(node, field, None)
                    if isinstance(statements, list):
                        setattr(node, field, [_unless(rule, statement) for statement in statements])
            result[name] = compile(ast.fix_missing_locations(tree), f"<{name}>", "exec")
    return result


def _unless(rule: str, statement: ast.stmt) -> ast.stmt:
    if not (isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Call)):
        return statement
    call = statement.exc
    if ast.unparse(call.func) != "RuleViolation":
        return statement
    test = ast.parse(f"{rule!r} not in ({ast.unparse(call.args[0])}).replace(':', ' ').split()", mode="eval")
    return ast.If(test.body, [statement], [])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.forgery)
def test_only_this_rule_stops_the_forgery(row: Row) -> None:
    entry = Entry(FOLDER / "incorrect" / f"{row.forgery}.json")
    assert entry.rule == row.rule
    with checker(without(row.rule)) as judge:
        assert outcome(judge, entry.texts(), 20) not in ("not valid", "malformed", "too long")
