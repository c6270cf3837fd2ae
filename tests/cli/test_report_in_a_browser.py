"""The page for whoever decides, as a browser lays it out: three widths, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from bisimdist.privacy.report.carried import checking_page
from tests.browser import CHROMIUM, faults, measured
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report") / "report.html"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_can_be_read(command: Command, made: Path, tmp_path: Path, dark: bool) -> None:  # noqa: F811
    if not made.exists():
        words = ("--alpha", "2", "--with-proof", "--for", "evaluation")
        command("report", "example:randomised-response,k=3", *words, "-o", made)
    for found in measured(made, tmp_path, dark=dark):
        assert not faults(found, dark=dark)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_without_an_answer(tmp_path: Path, dark: bool) -> None:
    page = tmp_path / "check.html"
    page.write_text(checking_page())
    for found in measured(page, tmp_path, dark=dark):
        assert not faults(found, dark=dark)


def test_what_is_hard_to_read_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<!DOCTYPE html><html><body><nav></nav><h1 style="color:#aaa;background:#fff">a</h1><svg></svg>'
        '<h3 tabindex="3">b</h3><button></button><table><thead><tr><th data-sorts>c</table>'
        '<div style="width:2000px">b</div></body></html>'
    )
    for found in measured(page, tmp_path, dark=True):
        assert len(faults(found, dark=True)) == 12
