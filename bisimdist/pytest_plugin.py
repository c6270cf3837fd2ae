"""The pytest plugin: a fixture that remembers what held, a marker, and pages about claims that fail."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption(
        "--slow-privacy", action="store_true", help="run tests of privacy that are marked as slow"
    )
    parser.addoption(
        "--privacy-reports",
        metavar="DIR",
        help="write a page with its proof into this directory for each privacy claim that fails",
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


def pytest_exception_interact(node: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Tell the job's summary of a privacy claim that fails, where there is one, and write its page."""
    testing = sys.modules.get("bisimdist.testing")
    error = call.excinfo.value if call.excinfo is not None else None
    if testing is None or not isinstance(error, testing.NotPrivate):
        return
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"### A privacy claim fails: {node.name}\n\n{indent(str(error), '    ')}\n\n")
    if reports := node.config.getoption("--privacy-reports"):
        folder = Path(reports)
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(node.nodeid.encode()).hexdigest()[:8]  # names of parameters may be alike
        name = re.sub(r"[^\w.-]+", "-", node.name)[:80]
        target = folder / f"{name}-{digest}.html"
        target.write_text(error.page(shlex.join(("pytest", node.nodeid))), encoding="utf-8")


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
    for installed in sorted(f"{package.name} {package.version}" for package in distributions()):
        made.update(installed.encode())
    return made.hexdigest()[:32]
