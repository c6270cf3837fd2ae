"""``pytest tests/papers`` runs the tests of every row of docs/papers.md, wherever they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.test_papers import PAGE, TEST

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def pytest_configure(config: pytest.Config) -> None:
    if [Path(argument).resolve() for argument in config.args] != [HERE]:
        return
    named = {"::".join(filter(None, found)) for found in TEST.findall(PAGE)}
    config.args += sorted(str(ROOT / name) for name in named if not name.startswith("tests/papers/"))
