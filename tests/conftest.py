"""Settings that all tests share."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

from bisimdist.cli import progress

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
