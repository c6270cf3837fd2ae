"""``pytest tests/papers`` runs the tests of every row of docs/papers.md, wherever they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from bisimdist.modelling.paper.rows import papers

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def pytest_configure(config: pytest.Config) -> None:
    if [Path(argument).resolve() for argument in config.args] != [HERE]:
        return
    named = {row.test for paper in papers() for row in paper.rows if row.test}
    config.args += sorted(str(ROOT / name) for name in named if not name.startswith("tests/papers/"))
