"""Every number of the papers has a row, and what the row names is there."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import pytest

from bisimdist import list_examples
from bisimdist.cli.main import command_line
from bisimdist.questions.registry import HOMES, question_of
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/papers.md").read_text()
KEYS = re.findall(r"^### (\w+)$", (ROOT / "docs/references.md").read_text(), re.MULTILINE)
KINDS = r"(?:Definition|Remark|Lemma|Corollary|Proposition|Theorem|Example|Algorithm|Table|Figure)"
CODE = re.compile(r"`(bisimdist(?:\.\w+)+)`")
COMMAND = re.compile(r"`bisimdist ([\w-]+)[^`]*`")
OPTION = re.compile(r"(--[\w-]+)")
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
DASH = "\N{EN DASH}"
EXAMPLE = re.compile(r"example:([\w-]+)((?:,\w+=[\w/]+)*)")
VENUES = {"ATVA 2018": "CMP18", "FORTE 2014": "XCL14", "FACS 2018": "CCP18", "VMCAI 2022": "LWZ22"}
NUMBER = rf"{KINDS} (?:\d+\.)?\d+"
CITED = re.compile(
    rf"({'|'.join([*VENUES, *VENUES.values()])}),?\s((?:(?:, | and )?(?:Section [\d.]+|{NUMBER}))+)"
)


@dataclass(frozen=True)
class Row:
    """A row of a table of the page."""

    paper: str
    number: str
    where: str
    proof: str
    test: str


def numbers_of(paper: str) -> list[str]:
    """Return what a line of kinds, single numbers and spans of numbers stands for."""
    (line,) = re.findall(r"^Numbers: (.*)\.$", paper, re.MULTILINE)
    result = []
    for part in line.split("; "):
        kind, spans = part.split(" ", 1)
        for span in spans.split(", "):
            first, _, last = span.partition(DASH)
            stem, _, start = first.rpartition(".")
            end = (last or first).rpartition(".")[2]
            dot = f"{stem}." if stem else ""
            result += [f"{kind} {dot}{n}" for n in range(int(start), int(end) + 1)]
    return result


PAPERS = {part.split("\n", 1)[0]: part for part in PAGE.split("\n## ")[1:]}
ROWS = [
    Row(paper, number, where, proof, test)
    for paper, text in PAPERS.items()
    for number, _, where, proof, test in (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.split("\n")
        if re.match(rf"\| {KINDS} ", line)
    )
]


@cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def options_of(command: str) -> set[str]:
    assert isinstance(command_line, click.Group)
    found = command_line.get_command(click.Context(command_line), command)
    assert found is not None, f"there is no command {command}"
    return {option for parameter in found.params for option in parameter.opts}


def test_five_texts_are_there() -> None:
    assert [paper.split(",")[0] for paper in PAPERS] == ["CMP18", "XCL14", "CCP18", "LWZ22", "LWZ22"]
    assert {paper.split(",")[0] for paper in PAPERS} <= set(KEYS)


@pytest.mark.parametrize("paper", PAPERS)
def test_no_number_is_missing_and_none_is_there_twice(paper: str) -> None:
    assert sorted(row.number for row in ROWS if row.paper == paper) == sorted(numbers_of(PAPERS[paper]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.paper} {row.number}")
def test_a_row_says_where_a_statement_lives_or_why_it_does_not(row: Row) -> None:
    for command in COMMAND.finditer(row.where):
        assert set(OPTION.findall(command[0])) <= options_of(command[1])
    for name, settings in EXAMPLE.findall(row.where):
        (example,) = (example for example in list_examples() if example.name == name)
        known = {parameter.name for parameter in example.parameters}
        assert {setting.split("=")[0] for setting in settings.split(",")[1:]} <= known
    for path, name in TEST.findall(row.test):
        assert (ROOT / path).exists(), f"{path} is named, but is not there"
        assert not name or name in functions_of(path), f"{path} has no test {name}"
    if row.where.startswith("not needed: "):
        return
    assert COMMAND.search(row.where) or CODE.search(row.where) or "test" in row.where
    assert TEST.search(row.test), "a row without a test"


def texts() -> list[Path]:
    folders = ("bisimdist", "lp", "models", "docs", "tests")
    return sorted(
        path for name in folders for end in ("py", "md") for path in (ROOT / name).rglob(f"*.{end}")
    )


def test_what_is_cited_is_a_number_of_the_paper() -> None:
    known: dict[str, set[str]] = {}
    for paper, text in PAPERS.items():
        known.setdefault(paper.split(",")[0], set()).update(numbers_of(text))
    found = 0
    for path in texts():
        for where, numbers in CITED.findall(path.read_text()):
            cited = set(re.findall(NUMBER, numbers))
            found += len(cited)
            assert cited <= known[VENUES.get(where, where)], f"{path} cites {where}, {numbers}"
    assert found > 10


PACKAGES = sorted(
    str(init.parent.relative_to(ROOT))
    for folder in ("bisimdist", "lp", "models")
    for init in (ROOT / folder).rglob("__init__.py")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_what_is_in_it_and_after_which_theory(package: str) -> None:
    said = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text())) or ""
    _, _, paragraphs = said.partition("\n\n")
    assert len(paragraphs.split()) >= (12 if package == "bisimdist" else 25)
    for note in re.findall(r"``(docs/[\w./-]+)``", said):
        assert (ROOT / note).exists()


def test_the_sources_of_questions_are_statements_of_the_papers() -> None:
    known = {f"{row.paper.partition(',')[0]} {row.number}" for row in ROWS}
    for command in HOMES:
        assert known.issuperset(question_of(command).sources), command
