"""How much of the checker is opened for a certificate: what somebody has to read who trusts nothing else."""

from __future__ import annotations

import sys

import pytest

from bisimdist.checker.rules import KINDS
from tests.checker.corpus import entries
from tests.checker.mutants import PACKAGE, source
from tests.checker.mutation import checker, compiled

LINES = 1500
MORE = {
    "": 1650,
    "hmm-budget": 2000,
    "hmm-all-lengths": 2850,  # with a certificate of a distance inside
    "hmm-no-budget": 1950,
    "hmm-parametric": 1950,
    "hmm-several": 2500,
    "delta": 2450,
    "leakage": 2100,
    "metric": 1850,
    "distinguishing-formula": 1800,
    "generalised-metric": 1800,
    "trace-metric": 2150,
    "satisfaction": 1700,
    "trace-formulae": 1650,
    "program": 2950,  # with a certificate of a distance or of delta inside
}
"""Kinds for which more lines are opened, counted over all of their files: none is to become longer."""


def opened(kind: str, code: dict[str, object]) -> int:
    """Return how many lines the modules have that are loaded by checking the files of a kind."""
    with checker(code) as judge:
        for entry in entries("correct"):
            if entry.name.split("/")[1:-1] == [kind][: bool(kind)] and entry.path.stat().st_size < 20_000:
                assert judge(entry.texts()).startswith("valid")
        names = [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]
    return sum(
        source(name.removeprefix(PACKAGE).removeprefix(".") or "__init__").count("\n") for name in names
    )


@pytest.fixture(scope="module")
def code() -> dict[str, object]:
    return compiled()


@pytest.mark.parametrize("kind", ["", *KINDS])
def test_what_is_opened_for_a_kind(kind: str, code: dict[str, object]) -> None:
    assert opened(kind, code) <= MORE.get(kind, LINES)
