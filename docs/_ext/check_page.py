"""The page that checks certificates in the browser of its reader: ``check.html`` in the finished site."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bisimdist.privacy.report.carried import checking_page


def write(app: Any, error: Exception | None) -> None:
    """Write the page; where BISIMDIST_PYODIDE names the directory of Pyodide, it checks all kinds."""
    if error is None and app.builder.format == "html":
        text = checking_page(os.environ.get("BISIMDIST_PYODIDE"))
        (Path(app.outdir) / "check.html").write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Take part in the build."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
