"""What the mechanisms of libraries really give: each command of docs/libraries/mechanisms.yaml, and the page.

``python -m benchmarks.libraries`` asks all of them and writes docs/libraries.md; with names of packages it
prints the rows of these only.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from flint import fmpq

from bisimdist.exact.rational import to_fmpq
from bisimdist.faces.shown.numbers import at_least, at_most, short_rational

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "libraries.md"
HEADS = (
    "package",
    "function",
    "claim",
    "true delta at the claimed epsilon",
    "verdict",
    "from one input only",
    "CPU s",
)

INTRODUCTION = """# What libraries really give

Published packages, unmodified, run [as they are](replay.md): the numbers hold for the doubles that the
functions return, to the last bit. The claim is that of the package, or of the mechanism in the literature if
the package states none. The verdict is about exactly this claim. A double has 53 bits, so the probability 3/4
can be exact, and $1/(1 + e)$ cannot: most violations are of that size. They matter to those who claim
$\\delta = 0$. Where $e^{\\varepsilon}$ is irrational, $\\alpha$ is rounded on both sides, finely enough to
decide the claim. *Unknown* stands where ways that were not followed leave it open. *From one input only*
lists outputs that the other input never gives. The CPU seconds are those of the whole command, with the
packages loaded and 10,000 runs compared in another process.

The module `benchmarks.libraries` makes this page from the list `docs/libraries/mechanisms.yaml`. Each row is
the answer to one command, to be pasted at the top of the repository; the functions are in `docs/libraries`.
Functions of multi-freq-ldpy are those that its compiler takes, run by Python. OpenDP is not in the table: its
measurements draw in compiled code, which replay does not reach. The command refuses them, since two equal
runs differ.
"""


def rows() -> list[dict[str, Any]]:
    """Return what is asked."""
    found: list[dict[str, Any]] = yaml.safe_load((DOCS / "libraries" / "mechanisms.yaml").read_text())
    return found


def command(row: dict[str, Any]) -> list[str]:
    """Return the command of a row."""
    inputs = [word for value in row["inputs"] for word in ("--input", str(value))]
    level = ["--alpha", str(row["alpha"])] if "alpha" in row else ["--epsilon", str(row["epsilon"])]
    file = f"docs/libraries/{row['file']}:{row['function']}"
    gap = ["--gap", str(row["gap"])] if "gap" in row else []
    return ["bisimdist", "program", file, *inputs, *level, "--threshold", str(row["delta"]), *gap]


def cells(row: dict[str, Any], said: dict[str, Any], seconds: float) -> tuple[str, ...]:
    """Return the row of the table, of what JSON says."""
    (pair,) = said["pairs"]
    level = f"alpha {row['alpha']}" if "alpha" in row else f"epsilon {row['epsilon']}"
    lower, upper = Fraction(pair["lower"]), Fraction(pair["upper"])
    if lower == upper and upper.denominator < 1000:
        delta = short_rational(to_fmpq(pair["upper"]))
    else:
        delta = f"{decimal(at_least, pair['lower'])} to {decimal(at_most, pair['upper'])}"
    only = " / ".join(", ".join(pair["only"][side][:3]) or "none" for side in ("from", "to"))
    claim = f"{level}, delta {row['delta']}"
    return row["package"], row["function"], claim, delta, pair["verdict"], only, f"{seconds:.1f}"


def decimal(rounded: Callable[[fmpq], str], text: str) -> str:
    """Return a number as a decimal, without the rational before it and the word behind."""
    return rounded(to_fmpq(text)).split("= ")[-1].split(" (")[0]


def asked(row: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """Ask in a process of its own, as a reader does; return what it said, and its CPU seconds."""
    words = [sys.executable, "-m", *command(row), "--json", "--timeout", "120"]
    before = os.times()
    ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=DOCS.parent)
    if not ended.stdout:
        raise SystemExit(f"{' '.join(words)}: {ended.stderr}")
    found: dict[str, Any] = json.loads(ended.stdout)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return found, spent


def line(values: tuple[str, ...]) -> str:
    return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"


def page(found: list[tuple[dict[str, Any], tuple[str, ...]]]) -> str:
    """Return the page."""
    packages = dict.fromkeys(row["package"] for row, _ in found if row["package"] != "python")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    table = [line(HEADS), line(("---",) * len(HEADS)), *(line(row) for _, row in found)]
    commands = [" ".join(command(row)) for row, _ in found]
    libc = "-".join(platform.libc_ver())
    return "\n".join(
        [
            INTRODUCTION,
            f"Python {platform.python_version()}, {libc}, {versions}.",
            "",
            *table,
            "",
            "## Commands",
            "",
            "```bash",
            *commands,
            "```",
            "",
        ]
    )


def main() -> None:
    found = []
    for row in rows():
        if sys.argv[1:] and row["package"] not in sys.argv[1:]:
            continue
        try:
            answer = asked(row)
        except SystemExit as error:
            print(error, file=sys.stderr)
            continue
        found.append((row, cells(row, *answer)))
        print(line(found[-1][1]), flush=True)
    if not sys.argv[1:]:
        PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
