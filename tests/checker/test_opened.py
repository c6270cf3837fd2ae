"""How much of the checker is opened for a certificate: what somebody has to read who trusts nothing else."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from bisimdist.checker.claims import KINDS
from bisimdist.checker.steps import STEPS
from tests.checker.corpus import entries
from tests.checker.mutants import PACKAGE, source
from tests.checker.mutation import checker, compiled

LINES = 1760
FILES = 9
MORE = {
    "": 2508,  # 1600 where all probabilities are known
    "compact": 3330,  # with claims about all pairs, and steps
    "hmm-budget": 2514,
    "hmm-all-lengths": 3472,  # with a certificate of a distance inside
    "hmm-no-budget": 2426,
    "hmm-parametric": 2510,
    "hmm-several": 2801,
    "composition": 3493,  # with what makes laws of samples of all kinds, and integers of exponentials
    "delta": 2933,  # with a ceiling, which is a distance
    "leakage": 2859,
    "metric": 2308,
    "distinguishing-formula": 2249,
    "generalised-metric": 2139,
    "trace-metric": 2280,
    "satisfaction": 2108,
    "trace-formulae": 2123,
    "mimicking-formula": 1933,
    "nature": 3283,  # with a certificate of a distance, of delta or of a leakage inside
    "member": 3319,
    "widen": 3324,
    "rounds": 3207,
    "cut": 2983,
    "quotient": 3041,
    "coupling": 2005,  # with draws that wait
    "merge": 3659,  # with two certificates inside
    "parametric": 4029,  # with a certificate of a distance or of delta inside
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
        import_module({**KINDS, **STEPS}.get(kind, f"{PACKAGE}.claims.{kind or 'distance'}"))
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


@pytest.mark.parametrize("kind", ["", "compact", *KINDS, *STEPS])
def test_what_is_opened_for_a_kind(kind: str, code: dict[str, object]) -> None:
    assert max(sum(map(lines, names)) for names in opened(kind, code)) <= MORE.get(kind, LINES)


def test_what_is_opened_for_a_distance(code: dict[str, object]) -> None:
    packages = {name.rpartition(".")[0] for name in code}
    fewest = min(opened("", code), key=len)  # all probabilities are known
    assert len(fewest - packages) <= FILES
