"""Tutorials as notebooks: every block that can be run is a cell, and one of them is run by Jupyter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.markdown import ROOT, blocks

pytestmark = pytest.mark.extra("docs")

TUTORIALS = sorted(page for page in (ROOT / "docs/tutorials").glob("*.md") if page.stem != "index")


@pytest.fixture
def notebooks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "docs/_ext")
    import notebooks  # type: ignore[import-not-found]  # noqa: PLC0415

    yield notebooks
    del sys.modules["notebooks"]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_what_can_be_run_is_a_cell(notebooks: Any, page: Path) -> None:
    found = notebooks.notebook(page.read_text())
    cells = "\n".join(cell.source for cell in found.cells if cell.cell_type == "code")
    text = "\n".join(cell.source for cell in found.cells if cell.cell_type == "markdown")
    for block in blocks(page.read_text()):
        if block.caption:
            assert f"%%writefile {block.caption}\n{block.text.rstrip()}" in cells
        elif block.language == "console":
            for line in block.text.splitlines():
                assert not line.startswith("$ bisimdist") or f"!{line[2:]}" in cells
        elif block.language == "python":
            for line in block.text.splitlines():
                assert line[:4] not in {">>> ", "... "} or line[4:] in cells
    assert "```console" not in text
    assert "](" not in text.replace("](http", "")


@pytest.mark.filterwarnings("ignore")  # of Jupyter's own
def test_a_notebook_runs(notebooks: Any) -> None:
    found = notebooks.run(notebooks.notebook((ROOT / "docs/tutorials/first-model.md").read_text()))
    shown = [output for cell in found.cells for output in cell.get("outputs", ())]
    texts = "".join(output.get("text", "") for output in shown)
    assert "The model is (0, delta)-differentially private for the pair (s0, s1) with delta <= 1/5" in texts
    assert [output.ename for output in shown if output.output_type == "error"] == ["NumberTypeError"]
    assert any("<svg" in output.get("data", {}).get("image/svg+xml", "") for output in shown)
    assert "get_ipython" not in found.cells[0].source


@pytest.mark.filterwarnings("ignore")
def test_a_cell_that_fails_is_no_notebook(notebooks: Any) -> None:
    from nbclient.exceptions import CellExecutionError  # noqa: PLC0415

    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        notebooks.run(notebooks.notebook("# A page\n\n```python\n1 / 0\n```\n"))
