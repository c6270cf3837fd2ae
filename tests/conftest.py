"""Settings that all tests share."""

from __future__ import annotations

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

# machines differ in speed: no deadlines; "ci" draws the same examples every time
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("dev")


def pytest_configure(config: pytest.Config) -> None:
    """Listen to Ctrl-C although a shell may start the tests in the background with it ignored."""
    del config
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
