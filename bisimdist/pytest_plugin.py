"""The pytest plugin: a fixture whose results are kept while the sources are the same, and a marker."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["assert_private", "pytest_addoption", "pytest_collection_modifyitems", "pytest_configure"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that runs slow tests of privacy."""
    parser.addoption(
        "--slow-privacy", action="store_true", help="run tests of privacy that are marked as slow"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", "slow_privacy: a slow test of privacy, run with --slow-privacy only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what is slow."""
    if config.getoption("--slow-privacy"):
        return
    for item in items:
        if "slow_privacy" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow; run it with --slow-privacy"))


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Assert privacy as `bisimdist.testing.assert_private` does; what held is not computed again."""
    from bisimdist.testing import assert_private as claim  # noqa: PLC0415 - it loads much

    cache = getattr(request.config, "cache", None)

    def asserted(mechanism: Callable[..., Any] | str, **claimed: Any) -> None:
        digest = _digest(mechanism, claimed)
        key = f"bisimdist/{digest}"
        if cache is not None and digest and cache.get(key, False):
            return
        claim(mechanism, **claimed)
        if cache is not None and digest:
            cache.set(key, True)

    return asserted


def _digest(mechanism: Callable[..., Any] | str, claimed: dict[str, Any]) -> str:
    """Return a digest of the claim and of all sources that lie beside the mechanism; "" if it has none."""
    if isinstance(claimed.get("neighbours"), list | tuple):
        said = repr(sorted((name, repr(value)) for name, value in claimed.items()))
    else:
        return ""
    try:
        file = (
            mechanism.rpartition(":")[0] if isinstance(mechanism, str) else inspect.getsourcefile(mechanism)
        )
        folder = Path(str(file)).absolute().parent
    except TypeError:
        return ""
    made = hashlib.sha256(f"{sys.version} {mechanism if isinstance(mechanism, str) else ''} {said}".encode())
    made.update(getattr(mechanism, "__qualname__", "").encode())
    for path in sorted(folder.rglob("*.py")):
        made.update(path.read_bytes())
    for name in sorted(sys.modules):
        version = getattr(sys.modules[name], "__version__", None) if "." not in name else None
        if isinstance(version, str):
            made.update(f"{name} {version}".encode())
    return made.hexdigest()[:32]
