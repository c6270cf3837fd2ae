"""How much of the checker is opened for a certificate: what somebody has to read who trusts nothing else."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from bisimdist.checker.rules import KINDS
from tests.checker.corpus import entries
from tests.checker.mutants import PACKAGE, source
from tests.checker.mutation import checker, compiled

LINES = 1500
FILES = 6
MORE = {
    "": 2046,  # 1600 where all probabilities are known
    "compact": 2745,  # with claims about all pairs
    "hmm-budget": 2170,
    "hmm-all-lengths": 3056,  # with a certificate of a distance inside
    "hmm-no-budget": 2080,
    "hmm-parametric": 2150,
    "hmm-several": 2450,
    "delta": 2630,  # with a ceiling, which is a distance
    "leakage": 2550,
    "metric": 2010,
    "distinguishing-formula": 1970,
    "generalised-metric": 1890,
    "trace-metric": 2000,
    "satisfaction": 1860,
    "trace-formulae": 1850,
    "mimicking-formula": 1670,
    "program": 2467,  # with a certificate of a distance or of delta inside
    "parametric": 3620,  # with a certificate of a distance or of delta inside
}
"""Kinds for which more lines are opened: none of them is to become longer."""


def loaded() -> set[str]:
    return {name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")}


def lines(module: str) -> int:
    return source(module.removeprefix(PACKAGE).removeprefix(".") or "__init__").count("\n")


def opened(kind: str, code: dict[str, object]) -> list[set[str]]:
    """Return the modules that are loaded by checking each file of a kind."""
    found = []
    with checker(code) as judge:
        import_module(PACKAGE)
        import_module(KINDS.get(kind, f"{PACKAGE}.rules.{kind or 'distance'}"))
        always = loaded()
        for entry in entries("correct"):
            if entry.name.split("/")[1:-1] == [kind][: bool(kind)] and entry.path.stat().st_size < 20_000:
                assert judge(entry.texts()).startswith("valid")
                found.append(loaded())
                for name in loaded() - always:
                    del sys.modules[name]
    return found


@pytest.fixture(scope="module")
def code() -> dict[str, object]:
    return compiled()


@pytest.mark.parametrize("kind", ["", "compact", *KINDS])
def test_what_is_opened_for_a_kind(kind: str, code: dict[str, object]) -> None:
    assert max(sum(map(lines, names)) for names in opened(kind, code)) <= MORE.get(kind, LINES)


def test_what_is_opened_for_a_distance(code: dict[str, object]) -> None:
    packages = {name.rpartition(".")[0] for name in code}
    fewest = min(opened("", code), key=len)  # all probabilities are known
    assert len(fewest - packages) <= FILES
