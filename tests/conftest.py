"""Settings that all tests share."""

from __future__ import annotations

import inspect
import json
import re
import signal
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from bisimdist.faces.cli import output, progress
from bisimdist.faces.cli.schemas import json_schema

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]

# lines of progress come with time: no test that compares what is written may depend on the machine
progress.INTERVAL = float("inf")

# machines differ in speed: no deadlines; "same" draws the same examples every time, "new" others every time
settings.register_profile("new", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "same", settings.get_profile("new"), derandomize=True, print_blob=True, max_examples=30
)
settings.register_profile("thorough", settings.get_profile("new"), max_examples=2000)
settings.load_profile("same")

OF_TIME = re.compile(r"\b(time(out)?|seconds|monotonic|process_time|deadline|patience)\b", re.IGNORECASE)
"""A test in whose text such a word stands may fail because the machine is busy: it is run again, twice."""


def pytest_configure(config: pytest.Config) -> None:
    """Listen to Ctrl-C although a shell may start the tests in the background with it ignored."""
    del config
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests of time limits run again; any other test that fails has failed."""
    for item in items:
        if isinstance(item, pytest.Function):
            text = inspect.getsource(item.function) + str(item.fixturenames) + item.nodeid
            if OF_TIME.search(text) or "by_cpu" in item.fixturenames:
                item.add_marker(pytest.mark.flaky(reruns=2))


@cache
def brought(extra: str) -> bool:
    """Return whether every package of an extra is installed."""
    wanted = PROJECT["optional-dependencies"][extra]
    names = [found.group() for found in map(re.compile(r"[\w.-]+").match, wanted) if found]
    return all(any(distributions(name=name)) for name in names)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs an extra that is not installed."""
    for mark in item.iter_markers("extra"):
        (extra,) = mark.args
        if not brought(extra):
            pytest.skip(f"needs pip install 'bisimdist[{extra}]'")


@cache
def answer_schema() -> Any:
    """Return what answers are held against; None where jsonschema is not installed."""
    try:
        from jsonschema import Draft202012Validator  # noqa: PLC0415
    except ImportError:
        return None
    return Draft202012Validator(json_schema("answer"))


@pytest.fixture(autouse=True)
def every_answer_obeys_its_schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hold whatever a command prints with ``--json`` in any test against the schema."""
    printed: list[str] = []
    write = output._write

    def written(parts: Iterable[str]) -> None:
        printed.append("".join(parts))
        write(printed[-1:])

    monkeypatch.setattr(output, "_write", written)
    yield
    for text in printed:
        if text.startswith('{"command"') and answer_schema() is not None:
            wrong = [
                f"{found.json_path}: {found.message}"
                for found in answer_schema().iter_errors(json.loads(text))
            ]
            assert not wrong, wrong[:3]
