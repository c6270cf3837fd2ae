"""What keeps somebody from reading a page is noticed, and the report has none of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)
from tests.docs.site import OPENED, page_faults, site_faults

GOOD = """<!DOCTYPE html><html lang="en"><head><title>t</title><link rel="icon" href="i.svg"></head><body>
<a class="skip-to-content" href="#main">Skip</a><nav><a href="x.html">x</a></nav>
<main id="main"><h1>One</h1><h2>Two</h2><img src="a.png" alt="a"><svg role="img" aria-label="b"></svg>
<button aria-label="c"></button></main></body></html>"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (' lang="en"', "", "no language"),
        ("<title>t</title>", "", "no title"),
        ("<h1>One</h1>", "", "not one heading"),
        ("<h2>Two</h2>", "<h1>Two</h1>", "not one heading"),
        ("<h2>Two</h2>", "<h3>Two</h3>", "a heading of level 3 below one of 1"),
        (' alt="a"', "", "a picture without a text"),
        (' aria-label="b"', "", "a drawn picture without a label"),
        (' aria-label="c"', "", "<button> without a name"),
        ('href="x.html">x<', 'href="x.html"><', "<a> without a name"),
        ("<h2>", '<h2 id="main">', "'main' names 2 places"),
        ("<h2>", '<h2 tabindex="2">', "the order of the keyboard"),
        ("<h2>", '<input type="text"><h2>', "a field without a name"),
        ('<a class="skip-to-content" href="#main">Skip</a>', "", "no way past the navigation"),
    ],
)
def test_each_fault_is_noticed_and_alone(old: str, new: str, fault: str) -> None:
    assert not page_faults(GOOD)
    assert old in GOOD
    (found,) = page_faults(GOOD.replace(old, new))
    assert found.startswith(fault)


def test_a_site_has_titles_of_its_own_and_an_icon(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(GOOD)
    assert not list(site_faults(tmp_path))
    (tmp_path / "b.html").write_text(GOOD.replace('<link rel="icon" href="i.svg">', ""))
    assert sorted(site_faults(tmp_path)) == ["2 pages are called 't'", "b.html: no icon"]


def test_a_report_has_no_fault(command: Command, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "report.html"
    command("report", "example:figure1", "--alpha", "11/10", "-o", path)
    assert not page_faults(path.read_text())
    again = path.read_text().count("<svg")
    assert again == len(re.findall(r"<svg [^>]*role=.img.", path.read_text()))


def test_the_pages_that_are_opened_are_there() -> None:
    docs = Path(__file__).parents[2] / "docs"
    for name in OPENED:
        assert (docs / f"{name}.md").exists() or name.startswith("reference/api/")
