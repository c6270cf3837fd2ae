"""The page of what libraries really give: its rows are what their commands say."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import pytest

from benchmarks.libraries import DOCS, PAGE, cells, command, line, rows
from bisimdist.faces.cli.main import run

QUICK = ("response", "secret_response", "choice")
MODULES = {"python": "random", "diffprivlib": "diffprivlib"}


def test_there_are_twenty_mechanisms_of_six_packages() -> None:
    assert len(rows()) >= 20
    assert len({row["package"] for row in rows()} - {"python"}) >= 6


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['package']}-{row['function']}")
def test_every_row_and_command_is_on_the_page(row: dict[str, Any]) -> None:
    page = PAGE.read_text()
    assert f"\n{' '.join(command(row))}\n" in page
    assert f"\n| {row['package']} | {row['function']} | " in page
    assert f"def {row['function']}(" in (DOCS / "libraries" / row["file"]).read_text()


def the_row_is_right(
    row: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(DOCS.parent)
    assert run([*command(row)[1:], "--json"]) in {0, 1, 3}
    said = json.loads(capsys.readouterr().out)
    assert line(cells(row, said, 0)[:-1]) in PAGE.read_text()


@pytest.mark.parametrize("function", QUICK)
def test_what_every_install_has(
    function: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = [row for row in rows() if row["function"] == function]
    the_row_is_right(row, capsys, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['package']}-{row['function']}")
def test_what_the_packages_that_are_there_give(
    row: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Last digits of the longest numbers are those of one libm."""
    if find_spec(MODULES.get(row["package"], row["package"].replace("-", "_"))) is None:
        pytest.skip(f"{row['package']} is not installed")
    the_row_is_right(row, capsys, monkeypatch)
