"""The JSON Schemas beside the pages: ``schemas/model.json`` and so on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bisimdist.faces import json_schema
from bisimdist.faces.cli.schemas import SCHEMAS


def write(app: Any, error: Exception | None) -> None:
    """Write the schemas into the finished site."""
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / "schemas"
        folder.mkdir(exist_ok=True)
        for name in SCHEMAS:
            (folder / f"{name}.json").write_text(json.dumps(json_schema(name)))


def setup(app: Any) -> dict[str, bool]:
    """Take part in the build."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
