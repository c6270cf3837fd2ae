"""No engine, answer, certificate or rule of a question names what reductions take away.

Contracts on imports hold modules apart; here the names in the code are held apart, too. What may stay has a
reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TAKEN_AWAY = {
    "nature",
    "Natures",
    "IntervalChain",
    "intervals",
    "Contested",
    "contested",
    "unrolled",
    "Unrolled",
    "unrolling",
    "Origin",
    "ProgramChain",
    "bent",
    "coins",
    "Cut",
    "cut",
    "cut_off",
    "rounds",
}
"""Names of kinds of models that engines do not know, and of what makes others of them."""

ITERATION = ("rounds", "cut")
"""In engines these are a step of an iteration, and a place where a range is cut."""

PATTERNS = {
    "engine": ("bisimdist/*/engine/*.py", "bisimdist/*/*/engine/*.py"),
    "answer": (
        "bisimdist/*/*/answer.py",
        "bisimdist/*/*/bounds.py",
        "bisimdist/*/*/page.py",
        "bisimdist/privacy/compare/ask.py",
    ),
    "certificate": (
        "bisimdist/*/*/certificate.py",
        "bisimdist/*/*/returned.py",
    ),
    "claims": ("bisimdist/checker/claims/*.py",),
}

REASONS = {
    "privacy/delta/answer.py: cut": "shows what the step says beside the bounds: masses that are cut off",
    "privacy/leakage/answer.py: cut": "as delta",
    "privacy/leakage/answer.py: cut_off": "as delta",
    "privacy/leakage/bounds.py: cut": "as delta",
    "programs/program/answer.py: cut": "says which option lets a search for runs go on",
    "privacy/synthesise/certificate.py: cut": "a box of parameters that is cut in two",
    "checker/claims/composition.py: cut": "a place between the cells of a grid",
    "checker/claims/formulae.py: rounds": "of a refinement",
    "automata/engine/windows.py: intervals": "of credits, in which windows begin",
    "budgets/engine/coupling.py: coins": "a toss of a coin, which two runs share or swap",
    "budgets/engine/coupling_search.py: coins": "as there",
    "budgets/verify/answer.py: rounds": "how many samples a test took",
    "programs/program/answer.py: ProgramChain": "the answer of the one question about programs alone",
    "programs/program/page.py: ProgramChain": "as there",
    "privacy/report/page.py: nature": "asks several questions, and hands it on",
    "privacy/report/page.py: rounds": "as nature",
    "privacy/compare/ask.py: nature": "asks the same of several measures, and hands it on",
    "privacy/compare/ask.py: rounds": "as nature",
}
"""By file and name why it may stay."""


def files(part: str) -> list[Path]:
    return sorted({path for pattern in PATTERNS[part] for path in ROOT.glob(pattern)})


def named(path: Path) -> Iterator[str]:
    """Yield the names in the code of a file, with the last part of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name.strip("_")
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name.strip("_")
            case ast.ImportFrom(module=str(module), names=names):
                yield from module.rsplit(".", 1)[-1:]
                yield from (alias.name for alias in names)


def found(part: str) -> set[str]:
    words = TAKEN_AWAY - set(ITERATION if part == "engine" else ())
    return {
        f"{path.relative_to(ROOT / 'bisimdist').as_posix()}: {name}"
        for path in files(part)
        for name in named(path)
        if name in words
    }


@pytest.mark.parametrize("part", PATTERNS)
def test_nobody_names_what_is_taken_away(part: str) -> None:
    assert len(files(part)) >= 5
    assert found(part) - REASONS.keys() == set()


def test_each_reason_is_needed() -> None:
    assert {*REASONS} <= {name for part in PATTERNS for name in found(part)}
    assert all(REASONS.values())
