"""The pages lead somewhere: their links to files, the names of the code, the options of the commands."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import click
import pytest

from bisimdist import list_examples
from bisimdist.faces.cli.main import command_line
from bisimdist.lazily import public_names
from tests.docs.markdown import ROOT, pages

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
NAME = re.compile(r"`(bisimdist(?:\.\w+)+)`")
PATH = re.compile(r"`((?:lp|models|bisimdist|tests|benchmarks|docs)/[\w./-]+)`")
ENTRY = re.compile(r"^@\w+\{(\w+),", re.MULTILINE)


def identified(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    titles = (re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(page.read_text()))
    return {title.strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", pages(), ids=identified)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text()):
        path = (page.parent / target).resolve()
        assert path.exists(), f"{target} is linked, but is not there"
        if anchor and path.suffix == ".md":
            assert anchor[1:] in anchors(path), f"{target} has no heading {anchor}"


@pytest.mark.parametrize("page", pages(), ids=identified)
def test_every_table_has_a_head(page: Path) -> None:
    lines = ["", *page.read_text().splitlines(), ""]
    for above, line, below in zip(lines, lines[1:], lines[2:], strict=False):
        if line.startswith("|") and not above.startswith("|"):
            assert re.fullmatch(r"\|[-:| ]+\|", below), f"no table begins with {line}"


@pytest.mark.parametrize("page", pages(), ids=identified)
def test_names_of_the_code_exist(page: Path) -> None:
    text = page.read_text()
    for name in NAME.findall(text):
        assert resolves(name), f"{name} is named, but is not there"
    for path in PATH.findall(text):
        assert (ROOT / path).exists(), f"{path} is named, but is not there"


def resolves(name: str) -> bool:
    """Tell whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_the_list_of_references_is_the_bibliography() -> None:
    keys = ENTRY.findall((ROOT / "docs/references.bib").read_text())
    listed = re.findall(r"^### (\w+)$", (ROOT / "docs/references.md").read_text(), re.MULTILINE)
    assert sorted(keys) == sorted(listed)


@pytest.mark.parametrize("page", ["docs/reference/command-line.md", "README.md"])
def test_every_command_is_named(page: str) -> None:
    assert isinstance(command_line, click.Group)
    text = (ROOT / page).read_text()
    for name in command_line.list_commands(click.Context(command_line)):
        assert f"| `{name} " in text, f"{page} has no row for {name}"


def test_the_reference_reads_the_options_from_the_commands() -> None:
    assert "nested: full" in (ROOT / "docs/reference/command-line.md").read_text()


def test_every_public_name_is_listed() -> None:
    text = (ROOT / "docs/reference/python.md").read_text()
    for name in public_names():
        assert f"`{name}`" in text, f"{name} is exported, but not listed"


def test_every_case_study_is_in_the_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    for example in list_examples():
        assert f"`{example.name}`" in text


@pytest.mark.extra("docs")
def test_every_public_name_has_a_page_that_leads_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs/_ext"))
    api = import_module("api")
    near = api.neighbours((ROOT / "docs/reference/python.md").read_text())
    homes = public_names()
    assert homes.keys() == near.keys()
    for name, others in near.items():
        text = api.page(name, others)
        assert re.search(
            rf"^\.\. auto(class|function|exception):: {re.escape(homes[name])}\.{name}$", text, re.MULTILINE
        )
        assert "seealso" in text
    assert "~bisimdist.privacy.DeltaAnswer" in api.page("delta", near["delta"])
