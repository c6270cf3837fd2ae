"""Every number of the papers has a row, and what the row names is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import click
import pytest

from bisimdist import list_examples
from bisimdist.faces.asked.registry import HOMES, question_of
from bisimdist.faces.cli.main import command_line
from bisimdist.modelling.paper.rows import Paper, Row, papers
from tests.docs.markdown import ROOT
from tests.docs.papers_page import PAGE, page

KEYS = re.findall(r"^### (\w+)$", (ROOT / "docs/references.md").read_text(), re.MULTILINE)
KINDS = r"(?:Definition|Remark|Lemma|Corollary|Fact|Proposition|Theorem|Example|Algorithm|Table|Figure)"
CODE = re.compile(r"`(bisimdist(?:\.\w+)+)`")
COMMAND = re.compile(r"`bisimdist ((?:logic )?[\w-]+)[^`]*`")
OPTION = re.compile(r"(--[\w-]+)")
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
DASH = "\N{EN DASH}"
EXAMPLE = re.compile(r"example:([\w-]+)((?:,\w+=[\w/]+)*)")
VENUES = {"ATVA 2018": "CMP18", "FORTE 2014": "XCL14", "FACS 2018": "CCP18", "VMCAI 2022": "LWZ22"}
VERSIONS = ("LWZ22-conference", "LWZ22-long")
NUMBER = rf"{KINDS} (?:\d+\.)?\d+"
PLACES = "|".join([*VERSIONS, *VENUES, *VENUES.values()])
CITED = re.compile(rf"({PLACES}),?\s((?:(?:, | and )?(?:Section [\d.]+|{NUMBER}))+)")


def numbers_of(paper: str) -> list[str]:
    """Return what a line of kinds, single numbers and spans of numbers stands for."""
    result = []
    for part in paper.split("; "):
        kind, spans = part.split(" ", 1)
        for span in spans.split(", "):
            first, _, last = span.partition(DASH)
            stem, _, start = first.rpartition(".")
            end = (last or first).rpartition(".")[2]
            dot = f"{stem}." if stem else ""
            result += [f"{kind} {dot}{n}" for n in range(int(start), int(end) + 1)]
    return result


PAPERS = papers()
ROWS = [row for paper in PAPERS for row in paper.rows]


@cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def options_of(command: str) -> set[str]:
    assert isinstance(command_line, click.Group)
    group: click.Group = command_line
    for part in command.split()[:-1]:
        inner = group.get_command(click.Context(group), part)
        assert isinstance(inner, click.Group)
        group = inner
    found = group.get_command(click.Context(group), command.rsplit(maxsplit=1)[-1])
    assert found is not None, f"there is no command {command}"
    return {option for parameter in found.params for option in parameter.opts}


def test_five_texts_are_there() -> None:
    assert [paper.key.split("-")[0] for paper in PAPERS] == ["CMP18", "XCL14", "CCP18", "LWZ22", "LWZ22"]
    assert {paper.key.split("-")[0] for paper in PAPERS} <= set(KEYS)


def test_the_page_is_made_of_the_rows() -> None:
    assert PAGE.read_text() == page(), "python -m tests.docs.papers_page writes it anew"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_no_number_is_missing_and_none_is_there_twice(paper: Paper) -> None:
    assert sorted(row.number for row in paper.rows) == sorted(numbers_of(paper.numbers))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.key} {row.number}")
def test_a_row_says_where_a_statement_lives_or_why_it_does_not(row: Row) -> None:
    commands = "; ".join(f"`bisimdist {run.command}`" for run in row.runs)
    for command in COMMAND.finditer(f"{row.where} {commands}"):
        assert set(OPTION.findall(command[0])) <= options_of(command[1])
    for name, settings in EXAMPLE.findall(commands):
        (example,) = (example for example in list_examples() if example.name == name)
        known = {parameter.name for parameter in example.parameters}
        assert {setting.split("=")[0] for setting in settings.split(",")[1:]} <= known
    for path, name in TEST.findall(f"`{row.test}`"):
        assert (ROOT / path).exists(), f"{path} is named, but is not there"
        assert not name or name in functions_of(path), f"{path} has no test {name}"
    if row.where.startswith("not needed: "):
        return
    assert row.runs or COMMAND.search(row.where) or CODE.search(row.where) or "test" in row.where
    assert TEST.search(f"`{row.test}`"), "a row without a test"
    assert all(len(run.expected) > 6 for run in row.runs), "it would agree with anything"
    for name in row.files:
        assert any(name in run.words for run in row.runs)
    if row.tutorial:
        page, _, section = row.tutorial.partition("#")
        heads = re.findall("^## (.*)$", (ROOT / "docs/tutorials" / page).read_text(), re.MULTILINE)
        assert section in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


def test_a_number_of_a_paper_has_its_place() -> None:
    for row in ROWS:
        assert bool(row.at) or not any(run.printed for run in row.runs), (row.key, row.number)


def test_no_expected_value_is_typed_twice() -> None:
    """Tests of the papers take it from the rows: no test has the words of a row."""
    for path in (ROOT / "tests/papers").glob("*.py"):
        text = path.read_text()
        for row in ROWS:
            assert not any(
                len(line) > 24 and line in text for run in row.runs for line in run.expected.split("\n")
            ), path


def texts() -> list[Path]:
    folders = ("bisimdist", "lp", "models", "docs", "tests")
    return sorted(
        path for name in folders for end in ("py", "md") for path in (ROOT / name).rglob(f"*.{end}")
    )


def test_what_is_cited_is_a_number_of_the_paper() -> None:
    known: dict[str, set[str]] = {}
    for paper in PAPERS:
        for key in {paper.key, paper.key.split("-")[0]}:
            known.setdefault(key, set()).update(numbers_of(paper.numbers))
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
    if (ROOT / package / "command.py").exists():  # a subject of a room: its room says the rest
        assert len(said.split()) >= 5
        return
    assert len(paragraphs.split()) >= (12 if package == "bisimdist" else 25)
    for note in re.findall(r"``(docs/[\w./-]+)``", said):
        assert (ROOT / note).exists()


def test_the_sources_of_questions_are_statements_of_the_papers() -> None:
    known = {f"{row.key} {row.number}" for row in ROWS}
    for command in HOMES:
        assert known.issuperset(question_of(command).sources), command


SOURCE = re.compile(r"^Source: (.+?)\.$", re.MULTILINE | re.DOTALL)
MODULES = [
    path for name in ("bisimdist", "lp", "models") for path in (ROOT / name).rglob("*.py") if path.exists()
]


def module_file(name: str) -> Path | None:
    """Return the file of what a row names: a module, or something in one; None for a package."""
    parts = name.split(".")
    while len(parts) > 1:
        path = ROOT.joinpath(*parts)
        if path.with_suffix(".py").exists():
            return path.with_suffix(".py").resolve()
        if path.is_dir():
            return None
        parts.pop()
    return None


def test_modules_name_the_statements_that_name_them() -> None:
    """Both ways: what the list says lives in a module the module says, and the other way round."""
    listed: dict[Path, set[str]] = {}
    for row in ROWS:
        for name in CODE.findall(row.where):
            path = module_file(name)
            if path is not None:
                listed.setdefault(path, set()).add(f"{row.key} {row.number}")
    said: dict[Path, set[str]] = {}
    for path in {path.resolve() for path in MODULES}:
        found = SOURCE.search(ast.get_docstring(ast.parse(path.read_text())) or "")
        if found:
            said[path] = set(re.sub(r"\s+", " ", found[1]).split(", "))
    assert len(listed) > 50
    assert said == listed
