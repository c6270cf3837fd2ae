"""Answers about programs are held against fewer runs in these tests, unless a test asks for all of them."""

from __future__ import annotations

import pytest

from bisimdist.programs.replay import door


@pytest.fixture
def all_runs() -> int:
    """Return how many runs in another process a user's answer is held against."""
    return 10_000


@pytest.fixture(autouse=True)
def _few_runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "all_runs" not in request.fixturenames:
        monkeypatch.setattr(door, "PER_REPLAY", 1)
