"""What a command loads before it answers: small questions wait for no large library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROOF = str(ROOT / "tests/certificates/correct/bracket-strict.json")
BOUND = ("bound", "example:figure1", "--alpha", "1.5")
LARGE = (
    *("click", "flint", "numpy", "scipy", "networkx", "numba", "llvmlite", "z3"),
    *("pulp", "matplotlib", "rich", "yaml", "dp_accounting"),
)
LOADED = {
    ("--help",): "click",
    ("bound", "--help"): "click",
    ("bound",): "click",
    ("check", PROOF): "click flint",
    ("example",): "click flint",
    ("example", "figure1"): "click flint",
    ("show", "example:figure1"): "click flint numpy",
    ("convert", "example:figure1", "--to", "pa"): "click flint",
    BOUND: "click flint numpy",
    (*BOUND, "--json"): "click flint numpy",
    ("bound", "example:figure1", "--epsilon", "0.1", "--distance", "lbd"): "click flint numpy",
    ("delta", "example:figure1", "--alpha", "1.5"): "click flint numpy",
    ("profile", "example:figure1"): "click flint numpy",
    ("equivalence", "example:figure1"): "click flint numpy",
    ("same", "example:figure1", "example:figure1"): "click flint numpy",
    ("metric", "example:pin-checking", "--kind", "accumulative"): "click flint",
    ("metric", "example:pin-checking", "--kind", "amortised"): "click flint",
    ("logic", "explain", "example:figure1"): "click flint numpy scipy",
    ("metric", "example:pin-checking", "--kind", "additive"): "click flint numpy scipy",
    ("trace", "example:figure1"): "click flint numpy scipy networkx",
    ("verify", "example:geometric", "--ratio", "2", "--length", "1"): "click flint numpy scipy networkx",
    ("prove", "example:geometric"): "click flint numpy scipy networkx",
}
"""By command line the libraries that it may load."""


@pytest.mark.parametrize("words", LOADED, ids=" ".join)
def test_a_command_loads_no_more_than_it_uses(words: tuple[str, ...]) -> None:
    code = (
        "import sys; from bisimdist.faces.cli.main import run; run(sys.argv[2:]); "
        "print(*(name for name in sys.argv[1].split() if name in sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, " ".join(LARGE), *words]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(ended.stderr.splitlines()[-1].split()) <= set(LOADED[words].split())


def test_a_question_loads_no_other_question() -> None:
    code = f"import sys; from bisimdist.faces.cli.main import run; run({list(BOUND)}); print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ended.stdout.split())
    assert "bisimdist.distances.bound.command" in loaded
    assert not loaded & {
        f"bisimdist.{name}.command"
        for name in ("privacy.delta", "automata.metric", "budgets.verify", "traces.trace")
    }
    assert not loaded & {"bisimdist.models.library.hidden_markov", "bisimdist.checker"}


def processor_seconds(bytecode: Path, *words: str) -> float:
    """Return the least processor time of several runs: what else runs on the machine lengthens it least.

    The first compiles Python, as an installation does, also where no bytecode may stand beside the code.
    """
    settings = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONDONTWRITEBYTECODE": ""}
    found = []
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=True, env=settings)
        after = os.times()
        found.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
    return min(found)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the times of children are not counted there")
def test_small_questions_are_quick(tmp_path: Path) -> None:
    """The time is measured in that of loading the three libraries that are needed: machines differ."""
    unit = processor_seconds(tmp_path, "-c", "import click, flint, numpy")
    assert processor_seconds(tmp_path, "-m", "bisimdist", *BOUND) < 2.5 * unit
    assert processor_seconds(tmp_path, "-m", "bisimdist", "check", PROOF) < 1.2 * unit
    assert processor_seconds(tmp_path, "-m", "bisimdist", "--help") < 1.2 * unit
